"""What a captured text names, as facts: each a part of some kind under the name that the machine
itself gives it."""

import re
from typing import Literal

from msgspec import Struct

from rigplanner.machine.formats.hwloc_xml import read_hwloc
from rigplanner.machine.formats.lspci_tree import parse_lspci
from rigplanner.machine.formats.pci_paths import PciDevice, nvidia_gpus
from rigplanner.machine.formats.smi_query import parse_query

Kind = Literal["system", "motherboard", "cpu", "gpu", "storage", "memory"]


class Fact(Struct, frozen=True):
    """Something found: its kind, its name as the machine says it, how many, and details (bus
    address, link, size). A GPU may run under a power limit in watts."""

    kind: Kind
    name: str
    count: int = 1
    detail: str = ""
    limit_w: float | None = None


def counted(facts: list[Fact]) -> tuple[Fact, ...]:
    """Return equal facts once, with their number."""
    counts: dict[tuple[Kind, str, str, float | None], int] = {}
    for fact in facts:
        key = (fact.kind, fact.name, fact.detail, fact.limit_w)
        counts[key] = counts.get(key, 0) + fact.count
    return tuple(
        Fact(kind, name, count, detail, limit)
        for (kind, name, detail, limit), count in counts.items()
    )


def facts_of_query(text: str) -> tuple[Fact, ...]:
    """Return the GPUs that `nvidia-smi -q` text names; raise QueryFault for other text."""
    found = [gpu for gpu in parse_query(text) if gpu.name]
    return counted([Fact("gpu", gpu.name, 1, _link(*gpu.link), gpu.power_limit_w) for gpu in found])


def facts_of_hwloc(text: str) -> tuple[Fact, ...]:
    """Return CPUs, memory, GPUs and NVMe drives that an hwloc XML file names; raise XmlFault for
    other text."""
    found = read_hwloc(text)
    facts = [Fact("cpu", name) for name in found.cpus if name]
    if found.memory_bytes:
        facts.append(Fact("memory", f"{round(sum(found.memory_bytes) / 2**30)} GiB"))
    return counted([*facts, *_of_pci(list(found.devices))])


def facts_of_lspci(text: str) -> tuple[Fact, ...]:
    """Return the GPUs and NVMe drives that `lspci -tv` text names; raise TreeFault for other
    text."""
    return counted(_of_pci(parse_lspci(text)))


def _of_pci(devices: list[PciDevice]) -> list[Fact]:
    gpus = [Fact("gpu", _model(device.name)) for device in nvidia_gpus(devices)]
    drives = [
        Fact("storage", device.name)
        for device in devices
        if re.search(r"NVMe SSD|Non-Volatile memory", device.name)
    ]
    return gpus + drives


def _model(name: str) -> str:
    """Return the model that pci.ids writes in brackets behind the chip: "GA102 [GeForce RTX
    3090]"."""
    bracketed = re.findall(r"\[([^]]+)\]", name)
    return bracketed[-1] if bracketed else name


def _link(gen: int | None, width: int | None) -> str:
    return f"PCIe {gen} x{width}" if gen is not None and width is not None else ""
