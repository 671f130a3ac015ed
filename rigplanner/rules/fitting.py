"""What fits: the badge of each candidate of a kind, by the same rules as everything else.

A candidate is tried in the rig, and what it brings (findings that the rig without it has not) decides. Candidates that agree
in all fields that a group of rules reads share that group's answer, and the machine is assembled anew only for fields that
decide places and links; so thousands of candidates cost about as much as the different ones among them.
"""

import math
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from operator import attrgetter
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU, KINDS, AnyPart, Bridge, Part, System
from rigplanner.machine.assemble import assemble
from rigplanner.machine.machine import Machine
from rigplanner.machine.power import power_tree
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rules.assess import machine_of, memory_of
from rigplanner.rules.check import counted
from rigplanner.rules.finding import Finding
from rigplanner.rules.fitting_groups import ASKING_MEMORY, GPU_ALONE, GPU_AMONG, GPU_PLACED, GROUPS, PLACED, Group
from rigplanner.rules.known import known_pairs, matches
from rigplanner.rules.situation import JobFacts, Situation
from rigplanner.rules.topics import RULES_BY_CODE

Badge = Literal["fits", "warns", "no", "unknown"]
BADGES: dict[str, Badge] = {"error": "no", "unknown": "unknown", "warning": "warns"}
"""The worst severity that a candidate brings, to its badge; remarks do not count."""

SINGLE = ("cpu", "motherboard", "system", "psu", "chassis", "cooler", "gpu", "memory")
"""Kinds of which a choice replaces the first item; others are added."""

KEPT_TRIALS = 8
FEW_FIELDS = 6
"""Keys of more fields are bytes: 60 000 tuples of structs would be walked by the collector again and again."""

Brought = tuple[tuple[str, str], ...]
"""What a candidate brings: severity and code, worst first."""


class Fitting(Struct, frozen=True, gc=False):
    """The badge of a candidate, and the codes behind it by severity, worst first."""

    badge: Badge
    brings: Brought = ()


IDENTITY = ("id", "name", "aliases", "status", "released", "sources", "doubts", "prices", "notes")
"""Fields that no verdict reads, but for ids that other parts name."""


def choosing(rig: Rig, kind: str, part_id: str, uid: str | None = None) -> Edit:
    """Return the edit that chooses a part: in the stead of the item `uid`, else of the first item of a kind of which a rig has
    one, else as a new item."""
    if uid and rig.item(uid) is not None:
        return Edit("replace_part", {"uid": uid, "part": part_id})
    return Edit("add_part", {"part": part_id, "stem": kind})


def item_for(rig: Rig, catalog: Catalog, kind: str) -> str | None:
    """Return the uid of the item that a choice of this kind replaces, or None when it is added."""
    if kind not in SINGLE:
        return None
    for item in rig.items:
        part = catalog.get(item.part) or rig.snapshot.get(item.part)
        if part is not None and part.__struct_config__.tag == kind:
            return item.uid
    return None


def fits(
    rig: Rig, catalog: Catalog, kind: str, candidates: Sequence[AnyPart], uid: str | None = None, today: str = ""
) -> tuple[Fitting, ...]:
    """Return the fitting of each candidate, in order. `uid` names the item to be replaced (None: as `item_for` says, "": add)."""
    trial = _trial(rig, catalog, kind, item_for(rig, catalog, kind) if uid is None else uid or None, today)
    trial.explore({trial.key_of(part): part for part in candidates}.values())
    return tuple(trial.fitting(part) for part in candidates)


def brings(rig: Rig, catalog: Catalog, part: AnyPart, uid: str | None = None, today: str = "") -> tuple[Finding, ...]:
    """Return the findings that one candidate brings, by a full check; `fits` says the same in short."""
    kind = str(part.__struct_config__.tag)
    trial = _Trial(rig, catalog, kind, item_for(rig, catalog, kind) if uid is None else uid or None, today)
    situation = trial.situation(part, "new")
    return tuple(finding for finding in counted(situation, tuple(RULES_BY_CODE)) if _key(finding) not in trial.before)


def _key(finding: Finding) -> tuple[str, str, tuple[str, ...]]:
    return finding.code, finding.severity, finding.subjects


def exchanged(machine: Machine, uid: str, part: AnyPart) -> Machine:
    """Return the machine with another part in the pieces of an item, everything in its place."""
    pieces = tuple(replace(piece, part=part) if piece.uid == uid and "/" not in piece.name else piece for piece in machine.pieces)
    if not isinstance(part, GPU):
        return replace(machine, pieces=pieces)
    mine = {piece.name for piece in pieces if piece.part is part}
    gpus = tuple(replace(node, gpu=part) if node.piece in mine else node for node in machine.gpus)
    return replace(machine, pieces=pieces, gpus=gpus)


_trials: OrderedDict[Hashable, tuple["_Trial", Catalog, Rig]] = OrderedDict()
"""The last trials: a table that fills row by row, or is opened again, finds what is known."""


