"""Candidates of one kind tried in one rig, each rule asked once per different set of the fields
that it reads."""

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, KINDS, AnyPart
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.assemble import put_together
from rigplanner.machine.model import Machine
from rigplanner.machine.pieces import pieces_of
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import machine_of, memory_of
from rigplanner.rules.check import counted, settled
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import Cases, judged
from rigplanner.rules.fitting.answers import (
    Alike,
    Badge,
    Box,
    Brought,
    Fitting,
    Remembered,
    Row,
    Said,
    Shelves,
    Tally,
    holding,
)
from rigplanner.rules.fitting.figures import FIGURES, Reading, observed
from rigplanner.rules.fitting.likeness import ID, Likeness, naming
from rigplanner.rules.fitting.places import as_the_board_sees, fastest_places
from rigplanner.rules.fitting.watching import (
    SOLVED,
    Once,
    Placement,
    Scene,
    WatchedJob,
    WatchedMachine,
    WatchedSituation,
    is_watched,
    watched,
)
from rigplanner.rules.topics import RULES_BY_CODE

BADGES: dict[str, Badge] = {"error": "no", "unknown": "unknown", "warning": "warns"}
"""The worst severity that a candidate brings, to its badge; remarks do not count."""

TELLING = (
    "CPU001",
    "CPU002",
    "CPU003",
    "CPU009",
    "MEM001",
    "MEM002",
    "MEM003",
    "MEM004",
    "SPC004",
    "SPC005",
    "SPC006",
    "SPC007",
    "CLG001",
    "CLG003",
    "SW001",
    "SW005",
    "SW006",
    "SW009",
    "SW015",
    "SW021",
)
"""Rules that often say no and ask for no places: they are asked first, and where one says no, no
machine is assembled."""
SOCKET, PLACES, WATTS = ("CPU001",), ("GPU001", "SLT001"), ("PWR002", "PWR012")
_CODES = tuple(RULES_BY_CODE)
ERRORS = (*(code for code, rule in RULES_BY_CODE.items() if rule.severity == "error"), "KNO001")
"""Rules whose findings mostly are errors, or known troubles of any severity."""
USUAL = ((TELLING,), (ERRORS, _CODES))
ORDER = {
    "cpu": ((SOCKET, TELLING), (ERRORS, _CODES)),
    "motherboard": ((SOCKET, TELLING), (PLACES, ERRORS, _CODES)),
    "gpu": ((TELLING,), (PLACES,), (ERRORS, _CODES)),
    "system": ((SOCKET, TELLING, WATTS, PLACES, ERRORS, _CODES),),
}
"""By kind the stages in which rules are asked, each in rounds: where one says no, those of later
rounds are not asked."""

REMARKS = ("RIG003", "DSK001")
"""Rules that only remark, on every part in words of its own or on every port; a badge does not
count them."""

WHOLE = ("system",)
"""Kinds of which each makes a machine of its own: it is asked unwatched, which then is faster."""
UNREAD = frozenset(
    ("id", "name", "aliases", "status", "sources", "doubts", "unpublished", "prices", "notes")
)
"""Fields of these that no verdict reads, but for ids that other parts name, and for doubts where a
rig counts that remark."""

_BITS = {code: 1 << number for number, code in enumerate(RULES_BY_CODE)}
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
    """Return whether a finding counts for a badge: no remark, and no question that only the rig or
    its site leaves open, which no candidate answers (what else is to be chosen, which circuit feeds
    it)."""
    if finding.severity == "unknown" and finding.missing:
        return not all(fact.startswith(("site:", "rig:")) for fact in finding.missing)
    return finding.severity in BADGES


def findings(rig: Rig, catalog: Catalog, machine: Machine, today: str) -> list[Finding]:
    """Return what all rules say of a rig, fixes left out."""
    jobs = tuple(
        _job(
            index, rig, (memory_of(workload, node.gpu, len(machine.gpus)) for node in machine.gpus)
        )
        for index, workload in enumerate(rig.workloads)
    )
    context = Context(
        rig=rig, catalog=catalog, machine=machine, jobs=jobs, today=today, advise=False
    )
    return counted(context, tuple(RULES_BY_CODE))


