"""`nvidia-smi -q`, `topo -m`, `nvlink -s` and the table of `nvidia-smi` alone, beside their own
readers."""

import re

from rigplanner.asbuilt.seen import (
    Fact,
    PcieLink,
    SeenGpu,
    SeenMatrix,
    SeenNvlink,
    whole_address,
)
from rigplanner.machine.formats.nvlink_status import parse_nvlink_status
from rigplanner.machine.formats.smi_matrix import SmiMatrix, numa_nodes, parse_matrix
from rigplanner.machine.formats.smi_query import query_blocks

QUERY = re.compile(r"^\s*GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d\s*$", re.MULTILINE)
MATRIX = re.compile(
    r"^[ \t]*(\x1b\[4m)?[ \t]*GPU0(?:[ \t]+(?:GPU\d+|mlx\S*|NIC\d+|CPU))+", re.MULTILINE
)
STATUS = re.compile(r"^\s*GPU \d+: .*\n\s*Link \d+: ", re.MULTILINE)
TABLE = re.compile(r"\|\s*NVIDIA-SMI\s+[\d.]+\s+Driver Version: ")
ROW = re.compile(
    r"^\|\s*(\d{1,3})\s{1,3}(\S.*?)\s+(On|Off|N/A)\s*\|\s*([0-9A-Fa-f:.]{12,16})\s", re.MULTILINE
)
DRAW = re.compile(
    r"\|[^|]*?(\d{1,3})C\s+P\d+\s+(?:(\d+)W|N/A) / (?:\s*(\d+)W|N/A)\s*\|[^|]*?(\d+)MiB\s*\|"
)
REASONS = {
    "SW Power Cap": "power-cap",
    "HW Slowdown": "hardware",
    "HW Thermal Slowdown": "heat",
    "HW Power Brake Slowdown": "power-brake",
    "SW Thermal Slowdown": "heat-soft",
}
HEADINGS = ("Clocks Event Reasons", "Clocks Throttle Reasons")


def read_query(text: str) -> list[Fact]:
    """Return the GPUs of `nvidia-smi -q`. Raises QueryFault for other text."""
    driver = re.search(r"^Driver Version\s*: (\S+)", text, re.MULTILINE)
    cuda = re.search(r"^CUDA Version\s*: (\S+)", text, re.MULTILINE)
    versions = (driver[1] if driver else "", cuda[1] if cuda else "")
    plain = re.sub(r"^[ \t]+(?=GPU [0-9A-Fa-f]{4,8}:)", "", text, flags=re.MULTILINE)
    found = query_blocks(plain)
    return [_gpu(place, address, values, versions) for place, (address, values) in enumerate(found)]


def _gpu(index: int, address: str, values: dict[str, str], versions: tuple[str, str]) -> SeenGpu:
    generation, width = "GPU Link Info/PCIe Generation", "GPU Link Info/Link Width"
    return SeenGpu(
        address=whole_address(address),
        index=index,
        name=values.get("Product Name", ""),
        reachable=PcieLink(_int(values, f"{generation}/Max"), _int(values, f"{width}/Max")),
        running=PcieLink(_int(values, f"{generation}/Current"), _int(values, f"{width}/Current")),
        card_generation=_int(values, f"{generation}/Device Max"),
        power_limit_w=_first(values, "Current Power Limit", "Enforced Power Limit", "Power Limit"),
        power_default_w=_first(values, "Default Power Limit"),
        power_max_w=_first(values, "Max Power Limit"),
        power_draw_w=_first(values, "Instantaneous Power Draw", "Average Power Draw", "Power Draw"),
        temperature_c=_first(values, "GPU Current Temp"),
        slowdown_c=_first(values, "GPU Slowdown Temp", "GPU T.Limit Temp"),
        clock_mhz=_first(values, "Clocks/SM", "Clocks/Graphics"),
        clock_max_mhz=_first(values, "Max Clocks/SM", "Max Clocks/Graphics"),
        busy_percent=_first(values, "Utilization/Gpu", "Utilization/GPU"),
        memory_mib=_first(values, "FB Memory Usage/Total"),
        throttled=_throttled(values),
        persistence=_switch(values, "Persistence Mode"),
        ecc=_switch(values, "ECC Mode/Current", "Ecc Mode/Current"),
        uncorrected=_uncorrected(values),
        remap_pending=_yes(
            values.get("Remapped Rows/Pending") or values.get("Retired Pages/Pending")
        ),
        remap_failed=_yes(values.get("Remapped Rows/Remapping Failure Occurred")),
        mig=_switch(values, "MIG Mode/Current"),
        replays=_int(values, "Replays Since Reset"),
        driver=versions[0],
        cuda=versions[1],
    )


