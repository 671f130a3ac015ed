"""The links that an exchange between GPUs runs over."""

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.collectives import allreduce_of, allreduce_of_link
from rigplanner.machine.topology.interconnect import of_machine

BELOW_A_SWITCH, LAST_SWITCHED_GEN = 4, 3
"""Ten RTX 2080 Ti (PCIe 3) exchange at the rate of four; eight RTX 3090 (PCIe 4) at less than half
of that of four in each of two computers (server-gear.com, lambdal/lambda-tensorflow-benchmark)."""
UNKNOWN_BUS_GBS = 12.0
"""Sixteen lanes of PCIe 3."""


ETHERNET_GBS = {"gaudi2": 21 * 12.5 * 0.8, "gaudi3": 21 * 25.0 * 0.8}
"""Accelerators that meet over Ethernet ports of their own, 21 of them between the eight of a board
(Intel's Gaudi white papers), at four fifths of their line rate (estimate)."""


def _by_ethernet(gpu: GPU) -> float | None:
    name = gpu.id.rsplit(".", 1)[-1].split("-")[0]
    return ETHERNET_GBS.get(name) if gpu.form_factor == "oam" else None


def barred(gpu: GPU) -> GPU:
    """Return a card of which software makes no use of peer access (NCCL_P2P_DISABLE), neither over
    NVLink nor over PCIe."""
    return replace(gpu, nvlink=None, p2p="no")


def check_link(link: str, gpu: GPU, count: int) -> None:
    """Raise WorkloadFault for a link that the GPU has not, naming those that it may have."""
    if count == 1 or link in ("", "none", "unknown", "pcie"):
        return
    possible = _links_of(gpu)
    if link not in possible:
        raise WorkloadFault(
            f"hardware.link: expected {' or '.join(possible)} for {gpu.name}, found '{link}'."
        )


def _links_of(gpu: GPU) -> tuple[str, ...]:
    """The words for links between GPUs of a model: NVSwitch joins modules, bridges join cards (a
    mesh of up to four), and Ethernet ports of an accelerator's own are spoken of as a mesh."""
    if _by_ethernet(gpu) is not None:
        return ("pcie", "nvlink-mesh", "nvswitch")
    if not gpu.has_nvlink:
        return ("pcie",)
    if gpu.chip_maker == "AMD":
        return ("pcie", "xgmi")
    joined = gpu.form_factor.startswith("sxm") or gpu.form_factor == "superchip"
    return (
        ("pcie", "nvlink-mesh", "nvswitch") if joined else ("pcie", "nvlink-bridge", "nvlink-mesh")
    )


def sharing(gpu: GPU, count: int) -> int:
    """Return how many cards of one computer share a way to its memory where no more than a word
    tells: computers for cards of PCIe 3 and before have a switch for every four, later ones a port
    of the CPU for each, whose memory all share."""
    return min(count, BELOW_A_SWITCH) if (gpu.edge_gen or 4) <= LAST_SWITCHED_GEN else count


def lane(link: str, gpu: GPU, count: int) -> str:
    """Return the class of link that an exchange runs over: nvlink, bridge, pcie, staged (PCIe
    without peer access, or where it is `barred`)."""
    if link in ("nvswitch", "nvlink-mesh", "xgmi"):
        return "nvlink"
    if link == "nvlink-bridge" and count == 2:
        return "bridge"
    return "staged" if gpu.p2p in ("no", "nvlink-only") else "pcie"


def bus_gbs(
    gpu: GPU, count: int, nodes: int, link: str, machine: Machine | None, peers: bool = True
) -> float:
    """Return the all-reduce bus bandwidth in GB/s: over the machine's own links (without `peers`
    those to the host alone), else of the link word; 12 where neither tells."""
    if count < 2:
        return UNKNOWN_BUS_GBS
    if nodes == 1 and (own := _by_ethernet(gpu)):
        return own
    if machine:
        net = of_machine(machine)
        found = allreduce_of(net if peers else replace(net, nvlink={}, switched=None, staged=True))
    else:
        found = allreduce_of_link(gpu, count, link, nodes)
    return found.value if found and found.value > 0 else UNKNOWN_BUS_GBS
