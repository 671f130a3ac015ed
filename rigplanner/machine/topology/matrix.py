"""The letters of `nvidia-smi topo -m`: a label names the worst segment of the path between two
devices."""

from msgspec import Struct

from rigplanner.machine.placement.locate import Location


class Device(Struct, frozen=True):
    """A GPU or network port in the matrix: its node, where it hangs, and the piece it belongs
    to."""

    node: str
    piece: str
    location: Location


def letters(a: Location, b: Location) -> str:
    """Return PIX, PXB, PHB, NODE or SYS for two places in the PCIe tree, "" where it is not known
    and between boards, which only a network joins.

    PIX: through one switch; PXB: through several, without the host bridge; PHB: within one host
    bridge; NODE: between host bridges of one NUMA node; SYS: between NUMA nodes (nvidia-smi's own
    legend)."""
    common = next((switch for switch in a.chain if switch in b.chain), None)
    if common is not None:
        between = a.chain.index(common) + b.chain.index(common) + 1
        return "PIX" if between == 1 else "PXB"
    if a.numa is None or b.numa is None or a.board != b.board:
        return ""
    if a.numa != b.numa:
        return "SYS"
    return "PHB" if a.bridge == b.bridge else "NODE"


def matrix(devices: list[Device], links: dict[tuple[str, str], str]) -> tuple[tuple[str, ...], ...]:
    """Return the full matrix. `links` labels the pairs that NVLink or xGMI joins, in one order or
    the other. Between boards only such links are looked at."""
    boards: dict[int, list[int]] = {}
    for index, device in enumerate(devices):
        boards.setdefault(device.location.board, []).append(index)
    where = {device.node: index for index, device in enumerate(devices)}
    rows = [[""] * len(devices) for _ in devices]
    for (one, other), label in links.items():
        if one in where and other in where:
            rows[where[one]][where[other]] = rows[where[other]][where[one]] = label
    for members in boards.values():
        for n, a in enumerate(members):
            for b in members[: n + 1]:
                rows[a][b] = rows[b][a] = _cell(devices[a], devices[b], links)
    return tuple(map(tuple, rows))


def _cell(a: Device, b: Device, links: dict[tuple[str, str], str]) -> str:
    if a.node == b.node:
        return "X"
    label = links.get((a.node, b.node)) or links.get((b.node, a.node))
    if label:
        return label
    if a.piece == b.piece and a.location.chain == b.location.chain:
        return "PIX"
    return letters(a.location, b.location)
