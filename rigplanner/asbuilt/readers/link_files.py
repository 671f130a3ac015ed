"""The kernel's own files of PCIe links, as `tail -n +1` prints them: no root, no lspci needed."""

import re

from rigplanner.asbuilt.readers.lspci import SPEEDS
from rigplanner.asbuilt.seen import DeviceKind, Fact, PcieLink, SeenDevice, whole_address

FILE = re.compile(r"^==> \S*/devices/(?:\S*/)?([0-9a-f:.]+)/(\w+) <==\n(.*)$", re.MULTILINE)
SIGN = re.compile(r"^==> \S*/devices/\S+/(?:current|max)_link_(?:speed|width) <==", re.MULTILINE)
CLASSES: tuple[tuple[str, DeviceKind], ...] = (
    ("0x03", "gpu"),
    ("0x12", "gpu"),
    ("0x0108", "drive"),
    ("0x02", "network"),
    ("0x0604", "bridge"),
)
MAKERS = ("0x10de", "0x1002", "0x8086")


def read_link_files(text: str) -> list[Fact]:
    """Return one function for each device whose link files are there; class, vendor, device and
    NUMA node come from the files beside them."""
    devices: dict[str, dict[str, str]] = {}
    for address, name, value in FILE.findall(text):
        devices.setdefault(whole_address(address), {})[name] = value.strip()
    return [_device(address, files) for address, files in devices.items() if address]


def _device(address: str, files: dict[str, str]) -> SeenDevice:
    vendor, device = files.get("vendor", ""), files.get("device", "")
    numa = files.get("numa_node", "")
    return SeenDevice(
        address=address,
        kind=_kind(files.get("class", ""), vendor),
        ids=f"{vendor[2:6]}:{device[2:6]}" if vendor and device else "",
        capable=_link(files, "max"),
        running=_link(files, "current"),
        numa=int(numa) if numa.isdigit() else None,
    )


def _kind(code: str, vendor: str) -> DeviceKind:
    for start, kind in CLASSES:
        if code.startswith(start):
            return "other" if kind == "gpu" and vendor not in MAKERS else kind
    return "other"


def _link(files: dict[str, str], which: str) -> PcieLink:
    speed = files.get(f"{which}_link_speed", "").split(" ")[0].removesuffix(".0")
    width = files.get(f"{which}_link_width", "")
    lanes = int(width) if re.fullmatch(r"\d{1,2}", width) else 0
    return PcieLink(SPEEDS.get(speed), lanes if 0 < lanes <= 32 else None)
