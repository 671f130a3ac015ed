"""Candidates of one kind tried in one rig, each rule asked once per different set of the fields that it reads."""

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU, KINDS, AnyPart, kind_of
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.machine.assemble import assemble, put_together
from rigplanner.machine.machine import Machine
from rigplanner.machine.peer import NO_DIRECT
from rigplanner.machine.seekers import slot_kind
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.task import Workload
from rigplanner.rules.answers import Alike, Badge, Box, Brought, Fitting, Remembered, Row, Said, Shelf, Tally, holding
from rigplanner.rules.assess import machine_of, memory_of
from rigplanner.rules.check import counted
from rigplanner.rules.figures import FIGURES, Reading, observed
from rigplanner.rules.finding import Finding
from rigplanner.rules.known import known_pairs, matches
from rigplanner.rules.situation import JobFacts, Situation
from rigplanner.rules.topics import RULES_BY_CODE
from rigplanner.rules.watching import (
    ABSENT,
    RANK,
    SOLVED,
    Placement,
    WatchedJob,
    WatchedMachine,
    is_watched,
    watched,
    watched_situation,
)
from rigplanner.workload.answer import MemoryEstimate, WorkloadFault
from rigplanner.workload.memory import estimate_memory

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


def choosing(rig: Rig, kind: str, part_id: str, uid: str | None = None) -> Edit:
    """Return the edit that chooses a part: in the stead of the item `uid`, else as a new item."""
    if uid and rig.item(uid) is not None:
        return Edit("replace_part", {"uid": uid, "part": part_id})
    return Edit("add_part", {"part": part_id, "stem": kind})


def key_of(finding: Finding) -> Key:
    """Return what tells two findings of one rig apart."""
    return finding.code, finding.severity, finding.subjects


