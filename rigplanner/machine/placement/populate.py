"""Which piece goes to which board, risers handed to cards, then the solver board by board."""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import (
    GPU,
    Bridge,
    Chassis,
    NetworkCard,
    Riser,
    Storage,
    System,
)
from rigplanner.machine.displays import showing
from rigplanner.machine.model import PlacementProblem
from rigplanner.machine.pieces import Board, Pieces, home_of, in_turn
from rigplanner.machine.placement.adapters import Adapter, fit_adapters, is_extension
from rigplanner.machine.placement.bridging import LooseBridge
from rigplanner.machine.placement.enclosures import docked, enclosed, is_dock, is_enclosure
from rigplanner.machine.placement.lanes import Seating, places_of, seat
from rigplanner.machine.placement.place import Settled, settle
from rigplanner.machine.placement.placeables import Card, Drive, adapter_card, card_of, drive_of
from rigplanner.machine.placement.sockets import Seats
from rigplanner.rig.document import Rig


class Populated(Struct, frozen=True):
    """A board, its seating, and what settled on it."""

    board: Board
    seating: Seating
    cards: tuple[Card, ...]
    drives: tuple[Drive, ...]
    bridges: tuple[LooseBridge, ...]
    settled: Settled


Placeable = TypeVar("Placeable", Card, Drive)


class _Waiting(Struct):
    """What has no board yet: loose pieces, taken by the boards in turn."""

    cards: list[Card]
    drives: list[Drive]
    bridges: list[LooseBridge]
    adapters: list[Adapter]


def populate(rig: Rig, counted: Pieces, boards: tuple[Board, ...], seats: Seats) -> list[Populated]:
    """Settle all pieces. A loose piece goes to the first board that has its wished place, else to
    the first with room; those of equal nodes are shared out among them."""
    by_home, waiting = _sorted_by_home(counted, boards, showing(rig))
    shares = dealt(counted, boards, seats)
    populated: list[Populated] = []
    for board in boards:
        last = board.index == len(boards) - 1
        own = by_home.get(board.name, _Waiting([], [], [], []))
        adapters = own.adapters + (waiting.adapters if board.index == 0 else [])
        waiting, later = _held_back(waiting, shares, board)
        # Adapters first: they make slots and ports that the rest may take.
        board, standing = _with_adapters(board, adapters, own, waiting)
        seating = seat(board.layout, seats.by_board[board.name], rig.settings.bios)
        places = {place.id for place in places_of(board.layout)}
        waiting.cards = _beside_the_board(waiting.cards, standing, rig, counted)
        waiting.cards = _on_switches(waiting.cards, standing)
        slotted, plugged = _adapters_as_cards(standing)
        cards = [*slotted, *own.cards, *_at_home(waiting.cards, places, last)]
        drives = [*own.drives, *_at_home(waiting.drives, places, last)]
        bridges = own.bridges + waiting.bridges
        columns = columns_around(board, counted)
        settled = settle(seating, cards, drives, bridges, plugged, len(boards), columns)
        homeless = [_no_place(adapter) for adapter in adapters if adapter[0] not in standing]
        settled = replace(settled, problems=(*settled.problems, *homeless))
        if not last:
            # What found no place here waits for the next board.
            settled, waiting = _pass_on(settled, waiting, places)
            waiting.cards, waiting.drives = (
                waiting.cards + later.cards,
                waiting.drives + later.drives,
            )
        gone = set() if last else _names(waiting)
        populated.append(
            Populated(
                board,
                seating,
                tuple(c for c in cards if c.name not in gone),
                tuple(d for d in drives if d.name not in gone),
                tuple(b for b in bridges if b.name not in gone),
                settled,
            )
        )
    return populated


def _adapters_as_cards(
    standing: dict[str, tuple[Riser, str]],
) -> tuple[list[Card], dict[str, str]]:
    """Adapters that take a slot like a card, and the places of those that take a port."""
    slotted = [
        adapter_card(name, riser, place)
        for name, (riser, place) in standing.items()
        if riser.slot_kind == "pcie"
    ]
    plugged = {
        name: place for name, (riser, place) in standing.items() if riser.slot_kind != "pcie"
    }
    return slotted, plugged


def _at_home(pieces: list[Placeable], places: set[str], last: bool) -> list[Placeable]:
    """Those that wish for nothing or for a place of this board; on the last board all."""
    return [each for each in pieces if not each.wish or each.wish in places or last]


