"""What parts of a class cannot leave: the heat that coolers move, the room for cards, the columns
of slots, the plugs of supplies. Bounds, not estimates: whoever knows the figure is asked only
where they do not decide.

The figures are the extremes over the parts of the shipped catalog whose makers publish them, wider
where the class is known to vary more (unverified beyond the catalog)."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import (
    GPU,
    Cooler,
    Enclosure,
    Motherboard,
    PowerSupply,
    Slot,
    Supply,
    System,
    board_class,
)

Range = tuple[float, float]
"""The worst and the best, in the unit of the fact."""

STANDARD_HEIGHT_MM = 112.0
"""Height of a standard full-height card, 4.376 inches by the PCI Express Card Electromechanical
specification; makers round it to 4.4 inches or 112 mm."""
HIGHEST_CARD_MM = ((250.0, 130.0), (305.0, 142.0), (320.0, 145.0), (1e9, 150.0))
"""Height of the highest air-cooled cards of makers of cards up to this length in mm, and of any
where the length is not known; cards of the chip's maker with fans are up to 142 mm high."""

HEAT_BY_RADIATOR_W: tuple[tuple[int, Range], ...] = (
    (140, (140.0, 280.0)),
    (240, (210.0, 350.0)),
    (280, (240.0, 400.0)),
    (360, (280.0, 500.0)),
    (1000, (300.0, 600.0)),
)
"""Radiators up to this length in mm move so much heat."""
HEAT_BY_HEIGHT_W: tuple[tuple[float, Range], ...] = (
    (40.0, (65.0, 130.0)),
    (60.0, (65.0, 225.0)),
    (80.0, (95.0, 360.0)),
    (115.0, (95.0, 250.0)),
    (140.0, (120.0, 400.0)),
    (159.9, (150.0, 450.0)),
    (1000.0, (180.0, 500.0)),
)
"""Air coolers up to this height in mm move so much heat."""
LARGE_SOCKETS: dict[str, tuple[float, float, float]] = {
    **dict.fromkeys(("TR4", "sTRX4", "sWRX8", "SP3"), (180.0, 225.0, 280.0)),
    **dict.fromkeys(("sTR5", "SP6", "SP5"), (225.0, 280.0, 350.0)),
    **dict.fromkeys(("LGA3647", "LGA4189", "LGA4677", "LGA4710", "LGA7529"), (165.0, 205.0, 270.0)),
}
"""What a cooler that is made for sockets of workstations and servers alone moves at least: low
ones, towers of racks (UPRIGHT_COOLER_MM), and tall ones (TALL_MM) or liquid ones of two fans: what
the CPUs need for which the lists of Noctua and Supermicro name such coolers (recalled,
unverified)."""
UPRIGHT_COOLER_MM, TALL_MM = 120.0, 164.0
TWO_FANS_MM = 240


def cooler_heat_w(cooler: Cooler) -> Range | None:
    """Return the least and the most heat that a cooler of its kind and size moves, in W."""
    if cooler.type == "liquid":
        size = cooler.radiator_mm
        if size is None:
            return None
        least, most = next(heat for limit, heat in HEAT_BY_RADIATOR_W if size <= limit)
        made_for = _least_for_sockets(cooler, 2) if size >= TWO_FANS_MM else 0.0
        return max(least, made_for), max(most, made_for)
    height = cooler.height_mm
    if height is None or cooler.type == "passive":
        return None
    least, most = next(heat for limit, heat in HEAT_BY_HEIGHT_W if height <= limit)
    size = (height >= UPRIGHT_COOLER_MM) + (height >= TALL_MM)
    least = max(least, _least_for_sockets(cooler, size))
    # Low ones for sockets of servers stand in the wind of a rack and move what tall ones do.
    return least, max(least, most, _least_for_sockets(cooler, 2))


def _least_for_sockets(cooler: Cooler, size: int) -> float:
    """Return what a cooler moves at least that is made for sockets of workstations and servers
    alone, 0 for others."""
    large = [LARGE_SOCKETS.get(socket) for socket in cooler.sockets]
    return min((heat[size] for heat in large if heat), default=0.0) if None not in large else 0.0


COOLER_OVER_CARD_MM = 5.0
"""How much less room a card has than a CPU cooler: the cooler stands on the socket and the CPU,
about 8 mm above the board, the card's height counts from its edge, 13 mm above the board's face
less what goes into the connector. Makers that publish both differ by -7 to +12 mm."""
UPRIGHT_MM = 125.0
"""Cases with less room for a cooler hold their cards elsewhere: flat, or behind the board."""
HEIGHT_BY_UNITS_MM: dict[float, Range] = {4.0: (120.0, 165.0), 5.0: (165.0, 200.0)}
"""Room for the height of a card in rack cases by units (44.45 mm each)."""


