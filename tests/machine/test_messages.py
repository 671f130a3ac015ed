"""The time of an all-reduce by size: rings and trees, one node and several, NCCL's releases."""

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.messages import MessageTime, has_trees, message_times, nccl_release
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import add_part


def machine_of(catalog: Catalog, nodes: int) -> Machine:
    return assemble(add_part(Rig(), "nvidia.dgx.dgx-1-v100-16gb", "system", nodes), catalog)


def test_trees_wait_less_between_nodes_and_carry_as_much(catalog: Catalog) -> None:
    machine = machine_of(catalog, 8)
    today, before = message_times(machine), message_times(machine, "2.3")
    for new, old in zip(today, before, strict=True):
        assert new.size_bytes == old.size_bytes and old.rings_alone is None
        assert new.rings_alone is not None and new.rings_alone.value == old.taken.value
        assert new.taken.value <= old.taken.value
        assert old.way.startswith("ring")
    assert old_over_new(today[0]) > 2
    large = next(each for each in today if each.size_bytes == 2**30)
    assert old_over_new(large) < 1.1


def old_over_new(each: MessageTime) -> float:
    assert each.rings_alone is not None
    return each.rings_alone.value / each.taken.value


def test_rings_alone_grow_with_the_nodes_and_trees_with_their_logarithm(catalog: Catalog) -> None:
    four, eight = (message_times(machine_of(catalog, nodes))[0] for nodes in (4, 8))
    assert eight.taken.value / four.taken.value < 1.4
    assert eight.rings_alone is not None and four.rings_alone is not None
    assert eight.rings_alone.value / four.rings_alone.value > 1.5


def test_one_node_has_no_trees_to_do_without(catalog: Catalog) -> None:
    times = message_times(machine_of(catalog, 1))
    assert times and all(each.rings_alone is None for each in times)
    assert times == message_times(machine_of(catalog, 1), "2.3")
    assert message_times(assemble(Rig(), catalog)) == ()


@pytest.mark.parametrize(
    ("text", "release", "trees"),
    [
        ("2.3", (2, 3), False),
        ("v2.3.7-1", (2, 3), False),
        ("2.4.2", (2, 4), True),
        ("2.21.5+cuda12.4", (2, 21), True),
        ("", None, True),
        ("newest", None, True),
    ],
)
def test_a_release_is_read_from_its_text(
    text: str, release: tuple[int, int] | None, trees: bool
) -> None:
    assert nccl_release(text) == release
    assert has_trees(release) is trees