def _held_back(
    waiting: _Waiting, shares: dict[str, int], board: Board
) -> tuple[_Waiting, _Waiting]:
    """Return what this board is offered, and the cards and drives that a later one is offered
    first."""
    now, later = _Waiting([], [], waiting.bridges, waiting.adapters), _Waiting([], [], [], [])
    for card in waiting.cards:
        (later if shares.get(card.name, 0) > board.index else now).cards.append(card)
    for drive in waiting.drives:
        (later if shares.get(drive.name, 0) > board.index else now).drives.append(drive)
    return now, later


def columns_around(board: Board, counted: Pieces) -> int | None:
    """Return the expansion columns of the case around a board: its own, or those of the only case;
    None where not known."""
    if isinstance(board.part, System):
        return board.part.enclosure.slot_columns if board.part.enclosure is not None else None
    cases = [piece.part for piece in counted.pieces if isinstance(piece.part, Chassis)]
    return cases[0].enclosure.slot_columns if len(cases) == 1 else None


def _names(waiting: _Waiting) -> set[str]:
    return (
        {c.name for c in waiting.cards}
        | {d.name for d in waiting.drives}
        | {b.name for b in waiting.bridges}
    )


def dealt(counted: Pieces, boards: tuple[Board, ...], seats: Seats) -> dict[str, int]:
    """Return the first board that is offered each loose card and drive where a rig is several equal
    nodes, each with a CPU, and an item's number divides by theirs: the first share goes to the
    first node. Risers tie cards to places: with any, nothing is shared out."""
    nodes = [board for board in boards if any(seats.by_board[board.name])]
    loose = [piece for piece in in_turn(counted.pieces) if home_of(piece.name, boards) is None]
    if (
        len(nodes) < 2
        or len({board.part.id for board in boards}) > 1
        or any(isinstance(piece.part, Riser) for piece in loose)
    ):
        return {}
    items: dict[str, list[str]] = {}
    for piece in loose:
        if isinstance(piece.part, GPU | NetworkCard | Storage):
            items.setdefault(piece.uid, []).append(piece.name)
    shared = [names for names in items.values() if len(names) % len(nodes) == 0]
    return {
        name: nodes[index * len(nodes) // len(names)].index
        for names in shared
        for index, name in enumerate(names)
    }


def _sorted_by_home(
    counted: Pieces, boards: tuple[Board, ...], showing: frozenset[str]
) -> tuple[dict[str, _Waiting], _Waiting]:
    homes: dict[str, _Waiting] = {}
    loose = _Waiting([], [], [], [])
    risers: list[Adapter] = []
    for piece in in_turn(counted.pieces):
        if not isinstance(piece.part, Riser | Bridge | GPU | NetworkCard | Storage):
            continue
        home = home_of(piece.name, boards)
        group = loose if home is None else homes.setdefault(home.name, _Waiting([], [], [], []))
        wish = counted.wishes[piece.name]
        if isinstance(piece.part, Riser):
            (risers if is_extension(piece.part) else group.adapters).append(
                (piece.name, piece.part, wish)
            )
        elif isinstance(piece.part, Bridge):
            group.bridges.append(LooseBridge(piece.name, piece.part, wish))
        elif (card := card_of(piece.name, piece.part, wish)) is not None:
            group.cards.append(replace(card, shows=True) if piece.uid in showing else card)
        elif (drive := drive_of(piece.name, piece.part, wish)) is not None:
            group.drives.append(drive)
    loose.cards = with_risers(
        loose.cards, risers, {name for bridge in loose.bridges for name in bridge.wanted()}
    )
    return homes, loose


def _with_adapters(
    board: Board, adapters: list[Adapter], own: _Waiting, waiting: _Waiting
) -> tuple[Board, dict[str, tuple[Riser, str]]]:
    """Return the board with the places that its adapters add, and where each adapter stands."""
    if not adapters:
        return board, {}
    reserved = {card.wish for card in (*own.cards, *waiting.cards)} | {
        drive.wish for drive in (*own.drives, *waiting.drives)
    }
    layout, standing = fit_adapters(board.layout, adapters, reserved)
    risers = {name: riser for name, riser, _ in adapters}
    return Board(board.index, board.name, replace(board.part, layout=layout)), {
        n: (risers[n], p) for n, p in standing.items()
    }


def _beside_the_board(
    cards: list[Card], standing: dict[str, tuple[Riser, str]], rig: Rig, counted: Pieces
) -> list[Card]:
    """Return the cards, those that enclosures and docks are for with the place there as their
    wish."""
    inside = enclosed(rig, counted.pieces)
    for names, fits in ((inside, is_enclosure), (docked(rig, counted.pieces, inside), is_dock)):
        places = [
            f"{place}/{n + 1}"
            for riser, place in standing.values()
            if fits(riser)
            for n in range(riser.outputs)
        ]
        free = [place for place in places if all(card.wish != place for card in cards)]
        loose = [card.name for card in cards if card.name in names and not card.wish]
        to = dict(zip(loose, free, strict=False))
        cards = [replace(card, wish=to[card.name]) if card.name in to else card for card in cards]
    return cards


def _on_switches(cards: list[Card], standing: dict[str, tuple[Riser, str]]) -> list[Card]:
    """Return the cards, alike GPUs shared out evenly over the switches that the owner put in, as an
    integrator would: with a place there as their wish."""
    switches = [(riser, place) for riser, place in standing.values() if riser.switch is not None]
    loose = [card for card in cards if card.is_gpu and not card.wish and card.kind == "pcie"]
    if not switches or len({(card.width, card.gen, card.columns) for card in loose}) != 1:
        return cards
    wished = {card.wish for card in cards}
    seats = [
        [seat for n in range(riser.outputs) if (seat := f"{place}/{n + 1}") not in wished]
        for riser, place in sorted(switches, key=lambda switch: switch[1])
    ]
    seats = seats[: len(loose)]
    order = [group[n] for n in range(max(map(len, seats))) for group in seats if n < len(group)]
    share = sorted(order[: len(loose)], key=lambda seat: (seat.rpartition("/")[0], seat))
    to = dict(zip((card.name for card in loose if card.riser is None), share, strict=False))
    return [replace(card, wish=to[card.name]) if card.name in to else card for card in cards]


def _no_place(adapter: Adapter) -> PlacementProblem:
    name, riser, wish = adapter
    kind = "slot" if riser.slot_kind == "pcie" else "port"
    return PlacementProblem(
        piece=name,
        reason=f"{kind}-missing" if wish else f"no-{kind}",
        place=wish or None,
        needed=riser.slot_kind,
    )


def with_risers(cards: list[Card], risers: list[Adapter], bridged: set[str]) -> list[Card]:
    """Return the cards with risers handed out: to the card with the same wished slot, else to the
    last GPU without a bridge, thickest first, and those that name their slot only after the others.
    The riser's width and generation cap the card's link."""
    led: dict[str, tuple[str, Riser]] = {}
    for name, riser, wish in risers:
        free = [card for card in cards if card.kind == "pcie" and card.name not in led]
        same = [card for card in free if wish and card.wish == wish]
        others = [card for card in free if card.is_gpu and not (wish and card.wish)]
        others.sort(key=lambda card: (not card.wish, card.name not in bridged, card.columns))
        chosen = same[:1] or ([] if wish and _is_wished(cards, wish) else others[-1:])
        for card in chosen:
            led[card.name] = (name, riser)
            if wish and not card.wish:
                cards = [
                    replace(other, wish=wish) if other.name == card.name else other
                    for other in cards
                ]
    return [_led(card, *led[card.name]) if card.name in led else card for card in cards]


def _is_wished(cards: list[Card], place: str) -> bool:
    return any(card.wish == place for card in cards)


def _led(card: Card, name: str, riser: Riser) -> Card:
    width = card.width if riser.width is None else min(riser.width, card.width or riser.width)
    gen = card.gen if riser.gen is None else min(riser.gen, card.gen or riser.gen)
    return replace(card, width=width, gen=gen, columns=1, riser=name)


def _pass_on(settled: Settled, waiting: _Waiting, places: set[str]) -> tuple[Settled, _Waiting]:
    """Return the board without the problems of loose pieces that the next board may take, and those
    pieces."""
    loose = {c.name for c in waiting.cards if not c.wish} | {
        d.name for d in waiting.drives if not d.wish
    }
    loose |= {bridge.name for bridge in waiting.bridges}
    leaving = {problem.piece for problem in settled.problems} & loose
    problems: tuple[PlacementProblem, ...] = tuple(
        p for p in settled.problems if p.piece not in leaving
    )
    rest = _Waiting(
        [c for c in waiting.cards if c.name in leaving or (c.wish and c.wish not in places)],
        [d for d in waiting.drives if d.name in leaving or (d.wish and d.wish not in places)],
        [b for b in waiting.bridges if b.name in leaving],
        [],
    )
    return Settled(settled.standing, settled.bridges, problems, settled.proven), rest
