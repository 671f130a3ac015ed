"""`lspci -vvv`, with or without -nn and -D: links, ports, slots, access control and error bits."""

import re

from rigplanner.asbuilt.seen import DeviceKind, Fact, PcieLink, PortType, SeenDevice, whole_address

ADDRESS = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
HEAD = re.compile(rf"^\s{{0,3}}({ADDRESS}) (\S.*)$", re.IGNORECASE)
ASKED = re.compile(rf"lspci\b.* -s (?:0x)?({ADDRESS})", re.IGNORECASE)
SIGN = re.compile(r"^\s*(LnkSta:\s|LnkCap:\s|Control: I/O)", re.MULTILINE)
IDS = re.compile(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]")
UNNAMED = re.compile(r"\bDevice ([0-9a-f]{4})\b")
LINK = re.compile(r"Speed (?:([\d.]+) ?GT/s|unknown)[^,]*, Width (?:x(\d+)|unknown)")
BUS = re.compile(r"\bsecondary=([0-9a-f]{2})\b")
FLAG = re.compile(r"\b(\w+)\+")
TARGET = re.compile(r"Target Link Speed: ([\d.]+)")
TYPE = re.compile(r"Express .*?(Root Port|Upstream Port|Downstream Port|Endpoint)")
SPEEDS = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6}
PORTS: dict[str, PortType] = {
    "Root Port": "root",
    "Upstream Port": "upstream",
    "Downstream Port": "downstream",
    "Endpoint": "endpoint",
}
VENDORS = {"nvidia": "10de", "advanced micro devices": "1002", "intel": "8086"}
"""Who makes GPUs that compute. A server's management chip also draws, and is none."""
LARGEST_LANES = 32
HARMLESS = ("AdvNonFatalErr", "NonFatalErr", "UnsupReq")


def read_lspci(text: str) -> list[Fact]:
    """Return the functions in the order of the text; a bare excerpt of LnkCap and LnkSta lines is
    one function without an address."""
    devices: list[SeenDevice] = []
    address, head, lines = "", "", list[str]()
    for line in text.splitlines():
        asked, named = ASKED.search(line), HEAD.match(line)
        if asked or named:
            _add(devices, address, head, lines)
            match = named or asked
            address, head, lines = match[1] if match else "", named[2] if named else "", []
        else:
            lines.append(line)
    _add(devices, address, head, lines)
    return list(_joined(devices))


def _joined(devices: list[SeenDevice]) -> list[SeenDevice]:
    """Drop the empty twin that a heading "lspci -s 01:00.0" leaves before the device itself."""
    kept: dict[str, SeenDevice] = {}
    for number, device in enumerate(devices):
        key = device.address or f"#{number}"
        if key not in kept or device.name or device.running.width is not None:
            kept[key] = device
    return list(kept.values())


def _add(devices: list[SeenDevice], address: str, head: str, lines: list[str]) -> None:
    if not address and not any(SIGN.match(line) for line in lines):
        return
    rows = [line.strip().lstrip("> ").partition(":")[::2] for line in lines]
    first: dict[str, str] = {}
    for key, rest in rows:
        first.setdefault(key, rest.strip())
    typed = [
        match[1] for key, rest in rows if key == "Capabilities" and (match := TYPE.search(rest))
    ]
    behind = BUS.search(first.get("Bus", ""))
    numa = first.get("NUMA node", "")
    body = "\n".join(lines)
    devices.append(
        SeenDevice(
            address=whole_address(address),
            name=_name(head),
            kind=_kind(head),
            ids=_ids(head),
            capable=_link(first.get("LnkCap", "")),
            running=_link(first.get("LnkSta", "")),
            target=_speed(TARGET.search(first.get("LnkCtl2", ""))),
            port=PORTS[typed[0]] if typed else "",
            bus=behind[1] if behind else "",
            slot=first.get("Physical Slot", ""),
            numa=int(numa) if numa.isdigit() else None,
            acs="ReqRedir+" in first["ACSCtl"] if "ACSCtl" in first else None,
            errors=_errors(first),
            driver=first.get("Kernel driver in use", ""),
            alive="(rev ff)" not in head and "Unknown header type 7f" not in body,
            whole="<access denied>" not in body,
        )
    )


def _errors(first: dict[str, str]) -> tuple[str, ...]:
    """Return the error bits that stand. A request that a device did not know, and the note that an
    error was not fatal, are no faults: both arise when the bus is first walked."""
    corrected = [flag for flag in FLAG.findall(first.get("CESta", "")) if flag not in HARMLESS]
    fatal = [flag for flag in FLAG.findall(first.get("UESta", "")) if flag not in HARMLESS]
    return (*[flag.lower() for flag in corrected], *fatal)


def _link(text: str) -> PcieLink:
    match = LINK.search(text)
    if match is None:
        return PcieLink()
    width = int(match[2]) if match[2] else None
    fits = width is not None and 0 < width <= LARGEST_LANES
    return PcieLink(SPEEDS.get((match[1] or "").removesuffix(".0")), width if fits else None)


def _speed(match: re.Match[str] | None) -> int | None:
    return SPEEDS.get(match[1].removesuffix(".0")) if match else None


def _kind(head: str) -> DeviceKind:
    words = head.partition(":")[0].lower()
    if "non-volatile memory controller" in words:
        return "drive"
    if words.startswith(("ethernet controller", "infiniband controller", "network controller")):
        return "network"
    if words.startswith("pci bridge"):
        return "bridge"
    drawing = ("vga compatible", "3d controller", "display controller", "processing accelerators")
    if words.startswith(drawing) and _vendor(head):
        return "gpu"
    return "other"


def _vendor(head: str) -> str:
    maker = head.partition(":")[2].strip().lower()
    return next((ids for name, ids in VENDORS.items() if maker.startswith(name)), "")


def _name(head: str) -> str:
    """Return maker and model without the class before and the revision behind."""
    name = head.partition(": ")[2] or head
    return re.sub(r"\s*(\[[0-9a-f]{4}:[0-9a-f]{4}\]|\((rev|prog-if) .*)", "", name).strip()


def _ids(head: str) -> str:
    printed = IDS.findall(head)
    if printed:
        return str(printed[-1])
    unnamed = UNNAMED.search(head)
    return f"{_vendor(head)}:{unnamed[1]}" if unnamed and _vendor(head) else ""
