"""Which candidates are alike to rules: what was ever read of a candidate tells it apart from others, and nothing else."""

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU, KINDS, AnyPart, kind_of
from rigplanner.machine.peer import NO_DIRECT
from rigplanner.rig.document import Rig
from rigplanner.rules.fitting.answers import Readers, Row
from rigplanner.rules.fitting.figures import FIGURES
from rigplanner.rules.fitting.watching import ABSENT, RANK, SOLVED
from rigplanner.rules.known import known_pairs, matches

ID, NAME = "id", "name"
"""Fields that verdicts do not read whole: of an id they ask where parts of the rig name it, of a name the product line."""

_PLAIN = frozenset((str, int, float, bool, type(None)))

Told = tuple[Hashable, str, tuple[float, ...]]
"""What tells a candidate apart, the id that it goes by, and its figures: NaN where it lacks one."""


class Held(dict[int, tuple[int, object]]):
    """Numbers of values by their identity, equal for values that hold the same at some `paths` (all of them when there are none).
    A value is kept, so that no other takes over its identity."""

    def __init__(self, paths: tuple[str, ...], numbers: dict[Hashable, int]) -> None:
        super().__init__()
        self._take, self._numbers = [attrgetter(path) for path in paths], numbers

    def number(self, value: object) -> tuple[int, object]:
        """Return the number of a value that is not there yet, and the value."""
        made = msgspec.msgpack.encode([take(value) for take in self._take] if self._take else value)
        entry = self[id(value)] = (self._numbers.setdefault(made, len(self._numbers)), value)
        return entry


class Numbers:
    """Numbers in the stead of values that are no plain ones."""

    def __init__(self) -> None:
        self._by_value: dict[Hashable, int] = {}
        self._held: dict[tuple[str, ...], Held] = {}

    def holding(self, paths: tuple[str, ...] = ()) -> Held:
        """Return the numbers of values by what they hold at some paths."""
        held = self._held.get(paths)
        if held is None:
            held = self._held[paths] = Held(paths, self._by_value)
        return held

    def of_bytes(self, made: bytes) -> int:
        """Return the number of what is written in bytes."""
        return self._by_value.setdefault(made, len(self._by_value))


class Likeness:
    """Tells candidates of a kind apart by the fields that were noted. `solved` looks up what the solver decided for a row."""

    def __init__(
        self, rig: Rig, catalog: Catalog, kind: str, parts: Sequence[AnyPart], numbers: Numbers, solved: Callable[[Row, str], bytes]
    ) -> None:
        self.kind, self.numbers, self._solved = kind, numbers, solved
        self._named, self._paired = _named_ids(rig, catalog, parts), _paired_with(parts)
        ids = sorted({part.id for part in parts if kind_of(part) in ("gpu", "nic", "storage", "riser")})
        self._derived: dict[str, Callable[[AnyPart], Hashable]] = {
            NAME: lambda part: NO_DIRECT.search(part.name) is not None,
            RANK: lambda part: bisect_left(ids, part.id),
        }
        self._readers = Readers(self._reader)
        self.figures = FIGURES.get(kind, ())
        self._take_figures = taking_of(self.figures)
        self.fields: list[str] = []
        self._tell_by(())

    def note(self, read: Iterable[str]) -> None:
        """Add fields to those that tell candidates apart."""
        new = sorted(field for field in read if field not in self.fields and field != ID and not field.startswith((SOLVED, ABSENT)))
        if new:
            self.fields += new
            self._tell_by(self.fields)

    def _tell_by(self, fields: Sequence[str]) -> None:
        plain, inner = plain_fields(self.kind), dict[str, tuple[str, ...]]()
        for field in fields:
            if field not in plain and field not in self._derived:
                head, _, path = field.partition(".")
                if path and head not in fields:
                    inner[head] = (*inner.get(head, ()), path)
                else:
                    inner[head] = ()
        self._take_plain = taking_of([field for field in fields if field in plain and field not in self._derived])
        self._take_others = taking_of(list(inner))
        self._held = [self.numbers.holding(paths) for paths in inner.values()]
        self._derive = [derive for field, derive in self._derived.items() if field in fields]

    def told(self, part: AnyPart) -> Told:
        """Return what tells a part apart."""
        named = part.id if part.id in self._named or part.id.startswith(self._paired) else "candidate"
        figures = self._take_figures(part)
        lacks: tuple[bool, ...] = ()
        if None in figures:
            lacks = tuple([value is None for value in figures])
            figures = tuple([math.nan if value is None else value for value in figures])
        others = [(held.get(id(value)) or held.number(value))[0] for held, value in zip(self._held, self._take_others(part))]  # noqa: B905
        return (named, lacks, self._take_plain(part), *others, *[derive(part) for derive in self._derive]), named, figures

    def row(self, part: AnyPart, named: str) -> Row:
        """Return what may be read of a part that goes by the id `named`, looked up as it is asked for."""
        return Row({ID: named}, part, self._readers)

    def _reader(self, field: str) -> Callable[[Row], Hashable]:
        """Return what looks a field of a row up."""
        if field in self._derived:
            derive = self._derived[field]
            return lambda row: derive(row.part)
        if field.startswith(SOLVED):
            solved = field.removeprefix(SOLVED)
            return lambda row: self.numbers.of_bytes(self._solved(row, solved))
        take = attrgetter(field.removeprefix(ABSENT))
        if field.startswith(ABSENT):
            return lambda row: take(row.part) is None
        if field in plain_fields(self.kind):
            return lambda row: take(row.part)
        held = self.numbers.holding()
        return lambda row: held.number(take(row.part))[0]


@cache
def plain_fields(kind: str) -> frozenset[str]:
    """Return the fields of a kind of part whose values are words, numbers or nothing."""
    return frozenset(field.name for field in msgspec.structs.fields(KINDS[kind]) if _is_plain(field.type))


def _is_plain(form: Any) -> bool:
    if get_origin(form) is Literal:
        return True
    return form in _PLAIN or (get_origin(form) in (Union, UnionType) and all(_is_plain(each) for each in get_args(form)))


def taking_of(fields: Sequence[str]) -> Callable[[AnyPart], tuple[Any, ...]]:
    """Return a function that takes fields of a part."""
    if len(fields) > 1:
        return attrgetter(*fields)
    takes = [attrgetter(field) for field in fields]
    return lambda part: tuple([take(part) for take in takes])


def _named_ids(rig: Rig, catalog: Catalog, parts: Sequence[AnyPart]) -> set[str]:
    """Return the ids of the parts of a rig and those that they name (bridges their cards, boards their CPUs); with a job on a
    partition, those of all cards."""
    named = {item.part for item in rig.items}
    for part in parts:
        named.add(part.id)
        named.update(getattr(part, "proven_with", ()) or ())
        layout = getattr(part, "layout", None)
        named.update(layout.bios_minimum if layout else ())
    if any(workload.mig for workload in rig.workloads):
        named.update(part.id for part in catalog.parts.values() if isinstance(part, GPU))
    return named


def _paired_with(parts: Sequence[AnyPart]) -> tuple[str, ...]:
    """Return the beginnings of ids that a known pair names, where its other half is among the parts of a rig."""
    halves = [half for pair in known_pairs() for half in ((pair.first, pair.second), (pair.second, pair.first))]
    return tuple(one.id for one, other in halves if one.id and any(matches(other, part) for part in parts)) or ("\0",)
