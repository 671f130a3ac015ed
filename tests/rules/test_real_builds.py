"""Machines that run get no error, machines that failed get one: a checker that cries wolf is worse than none."""

import pytest
from real_builds import BUILDS, Build

from rigplanner.catalog.load import shipped_catalog
from rigplanner.report.words import finding_text
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess


def rig_of(build: Build) -> Rig:
    items = []
    for number, pick in enumerate(build.parts):
        full = (pick,) if isinstance(pick, str) else pick
        part, quantity, places, cap = (*full, *(1, (), None)[len(full) - 1 :])
        items.append(Item(uid=f"p{number}", part=part, quantity=quantity, places=tuple(places), power_cap_w=cap))
    return Rig(name=build.name, items=tuple(items))


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.name)
def test_a_machine_that_runs_gets_no_error(build: Build) -> None:
    rig, catalog = rig_of(build), shipped_catalog()
    assert [item.part for item in rig.items if catalog.get(item.part) is None] == []
    found = assess(rig, catalog).report.findings
    assert [(f.code, finding_text(f, rig, catalog)) for f in found if f.severity == "error"] == []
