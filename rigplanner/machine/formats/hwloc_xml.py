"""hwloc's XML (`lstopo out.xml`): CPUs, NUMA nodes and PCI devices with the bridges above them."""

import re

from msgspec import Struct

from rigplanner.machine.formats.pci_paths import PciDevice
from rigplanner.machine.formats.xml_tree import Element, XmlFault, parse_xml

MOST_ELEMENTS = 60_000
HOST_BRIDGE = "0-1"
NVIDIA_DISPLAY = re.compile(r"03[0-9a-f]{2} \[10de:", re.IGNORECASE)
"""Class and vendor of a GPU; drivers before 2021 and files without names of PCI devices leave the
maker's name out."""


class HwlocMachine(Struct, frozen=True):
    """What an hwloc file tells: CPU models by package, memory in bytes by NUMA node, PCI
    devices."""

    cpus: tuple[str, ...]
    memory_bytes: tuple[int, ...]
    devices: tuple[PciDevice, ...]


class _Reading(Struct):
    cpus: list[str]
    memory: list[int]
    devices: list[PciDevice]


def read_hwloc(text: str) -> HwlocMachine:
    """Return what an hwloc XML file tells. Raises XmlFault for text that is no such file."""
    root = parse_xml(text, MOST_ELEMENTS)
    if root.name != "topology" or not any(child.name == "object" for child in root.children):
        raise XmlFault(
            f"The outermost element is {root.name!r}: expected topology with objects, as hwloc"
            " writes it."
        )
    reading = _Reading([], [], [])
    for child in root.children:
        _walk(child, "", "", (), reading)
    return HwlocMachine(tuple(reading.cpus), tuple(reading.memory), tuple(reading.devices))


def _walk(
    element: Element, place: str, host: str, bridges: tuple[str, ...], reading: _Reading
) -> None:
    """Collect an object and what is in it. `place` is the number of the nearest NUMA node, or names
    the object that has it."""
    if element.name != "object":
        return
    kind = element.attributes.get("type", "")
    name = _info(element, "CPUModel")
    if kind in ("Package", "Socket"):
        reading.cpus.append(name or _parent_model(reading))
    elif kind == "NUMANode" and element.attributes.get("local_memory", "").isdigit():
        reading.memory.append(int(element.attributes["local_memory"]))
    memory = next((child for child in element.children if _is_memory(child)), None)
    if kind in ("Package", "Socket", "Group") and memory is not None:
        number = element.attributes.get("gp_index", element.attributes.get("os_index", ""))
        place = memory.attributes.get("os_index", f"{kind}{number}")
    if kind == "Machine":
        place = memory.attributes.get("os_index", "machine") if memory is not None else "machine"
    if kind == "Bridge":
        index = element.attributes.get("gp_index", id(element))
        label = f"{element.attributes.get('bridge_pci', '')}@{index}"
        if element.attributes.get("bridge_type") == HOST_BRIDGE:
            host, bridges = f"{place}/{label}", ()
        else:
            bridges = (*bridges, label)
    if kind == "PCIDev":
        reading.devices.append(_device(element, place, host, bridges))
    for child in element.children:
        _walk(child, place, host, bridges, reading)


def _is_memory(element: Element) -> bool:
    return element.name == "object" and element.attributes.get("type") == "NUMANode"


def _device(element: Element, place: str, host: str, bridges: tuple[str, ...]) -> PciDevice:
    inner = [child for child in element.children if child.attributes.get("type") == "OSDev"]
    found = [name for child in inner if (name := _info(child, "GPUModel"))]
    vendor, device = _info(element, "PCIVendor"), _info(element, "PCIDevice")
    name = found[0] if found else " ".join(word for word in (vendor, device) if word)
    osdev = next((child.attributes.get("name", "") for child in inner), "")
    kind = element.attributes.get("pci_type", "")
    name = name or (kind if NVIDIA_DISPLAY.match(kind) else osdev) or kind
    if NVIDIA_DISPLAY.match(kind) and "nvidia" not in name.lower():
        name = f"NVIDIA {name}"
    return PciDevice(element.attributes.get("pci_busid", ""), name, host, bridges, place)


def _info(element: Element, key: str) -> str:
    for child in element.children:
        if child.name == "info" and child.attributes.get("name") == key:
            return child.attributes.get("value", "")
    return ""


def _parent_model(reading: _Reading) -> str:
    return reading.cpus[0] if reading.cpus else ""