def _trial(rig: Rig, catalog: Catalog, kind: str, uid: str | None, today: str) -> "_Trial":
    judged = (rig.items, rig.site, rig.settings, rig.workloads, rig.waivers, rig.ignored, rig.severities)
    key = (id(catalog), id(rig.snapshot) if rig.snapshot else 0, kind, uid, today, msgspec.msgpack.encode(judged))
    entry = _trials.get(key)
    if entry is None:
        entry = _trials[key] = (_Trial(rig, catalog, kind, uid, today), catalog, rig)
        if len(_trials) > KEPT_TRIALS:
            _trials.popitem(last=False)
    return entry[0]


class _Trial:
    """Candidates of one kind tried in one rig."""

    def __init__(self, rig: Rig, catalog: Catalog, kind: str, uid: str | None, today: str) -> None:
        self.rig, self.catalog, self.kind, self.uid, self.today = rig, catalog, kind, uid, today
        self.groups = GROUPS.get(kind, (Group(tuple(RULES_BY_CODE), (), "new"),))
        if kind == "gpu":
            self.groups = (*self.groups[:-1], replace(self.groups[-1], fields=_gpu_fields(rig, catalog, uid)))
        self.special = _named_ids(rig, catalog)
        self.paired = _paired_with(rig, catalog)
        without = apply(rig, Edit("remove_item", {"uid": uid})) if uid else rig
        base = self._situate(without, machine_of(without, catalog))
        self.before = {_key(finding) for finding in counted(base, tuple(RULES_BY_CODE))}
        self.fastest = max((use.slot.gen or 9 for use in base.machine.slots), default=9)
        self.machine: Machine | None = None
        self.machines: dict[Hashable, Machine] = {}
        self.tried = uid or ""
        self.answers: dict[Hashable, Brought] = {}
        self.risen: dict[Hashable, list[tuple[float, Brought]]] = {}
        self.getters = [_getter(group.fields, kind) for group in self.groups]
        self.whole = _getter((), kind)
        self.known: dict[Hashable, Fitting] = {}

    def key_of(self, part: AnyPart) -> tuple[str, Hashable]:
        """Return what a part must be told apart by (its id, or what stands in for a missing fact), and all that verdicts read."""
        apart = part.id in self.special or part.id.startswith(self.paired)
        named = part.id if apart else _stand_in(part)
        return named, (named, self.whole(part))

    def explore(self, parts: Collection[AnyPart]) -> None:
        """Ask about both ends of each rising field first: most other values then lie between equal answers."""
        for number, group in enumerate(self.groups):
            ends: dict[tuple[str, Hashable], list[AnyPart]] = {}
            for part in parts if group.rising else ():
                if getattr(part, group.rising) is not None:
                    ends.setdefault((_stand_in(part), self.getters[number](part)), []).append(part)
            for (named, rest), alike in ends.items():
                for end in (min, max):
                    self._risen(end(alike, key=attrgetter(group.rising)), group, (number, named, rest))

    def fitting(self, part: AnyPart) -> Fitting:
        """Return the badge of a part, asking each group of rules once per different set of fields."""
        named, whole = self.key_of(part)
        fitting = self.known.get(whole)
        if fitting is None:
            fitting = self.known[whole] = self._judge(part, named)
        return fitting

    def _judge(self, part: AnyPart, named: str) -> Fitting:
        brought: list[tuple[str, str]] = []
        for number, group in enumerate(self.groups):
            key = (number, named, self.getters[number](part))
            answer = self._risen(part, group, key) if group.rising else self.answers.get(key)
            if answer is None:
                answer = self.answers[key] = self._ask(part, group)
            brought.extend(answer)
            if any(severity == "error" for severity, _ in answer):
                break
        worst = next((severity for severity in BADGES if any(severity == each for each, _ in brought)), None)
        order = list(BADGES)
        ranked = sorted(brought, key=lambda pair: order.index(pair[0]))
        return Fitting(BADGES[worst] if worst else "fits", tuple(dict.fromkeys(ranked)))

    def _risen(self, part: AnyPart, group: Group, key: Hashable) -> Brought:
        """Return the answer for a value of a rising field: what its known neighbours share, else a new one."""
        value = getattr(part, group.rising)
        known = self.risen.setdefault((key, value is None), [])
        value = 0.0 if value is None else value
        place = bisect_left(known, value, key=lambda pair: pair[0])
        if place < len(known) and known[place][0] == value:
            return known[place][1]
        if 0 < place < len(known) and known[place - 1][1] == known[place][1]:
            return known[place][1]
        answer = self._ask(part, group)
        known.insert(place, (value, answer))
        return answer

    def _ask(self, part: AnyPart, group: Group) -> Brought:
        situation = self.situation(part, group.machine, any(code in ASKING_MEMORY for code in group.codes))
        found = counted(situation, group.codes)
        new = (finding for finding in found if finding.severity in BADGES and _key(finding) not in self.before)
        return tuple((finding.severity, finding.code) for finding in new)

    def situation(self, part: AnyPart, made: str, memory: bool = True) -> Situation:
        """Return the rig with a part tried in it; where no place or link can change, on a machine with the part exchanged."""
        catalog = self._with(part)
        rig = apply(self.rig, choosing(self.rig, self.kind, part.id, self.uid))
        machine = self.machine
        if made == "new" or machine is None:
            machine = self._assembled(part, rig, catalog)
            if self.machine is None:
                self.machine, self.tried = machine, next(item.uid for item in rig.items if item.part == part.id)
        machine = exchanged(machine, self.tried, part)
        if made != "same":
            machine = replace(machine, power=power_tree(rig, machine.pieces))
        return self._situate(rig, machine, catalog, memory)

    def _assembled(self, part: AnyPart, rig: Rig, catalog: Catalog) -> Machine:
        fields = self.groups[-1].fields if isinstance(part, GPU) else PLACED.get(self.kind)
        if fields is None:
            return assemble(rig, catalog)
        key = (part.id if part.id in self.special else "", _getter(fields, self.kind)(_as_the_board_sees(part, self.fastest)))
        machine = self.machines.get(key)
        if machine is None:
            machine = self.machines[key] = assemble(rig, catalog)
        return machine

    def _with(self, part: AnyPart) -> Catalog:
        """Return the catalog, with the candidate in it when it has it not."""
        if self.catalog.parts.get(part.id) is part:
            return self.catalog
        return replace(self.catalog, parts={**self.catalog.parts, part.id: part})

    def _situate(self, rig: Rig, machine: Machine, catalog: Catalog | None = None, memory: bool = True) -> Situation:
        jobs = tuple(_job(index, rig, machine if memory else None) for index in range(len(rig.workloads)))
        return Situation(rig=rig, catalog=catalog or self.catalog, machine=machine, jobs=jobs, today=self.today, advise=False)


