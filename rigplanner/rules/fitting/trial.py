"""Candidates of one kind tried in one rig, each rule asked once per different set of the fields that it reads."""

import math
import threading
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, cast

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU, KINDS, AnyPart
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.machine.assemble import assemble, put_together
from rigplanner.machine.machine import Machine
from rigplanner.machine.seekers import slot_kind
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.task import Workload
from rigplanner.rules.assess import machine_of, memory_of
from rigplanner.rules.check import counted
from rigplanner.rules.finding import Finding
from rigplanner.rules.fitting.answers import Alike, Badge, Box, Brought, Fitting, Remembered, Row, Said, Shelf, Tally, holding
from rigplanner.rules.fitting.figures import Reading, observed
from rigplanner.rules.fitting.likeness import ID, Likeness, Numbers
from rigplanner.rules.fitting.watching import (
    Placement,
    Scene,
    WatchedJob,
    WatchedMachine,
    WatchedSituation,
    is_watched,
    watched,
)
from rigplanner.rules.situation import JobFacts, Situation
from rigplanner.rules.topics import RULES_BY_CODE
from rigplanner.workload.answer import MemoryEstimate, WorkloadFault
from rigplanner.workload.memory import estimate_memory

BADGES: dict[str, Badge] = {"error": "no", "unknown": "unknown", "warning": "warns"}
"""The worst severity that a candidate brings, to its badge; remarks do not count."""

TELLING = (("CPU001", "CPU002", "MEM001", "MEM002", "SPC004", "SPC005", "SPC006"), ("GPU001",))
"""Rules that are asked first, by stages: where one of them says no, no other is asked. Those of the first stage ask for no places,
so that no machine is assembled."""

REMARKS = ("RIG003",)
"""Rules that only remark, on every part in words of its own; a badge does not count them."""

WHOLE = ("system",)
"""Kinds of which each makes a machine of its own: it is asked all rules at once, unwatched, which then is faster."""
UNREAD = frozenset(("id", "name", "aliases", "status", "released", "sources", "doubts", "unpublished", "prices", "notes"))
"""Fields of these that no verdict reads, but for ids that other parts name."""

