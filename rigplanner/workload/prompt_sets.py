"""How long are the prompts and answers of a set that serving is measured with?"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Source


class PromptSet(Struct, frozen=True, forbid_unknown_fields=True):
    """Mean lengths in tokens, where they were read, and other names of the set."""

    input: int
    output: int
    source: str
    names: tuple[str, ...] = ()


class _File(Struct, forbid_unknown_fields=True):
    note: str
    sources: dict[str, Source]
    sets: dict[str, PromptSet]


@cache
def prompt_sets() -> dict[str, PromptSet]:
    """Return the sets by each of their names, read once."""
    path = data_path("catalog") / "benchmarks" / "prompt_sets.json"
    sets = read_json(path.read_bytes(), _File).sets
    return {name: one for slug, one in sets.items() for name in (slug, *one.names)}


def prompt_set(name: str) -> PromptSet:
    """Return the set of this name; raise WorkloadFault with the nearest names for none."""
    known = prompt_sets()
    word = name.casefold().replace("_", "-").replace(" ", "-")
    if word in known:
        return known[word]
    near = get_close_matches(word, known, 4, 0.4) or sorted(known)
    raise WorkloadFault(
        f"dataset: {name[:60]!r} is not known; the nearest are {', '.join(near)}. Name"
        " input_tokens and output_tokens instead."
    )
