"""Which candidates are alike to rules: what was ever read of a candidate tells it apart from
others, and nothing else."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, KINDS, AnyPart, kind_of
from rigplanner.rig.document import Rig
from rigplanner.rules.fitting.answers import Alike, Row
from rigplanner.rules.fitting.figures import FIGURES, Reading
from rigplanner.rules.fitting.watching import ABSENT, RANK, SOLVED
from rigplanner.rules.hardware.generations import generation
from rigplanner.rules.hardware.known_issues import known_pairs, matches

CANDIDATE = ".candidate"
"""The id, or how it ends, of candidates that nothing names."""
ID, NAME = "id", "name"
"""Fields that verdicts do not read whole: of an id they ask where parts of the rig name it, of a
name what `TOLD_BY_NAME` says."""

_PLAIN = frozenset((str, int, float, bool, type(None)))

Derive = Callable[[AnyPart], Hashable]
Told = tuple[Hashable, tuple[Any, ...]]
"""What tells a candidate apart, and its figures."""

_written = msgspec.msgpack.Encoder().encode


def _generation(part: AnyPart) -> str | None:
    return generation(part.name, getattr(part, "socket", None))


TOLD_BY_NAME: dict[str, Derive] = {"cpu": _generation}
"""What verdicts ask of the name of a kind of part: the generation."""


def _telling(
    plain: list[str], counted: list[str], derive: list[Derive]
) -> Callable[[AnyPart, str], Told]:
    """Return a function that says what tells a part apart that goes by some id: in bytes what was
    read of it, and which figures it lacks, which is why they stand apart."""
    take, figures_of = attrgetter(*plain) if plain else (lambda part: None), taking_of(counted)

    def told(part: AnyPart, named: str) -> Told:
        figures = figures_of(part)
        written = _written(take(part))
        if derive:
            written += _written([each(part) for each in derive])
        return (
            (named, written, tuple([each is None for each in figures]))
            if None in figures
            else (named, written)
        ), figures

    if counted or derive:
        return told
    return (
        (lambda part, named: ((named, _written(take(part))), ()))
        if plain
        else (lambda part, named: (named, ()))
    )


class Likeness:
    """Tells candidates of a kind apart by the fields that were noted: `alike` are those so far,
    none as soon as more is noted. `solved` looks up what the solver decided for a row."""

    def __init__(
        self, kind: str, parts: Sequence[AnyPart], solved: Callable[[Row, str], bytes]
    ) -> None:
        self.kind, self._solved = kind, solved
        ids = sorted(
            {part.id for part in parts if kind_of(part) in ("gpu", "nic", "storage", "riser")}
        )
        self._derived: dict[str, Derive] = {RANK: lambda part: bisect_left(ids, part.id)}
        if kind in TOLD_BY_NAME:
            self._derived[NAME] = TOLD_BY_NAME[kind]
        self.reader = cache(self._reader)
        self._countable = FIGURES.get(kind, ())
        self.fields: list[str] = []
        self.figures: list[str] = []
        self._noted: set[Hashable] = set()
        self._tell()

    def note(self, read: Reading) -> bool:
        """Add what was read to what tells candidates apart; say whether any of it is new."""
        if read.noted in self._noted:
            return False
        self._noted.add(read.noted)
        absent = {field.removeprefix(ABSENT) for field in read.fields if field.startswith(ABSENT)}
        plain = {
            field for field in read.fields if field != ID and not field.startswith((SOLVED, ABSENT))
        }
        fields = sorted(plain.difference(self.fields))
        figures = [
            figure
            for figure in self._countable
            if (figure in absent or figure in read.ranges) and figure not in self.figures
        ]
        if fields or figures:
            self.fields += fields
            self.figures += figures
            self._tell()
        return bool(fields or figures)

    def _tell(self) -> None:
        inside = [field for field in self.fields if field.rpartition(".")[0] in self.fields]
        taken = [
            field for field in self.fields if field not in self._derived and field not in inside
        ]
        self._plain = [field for field in taken if field in plain_fields(self.kind)]
        self._take_plain, self.figures_of = taking_of(self._plain), taking_of(self.figures)
        derive = [derive for field, derive in self._derived.items() if field in self.fields]
        self.told = _telling(taken, self.figures, derive)
        self.alike: dict[Hashable, Alike] = {}

    def row(self, part: AnyPart, named: str) -> Row:
        """Return what may be read of a part that goes by the id `named`, looked up as it is asked
        for."""
        row = Row(zip(self._plain, self._take_plain(part), strict=True), part, self)
        row[ID] = named
        return row

    def _reader(self, field: str) -> Callable[[Row], Hashable]:
        """Return what looks a field of a row up: a value that is no plain one in bytes, equal for
        equal ones."""
        if field in self._derived:
            derive = self._derived[field]
            return lambda row: derive(row.part)
        if field.startswith(SOLVED):
            return lambda row: self._solved(row, field)
        take = attrgetter(field.removeprefix(ABSENT))
        if field.startswith(ABSENT):
            return lambda row: take(row.part) is None
        if field in plain_fields(self.kind):
            return lambda row: take(row.part)
        return lambda row: _written(take(row.part))


def naming(rig: Rig, catalog: Catalog, parts: Sequence[AnyPart]) -> Callable[[AnyPart], str]:
    """Return a function that says by which id a candidate goes: its own where something names it,
    one for all that a known pair means by the beginning of theirs, else one for all."""
    named, paired = _named_ids(rig, catalog, parts), _paired_with(parts)

    def name_of(part: AnyPart) -> str:
        if part.id in named:
            return part.id
        if part.id.startswith(paired):
            return (
                max((start for start in paired if part.id.startswith(start)), key=len) + CANDIDATE
            )
        return CANDIDATE

    return name_of


@cache
def plain_fields(kind: str) -> frozenset[str]:
    """Return the fields of a kind of part whose values are words, numbers or nothing."""
    return frozenset(
        field.name for field in msgspec.structs.fields(KINDS[kind]) if _is_plain(field.type)
    )


def _is_plain(form: Any) -> bool:
    if get_origin(form) is Literal:
        return True
    return form in _PLAIN or (
        get_origin(form) in (Union, UnionType) and all(_is_plain(each) for each in get_args(form))
    )


def taking_of(fields: Sequence[str]) -> Callable[[AnyPart], tuple[Any, ...]]:
    """Return a function that takes fields of a part."""
    if len(fields) > 1:
        return attrgetter(*fields)
    if fields:
        take = attrgetter(*fields)
        return lambda part: (take(part),)
    return lambda part: ()


def _named_ids(rig: Rig, catalog: Catalog, parts: Sequence[AnyPart]) -> set[str]:
    """Return the ids of the parts of a rig and those that they name (bridges their cards, boards
    their CPUs); with a job on a partition, those of all cards."""
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
    """Return the beginnings of ids that a known pair names, where its other half is among the parts
    of a rig."""
    halves = [
        half
        for pair in known_pairs()
        for half in ((pair.first, pair.second), (pair.second, pair.first))
    ]
    return tuple(
        one.id for one, other in halves if one.id and any(matches(other, part) for part in parts)
    ) or ("\0",)
