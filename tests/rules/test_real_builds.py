"""Machines that run get no error, machines that failed get one: a checker that cries wolf is worse
than none.

Of 277 of the 441 failures the verdict was written down before the rules were run on them."""

import pytest
from msgspec.structs import replace
from real_builds import BUILDS
from real_failures_found import FAILURES_FOUND
from real_failures_fresh import FAILURES_FRESH
from real_failures_kernels import FAILURES_KERNELS
from real_failures_links import FAILURES_LINKS
from real_failures_memory import FAILURES_MEMORY
from real_failures_power import FAILURES_POWER
from real_failures_software import FAILURES_SOFTWARE
from real_parts import OWN_PARTS, Build, Failure
from real_runs import RUNS

from rigplanner.catalog.load import shipped_catalog
from rigplanner.report.words.findings import finding_text
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess

OWN = {part.id: part for part in OWN_PARTS}
FAILURES = (
    *FAILURES_SOFTWARE,
    *FAILURES_KERNELS,
    *FAILURES_LINKS,
    *FAILURES_MEMORY,
    *FAILURES_POWER,
    *FAILURES_FOUND,
    *FAILURES_FRESH,
)


def rig_of(build: Build | Failure) -> Rig:
    items = []
    for number, pick in enumerate(build.parts):
        full = (pick,) if isinstance(pick, str) else pick
        part, quantity, places, cap = (*full, *(1, (), None)[len(full) - 1 :])
        items.append(
            Item(
                uid=f"p{number}",
                part=part,
                quantity=quantity,
                places=tuple(places),
                power_cap_w=cap,
            )
        )
    return Rig(name=build.name, items=tuple(items))


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.name)
def test_a_machine_that_runs_gets_no_error(build: Build) -> None:
    rig, catalog = replace(rig_of(build), snapshot=OWN), shipped_catalog()
    assert [
        item.part for item in rig.items if item.part not in OWN and catalog.get(item.part) is None
    ] == []
    found = assess(rig, catalog).report.findings
    assert [(f.code, finding_text(f, rig, catalog)) for f in found if f.severity == "error"] == []


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_software_and_jobs_that_run_get_no_error(run: Failure) -> None:
    jobs = (run.job,) if run.job else ()
    rig, catalog = (
        replace(rig_of(run), settings=run.settings(), site=run.site, workloads=jobs),
        shipped_catalog(),
    )
    assert [item.part for item in rig.items if catalog.get(item.part) is None] == []
    found = assess(rig, catalog).report.findings
    assert [(f.code, finding_text(f, rig, catalog)) for f in found if f.severity == "error"] == []


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.name)
def test_a_machine_that_failed_is_told_so(failure: Failure) -> None:
    jobs = (failure.job,) if failure.job else ()
    rig = replace(
        rig_of(failure),
        settings=failure.settings(),
        site=failure.site,
        workloads=jobs,
        snapshot=OWN,
    )
    assert [
        item.part
        for item in rig.items
        if item.part not in OWN and shipped_catalog().get(item.part) is None
    ] == []
    found = assess(rig, shipped_catalog()).report.findings
    loud = ("error", "warning", "info") if failure.remark else ("error", "warning")
    assert {f.code for f in found if f.severity in loud} & set(failure.codes)
