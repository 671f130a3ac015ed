"""The sample of eight H100, twice: whole nodes, and a second one with nothing but its board and
modules."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.machine.topology.interconnect import network_rates, nodes_of
from rigplanner.report.machine_files import matrix_text
from rigplanner.rig.document import Rig
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess

EVERY = tuple(range(16))


@pytest.fixture
def one(samples: list[Path]) -> Rig:
    return read_rig(next(path for path in samples if path.stem == "hgx-h100"))


def times(rig: Rig, count: int, *uids: str) -> Rig:
    """The rig with some items, or all, so many times."""
    items = [
        replace(item, quantity=item.quantity * (count if not uids or item.uid in uids else 1))
        for item in rig.items
    ]
    return replace(rig, items=tuple(items))


def test_two_whole_nodes_meet_over_their_ports(one: Rig, catalog: Catalog) -> None:
    rig = times(one, 2)
    machine = assemble(rig, catalog)
    nodes = nodes_of(machine, EVERY)
    assert list(nodes.values()) == [EVERY[:8], EVERY[8:]]
    assert network_rates(machine, EVERY) == dict.fromkeys(nodes, 400.0)
    single = matrix_text(assemble(one, catalog))
    first, second = (
        part.partition("\n")[2] for part in (matrix_text(machine) + "\n").split("\n# ")
    )
    assert first.strip() == second.strip() == single.strip()
    codes = {finding.code for finding in assess(rig, catalog).report.findings}
    assert "NOD002" in codes
    assert not codes & {"NOD001", "NVL008", "P2P001"}
    assert {
        finding.code
        for finding in assess(rig, catalog).report.findings
        if finding.severity == "error"
    } <= {"PWR012"}
    estimate = allreduce(machine)
    assert estimate is not None
    assert estimate.low < estimate.value <= 750


def test_a_second_node_without_its_parts_is_named(one: Rig, catalog: Catalog) -> None:
    rig = times(one, 2, "system")
    found = [
        finding
        for finding in assess(rig, catalog).report.findings
        if finding.code in ("NOD001", "NVL008", "P2P001")
    ]
    assert [(finding.code, finding.subjects, finding.values["kinds"]) for finding in found] == [
        ("NOD001", ("system.1",), ["cpu", "memory", "nic"])
    ]
    assert allreduce(assemble(rig, catalog)) is None
