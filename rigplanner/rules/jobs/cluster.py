"""Rigs of several nodes: is each of them whole, and what joins them."""

from collections.abc import Iterator

from rigplanner.catalog.schema.parts import MemoryKit, NetworkCard, System
from rigplanner.machine.pcie import least
from rigplanner.machine.topology.interconnect import network_rates, nodes_of
from rigplanner.rules.core.completeness import WHOLE
from rigplanner.rules.core.context import Board, Context, JobFacts
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.registry import rule


class Node(Named, frozen=True):
    """One of several nodes, and the kinds of part that it lacks."""

    board: Board
    lacking: tuple[str, ...]


def several(context: Context) -> tuple[Board, ...]:
    """Return the boards with CPU sockets of a rig that is several equal computers, () for others
    and for computers sold whole."""
    boards = context.boards
    alike = len(boards) > 1 and len({board.board.id for board in boards}) == 1
    whole = any(isinstance(board.board, System) and board.board.role in WHOLE for board in boards)
    return boards if alike and boards[0].layout.sockets and not whole else ()


def nodes(context: Context) -> Iterator[Node]:
    """The nodes of a rig that is several equal computers. What the whole rig lacks is said once,
    elsewhere."""
    boards = several(context)
    seated = {cpu.board for cpu in context.machine.cpus}
    if not boards or not seated:
        return
    cards = {
        use.board
        for use in context.machine.slots_in_use
        if use.piece is not None and _is_network(context, use.piece)
    }
    for board in boards:
        lacking = [] if board.name in seated else ["cpu"]
        lacking += (
            ["memory"] if context.memory and not _has_memory(context, board, boards, seated) else []
        )
        lacking += ["nic"] if cards and board.name not in cards else []
        yield Node(board.name, board, tuple(lacking))


def _is_network(context: Context, piece: str) -> bool:
    return piece in context.pieces and isinstance(context.pieces[piece].part, NetworkCard)


def _has_memory(
    context: Context, board: Board, boards: tuple[Board, ...], seated: set[str]
) -> bool:
    """Say whether there is memory for a node: built into it, or modules enough that each node with
    a CPU has some, and, where it has no CPU itself, more than those take."""
    if any(name.startswith(board.name + "/") for name, _ in context.of(MemoryKit)):
        return True
    modules = sum(kit.modules for _, kit in context.memory)
    served = [one for one in boards if one.name in seated]
    if board.name in seated:
        return modules > [one.name for one in served].index(board.name)
    taken = [one.layout.memory_slots for one in served]
    return None in taken or modules > sum(slots or 0 for slots in taken)


@rule(
    "NOD001",
    "Node is not whole",
    "error",
    over=nodes,
    reason=(
        "Each of several computers needs a processor and memory of its own to start, and a network"
        " port to reach the others."
    ),
    source="Arithmetic",
)
def incomplete(context: Context, case: Node) -> Iterator[Finding]:
    """Name what one node lacks that others have; without its network card alone it still starts."""
    if case.lacking:
        alone = case.lacking == ("nic",)
        yield incomplete.finding(case, "warning" if alone else "error", kinds=list(case.lacking))


class Crossing(Named, frozen=True):
    """A job over several nodes, their number, the GPUs of the largest, and what the ports of the
    slowest carry one way in GB/s."""

    job: JobFacts | None
    nodes: int
    gpus: int
    rate: float | None


def crossings(context: Context) -> Iterator[Crossing]:
    """Jobs on rigs whose GPUs stand in several computers; the rig itself where it names no job."""
    machine = context.machine
    everything = tuple(range(len(machine.gpu_parts)))
    found = nodes_of(machine, everything) if len(context.boards) > 1 else {}
    if len(found) > 1:
        rate = least(*network_rates(machine, everything).values())
        most = max(map(len, found.values()))
        for job in context.jobs:
            yield Crossing(job.name, job, len(found), most, rate)
        if not context.jobs:
            yield Crossing(machine.gpu_parts[0].piece, None, len(found), most, rate)


@rule(
    "NOD002",
    "Work crosses the network between nodes",
    "info",
    over=crossings,
    reason=(
        "Between computers data go through network ports, slower than NVLink and often than PCIe:"
        " data and pipeline parallelism bear it, tensor parallelism hardly."
    ),
    source="NVIDIA Megatron-LM guidance: tensor parallelism within a node",
)
def crossing(context: Context, case: Crossing) -> Iterator[Finding]:
    """Tell the rate between nodes; a tensor degree beyond one node is a warning."""
    if case.rate is None:
        yield crossing.unknown(case, "machine:nics")
        return
    plan = case.job.workload.parallelism if case.job else None
    wide = plan is not None and plan.tensor > case.gpus
    yield crossing.finding(
        case,
        "warning" if wide else "info",
        actual=round(case.rate, 1),
        unit="GB/s",
        nodes=case.nodes,
        variant="tensor" if wide else "",
    )