def card_room_mm(space: Enclosure) -> Range | None:
    """Return the least and most height of a card that a case takes, in mm, of its room for a
    cooler or its rack units."""
    if space.gpu_height_mm is not None:
        return space.gpu_height_mm, space.gpu_height_mm
    by_units = HEIGHT_BY_UNITS_MM.get(space.rack_units or 0.0)
    if by_units is not None:
        return by_units
    if space.cooler_height_mm is not None and space.cooler_height_mm >= UPRIGHT_MM:
        room = space.cooler_height_mm - COOLER_OVER_CARD_MM
        return room - 7.0, room + 12.0
    return None


def card_height_mm(card: GPU) -> Range:
    """Return the highest and lowest that a card of this kind is, in mm."""
    if card.height_mm is not None:
        return card.height_mm, card.height_mm
    plain = card.cooling in ("passive", "blower") and card.vendor == card.chip_maker
    length = HIGHEST_CARD_MM[-1][0]
    if card.length_mm is not None and card.cooling != "liquid":
        length = card.length_mm
    highest = next(height for most, height in HIGHEST_CARD_MM if length <= most)
    return (STANDARD_HEIGHT_MM if plain else highest), 69.0


COLUMNS: dict[str, int] = {
    "mini-itx": 1,
    "mini-dtx": 2,
    "micro-atx": 4,
    "atx": 7,
    "ssi-ceb": 7,
    "ssi-eeb": 8,
    "e-atx": 8,
    "xl-atx": 10,
}
"""Expansion columns of boards by their label (ATX and SSI specifications; E-ATX and XL-ATX are
labels without a specification)."""
FIRST_COLUMN = 3
"""The first slot of a desktop board is not farther from the CPU than this column: connectors of
M.2 or a short slot take one or two before it."""
SERIES = re.compile(r"[_ ]?\d+$")


def slot_columns(board: Motherboard | System, slot: Slot) -> tuple[int, int] | None:
    """Return the nearest and farthest column from the CPU that a slot can have: slots whose names
    differ in their number alone stand in that order, one column apart at least, on a board of so
    many columns."""
    if slot.position is not None:
        return slot.position, slot.position
    label = board.form_factor if isinstance(board, Motherboard) else None
    count = COLUMNS.get((label or "").casefold())
    series = _series(board, slot)
    if count is None or len(series) > count or slot not in series:
        return None
    known = [each.position for each in series if each.position is not None]
    desktop = board_class(board.layout, label) in ("board", "board-small")
    if len(known) > 1:
        return _between_known(series if known[0] < known[-1] else series[::-1], slot, count)
    low, high = _between_known(series, slot, count)
    counted = _stem(slot) == "SLOT" and not board.layout.remote_management
    if desktop or known or counted or "X16" in slot.id.upper():
        wide = next((each for each in board.layout.slots if each.mechanical == 16), None)
        return low, max(low, min(high, FIRST_COLUMN)) if slot is wide else high
    other = _between_known(series[::-1], slot, count)
    return min(low, other[0]), max(high, other[1])


def _stem(slot: Slot) -> str:
    """Return a slot's name without its number: slots of boards for the desk whose names no manual
    was read for are called SLOT1 and so on from the CPU."""
    return SERIES.sub("", slot.id)


def _series(board: Motherboard | System, slot: Slot) -> list[Slot]:
    """Return the slots that are counted like one, by their numbers; where names tell widths
    ("PCIEX16", "PCIEX4"), the long ones in the order of the layout."""
    stem = _stem(slot)
    every = [each for each in board.layout.slots if each.kind == "pcie"]
    alike = [each for each in every if _stem(each) == stem]
    if stem.endswith("X"):
        return [each for each in alike if each.mechanical == 16]
    return sorted(alike, key=lambda each: int("0" + each.id[len(stem) :].strip("_ ")))


def _between_known(slots: Sequence[Slot], slot: Slot, count: int) -> tuple[int, int]:
    index = slots.index(slot)
    low, high = index + 1, count - (len(slots) - 1 - index)
    for other, each in enumerate(slots):
        if each.position is None:
            continue
        if other < index:
            low = max(low, each.position + index - other)
        else:
            high = min(high, each.position - (other - index))
    return low, max(low, high)


def distance(board: Motherboard | System, slot: Slot, other: Slot) -> tuple[int, int] | None:
    """Return the least and most columns between two slots of which at least one is not known."""
    first, second = slot_columns(board, slot), slot_columns(board, other)
    if first is None or second is None:
        return None
    series = _series(board, slot)
    apart = abs(series.index(other) - series.index(slot)) if other in series else 1
    ends = (second[0] - first[1], first[0] - second[1])
    return max(apart, *ends), max(apart, second[1] - first[0], first[1] - second[0])


