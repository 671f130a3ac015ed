"""Every rule fires, stays silent at the limit and beyond, and says unknown when a fact is missing;
its fixes work."""

import cases_board
import cases_cluster
import cases_data
import cases_links
import cases_power
import cases_software
import cases_space
import pytest
from rule_bench import RuleCase, bench_catalog

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.memory.answer import MemoryEstimate, MemoryParts
from rigplanner.report.words.findings import finding_text, fix_text
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import apply, set_severity
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import facts_of, job_on, machine_of
from rigplanner.rules.check import check, counted
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import SEVERITIES, CheckReport, Finding
from rigplanner.rules.topics import RULES_BY_CODE

CASES = (
    *cases_board.CASES,
    *cases_space.CASES,
    *cases_power.CASES,
    *cases_links.CASES,
    *cases_software.CASES,
    *cases_data.CASES,
    *cases_cluster.CASES,
)
NEVER_UNKNOWN = {
    "DSK001": "a port without a mode that switches it off is alive",
    "DSK003": "capacity of a drive and size of a data set are required where the rule looks",
    "DSK006": "drives are counted",
    "DSK009": "drives without a rate count with the usual one of their kind",
    "DSP004": "a remark decides nothing",
    "M2007": "a remark decides nothing",
    "DSP005": "a remark decides nothing",
    "GPU003": "a remark decides nothing",
    "GPU004": "a remark decides nothing",
    "GPU002": "ids are always known",
    "KNO001": "a pair is known or it is not listed",
    "MIG002": "degrees of parallelism have defaults",
    "NOD001": "pieces are counted",
    "NVL010": "a remark decides nothing",
    "NVL008": "islands are computed from the links that are known",
    "PCI009": "a mode hangs on a setting or it does not",
    "RIG003": "a doubt is written down or it is not",
    "SPC010": "a remark decides nothing",
    "WRK007": "copies wait for each other where nothing is said",
    "RIG006": "what is not known has no figure that could be doubted",
    "RIG005": "a name is known or it is not",
    "CLG006": "the fan can be left off",
    "CLG007": "a remark decides nothing",
    "CLG008": "a module has no fan",
    "PCI013": "a remark decides nothing",
    "PWR022": "the form of a module tells what it takes",
    "RIG007": "a figure suits its part or it does not",
    "RIG004": "a description goes round in a circle or it does not",
    "WRK002": "degrees of parallelism have defaults",
    "WRK004": "degrees of parallelism have defaults",
}


def _flag(workload: Workload, name: str) -> float | None:
    return next(
        (float(flag.partition(":")[2]) for flag in workload.flags if flag.startswith(f"{name}:")),
        None,
    )


def estimate(workload: Workload, gpu: GPU, count: int) -> MemoryEstimate | str:
    """A memory model for tests: the flag's GiB at the batch of four (or the one given), less when
    activations are recomputed."""
    gib = _flag(workload, "gib") or 1.0
    gib *= (
        (workload.batch_per_gpu or 4)
        / 4
        * (0.4 if workload.gradient_checkpointing == "full" else 1.0)
    )
    return MemoryEstimate(
        parts=MemoryParts(activations_gib=gib),
        tensors_gib=gib,
        allocated_gib=gib,
        reserved_gib=gib,
        device_gib=gib,
        low_gib=gib * 0.9,
        high_gib=gib * 1.1,
        stack="test",
        host_gib=_flag(workload, "host") or 0.0,
        nvme_gib=_flag(workload, "nvme") or 0.0,
    )


def situated(rig: Rig, catalog: Catalog, today: str = "") -> Context:
    """Return a rig as rules see it, with the memory model of tests."""
    machine = machine_of(rig, catalog)
    jobs = []
    for index, workload in enumerate(rig.workloads):
        needs = [estimate(workload, node.gpu, len(machine.gpus)) for node in machine.gpus]
        known = tuple(need for need in needs if isinstance(need, MemoryEstimate))
        timed = (
            facts_of(job_on(index, workload, machine), machine)
            if "timed" in workload.flags
            else None
        )
        speed, unfed = (timed.speed, timed.unfed) if timed else (None, None)
        jobs.append(
            JobFacts(
                name=f"workload.{index}",
                index=index,
                workload=workload,
                memory=known,
                speed=speed,
                unfed=unfed,
            )
        )
    return Context(
        rig=rig, catalog=catalog, machine=machine, jobs=tuple(jobs), today=today, estimate=estimate
    )


