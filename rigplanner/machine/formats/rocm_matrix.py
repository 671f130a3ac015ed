"""The tables of `rocm-smi --showtopo` and `amd-smi topology`: link type, hops and NUMA node of
AMD's GPUs."""

import re

from rigplanner.machine.formats.pasted import plain_lines
from rigplanner.machine.formats.smi_matrix import LARGEST_TEXT, MOST_DEVICES, MatrixFault, SmiMatrix

DEVICE = re.compile(r"GPU\d+|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d", re.IGNORECASE)
TITLES = (
    ("type", re.compile(r"link type", re.IGNORECASE)),
    ("hops", re.compile(r"\bhops\b", re.IGNORECASE)),
)
OTHER_TITLE = re.compile(r"={3,}|\btable\b", re.IGNORECASE)
NUMA = re.compile(r"^GPU\s*\[?(\d+)\]?\s*:\s*\(Topology\) Numa Node:\s*(-?\d+)", re.IGNORECASE)
TYPES = {"XGMI": "XGMI", "PCIE": "", "PCIe": "", "0": "X", "SELF": "X", "N/A": "X"}
THROUGH_ONE_CPU = 2
"""Hops of a path from GPU to CPU to GPU; the kernel counts a third where it goes on to another NUMA
node."""

Tables = dict[str, dict[str, list[str]]]


def parse_rocm(text: str) -> SmiMatrix:
    """Return the matrix in `nvidia-smi topo -m` letters: XGMI where the GPUs are linked, else PHB
    through one CPU (which host bridge is not told) and SYS across NUMA nodes, by hops or by node;
    "" where neither is told. Raises MatrixFault for other text."""
    if len(text) > LARGEST_TEXT:
        raise MatrixFault(
            f"The text is longer than {LARGEST_TEXT // 2**20} MiB: no output of rocm-smi."
        )
    tables, numas = _read(text)
    kinds = tables.get("type", {})
    if not kinds:
        raise MatrixFault(
            "No table of link types was found: expected the output of rocm-smi --showtopo or"
            " amd-smi topology."
        )
    devices = list(kinds)
    if len(devices) > MOST_DEVICES:
        raise MatrixFault(f"The table names {len(devices)} GPUs; at most {MOST_DEVICES} are read.")
    names = tuple(f"GPU{index}" for index in range(len(devices)))
    cells = tuple(
        tuple(_cell(devices, a, b, tables, numas) for b in range(len(devices)))
        for a in range(len(devices))
    )
    for a, row in enumerate(cells):
        for b, cell in enumerate(row):
            if cell != cells[b][a]:
                raise MatrixFault(
                    f"Cell {devices[a]}/{devices[b]}: {cell}, but {devices[b]}/{devices[a]} is"
                    f" {cells[b][a]}."
                )
    nodes = tuple(str(numas[index]) if index in numas else "" for index in range(len(devices)))
    return SmiMatrix(
        devices=names, rows=names, cells=cells, cpu_affinity=("",) * len(names), numa_affinity=nodes
    )


def _read(text: str) -> tuple[Tables, dict[int, int]]:
    tables: Tables = {}
    numas: dict[int, int] = {}
    current, columns = "", 0
    for number, line in _lines(text):
        words = line.split()
        named = next((key for key, title in TITLES if title.search(line)), "")
        if named or (OTHER_TITLE.search(line) and not DEVICE.fullmatch(words[0])):
            current, columns = named, 0
        elif (node := NUMA.match(line.strip())) is not None:
            numas[int(node[1])] = int(node[2])
        elif current and DEVICE.fullmatch(words[0]) and not columns:
            columns = len(words)
        elif current and DEVICE.fullmatch(words[0]):
            if len(words) - 1 != columns:
                found = f"the row {words[0]} has {len(words) - 1} cells for {columns} columns"
                raise MatrixFault(f"Line {number}: {found}: the text is cut or wrapped.")
            tables.setdefault(current, {})[words[0]] = words[1:]
    for table in tables.values():
        if any(len(row) != len(table) for row in table.values()):
            raise MatrixFault(
                f"A table has {len(table)} rows for {len(next(iter(table.values())))} columns: the"
                " text is cut."
            )
    return tables, numas


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in plain_lines(text) if line.strip()]


def _cell(devices: list[str], a: int, b: int, tables: Tables, numas: dict[int, int]) -> str:
    word = tables["type"][devices[a]][b]
    if word not in TYPES:
        raise MatrixFault(
            f"Cell {devices[a]}/{devices[b]}: expected XGMI, PCIE or 0, found {word!r}."
        )
    if (a == b) != (TYPES[word] == "X"):
        raise MatrixFault(
            f"Cell {devices[a]}/{devices[b]}: {word!r} is {'not ' if a == b else ''}for the"
            " diagonal."
        )
    if TYPES[word]:
        return TYPES[word]
    hops = (tables.get("hops", {}).get(devices[a]) or [""] * len(devices))[b]
    if hops.isdigit():
        return "PHB" if int(hops) <= THROUGH_ONE_CPU else "SYS"
    if a in numas and b in numas:
        return "PHB" if numas[a] == numas[b] else "SYS"
    return ""
