"""PCI devices with the bridges above them, however they were read, and the matrix letters that
follow."""

from msgspec import Struct


class PciDevice(Struct, frozen=True):
    """`bridges` names the PCI bridges from the host bridge down, `host` the host bridge, `numa` its
    NUMA node and `width` the lanes of its link where known."""

    address: str
    name: str
    host: str
    bridges: tuple[str, ...]
    numa: str | None = None
    width: int | None = None


NOT_GPUS = ("audio", "usb", "type-c", "ucsi", "nvswitch", "bridge", "serial bus")
"""What else carries NVIDIA's name in a PCI tree."""


def nvidia_gpus(devices: list[PciDevice]) -> list[PciDevice]:
    """Return NVIDIA's GPUs among PCI devices, by name."""
    named = [(device, device.name.lower()) for device in devices]
    return [
        device
        for device, name in named
        if "nvidia" in name and not any(word in name for word in NOT_GPUS)
    ]


RDMA = ("mellanox", "connectx", "infiniband", "mlx4_", "mlx5_")
"""Words of the network ports that have RDMA verbs, which nvidia-smi lists."""
NOT_PORTS = ("bridge", "switch", "virtual function", "management", "dma controller")


def rdma_ports(devices: list[PciDevice]) -> list[PciDevice]:
    """Return the network ports among PCI devices that nvidia-smi lists, by name."""
    named = [(device, device.name.lower()) for device in devices]
    return [
        device
        for device, name in named
        if any(word in name for word in RDMA) and not any(word in name for word in NOT_PORTS)
    ]


def path_letter(a: PciDevice, b: PciDevice) -> str:
    """Return PIX, PXB, PHB, NODE or SYS for two devices, "" where host bridges differ and their
    NUMA nodes are not known. A switch is an upstream bridge with downstream ones: two devices one
    downstream bridge below a common one are PIX."""
    common = 0
    while common < min(len(a.bridges), len(b.bridges)) and a.bridges[common] == b.bridges[common]:
        common += 1
    if a.host == b.host and common:
        return "PIX" if max(len(a.bridges), len(b.bridges)) - common <= 1 else "PXB"
    if a.host == b.host:
        return "PHB"
    if a.numa is None or b.numa is None:
        return ""
    return "NODE" if a.numa == b.numa else "SYS"


def path_cells(devices: list[PciDevice]) -> list[list[str]]:
    """Return the matrix of devices."""
    return [["X" if a is b else path_letter(a, b) for b in devices] for a in devices]
