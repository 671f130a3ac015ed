"""Power connectors: how many of each type the pieces need, and how many the supplies give."""

from collections import Counter, defaultdict

from rigplanner.catalog.schema.parts import GPU, Motherboard, Riser, Supply, System
from rigplanner.machine.model import Piece, PlugDemand


def plug_demands(pieces: tuple[Piece, ...], supplies: list[Supply]) -> tuple[PlugDemand, ...]:
    """Return the demand by type; pieces built into a system are cabled by its maker and ask for
    none. `offered` counts plugs of exactly that type and is None where a supply's cables are not
    known."""
    needed: Counter[str] = Counter()
    users: defaultdict[str, list[str]] = defaultdict(list)
    for piece in pieces:
        if isinstance(piece.part, POWERED) and "/" not in piece.name:
            for kind, count in _sockets(piece.part).items():
                needed[kind] += count
                users[kind].append(piece.name)
    known = bool(supplies) and all(supply.plugs is not None for supply in supplies)
    have: Counter[str] = Counter()
    for supply in supplies:
        for plug in supply.plugs or ():
            have[plug.type] += plug.count
    return tuple(
        PlugDemand(kind, count, have[kind] if known else None, tuple(users[kind]))
        for kind, count in sorted(needed.items())
    )


POWERED = (GPU, Riser, Motherboard, System)


def _sockets(part: GPU | Riser | Motherboard | System) -> Counter[str]:
    """Return the power sockets of a part by type."""
    found: Counter[str] = Counter()
    if isinstance(part, GPU | Riser):
        for plug in part.connectors or ():
            found[plug.type] += plug.count
    elif isinstance(part, Motherboard) or part.supply is None:
        found["eps8"] += part.layout.eps8 or 0
        found["eps4"] += part.layout.eps4 or 0
    return +found