def found_before(rig: Rig, catalog: Catalog, uid: str | None, today: str) -> set[Key]:
    """Return what is found without the item that a candidate would replace."""
    without = apply(rig, Edit("remove_item", {"uid": uid})) if uid else rig
    return {
        key_of(finding)
        for finding in findings(without, catalog, machine_of(without, catalog), today)
    }


def _job(index: int, rig: Rig, needs: Iterable[MemoryEstimate | str]) -> JobFacts:
    """Return a job with the memory it needs on each GPU, or why that is not known."""
    answers = list(needs)
    fault = next((need for need in answers if isinstance(need, str)), None)
    known = () if fault else tuple(need for need in answers if not isinstance(need, str))
    return JobFacts(
        name=f"workload.{index}",
        index=index,
        workload=rig.workloads[index],
        memory=known,
        fault=fault,
    )


def _jobs(
    rig: Rig, needs: Callable[[int], Iterable[MemoryEstimate | str]], once: Once
) -> tuple[WatchedJob, ...]:
    """Return the jobs of a rig; what one needs on each GPU is asked by its number, when a rule
    looks at it."""
    return tuple(
        WatchedJob(_job(index, rig, ()), lambda index=index: _job(index, rig, needs(index)), once)  # type: ignore[misc]
        for index in range(len(rig.workloads))
    )


def _need(workload: Workload, gpu: GPU, count: int) -> MemoryEstimate | str:
    try:
        return estimate_memory(workload, gpu, count, shipped_zoo(), explained=False)
    except WorkloadFault as fault:
        return str(fault)


def _cases(over: Cases, context: Context) -> tuple[Any, ...]:
    return tuple(over(context))


class Round:
    """Rules that are asked together of candidates that those before left open.

    `bits` stands for the rules; `together` has those over the same cases, `questions` by the bit of
    each rule these cases and the bits of all rules over them; `shelves` keep the answers."""

    def __init__(self, rig: Rig, codes: Iterable[str]) -> None:
        self.together: dict[Cases, list[str]] = {}
        for code in codes:
            if code not in rig.ignored and (code not in REMARKS or code in rig.severities):
                self.together.setdefault(RULES_BY_CODE[code].over, []).append(code)
        self.questions: dict[int, tuple[Cases, int]] = {}
        for over, asked in self.together.items():
            bits = [_BITS[code] for code in asked]
            self.questions |= dict.fromkeys(bits, (over, sum(bits)))
        self.shelves, self.bits = Shelves(), sum(self.questions)


class Stage:
    """Rounds of questions over what tells the same candidates apart: `likeness` says which are
    alike, `scenes` are what the rules look at."""

    def __init__(self, rounds: Iterable[Round], likeness: Likeness) -> None:
        self.rounds, self.likeness = tuple(rounds), likeness
        self.scenes: dict[Hashable, Scene] = {}


def _stages(rig: Rig, kind: str, likeness: Callable[[], Likeness]) -> tuple[Stage, ...]:
    """Return the rules in the order in which candidates of a kind are asked."""
    stages, asked = [], set[str]()
    for each in ORDER.get(kind, USUAL):
        rounds = []
        for codes in each:
            rounds.append(Round(rig, [code for code in codes if code not in asked]))
            asked.update(codes)
        stages.append(Stage(rounds, likeness()))
    if kind in WHOLE:
        unread = UNREAD - {"doubts"} if "RIG003" in rig.severities else UNREAD
        stages[0].likeness.note(Reading(frozenset(KINDS[kind].__struct_fields__) - unread, {}))
    return tuple(stages)


