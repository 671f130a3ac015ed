"""What is published lies within what the class allows: each known figure is blanked and must be
found again between the bounds."""

from collections import Counter

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU, Chassis, Cooler, Motherboard, PowerSupply, Slot
from rigplanner.rules.hardware.class_bounds import (
    card_height_mm,
    card_room_mm,
    cooler_heat_w,
    plugs,
    radiators_mm,
    slot_columns,
    supply_length_mm,
)
from rigplanner.rules.hardware.power import cap_bounds_w


def test_rated_coolers_lie_within_the_heat_of_their_kind_and_size() -> None:
    coolers = [part for part in shipped_catalog().of_kind("cooler") if isinstance(part, Cooler)]
    rated = {cooler.id: (cooler_heat_w(cooler), cooler.rated_w) for cooler in coolers}
    out = {
        part: (heat, watts)
        for part, (heat, watts) in rated.items()
        if heat and watts is not None and not heat[0] <= watts <= heat[1]
    }
    assert out == {}


@pytest.mark.parametrize("every", [False, True], ids=["one is blank", "all are blank"])
def test_slots_stand_between_their_bounds(every: bool) -> None:
    wrong, told = [], 0
    for board in shipped_catalog().of_kind("motherboard"):
        assert isinstance(board, Motherboard)
        slots = board.layout.slots
        for index, slot in enumerate(slots):
            if slot.position is None or slot.kind != "pcie":
                continue
            blank: list[Slot] = [
                replace(s, position=None) if every or s is slot else s for s in slots
            ]
            bare = replace(board, layout=replace(board.layout, slots=tuple(blank)))
            columns = slot_columns(bare, blank[index])
            told += columns is not None
            if columns is not None and not columns[0] <= slot.position <= columns[1]:
                wrong.append((board.id, slot.id, slot.position, columns))
    assert told > 400
    assert wrong == []


MORE_THAN_ITS_STANDARD = {"cooler-master.m2000.platinum"}
"""A supply of ATX 2.4 with a 16-pin plug all the same."""


def test_supplies_have_no_fewer_and_no_more_plugs_than_their_class() -> None:
    wrong = []
    for part in shipped_catalog().of_kind("psu"):
        assert isinstance(part, PowerSupply)
        other = part.form_factor in ("CRPS", "brick") or not part.supply.standard
        if not part.supply.plugs or other:
            continue
        have: Counter[str] = Counter()
        for plug in part.supply.plugs:
            have["12v-2x6" if plug.type == "12vhpwr" else plug.type] += plug.count
        fewest, most = plugs(part, part.supply)
        short = [kind for kind, count in fewest.items() if have[kind] < count]
        over = [kind for kind, count in most.items() if have[kind] > count]
        if (short or over) and part.id not in MORE_THAN_ITS_STANDARD:
            wrong.append((part.id, short, over))
    assert wrong == []


def test_supplies_are_as_long_as_their_class() -> None:
    wrong = []
    for part in shipped_catalog().of_kind("psu"):
        assert isinstance(part, PowerSupply)
        bounds = supply_length_mm(replace(part, length_mm=None))
        if part.length_mm is not None and bounds is not None:
            longest, shortest = bounds
            if not shortest <= part.length_mm <= longest:
                wrong.append((part.id, part.length_mm, bounds))
    assert wrong == []


def test_the_room_for_cards_follows_from_the_room_for_coolers() -> None:
    """Of the cases whose makers publish both; derived heights say nothing."""
    checked, wrong = 0, []
    for part in shipped_catalog().of_kind("chassis"):
        assert isinstance(part, Chassis)
        space = part.enclosure
        known, doubt = space.gpu_height_mm, part.doubts.get("enclosure.gpu_height_mm")
        if known is None or space.airflow == "open" or (doubt and "erived" in doubt.note):
            continue
        room = card_room_mm(replace(space, gpu_height_mm=None))
        checked += room is not None
        if room is not None and not room[0] <= known <= room[1]:
            wrong.append((part.id, known, room))
    assert checked > 10
    assert wrong == []


def test_known_power_limits_lie_within_what_is_assumed_without_them() -> None:
    """Each card's lowest limit is blanked and must lie between the bounds of its kin or kind."""
    cards = [part for part in shipped_catalog().of_kind("gpu") if isinstance(part, GPU)]
    beyond = []
    for card in cards:
        if not card.power_min_w or not card.tdp_w or card.dies > 1 or card.form_factor != "pcie":
            continue
        others = [other for other in cards if other.id != card.id]
        worst, best = cap_bounds_w(replace(card, power_min_w=None), others)
        if not best <= card.power_min_w <= worst:
            beyond.append((card.id, card.power_min_w, worst, best))
    assert beyond == []


def test_cards_that_are_not_long_are_as_high_as_their_class() -> None:
    """The longest ones of makers are higher than 150 mm: those whose height is known alone."""
    wrong, told = [], 0
    for card in shipped_catalog().of_kind("gpu"):
        assert isinstance(card, GPU)
        if card.height_mm is None or card.cooling == "liquid" or not card.length_mm:
            continue
        if card.vendor == card.chip_maker or card.length_mm > 320.0 or card.height_mm < 69.0:
            continue
        highest, lowest = card_height_mm(replace(card, height_mm=None))
        told += 1
        if not lowest <= card.height_mm <= highest:
            wrong.append((card.id, card.height_mm, highest))
    assert told > 30
    assert wrong == []


def test_towers_take_the_radiators_of_their_class() -> None:
    wrong = []
    for case in shipped_catalog().of_kind("chassis"):
        assert isinstance(case, Chassis)
        known, bounds = case.enclosure.radiators_mm, radiators_mm(case.enclosure)
        if known and case.enclosure.airflow != "open" and bounds and max(known) < max(bounds[0]):
            wrong.append(case.id)
    assert wrong == []
