"""What the host's ports must let through: PCIe atomics for AMD cards, traffic between GPUs past
IOMMU and ACS."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU, Motherboard, System
from rigplanner.machine.model import SlotUse
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.moves import better_moves
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware.classes.boards import lane_bounds
from rigplanner.rules.software.software import is_nvidia

FIRST_ATOMIC_GEN = 3
"""PCIe generation of the first CPUs whose ports complete atomics: Haswell, Xeon E5 v3, Ryzen and
EPYC."""


VARIANTS = {
    (True, True): "",
    (True, False): "partly",
    (False, True): "cpu",
    (False, False): "cpu-partly",
}
"""Wordings by whether the chipset is in the way, and whether the card needs atomics."""


class Atomics(Struct, frozen=True):
    """An AMD GPU under ROCm, the slot it stands in, and the CPUs of its board."""

    name: str
    card: GPU
    use: SlotUse
    cpus: tuple[CPU, ...]
    board: Motherboard | System | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.use.slot.id)


def rocm_cards(context: Context) -> Iterator[Atomics]:
    """AMD GPUs for jobs that the owner fits, unless the rig names Windows."""
    if "windows" in context.rig.settings.software.get("os", "").casefold():
        return
    cpus = tuple(cpu for _, cpu in context.cpus)
    for card in context.that_work(context.own_cards):
        if card.card.chip_maker == "AMD" and card.use is not None and card.use.slot.kind == "pcie":
            yield Atomics(card.name, card.card, card.use, cpus, card.board)


@rule(
    "PCI011",
    "AMD card needs PCIe atomics that its slot does not pass",
    "error",
    over=rocm_cards,
    needs=("card.compute_capability", "use.slot.origin"),
    bound=lane_bounds,
    reason=(
        "ROCm's kernel driver leaves Polaris and Fiji cards (gfx8) out where atomics do not reach"
        " the CPU: in slots of the chipset, and on CPUs before PCIe 3.0. Newer cards start there,"
        " and lose device prints and atomics on host memory."
    ),
    source=(
        "ROCm documentation, how ROCm uses PCIe atomics; ROCm/legacy-rocm-build issues 364, 622,"
        " 755, 910 and 1214"
    ),
)
def atomics(context: Context, case: Atomics) -> Iterator[Finding]:
    """Compare the slot's origin and the CPU's generation; a remark for cards after gfx8."""
    early = [
        cpu for cpu in case.cpus if cpu.pcie_gen is not None and cpu.pcie_gen < FIRST_ATOMIC_GEN
    ]
    behind_chipset = case.use.slot.origin == "chipset"
    if not behind_chipset and not early:
        return
    needed = (case.card.compute_capability or "").startswith("gfx8")
    yield atomics.finding(
        case,
        "error" if needed else "info",
        fixes=better_moves(context, (case.name,), case.name) if behind_chipset else (),
        variant=VARIANTS[behind_chipset, needed],
    )


class Traffic(Struct, frozen=True):
    """NVIDIA GPUs that the owner fits, the letters of `p2p` between them, and the matrix letters of
    the pairs that may exchange over PCIe. `amd` says that the host is AMD's."""

    names: tuple[str, ...]
    peers: tuple[str, ...]
    paths: tuple[str, ...]
    amd: bool

    @property
    def subjects(self) -> tuple[str, ...]:
        return self.names


def traffic(context: Context) -> Iterator[Traffic]:
    """Two cards or more on one host, unless the rig says how its IOMMU is set."""
    machine = context.machine
    gpus = machine.gpu_parts
    if len(gpus) < 2 or "iommu" in context.rig.settings.software:
        return
    own = [
        index
        for index, node in enumerate(gpus)
        if is_nvidia(node.gpu) and not is_built_in(node.piece)
    ]
    names = tuple(dict.fromkeys(gpus[index].piece for index in own))
    if len(names) < 2:
        return
    pairs = [(a, b) for a in own for b in own if a < b]
    p2p = machine.p2p
    ways = [machine.pairs[a][b] for a, b in pairs if p2p[a][b] == "OK"]
    amd = any(cpu.vendor == "AMD" for _, cpu in context.cpus)
    yield Traffic(
        names,
        tuple(p2p[a][b] for a, b in pairs),
        tuple(way.letters for way in ways if way.path != "nvlink"),
        amd,
    )


@rule(
    "P2P002",
    "IOMMU and ACS may stop traffic between GPUs",
    "info",
    over=traffic,
    needs=("peers",),
    reason=(
        "Access Control Services send traffic between GPUs up to the IOMMU instead of straight"
        " across: NCCL hangs, or runs at a fraction of its rate. Switch both off in the firmware,"
        " or boot with iommu=pt, where no virtual machine needs them."
    ),
    source=(
        "NCCL user guide, troubleshooting, PCI Access Control Services; NVIDIA/nccl issues 257,"
        " 606, 667 and 2079; PyTorch issues 13045 and 52142"
    ),
)
def translation(context: Context, case: Traffic) -> Iterator[Finding]:
    """A remark where GPUs exchange over PCIe, and on AMD hosts, where their IOMMU is on as
    delivered."""
    if case.paths or case.amd:
        edit = Edit("set_software", {"versions": {"iommu": "pt"}})
        below = sum(path in ("PIX", "PXB") for path in case.paths)
        yield translation.finding(
            case,
            fixes=(fix(context, "pass-through", edit),),
            variant="switch" if below else "" if case.paths else "amd",
        )
    elif "" in case.peers:
        yield translation.unknown(case, "machine:p2p")
