"""`dmidecode`: board, BIOS, slots and memory modules with rated and running speed."""

import re
from collections.abc import Iterator

from rigplanner.asbuilt.seen import Fact, SeenBoard, SeenModule, SeenSlot, whole_address

SIGN = re.compile(
    r"^(Memory Device|Base Board Information|BIOS Information|System Slot Information|"
    r"Physical Memory Array)\s*$|DMI type \d+|SMBIOS [\d.]+ present",
    re.MULTILINE,
)
MIB = {"kb": 1 / 1024, "mb": 1.0, "gb": 1024.0, "tb": 1024.0**2}
NAMELESS = re.compile(
    r"^(unknown|not specified|none|n/a|to be filled by o\.?e\.?m\.?|default string|"
    r"system (manufacturer|product name)|undefined|-+|0+)?$",
    re.IGNORECASE,
)
"""What makers leave in fields that they did not fill."""

Block = tuple[str, dict[str, str]]


def read_dmidecode(text: str) -> list[Fact]:
    """Return the board, the slots and the places for memory modules, empty ones too."""
    facts: list[Fact] = []
    board: dict[str, str] = {}
    for title, fields in blocks_of(text):
        if title == "Memory Device" and "Size" in fields:
            facts.append(_module(fields))
        elif title == "System Slot Information":
            facts.append(_slot(fields))
        elif title == "BIOS Information":
            board.setdefault("bios", said(fields, "Version"))
            board.setdefault("bios_day", said(fields, "Release Date"))
        elif title == "Base Board Information":
            board.setdefault("vendor", said(fields, "Manufacturer"))
            board.setdefault("name", said(fields, "Product Name"))
        elif title == "System Information":
            board.setdefault("system_vendor", said(fields, "Manufacturer"))
            board.setdefault("system", said(fields, "Product Name"))
    if any(board.values()):
        facts.insert(0, SeenBoard(**board))
    return facts


def blocks_of(text: str) -> Iterator[Block]:
    """Yield title and fields of each structure. Titles stand at the left, fields are indented."""
    title, fields = "", dict[str, str]()
    for line in text.splitlines():
        if not line.strip() or line.startswith(("Handle ", "#")):
            continue
        if not line[0].isspace() and ":" not in line:
            if title:
                yield title, fields
            title, fields = line.strip(), {}
            continue
        key, colon, value = line.strip().partition(":")
        if colon and title:
            fields.setdefault(key.strip(), value.strip())
    if title:
        yield title, fields


def said(fields: dict[str, str], key: str) -> str:
    """Return a field's text, "" for what its maker left unfilled."""
    value = fields.get(key, "")
    return "" if NAMELESS.match(value) else value


def _module(fields: dict[str, str]) -> SeenModule:
    total, data = _number(fields, "Total Width"), _number(fields, "Data Width")
    running = _number(fields, "Configured Memory Speed")
    return SeenModule(
        place=said(fields, "Locator"),
        bank=said(fields, "Bank Locator"),
        gib=_gib(fields.get("Size", "")),
        type=said(fields, "Type"),
        rated_mts=_number(fields, "Speed"),
        running_mts=running or _number(fields, "Configured Clock Speed"),
        part=said(fields, "Part Number"),
        ecc=None if total is None or data is None else total > data,
    )


def _gib(text: str) -> float | None:
    """Return a size in GiB (the firmware's GB and MB are binary), 0 for an empty place."""
    if "no module" in text.lower():
        return 0.0
    match = re.match(r"(\d{1,9})\s*(kB|MB|GB|TB)\b", text, re.IGNORECASE)
    return int(match[1]) * MIB[match[2].lower()] / 1024 if match else None


def _number(fields: dict[str, str], key: str) -> int | None:
    match = re.match(r"(\d{1,6})\b", fields.get(key, ""))
    return int(match[1]) or None if match else None


def _slot(fields: dict[str, str]) -> SeenSlot:
    usage = fields.get("Current Usage", "").lower()
    used = {"in use": True, "available": False}.get(usage)
    return SeenSlot(
        name=said(fields, "Designation"),
        kind=said(fields, "Type"),
        used=used,
        address=whole_address(fields.get("Bus Address", "")),
    )
