"""Looking over the shoulder of the rules: which fields of a candidate were read before a question
was answered.

Rules are pure functions, so an answer holds for every candidate that agrees in the fields that were
read. A candidate under watch notes each field as it is read; what is made of it once for many rules
(machine, views, memory) passes on what was read to make it."""

from collections.abc import Callable, Iterable
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.machine.builder import Growth
from rigplanner.machine.model import Machine, Piece, PowerTree
from rigplanner.machine.power.loads import loads_of
from rigplanner.machine.power.power import load_tree, plugs_of, with_peaks
from rigplanner.machine.topology.links import labels
from rigplanner.machine.topology.peer import peer_access
from rigplanner.rig.document import Rig
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.fitting.figures import (
    Figure,
    Reading,
    also_read,
    note_read,
    observed,
    pass_on,
)

T = TypeVar("T")
SOLVED = "@"
"""Begins the name of a field of the machine that the solver made of a candidate, among the fields
of the candidate itself."""


def is_watched(part: object) -> bool:
    """Say whether a part is under watch."""
    return isinstance(part, Struct) and type(part).__module__ == __name__


class Once:
    """Answers made once and given to many questions, each of which then has read what was read for
    them."""

    def __init__(self) -> None:
        self.known: dict[object, tuple[Any, Reading]] = {}

    def forget(self, changed: set[str]) -> None:
        """Drop the answers for which one of these fields was read."""
        for key, (_, read) in list(self.known.items()):
            if not changed.isdisjoint(read.noted):
                del self.known[key]

    def asked(self, key: object, question: Callable[[], Any]) -> tuple[Any, Reading]:
        """Return an answer and what was read for it."""
        entry = self.known.get(key)
        if entry is None:
            entry = self.known[key] = observed(question)
        return entry

    def get(self, key: object, question: Callable[[], Any]) -> Any:
        """Return an answer; what was read for it counts as read for the open question."""
        answer, read = self.asked(key, question)
        pass_on(read)
        return answer


ABSENT = "no "
"""Begins the name of a field that says whether a candidate lacks a figure."""


NESTED = ("dense_tflops", "enclosure", "layout", "supply")
"""Fields of parts that hold fields of their own, which are watched one by one:
"enclosure.slot_columns"."""


@cache
def _watched_type(
    base: Any, prefix: str, figures: tuple[str, ...], whole: tuple[str, ...] = ()
) -> Any:
    """Return a struct like another, whose instances note what is read of them: all, when one is
    compared or hashed. What a struct says of itself (a property) counts as one field, whatever it
    is made of."""
    noted = {
        field: ABSENT + prefix + field if prefix + field in figures else prefix + field
        for field in base.__struct_fields__
    }

    nested = frozenset(
        field for field in base.__struct_fields__ if prefix + field in NESTED and field not in whole
    )
    counted = frozenset(field for field in base.__struct_fields__ if prefix + field in figures)
    told: dict[str, Any] = {
        name: view.fget for name, view in vars(base).items() if isinstance(view, property)
    }
    own = object.__getattribute__

    def read(self: object, name: str) -> Any:
        note = noted.get(name)
        if note is not None:
            value: Any = own(self, name)
            if value is None or not (name in nested or name in counted):
                note_read(note)
            elif name in counted:
                value.read()
            return value
        if name not in told:
            return own(self, name)
        value, seen = observed(partial(told[name], self))
        also_read(seen.fields if seen.ranges else (prefix + name,), seen.ranges)
        return value

    def equal(self: Any, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, base) and [getattr(self, field) for field in noted] == [
            getattr(other, field) for field in noted
        ]

    def hashed(self: Any) -> int:
        for value in [getattr(self, field) for field in noted]:
            if isinstance(value, Figure) or is_watched(value):
                hash(value)
        return id(self)

    body = {
        "__getattribute__": read,
        "__eq__": equal,
        "__hash__": hashed,
        "__module__": __name__,
        "plain": base,
    }
    make: Any = type(base)
    return make(f"Watched{base.__name__}", (base,), body, frozen=True, kw_only=True)


def _under_watch(
    struct: Any, prefix: str, figures: tuple[str, ...], whole: tuple[str, ...] = (), **own: Any
) -> Any:
    """Return a struct under watch, with some fields of its own; those that are to be read `whole`
    hold no watched fields."""
    fields: dict[str, Any] = {field: getattr(struct, field) for field in struct.__struct_fields__}
    for field, value in fields.items():
        path = prefix + field
        if value is not None and path in figures:
            fields[field] = Figure(value, ((path, value, 1.0),))
        elif value is not None and path in NESTED and path not in whole:
            fields[field] = _under_watch(value, f"{path}.", figures)
    base: Any = type(struct)
    return _watched_type(base, prefix, figures, whole)(**{**fields, **own})


