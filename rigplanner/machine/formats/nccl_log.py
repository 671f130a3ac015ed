"""What NCCL found and chose on a machine: its log (NCCL_DEBUG=INFO) and its graphs
(NCCL_GRAPH_DUMP_FILE), read."""

import re

from msgspec import Struct

from rigplanner.machine.formats.pasted import plain_lines
from rigplanner.machine.formats.smi_matrix import MatrixFault
from rigplanner.machine.formats.xml_tree import Element, XmlFault, parse_xml

MOST_RANKS = 4096
MOST_GRAPH_ELEMENTS = 100_000
LARGEST_LOG = 4 * 2**20
PATTERNS = {1: "tree", 2: "tree", 3: "tree", 4: "ring", 5: "nvls"}
"""NCCL's numbers of patterns (`src/include/graph.h`): balanced, split and plain tree, ring, NVLink
SHARP."""

INFO = re.compile(r"NCCL INFO\s+(.*)$")
VERSION = re.compile(r"N?R?CCL version\s*:?\s*([\w.+-]+)")
RANKS = re.compile(r"rank (\d{1,6}) n[rR]anks (\d{1,6})")
RING = re.compile(r"Channel (\d{1,6})/(\d{1,6})\s*:((?:\s+\d{1,6})+)\s*$")
AROUND = re.compile(r"Ring (\d{1,6})\s*: (\d{1,6}) -> (\d{1,6}) -> (\d{1,6})\s*$")
TREE = re.compile(
    r"\[(\d{1,6})\] (-?\d{1,6}(?:/-?\d{1,6})*)->(-?\d{1,6})->(-?\d{1,6}(?:/-?\d{1,6})*)"
)
HOP = re.compile(
    r"(?:Channel|Ring) (\d{1,6})(?:/\d{1,6})?\s*: (\d{1,6})\[\w+\] -> (\d{1,6})\[\w+\] (?:\[\w+\]"
    r" )?via ([A-Za-z].*)$"
)
SEARCH = re.compile(
    r"Pattern (\d{1,3}), crossNic \d{1,3}, nChannels (\d{1,6}), (?:bw|speed)"
    r" ([\d.]{1,20})/([\d.]{1,20}), type (\w+)/(\w+)"
)
NVLS = re.compile(r"NVLS multicast support is (not )?available")


class Hop(Struct, frozen=True, order=True):
    """Two ranks that exchange, by what ("P2P", "SHM", "NET/IB", "NET/Socket"), and whether a port
    reaches GPU memory itself."""

    a: int
    b: int
    transport: str
    direct: bool = False


class Graph(Struct, frozen=True):
    """A pattern that NCCL's search found ("ring", "tree", "nvls"): channels, GB/s of each inside a
    node, and the worst path there (NVL, PIX, PXB, PHB, SYS)."""

    pattern: str
    channels: int
    intra_gbs: float
    intra: str

    @property
    def gbs(self) -> float:
        """All channels together inside a node, in GB/s."""
        return self.channels * self.intra_gbs


class NcclRun(Struct, frozen=True, kw_only=True):
    """One communicator, the largest that a log names. `rings` are the ranks in order, a channel
    each; `parents` the parent of each rank by channel (-1: the root); `nvls` says whether NVLink
    SHARP is there; None: not said."""

    version: str | None
    ranks: int
    rings: tuple[tuple[int, ...], ...]
    parents: tuple[dict[int, int], ...]
    hops: tuple[Hop, ...]
    graphs: tuple[Graph, ...]
    nvls: bool | None

    def graph(self, pattern: str) -> Graph | None:
        """Return the fastest graph of a pattern."""
        found = [graph for graph in self.graphs if graph.pattern == pattern and graph.channels]
        return max(found, key=lambda graph: graph.gbs, default=None)


def read_nccl(text: str) -> NcclRun:
    """Return what a log or a graph file says. Raises MatrixFault for text that is neither, XmlFault
    for a broken graph file."""
    if len(text) > LARGEST_LOG:
        raise MatrixFault(
            f"The text is longer than {LARGEST_LOG // 2**20} MiB: cut the log after the first"
            " collective."
        )
    if re.match(r"\s*(?:<\?xml[^>]*>\s*)?<graphs\b", text):
        return _of_graphs(text)
    run = _of_log([line for _, line in plain_lines(text)])
    if not run.ranks:
        raise MatrixFault(
            "No rings, trees or transports of NCCL were found: expected a log of NCCL_DEBUG=INFO or"
            " a graph file."
        )
    return run