def judge(rig: Rig, catalog: Catalog, today: str = "") -> CheckReport:
    """Check a rig by all rules."""
    return check(situated(rig, catalog, today))


def found(report: CheckReport, code: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.code == code]


UNCHANGED = bench_catalog()


def catalog_of(case: RuleCase) -> Catalog:
    return bench_catalog(case.changes, case.extra) if case.changes or case.extra else UNCHANGED


def said(case: RuleCase) -> list[Finding]:
    """What the rule of a case alone says of it."""
    return counted(situated(case.rig, catalog_of(case)), (case.code,))


def of_kind(*kinds: str) -> list[tuple[str, list[RuleCase]]]:
    """Cases of some kinds by rule."""
    rows = [
        (code, [case for case in CASES if case.code == code and case.kind in kinds])
        for code in sorted(RULES_BY_CODE)
    ]
    return [(code, cases) for code, cases in rows if cases]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.kind == "fires"], ids=lambda case: case.title
)
def test_a_rule_fires_and_its_fixes_remove_the_finding_and_add_no_error(case: RuleCase) -> None:
    catalog = catalog_of(case)
    before = judge(case.rig, catalog)
    findings = found(before, case.code)
    assert (case.severity or RULES_BY_CODE[case.code].severity) in {
        finding.severity for finding in findings
    }
    errors = {finding.code for finding in before.findings if finding.severity == "error"}
    assert all(RULES_BY_CODE[code].may_err for code in errors)
    for finding in findings:
        text = finding_text(finding, case.rig, catalog)
        assert text and "{" not in text and "None" not in text
        for fix in finding.fixes:
            assert "{" not in fix_text(fix, case.rig, catalog)
            rig = case.rig
            for edit in fix.edits:
                rig = apply(rig, edit)
            after = judge(rig, catalog)
            still = [
                other
                for other in found(after, case.code)
                if other.severity == finding.severity and other.subjects[:1] == finding.subjects[:1]
            ]
            assert not still, fix.code
            assert {
                other.code for other in after.findings if other.severity == "error"
            } <= errors, fix.code


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.kind == "fires"], ids=lambda case: case.title
)
def test_a_severity_of_the_rigs_own_changes_no_word_of_the_text(case: RuleCase) -> None:
    catalog = catalog_of(case)
    findings = said(case)
    texts = [finding_text(finding, case.rig, catalog) for finding in findings]
    for severity in SEVERITIES:
        again = counted(
            situated(set_severity(case.rig, case.code, severity), catalog), (case.code,)
        )
        assert [finding_text(finding, case.rig, catalog) for finding in again] == texts
        judged = [
            (one.severity, other.severity) for one, other in zip(findings, again, strict=True)
        ]
        assert all(new == ("unknown" if old == "unknown" else severity) for old, new in judged)


@pytest.mark.parametrize(("code", "cases"), of_kind("limit", "silent"))
def test_a_rule_is_silent_at_the_limit_and_beyond(code: str, cases: list[RuleCase]) -> None:
    assert [(case.title, case.changes, said(case)) for case in cases if said(case)] == []


@pytest.mark.parametrize(("code", "cases"), of_kind("unknown"))
def test_a_missing_fact_is_unknown(code: str, cases: list[RuleCase]) -> None:
    for case in cases:
        findings = [finding for finding in said(case) if finding.severity == "unknown"]
        assert findings, (case.title, case.changes)
        assert all(finding.missing for finding in findings)
        assert all(
            "{" not in finding_text(finding, case.rig, catalog_of(case)) for finding in findings
        )


def test_every_rule_has_its_four_cases() -> None:
    for code in RULES_BY_CODE:
        kinds = {case.kind for case in CASES if case.code == code}
        assert {"fires", "limit", "silent"} | (
            set() if code in NEVER_UNKNOWN else {"unknown"}
        ) <= kinds, code
    assert not [
        code
        for code in NEVER_UNKNOWN
        if RULES_BY_CODE[code].needs and code not in ("DSK003", "NVL008")
    ]
