"""A part of one's own by the form, and what a part that is not found offers."""

import pytest

from rigplanner.catalog.imports.user_catalog import full_catalog
from rigplanner.cli.catalog_verbs.catalog_enter import form
from rigplanner.cli.main import main


def test_the_form_asks_what_decides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "enter", "psu"]) == 0
    asked = capsys.readouterr().out.split()
    assert asked == [f"{field}=" for field in form("psu")]
    assert {"length_mm=", "supply.plugs=", "supply.ratings="} <= set(asked)


def test_an_entered_part_is_one_of_the_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    figures = ["supply.ratings=1600", "supply.plugs=4xpcie8,1x12v-2x6", "length_mm=150"]
    assert main(["catalog", "enter", "psu", "ACME Volt 1600", *figures]) == 0
    assert "form_factor" in capsys.readouterr().out
    part = full_catalog().catalog.parts["own.psu.acme-volt-1600"]
    assert part.length_mm == 150 and part.supply.ratings[0].min_volts == 200
    assert [(plug.type, plug.count) for plug in part.supply.plugs] == [("pcie8", 4), ("12v-2x6", 1)]
    case = ["enclosure.board_form_factors=ATX,Micro-ATX", "enclosure.gpu_length_mm=400"]
    assert main(["catalog", "enter", "chassis", "ACME Box", *case]) == 0
    box = full_catalog().catalog.parts["own.chassis.acme-box"]
    assert box.enclosure.board_form_factors == ("ATX", "Micro-ATX")


@pytest.mark.parametrize(
    "figures", [["length_mm=long"], ["nothing=3"], ["length_mm"], ["supply.plugs=many"], ["a.b=1"]]
)
def test_what_does_not_fit_is_refused(figures: list[str], capsys) -> None:
    assert main(["catalog", "enter", "psu", "ACME Volt", *figures]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not any(part_id.startswith("own.") for part_id in full_catalog().catalog.parts)


def test_a_part_that_is_not_found_offers_other_ways(tmp_path, capsys) -> None:
    assert main(["new", "Nonesuch Zorg 9000", "-o", str(tmp_path / "x.rig")]) == 2
    said = capsys.readouterr().err
    assert "community get" in said and "catalog enter" in said