def _of_log(lines: list[str]) -> NcclRun:
    version: str | None = None
    nvls: bool | None = None
    most = 0
    rings: dict[int, tuple[int, ...]] = {}
    around: dict[int, dict[int, int]] = {}
    parents: dict[int, dict[int, int]] = {}
    hops: set[Hop] = set()
    graphs: list[Graph] = []
    for line in lines:
        version = version or ((found := VERSION.search(line)) and found[1]) or None
        info = INFO.search(line)
        if info is None:
            continue
        said = info[1]
        if found := RING.match(said):
            _keep_ring(rings, int(found[1]), tuple(map(int, found[3].split())))
        elif found := AROUND.match(said):
            around.setdefault(int(found[1]), {})[int(found[3])] = int(found[4])
        elif said.startswith("Trees "):
            _keep_parents(parents, said)
        elif found := HOP.match(said):
            hops.add(_hop(int(found[2]), int(found[3]), found[4]))
        elif found := SEARCH.match(said):
            graphs.append(_graph(int(found[1]), int(found[2]), found[3], found[5]))
        elif found := NVLS.search(said):
            nvls = not found[1]
        elif found := RANKS.search(said):
            most = max(most, int(found[2]))
    for channel, following in around.items():
        rings.setdefault(channel, _followed(following))
    return _run(version, most, rings, parents, hops, graphs, nvls)


def _run(
    version: str | None,
    most: int,
    rings: dict[int, tuple[int, ...]],
    parents: dict[int, dict[int, int]],
    hops: set[Hop],
    graphs: list[Graph],
    nvls: bool | None,
) -> NcclRun:
    named = [rank for ring in rings.values() for rank in ring] + [
        rank for hop in hops for rank in (hop.a, hop.b)
    ]
    named += [rank for tree in parents.values() for rank in tree]
    ranks = max([most, *(rank + 1 for rank in named)]) if named or graphs else 0
    if ranks > MOST_RANKS:
        raise MatrixFault(f"The log names {ranks} ranks; at most {MOST_RANKS} are read.")
    whole = tuple(ring for _, ring in sorted(rings.items()) if len(ring) == len(set(ring)) > 0)
    return NcclRun(
        version=version,
        ranks=ranks,
        rings=whole,
        parents=tuple(tree for _, tree in sorted(parents.items())),
        hops=tuple(sorted(hops)),
        graphs=tuple(dict.fromkeys(graphs)),
        nvls=nvls,
    )


def _keep_ring(rings: dict[int, tuple[int, ...]], channel: int, ring: tuple[int, ...]) -> None:
    """Keep the longest ring of a channel: logs may hold several communicators."""
    if len(ring) > len(rings.get(channel, ())):
        rings[channel] = ring


def _keep_parents(parents: dict[int, dict[int, int]], said: str) -> None:
    """Trees stand as children->rank->parent; NCCL before 2.5 wrote parent->rank->children."""
    for channel, left, rank, right in TREE.findall(said):
        above = right if "/" not in right else left
        if "/" not in above:
            parents.setdefault(int(channel), {})[int(rank)] = int(above)


def _followed(following: dict[int, int]) -> tuple[int, ...]:
    """Return the ring that the next ranks make, () when they make none."""
    start = min(following, default=0)
    ring = [start]
    while following.get(ring[-1], start) != start and len(ring) <= len(following):
        ring.append(following[ring[-1]])
    return tuple(ring) if len(ring) == len(following) else ()


def _hop(a: int, b: int, via: str) -> Hop:
    words = via.split("/")
    net = words[0] == "NET" and len(words) > 1
    return Hop(
        min(a, b), max(a, b), "/".join(words[:2]) if net else words[0].split()[0], "GDRDMA" in via
    )


def _graph(pattern: int, channels: int, intra: str, path: str) -> Graph:
    return Graph(PATTERNS.get(pattern, str(pattern)), channels, _number(intra), path)


def _number(word: str) -> float:
    try:
        value = float(word)
    except ValueError as fault:
        raise MatrixFault(f"Expected GB/s, found {word[:30]!r}.") from fault
    if not 0 <= value < 1e6:
        raise MatrixFault(f"Expected GB/s from 0 to 1e6, found {word[:30]!r}.")
    return value


def _of_graphs(text: str) -> NcclRun:
    root = parse_xml(text, MOST_GRAPH_ELEMENTS)
    if root.name != "graphs":
        raise XmlFault(f"Expected <graphs>, found <{root.name[:30]}>.")
    graphs: list[Graph] = []
    rings: dict[int, tuple[int, ...]] = {}
    for element in (child for child in root.children if child.name == "graph"):
        given = element.attributes
        graph = _graph(
            _whole(given, "pattern"),
            _whole(given, "nchannels"),
            given.get("speedintra", "0"),
            given.get("typeintra", ""),
        )
        graphs.append(graph)
        if graph.pattern == "ring":
            for channel in (child for child in element.children if child.name == "channel"):
                _keep_ring(rings, len(rings), _devices(channel))
    return _run(None, 0, rings, {}, set(), graphs, None)


def _devices(channel: Element) -> tuple[int, ...]:
    return tuple(
        _whole(child.attributes, "dev") for child in channel.children if child.name == "gpu"
    )


def _whole(given: dict[str, str], name: str) -> int:
    word = given.get(name, "")
    if not word.isdigit() or len(word) > 9:
        raise XmlFault(f"Expected a whole number as {name}, found {word[:30]!r}.")
    return int(word)
