"""Candidates of one kind tried in one rig, each rule asked once per different set of the fields that it reads."""

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU, KINDS, AnyPart, kind_of
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.machine.assemble import assemble, put_together
from rigplanner.machine.machine import Machine
from rigplanner.machine.peer import NO_DIRECT
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.task import Workload
from rigplanner.rules.answers import Brought, Remembered, Row, Shelf
from rigplanner.rules.assess import machine_of, memory_of
from rigplanner.rules.check import counted
from rigplanner.rules.finding import Finding
from rigplanner.rules.known import known_pairs, matches
from rigplanner.rules.situation import JobFacts, Situation
from rigplanner.rules.topics import RULES_BY_CODE
from rigplanner.rules.watching import (
    RANK,
    SOLVED,
    Placement,
    WatchedJob,
    WatchedMachine,
    is_watched,
    observed,
    watched,
    watched_situation,
)
from rigplanner.workload.answer import MemoryEstimate, WorkloadFault
from rigplanner.workload.memory import estimate_memory

Badge = Literal["fits", "warns", "no", "unknown"]
BADGES: dict[str, Badge] = {"error": "no", "unknown": "unknown", "warning": "warns"}
"""The worst severity that a candidate brings, to its badge; remarks do not count."""

TELLING = ("CPU001", "CPU002", "MEM001", "MEM002", "SPC004", "SPC005", "SPC006")
"""Rules that ask for no places: where one of them says no, no machine is assembled and no other rule is asked."""

REMARKS = ("RIG003",)
"""Rules that only remark, on every part in words of its own; a badge does not count them."""

WHOLE = ("system",)
"""Kinds of which each makes a machine of its own: it is asked all rules at once, unwatched, which then is faster."""
UNREAD = frozenset(("id", "name", "aliases", "status", "released", "sources", "doubts", "prices", "notes"))
"""Fields of these that no verdict reads, but for ids that other parts name."""

ALWAYS = ("id", "name", RANK)
"""Told of every candidate: its id where parts of the rig name it, its product line, its rank among the ids of the rig's cards."""

_BITS = {code: 1 << number for number, code in enumerate(RULES_BY_CODE)}
_TELLING = sum(_BITS[code] for code in TELLING)
_SEVERITIES = list(BADGES)
_PLAIN = frozenset((str, int, float, bool, type(None)))

Key = tuple[str, str, tuple[str, ...]]


class Fitting(Struct, frozen=True, gc=False):
    """The badge of a candidate, and the codes behind it by severity, worst first."""

    badge: Badge
    brings: Brought = ()


def choosing(rig: Rig, kind: str, part_id: str, uid: str | None = None) -> Edit:
    """Return the edit that chooses a part: in the stead of the item `uid`, else as a new item."""
    if uid and rig.item(uid) is not None:
        return Edit("replace_part", {"uid": uid, "part": part_id})
    return Edit("add_part", {"part": part_id, "stem": kind})


def key_of(finding: Finding) -> Key:
    """Return what tells two findings of one rig apart."""
    return finding.code, finding.severity, finding.subjects


def findings(rig: Rig, catalog: Catalog, machine: Machine, today: str) -> list[Finding]:
    """Return what all rules say of a rig, fixes left out."""
    jobs = tuple(
        _job(index, rig, (memory_of(workload, node.gpu, len(machine.gpus)) for node in machine.gpus))
        for index, workload in enumerate(rig.workloads)
    )
    situation = Situation(rig=rig, catalog=catalog, machine=machine, jobs=jobs, today=today, advise=False)
    return counted(situation, tuple(RULES_BY_CODE))


def found_before(rig: Rig, catalog: Catalog, uid: str | None, today: str) -> set[Key]:
    """Return what is found without the item that a candidate would replace."""
    without = apply(rig, Edit("remove_item", {"uid": uid})) if uid else rig
    return {key_of(finding) for finding in findings(without, catalog, machine_of(without, catalog), today)}


def _job(index: int, rig: Rig, needs: Iterable[MemoryEstimate | str]) -> JobFacts:
    """Return a job with the memory it needs on each GPU, or why that is not known."""
    answers = list(needs)
    fault = next((need for need in answers if isinstance(need, str)), None)
    known = () if fault else tuple(need for need in answers if not isinstance(need, str))
    return JobFacts(name=f"workload.{index}", index=index, workload=rig.workloads[index], memory=known, fault=fault)


def _need(workload: Workload, gpu: GPU, count: int) -> MemoryEstimate | str:
    try:
        return estimate_memory(workload, gpu, count, shipped_zoo(), explained=False)
    except WorkloadFault as fault:
        return str(fault)


