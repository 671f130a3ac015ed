"""`lspci -tv` text: the PCI tree of a machine, read into devices with the bridges above them. A
tree without names (`lspci -t`) is read too where a list of devices (`lspci`, `lspci -nnk`, `lspci
-vv`) stands below it, which may tell NUMA nodes and widths."""

import re

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.machine.formats.pci_paths import PciDevice

LARGEST_TEXT = 2**20
LONGEST_NAME = 400
_TOKEN = re.compile(
    r"\[(?:([0-9a-f]{4,5}):)?([0-9a-f]{2})(?:-[0-9a-f]{2})?\]|(?<![0-9a-f.])([0-9a-f]{2}\.[0-7])(?![0-9a-f])"
)
_LISTED = re.compile(
    r"^\s*(?:([0-9a-f]{4,5}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) [^:]+: (.+?)(?:"
    r" \[[0-9a-f]{4}:[0-9a-f]{4}\])?(?: \(.*\))?$"
)
_NUMA = re.compile(r"^\s+NUMA node: (\d+)")
_WIDTH = re.compile(r"^\s+LnkSta:.*\bWidth x(\d+)")
_DRAWN = re.compile(r"^\s*(?:[-+\\|])")


class TreeFault(ValueError):
    """Text that is no such tree; says on which line."""


class _Listed(Struct):
    """What the plain list below or beside a tree says of its devices, by address."""

    names: dict[str, str] = msgspec.field(default_factory=dict)
    numas: dict[str, str] = msgspec.field(default_factory=dict)
    widths: dict[str, int] = msgspec.field(default_factory=dict)
    address: str = ""

    def took(self, line: str) -> bool:
        """Take a line of the list, which begins a device or tells of the last one; False for a line
        of the tree."""
        if (entry := _LISTED.match(line[:LONGEST_NAME])) is not None:
            self.address = f"{entry[1] or '0000'}:{entry[2]}"
            self.names[self.address] = entry[3]
            return True
        if not self.address or _DRAWN.match(line):
            return False
        if (node := _NUMA.match(line)) is not None:
            self.numas[self.address] = node[1]
        elif (width := _WIDTH.match(line)) is not None:
            self.widths[self.address] = int(width[1])
        return True


def parse_lspci(text: str) -> list[PciDevice]:
    """Return the end devices of a tree as `lspci -tv` draws it, in its order. Raises TreeFault for
    text that is none."""
    if len(text) > LARGEST_TEXT:
        raise TreeFault(
            f"The text is longer than {LARGEST_TEXT // 2**20} MiB: no output of lspci -tv."
        )
    listed = _Listed()
    drawn = [
        (number, line) for number, line in enumerate(text.splitlines(), 1) if not listed.took(line)
    ]
    devices = _drawn_devices(drawn)
    known = [
        replace(device, name=device.name or listed.names.get(device.address, ""))
        for device in devices
    ]
    if known and not any(device.name for device in known):
        raise TreeFault(
            "The tree names no device: expected the output of lspci -tv, or lspci -t with a list of"
            " lspci below."
        )
    return [
        replace(
            device,
            numa=listed.numas.get(device.address),
            width=listed.widths.get(device.address),
        )
        for device in known
    ]


def _drawn_devices(lines: list[tuple[int, str]]) -> list[PciDevice]:
    """The devices at the ends of a drawn tree. What stands in a column hangs on the nearest entry
    left of it, so `stack` holds the way from the root to the entry at hand."""
    devices: list[PciDevice] = []
    stack: list[tuple[int, str, str]] = []
    started = False
    for number, line in lines:
        drawing, description = _split(line)
        for column, bus, device in _tokens(drawing):
            started = started or bus is not None
            while stack and stack[-1][0] >= column:
                stack.pop()
            if not stack and bus is None:
                if started:
                    raise TreeFault(
                        f"Line {number}: the device {device} hangs on no bus; the tree is cut or"
                        " its blanks are lost."
                    )
                continue
            stack.append((column, "bus" if bus is not None else "device", bus or device or ""))
        if started and stack and stack[-1][1] == "device" and description is not None:
            devices.append(_device(stack, description))
    if not started:
        raise TreeFault(
            "No line with a bus such as -[0000:00]- was found: expected the output of lspci -tv."
        )
    return devices


def _split(line: str) -> tuple[str, str | None]:
    """Return the drawn part of a line and the name of the device at its end."""
    match = re.search(r"[0-9a-f]{2}\.[0-7](?:  (\S.*))?$", line)
    if match is None:
        return line, None
    return (line[: match.start(1)], match[1]) if match[1] else (line, "")


def _tokens(drawing: str) -> list[tuple[int, str | None, str | None]]:
    return [
        (match.start(), f"{match[1] or ''}:{match[2]}" if match[2] else None, match[3])
        for match in _TOKEN.finditer(drawing)
    ]


def _device(stack: list[tuple[int, str, str]], name: str) -> PciDevice:
    host = stack[0][2]
    bridges: list[str] = []
    bus = host
    for _, kind, word in stack[1:-1]:
        if kind == "bus":
            bus = word if not word.startswith(":") else host.partition(":")[0] + word
        else:
            bridges.append(f"{bus}:{word}")
    return PciDevice(f"{bus}:{stack[-1][2]}", name.strip(), host, tuple(bridges))
