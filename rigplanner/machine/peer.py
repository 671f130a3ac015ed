"""Peer-to-peer access between GPUs, in the words of `nvidia-smi topo -p2p`."""

from rigplanner.machine.machine import GpuNode

NO_ACROSS = frozenset(("LGA1366", "LGA2011", "LGA2011-3"))
"""Intel sockets whose link between CPUs carries no peer-to-peer traffic: the driver reports CNS there."""


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
