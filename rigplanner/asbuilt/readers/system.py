"""CPUs, NUMA nodes, memory, kernel and temperatures: `lscpu`, `numactl -H`, /proc/meminfo,
/proc/cmdline, /etc/os-release, /proc/version, `sensors` and hwloc's XML."""

import re
from typing import Literal

from rigplanner.asbuilt.seen import (
    Fact,
    SeenCpu,
    SeenHeat,
    SeenKernel,
    SeenMemory,
    SeenNuma,
)
from rigplanner.machine.formats.hwloc_xml import read_hwloc

LSCPU = re.compile(r"^(Socket\(s\)|CPU\(s\)|Thread\(s\) per core):\s", re.MULTILINE)
NUMACTL = re.compile(r"^node \d+ (cpus|size): ?", re.MULTILINE)
MEMINFO = re.compile(r"^MemTotal:\s+\d+ kB", re.MULTILINE)
CMDLINE = re.compile(r"^(Kernel command line: )?BOOT_IMAGE=|^initrd=\S+ .*root=", re.MULTILINE)
RELEASE = re.compile(r"^PRETTY_NAME=|^Linux version \d", re.MULTILINE)
HWLOC = re.compile(r"<topology\b|<!DOCTYPE topology")
SENSORS = re.compile(r"^Adapter: ", re.MULTILINE)
HEAT = re.compile(r"^(.+?):\s+\+?(-?\d+(?:\.\d+)?) ?°?C\b(.*)$")
LIMIT = re.compile(r"(?:high|crit)\s*=\s*\+?(\d+(?:\.\d+)?)")


def _fields(text: str) -> dict[str, str]:
    pairs = [line.partition(":") for line in text.splitlines()]
    found: dict[str, str] = {}
    for key, colon, value in pairs:
        if colon:
            found.setdefault(key.strip(), value.strip())
    return found


def _whole(text: str | None) -> int | None:
    match = re.match(r"\d{1,9}", text or "")
    return int(match[0]) if match else None


def read_lscpu(text: str) -> list[Fact]:
    """Return the CPUs of `lscpu`."""
    fields = _fields(text)
    return [
        SeenCpu(
            model=fields.get("Model name", ""),
            sockets=_whole(fields.get("Socket(s)")),
            cores=_whole(fields.get("Core(s) per socket")),
            logical=_whole(fields.get("CPU(s)")),
            numa_nodes=_whole(fields.get("NUMA node(s)")),
        )
    ]


def read_numactl(text: str) -> list[Fact]:
    """Return the NUMA nodes of `numactl -H` with their memory."""
    sizes = re.findall(r"^node (\d{1,4}) size: (\d{1,9}) MB", text, re.MULTILINE)
    return [SeenNuma(int(node), int(mib)) for node, mib in sizes]


def read_meminfo(text: str) -> list[Fact]:
    """Return the memory that /proc/meminfo counts."""
    match = re.search(r"^MemTotal:\s+(\d{1,15}) kB", text, re.MULTILINE)
    return [SeenMemory(int(match[1]) // 1024)] if match else []


def read_kernel(text: str) -> list[Fact]:
    """Return release, distribution and IOMMU setting, from any of the three files."""
    name = re.search(r"^PRETTY_NAME=\"?([^\"\n]+)", text, re.MULTILINE)
    version = re.search(r"^Linux version (\S+)", text, re.MULTILINE)
    line = next((row for row in text.splitlines() if CMDLINE.match(row)), "")
    return [
        SeenKernel(
            release=version[1] if version else "",
            system=name[1].strip() if name else "",
            iommu=_iommu(line) if line else "",
            lines=line.removeprefix("Kernel command line: "),
        )
    ]


def _iommu(line: str) -> Literal["off", "pt", "on", ""]:
    words = line.split()
    if "iommu=pt" in words:
        return "pt"
    if {"iommu=off", "amd_iommu=off", "intel_iommu=off"} & set(words):
        return "off"
    return "on" if {"intel_iommu=on", "amd_iommu=on", "iommu=on"} & set(words) else ""


def read_hwloc_file(text: str) -> list[Fact]:
    """Return CPUs and memory of an hwloc XML file (lstopo). Raises XmlFault for other text."""
    found = read_hwloc(text)
    names = [name for name in found.cpus if name]
    facts: list[Fact] = []
    if names:
        facts.append(SeenCpu(model=names[0], sockets=len(found.cpus)))
    if found.memory_bytes:
        facts.append(SeenMemory(sum(found.memory_bytes) // 2**20))
    return facts


def read_sensors(text: str) -> list[Fact]:
    """Return the temperatures of `sensors`, each with the lowest limit behind it."""
    facts: list[Fact] = []
    chip = ""
    for line in text.splitlines():
        if line.strip() and not line[0].isspace() and ":" not in line:
            chip = line.strip()
        match = HEAT.match(line)
        if match:
            limits = [float(limit) for limit in LIMIT.findall(match[3]) if float(limit) > 0]
            facts.append(
                SeenHeat(chip, match[1].strip(), float(match[2]), min(limits, default=None))
            )
    return facts
