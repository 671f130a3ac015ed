"""Looking over the shoulder of the rules: which fields of a candidate were read before a question was answered.

Rules are pure functions, so an answer holds for every candidate that agrees in the fields that were read. A candidate under
watch notes each field as it is read; what is made of it once for many rules (machine, views, memory) passes on what was read
to make it.
"""

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.parts import AnyPart
from rigplanner.machine.machine import Machine, Piece, PowerTree
from rigplanner.machine.peer import peer_access
from rigplanner.machine.power import load_tree, plugs_of, with_peaks
from rigplanner.rig.document import Rig
from rigplanner.rules.figures import Figure, Reading, also_read, observed
from rigplanner.rules.situation import JobFacts, Situation

T = TypeVar("T")
SOLVED = "@"
"""Begins the name of a field of the machine that the solver made of a candidate, among the fields of the candidate itself."""


def is_watched(part: object) -> bool:
    """Say whether a part is under watch."""
    return type(part).__module__ == __name__


class _Once:
    """Answers made once and given to many questions, each of which then has read what was read for them."""

    def __init__(self) -> None:
        self.known: dict[object, tuple[Any, Reading]] = {}

    def get(self, key: object, question: Callable[[], Any]) -> Any:
        entry = self.known.get(key)
        if entry is None:
            entry = self.known[key] = observed(question)
        answer, read = entry
        also_read(read.fields, read.ranges)
        return answer


ABSENT = "no "
"""Begins the name of a field that says whether a candidate lacks a figure."""


NESTED = ("dense_tflops", "enclosure", "layout", "supply")
"""Fields of parts that hold fields of their own, which are watched one by one: "enclosure.slot_columns"."""


@cache
def _watched_type(base: Any, prefix: str, figures: tuple[str, ...]) -> Any:
    """Return a struct like another, whose instances note what is read of them: all, when one is compared or hashed."""
    noted = {field: ABSENT + prefix + field if prefix + field in figures else prefix + field for field in base.__struct_fields__}

    def read(self: object, name: str) -> Any:
        value = object.__getattribute__(self, name)
        if isinstance(value, Figure):
            value.read()
        elif name in noted and not is_watched(value):
            also_read((noted[name],))
        return value

    def equal(self: Any, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, base) and [getattr(self, field) for field in noted] == [getattr(other, field) for field in noted]

    def hashed(self: Any) -> int:
        for value in [getattr(self, field) for field in noted]:
            if isinstance(value, Figure) or is_watched(value):
                hash(value)
        return id(self)

    body = {"__getattribute__": read, "__eq__": equal, "__hash__": hashed, "__module__": __name__}
    make: Any = type(base)
    return make(f"Watched{base.__name__}", (base,), body, frozen=True, kw_only=True)


def _under_watch(struct: Any, prefix: str, figures: tuple[str, ...], **own: Any) -> Any:
    """Return a struct under watch, with some fields of its own."""
    fields: dict[str, Any] = {field: getattr(struct, field) for field in struct.__struct_fields__}
    for field, value in fields.items():
        path = prefix + field
        if value is not None and path in figures:
            fields[field] = Figure(value, ((path, value, 1.0),))
        elif value is not None and path in NESTED:
            fields[field] = _under_watch(value, f"{path}.", figures)
    base: Any = type(struct)
    return _watched_type(base, prefix, figures)(**{**fields, **own})


RANK = "rank"
"""Stands among the fields for the place of a candidate's own id among the ids of the rig's parts."""


class _StandIn(str):
    """The id that a candidate goes by; it is sorted by its own."""

    own: str

    def __lt__(self, other: str) -> bool:
        also_read((RANK,))
        return self.own < other

    def __gt__(self, other: str) -> bool:
        also_read((RANK,))
        return self.own > other


def watched(part: AnyPart, named: str, figures: tuple[str, ...] = ()) -> AnyPart:
    """Return a part under watch, that goes by the id `named`; of its `figures` only what they are compared with counts."""
    stand_in = _StandIn(named)
    stand_in.own = part.id
    return cast(AnyPart, _under_watch(part, "", figures, id=stand_in))


