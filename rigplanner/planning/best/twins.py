"""Parts that differ in nothing that any rule or model reads: of such twins the cheapest stands for
all. A community's catalog is full of them."""

from collections.abc import Iterable
from typing import TypeVar

from rigplanner.catalog.schema.parts import CPU, AnyPart
from rigplanner.planning.best.space import CardSet, Option
from rigplanner.rules.hardware.generations import generation
from rigplanner.rules.hardware.pcie import BEFORE_RESIZING

ONLY_NAMED = frozenset(("id", "name", "aliases", "prices", "sources", "notes"))
"""Fields that tell a part from its twins and nothing else of it."""

Choice = TypeVar("Choice", Option, CardSet)


def spec_of(part: AnyPart) -> tuple[object, ...]:
    """Return all of a part that a rule or a model may read; of a processor also what its name tells
    of its generation."""
    fields = (field for field in part.__struct_fields__ if field not in ONLY_NAMED)
    told: tuple[object, ...] = ()
    if isinstance(part, CPU):
        older = BEFORE_RESIZING.search(part.name) is not None
        told = (generation(part.name, part.socket), older)
    return (type(part), *told, *(repr(getattr(part, field)) for field in fields))


def apart(choices: Iterable[Choice], kinds: Iterable[object]) -> tuple[list[Choice], list[Choice]]:
    """Return the first choice of each kind, and those that come after one of theirs."""
    firsts: list[Choice] = []
    later: list[Choice] = []
    seen: set[object] = set()
    for choice, kind in zip(choices, kinds, strict=True):
        (later if kind in seen else firsts).append(choice)
        seen.add(kind)
    return firsts, later
