"""Ways out for open cards: without a gap another cooler of the same GPU or risers in an open frame,
in a hot case also a cap."""

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import Catalog
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import apply
from rigplanner.rig.from_text.from_words import read_wish, rig_from_wishes
from rigplanner.rules.assess import assess
from rigplanner.rules.core.finding import Finding, Fix


def _rig(catalog: Catalog, *parts: str) -> Rig:
    index = index_of(catalog)
    return rig_from_wishes("close cards", [read_wish(words, index) for words in parts])


def _close(rig: Rig, catalog: Catalog) -> list[Finding]:
    return [found for found in assess(rig, catalog).report.findings if found.code == "CLG002"]


def _after(rig: Rig, fix: Fix) -> Rig:
    for edit in fix.edits:
        rig = apply(rig, edit)
    return rig


def _fix(rig: Rig, catalog: Catalog, code: str) -> Fix | None:
    return next(
        (fix for found in _close(rig, catalog) for fix in found.fixes if fix.code == code), None
    )


def test_the_same_gpu_with_a_blower_is_offered_and_ends_the_finding(catalog: Catalog) -> None:
    rig = _rig(catalog, "4x GeForce RTX 2080 Ti", "EPYC 7302P", "ROMED8-2T", "Define 7 XL")
    fix = _fix(rig, catalog, "other-card")
    assert fix is not None and fix.values["part"] == "asus.turbo.rtx-2080-ti"
    assert not _close(_after(rig, fix), catalog)


def test_a_card_that_is_sold_with_no_other_cooler_gets_none(catalog: Catalog) -> None:
    rig = _rig(catalog, "4x GeForce RTX 3090 Ti", "EPYC 7302P", "ROMED8-2T", "Define 7 XL")
    assert _close(rig, catalog) and _fix(rig, catalog, "other-card") is None


def test_a_card_with_a_radiator_is_offered_in_an_open_frame_only(catalog: Catalog) -> None:
    parts = ("2x GeForce RTX 4090 Founders", "Ryzen 9 7950X", "ProArt X670E")
    for frame, offered in (("Veddha open frame 8-GPU", True), ("Define 7 XL", False)):
        fix = _fix(_rig(catalog, *parts, frame), catalog, "other-card")
        assert (fix is not None) == offered, frame


def test_risers_are_offered_in_an_open_frame_only(catalog: Catalog) -> None:
    parts = ("4x GeForce RTX 2080 Ti", "EPYC 7302P", "ROMED8-2T")
    open_rig = _rig(catalog, *parts, "Veddha open frame 8-GPU")
    fix = _fix(open_rig, catalog, "on-risers")
    assert fix is not None and fix.values["count"] == 4
    assert not _close(_after(open_rig, fix), catalog)
    assert _fix(_rig(catalog, *parts, "Define 7 XL"), catalog, "on-risers") is None


def test_a_hot_case_gets_cards_with_a_blower_or_a_cap(catalog: Catalog) -> None:
    rig = _rig(catalog, "3x GeForce RTX 2080 Ti", "EPYC 7302P", "ROMED8-2T", "Define 7 XL")
    (hot,) = [found for found in assess(rig, catalog).report.findings if found.code == "CLG005"]
    fixes = {fix.code: fix for fix in hot.fixes}
    assert {"other-card", "cap-power"} <= set(fixes)
    for code in ("other-card", "cap-power"):
        after = assess(_after(rig, fixes[code]), catalog).report.findings
        assert "CLG005" not in {found.code for found in after}, code
