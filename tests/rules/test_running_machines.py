"""A plain PC simply works: no errors on machines that run, few questions, few warnings."""

from collections import Counter

import pytest
from running_machines import RUNNING, Running
from running_machines_fresh import FRESH

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.report.words.findings import finding_text
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rules.assess import assess
from rigplanner.rules.core.finding import CheckReport

UNKNOWN_AT_MOST = 0.10
WARNED_AT_MOST = 0.15
"""Shares of machines; of warnings those of machines that are meant to work without a condition."""


def rig_of(machine: Running, site: Site) -> Rig:
    picks = [(pick, 1) if isinstance(pick, str) else pick for pick in machine.parts]
    items = [
        Item(
            uid=f"p{n}",
            part=part,
            quantity=count,
            power_cap_w=machine.cap_w if isinstance(shipped_catalog().get(part), GPU) else None,
        )
        for n, (part, count) in enumerate(picks)
    ]
    return Rig(name=machine.name, items=tuple(items), site=site)


def judged(machine: Running, site: Site | None = None) -> CheckReport:
    own = Site(volts=230.0, breaker_a=16.0, circuits=machine.circuits)
    return assess(rig_of(machine, site or own), shipped_catalog()).report


@pytest.mark.parametrize("machine", RUNNING + FRESH, ids=lambda machine: machine.name)
def test_a_running_machine_gets_no_error(machine: Running) -> None:
    rig = rig_of(machine, Site(volts=230.0, breaker_a=16.0, circuits=machine.circuits))
    assert [item.part for item in rig.items if shipped_catalog().get(item.part) is None] == []
    found = [finding for finding in judged(machine).findings if finding.severity == "error"]
    assert [finding_text(finding, rig, shipped_catalog()) for finding in found] == []


@pytest.mark.parametrize(
    "machines",
    [[m for m in RUNNING if not m.apart], [m for m in RUNNING if m.apart], list(FRESH)],
    ids=["seen", "kept apart", "fresh"],
)
def test_few_running_machines_are_asked_about_or_warned_of(machines: list[Running]) -> None:
    verdicts = {machine.name: judged(machine).verdict() for machine in machines}
    count = Counter(verdicts.values())
    assert count["unknown"] <= UNKNOWN_AT_MOST * len(machines), verdicts
    meant = [machine.name for machine in machines if machine.verdict == "ok"]
    warned = [name for name in meant if verdicts[name] == "warning"]
    assert len(warned) <= WARNED_AT_MOST * len(meant), warned


def test_a_plain_pc_works_wherever_it_stands() -> None:
    """Without a word on the site, only machines that want much more than an outlet are asked."""
    asked = [
        machine.name
        for machine in RUNNING
        for finding in judged(machine, Site()).findings
        if finding.severity == "unknown" and any(f.startswith("site:") for f in finding.missing)
    ]
    assert len(set(asked)) <= 0.2 * len(RUNNING), asked


def test_a_missing_fact_is_asked_for_once() -> None:
    for machine in RUNNING:
        facts = [fact for finding in judged(machine, Site()).findings for fact in finding.missing]
        assert len(facts) == len(set(facts)), machine.name


def test_what_sources_say_of_one_supply_counts_for_each() -> None:
    """Six plugs each by the lower source are twelve of two supplies, enough for eight."""
    machine = next(each for each in FRESH if each.name == "Four 3090 of 250 W on H12SSL")
    assert not [each for each in judged(machine).findings if each.code == "RIG006"]
