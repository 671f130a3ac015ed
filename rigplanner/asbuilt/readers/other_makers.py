"""GPUs of AMD and Intel: `rocm-smi -a` and `--showtopo`, `amd-smi static` and `metric`, `xpu-smi
discovery`."""

import re

from rigplanner.asbuilt.readers.lspci import SPEEDS
from rigplanner.asbuilt.readers.nvidia import square_of
from rigplanner.asbuilt.seen import Fact, PcieLink, SeenGpu, SeenMatrix, whole_address
from rigplanner.machine.formats.rocm_matrix import parse_rocm
from rigplanner.machine.formats.smi_matrix import numa_nodes

ROCM = re.compile(r"^GPU\[\d+\]\s*: ", re.MULTILINE)
TOPOLOGY = re.compile(r"Link Type between two GPUs|^LINK TYPE TABLE", re.MULTILINE | re.IGNORECASE)
AMD = re.compile(r"^GPU: \d+\s*$", re.MULTILINE)
XPU = re.compile(r"\|\s*Device ID\s*\|.*Device (Information|Name)|PCI BDF Address: ", re.MULTILINE)


def read_rocm_smi(text: str) -> list[Fact]:
    """Return the GPUs of `rocm-smi` lines such as "GPU[0] : Card Series: ...", and its matrix."""
    facts: list[Fact] = []
    if TOPOLOGY.search(text):
        matrix = parse_rocm(text)
        facts.append(SeenMatrix(square_of(matrix), numa_nodes(matrix)))
    cards: dict[int, dict[str, str]] = {}
    for index, key, value in re.findall(
        r"^GPU\[(\d{1,3})\]\s*: (.+?)\s*: +(.*)$", text, re.MULTILINE
    ):
        cards.setdefault(int(index), {}).setdefault(key.strip().lower(), value.strip())
    driver = re.search(r"Driver version: (\S+)", text)
    facts += [_rocm(index, fields, driver[1] if driver else "") for index, fields in cards.items()]
    return facts


def _rocm(index: int, fields: dict[str, str], driver: str) -> SeenGpu:
    name = fields.get("card series") or fields.get("card model") or fields.get("device name", "")
    return SeenGpu(
        address=whole_address(fields.get("pci bus", "")),
        index=index,
        name=name,
        running=_rocm_link(fields),
        power_limit_w=_number(fields, "max graphics package power (w)"),
        power_draw_w=_number(fields, "average graphics package power (w)")
        or _number(fields, "current socket graphics package power (w)"),
        temperature_c=_number(fields, "temperature (sensor junction) (c)"),
        busy_percent=_number(fields, "gpu use (%)"),
        replays=_count(fields, "pcie replay count"),
        driver=driver,
    )


def _number(fields: dict[str, str], key: str) -> float | None:
    match = re.match(r"(\d{1,7}(?:\.\d{1,4})?)", fields.get(key, ""))
    return float(match[1]) if match else None


def _count(fields: dict[str, str], key: str) -> int | None:
    value = _number(fields, key)
    return None if value is None else int(value)


def _rocm_link(fields: dict[str, str]) -> PcieLink:
    """Return the link of "pcie clock level: 1 (16.0GT/s, x16 619Mhz)", which falls back at rest."""
    told = re.search(r"\((\d{1,2}\.\d)GT/s,? x(\d{1,2})\b", fields.get("pcie clock level", ""))
    if told is None:
        return PcieLink()
    return PcieLink(SPEEDS.get(told[1].removesuffix(".0")), int(told[2]) or None)


def read_amd_smi(text: str) -> list[Fact]:
    """Return the GPUs of `amd-smi static` or `metric`: indented fields under "GPU: 0"."""
    facts: list[Fact] = []
    parts = re.split(r"^GPU: (\d{1,3})\s*$", text, flags=re.MULTILINE)
    for index, block in zip(parts[1::2], parts[2::2], strict=False):
        fields: dict[str, str] = {}
        for line in block.splitlines():
            key, colon, value = line.strip().partition(":")
            if colon:
                fields.setdefault(key.strip().lower(), value.strip())
        facts.append(
            SeenGpu(
                address=whole_address(fields.get("bdf", "")),
                index=int(index),
                name=fields.get("market_name", ""),
                reachable=_amd_link(fields, "max_pcie_speed", "max_pcie_width"),
                running=_amd_link(fields, "speed", "width"),
                power_limit_w=_number(fields, "socket_power_limit") or _number(fields, "max_power"),
                power_draw_w=_number(fields, "socket_power"),
                temperature_c=_number(fields, "hotspot"),
                driver=fields.get("version", ""),
            )
        )
    return facts


def _amd_link(fields: dict[str, str], speed: str, width: str) -> PcieLink:
    rate = re.match(r"(\d{1,2}(?:\.5)?)(?:\.0)? GT/s", fields.get(speed, ""))
    lanes = _number(fields, width)
    return PcieLink(SPEEDS.get(rate[1]) if rate else None, int(lanes) if lanes else None)


def read_xpu_smi(text: str) -> list[Fact]:
    """Return the GPUs of `xpu-smi discovery`, with or without details."""
    facts: list[Fact] = []
    blocks = re.split(r"(?=Device Name: )", text)[1:]
    for index, block in enumerate(blocks):
        fields: dict[str, str] = {}
        for key, value in re.findall(r"([A-Za-z][\w ]{2,40}): ([^|\n]*)", block):
            fields.setdefault(key.strip().lower(), value.strip())
        lanes = _number(fields, "pcie max link width")
        generation = _number(fields, "pcie generation")
        facts.append(
            SeenGpu(
                address=whole_address(
                    fields.get("pci bdf address") or fields.get("bdf address", "")
                ),
                index=index,
                name=fields.get("device name", ""),
                reachable=PcieLink(
                    int(generation) if generation else None, int(lanes) if lanes else None
                ),
                driver=fields.get("driver version", ""),
            )
        )
    return facts
