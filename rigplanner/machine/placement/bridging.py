"""NVLink bridges: which cards a bridge can join where they stand."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, pairwise

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Bridge, Slot
from rigplanner.machine.model import PlacementProblem
from rigplanner.machine.placement.placeables import Card

MOST_CARDS = 16
"""Cards among which every group is tried for a bridge; racks have more, but no bridges."""


class LooseBridge(Struct, frozen=True):
    """A bridge that wants cards; `wish` names the pieces, "gpu.0+gpu.1", or is ""."""

    name: str
    part: Bridge
    wish: str = ""

    def wanted(self) -> tuple[str, ...]:
        """Return the wished pieces."""
        return tuple(word.strip() for word in self.wish.split("+") if word.strip())


def fits_connector(bridge: Bridge, gpu: GPU) -> bool | None:
    """Say whether a bridge fits a card: by a test of this very pair, else by connector and
    generation; None when unknown."""
    verdict = bridge.proven_with.get(gpu.id)
    if verdict is not None:
        return verdict != "no"
    if gpu.nvlink is None or gpu.nvlink.connector is None:
        return False if gpu.has_nvlink is False else None
    return gpu.nvlink.connector == bridge.connector and gpu.nvlink.generation == bridge.generation


def distance(a: Slot | None, b: Slot | None) -> int | None:
    """Return how many expansion slots lie between two cards' slots (1 = next to each other), None
    where unknown."""
    if a is None or b is None or a.position is None or b.position is None:
        return None
    return abs(a.position - b.position)


def bridged(
    bridges: list[LooseBridge], cards: dict[str, Card], slots: dict[str, Slot]
) -> dict[str, tuple[str, ...]]:
    """Return the cards that each bridge joins. `slots` gives the slot of each card; wished groups
    come first, then the cards are joined in the order of their slots; a group carries as many
    bridges as the bridge's `per_pair`."""
    joined: dict[str, tuple[str, ...]] = {}
    load: dict[tuple[str, ...], int] = {}
    for bridge in sorted(bridges, key=lambda bridge: not bridge.wish):
        group = _group_for(bridge, cards, slots, load)
        if group:
            joined[bridge.name] = group
            load[group] = load.get(group, 0) + 1
    return joined


def _group_for(
    bridge: LooseBridge,
    cards: dict[str, Card],
    slots: dict[str, Slot],
    load: dict[tuple[str, ...], int],
) -> tuple[str, ...] | None:
    standing = [
        name
        for name in slots
        if name in cards and cards[name].is_gpu and cards[name].kind == "pcie"
    ]
    standing.sort(key=lambda name: (slots[name].position or 0, slots[name].id))
    groups = [bridge.wanted()] if bridge.wish else _groups(standing, bridge.part.gpus)
    for group in sorted(groups, key=lambda group: -load.get(group, 0)):
        taken = any(set(group) & set(other) for other in load if other != group)
        if (
            not taken
            and load.get(group, 0) < bridge.part.per_pair
            and _reason(bridge, group, cards, slots) is None
        ):
            return group
    return None


def _groups(names: list[str], size: int) -> list[tuple[str, ...]]:
    """Return all groups of cards, or where these are very many only neighbours."""
    if len(names) <= MOST_CARDS:
        return list(combinations(names, size))
    return [tuple(names[start : start + size]) for start in range(len(names) - size + 1)]


def _reason(
    bridge: LooseBridge, group: tuple[str, ...], cards: dict[str, Card], slots: dict[str, Slot]
) -> tuple[str, float | str | None, float | str | None] | None:
    """Return why a bridge cannot join a group, with needed and actual, or None when it can."""
    if len(set(group)) != bridge.part.gpus or not all(
        name in slots and name in cards and cards[name].is_gpu for name in group
    ):
        return "bridge-pair", bridge.part.gpus, len(set(group))
    gpus = [card.part for card in (cards[name] for name in group) if isinstance(card.part, GPU)]
    if any(fits_connector(bridge.part, gpu) is False or gpu.form_factor != "pcie" for gpu in gpus):
        port = gpus[0].nvlink
        return "bridge-connector", port.connector if port else None, bridge.part.connector
    if len({gpu.id for gpu in gpus}) > 1:
        return "bridge-identical", gpus[0].id, next(gpu.id for gpu in gpus if gpu.id != gpus[0].id)
    ordered = sorted(group, key=lambda name: slots[name].position or 0)
    for first, second in pairwise(ordered):
        apart = distance(slots[first], slots[second])
        if (
            bridge.part.spacing_slots is not None
            and apart is not None
            and apart != bridge.part.spacing_slots
        ):
            return "bridge-spacing", bridge.part.spacing_slots, apart
    return None


def may_join(bridge: LooseBridge, cards: Iterable[Card]) -> bool:
    """Say whether a bridge could join cards wherever they stood: as many of one model as it joins,
    with its connector."""
    gpus = [card.part for card in cards if card.kind == "pcie" and isinstance(card.part, GPU)]
    fitting = Counter(gpu.id for gpu in gpus if fits_connector(bridge.part, gpu) is not False)
    return max(fitting.values(), default=0) >= bridge.part.gpus


def most_bridges(bridges: list[LooseBridge], slots: Iterable[Slot]) -> int:
    """Return how many bridges the board's slots could take at most, by their distances."""
    positions = [slot.position for slot in slots if slot.kind == "pcie"]
    by_part: dict[str, list[LooseBridge]] = {}
    for bridge in bridges:
        by_part.setdefault(bridge.part.id, []).append(bridge)
    total = 0
    for group in by_part.values():
        part = group[0].part
        pairs = [(a, b) for a, b in combinations(positions, 2) if _reaches(part, a, b)]
        total += min(len(group), part.per_pair * min(len(pairs), len(positions) // 2))
    return total


def _reaches(part: Bridge, a: int | None, b: int | None) -> bool:
    return part.spacing_slots is None or a is None or b is None or abs(a - b) == part.spacing_slots


def bridge_problem(
    bridge: LooseBridge,
    cards: dict[str, Card],
    slots: dict[str, Slot],
    joined: dict[str, tuple[str, ...]],
) -> PlacementProblem:
    """Return why a bridge joins nothing: the reason of the group that comes nearest to working,
    pairs already joined aside."""
    nearness = ("bridge-pair", "bridge-connector", "bridge-identical", "bridge-spacing")
    busy = {name for group in joined.values() for name in group}
    gpus = [name for name in slots if name in cards and cards[name].is_gpu and name not in busy]
    groups = [bridge.wanted()] if bridge.wish else _groups(gpus, bridge.part.gpus)
    refusals = [
        (found, group)
        for group in groups
        if (found := _reason(bridge, group, cards, slots)) is not None
    ]
    if not refusals:
        needed = bridge.part.gpus
        return PlacementProblem(
            piece=bridge.name,
            reason="bridge-pair",
            place=bridge.wish or None,
            by=tuple(gpus),
            needed=needed,
            actual=len(gpus),
        )
    (reason, needed_, actual), group = max(
        refusals, key=lambda refusal: nearness.index(refusal[0][0])
    )
    return PlacementProblem(
        piece=bridge.name,
        reason=reason,
        place=bridge.wish or None,
        by=group,
        needed=needed_,
        actual=actual,
    )
