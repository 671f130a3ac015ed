"""Peer-to-peer access between GPUs, in the words of `nvidia-smi topo -p2p`."""

from collections.abc import Sequence

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Motherboard, System
from rigplanner.machine.graph import TREE, only, pair_between, path
from rigplanner.machine.model import GpuNode, Machine, NicNode, Piece
from rigplanner.machine.nodes import Node, Pair, Pairs, gpu_node, nic_node
from rigplanner.rig.document import Rig

NO_ACROSS = frozenset(("LGA1366", "LGA2011", "LGA2011-3"))
"""Intel sockets whose link between CPUs carries no peer-to-peer traffic: the driver reports CNS
there."""


class DirectPath(Struct, frozen=True):
    """The way from a GPU to a network port or drive without a copy through host memory: `letter` as
    in the matrix, empty where the path is not known."""

    gpu: int
    device: str
    letter: str


def has_direct_access(gpu: GPU) -> bool | None:
    """Say whether other PCIe devices may read and write a GPU's memory: GPUDirect RDMA and Storage,
    which rests on it; None where it is not known. On lines made for games the driver offers neither
    (NVIDIA's documentation: on Tesla and Quadro GPUs)."""
    if gpu.plays or gpu.p2p in ("no", "nvlink-only"):
        return False
    return True if gpu.p2p == "yes" else None


def direct_paths(machine: Machine) -> tuple[DirectPath, ...]:
    """Return GPUDirect RDMA paths for every GPU and network port of its board. They pay below one
    switch (PIX, PXB), work over a host bridge, and do not cross NUMA nodes at a useful rate."""
    count = len(machine.gpus)
    board_of = {use.piece: use.board for use in machine.slots_in_use}
    on_board: dict[str, list[NicNode]] = {}
    for nic in machine.nics:
        on_board.setdefault(board_of.get(nic.piece, ""), []).append(nic)
    cells = [
        (gpu, nic_node(nic.index).name, machine.pairs[gpu.index][count + nic.index].letters)
        for gpu in machine.gpus
        for nic in on_board.get(board_of.get(gpu.piece, ""), ())
    ]
    return tuple(DirectPath(gpu.index, device, letter) for gpu, device, letter in cells)


def drive_paths(machine: Machine) -> tuple[DirectPath, ...]:
    """Return GPUDirect Storage paths for every GPU and NVMe drive: PIX or PXB below switches, PHB
    through one CPU (NODE looks alike here), SYS across sockets."""
    tree = only(machine.graph, TREE)
    drives = [
        node
        for drive in machine.storage
        if drive.storage.interface == "nvme" and (node := Node("drive", drive.piece)) in tree
    ]
    found: list[DirectPath] = []
    for gpu in machine.gpus:
        for drive in drives:
            ways = path(tree, gpu_node(gpu.index), drive)
            pair = pair_between(machine.graph, ways) if ways else Pair("sys")
            found.append(DirectPath(gpu.index, drive.name, _drive_letters(pair)))
    return tuple(found)


def _drive_letters(pair: Pair) -> str:
    return "PHB" if pair.path == "node" else pair.letters


def peer_access(
    rig: Rig,
    pieces: Sequence[Piece],
    gpus: Sequence[GpuNode],
    pairs: Pairs,
) -> tuple[tuple[str, ...], ...]:
    """Return the answers of `peers` for GPUs in their places, with the ways between them."""
    boards = [piece.part for piece in pieces if isinstance(piece.part, Motherboard | System)]
    sockets = {socket for board in boards for socket in board.layout.sockets}
    return peers(gpus, pairs, sockets, rig.settings.peer_to_peer_driver)


def peers(
    gpus: Sequence[GpuNode],
    pairs: Pairs,
    sockets: set[str],
    patched: bool,
) -> tuple[tuple[str, ...], ...]:
    """Return per pair OK, GNS (GPU not supported), CNS (chipset not supported), NS (models differ),
    or "" where the GPU's policy is not known. `patched` is a driver that opens PCIe peer access on
    cards where the maker's driver refuses it."""
    asked: dict[tuple[str, str, Pair], str] = {}
    models = [node.gpu.id for node in gpus]

    def cell(a: int, b: int) -> str:
        if a == b:
            return "X"
        if pairs[a][b].linked:
            return "OK"
        key = (models[a], models[b], pairs[a][b])
        if key not in asked:
            asked[key] = _over_pcie(gpus[a].gpu, gpus[b].gpu, key[2], sockets, patched)
        return asked[key]

    every = range(len(gpus))
    return tuple([tuple([cell(a, b) for b in every]) for a in every])


def _over_pcie(a: GPU, b: GPU, pair: Pair, sockets: set[str], patched: bool) -> str:
    policies = {a.p2p, b.p2p}
    if None in policies:
        return ""
    if not patched and policies & {"no", "nvlink-only"}:
        return "GNS" if "no" in policies else "CNS"
    if pair.path == "sys" and sockets & NO_ACROSS:
        return "CNS"
    alike = _of_one_chip(a, b)
    return "NS" if alike is False else "OK" if pair.path and alike else ""


def _of_one_chip(a: GPU, b: GPU) -> bool | None:
    """Say whether GPUs may read each other's memory over PCIe: those of one chip may, also as
    different cards. Measured: RTX PRO 6000 with RTX 5090 and RTX 6000 Ada with RTX 4090 do; RTX
    5070 Ti with RTX 5090, RTX 4060 Ti with RTX 4090 and RTX 4000 SFF Ada with RTX 6000 Ada do not
    (p2pBandwidthLatencyTest; aikitoria/open-gpu-kernel-modules pull 29, issues 13 and 38;
    tinygrad/open-gpu-kernel-modules issue 28)."""
    if a.id == b.id:
        return True
    if a.architecture != b.architecture:
        return False
    return a.chip == b.chip if a.chip and b.chip else None
