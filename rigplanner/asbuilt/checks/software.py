"""Firmware and software as installed, against the same rules that judged the plan: what a rule
finds now and did not find then."""

import msgspec
from msgspec.structs import replace

from rigplanner.asbuilt.checks.line import Line, Verdict
from rigplanner.asbuilt.seen import Fact, SeenBoard, SeenGpu, SeenKernel, of_kind
from rigplanner.catalog.load import Catalog
from rigplanner.rules.assess import Assessment, assess
from rigplanner.rules.core.finding import Finding, Severity

VERDICT_OF: dict[Severity, Verdict] = {"error": "broken", "warning": "remark"}


def installed(facts: tuple[Fact, ...]) -> dict[str, str]:
    """Return the versions that a capture shows, by the names that the rules know: driver, bios,
    os."""
    found: dict[str, str] = {}
    for gpu in of_kind(facts, SeenGpu):
        if gpu.driver and gpu.cuda:
            found.setdefault("driver", gpu.driver)
    for board in of_kind(facts, SeenBoard):
        if board.bios:
            found.setdefault("bios", board.bios)
    for kernel in of_kind(facts, SeenKernel):
        if kernel.system:
            found.setdefault("os", kernel.system)
    return found


def rule_lines(
    assessment: Assessment, catalog: Catalog, facts: tuple[Fact, ...]
) -> tuple[Line, ...]:
    """Return a line for each error and warning that comes up with the versions as installed; one
    kept line when none does."""
    versions = installed(facts)
    if not versions:
        return ()
    rig = assessment.rig
    software = {**rig.settings.software, **versions}
    again = assess(replace(rig, settings=replace(rig.settings, software=software)), catalog)
    known = {(found.code, found.subjects) for found in assessment.report.findings}
    fresh = [
        found
        for found in again.report.findings
        if (found.code, found.subjects) not in known and found.severity in VERDICT_OF
    ]
    said = ", ".join(f"{name} {version}" for name, version in versions.items())
    if not fresh:
        return (Line(code="rule", group="software", verdict="kept", seen=said),)
    return tuple([_line(found) for found in fresh])


def _line(found: Finding) -> Line:
    return Line(
        code="rule",
        group="software",
        verdict=VERDICT_OF[found.severity],
        where=found.code,
        seen=found.code,
        cause="rule",
        values={"finding": msgspec.to_builtins(replace(found, fixes=()))},
    )
