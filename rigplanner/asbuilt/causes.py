"""Likely causes by code, and where each was read; words are made in `report.words.acceptance`."""

from functools import cache

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json


class Causes(Struct, frozen=True, forbid_unknown_fields=True):
    """Source keys of each cause, and what each key names."""

    sources: dict[str, str]
    causes: dict[str, tuple[str, ...]]


@cache
def shipped_causes() -> Causes:
    """Return the causes as shipped."""
    path = data_path("resources") / "acceptance" / "causes.json"
    return read_json(path.read_bytes(), Causes)


def sources_of(cause: str) -> tuple[str, ...]:
    """Return where a cause was read, none for no cause."""
    made = shipped_causes()
    return tuple([made.sources[key] for key in made.causes.get(cause, ())])
