"""`nvidia-smi topo -m` text: read with faults that name line and cell, and written."""

import re

from msgspec import Struct

from rigplanner.machine.formats.pasted import plain_lines

LARGEST_TEXT = 2**20
MOST_DEVICES = 512
LABEL = re.compile(r"X|NV[1-9]\d?|PIX|PXB|PHB|NODE|SYS|SOC|XGMI")
GLUED = re.compile(r"(?:NV[1-9]\d?(?!\d)|PIX|PXB|PHB|NODE|SYS|SOC|X)+")
"""Cells whose tab was lost where a terminal broke the line."""
DEVICE = re.compile(r"[A-Za-z][\w.:+-]*")
"""GPUs, and network ports by whatever name their driver gives: mlx5_0, mlx5_bond_0, NIC0,
rocep13s0f0, bnxt_re0, hsn0."""
AFFINITY = re.compile(r"[\d,-]+")
NUMBERED = re.compile(r"GPU\d+|NIC\d+|mlx\d+_\d+")
PORT = re.compile(r"(?:NIC|mlx)\d\w*|(?:roce|bnxt_re|hsn|ib|rdma|irdma|efa)\w*\d\w*")
"""A network port as drivers call it: with two of them a header may begin, of a machine without
GPUs."""
ALIASES = {"SOC": "SYS"}
"""Old drivers' word for SYS."""
PEER_LABEL = re.compile(r"X|OK|CNS|GNS|TNS|NS|U|DR")


class MatrixFault(ValueError):
    """Text that is no such matrix; says which line and cell, what was expected and found."""


class SmiMatrix(Struct, frozen=True, kw_only=True):
    """A captured matrix: `devices` in column order, `cells` by row for the rows that the text has
    (`rows` names them), affinities as printed."""

    devices: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    cpu_affinity: tuple[str, ...] = ()
    numa_affinity: tuple[str, ...] = ()
    peers: tuple[tuple[tuple[str, ...], ...], ...] = ()

    @property
    def gpus(self) -> tuple[str, ...]:
        """The GPU columns."""
        return tuple(device for device in self.devices if device.startswith("GPU"))

    def square(self, devices: tuple[str, ...]) -> list[list[str]]:
        """Return the cells between devices, rows that the text lacks filled from their columns, ""
        where neither is there."""
        where = dict(zip(self.rows, self.cells, strict=True))
        index = {device: n for n, device in enumerate(self.devices)}

        def cell(a: str, b: str) -> str:
            if a == b:
                return "X"
            if a in where:
                return where[a][index[b]]
            return where[b][index[a]] if b in where else ""

        return [[cell(a, b) for b in devices] for a in devices]


def parse_matrix(text: str) -> SmiMatrix:
    """Return the first matrix in the text, with the P2P tables that follow; markup, log prefixes,
    notes ("# ...") and the legend are skipped. Raises MatrixFault for text without a matrix and for
    one that is cut, wrapped, asymmetric or impossible."""
    if len(text) > LARGEST_TEXT:
        raise MatrixFault(f"The text is longer than {LARGEST_TEXT // 2**20} MiB: not a matrix.")
    lines = _unfolded(plain_lines(text))
    if ROCM.search(text):
        raise MatrixFault("This is the output of rocm-smi --showtopo: read it with --rocm-smi.")
    tables, peers = _tables(lines)
    if not tables and not peers:
        tables, peers = _tables(_unfolded(plain_lines(text, commented=True)))
    if not tables and not peers:
        raise MatrixFault(_why_none(lines))
    if not tables:
        return SmiMatrix(
            devices=tuple(peers[0][0]),
            rows=(),
            cells=(),
            peers=tuple(_peer_cells(table) for table in peers),
        )
    header, rows = tables[0]
    return _checked(header, rows, tuple(_peer_cells(table) for table in peers))


ROCM = re.compile(r"(?:Link Type|Weight|Hops) between two GPUs", re.IGNORECASE)


def _why_none(lines: list[tuple[int, str]]) -> str:
    if any(_header(line.split()) for _, line in lines if line.split()):
        return "The header has no rows below it: the text is cut."
    return (
        "No line with columns GPU0, GPU1, ... was found: expected the output of nvidia-smi topo -m."
    )


