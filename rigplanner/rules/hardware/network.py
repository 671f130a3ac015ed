"""Network: the slot a card gets, and the way between its ports and the GPUs."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import Motherboard, NetworkCard, System
from rigplanner.machine.model import Machine, SlotUse
from rigplanner.machine.pcie import coded_gbs
from rigplanner.machine.topology.peer import DirectPath, direct_paths, has_direct_access
from rigplanner.rules.core.bounds import Bounds, between
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.fixes import fix, move
from rigplanner.rules.core.moves import lands
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware.classes.boards import slot_lanes
from rigplanner.rules.hardware.slots import free_slots


class Extra(Struct, frozen=True):
    """A network card in a slot."""

    name: str
    part: NetworkCard
    use: SlotUse
    board: Motherboard | System | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.use.slot.id)


def network_cards(context: Context) -> Iterator[Extra]:
    """Network cards in slots."""
    for name, nic in context.of(NetworkCard):
        use = context.slot_of.get(name)
        if use is not None and not is_built_in(name):
            yield Extra(name, nic, use, context.board.board if context.board else None)


EDGES = tuple((gen, width) for gen in (1, 2, 3, 4, 5) for width in (1, 4, 8, 16))
USUAL_EDGE = 8
"""Lanes that few network cards exceed, and those of the newest rates alone."""


def _edge_bounds(context: object, case: Extra, missing: tuple[str, ...]) -> Bounds | None:
    """A slot whose lanes are not known has those of its class; a card whose edge is not known has
    one that its ports need, and no wider than usual where that is enough."""
    lanes = slot_lanes(case.board.layout, case.use.slot) if case.board is not None else None
    card = case.part
    if lanes is None or card.ports is None or card.port_gbps is None:
        return None
    needed = card.ports * card.port_gbps / 8
    able = [edge for edge in EDGES if (coded_gbs(*edge) or 0.0) >= needed]
    edges = [edge for edge in able if edge[1] <= USUAL_EDGE] or able
    if card.edge_gen is not None and card.edge_width is not None:
        edges = [(card.edge_gen, card.edge_width)]
    runs = sorted(
        {
            (min(gen, own_gen), min(width, own_width))
            for gen, width in zip(lanes.gen, lanes.width, strict=True)
            for own_gen, own_width in edges
        },
        key=lambda run: coded_gbs(int(run[0]), int(run[1])) or 0.0,
    )
    if not set(missing) <= {"use.width", "use.gen"} or not runs:
        return None
    worst, best = runs[0], runs[-1]
    return between(
        case,
        {"use.width": (int(worst[1]), int(best[1])), "use.gen": (int(worst[0]), int(best[0]))},
    )


@rule(
    "PCI008",
    "Network card's slot is slower than its ports",
    "warning",
    over=network_cards,
    needs=("part.ports", "part.port_gbps", "use.width", "use.gen"),
    bound=_edge_bounds,
    reason="A card cannot send more than its slot takes.",
    source="PCI-SIG rates",
)
def slow_network(context: Context, case: Extra) -> Iterator[Finding]:
    """Compare the ports' sum in GB/s with the slot's rate."""
    needed = (case.part.ports or 0) * (case.part.port_gbps or 0) / 8
    actual = coded_gbs(case.use.gen, case.use.width) or 0.0
    if actual < needed:
        better = [
            use
            for use in free_slots(context, case.use)
            if (coded_gbs(use.available_gen or use.gen, use.available_width or use.width) or 0)
            >= needed
        ]
        place = better[0].slot.id if better else ""
        edit = move(context, case.name, place) if better else None

        def keeps_up(machine: Machine) -> bool:
            return any(
                use.piece == case.name and (coded_gbs(use.gen, use.width) or 0.0) >= needed
                for use in machine.slots
            )

        helps = edit is not None and lands(context, (edit,), case.name, place, keeps_up)
        fixes = (
            (fix(context, "move-card", edit, piece=case.name, place=place),)
            if edit and helps
            else ()
        )
        yield slow_network.finding(
            case, needed=round(needed, 1), actual=round(actual, 1), unit="GB/s", fixes=fixes
        )


class Reach(Named, frozen=True):
    """The GPUs of a rig with RDMA ports: whether their driver lets ports read their memory, and the
    paths between them."""

    direct: bool | None
    paths: tuple[DirectPath, ...]
    pieces: dict[int, str]


def reaches(context: Context) -> Iterator[Reach]:
    """The first RDMA card of a rig with GPUs; a GPU whose policy is not known leaves the answer
    open."""
    machine = context.machine
    if machine.nics and machine.gpus:
        policies = {has_direct_access(node.gpu) for node in machine.gpus}
        direct = True if True in policies else None if None in policies else False
        yield Reach(
            machine.nics[0].piece,
            direct,
            direct_paths(machine),
            {node.index: node.piece for node in machine.gpus},
        )


def _either_way(context: Context, case: Reach, missing: tuple[str, ...]) -> Bounds:
    """Where nobody says whether a card offers GPUDirect, it decides only what it would cost."""
    return between(case, {"direct": (True, False)})


@rule(
    "NIC001",
    "Way of the data from the network ports to the GPUs",
    "info",
    over=reaches,
    needs=("direct",),
    bound=_either_way,
    reason=(
        "With GPUDirect RDMA a port reads GPU memory itself: below one PCIe switch at full rate,"
        " over the host bridge slower, across sockets hardly. Without it each message is copied"
        " through host memory."
    ),
    source="NVIDIA GPUDirect RDMA documentation; NCCL's default of NCCL_NET_GDR_LEVEL",
)
def direct_network(context: Context, case: Reach) -> Iterator[Finding]:
    """A remark where the cards have no GPUDirect, a warning for GPUs all of whose ports lie across
    a socket."""
    if not case.direct:
        yield direct_network.finding(case)
        return
    best: dict[int, set[str]] = {}
    for path in case.paths:
        best.setdefault(path.gpu, set()).add(path.letter)
    far = [case.pieces[gpu] for gpu, letters in best.items() if letters == {"SYS"}]
    lost = [case.pieces[gpu] for gpu, letters in best.items() if letters == {""}]
    if far:
        yield direct_network.finding(
            case, "warning", needed=len(best), actual=len(best) - len(far), unit="GPUs", gpus=far
        )
    elif lost:
        yield direct_network.unknown(case, "machine:nics")
