"""What a machine's graph is made of, by value: nodes, edges, and the way between two devices. Names
and letters are printed here and read back nowhere."""

from typing import Literal

from msgspec import Struct

NodeKind = Literal[
    "socket", "root", "host", "chipset", "switch", "slot", "gpu", "nic", "drive", "card", "nvswitch"
]


class Node(Struct, frozen=True):
    """A node of the machine's graph: its kind, and what tells it from others of that kind on its
    board. `key` is the number of a socket, GPU or network port, the id of a switch, slot or host
    bridge, the piece of a drive or card; "" where a board has one. A `host` stands for CPUs that
    are not part of the machine; `switches` says that a chipset is a PCIe switch (AMD), not a set of
    root ports (Intel)."""

    kind: NodeKind
    key: int | str = ""
    board: int = 0
    switches: bool = False

    @property
    def name(self) -> str:
        """The name in drawings and files: "cpu0", "gpu1", "chipset", "1:plx0", "ssd.0"."""
        if self.kind in ("socket", "gpu", "nic"):
            return f"{'cpu' if self.kind == 'socket' else self.kind}{self.key}"
        if self.kind in ("drive", "card"):
            return str(self.key)
        own = str(self.key) if self.key != "" else self.kind
        return own if self.board == 0 or self.kind == "root" else f"{self.board}:{own}"


def socket_node(index: int) -> Node:
    """Return the node of an occupied CPU socket."""
    return Node("socket", index)


def gpu_node(index: int) -> Node:
    """Return the node of a GPU as the driver counts it."""
    return Node("gpu", index)


def nic_node(index: int) -> Node:
    """Return the node of a network port in the matrix."""
    return Node("nic", index)


class Root(Struct, frozen=True):
    """A host bridge with its root ports, the NUMA node it belongs to, and its board."""

    name: str
    numa: int | None
    board: int = 0


class Edge(Struct, frozen=True, kw_only=True):
    """A link between two nodes, from the one towards the CPU to the other: rate one way in GB/s.
    `root` is the host bridge that a PCIe link starts from, `slot` the place it ends in."""

    a: Node
    b: Node
    kind: Literal["pcie", "nvlink", "nvswitch", "xgmi", "c2c", "cpu", "chipset", "memory"]
    links: int = 1
    width: int | None = None
    gen: int | None = None
    gbs: float | None = None
    root: Root | None = None
    slot: Node | None = None


Path = Literal["self", "nvlink", "xgmi", "pix", "pxb", "phb", "node", "sys"]
_LETTERS: dict[Path | None, str] = {
    "self": "X",
    "nvlink": "NV",
    "xgmi": "XGMI",
    "pix": "PIX",
    "pxb": "PXB",
    "phb": "PHB",
    "node": "NODE",
    "sys": "SYS",
    None: "",
}


class Pair(Struct, frozen=True):
    """The way between two devices, by its worst segment, None where it is not known; `links` counts
    NVLinks. The words are nvidia-smi's own: PIX through one switch, PXB through several, PHB within
    one host bridge, NODE between host bridges of one NUMA node, SYS between NUMA nodes."""

    path: Path | None = None
    links: int = 0

    @property
    def linked(self) -> bool:
        """Whether NVLink or xGMI joins the two."""
        return self.path in ("nvlink", "xgmi")

    @property
    def below_one_switch(self) -> bool:
        """Whether switches alone lie between the two."""
        return self.path in ("pix", "pxb")

    @property
    def letters(self) -> str:
        """The cell of `nvidia-smi topo -m`, "" where it is not known."""
        return f"NV{self.links}" if self.path == "nvlink" else _LETTERS[self.path]


Pairs = tuple[tuple[Pair, ...], ...]


def pair_of(cell: str) -> Pair:
    """Read a cell of a captured matrix; one with another word is not known."""
    if cell.startswith("NV") and cell[2:].isdigit():
        return Pair("nvlink", int(cell[2:]))
    return Pair(next((path for path, word in _LETTERS.items() if word == cell), None))


def pairs_of(cells: list[list[str]] | tuple[tuple[str, ...], ...]) -> Pairs:
    """Read the cells of a captured matrix."""
    return tuple(tuple(map(pair_of, row)) for row in cells)


def printed(pairs: Pairs) -> tuple[tuple[str, ...], ...]:
    """Return the letters of a matrix."""
    return tuple([tuple([pair.letters for pair in row]) for row in pairs])