class Placement(Struct, frozen=True, dict=True):
    """A machine as far as places decide it, and the candidate (or its like) that stands in it."""

    machine: Machine
    part: AnyPart

    @cached_property
    def decided(self) -> dict[str, bytes]:
        """What the solver decided, by field of the machine, the candidate itself left out: equal for equal places."""
        return {}

    def said_of(self, field: str) -> bytes:
        """Return what the solver decided in a field of the machine."""
        if field not in self.decided:
            self.decided[field] = msgspec.msgpack.encode(_exchanged(self, field, None))
        return self.decided[field]


_HOLDERS = {"pieces": "part", "gpus": "gpu", "cpus": "cpu", "storage": "storage"}
"""Fields of a machine whose entries hold parts, and under which name."""


def _exchanged(placement: Placement, name: str, part: AnyPart | None) -> Any:
    """Return a field of a placement's machine, with a part in its candidate's stead."""
    value, holds = getattr(placement.machine, name), _HOLDERS.get(name)
    if holds is None:
        return value
    return tuple(replace(entry, **{holds: part}) if getattr(entry, holds) is placement.part else entry for entry in value)


class WatchedMachine:
    """The machine with a candidate in it, made as far as it is asked for. `outline` is any placement of the same pieces, for
    candidates that bring no pieces of their own."""

    def __init__(self, rig: Rig, part: AnyPart, outline: Placement | None, place: Callable[[], Placement]) -> None:
        self._rig, self._part, self._place = rig, part, place
        self._fields: dict[str, Any] = {}
        self._once = _Once()
        if outline is not None:
            self.pieces: tuple[Piece, ...] = _exchanged(outline, "pieces", part)

    def __getattr__(self, name: str) -> Any:
        if name not in Machine.__struct_fields__:
            raise AttributeError(name)
        also_read((SOLVED + name,))
        if name not in self._fields:
            self._fields[name] = _exchanged(self._place(), name, self._part)
        return self._fields[name]

    @cached_property
    def power(self) -> "_WatchedPower":
        """The power tree, its plugs and its watts made apart."""
        return _WatchedPower(self._rig, self)

    @property
    def p2p(self) -> tuple[tuple[str, ...], ...]:
        """Peer access between GPUs."""
        machine: Any = self
        return cast(tuple[tuple[str, ...], ...], self._once.get("p2p", lambda: peer_access(self._rig, machine)))


class _WatchedPower:
    def __init__(self, rig: Rig, machine: WatchedMachine) -> None:
        self._rig, self._machine, self._once = rig, machine, _Once()

    @property
    def plugs(self) -> Any:
        return self._once.get("plugs", lambda: plugs_of(self._rig, self._machine.pieces))

    def _loads(self) -> PowerTree:
        return cast(PowerTree, self._once.get("loads", lambda: load_tree(self._rig, self._machine.pieces)))

    def __getattr__(self, name: str) -> Any:
        if name in ("transient_w", "steps"):
            return getattr(self._once.get("peaks", lambda: with_peaks(self._loads(), self._machine.pieces)), name)
        return getattr(self._loads(), name)


class WatchedJob:
    """A job whose memory is estimated when a rule looks at it."""

    def __init__(self, facts: JobFacts, estimate: Callable[[], JobFacts]) -> None:
        self.name, self.index, self.workload, self.subjects = facts.name, facts.index, facts.workload, facts.subjects
        self._estimate, self._once = estimate, _Once()

    @property
    def memory(self) -> Any:
        return self._once.get("need", self._estimate).memory

    @property
    def fault(self) -> Any:
        return self._once.get("need", self._estimate).fault


class WatchedSituation(Situation, frozen=True, kw_only=True, dict=True):
    """A situation whose views pass on what was read to make them."""

    once: _Once

    def cases(self, over: Callable[[Situation], Iterable[Any]]) -> tuple[Any, ...]:
        """Return what a rule's `over` picks."""
        return cast(tuple[Any, ...], self.once.get(over, lambda: tuple(over(self))))


def _passing_on(name: str, view: Callable[[Situation], Any]) -> property:
    return property(lambda self: self.once.get(name, lambda: view(self)))


for _name, _view in vars(Situation).items():
    if isinstance(_view, cached_property):
        setattr(WatchedSituation, _name, _passing_on(_name, _view.func))


def watched_situation(**fields: Any) -> Situation:
    """Return the situation of these fields, under watch."""
    return WatchedSituation(once=_Once(), advise=False, **fields)
