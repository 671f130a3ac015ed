"""`dmesg` and the journal: Xid errors, PCIe errors, cards that fell off the bus, links that limit a
device, throttling. Equal events are counted."""

import re

from rigplanner.asbuilt.readers.lspci import ADDRESS, SPEEDS
from rigplanner.asbuilt.seen import EventKind, Fact, PcieLink, SeenEvent, whole_address

XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-f:.]+)(?:[^)]*)\): (\d{1,4})\b", re.IGNORECASE)
OFF_BUS = re.compile(rf"NVRM: The NVIDIA GPU ({ADDRESS})", re.IGNORECASE)
FALLEN = re.compile(r"fallen off the bus", re.IGNORECASE)
AER = re.compile(
    rf"({ADDRESS}): (?:AER: )?PCIe Bus Error: severity=(Corrected|Correctable|Uncorrect)",
    re.IGNORECASE,
)
NARROW = re.compile(
    rf"({ADDRESS}): [\d.]+ Gb/s available PCIe bandwidth, limited by "
    r"([\d.]+) ?GT/s(?: PCIe)? x(\d+) link "
    rf"at ({ADDRESS}) \(capable of [\d.]+ Gb/s with ([\d.]+) ?GT/s(?: PCIe)? x(\d+) link",
    re.IGNORECASE,
)
THROTTLED = re.compile(
    r"temperature above threshold, cpu clock throttled|CPU\d+: .*throttled", re.IGNORECASE
)
MACHINE_CHECK = re.compile(r"\[Hardware Error\]|mce: .*Machine Check", re.IGNORECASE)
DRIVE = re.compile(r"nvme (nvme\d+): I/O .*timeout|nvme nvme\d+: controller is down", re.IGNORECASE)
SIGN = re.compile(
    r"NVRM: |PCIe Bus Error: |fallen off the bus|available PCIe bandwidth, limited by|"
    r"^(<\d>)?\[ *\d+\.\d{6}\] |^\w{3} \w{3} +\d+ [\d:]+ \d{4}\] |cpu clock throttled|\bkernel: ",
    re.MULTILINE | re.IGNORECASE,
)


def read_dmesg(text: str) -> list[Fact]:
    """Return the events in the order in which each kind first came up."""
    counted: dict[SeenEvent, int] = {}
    waiting = ""
    for line in text.splitlines():
        for event in _events(line, waiting):
            counted[event] = counted.get(event, 0) + 1
        card = OFF_BUS.search(line)
        waiting = card[1] if card else waiting
    return [_times(event, count) for event, count in counted.items()]


def _times(event: SeenEvent, count: int) -> SeenEvent:
    return SeenEvent(
        kind=event.kind,
        address=event.address,
        code=event.code,
        count=count,
        link=event.link,
        capable=event.capable,
        at=event.at,
    )


def _events(line: str, waiting: str) -> list[SeenEvent]:
    xid, aer, narrow = XID.search(line), AER.search(line), NARROW.search(line)
    if xid:
        code = int(xid[2])
        kind: EventKind = "off-bus" if code == 79 else "xid"
        return [SeenEvent(kind=kind, address=whole_address(xid[1]), code=code)]
    if FALLEN.search(line):
        return [SeenEvent(kind="off-bus", address=whole_address(waiting))]
    if aer:
        kind = "aer-uncorrected" if aer[2].lower().startswith("uncorrect") else "aer-corrected"
        return [SeenEvent(kind=kind, address=whole_address(aer[1]))]
    if narrow:
        return [
            SeenEvent(
                kind="narrow-link",
                address=whole_address(narrow[1]),
                link=_link(narrow[2], narrow[3]),
                capable=_link(narrow[5], narrow[6]),
                at=whole_address(narrow[4]),
            )
        ]
    others: tuple[tuple[EventKind, re.Pattern[str]], ...] = (
        ("cpu-throttled", THROTTLED),
        ("machine-check", MACHINE_CHECK),
        ("drive-timeout", DRIVE),
    )
    return [SeenEvent(kind=kind) for kind, pattern in others if pattern.search(line)]


def _link(speed: str, width: str) -> PcieLink:
    lanes = int(width[:3])
    return PcieLink(SPEEDS.get(speed.removesuffix(".0")), lanes if 0 < lanes <= 32 else None)