class Trial:
    """What is known of candidates of a kind in a rig. `lock` is held while some are tried."""

    def __init__(self, rig: Rig, catalog: Catalog, kind: str, uid: str | None, today: str) -> None:
        self.rig, self.kind, self.uid, self.today, self.lock = (
            rig,
            kind,
            uid,
            today,
            threading.Lock(),
        )
        self.parts = dict(catalog.parts)
        self.catalog = replace(catalog, parts=self.parts)
        machine = machine_of(rig, catalog)
        parts = [piece.part for piece in machine.pieces]
        self.name_of = naming(rig, catalog, parts)
        self.stages = _stages(rig, kind, lambda: Likeness(kind, parts, self._decided))
        self.before = found_before(rig, catalog, uid, today)
        self.fastest = fastest_places(machine)
        self.placements: Remembered[Placement] = Remembered()
        self.needs: dict[Hashable, Remembered[MemoryEstimate | str]] = {}
        self.rigs: dict[str, Rig] = {}
        self.made: dict[Brought, Fitting] = {}

    def fittings(self, parts: Iterable[AnyPart]) -> tuple[Fitting, ...]:
        """Return the fitting of each part, from what is known of its like."""
        return tuple([self._tried(part) for part in parts])

    def _tried(self, part: AnyPart) -> Fitting:
        """Ask stage by stage until one says no."""
        named = self.name_of(part)
        brought: Brought = ()
        for stage in self.stages:
            likeness = stage.likeness
            key, figures = likeness.told(part, named)
            alike = likeness.alike.get(key)
            if alike is None:
                alike = likeness.alike[key] = Alike(likeness.row(part, named))
            box = alike.always or holding(alike.boxes, figures) or self._judge(stage, alike, part)
            if box.holds:
                brought += box.holds
                if box.says_no:
                    break
        return self.made.get(brought) or self._fitting(brought)

    def _judge(self, stage: Stage, alike: Alike, part: AnyPart) -> Box:
        """Return what the questions of a stage bring to light, and in which ranges of its
        figures."""
        if self.kind in WHOLE:
            box = self._judged_alone(stage, alike.row)
        else:
            tally = Tally(stage.likeness.figures, stage.likeness.figures_of(part))
            for number, asked in enumerate(stage.rounds):
                known = alike.said.setdefault(number, [])
                tally.recall(known)
                if asked.bits & ~tally.bits:
                    found = asked.shelves.said(alike.row, asked.bits & ~tally.bits)
                    new = [said for said in found if said not in known]
                    tally.recall(new)
                    known += new
                if asked.bits & ~tally.bits:
                    self._complete(stage, asked, alike, part, tally, known)
                if tally.says_no():
                    break
            box = tally.box()
        alike.boxes.append(box)
        if not (box.ranges or box.sums):
            alike.always = box
        return box

    def _fitting(self, brought: Brought) -> Fitting:
        ranked = sorted(
            dict.fromkeys(brought), key=lambda pair: (_SEVERITIES.index(pair[0]), pair[1])
        )
        fitting = self.made[brought] = Fitting(
            BADGES[ranked[0][0]] if ranked else "fits", tuple(ranked)
        )
        return fitting

    def _judged_alone(self, stage: Stage, row: Row) -> Box:
        """Return what a candidate brings to light that shares no answer with another. Its views,
        which point back at the context, go at once: the collector would have to find them."""
        named, brought = str(row[ID]), Brought()
        with self._listed(named, replace(row.part, id=named)):
            context = self._alone(named, row)
            for asked in stage.rounds:
                for over, codes in asked.together.items():
                    for code in codes if context.cases(over) else ():
                        brought += self._brought(context, code)
                if any(severity == "error" for severity, _ in brought):
                    break
        vars(context).clear()
        return Box(brought, says_no=any(severity == "error" for severity, _ in brought))

    def _alone(self, named: str, row: Row) -> Context:
        rig = self._rig_with(named)
        machine: Any = put_together(rig, self.catalog)
        jobs: Any = _jobs(rig, lambda index: self._needs(index, row, machine), Once())
        return Context(
            rig=rig,
            catalog=self.catalog,
            machine=machine,
            jobs=jobs,
            today=self.today,
            advise=False,
        )

    def _complete(
        self,
        stage: Stage,
        asked: Round,
        alike: Alike,
        part: AnyPart,
        tally: Tally,
        known: list[Said],
    ) -> None:
        """Ask those of the rules whose answers are not known, and keep what they say under the
        fields that they read."""
        likeness, missing = stage.likeness, asked.bits & ~tally.bits
        row = alike.row if alike.row.part is part else likeness.row(part, str(alike.row[ID]))
        scene = self._scene(stage, row)
        with self._listed(str(row[ID]), scene.part):
            while missing:
                bit = missing & -missing
                over, together = asked.questions[bit]
                cases, read = scene.once.asked(over, partial(_cases, over, scene.context))
                if cases:
                    brought, read = self._answer(scene.context, _CODES[bit.bit_length() - 1])
                else:
                    bit, brought = together & missing, ()
                if likeness.note(read):
                    tally.measure(likeness.figures, likeness.figures_of(part))
                shelf = asked.shelves[read.fields]
                shelf.bits |= bit
                said = shelf[shelf.take(row)]
                tally.learn(said, bit, brought, read.ranges)
                if said not in known:
                    known.append(said)
                missing ^= bit

    def _answer(self, context: Context, code: str) -> tuple[Brought, Reading]:
        return observed(lambda: self._brought(context, code))

    def _brought(self, context: Context, code: str) -> Brought:
        found, _ = judged(RULES_BY_CODE[code], context)
        new = (
            finding
            for finding in settled(context, found)
            if counts(finding) and key_of(finding) not in self.before
        )
        return tuple((finding.severity, finding.code) for finding in new) if found else ()

    def _scene(self, stage: Stage, row: Row) -> Scene:
        """Return what rules look at, with the candidate of a row in it."""
        scene = stage.scenes.get(row[ID])
        if scene is None:
            scene = stage.scenes[row[ID]] = Scene(row.part, row, FIGURES.get(self.kind, ()))
            scene.context = self._situation(scene)
        else:
            scene.turn_to(row.part, row, stage.likeness.fields)
        return scene

    def _situation(self, scene: Scene) -> Context:
        named, once = str(scene.row[ID]), scene.once
        rig = self._rig_with(named)
        with self._listed(named, scene.part):
            pieces = pieces_of(rig, self.catalog).pieces
        machine: Any = WatchedMachine(
            rig, scene.part, pieces, lambda name: self._placement(scene.row, name), once
        )
        jobs: Any = _jobs(rig, lambda index: self._needs(index, scene.row, machine), once)
        return WatchedSituation(
            rig=rig,
            catalog=self.catalog,
            machine=machine,
            jobs=jobs,
            today=self.today,
            advise=False,
            once=once,
        )

    def _decided(self, row: Row, field: str) -> bytes:
        name = field.removeprefix(SOLVED)
        return self._placement(row, name).said_of(name)

    def _placement(self, row: Row, name: str) -> Placement:
        """Return what the solver makes of a candidate, at least for the field `name` of the
        machine."""
        place = row.placement or self._solved(row)
        if row.agreed is place.read and name in place.fields:
            return place
        place.field(name)
        while not place.stands_for(row.seen):
            if place.other is None:
                place.other = self._placed(row.seen)
            place = place.other
            place.field(name)
        row.placement, row.agreed = place, place.read
        row.likeness.note(Reading(place.read, {}))
        return place

    def _solved(self, row: Row) -> Placement:
        """Return the placement of the first candidate that agrees in all that was read before
        anything was placed."""
        seen = as_the_board_sees(row.part, self.fastest)
        row.seen = row if seen is row.part else row.likeness.row(seen, str(row[ID]))
        placement, read = observed(
            lambda: self.placements.get(row.seen, lambda: self._placed(row.seen))
        )
        row.likeness.note(read)
        return placement

    def _placed(self, row: Row) -> Placement:
        named = str(row[ID])
        part = watched(row.part, named, whole=("layout",))
        with self._listed(named, part):
            return Placement(put_together(self._rig_with(named), self.catalog), part, row)

    def _needs(self, index: int, row: Row, machine: Any) -> Iterator[MemoryEstimate | str]:
        """Yield what a job needs on each GPU of a machine."""
        workload, count = self.rig.workloads[index], len(machine.gpu_parts)
        needs: dict[int, MemoryEstimate | str] = {}
        for node in machine.gpu_parts:
            gpu = node.gpu
            if id(gpu) not in needs:
                known = self.needs.setdefault(
                    (index, count, None if is_watched(gpu) else gpu.id), Remembered()
                )
                needs[id(gpu)] = known.get(
                    row,
                    lambda gpu=gpu: _need(workload, self._whole(gpu, row), count),  # type: ignore[misc]
                )
            yield needs[id(gpu)]

    def _whole(self, gpu: GPU, row: Row) -> GPU:
        """Return a card; the candidate with figures that count whole, as the memory model computes
        with them."""
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
