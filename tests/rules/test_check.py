"""Severities, waivers, ignored rules, order, and the purity of an assessment."""

from msgspec.structs import replace
from rule_bench import bench_catalog, bench_rig
from test_rule_cases import judge

from rigplanner.catalog.schema.parts import KINDS, Part
from rigplanner.rig.choices import SOFTWARE_WORDS
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import set_ignored, set_severity, waive
from rigplanner.rules.assess import assess
from rigplanner.rules.badges import brings, counts, fits
from rigplanner.rules.check import ORDER
from rigplanner.rules.software.tables import software
from rigplanner.rules.topics import RULES_BY_CODE

LONG = bench_catalog({"gpu.card": {"length_mm": 500}})
RIG = bench_rig()


def _codes(findings: object) -> list[str]:
    return [finding.code for finding in findings]  # type: ignore[attr-defined]


def test_a_sound_rig_has_no_findings() -> None:
    report = judge(RIG, bench_catalog())
    assert report.findings == ()
    assert report.verdict() == "ok"
    assert set(report.ran) | set(report.idle) == set(RULES_BY_CODE)


def test_a_waived_finding_stands_apart_and_keeps_its_name() -> None:
    report = judge(waive(RIG, "SPC001", "the front is cut open", "Ada"), LONG)
    assert "SPC001" not in _codes(report.findings)
    assert [(finding.code, finding.waived_by) for finding in report.waived] == [("SPC001", "Ada")]


def test_a_waiver_counts_on_its_last_day_and_not_after() -> None:
    rig = waive(RIG, "SPC001", "for now", "Ada", until="2026-11-21")
    assert "SPC001" not in _codes(judge(rig, LONG, "2026-11-21").findings)
    assert "SPC001" in _codes(judge(rig, LONG, "2026-11-22").findings)


def test_a_waiver_of_one_piece_leaves_the_others() -> None:
    rig = waive(
        bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2"))),
        "SPC001",
        "cut open",
        "Ada",
        subject="gpu.0",
    )
    report = judge(rig, LONG)
    assert [finding.subjects[0] for finding in report.findings if finding.code == "SPC001"] == [
        "gpu.1"
    ]


def test_an_ignored_rule_does_not_run_and_is_named() -> None:
    report = judge(set_ignored(RIG, "SPC001", True), LONG)
    assert "SPC001" not in _codes(report.findings)
    assert report.ignored == ("SPC001",)
    assert "SPC001" not in report.ran


def test_a_rig_changes_severities_but_not_what_is_unknown() -> None:
    rig = set_severity(RIG, "SPC001", "info")
    assert [f.severity for f in judge(rig, LONG).findings if f.code == "SPC001"] == ["info"]
    unknown = bench_catalog({"gpu.card": {"length_mm": None}})
    assert [f.severity for f in judge(rig, unknown).findings if f.code == "SPC001"] == ["unknown"]


def test_a_wish_that_is_no_severity_is_passed_over() -> None:
    rig = replace(RIG, severities={"SPC001": "catastrophe"})
    assert [f.severity for f in judge(rig, LONG).findings if f.code == "SPC001"] == ["error"]


def test_a_question_that_no_answer_makes_worse_than_a_warning_is_one() -> None:
    """A cooler's heat decides between silence and a warning, a card's length between silence and
    an error."""
    heat = judge(RIG, bench_catalog({"cooler.air": {"rated_w": None, "height_mm": 120}}))
    assert [f.at_worst for f in heat.findings if f.severity == "unknown"] == ["warning"]
    assert heat.verdict() == "warning"
    length = judge(RIG, bench_catalog({"gpu.card": {"length_mm": None}}))
    assert [f.at_worst for f in length.findings if f.severity == "unknown"] == [None]
    assert length.verdict() == "unknown"


def test_the_worst_comes_first() -> None:
    changes = {"gpu.card": {"length_mm": 500, "tdp_w": None}, "cooler.air": {"rated_w": 10}}
    ranks = [ORDER[finding.severity] for finding in judge(RIG, bench_catalog(changes)).findings]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) >= 3


def test_equal_rigs_have_equal_assessments() -> None:
    catalog = bench_catalog()
    assert assess(RIG, catalog) == assess(bench_rig(), catalog)


def test_an_edit_back_and_forth_gives_the_same_answer() -> None:
    catalog = bench_catalog()
    before = assess(RIG, catalog)
    assess(bench_rig(gpu="gpu.other"), catalog)
    assert assess(RIG, catalog) == before


def _all_of(kind: str) -> list[Part]:
    return list(bench_catalog().of_kind(kind))


def test_badges_agree_with_running_all_rules_where_cards_are_bridged_in_named_places() -> None:
    catalog = bench_catalog()
    rig = bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2")), bridge="bridge.four")
    badges = {"error": "no", "unknown": "unknown", "warning": "warns"}
    for kind in KINDS:
        parts = _all_of(kind)
        for part, fitting in zip(parts, fits(rig, catalog, kind, parts), strict=True):
            found = {finding.severity for finding in brings(rig, catalog, part) if counts(finding)}
            assert fitting.badge == next(
                (badge for word, badge in badges.items() if word in found), "fits"
            ), part.id


def test_what_the_rig_leaves_open_is_not_held_against_a_part() -> None:
    catalog = bench_catalog()
    for part, fitting in zip(
        _all_of("gpu"), fits(Rig(), catalog, "gpu", _all_of("gpu")), strict=True
    ):  # type: ignore[arg-type]
        assert not {code for _, code in fitting.brings} & {"RIG002", "PWR011", "PWR012"}, part.id
    assert fits(Rig(), catalog, "chassis", [catalog.parts["case.tower"]])[0].badge == "fits"


def test_a_part_that_fits_brings_nothing() -> None:
    catalog = bench_catalog()
    (fitting,) = fits(bench_rig(cooler=None), catalog, "cooler", [catalog.parts["cooler.air"]])
    assert (fitting.badge, fitting.brings) == ("fits", ())


def test_a_flaw_of_the_rig_is_not_laid_at_the_candidates_door() -> None:
    rig = bench_rig(SHORT, cooler=None)
    catalog = bench_catalog({"memory.desk": {"type": "DDR4"}})
    (fitting,) = fits(rig, catalog, "cooler", [catalog.parts["cooler.air"]])
    assert fitting.badge == "fits"


SHORT = {
    "cpu": "cpu.desk",
    "motherboard": "board.desk",
    "memory": "memory.desk",
    "psu": "psu.big",
    "storage": "drive.nvme",
}


def test_every_package_that_a_rule_knows_can_be_named_as_a_setting() -> None:
    assert {row.package for row in software().frameworks} <= set(SOFTWARE_WORDS)