def _unfolded(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return lines in which a whole matrix stands split before each row, and names without the
    blank between them parted."""
    found: list[tuple[int, str]] = []
    for number, line in lines:
        parted = RUN_TOGETHER.sub(" ", line)
        pieces = (
            NEXT_ROW.split(parted)
            if len(NEXT_ROW.findall(parted)) > 1 or HEADER_AND_ROW.search(parted)
            else [parted]
        )
        found += [(number, piece) for piece in pieces]
    return found


RUN_TOGETHER = re.compile(r"(?<=\d)(?=(?:GPU|NIC|mlx)\d)")
NEXT_ROW = re.compile(
    r"\s+(?=(?:GPU\d+|NIC\d+|mlx\d+_\w+)\s+(?:X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC)\s)"
)
START = re.compile(
    r"(?<!\S)(?:GPU0\s+(?:GPU1\b|CPU Affinity|NIC0\b|mlx\d)"
    r"|(?:GPU|NIC)\d+\s+(?:X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|OK|[CGT]?NS)(?!\S))"
)
"""Where a header or a row begins."""
HEADER_AND_ROW = re.compile(r"GPU0\s.*\sGPU0\s+X\s")


class Row(Struct, frozen=True):
    """One line of a table: its cells, and CPU and NUMA affinity as printed ("" where there is
    none)."""

    line: int
    name: str
    cells: list[str]
    tail: tuple[str, str]


Table = tuple[list[str], list[Row]]


def _tables(lines: list[tuple[int, str]]) -> tuple[list[Table], list[Table]]:
    """Return the label tables and the peer tables: a header line, then the rows that begin with one
    of its devices."""
    labels: list[Table] = []
    peers: list[Table] = []
    current: Table | None = None
    nodes_alone = False
    for number, whole in lines:
        line = _from_matrix(whole)
        words = line.split()
        if not words:
            continue
        header = _header(words)
        if header and header[0] != "GPU0" and (header[0].startswith("GPU") or current):
            raise MatrixFault(
                f"Line {number}: a header that begins with {header[0]}: the text is wrapped, or its"
                " first columns are cut off; paste it whole and unwrapped."
            )
        if header:
            current, nodes_alone = (header, []), "NUMA" in words and "CPU" not in words
            continue
        if current is None:
            continue
        if words[0] in current[0] and _is_row(words):
            if not current[1]:
                (peers if _is_peer(words) else labels).append(current)
            current[1].append(_row_of(number, line, words, len(current[0]), nodes_alone))
        elif NUMBERED.fullmatch(words[0]) and _is_row(words):
            raise MatrixFault(
                f"Line {number}: the row {words[0]} has no column; the header names"
                f" {', '.join(current[0])}."
            )
        elif current[1] and _is_continuation(words):
            raise MatrixFault(
                f"Line {number}: cells without a row name ({words[0]} ...): the text is wrapped;"
                " paste it unwrapped."
            )
        elif words[0] == "Legend:":
            current = None
    return labels, peers


def _from_matrix(line: str) -> str:
    """Return a line without what a log wrote before the matrix."""
    start = START.search(line)
    return line[start.start() :] if start and _is_prefix(line[: start.start()]) else line


def _is_prefix(text: str) -> bool:
    """Say whether text before a matrix is a log's prefix: it holds no device and no label."""
    return not any(NUMBERED.fullmatch(word) or LABEL.fullmatch(word) for word in text.split())


def _row_of(number: int, line: str, words: list[str], columns: int, nodes_alone: bool) -> Row:
    """Return a row; tabs keep empty affinities apart, which blanks do not. `nodes_alone`: the head
    names no column of cores."""
    fields = [field.strip() for field in line.strip("\n").split("\t")]
    rest = words[1 + columns :]
    if len(fields) > columns + 1 and fields[1 : columns + 1] == words[1 : columns + 1]:
        rest = fields[columns + 1 :]
    tail = (*([""] if nodes_alone else []), *rest[:2], "", "")
    return Row(number, words[0], words[1:], (tail[0], tail[1]))


def _header(words: list[str]) -> list[str]:
    """Return the device columns of a header line, [] when the line is none."""
    alone = len(words) > 1 and all(map(PORT.fullmatch, words[:2]))
    if (
        words[0] != "GPU0"
        and not alone
        and not (words[0].startswith("GPU") and len(words) > 1 and words[1].startswith("GPU"))
    ):
        return []
    if len(words) == 1 or not DEVICE.fullmatch(words[1]) or LABEL.fullmatch(words[1]):
        return ["GPU0"] if words == ["GPU0"] else []
    if _is_row(words):
        return []
    names: list[str] = []
    for word in words:
        if word in ("CPU", "NUMA") or (word == "GPU"):
            break
        names.append(word)
    return names


def _is_row(words: list[str]) -> bool:
    return any(LABEL.fullmatch(word) or PEER_LABEL.fullmatch(word) for word in words[1:3])


def _is_peer(words: list[str]) -> bool:
    return any(word in ("OK", "CNS", "GNS", "TNS", "NS", "U", "DR") for word in words[1:])


def _is_continuation(words: list[str]) -> bool:
    """Say whether a line holds cells or affinities alone, as the second half of a row does; lines
    of a legend go on in words."""
    return all(LABEL.fullmatch(word) or word == "N/A" or AFFINITY.fullmatch(word) for word in words)


def _peer_cells(table: Table) -> tuple[tuple[str, ...], ...]:
    header, rows = table
    for row in rows:
        if len(row.cells) != len(header):
            raise MatrixFault(
                f"Line {row.line}: the row {row.name} has {len(row.cells)} cells for {len(header)}"
                " columns."
            )
        for column, word in zip(header, row.cells, strict=True):
            if not PEER_LABEL.fullmatch(word):
                raise MatrixFault(
                    f"Line {row.line}, cell {row.name}/{column}: expected OK, CNS, GNS, TNS, NS or"
                    f" X, found {word!r}."
                )
    return tuple(tuple(row.cells) for row in rows)


def _checked(
    header: list[str], rows: list[Row], peers: tuple[tuple[tuple[str, ...], ...], ...]
) -> SmiMatrix:
    _check_names(header, rows)
    cells: list[tuple[str, ...]] = []
    cpus: list[str] = []
    numas: list[str] = []
    for row in rows:
        labels = _labels(row, header)
        cells.append(tuple(ALIASES.get(word, word) for word in labels))
        if row.name.startswith("GPU"):
            cpus.append(row.tail[0])
            numas.append(row.tail[1])
    names = tuple(row.name for row in rows)
    _check_symmetry(header, rows, cells)
    _check_nesting(header, names, cells)
    _check_numa(header, rows, cells)
    return SmiMatrix(
        devices=tuple(header),
        rows=names,
        cells=tuple(cells),
        cpu_affinity=tuple(cpus),
        numa_affinity=tuple(numas),
        peers=peers,
    )


def _check_names(header: list[str], rows: list[Row]) -> None:
    if len(header) > MOST_DEVICES:
        raise MatrixFault(
            f"The header names {len(header)} devices; at most {MOST_DEVICES} are read."
        )
    for names, what in ((header, "column"), ([row.name for row in rows], "row")):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise MatrixFault(f"The {what} {twice} occurs twice.")
    gpus = [name for name in header if re.fullmatch(r"GPU\d+", name)]
    if gpus != [f"GPU{index}" for index in range(len(gpus))]:
        raise MatrixFault(
            f"The GPU columns are {', '.join(gpus)}: expected GPU0 to GPU{len(gpus) - 1} in order."
        )
    unknown = next((name for name in header if not DEVICE.fullmatch(name)), None)
    if unknown is not None:
        raise MatrixFault(f"The column {unknown!r} is no GPU or network device.")


def _labels(row: Row, header: list[str]) -> list[str]:
    words = row.cells if len(row.cells) >= len(header) else _parted(row.cells)
    if len(words) < len(header):
        raise MatrixFault(
            f"Line {row.line}: the row {row.name} has {len(words)} cells for {len(header)} columns:"
            " the text is cut."
        )
    if LABEL.fullmatch((*row.cells[len(header) :], "")[0]):
        raise MatrixFault(
            f"Line {row.line}: the row {row.name} has more cells than the header has columns"
            f" ({len(header)}): a column is missing there, or two of its names ran together."
        )
    labels = words[: len(header)]
    if any(GLUED.fullmatch(word) and not LABEL.fullmatch(word) for word in labels):
        labels = _parted(row.cells)[: len(header)]
    for column, word in zip(header, labels, strict=True):
        where = f"Line {row.line}, cell {row.name}/{column}"
        if not LABEL.fullmatch(word):
            raise MatrixFault(
                f"{where}: expected X, NV#, PIX, PXB, PHB, NODE or SYS, found {word!r}."
            )
        if (word == "X") != (row.name == column):
            expected = "X on the diagonal" if row.name == column else "no X off the diagonal"
            raise MatrixFault(f"{where}: expected {expected}, found {word!r}.")
    return labels


def _parted(words: list[str]) -> list[str]:
    """Return cells with those that ran together taken apart, as in PXBNODE."""
    return [
        cell
        for word in words
        for cell in (LABEL.findall(word) if GLUED.fullmatch(word) else [word])
    ]


def _check_symmetry(header: list[str], rows: list[Row], cells: list[tuple[str, ...]]) -> None:
    by_name = {row.name: labels for row, labels in zip(rows, cells, strict=True)}
    index = {name: n for n, name in enumerate(header)}
    for row, labels in zip(rows, cells, strict=True):
        for column, word in zip(header, labels, strict=True):
            mirror = by_name[column][index[row.name]] if column in by_name else word
            if mirror != word:
                raise MatrixFault(
                    f"Line {row.line}, cell {row.name}/{column}: {word}, but {column}/{row.name} is"
                    f" {mirror}."
                )


NEARNESS = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4}
"""PCIe labels from near to far. They nest: below a switch, below a host bridge, in a NUMA node, in
the machine."""


