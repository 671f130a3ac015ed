"""Machines that run get no error, machines that failed get one: a checker that cries wolf is worse than none."""

import pytest
from msgspec.structs import replace
from real_builds import BUILDS, Build
from real_builds_more import MORE_BUILDS, RUNS
from real_failures import FAILURES, Failure
from real_failures_beside import BESIDE_FAILURES, BESIDE_PARTS, FRAMEWORK_FAILURES
from real_failures_fresh import FRESH_BUILDS, FRESH_FAILURES, FRESH_RUNS
from real_failures_hosts import HOST_FAILURES, OWN_PARTS
from real_failures_more import MORE_FAILURES, OLD_BOARDS
from real_gathered import GATHERED_BUILDS, GATHERED_FAILURES, GATHERED_PARTS, GATHERED_RUNS
from real_newcomers import NEW_BUILDS, NEW_FAILURES, NEW_PARTS, NEW_RUNS
from real_rigs import RIG_BUILDS, RIG_FAILURES, RIG_PARTS, RIG_RUNS
from real_strangers import STRANGE_BUILDS, STRANGE_FAILURES, STRANGE_PARTS, STRANGE_RUNS

from rigplanner.catalog.load import shipped_catalog
from rigplanner.report.words.findings import finding_text
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess

OWN = {part.id: part for part in (*OLD_BOARDS, *OWN_PARTS, *BESIDE_PARTS, *RIG_PARTS, *STRANGE_PARTS, *NEW_PARTS, *GATHERED_PARTS)}
"""Parts of owners that the catalog does not have."""

ALL_FAILURES = (
    *FAILURES, *MORE_FAILURES, *HOST_FAILURES, *BESIDE_FAILURES, *FRAMEWORK_FAILURES, *FRESH_FAILURES, *RIG_FAILURES,
    *STRANGE_FAILURES, *NEW_FAILURES, *GATHERED_FAILURES,
)  # fmt: skip


def rig_of(build: Build | Failure) -> Rig:
    items = []
    for number, pick in enumerate(build.parts):
        full = (pick,) if isinstance(pick, str) else pick
        part, quantity, places, cap = (*full, *(1, (), None)[len(full) - 1 :])
        items.append(Item(uid=f"p{number}", part=part, quantity=quantity, places=tuple(places), power_cap_w=cap))
    return Rig(name=build.name, items=tuple(items))


@pytest.mark.parametrize(
    "build",
    [*BUILDS, *MORE_BUILDS, *FRESH_BUILDS, *RIG_BUILDS, *STRANGE_BUILDS, *NEW_BUILDS, *GATHERED_BUILDS],
    ids=lambda build: build.name,
)
def test_a_machine_that_runs_gets_no_error(build: Build) -> None:
    rig, catalog = replace(rig_of(build), snapshot=OWN), shipped_catalog()
    assert [item.part for item in rig.items if item.part not in OWN and catalog.get(item.part) is None] == []
    found = assess(rig, catalog).report.findings
    assert [(f.code, finding_text(f, rig, catalog)) for f in found if f.severity == "error"] == []


@pytest.mark.parametrize("run", [*RUNS, *FRESH_RUNS, *RIG_RUNS, *STRANGE_RUNS, *NEW_RUNS, *GATHERED_RUNS], ids=lambda run: run.name)
def test_software_and_jobs_that_run_get_no_error(run: Failure) -> None:
    jobs = (run.job,) if run.job else ()
    rig, catalog = replace(rig_of(run), settings=run.settings(), site=run.site, workloads=jobs), shipped_catalog()
    assert [item.part for item in rig.items if catalog.get(item.part) is None] == []
    found = assess(rig, catalog).report.findings
    assert [(f.code, finding_text(f, rig, catalog)) for f in found if f.severity == "error"] == []


@pytest.mark.parametrize("failure", ALL_FAILURES, ids=lambda failure: failure.name)
def test_a_machine_that_failed_is_told_so(failure: Failure) -> None:
    jobs = (failure.job,) if failure.job else ()
    rig = replace(rig_of(failure), settings=failure.settings(), site=failure.site, workloads=jobs, snapshot=OWN)
    assert [item.part for item in rig.items if item.part not in OWN and shipped_catalog().get(item.part) is None] == []
    found = assess(rig, shipped_catalog()).report.findings
    loud = ("error", "warning", "info") if failure.remark else ("error", "warning")
    assert {f.code for f in found if f.severity in loud} & set(failure.codes)