class Trial:
    """What is known of candidates of a kind in a rig. `lock` is held while some are tried."""

    def __init__(self, rig: Rig, catalog: Catalog, kind: str, uid: str | None, today: str) -> None:
        self.rig, self.kind, self.uid, self.today, self.lock = rig, kind, uid, today, threading.Lock()
        self.parts = dict(catalog.parts)
        self.catalog = replace(catalog, parts=self.parts)
        machine = machine_of(rig, catalog)
        parts = [piece.part for piece in machine.pieces]
        self.named, self.paired = _named_ids(rig, catalog, parts), _paired_with(parts)
        self.asked = sum(bit for code, bit in _BITS.items() if code not in REMARKS or code in rig.severities)
        self.ids = sorted({part.id for part in parts if kind_of(part) in ("gpu", "nic", "storage", "riser")})
        self.before = found_before(rig, catalog, uid, today)
        self.fastest = _fastest_place(machine)
        self.fields: list[str] = []
        self.take: Callable[[AnyPart], tuple[Any, ...]] = lambda part: ()
        if kind in WHOLE:
            self._note(frozenset(KINDS[kind].__struct_fields__) - UNREAD)
        self.shelves: dict[frozenset[str], Shelf] = {}
        self.placements: Remembered[Placement] = Remembered()
        self.outline: Placement | None = None
        self.needs: dict[Hashable, Remembered[MemoryEstimate | str]] = {}
        self.rigs: dict[str, Rig] = {}
        self.known: dict[Hashable, Fitting] = {}
        self.encoded: dict[int, tuple[bytes, object]] = {}
        self.equals: dict[bytes, bytes] = {}

    def fittings(self, parts: Sequence[AnyPart]) -> tuple[Fitting, ...]:
        """Return the fitting of each part. They are asked in an order that jumps about, so that the ends of rising fields come
        early and most other values lie between equal answers."""
        found: list[Fitting | None] = [None] * len(parts)
        step = next(n for n in range(int(len(parts) * 0.618) + 1, 2 * len(parts) + 2) if math.gcd(n, len(parts)) == 1)
        for number in range(len(parts)):
            place = number * step % len(parts)
            found[place] = self.fitting(parts[place])
        return tuple(fitting for fitting in found if fitting is not None)

    def fitting(self, part: AnyPart) -> Fitting:
        """Return the fitting of a part, from what is known of its like."""
        named = part.id if part.id in self.named or part.id.startswith(self.paired) else "candidate"
        line = NO_DIRECT.search(part.name) is not None
        rank = bisect_left(self.ids, part.id)
        values, fields = self.take(part), len(self.fields)
        key = (named, line, rank, *[value if type(value) in _PLAIN else id(value) for value in values])
        fitting = self.known.get(key)
        if fitting is None:
            plain = [value if type(value) in _PLAIN else self._encoding(value) for value in values]
            told = {"id": named, "name": line, RANK: rank, **dict(zip(self.fields, plain, strict=True))}
            fitting = self._judge(Row(told, part, self._look_up))
            if len(self.fields) == fields:
                self.known[key] = fitting
        return fitting

    def _encoding(self, value: object) -> bytes:
        """Return bytes in the stead of a value that is no plain one, equal for equal values; the value is kept, so that no other
        takes over its identity."""
        entry = self.encoded.get(id(value))
        if entry is None:
            made = msgspec.msgpack.encode(value)
            entry = self.encoded[id(value)] = (self.equals.setdefault(made, made), value)
        return entry[0]

    def _look_up(self, row: Row, field: str) -> Hashable:
        if field.startswith(SOLVED):
            said = self._placement(row).said_of(field.removeprefix(SOLVED))
            return self.equals.setdefault(said, said)
        value = getattr(row.part, field)
        return value if type(value) in _PLAIN else self._encoding(value)

    def _judge(self, row: Row) -> Fitting:
        bits, brought = self._recall(row, placed=False)
        if self.kind != "system":
            bits, brought = self._complete(row, bits, brought, _TELLING)
            told = [pair for pair in brought if _BITS[pair[1]] & _TELLING]
            if any(severity == "error" for severity, _ in told):
                return _fitting(told)
        if self.kind in WHOLE:
            return _fitting(self._brought_by_all(row))
        more, others = self._recall(row, placed=True)
        return _fitting(self._complete(row, bits | more, brought + others, self.asked)[1])

    def _brought_by_all(self, row: Row) -> list[tuple[str, str]]:
        named = str(row["id"])
        with self._listed(named, replace(row.part, id=named)):
            rig = self._rig_with(named)
            found = findings(rig, self.catalog, assemble(rig, self.catalog), self.today)
        new = (finding for finding in found if finding.severity in BADGES and key_of(finding) not in self.before)
        return [(finding.severity, finding.code) for finding in new]

    def _recall(self, row: Row, placed: bool) -> tuple[int, list[tuple[str, str]]]:
        bits: int = 0
        brought: list[tuple[str, str]] = []
        for shelf in self.shelves.values():
            if shelf.placed is placed:
                known, said = shelf.find(row)
                bits |= known
                brought.extend(said)
        return bits, brought

    def _complete(self, row: Row, bits: int, brought: list[tuple[str, str]], asked: int) -> tuple[int, list[tuple[str, str]]]:
        """Ask those of the rules whose answers are not known, and keep what they say under the fields that they read."""
        missing = asked & ~bits
        if missing:
            named = str(row["id"])
            part, rig = watched(self.kind, row.part, named), self._rig_with(named)
            with self._listed(named, part):
                situation = self._situation(row, rig, part)
                for code, bit in _BITS.items():
                    if missing & bit:
                        brought = [*brought, *self._answer(row, situation, code, bit)]
        return bits | missing, brought

    def _answer(self, row: Row, situation: Situation, code: str, bit: int) -> Brought:
        found, read = observed(lambda: counted(situation, (code,)))
        new = (finding for finding in found if finding.severity in BADGES and key_of(finding) not in self.before)
        said = tuple((finding.severity, finding.code) for finding in new)
        shelf = self.shelves.get(read)
        if shelf is None:
            shelf = self.shelves[read] = Shelf(read, self.kind)
            self._note(read)
        shelf.keep(row, bit, said)
        return said

    def _note(self, read: frozenset[str]) -> None:
        """Add fields to those that tell candidates apart."""
        new = sorted(field for field in read if field not in (*self.fields, *ALWAYS) and not field.startswith(SOLVED))
        if new:
            self.fields += new
            self.take = attrgetter(*self.fields) if len(self.fields) > 1 else lambda part: (getattr(part, new[0]),)

    def _situation(self, row: Row, rig: Rig, part: AnyPart) -> Situation:
        if self.outline is None and self.kind != "system":
            self.outline = self._placement(row)
        machine: Any = WatchedMachine(rig, part, self.outline, lambda: self._placement(row))
        jobs = tuple(
            WatchedJob(_job(index, rig, ()), lambda index=index: _job(index, rig, self._needs(index, row, machine)))  # type: ignore[misc]
            for index in range(len(rig.workloads))
        )
        return watched_situation(rig=rig, catalog=self.catalog, machine=machine, jobs=jobs, today=self.today)

    def _placement(self, row: Row) -> Placement:
        """Return what the solver makes of a candidate, solved once for all that are alike to it."""
        if row.placement is None:
            row.placement = self._solved(row)
        return row.placement

    def _solved(self, row: Row) -> Placement:
        seen = _as_the_board_sees(row.part, self.fastest)
        like = row if seen is row.part else Row({}, seen, self._look_up)
        like.update({field: row[field] for field in ALWAYS})
        placement, read = observed(lambda: self.placements.get(like, lambda: self._placed(like)))
        self._note(read)
        return placement

    def _placed(self, row: Row) -> Placement:
        named = str(row["id"])
        part = watched(self.kind, row.part, named)
        with self._listed(named, part):
            return Placement(put_together(self._rig_with(named), self.catalog), part)

    def _needs(self, index: int, row: Row, machine: Any) -> Iterator[MemoryEstimate | str]:
        """Yield what a job needs on each GPU of a machine."""
        workload, count = self.rig.workloads[index], len(machine.gpus)
        for node in machine.gpus:
            gpu = node.gpu
            known = self.needs.setdefault((index, count, None if is_watched(gpu) else gpu.id), Remembered())
            yield known.get(row, lambda gpu=gpu: _need(workload, gpu, count))  # type: ignore[misc]

    def _rig_with(self, named: str) -> Rig:
        if named not in self.rigs:
            self.rigs[named] = apply(self.rig, choosing(self.rig, self.kind, named, self.uid))
        return self.rigs[named]

    @contextmanager
    def _listed(self, named: str, part: AnyPart) -> Iterator[None]:
        """Have a part in the catalog for a while."""
        former = self.parts.get(named)
        self.parts[named] = part
        try:
            yield
        finally:
            if former is None:
                del self.parts[named]
            else:
                self.parts[named] = former


def _fitting(brought: list[tuple[str, str]]) -> Fitting:
    ranked = sorted(dict.fromkeys(brought), key=lambda pair: (_SEVERITIES.index(pair[0]), pair[1]))
    return Fitting(BADGES[ranked[0][0]] if ranked else "fits", tuple(ranked))


def _as_the_board_sees(part: AnyPart, fastest: int) -> AnyPart:
    """Return a card as its place sees it: whole columns, and no generation beyond the fastest place's."""
    if not isinstance(part, GPU):
        return part
    gen = None if part.edge_gen is None else min(part.edge_gen, fastest)
    return replace(part, edge_gen=gen, slots=None if part.slots is None else math.ceil(part.slots))


def _fastest_place(machine: Machine) -> int:
    gens = [use.slot.gen or 9 for use in machine.slots] + [use.port.gen or 9 for use in machine.drives]
    return max(gens, default=9)


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