@cache
def _kinds_of_fields(
    base: Any, prefix: str, figures: tuple[str, ...]
) -> tuple[list[str], list[str], list[str]]:
    """Return the fields of a struct: plain ones, figures, and those that hold fields of their
    own."""
    fields = [field for field in base.__struct_fields__ if prefix + field != "id"]
    counted = [field for field in fields if prefix + field in figures]
    nested = [field for field in fields if prefix + field in NESTED]
    return (
        [field for field in fields if field not in counted and field not in nested],
        counted,
        nested,
    )


def _turn(watched: Any, struct: Any, prefix: str, figures: tuple[str, ...]) -> None:
    """Let a struct under watch hold the fields of another one."""
    base: Any = type(struct)
    plain, counted, nested = _kinds_of_fields(base, prefix, figures)
    for field in plain:
        force_setattr(watched, field, getattr(struct, field))
    for field in counted:
        value, path = getattr(struct, field), prefix + field
        force_setattr(
            watched, field, None if value is None else Figure(value, ((path, value, 1.0),))
        )
    for field in nested:
        former, value, path = (
            object.__getattribute__(watched, field),
            getattr(struct, field),
            f"{prefix}{field}.",
        )
        if former is None or value is None:
            force_setattr(
                watched, field, None if value is None else _under_watch(value, path, figures)
            )
        else:
            _turn(former, value, path, figures)


RANK = "rank"
"""Stands among the fields for the place of a candidate's own id among the ids of the rig's parts.
"""


class _StandIn(str):
    """The id that a candidate goes by; it is sorted by its own."""

    own: str

    def __lt__(self, other: str) -> bool:
        note_read(RANK)
        return self.own < other

    def __gt__(self, other: str) -> bool:
        note_read(RANK)
        return self.own > other


def watched(
    part: AnyPart, named: str, figures: tuple[str, ...] = (), whole: tuple[str, ...] = ()
) -> AnyPart:
    """Return a part under watch, that goes by the id `named`; of its `figures` only what they are
    compared with counts, and the fields `whole` are read as one."""
    stand_in = _StandIn(named)
    stand_in.own = part.id
    return cast(AnyPart, _under_watch(part, "", figures, whole, id=stand_in))


class Placement:
    """A machine as far as places decide it, and the candidate `part` (or its like, of a `row`) that
    stands in it. Its fields are worked out when they are asked for; `read` is what was read of the
    candidate for them, `other` the next placement, of one that differs in it."""

    def __init__(self, growth: Growth, part: AnyPart, row: Any) -> None:
        self.growth, self.part, self.row = growth, part, row
        self.read: frozenset[str] = frozenset()
        self.other: Placement | None = None
        self.fields: dict[str, Any] = {"problems": growth.problems}
        self._said: dict[str, bytes] = {}

    def field(self, name: str) -> Any:
        """Return a field of the machine."""
        if name not in self.fields:
            self.fields[name], read = observed(lambda: getattr(self.growth, name))
            if not read.fields <= self.read:
                self.read |= read.fields
        return self.fields[name]

    def stands_for(self, row: Any) -> bool:
        """Say whether the candidate of a row agrees in all that was read."""
        return row is self.row or all(row[field] == self.row[field] for field in self.read)

    def exchanged(self, name: str, part: AnyPart | None) -> Any:
        """Return a field of the machine, with a part in the candidate's stead."""
        value, holds = self.field(name), _HOLDERS.get(name)
        if holds is None:
            return value
        return tuple(
            replace(entry, **{holds: part}) if getattr(entry, holds) is self.part else entry
            for entry in value
        )

    def said_of(self, name: str) -> bytes:
        """Return what the solver decided in a field of the machine, the candidate left out: equal
        for equal places."""
        if name not in self._said:
            self._said[name] = msgspec.msgpack.encode(self.exchanged(name, None))
        return self._said[name]


DECIDED = frozenset(
    (*Machine.__struct_fields__, "slots_in_use", "slots_held", "drives_in_use", "gpu_parts")
)
"""What may be asked of a machine; the places in use stay the same on many a board that differs in
the others, slots without their links for many a card, and GPUs without their places wherever they
stand."""

_HOLDERS = {
    "pieces": "part",
    "gpus": "gpu",
    "gpu_parts": "gpu",
    "cpus": "cpu",
    "storage": "storage",
}
"""Fields of a machine whose entries hold parts, and under which name."""


