"""The figures behind gauges, previews and moves."""

import pytest
from msgspec.structs import replace

from rigplanner.data import data_path
from rigplanner.planning.effects import effects_of, vram_gib
from rigplanner.planning.limits import Limit, limits
from rigplanner.planning.moves import moves, split_piece
from rigplanner.report.words.findings import finding_text
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess


def sample(name: str):
    return read_rig(data_path("resources") / "samples" / f"{name}.rig")


def limit(used, of, high=None, axis="vram") -> Limit:
    return Limit(axis=axis, used=used, limit=of, unit="GiB", high=high)


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (limit(10, 24, 12), "fits"),
        (limit(24, 24, 24), "fits"),
        (limit(23, 24, 26), "warning"),
        (limit(25, 24, 27), "error"),
        (limit(None, 24), "unknown"),
        (limit(10, None), "unknown"),
        (limit(64, 64, axis="lanes"), "fits"),
        (limit(91, 100, axis="supply"), "warning"),
        (limit(90, 100, axis="supply"), "fits"),
    ],
)
def test_verdict_of_a_gauge(made, verdict):
    assert made.verdict == verdict


def test_limits_of_a_rig_past_its_circuit(catalog):
    found = {each.axis: each for each in limits(assess(sample("quad-rtx-4090"), catalog))}
    assert found["circuit"].share > 1 and found["circuit"].verdict == "error"
    assert found["circuit"].limit == pytest.approx(120 * 15 * 0.8)
    assert not found["price"].stated and found["price"].verdict == "unknown"
    assert found["vram"].limit == 23.7


def test_effects_of_a_second_kind_of_card(catalog):
    rig = sample("dual-rtx-3090")
    gpu = next(item.uid for item in rig.items if item.part == "nvidia.geforce.rtx-3090")
    found = effects_of(
        rig, (Edit("replace_part", {"uid": gpu, "part": "nvidia.geforce.rtx-4090"}),), catalog
    )
    figures = {figure.measure: figure for figure in found.figures}
    assert figures["load"].change == pytest.approx(2 * (450 - 350), abs=1)
    assert figures["load"].better is False
    assert "vram" not in figures
    assert any(finding.code.startswith("NVL") for finding in found.come)


def test_effects_of_an_impossible_edit_are_none(catalog):
    assert (
        effects_of(sample("dual-rtx-3090"), (Edit("remove_item", {"uid": "nobody"}),), catalog)
        is None
    )


def test_an_unpriced_part_leaves_the_price_unknown(catalog):
    rig = sample("dual-rtx-3090")
    unpriced = next(part.id for part in catalog.of_kind("accessory") if not part.prices)
    found = effects_of(rig, (Edit("add_part", {"part": unpriced, "stem": "accessory"}),), catalog)
    price = next(figure for figure in found.figures if figure.measure == "price")
    assert price.after is None and price.change is None


def test_vram_adds_up(catalog):
    assert vram_gib(assess(sample("dual-rtx-3090"), catalog)) == 48


def test_moves_name_every_slot_and_what_stands_against_it(catalog):
    rig = sample("quad-rtx-4090")
    found = {move.place: move for move in moves(rig, catalog, "gpu.0")}
    machine = assess(rig, catalog).machine
    assert list(found) == [use.slot.id for use in machine.slots]
    assert [move.place for move in found.values() if move.here] == [
        use.slot.id for use in machine.slots if use.piece == "gpu.0"
    ]
    free = next(
        move
        for move in found.values()
        if not move.here and not move.problems and len(move.edits) == 1
    )
    moved = rig
    for edit in free.edits:
        moved = apply(moved, edit)
    after = assess(moved, catalog).machine
    assert next(use.slot.id for use in after.slots if use.piece == "gpu.0") == free.place


def test_a_drive_moves_among_ports_and_a_built_in_piece_nowhere(catalog):
    rig = sample("rtx-5090")
    drive = next(item.uid for item in rig.items if item.part.startswith("samsung.ssd"))
    ports = {use.port.id for use in assess(rig, catalog).machine.drives}
    assert {move.place for move in moves(rig, catalog, f"{drive}.0")} == ports
    assert moves(sample("hgx-h100"), catalog, "system.0/GPU0") == ()


def test_names_of_pieces():
    assert split_piece("gpu.3") == ("gpu", 3)
    assert split_piece("system.0/GPU0") is None
    assert split_piece("nobody") is None


def test_a_budget_makes_the_price_a_limit(catalog):
    rig = replace(sample("dual-rtx-3090"), budget=100.0)
    price = limits(assess(rig, catalog))[0]
    assert price.stated and price.verdict == "error"


def test_findings_that_come_speak_of_the_rig_that_becomes(catalog):
    rig = sample("dual-rtx-3090")
    gpu = next(item.uid for item in rig.items if "rtx-3090" in item.part)
    found = effects_of(
        rig,
        (Edit("replace_part", {"uid": gpu, "part": "nvidia.datacenter.h100-pcie-80gb"}),),
        catalog,
    )
    assert found is not None
    fanless = [finding for finding in found.come if finding.code == "CLG001"]
    assert fanless
    assert all("H100" in finding_text(finding, found.rig, catalog) for finding in fanless)
