"""Cards that only their thickness keeps from a slot hang on risers in an open frame."""

import pytest

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import Catalog
from rigplanner.rig.edits import apply
from rigplanner.rig.from_text.from_words import read_wish, rig_from_wishes
from rigplanner.rules.assess import assess

PARTS = ("4x RTX 3090", "EPYC 7302P", "ROMED8-2T")


def _rig(catalog: Catalog, *more: str):
    index = index_of(catalog)
    return rig_from_wishes("thick cards", [read_wish(words, index) for words in (*PARTS, *more)])


@pytest.mark.parametrize("frame", [(), ("Veddha open frame 8-GPU",)])
def test_thick_cards_hang_on_risers(catalog: Catalog, frame: tuple[str, ...]) -> None:
    rig = _rig(catalog, *frame)
    (finding,) = [found for found in assess(rig, catalog).report.findings if found.code == "SLT001"]
    first = finding.fixes[0]
    assert (first.code, first.values["count"]) == ("on-risers", 4)
    for edit in first.edits:
        rig = apply(rig, edit)
    after = assess(rig, catalog)
    assert "SLT001" not in {found.code for found in after.report.findings}
    assert {(gpu.width, gpu.gen) for gpu in after.machine.gpus} <= {(16, 4), (8, 4)}


@pytest.mark.parametrize("more", [("Define 7 XL",), ("2x RTX 3090", "4x RTX 3090 Ti")])
def test_a_closed_case_and_too_few_slots_are_no_place_for_risers(
    catalog: Catalog, more: tuple[str, ...]
) -> None:
    findings = assess(_rig(catalog, *more), catalog).report.findings
    fixes = {fix.code for found in findings if found.code == "SLT001" for fix in found.fixes}
    assert fixes and "on-risers" not in fixes