def counts(finding: Finding) -> bool:
    """Return whether a finding counts for a badge: no remark, and no question that only the rig or its site leaves open, which no
    candidate answers (what else is to be chosen, which circuit feeds it)."""
    if finding.severity == "unknown" and finding.missing:
        return not all(fact.startswith(("site:", "rig:")) for fact in finding.missing)
    return finding.severity in BADGES


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
        self.fastest, self.kinds = _fastest_place(machine), frozenset[str](use.slot.kind for use in machine.slots)
        self.fields: list[str] = []
        self.take: Callable[[AnyPart], tuple[Any, ...]] = lambda part: ()
        self.figures = FIGURES.get(kind, ())
        self.take_figures = _taking(self.figures)
        if kind in WHOLE:
            self._note(frozenset(KINDS[kind].__struct_fields__) - UNREAD)
        self.shelves: dict[frozenset[str], Shelf] = {}
        self.placements: Remembered[Placement] = Remembered()
        self.outline: Placement | None = None
        self.needs: dict[Hashable, Remembered[MemoryEstimate | str]] = {}
        self.rigs: dict[str, Rig] = {}
        self.alike: dict[Hashable, Alike] = {}
        self.same: dict[Hashable, Alike] = {}
        self.made: dict[Brought, Fitting] = {}
        self.encoded: dict[int, tuple[bytes, object]] = {}
        self.equals: dict[bytes, bytes] = {}

    def fitting(self, part: AnyPart) -> Fitting:
        """Return the fitting of a part, from what is known of its like."""
        named = part.id if part.id in self.named or part.id.startswith(self.paired) else "candidate"
        told: tuple[Hashable, ...] = (named, NO_DIRECT.search(part.name) is not None, bisect_left(self.ids, part.id))
        figures = self.take_figures(part)
        if None in figures:
            told += (tuple(value is None for value in figures),)
            figures = tuple(math.nan if value is None else value for value in figures)
        key = (*told, *[value if type(value) in _PLAIN else id(value) for value in self.take(part)])
        alike = self.same.get(key) or self._alike(told, part)
        fields = len(self.fields)
        box = holding(alike.boxes, figures)
        if box is None:
            box = self._judge(alike, part, Tally(self.figures, figures))
            alike.boxes.append(box)
        if len(self.fields) == fields:
            self.same[key] = alike
        return box.holds

    def _alike(self, told: tuple[Hashable, ...], part: AnyPart) -> Alike:
        """Return the candidates that agree with a part in all that tells them apart, whether or not they hold the same objects."""
        row = Row(dict(zip(ALWAYS, told, strict=False)), part, self._look_up)
        key = (*told, *[row[field] for field in self.fields])
        alike = self.alike.get(key)
        if alike is None:
            alike = self.alike[key] = Alike(row, self.shelves.values())
        alike.kept.append(part)
        return alike

    def _encoding(self, value: object) -> bytes:
        """Return bytes in the stead of a value that is no plain one, equal for equal values; the value is kept, so that no other
        takes over its identity."""
        entry = self.encoded.get(id(value))
        if entry is None:
            made = msgspec.msgpack.encode(value)
            entry = self.encoded[id(value)] = (self.equals.setdefault(made, made), value)
        return entry[0]

    def _look_up(self, row: Row, field: str) -> Hashable:
        if field.startswith(ABSENT):
            return attrgetter(field.removeprefix(ABSENT))(row.part) is None
        if field.startswith(SOLVED):
            said = self._placement(row).said_of(field.removeprefix(SOLVED))
            return self.equals.setdefault(said, said)
        value = attrgetter(field)(row.part)
        return value if type(value) in _PLAIN else self._encoding(value)

    def _judge(self, alike: Alike, part: AnyPart, tally: Tally) -> Box[Fitting]:
        tally.recall(alike.unplaced)
        if self.kind != "system":
            self._complete(alike, part, tally, _TELLING)
            told = [pair for pair in tally.brought if _BITS[pair[1]] & _TELLING]
            if any(severity == "error" for severity, _ in told):
                return tally.box(self._fitting(told))
        if self.kind in WHOLE:
            return tally.box(self._fitting(self._brought_by_all(alike.row)))
        tally.recall(alike.placed)
        self._complete(alike, part, tally, self.asked)
        return tally.box(self._fitting(tally.brought))

    def _fitting(self, brought: list[tuple[str, str]]) -> Fitting:
        key = tuple(brought)
        fitting = self.made.get(key)
        if fitting is None:
            ranked = sorted(dict.fromkeys(brought), key=lambda pair: (_SEVERITIES.index(pair[0]), pair[1]))
            fitting = self.made[key] = Fitting(BADGES[ranked[0][0]] if ranked else "fits", tuple(ranked))
        return fitting

    def _brought_by_all(self, row: Row) -> list[tuple[str, str]]:
        named = str(row["id"])
        with self._listed(named, replace(row.part, id=named)):
            rig = self._rig_with(named)
            found = findings(rig, self.catalog, assemble(rig, self.catalog), self.today)
        new = (finding for finding in found if counts(finding) and key_of(finding) not in self.before)
        return [(finding.severity, finding.code) for finding in new]

    def _complete(self, alike: Alike, part: AnyPart, tally: Tally, asked: int) -> None:
        """Ask those of the rules whose answers are not known, and keep what they say under the fields that they read."""
        missing = asked & ~tally.bits
        if missing:
            named = str(alike.row["id"])
            under_watch, rig = watched(part, named, self.figures), self._rig_with(named)
            with self._listed(named, under_watch):
                situation = self._situation(alike.row, rig, under_watch)
                for code, bit in _BITS.items():
                    if missing & bit:
                        brought, read = self._answer(situation, code)
                        tally.learn(self._said(alike, read.fields), bit, brought, read.ranges)

    def _answer(self, situation: Situation, code: str) -> tuple[Brought, Reading]:
        found, read = observed(lambda: counted(situation, (code,)))
        new = (finding for finding in found if counts(finding) and key_of(finding) not in self.before)
        return tuple((finding.severity, finding.code) for finding in new), read

    def _said(self, alike: Alike, fields: frozenset[str]) -> Said:
        """Return where answers are kept for which these fields were read."""
        shelf = self.shelves.get(fields)
        if shelf is None:
            shelf = self.shelves[fields] = Shelf(fields)
            self._note(fields)
        return alike.said_on(shelf)

    def _note(self, read: frozenset[str]) -> None:
        """Add fields to those that tell candidates apart."""
        new = sorted(field for field in read if field not in (*self.fields, *ALWAYS) and not field.startswith((SOLVED, ABSENT)))
        if new:
            self.fields += new
            self.take = _taking(list(dict.fromkeys(field.partition(".")[0] for field in self.fields)))

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
        seen = _as_the_board_sees(row.part, self.fastest, self.kinds)
        like = row if seen is row.part else Row({}, seen, self._look_up)
        like.update({field: row[field] for field in ALWAYS})
        placement, read = observed(lambda: self.placements.get(like, lambda: self._placed(like)))
        self._note(read.fields)
        return placement

    def _placed(self, row: Row) -> Placement:
        named = str(row["id"])
        part = watched(row.part, named)
        with self._listed(named, part):
            return Placement(put_together(self._rig_with(named), self.catalog), part)

    def _needs(self, index: int, row: Row, machine: Any) -> Iterator[MemoryEstimate | str]:
        """Yield what a job needs on each GPU of a machine."""
        workload, count = self.rig.workloads[index], len(machine.gpus)
        for node in machine.gpus:
            gpu = node.gpu
            known = self.needs.setdefault((index, count, None if is_watched(gpu) else gpu.id), Remembered())
            yield known.get(row, lambda gpu=gpu: _need(workload, self._whole(gpu, row), count))  # type: ignore[misc]

    def _whole(self, gpu: GPU, row: Row) -> GPU:
        """Return a card; the candidate with figures that count whole, as the memory model computes with them."""
        return cast(GPU, watched(row.part, str(row["id"]))) if is_watched(gpu) else gpu

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


def _as_the_board_sees(part: AnyPart, fastest: int, kinds: frozenset[str]) -> AnyPart:
    """Return a card as its place sees it: whole columns, no generation beyond the fastest place's; without a slot of its kind its
    edge does not count."""
    if not isinstance(part, GPU):
        return part
    if slot_kind(part) not in (*kinds, None):
        return replace(part, edge_gen=None, edge_width=None, slots=None)
    gen = None if part.edge_gen is None else min(part.edge_gen, fastest)
    columns = None if part.slots is None else math.ceil(part.slots)
    return part if (gen, columns) == (part.edge_gen, part.slots) else replace(part, edge_gen=gen, slots=columns)


def _fastest_place(machine: Machine) -> int:
    gens = [use.slot.gen or 9 for use in machine.slots] + [use.port.gen or 9 for use in machine.drives]
    return max(gens, default=9)


def _taking(fields: Sequence[str]) -> Callable[[AnyPart], tuple[Any, ...]]:
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