def _job(index: int, rig: Rig, machine: Machine | None) -> JobFacts:
    """Return a job with the memory it needs on a machine, or without."""
    name, workload = f"workload.{index}", rig.workloads[index]
    gpus = machine.gpus if machine else ()
    needs = [memory_of(workload, node.gpu, len(gpus)) for node in gpus]
    fault = next((need for need in needs if isinstance(need, str)), None)
    known = () if fault else tuple(need for need in needs if not isinstance(need, str))
    return JobFacts(name=name, index=index, workload=workload, memory=known, fault=fault)


def _gpu_fields(rig: Rig, catalog: Catalog, uid: str | None) -> tuple[str, ...]:
    """Return the fields of a GPU that decide its place and links in this rig."""
    kinds = [(item, catalog.get(item.part) or rig.snapshot.get(item.part)) for item in rig.items]
    if any(isinstance(part, Bridge | System) for _, part in kinds):
        return GPU_PLACED
    alone = all((item.uid == uid and item.quantity == 1) or not isinstance(part, GPU) for item, part in kinds)
    return GPU_ALONE if alone else GPU_AMONG


def _as_the_board_sees(part: AnyPart, fastest: int) -> AnyPart:
    """Return a card as its place sees it: whole columns, and no generation beyond the fastest slot's."""
    if not isinstance(part, GPU):
        return part
    gen = None if part.edge_gen is None else min(part.edge_gen, fastest)
    return replace(part, edge_gen=gen, slots=None if part.slots is None else math.ceil(part.slots), cooling=None)


def _stand_in(part: AnyPart) -> str:
    """Return what rules look at in the stead of a missing fact: the maker of a GPU without a compute capability."""
    return part.vendor if isinstance(part, GPU) and part.compute_capability is None else ""


def _named_ids(rig: Rig, catalog: Catalog) -> set[str]:
    """Return the ids that parts of the rig name: bridges their cards, boards their CPUs; and the rig's own parts."""
    named: set[str] = set()
    for item in rig.items:
        part = catalog.get(item.part) or rig.snapshot.get(item.part)
        named.add(item.part)
        named.update(getattr(part, "proven_with", ()) or ())
        layout = getattr(part, "layout", None)
        named.update(layout.bios_minimum if layout else ())
    return named


def _paired_with(rig: Rig, catalog: Catalog) -> tuple[str, ...]:
    """Return the beginnings of ids that a known pair names, where its other half is in the rig."""
    parts = [part for item in rig.items if (part := catalog.get(item.part) or rig.snapshot.get(item.part)) is not None]
    halves = [half for pair in known_pairs() for half in ((pair.first, pair.second), (pair.second, pair.first))]
    return tuple(one.id for one, other in halves if one.id and any(matches(other, part) for part in parts)) or ("\0",)


def _getter(fields: tuple[str, ...], kind: str) -> Callable[[Part], Hashable]:
    """Return a function that takes the fields (all that verdicts may read when none is named) of a part as a key."""
    if not fields:
        fields = tuple(field for field in KINDS[kind].__struct_fields__ if field not in IDENTITY)
    get = attrgetter(*fields) if len(fields) > 1 else lambda part: (getattr(part, fields[0]),)

    if len(fields) > FEW_FIELDS:
        encode = msgspec.msgpack.Encoder().encode
        return lambda part: encode(get(part))

    def key(part: Part) -> Hashable:
        values: tuple[Any, ...] = get(part)
        try:
            hash(values)
        except TypeError:
            return msgspec.msgpack.encode(values)
        return values

    return key
