"""Badges: what each candidate of a kind would bring to a rig, by the same rules as everything else.

A candidate is put into the rig and the rules are run, as after a choice; findings that the rig
without it has not are what it brings. What makes this
quick asks nothing of a rule:

- the rig without the candidate is checked once;
- the machine and the jobs are worked out only as far as rules look at them;
- where a rule says no, the rest is not asked;
- candidates alike in what decides their places (see `stand_of`) stand in one machine whose
  places are settled once, and share the answers of rules that see them alike (see `READS`)."""

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    AnyPart,
    kind_of,
)
from rigplanner.garbage import collector_paused
from rigplanner.machine.assemble import assemble, put_together
from rigplanner.machine.pieces import pieces_of
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.rig.document import Rig, part_of
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import facts_of, job_on, memory_on, speed_on, unfed_speed
from rigplanner.rules.check import counted, settled
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import Rule, judged
from rigplanner.rules.cures import cure_of
from rigplanner.rules.shared_answers import (
    FEEDING,
    PLACEABLE,
    READS,
    about,
    alike,
    read_of,
    stand_of,
)
from rigplanner.rules.topics import RULES_BY_CODE

Badge = Literal["fits", "warns", "no", "unknown"]
BADGES: dict[str, Badge] = {"error": "no", "unknown": "unknown", "warning": "warns"}
"""The worst severity that a candidate brings, to its badge; remarks do not count."""

SINGLE = ("cpu", "motherboard", "system", "psu", "chassis", "cooler", "gpu", "memory")
"""Kinds of which a choice replaces the first item; others are added."""

ASKED_FIRST = (
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
    "PWR002",
    "PWR012",
    "PWR005",
    "GPU001",
    "SLT001",
    "SLT004",
    "PWR015",
    "SPC001",
    "VRM001",
)
"""Rules that often say no, those that need no places first. The order decides how soon an answer
is there, not which."""

REMARKS = ("RIG003", "DSK001", "HST003")
"""Rules that only remark: what they find, or lack, decides nothing, unless the rig rates them."""

Key = tuple[str, str, tuple[str, ...]]
Brought = tuple[tuple[str, str], ...]
"""Severity and code of what a candidate brings."""
Answer = tuple[str, list[Finding]]
"""The candidate that was asked first, and what a rule found of it."""


class Fitting(Struct, frozen=True, gc=False):
    """The badge of a candidate, and severity and code of what it brings, worst first; of a
    candidate that does not fit, only what was found until then. `cause` is the finding that decided
    the badge, None where it fits; `cure` names what would cure all that was found (see `cures`), ""
    for nothing."""

    badge: Badge
    brings: Brought = ()
    cause: Finding | None = None
    cure: str = ""


def item_for(rig: Rig, catalog: Catalog, kind: str) -> str | None:
    """Return the uid of the item that a choice of this kind replaces, or None when it is added."""
    if kind not in SINGLE:
        return None
    for item in rig.items:
        part = catalog.get(item.part) or rig.snapshot.get(item.part)
        if part is not None and kind_of(part) == kind:
            return item.uid
    return None


def choosing(rig: Rig, kind: str, part_id: str, uid: str | None = None) -> Edit:
    """Return the edit that chooses a part: in the stead of the item `uid`, else as a new item."""
    if uid and rig.item(uid) is not None:
        return Edit("replace_part", {"uid": uid, "part": part_id})
    return Edit("add_part", {"part": part_id, "stem": kind})


def counts(finding: Finding) -> bool:
    """Return whether a finding counts for a badge: no remark, and no question that only the rig or
    its site leaves open, which no candidate answers (what else is to be chosen, which circuit feeds
    it)."""
    if finding.code in REMARKS and finding.rated is None:
        return False
    if finding.severity == "unknown" and finding.missing:
        return not all(fact.startswith(("site:", "rig:")) for fact in finding.missing)
    return finding.severity in BADGES