_CODES = tuple(RULES_BY_CODE)
_BITS = {code: 1 << number for number, code in enumerate(RULES_BY_CODE)}
_STAGES = tuple(accumulate(sum(_BITS[code] for code in codes) for codes in (*TELLING, set(_CODES).difference(*TELLING))))
_SEVERITIES = list(BADGES)

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

    def __init__(self, rig: Rig, catalog: Catalog, kind: str, uid: str | None, today: str, numbers: Numbers | None = None) -> None:
        self.rig, self.kind, self.uid, self.today, self.lock = rig, kind, uid, today, threading.Lock()
        self.parts = dict(catalog.parts)
        self.catalog = replace(catalog, parts=self.parts)
        machine = machine_of(rig, catalog)
        parts = [piece.part for piece in machine.pieces]
        self.likeness = Likeness(rig, catalog, kind, parts, numbers or Numbers(), self._decided)
        if kind in WHOLE:
            self.likeness.note(frozenset(KINDS[kind].__struct_fields__) - UNREAD)
        self.asked = [
            sum(_BITS[code] for code in _CODES if _BITS[code] & stage and (code not in REMARKS or code in rig.severities))
            for stage in _STAGES
        ]
        self.before = found_before(rig, catalog, uid, today)
        self.fastest, self.kinds = _fastest_place(machine), frozenset[str](use.slot.kind for use in machine.slots)
        self.shelves: dict[frozenset[str], Shelf] = {}
        self.placements: Remembered[Placement] = Remembered()
        self.outlines: dict[str, Placement] = {}
        self.scenes: dict[Hashable, Scene] = {}
        self.needs: dict[Hashable, Remembered[MemoryEstimate | str]] = {}
        self.rigs: dict[str, Rig] = {}
        self.alike: dict[Hashable, Alike] = {}
        self.made: dict[Brought, Fitting] = {}

    def fitting(self, part: AnyPart) -> Fitting:
        """Return the fitting of a part, from what is known of its like."""
        key, named, figures = self.likeness.told(part)
        alike = self.alike.get(key)
        if alike is None:
            alike = self.alike[key] = Alike(self.likeness.row(part, named))
        box = holding(alike.boxes, figures)
        if box is None:
            box = self._judge(alike, part, Tally(self.likeness.figures, figures))
            alike.boxes.append(box)
        return box.holds

    def _judge(self, alike: Alike, part: AnyPart, tally: Tally) -> Box[Fitting]:
        if self.kind in WHOLE:
            return tally.box(self._fitting(self._brought_by_all(alike.row)))
        for stage, asked in enumerate(self.asked):
            tally.recall(alike.said(stage, self.shelves.values()))
            self._complete(alike, part, tally, stage)
            told = [pair for pair in tally.brought if _BITS[pair[1]] & asked]
            if any(severity == "error" for severity, _ in told):
                break
        return tally.box(self._fitting(told))

    def _fitting(self, brought: list[tuple[str, str]]) -> Fitting:
        key = tuple(brought)
        fitting = self.made.get(key)
        if fitting is None:
            ranked = sorted(dict.fromkeys(brought), key=lambda pair: (_SEVERITIES.index(pair[0]), pair[1]))
            fitting = self.made[key] = Fitting(BADGES[ranked[0][0]] if ranked else "fits", tuple(ranked))
        return fitting

    def _brought_by_all(self, row: Row) -> list[tuple[str, str]]:
        named = str(row[ID])
        with self._listed(named, replace(row.part, id=named)):
            rig = self._rig_with(named)
            found = findings(rig, self.catalog, assemble(rig, self.catalog), self.today)
        new = (finding for finding in found if counts(finding) and key_of(finding) not in self.before)
        return [(finding.severity, finding.code) for finding in new]

    def _complete(self, alike: Alike, part: AnyPart, tally: Tally, stage: int) -> None:
        """Ask those of the rules whose answers are not known, and keep what they say under the fields that they read."""
        missing = self.asked[stage] & ~tally.bits
        if missing:
            scene = self._scene(alike.row, part, stage)
            with self._listed(str(alike.row[ID]), scene.part):
                while missing:
                    bit = missing & -missing
                    brought, read = self._answer(scene.situation, _CODES[bit.bit_length() - 1])
                    tally.learn(self._said(alike, read.fields, stage), bit, brought, read.ranges)
                    missing ^= bit

    def _answer(self, situation: Situation, code: str) -> tuple[Brought, Reading]:
        found, read = observed(lambda: counted(situation, (code,)))
        new = (finding for finding in found if counts(finding) and key_of(finding) not in self.before)
        return tuple((finding.severity, finding.code) for finding in new), read

    def _said(self, alike: Alike, fields: frozenset[str], stage: int) -> Said:
        """Return where answers are kept for which these fields were read."""
        shelf = self.shelves.get(fields)
        if shelf is None:
            shelf = self.shelves[fields] = Shelf(fields, stage)
            self.likeness.note(fields)
        shelf.stage = min(shelf.stage, stage)
        return alike.said_on(shelf)

    def _scene(self, row: Row, part: AnyPart, stage: int) -> Scene:
        """Return what rules look at, with a candidate in it; where no places are asked for, one that has none."""
        key = (row[ID], stage > 0)
        scene = self.scenes.get(key)
        if scene is None:
            scene = self.scenes[key] = Scene(part, row, self.likeness.figures)
            scene.situation = self._situation(scene)
        else:
            scene.turn_to(part, row, self.likeness.fields)
        return scene

    def _situation(self, scene: Scene) -> Situation:
        named, once = scene.row[ID], scene.once
        if named not in self.outlines:
            self.outlines[named] = self._placement(scene.row)
        rig = self._rig_with(named)
        machine: Any = WatchedMachine(rig, scene.part, self.outlines[named], lambda: self._placement(scene.row), once)
        jobs: Any = tuple(
            WatchedJob(_job(index, rig, ()), lambda index=index: _job(index, rig, self._needs(index, scene.row, machine)), once)  # type: ignore[misc]
            for index in range(len(rig.workloads))
        )
        return WatchedSituation(
            rig=rig, catalog=self.catalog, machine=machine, jobs=jobs, today=self.today, advise=False, once=once
        )

    def _decided(self, row: Row, field: str) -> bytes:
        return self._placement(row).said_of(field)

    def _placement(self, row: Row) -> Placement:
        """Return what the solver makes of a candidate, solved once for all that are alike to it."""
        if row.placement is None:
            row.placement = self._solved(row)
        return row.placement

    def _solved(self, row: Row) -> Placement:
        seen = _as_the_board_sees(row.part, self.fastest, self.kinds)
        like = row if seen is row.part else self.likeness.row(seen, str(row[ID]))
        placement, read = observed(lambda: self.placements.get(like, lambda: self._placed(like)))
        self.likeness.note(read.fields)
        return placement

    def _placed(self, row: Row) -> Placement:
        named = str(row[ID])
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
        return cast(GPU, watched(row.part, str(row[ID]))) if is_watched(gpu) else gpu

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