WATT_BANDS = (549.0, 749.0, 849.0, 999.0, 1199.0, 1499.0, 1e9)
"""Supplies up to these watts are a class, of ATX 2 and of ATX 3 apart."""
COUNTED_PLUGS = ("eps8", "pcie8", "12v-2x6")


Plugs = dict[str, int]
"""Plugs by type."""


USUAL_SETS = 3
"""So many known lists of a maker's supplies of a class tell what his others of it have at least."""


@cache
def _leanest() -> dict[tuple[str, bool, float], tuple[Plugs, ...]]:
    """Return, by maker ("" for all), standard and watts, the plugs of those supplies of the shipped
    catalog than which none has fewer of every type, of those whose standard and cables are known; a
    class has no more than the next stronger one. A maker of few known lists has none of his own."""
    lists: dict[tuple[str, bool, float], list[Plugs]] = {}
    for part in shipped_catalog().of_kind("psu"):
        if not isinstance(part, PowerSupply) or _is_other(part) or not part.supply.standard:
            continue
        have: Counter[str] = Counter()
        for plug in part.supply.plugs or ():
            have["12v-2x6" if plug.type == "12vhpwr" else plug.type] += plug.count
        for band in WATT_BANDS:
            if have and band <= _band(part.supply):
                counted = {kind: have[kind] for kind in COUNTED_PLUGS}
                for maker in ("", part.vendor):
                    lists.setdefault((maker, _is_modern(part.supply), band), []).append(counted)
    return {
        key: _fewer_of_none(found)
        for key, found in lists.items()
        if not key[0] or len(found) >= USUAL_SETS
    }


def _fewer_of_none(found: list[Plugs]) -> tuple[Plugs, ...]:
    """Return the lists of plugs than which no other is shorter in every type."""
    unlike = [plugs for n, plugs in enumerate(found) if plugs not in found[:n]]
    return tuple(
        plugs
        for plugs in unlike
        if not any(
            other is not plugs and all(other[kind] <= plugs[kind] for kind in COUNTED_PLUGS)
            for other in unlike
        )
    )


