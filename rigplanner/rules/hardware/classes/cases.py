"""How many drives and expansion columns cases of a class have at least and at most: by the boards
that they take, of the shipped catalog; racks and open frames have what their maker says."""

from functools import cache

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import Chassis, Enclosure
from rigplanner.rules.core.bounds import Range

FEW = 3
LABELS = ("E-ATX", "ATX", "Micro-ATX", "Mini-ITX")
"""Boards that cases take, the largest first."""

COUNTED = ("bays_25", "bays_35", "slot_columns")


def _largest_board(space: Enclosure) -> str | None:
    return next((label for label in LABELS if label in space.board_form_factors), None)


@cache
def _counts() -> dict[tuple[str, str], Range]:
    counts: dict[tuple[str, str], list[int]] = {}
    for case in shipped_catalog().of_kind("chassis"):
        space = case.enclosure if isinstance(case, Chassis) else None
        label = _largest_board(space) if space else None
        if space is None or label is None or _has_no_class(space):
            continue
        for field in COUNTED:
            value = getattr(space, field)
            if value is not None:
                counts.setdefault((label, field), []).append(value)
    return {key: (min(all_), max(all_)) for key, all_ in counts.items() if len(all_) >= FEW}


def _has_no_class(space: Enclosure) -> bool:
    return space.airflow == "open" or space.rack_units is not None


def counted(space: Enclosure, field: str) -> Range | None:
    """Return the fewest and the most of `field` (one of `COUNTED`) that a case has: its own number
    where it is known, else that of its class; None where neither tells."""
    own: int | None = getattr(space, field)
    if own is not None:
        return own, own
    label = _largest_board(space)
    return None if label is None or _has_no_class(space) else _counts().get((label, field))