def _check_nesting(header: list[str], names: tuple[str, ...], cells: list[tuple[str, ...]]) -> None:
    """Raise MatrixFault where two devices are near a third and far from each other, which no tree
    of switches can be."""
    index = {name: n for n, name in enumerate(header)}
    rows = dict(zip(names, cells, strict=True))
    ranks = {
        a: {b: NEARNESS[row[index[b]]] for b in rows if row[index[b]] in NEARNESS}
        for a, row in rows.items()
    }
    for level in range(max(NEARNESS.values())):
        seen: set[str] = set()
        for a, near in ranks.items():
            group = {b for b, rank in near.items() if rank <= level}
            for b in sorted(group - seen):
                far = next((c for c in sorted(group) if ranks[b].get(c, 0) > level), None)
                if far is not None:
                    raise MatrixFault(_torn(a, b, far, rows, index))
            seen |= {a}


def _check_numa(header: list[str], rows: list[Row], cells: list[tuple[str, ...]]) -> None:
    """Raise MatrixFault where two GPUs of different NUMA nodes are nearer than SYS."""
    nodes = {
        row.name: row.tail[1]
        for row in rows
        if row.name.startswith("GPU") and row.tail[1].isdigit()
    }
    for row, labels in zip(rows, cells, strict=True):
        for column, word in zip(header, labels, strict=True):
            one, other = nodes.get(row.name), nodes.get(column)
            if (
                None not in (one, other)
                and one != other
                and NEARNESS.get(word, NEARNESS["SYS"]) < NEARNESS["SYS"]
            ):
                raise MatrixFault(
                    f"Line {row.line}, cell {row.name}/{column}: {word}, but their NUMA nodes are"
                    f" {one} and {other}: no machine is built so."
                )