class WatchedMachine:
    """The machine with a candidate in it, made as far as it is asked for. Its `pieces` are the same
    for all candidates."""

    def __init__(
        self,
        rig: Rig,
        part: AnyPart,
        pieces: tuple[Piece, ...],
        place: Callable[[str], Placement],
        once: Once,
    ) -> None:
        self._rig, self._part, self.pieces, self._place, self._once = rig, part, pieces, place, once
        self._fields: dict[str, Any] = {}
        self._decided: dict[str, Placement] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in DECIDED:
            raise AttributeError(name)
        note_read(SOLVED + name)
        if name not in self._fields:
            placement = self._decided[name] = self._place(name)
            self._fields[name] = placement.exchanged(name, self._part)
        return self._fields[name]

    def move(self) -> set[str]:
        """Let go of what another placement decides otherwise; return these fields, as they are
        noted."""
        now = {name: self._place(name) for name in self._decided}
        moved = {
            name
            for name, former in self._decided.items()
            if now[name] is not former and now[name].said_of(name) != former.said_of(name)
        }
        for name in moved:
            del self._fields[name], self._decided[name]
        return {SOLVED + name for name in moved}

    @cached_property
    def power(self) -> "_WatchedPower":
        """The power tree, its plugs and its watts made apart."""
        return _WatchedPower(self._rig, self, self._once)

    @property
    def p2p(self) -> tuple[tuple[str, ...], ...]:
        """Peer access between GPUs."""

        def asked() -> tuple[tuple[str, ...], ...]:
            machine: Any = self
            return peer_access(
                self._rig, self.pieces, machine.gpus, machine.matrix, labels(machine.edges)
            )

        return cast(tuple[tuple[str, ...], ...], self._once.get(("machine", "p2p"), asked))


class _WatchedPower:
    def __init__(self, rig: Rig, machine: WatchedMachine, once: Once) -> None:
        self._rig, self._machine, self._once = rig, machine, once

    @property
    def plugs(self) -> Any:
        return self._once.get(("power", "plugs"), lambda: plugs_of(self._rig, self._machine.pieces))

    def _loads(self) -> PowerTree:
        rig, pieces = self._rig, self._machine.pieces
        drawn = partial(self._once.get, ("power", "drawn"), partial(loads_of, rig, pieces))
        return cast(
            PowerTree, self._once.get(("power", "loads"), lambda: load_tree(rig, pieces, drawn()))
        )

    def __getattr__(self, name: str) -> Any:
        if name in ("transient_w", "steps"):
            return getattr(
                self._once.get(
                    ("power", "peaks"), lambda: with_peaks(self._loads(), self._machine.pieces)
                ),
                name,
            )
        return getattr(self._loads(), name)


class WatchedJob:
    """A job whose memory is estimated when a rule looks at it."""

    def __init__(self, facts: JobFacts, estimate: Callable[[], JobFacts], once: Once) -> None:
        self.name, self.index, self.workload, self.subjects = (
            facts.name,
            facts.index,
            facts.workload,
            facts.subjects,
        )
        self._estimate, self._once = estimate, once

    @property
    def memory(self) -> Any:
        return self._once.get(("need", self.index), self._estimate).memory

    @property
    def fault(self) -> Any:
        return self._once.get(("need", self.index), self._estimate).fault


class WatchedSituation(Context, frozen=True, kw_only=True, dict=True):
    """A context whose views pass on what was read to make them."""

    once: Once

    def cases(self, over: Callable[[Context], Iterable[Any]]) -> tuple[Any, ...]:
        """Return what a rule's `over` picks."""
        return cast(tuple[Any, ...], self.once.get(over, lambda: tuple(over(self))))


def _passing_on(name: str, view: Callable[[Context], Any]) -> property:
    return property(lambda self: self.once.get(name, lambda: view(self)))


for _name, _view in vars(Context).items():
    if isinstance(_view, cached_property):
        setattr(WatchedSituation, _name, _passing_on(_name, _view.func))


class Scene:
    """A rig with a candidate under watch in it, as rules look at it. Candidates take turns: what
    was made of one stays for the next, as far as they agree in the fields that were read for it.

    `row` tells by field what may be read of the candidate whose turn it is."""

    context: Context

    def __init__(self, part: AnyPart, row: Any, figures: tuple[str, ...]) -> None:
        self.part, self.row, self.figures, self.once = (
            watched(part, row["id"], figures),
            row,
            figures,
            Once(),
        )
        self.values = self._values(part)

    def _values(self, part: AnyPart) -> list[float | None]:
        return [attrgetter(path)(part) for path in self.figures]

    def turn_to(self, part: AnyPart, row: Any, fields: Iterable[str]) -> None:
        """Give the turn to another candidate; `fields` are those that tell candidates apart."""
        changed = {field for field in fields if self.row[field] != row[field]}
        values = self._values(part)
        for path, value, former in zip(self.figures, values, self.values, strict=True):
            if value != former:
                changed.update(
                    (path, ABSENT + path) if value is None or former is None else (path,)
                )
        _turn(self.part, part, "", self.figures)
        self.row, self.values = row, values
        machine: Any = self.context.machine
        self.once.forget(changed | machine.move())
