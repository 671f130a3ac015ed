"""Where radiators go, and what room they leave for cards and drives."""

from collections.abc import Iterable
from itertools import permutations

from msgspec import Struct

from rigplanner.catalog.schema.parts import Enclosure, RadiatorPlace
from rigplanner.rules.core.context import Context, is_built_in

DEPTH_MM = 52.0
"""Room that a radiator of 27 mm with fans of 25 mm takes from a card where it stands before it."""


class Room(Struct, frozen=True):
    """What a case leaves beside its radiators: the longest card in mm, bays of 2.5 and 3.5 inch;
    None where they take nothing."""

    gpu_length_mm: float | None = None
    bays_25: int | None = None
    bays_35: int | None = None


def radiators_mm(context: Context) -> tuple[int, ...]:
    """Return the lengths of the radiators that the owner fits."""
    found = [cooler.radiator_mm for name, cooler in context.coolers if not is_built_in(name)]
    return tuple(length for length in found if length is not None)


def takes(sizes_mm: Iterable[int], radiator_mm: int) -> bool:
    """Say whether a mount made for these lengths takes a radiator: its own, or a shorter one of the
    same fans."""
    fan = 140 if radiator_mm % 140 == 0 else 120
    return any(size == radiator_mm or (size > radiator_mm and size % fan == 0) for size in sizes_mm)


def room_beside(
    radiators: tuple[int, ...], places: tuple[RadiatorPlace, ...], card_mm: float
) -> Room | None:
    """Return the room that the best choice of mounts leaves: one that lets a card of `card_mm` in
    before all, then with the most bays; None where the radiators find no mounts at all."""
    choices = [
        _left_by(chosen)
        for chosen in permutations(places, len(radiators))
        if all(takes(place.sizes_mm, size) for place, size in zip(chosen, radiators, strict=True))
    ]
    return max(choices, key=lambda room: _merit(room, card_mm), default=None)


def _left_by(chosen: tuple[RadiatorPlace, ...]) -> Room:
    return Room(
        min(
            (place.gpu_length_mm for place in chosen if place.gpu_length_mm is not None),
            default=None,
        ),
        min((place.bays_25 for place in chosen if place.bays_25 is not None), default=None),
        min((place.bays_35 for place in chosen if place.bays_35 is not None), default=None),
    )


def _merit(room: Room, card_mm: float) -> tuple[float, float, float]:
    length = room.gpu_length_mm if room.gpu_length_mm is not None else float("inf")
    bays = [99.0 if count is None else count for count in (room.bays_25, room.bays_35)]
    return (min(length, card_mm), sum(bays), length)


def room_in(context: Context, space: Enclosure) -> Room | None:
    """Return the room beside the rig's radiators in a case; all of it where there is none, None
    where the mounts are not known or do not take them."""
    radiators = radiators_mm(context)
    if not radiators:
        return Room()
    lengths = [
        card.card.length_mm or 0.0
        for card in context.cased_cards
        if card.card.form_factor == "pcie"
    ]
    return (
        None
        if space.radiator_places is None
        else room_beside(radiators, space.radiator_places, max(lengths, default=0.0))
    )