def brings(
    rig: Rig, catalog: Catalog, part: AnyPart, uid: str | None = None, today: str = ""
) -> tuple[Finding, ...]:
    """Return the findings that one candidate brings, by two full checks, each question by itself;
    `fits` says the same in short."""
    trial = Trial(rig, catalog, kind_of(part), uid, today)
    chosen, listed = trial.with_part(part), trial.listing(part)
    machine = assemble(chosen, listed)
    jobs = [job_on(index, workload, machine) for index, workload in enumerate(chosen.workloads)]
    context = Context(
        rig=chosen,
        catalog=listed,
        machine=machine,
        jobs=tuple(facts_of(job, machine) for job in jobs),
        today=today,
        advise=False,
    )
    found = counted(context, tuple(RULES_BY_CODE))
    return tuple(finding for finding in found if _key(finding) not in trial.before)


def fits(
    rig: Rig,
    catalog: Catalog,
    kind: str,
    candidates: Iterable[AnyPart],
    uid: str | None = None,
    today: str = "",
) -> tuple[Fitting, ...]:
    """Return the fitting of each candidate, in order. `uid` names the item to be replaced (None: as
    `item_for` says, "": add)."""
    trial = Trial(rig, catalog, kind, uid, today)
    with collector_paused():
        return tuple([trial.fitting(part) for part in candidates])


class Trial:
    """A rig in which candidates of one kind are tried, one after another; `before` is what is found
    without the item that they would replace."""

    def __init__(
        self, rig: Rig, catalog: Catalog, kind: str, uid: str | None = None, today: str = ""
    ) -> None:
        self.rig, self.catalog, self.kind, self.today = rig, catalog, kind, today
        self.uid = item_for(rig, catalog, kind) if uid is None else uid or None
        codes = (*ASKED_FIRST, *(code for code in RULES_BY_CODE if code not in ASKED_FIRST))
        codes = tuple(sorted(codes, key=lambda code: not _is_final(RULES_BY_CODE[code], kind)))
        idle = {*rig.ignored, *(code for code in REMARKS if code not in rig.severities)}
        self.rules = [RULES_BY_CODE[code] for code in codes if code not in idle]
        self.fields = [read_of(kind, rule.topic) for rule in self.rules]
        self._shared = [fields for fields in dict.fromkeys(self.fields) if fields is not None]
        self._placeable = [
            item.part
            for item in rig.items
            if isinstance(part_of(rig, catalog, item.part), PLACEABLE)
        ]
        self._placed: dict[Hashable, Context] = {}
        self._answers: dict[Hashable, dict[str, Answer]] = {}
        without = apply(rig, Edit("remove_item", {"uid": self.uid})) if self.uid else rig
        context = self._context(without, catalog)
        found = [each for rule in self.rules for each in judged(rule, context)[0]]
        self.before = {_key(each) for each in settled(context, found)}

    def with_part(self, part: AnyPart) -> Rig:
        """Return the rig after the choice of a part."""
        return apply(self.rig, choosing(self.rig, self.kind, part.id, self.uid))

    def listing(self, part: AnyPart) -> Catalog:
        """Return a catalog that lists a part."""
        if self.catalog.parts.get(part.id) is part:
            return self.catalog
        return replace(self.catalog, parts={**self.catalog.parts, part.id: part})

    def fitting(self, part: AnyPart) -> Fitting:
        """Return what is said of a candidate, among errors first of one that nothing cures."""
        found = self._brought(part)
        brought = sorted(
            found,
            key=lambda pair: (list(BADGES).index(pair[0]), not self._stays(pair), pair[1]),
        )
        if not brought:
            return Fitting("fits")
        cures = [
            cure_of(code, self.kind) or "" for severity, code in brought if severity == "error"
        ]
        return Fitting(
            BADGES[brought[0][0]],
            tuple(brought),
            cause=found[brought[0]],
            cure=cures[0] if cures and all(cures) else "",
        )

    def _brought(self, part: AnyPart) -> dict[tuple[str, str], Finding]:
        """Ask rule by rule until one says a no that nothing cures: first those that always say such
        a no. After a no that can be cured, rules are asked only whether they say one that cannot:
        a rule that mostly warns may (see `no_units`). The views of the context, which point back at
        it, go at once: the collector would have to find them."""
        context: Context | None = None
        stand = stand_of(part, self._placeable)
        brought: dict[tuple[str, str], Finding] = {}
        curable = False
        shared: dict[tuple[str, ...] | None, dict[str, Answer]] = {
            fields: self._answers.setdefault(alike(stand, part, fields), {})
            for fields in self._shared
        }
        shared[None] = {}
        for rule, fields in zip(self.rules, self.fields, strict=True):
            if curable and not self._may_stop(rule):
                continue
            known = shared[fields].get(rule.code)
            if known is None:
                context = context or self._candidate(part, stand)
                known = shared[fields][rule.code] = part.id, self._new(rule, context)
            if not known[1]:
                continue
            for finding in known[1]:
                own = about(finding, known[0], part.id)
                if not curable or finding.severity == "error":
                    brought.setdefault((finding.severity, finding.code), own)
            if any(map(self._stays, brought)):
                break
            curable = any(severity == "error" for severity, _ in brought)
        if context is not None:
            vars(context).clear()
        return brought

    def _may_stop(self, rule: Rule) -> bool:
        """Say whether a rule may say a no that nothing cures."""
        errs = rule.may_err or self.rig.severities.get(rule.code) == "error"
        return errs and cure_of(rule.code, self.kind) is None

    def _stays(self, brought: tuple[str, str]) -> bool:
        """Say whether it is an error that nothing cures."""
        severity, code = brought
        return severity == "error" and cure_of(code, self.kind) is None

    def _new(self, rule: Rule, context: Context) -> list[Finding]:
        """Return what a rule finds that is not found without the candidate."""
        found = judged(rule, context)[0]
        return [
            finding
            for finding in (settled(context, found) if found else ())
            if counts(finding) and _key(finding) not in self.before
        ]

    def _candidate(self, part: AnyPart, stand: Hashable) -> Context:
        """Return what the rules look at after the choice of a part."""
        rig, catalog = self.with_part(part), self.listing(part)
        if self.kind not in READS:
            return self._context(rig, catalog)
        if stand not in self._placed:
            self._placed[stand] = self._context(rig, catalog)
        first: Any = self._placed[stand]
        machine = first.machine.with_pieces(rig, pieces_of(rig, catalog))
        jobs = tuple(
            [job.on(machine) for job in first.jobs] if self.kind in FEEDING else first.jobs
        )
        context: Context = replace(first, rig=rig, catalog=catalog, machine=machine, jobs=jobs)
        return context

    def _context(self, rig: Rig, catalog: Catalog) -> Context:
        """Return what the rules look at: as in `assess`, each field worked out when it is asked
        for, and no fixes sought."""
        machine: Any = put_together(rig, catalog)
        jobs: Any = tuple(
            LateJob(index, workload, machine) for index, workload in enumerate(rig.workloads)
        )
        return Context(
            rig=rig, catalog=catalog, machine=machine, jobs=jobs, today=self.today, advise=False
        )