def lean_plugs(part: PowerSupply | System, supply: Supply) -> tuple[Plugs, ...]:
    """Return the lists of plugs of which a supply of its maker, watts and standard has one at
    least: of both standards where it names none, of all makers where few lists of its own are
    known. A system has 8-pin plugs for the watts that its maker leaves
    to cards."""
    watts = _watts(supply)
    if isinstance(part, System):
        return ({"pcie8": max(0, int((watts - SYSTEM_ALONE_W) // WATTS_OF_EIGHT))},)
    if not watts or _is_other(part):
        return ({},)
    band, sets = _band(supply), _leanest()
    rows = [
        sets.get((part.vendor, modern, band)) or sets.get(("", modern, band), ())
        for modern in _standards(part, supply)
    ]
    return _fewer_of_none([plugs for row in rows for plugs in row]) or ({},)


FIRST_OF_ATX_3 = "2022"
"""The year of Intel's ATX 3.0 design guide."""


def _standards(part: PowerSupply | System, supply: Supply) -> tuple[bool, ...]:
    """Return whether a supply may be of ATX 3: both where it names no standard and its year none
    either."""
    if supply.standard:
        return (_is_modern(supply),)
    return (False,) if part.released and part.released[:4] < FIRST_OF_ATX_3 else (False, True)


def _is_other(part: PowerSupply) -> bool:
    return (part.form_factor or "") in ("CRPS", "brick")


def _is_modern(supply: Supply) -> bool:
    return (supply.standard or "").startswith("ATX 3")


def _watts(supply: Supply) -> float:
    return max((rating.watts for rating in supply.ratings), default=0.0)


def _band(supply: Supply) -> float:
    return next(most for most in WATT_BANDS if _watts(supply) <= most)


WATTS_PER_EIGHT = 100.0
"""No supply of the catalog has more 8-pin plugs than one for so many watts."""
WATTS_PER_SIXTEEN = 350.0


SYSTEM_ALONE_W = 350.0
"""What CPU, board and drives of a workstation take of its supply; the rest is for cards."""
WATTS_OF_EIGHT = 150.0


def plugs(part: PowerSupply | System, supply: Supply) -> tuple[dict[str, int], dict[str, int]]:
    """Return the fewest and the most plugs by type that a supply of its watts and standard has. A
    system has 8-pin plugs for the watts that its maker leaves to cards."""
    watts = _watts(supply)
    may_sixteen = supply.standard is None or supply.standard >= "ATX 2.5"
    most = {
        "eps8": 3,
        "pcie8": int(watts // WATTS_PER_EIGHT) + 1,
        "pcie6": 6,
        "eps4": 1,
        "12v-2x6": int(watts // WATTS_PER_SIXTEEN) + 1 if may_sixteen else 0,
    }
    lean = lean_plugs(part, supply)
    return {kind: min(list_.get(kind, 0) for list_ in lean) for kind in lean[0]}, most


SUPPLY_LENGTH_MM: tuple[tuple[float, Range], ...] = (
    (650.0, (180.0, 120.0)),
    (850.0, (195.0, 120.0)),
    (1300.0, (220.0, 125.0)),
    (1e9, (230.0, 150.0)),
)
"""The longest and shortest ATX supplies up to these watts."""
SUPPLY_ROOM_MM: tuple[tuple[float, int, Range], ...] = (
    (0.0, 9, (220.0, 400.0)),
    (400.0, 8, (190.0, 400.0)),
    (0.0, 7, (180.0, 400.0)),
)
"""Least and most room for the length of a supply in towers that take cards of this length in mm and
have so many columns: every one takes the 180 mm of common supplies, larger ones more."""
OPEN_ROOM_MM = 400.0
"""Nothing stands behind the supply of an open frame."""
TOWER_CARD_MM = 300.0
"""Cases that take cards so long are towers with a place of its own for the supply."""
TOWER_COLUMNS = 7
"""Every case for ATX boards of the shipped catalog has so many columns, as ATX asks for."""
TOWER_RADIATORS_MM = ((120, 240), (120, 140, 240, 280, 360, 420))
LONG_TOWER_MM = 420.0
"""Every tower of the shipped catalog that takes cards so long takes radiators of 360 mm too."""
LONG_TOWER_RADIATORS_MM = ((120, 240, 360), TOWER_RADIATORS_MM[1])


def _columns(space: Enclosure) -> int:
    """Return the columns that a case has at least."""
    of_form = TOWER_COLUMNS if "ATX" in space.board_form_factors else 0
    return space.slot_columns or of_form


def radiators_mm(space: Enclosure) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the fewest and the most lengths of radiators that a tower for ATX boards takes: every
    one of the shipped catalog whose places are known takes 240 mm; an open frame has room for
    any."""
    if space.airflow == "open":
        return TOWER_RADIATORS_MM[1], TOWER_RADIATORS_MM[1]
    tower = (space.gpu_length_mm or 0.0) >= TOWER_CARD_MM and space.rack_units is None
    tower = tower and _columns(space) >= TOWER_COLUMNS
    if not tower or "ATX" not in space.board_form_factors:
        return None
    long = (space.gpu_length_mm or 0.0) >= LONG_TOWER_MM
    return LONG_TOWER_RADIATORS_MM if long else TOWER_RADIATORS_MM


UNLIKE_MM = 20.0
"""So much longer or shorter than those that are known a maker's other supplies may be."""


@cache
def _lengths_of_makers() -> dict[tuple[str, float], Range]:
    """Return the longest and shortest ATX supplies of a maker and band of watts, in mm, where
    enough of them are known."""
    lengths: dict[tuple[str, float], list[float]] = {}
    for part in shipped_catalog().of_kind("psu"):
        if not isinstance(part, PowerSupply) or part.form_factor != "ATX":
            continue
        if part.length_mm is not None and _watts(part.supply):
            lengths.setdefault((part.vendor, _band(part.supply)), []).append(part.length_mm)
    return {
        key: (max(all_) + UNLIKE_MM, min(all_) - UNLIKE_MM)
        for key, all_ in lengths.items()
        if len(all_) >= USUAL_SETS
    }


def supply_length_mm(psu: PowerSupply) -> Range | None:
    """Return the longest and shortest that a supply of its watts is, in mm."""
    if psu.length_mm is not None:
        return psu.length_mm, psu.length_mm
    watts = _watts(psu.supply)
    if psu.form_factor == "SFX":
        return 130.0, 100.0
    if psu.form_factor != "ATX" or not watts:
        return None
    longest, shortest = next(length for most, length in SUPPLY_LENGTH_MM if watts <= most)
    own = _lengths_of_makers().get((psu.vendor, _band(psu.supply)), (longest, shortest))
    return min(longest, own[0]), max(shortest, own[1])


def supply_room_mm(space: Enclosure) -> Range | None:
    """Return the least and most room for the length of a supply, in mm."""
    if space.psu_length_mm is not None:
        return space.psu_length_mm, space.psu_length_mm
    if space.airflow == "open":
        return OPEN_ROOM_MM, OPEN_ROOM_MM
    card, columns = space.gpu_length_mm or 0.0, _columns(space)
    if "ATX" not in space.psu_form_factors or card < TOWER_CARD_MM:
        return None
    rows = (room for length, least, room in SUPPLY_ROOM_MM if card >= length and columns >= least)
    return next(rows, None)