def _throttled(values: dict[str, str]) -> tuple[str, ...]:
    found = [
        code
        for word, code in REASONS.items()
        for heading in (*HEADINGS, "HW Slowdown")
        if values.get(f"{heading}/{word}") == "Active"
    ]
    return tuple(dict.fromkeys(found))


def _uncorrected(values: dict[str, str]) -> int | None:
    """Return the errors of the card's whole life that its ECC could not correct."""
    keys = [
        "Aggregate/DRAM Uncorrectable",
        "Aggregate/SRAM Uncorrectable",
        "Aggregate/Double Bit/Total",
        "Aggregate/SRAM Uncorrectable Parity",
        "Aggregate/SRAM Uncorrectable SEC-DED",
    ]
    counts = [count for key in keys if (count := _int(values, key)) is not None]
    return sum(counts) if counts else None


def _int(values: dict[str, str], key: str) -> int | None:
    match = re.match(r"(\d{1,9})", values.get(key, ""))
    return int(match[1]) if match else None


def _first(values: dict[str, str], *keys: str) -> float | None:
    for key in keys:
        match = re.match(r"(\d{1,7}(?:\.\d{1,4})?)", values.get(key, ""))
        if match:
            return float(match[1])
    return None


def _switch(values: dict[str, str], *keys: str) -> bool | None:
    said = next((values[key] for key in keys if key in values), "")
    return {"Enabled": True, "Disabled": False}.get(said)


def _yes(word: str | None) -> bool | None:
    return {"Yes": True, "No": False}.get(word or "")


def read_topology(text: str) -> list[Fact]:
    """Return the letters of `nvidia-smi topo -m` among GPUs. Raises MatrixFault for other text."""
    matrix = parse_matrix(text)
    return [SeenMatrix(square_of(matrix), numa_nodes(matrix))]


def square_of(matrix: SmiMatrix) -> tuple[tuple[str, ...], ...]:
    """Return the letters among GPUs alone."""
    return tuple([tuple(row) for row in matrix.square(matrix.gpus)])


def read_nvlinks(text: str) -> list[Fact]:
    """Return the NVLinks of `nvidia-smi nvlink -s`. Raises MatrixFault for other text."""
    return [
        SeenNvlink(gpu.index, gpu.name, gpu.up, len(gpu.links)) for gpu in parse_nvlink_status(text)
    ]


def read_table(text: str) -> list[Fact]:
    """Return the GPUs of the table that `nvidia-smi` prints alone: names, addresses, caps, memory.
    Names are cut short there ("NVIDIA GeForce ..." on older drivers)."""
    head = re.search(r"Driver Version: (\S+)\s+CUDA Version: (\S+)", text)
    facts: list[Fact] = []
    rows = list(ROW.finditer(text))
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        block = text[row.end() : after.start() if after else len(text)]
        draw = DRAW.search(block)
        facts.append(
            SeenGpu(
                address=whole_address(row[4]),
                index=int(row[1]),
                name=row[2].strip(),
                persistence={"On": True, "Off": False}.get(row[3]),
                temperature_c=float(draw[1]) if draw else None,
                power_draw_w=float(draw[2]) if draw and draw[2] else None,
                power_limit_w=float(draw[3]) if draw and draw[3] else None,
                memory_mib=float(draw[4]) if draw else None,
                driver=head[1] if head else "",
                cuda=head[2] if head else "",
            )
        )
    return facts