def _torn(
    middle: str, a: str, c: str, rows: dict[str, tuple[str, ...]], index: dict[str, int]
) -> str:
    left, right, across = (rows[x][index[y]] for x, y in ((middle, a), (middle, c), (a, c)))
    return (
        f"Cells {middle}/{a} and {middle}/{c} are {left} and {right}, but {a}/{c} is {across}: no"
        " machine is built so."
    )


def numa_nodes(matrix: SmiMatrix) -> tuple[int | None, ...]:
    """Return the NUMA node of each GPU row, None where it is N/A, a range or absent."""
    return tuple(int(word) if word.isdigit() else None for word in matrix.numa_affinity)


def missing_rows(matrix: SmiMatrix) -> tuple[str, ...]:
    """Return the GPUs whose row the text lacks."""
    return tuple(gpu for gpu in matrix.gpus if gpu not in matrix.rows)


def format_matrix(
    devices: list[str],
    cells: tuple[tuple[str, ...], ...],
    tails: list[tuple[str | None, int | None]],
) -> str:
    """Return a matrix in the layout of `nvidia-smi topo -m`; `tails` gives CPU and NUMA affinity of
    each GPU. Unknown cells print as "?"."""
    lines = ["\t".join(["", *devices, "CPU Affinity", "NUMA Affinity"])]
    for index, (device, row) in enumerate(zip(devices, cells, strict=True)):
        shown = [" X " if cell == "X" else cell or "?" for cell in row]
        tail: list[str] = []
        if index < len(tails):
            cpus, numa = tails[index]
            tail = [cpus or "N/A", "N/A" if numa is None else str(numa)]
        lines.append("\t".join([device, *shown, *tail]))
    return "\n".join(lines) + "\n"
