"""A verdict says which figures decided it, and which of them nobody verified."""

from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.cli.commands.check import check_lines, check_record
from rigplanner.report.words.findings import rests_text
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import Assessment, assess
from rigplanner.rules.core.rests import DECIDING, SAME_FIGURES, figure, figures_of
from rigplanner.rules.topics import RULES_BY_CODE

PC = (
    "amd.ryzen.9-9950x",
    "asus.proart.x870e-creator-wifi",
    "asus.rog-astral.rtx-5090-oc",
    "silverstone.alta.alta-f1",
    "noctua.nh-d15.nh-d15",
    "seasonic.prime.tx-1600",
)


def _assessed(*parts: str) -> Assessment:
    items = tuple(Item(uid=part, part=part) for part in parts)
    return assess(Rig(items=items), shipped_catalog())


def test_every_deciding_field_is_a_field_of_its_kind() -> None:
    catalog = shipped_catalog()
    for code, kinds in DECIDING.items():
        assert code in RULES_BY_CODE
        for kind, fields in kinds.items():
            parts = catalog.of_kind(kind)
            for field in fields:
                only = [
                    f for p in parts for f in figures_of(code, [p], catalog) if f.field == field
                ]
                assert only, (code, kind, field)
    assert set(SAME_FIGURES) | set(SAME_FIGURES.values()) <= set(RULES_BY_CODE)


def test_silence_rests_on_figures_too() -> None:
    """No finding speaks of the card's length in this case; the figures that decided it are told."""
    done = _assessed(*PC)
    doubtful = {(f.part, f.field): f.state for f in done.report.unverified}
    known = shipped_catalog().parts["silverstone.alta.alta-f1"].doubts
    assert "enclosure.cooler_height_mm" in known
    assert ("silverstone.alta.alta-f1", "enclosure.cooler_height_mm") in doubtful
    assert len(done.report.deciding) > len(doubtful) > 0


def test_a_verified_figure_is_not_told() -> None:
    catalog = shipped_catalog()
    part = catalog.parts["silverstone.alta.alta-f1"]
    sure = replace(part, doubts={})
    assert figure(sure, "enclosure.cooler_height_mm", catalog).state == "verified"
    assert figure(part, "enclosure.cooler_height_mm", catalog).state != "verified"


def test_check_and_json_say_on_what_the_verdict_rests() -> None:
    done, catalog = _assessed(*PC), shipped_catalog()
    told = rests_text(done.report, done.rig, catalog)
    many, every = len(done.report.unverified), len(done.report.deciding)
    assert told.startswith(f"{many} of {every} deciding figures not verified")
    assert check_lines(done, catalog)[1] == f"{told}."
    record = check_record(done, catalog)["rests"]
    assert (record["deciding"], len(record["unverified"])) == (every, many)
    assert all(entry["state"] != "verified" and entry["text"] for entry in record["unverified"])
