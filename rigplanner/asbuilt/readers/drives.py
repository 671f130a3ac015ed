"""Drives and network ports: `nvme list`, `lsblk`, `smartctl -a`, `ethtool`, `ibstat`, `ip -br
link`."""

import re

from rigplanner.asbuilt.seen import Fact, SeenDrive, SeenPort

NVME = re.compile(r"^Node\s+.*\bModel\b", re.MULTILINE)
LSBLK = re.compile(r"^NAME\s.*\bSIZE\b", re.MULTILINE)
SMART = re.compile(r"^(smartctl \d|=== START OF (INFORMATION|SMART DATA))", re.MULTILINE)
ETHTOOL = re.compile(r"^Settings for \S+:", re.MULTILINE)
IBSTAT = re.compile(r"^CA '[^']+'", re.MULTILINE)
LINKS = re.compile(r"^\S+\s+(UP|DOWN|UNKNOWN)\s+([0-9a-f]{2}:){5}|^lo\s+UNKNOWN\s", re.MULTILINE)
BYTES = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def _size(text: str) -> int | None:
    match = re.match(r"(\d{1,15}(?:[.,]\d{1,3})?)\s*([kmgtKMGT]?)(i?)B?$", text.strip())
    if match is None:
        return None
    unit = match[2].lower()
    scale = BINARY[unit] if match[3] and unit else BYTES[unit]
    return int(float(match[1].replace(",", ".")) * scale)


def _columns(head: str, rule: str) -> dict[str, slice]:
    """Return the span of each column of a table whose second line is made of dashes."""
    spans = [match.span() for match in re.finditer(r"-+", rule)]
    return {
        head[low : high if high < len(head) else None].strip(): slice(low, high)
        for low, high in spans
    }


def read_nvme_list(text: str) -> list[Fact]:
    """Return the drives of `nvme list`, by its columns."""
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if NVME.match(line)), None)
    if start is None or start + 1 >= len(lines) or "---" not in lines[start + 1]:
        return []
    columns = _columns(lines[start], lines[start + 1])
    facts: list[Fact] = []
    for line in lines[start + 2 :]:
        if not line.startswith("/dev/"):
            continue
        cells = {name: line[span].strip() for name, span in columns.items()}
        usage = cells.get("Usage", "").rpartition("/")[2]
        facts.append(
            SeenDrive(
                device=cells.get("Node", "").removeprefix("/dev/"),
                model=cells.get("Model", ""),
                bytes=_size(usage),
                firmware=cells.get("FW Rev", ""),
            )
        )
    return facts


def read_lsblk(text: str) -> list[Fact]:
    """Return the drives of `lsblk -d -b -o NAME,SIZE,TYPE,MODEL` (a model may hold spaces: it is
    last)."""
    facts: list[Fact] = []
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if LSBLK.match(line)), None)
    if start is None:
        return []
    names = lines[start].split()
    for line in lines[start + 1 :]:
        cells = dict(zip(names, line.split(None, len(names) - 1), strict=False))
        if cells.get("TYPE", "disk") == "disk" and "SIZE" in cells:
            size = _size(cells["SIZE"])
            facts.append(
                SeenDrive(
                    device=cells.get("NAME", ""), model=cells.get("MODEL", "").strip(), bytes=size
                )
            )
    return facts


def read_smartctl(text: str) -> list[Fact]:
    """Return what one drive says of its health."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    passed = fields.get("SMART overall-health self-assessment test result")
    moved = re.search(r"Reallocated_Sector_Ct.*?(\d+)\s*$", text, re.MULTILINE)
    errors = _number(fields.get("Media and Data Integrity Errors"))
    size = re.search(r"\[([\d.]+ [KMGT]B)\]", text)
    return [
        SeenDrive(
            model=fields.get("Model Number") or fields.get("Device Model", ""),
            bytes=_size(size[1]) if size else None,
            firmware=fields.get("Firmware Version", ""),
            passed=None if passed is None else passed.startswith("PASSED"),
            worn_percent=_number(fields.get("Percentage Used")),
            media_errors=int(moved[1]) if errors is None and moved else _whole(errors),
            temperature_c=_number(fields.get("Temperature")),
            hours=_whole(_number(fields.get("Power On Hours"))),
        )
    ]


def _number(text: str | None) -> float | None:
    match = re.match(r"\d[\d,]{0,14}", text or "")
    return float(match[0].replace(",", "")) if match else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def read_ethtool(text: str) -> list[Fact]:
    """Return the ports of `ethtool`: rate now, and the fastest mode that the port itself
    supports."""
    facts: list[Fact] = []
    parts = re.split(r"^Settings for (\S+):", text, flags=re.MULTILINE)
    for name, block in zip(parts[1::2], parts[2::2], strict=False):
        speed = re.search(r"^\s*Speed: (\d{1,9})Mb/s", block, re.MULTILINE)
        modes = block.partition("Supported link modes:")[2].partition("Supported pause")[0]
        most = max([int(mode) for mode in re.findall(r"\b(\d{1,6})base", modes)], default=None)
        up = re.search(r"Link detected: (yes|no)", block)
        facts.append(
            SeenPort(
                device=name,
                gbps=int(speed[1]) / 1000 if speed else None,
                most_gbps=None if most is None else most / 1000,
                up=up[1] == "yes" if up else None,
                kind="ethernet",
            )
        )
    return facts


def read_ibstat(text: str) -> list[Fact]:
    """Return the ports of `ibstat`."""
    facts: list[Fact] = []
    parts = re.split(r"^CA '([^']+)'", text, flags=re.MULTILINE)
    for name, block in zip(parts[1::2], parts[2::2], strict=False):
        rate = re.search(r"^\s*Rate: (\d{1,5})", block, re.MULTILINE)
        state = re.search(r"^\s*State: (\w+)", block, re.MULTILINE)
        layer = re.search(r"^\s*Link layer: (\w+)", block, re.MULTILINE)
        adapter = re.search(r"^\s*CA type: (\S+)", block, re.MULTILINE)
        facts.append(
            SeenPort(
                device=name,
                adapter=adapter[1] if adapter else "",
                gbps=float(rate[1]) if rate else None,
                up=state[1] == "Active" if state else None,
                kind="infiniband" if layer and layer[1] == "InfiniBand" else "ethernet",
            )
        )
    return facts


def read_links(text: str) -> list[Fact]:
    """Return the ports of `ip -br link`: up or down, no rate."""
    rows = re.findall(r"^([\w.@-]{1,64})\s+(UP|DOWN)\s", text, re.MULTILINE)
    return [SeenPort(device=name, up=state == "UP", kind="ethernet") for name, state in rows]
