"""Peer-to-peer access between GPUs, in the words of `nvidia-smi topo -p2p`."""

from msgspec import Struct

from rigplanner.machine.machine import GpuNode, Machine

NO_ACROSS = frozenset(("LGA1366", "LGA2011", "LGA2011-3"))
"""Intel sockets whose link between CPUs carries no peer-to-peer traffic: the driver reports CNS there."""


class DirectPath(Struct, frozen=True):
    """The way from a GPU to a network port or drive without a copy through host memory: `letter` as in the matrix; `possible` is
    None where the GPU's policy or the path is not known."""

    gpu: int
    device: str
    letter: str
    possible: bool | None


def direct_paths(machine: Machine) -> tuple[DirectPath, ...]:
    """Return GPUDirect RDMA paths for every GPU and network port of the matrix. The driver offers them on cards with peer access;
    they pay below one switch (PIX, PXB), work over a host bridge, and do not cross NUMA nodes at a useful rate."""
    count = len(machine.gpus)
    found: list[DirectPath] = []
    for gpu in machine.gpus:
        for nic in machine.nics:
            letter = machine.matrix[gpu.index][count + nic.index]
            policy = {"yes": True, "no": False, "nvlink-only": False}.get(gpu.gpu.p2p or "")
            possible = None if policy is None or not letter else policy and letter != "SYS"
            found.append(DirectPath(gpu.index, f"nic{nic.index}", letter, possible))
    return tuple(found)


def peers(
    gpus: list[GpuNode], cells: tuple[tuple[str, ...], ...], linked: set[tuple[int, int]], sockets: set[str], patched: bool
) -> tuple[tuple[str, ...], ...]:
    """Return per pair OK, GNS (GPU not supported), CNS (chipset not supported), NS (models differ), or "" where the GPU's policy
    is not known. `patched` is a driver that opens PCIe peer access on cards where the maker's driver refuses it."""
    return tuple(tuple(_cell(a, b, cells[a.index][b.index], linked, sockets, patched) for b in gpus) for a in gpus)


def _cell(a: GpuNode, b: GpuNode, letter: str, linked: set[tuple[int, int]], sockets: set[str], patched: bool) -> str:
    if a.index == b.index:
        return "X"
    if (a.index, b.index) in linked or (b.index, a.index) in linked:
        return "OK"
    policies = {a.gpu.p2p, b.gpu.p2p}
    if None in policies:
        return ""
    if not patched and policies & {"no", "nvlink-only"}:
        return "GNS" if "no" in policies else "CNS"
    if letter == "SYS" and sockets & NO_ACROSS:
        return "CNS"
    if a.gpu.architecture != b.gpu.architecture:
        return "NS"
    return "OK" if letter else ""