class LateJob:
    """What rules read of a job (see `JobFacts`), worked out when they look at it."""

    def __init__(self, index: int, workload: Workload, machine: Any) -> None:
        self.name, self.index, self.workload = f"workload.{index}", index, workload
        self.subjects = (self.name,)
        self._machine = machine

    @cached_property
    def _need(self) -> tuple[tuple[MemoryEstimate, ...], str | None]:
        return memory_on(self.workload, self._machine)

    def on(self, machine: Any) -> "LateJob":
        """Return the job on a machine with the same GPUs, linked alike, where it needs as much."""
        other = LateJob(self.index, self.workload, machine)
        vars(other)["_need"] = self._need
        return other

    @property
    def memory(self) -> tuple[MemoryEstimate, ...]:
        """The memory that it needs on each GPU."""
        return self._need[0]

    @property
    def fault(self) -> str | None:
        """Why that is not known."""
        return self._need[1]

    @cached_property
    def speed(self) -> SpeedEstimate | None:
        """What it does on the machine."""
        return speed_on(self.workload, self._machine, self.memory, remembered=False)[0]

    @cached_property
    def unfed(self) -> SpeedEstimate | None:
        """What its GPUs alone would do."""
        return unfed_speed(self.workload, self._machine, remembered=False)


def _is_final(rule: Rule, kind: str) -> bool:
    """Whether a rule says a no to candidates of a kind that nothing cures."""
    return rule.severity == "error" and cure_of(rule.code, kind) is None


def _key(finding: Finding) -> Key:
    """What tells two findings of one rig apart."""
    return finding.code, finding.severity, finding.subjects
