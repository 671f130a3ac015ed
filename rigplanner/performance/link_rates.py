"""The links that an exchange between GPUs runs over."""

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.collectives import allreduce, allreduce_of_link

UNKNOWN_BUS_GBS = 12.0
"""Sixteen lanes of PCIe 3."""


ETHERNET_GBS = {"gaudi2": 21 * 12.5 * 0.8, "gaudi3": 21 * 25.0 * 0.8}
"""Accelerators that meet over Ethernet ports of their own, 21 of them between the eight of a board
(Intel's Gaudi white papers), at four fifths of their line rate (estimate)."""


def _by_ethernet(gpu: GPU) -> float | None:
    name = gpu.id.rsplit(".", 1)[-1].split("-")[0]
    return ETHERNET_GBS.get(name) if gpu.form_factor == "oam" else None


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


def lane(link: str, gpu: GPU, count: int) -> str:
    """Return the class of link that an exchange runs over: nvlink, bridge, pcie, staged (PCIe
    without peer access)."""
    if link in ("nvswitch", "nvlink-mesh", "xgmi"):
        return "nvlink"
    if link == "nvlink-bridge" and count == 2:
        return "bridge"
    return "staged" if gpu.p2p in ("no", "nvlink-only") else "pcie"


def bus_gbs(gpu: GPU, count: int, nodes: int, link: str, machine: Machine | None) -> float:
    """Return the all-reduce bus bandwidth in GB/s: over the machine's own links, else of the link
    word; 12 where neither tells."""
    if count < 2:
        return UNKNOWN_BUS_GBS
    if nodes == 1 and (own := _by_ethernet(gpu)):
        return own
    found = allreduce(machine) if machine else allreduce_of_link(gpu, count, link, nodes)
    return found.value if found and found.value > 0 else UNKNOWN_BUS_GBS
