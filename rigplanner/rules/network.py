"""Network: the slot a card gets, and the way between its ports and the GPUs."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.parts import NetworkCard
from rigplanner.machine.machine import Machine, SlotUse
from rigplanner.machine.pcie import coded_gbs
from rigplanner.machine.peer import DirectPath, direct_paths, has_direct_access
from rigplanner.rules.finding import Finding, Named
from rigplanner.rules.fixes import fix, move
from rigplanner.rules.moves import lands
from rigplanner.rules.registry import rule
from rigplanner.rules.situation import Situation, is_built_in
from rigplanner.rules.slots import free_slots


class Extra(Struct, frozen=True):
    """A network card in a slot."""

    name: str
    part: NetworkCard
    use: SlotUse

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.use.slot.id)


def network_cards(situation: Situation) -> Iterator[Extra]:
    """Network cards in slots."""
    for name, nic in situation.of(NetworkCard):
        use = situation.slot_of.get(name)
        if use is not None and not is_built_in(name):
            yield Extra(name, nic, use)


@rule(
    "PCI008", "Network card's slot is slower than its ports", "warning", over=network_cards,
    needs=("part.ports", "part.port_gbps", "use.width", "use.gen"),
    reason="A card cannot send more than its slot takes.",
    source="PCI-SIG rates",
)  # fmt: skip
def slow_network(situation: Situation, case: Extra) -> Iterator[Finding]:
    """Compare the ports' sum in GB/s with the slot's rate."""
    needed = (case.part.ports or 0) * (case.part.port_gbps or 0) / 8
    actual = coded_gbs(case.use.gen, case.use.width) or 0.0
    if actual < needed:
        better = [
            use
            for use in free_slots(situation, case.use)
            if (coded_gbs(use.available_gen or use.gen, use.available_width or use.width) or 0) >= needed
        ]
        place = better[0].slot.id if better else ""
        edit = move(situation, case.name, place) if better else None

        def keeps_up(machine: Machine) -> bool:
            return any(use.piece == case.name and (coded_gbs(use.gen, use.width) or 0.0) >= needed for use in machine.slots)

        helps = edit is not None and lands(situation, (edit,), case.name, place, keeps_up)
        fixes = (fix(situation, "move-card", edit, piece=case.name, place=place),) if edit and helps else ()
        yield slow_network.finding(case, needed=round(needed, 1), actual=round(actual, 1), unit="GB/s", fixes=fixes)


class Reach(Named, frozen=True):
    """The GPUs of a rig with RDMA ports: whether their driver lets ports read their memory, and the paths between them."""

    direct: bool | None
    paths: tuple[DirectPath, ...]
    pieces: dict[int, str]


def reaches(situation: Situation) -> Iterator[Reach]:
    """The first RDMA card of a rig with GPUs; a GPU whose policy is not known leaves the answer open."""
    machine = situation.machine
    if machine.nics and machine.gpus:
        policies = {has_direct_access(node.gpu) for node in machine.gpus}
        direct = True if True in policies else None if None in policies else False
        yield Reach(machine.nics[0].piece, direct, direct_paths(machine), {node.index: node.piece for node in machine.gpus})


@rule(
    "NIC001", "Network ports do not reach the GPUs' memory directly", "info", over=reaches,
    needs=("direct",),
    reason="With GPUDirect RDMA a port reads GPU memory itself: below one PCIe switch at full rate, over the host bridge slower, "
    "across sockets hardly. Without it each message is copied through host memory.",
    source="NVIDIA GPUDirect RDMA documentation; NCCL's default of NCCL_NET_GDR_LEVEL",
)  # fmt: skip
def direct_network(situation: Situation, case: Reach) -> Iterator[Finding]:
    """A remark where the cards have no GPUDirect, a warning for GPUs all of whose ports lie across a socket."""
    if not case.direct:
        yield direct_network.finding(case)
        return
    best: dict[int, set[str]] = {}
    for path in case.paths:
        best.setdefault(path.gpu, set()).add(path.letter)
    far = [case.pieces[gpu] for gpu, letters in best.items() if letters == {"SYS"}]
    lost = [case.pieces[gpu] for gpu, letters in best.items() if letters == {""}]
    if far:
        yield direct_network.finding(case, "warning", needed=len(best), actual=len(best) - len(far), unit="GPUs", gpus=far)
    elif lost:
        yield direct_network.unknown(case, "machine:nics")
