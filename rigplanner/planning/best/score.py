"""How well a machine does the works: their speeds, their mean, and whether memory holds them."""

import math
from functools import cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.answer import TIME_METRICS, SpeedEstimate
from rigplanner.performance.settled import settle, settled
from rigplanner.performance.software.readiness import ready
from rigplanner.planning.best.question import Question, Want
from rigplanner.planning.best.reads import Strictness
from rigplanner.planning.best.space import CardSet, Way
from rigplanner.planning.best.works import HOSTED_STACKS, asks_for_card, from_ram, trains
from rigplanner.planning.map.rank import known_of
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.rules.assess import link_of, memory_on, speed_on
from rigplanner.rules.jobs.vram import part_seen

Fault = Literal[
    "memory", "short", "tight", "not-predicted", "unproven", "target", "stack", "no-card"
]
"""Why a machine does not do a work: memory surely does not hold it; most likely does not; may not;
nothing predicts it;
no measurement near it is of its maker's chips; it is too slow; its stack does not run it; it asks
for a GPU and there is none."""


class Score(Struct, frozen=True, kw_only=True):
    """The weighted geometric mean of the speeds of all works, as rates, with its interval; `tight`:
    memory may not hold one of them; `unproven`: one has no published run on chips of this maker."""

    value: float
    low: float
    high: float
    speeds: tuple[SpeedEstimate, ...]
    works: tuple[Workload, ...]
    tight: bool = False
    unproven: bool = False


def leans_on_host(question: Question, cards: CardSet, catalog: Catalog) -> bool:
    """Return whether memory or drives of the host may decide how fast a work is on some cards:
    without cards they always may; with a work that names no stack where people run it on these
    cards with one that leaves in RAM what they do not hold."""
    gpus = [part for each, _ in cards.kinds if isinstance(part := catalog.get(each), GPU)]
    return not gpus or any(
        want.workload.dataset_gb
        or want.workload.cpu_offload_gb
        or want.workload.parallelism is not None
        or any(_stack_of(on_cards(want, cards.count, cards.way), gpu, cards.count) in HOSTED_STACKS
               for gpu in gpus)
        for want in question.wants
    )  # fmt: skip


def _stack_of(work: Workload, gpu: GPU, count: int) -> str:
    """The stack that a work is run with on some cards; "" of one that nothing runs. Training names
    none that keeps layers in RAM."""
    if work.stack or trains(work):
        return (work.stack or "").casefold()
    try:
        return settle(work, gpu, count, 1, "pcie", shipped_zoo()).workload.stack or ""
    except WorkloadFault:
        return ""


def on_cards(want: Want, count: int, way: Way) -> Workload:
    """Return the work as it lies on so many cards: as it says itself; else by `way`."""
    work = want.workload
    if way == "ram":
        return from_ram(work)
    if count < 2 or way == "copies" or work.parallelism is not None:
        return work
    degrees = Parallelism(zero=3) if trains(work) else Parallelism(tensor=count)
    return replace(work, parallelism=degrees)


def score_of(
    question: Question, machine: Machine, way: Way, strictness: Strictness = "sound"
) -> Score | Fault:
    """Return how well a machine does the works of a question, or the first fault. Memory that may
    not hold a work is one where only sound rigs count and the question does not bear it; what is
    not proven on chips of the maker is one unless all is open."""
    speeds, works, tight, unproven = [], [], False, False
    count = len(machine.gpus)
    bears_tight = question.tight or strictness != "sound"
    for want in question.wants:
        work = on_cards(want, count, way)
        if not count and question.most_cards and asks_for_card(work):
            return "no-card"
        found = _speed(work, machine)
        if not isinstance(found, SpeedEstimate):
            return found
        if found.fits == "no":
            return "memory"
        doubt = bool(count) and found.fits != "yes"
        if doubt and not bears_tight:
            return "tight"
        news = any(is_unproven(found, gpu) for gpu in _kinds(machine))
        if news and strictness != "open":
            return "unproven"
        if want.at_least is not None and not _reaches(found, want.at_least):
            return "target"
        speeds.append(found)
        works.append(work)
        tight, unproven = tight or doubt, unproven or news
    value, low, high = mean(question.wants, tuple(speeds))
    return Score(
        value=value,
        low=low,
        high=high,
        speeds=tuple(speeds),
        works=tuple(works),
        tight=tight,
        unproven=unproven,
    )


def _speed(work: Workload, machine: Machine) -> SpeedEstimate | Fault:
    memory, fault = memory_on(work, machine)
    if machine.gpus and (fault is not None or not memory):
        return "not-predicted"
    if (lack := _lack(work, memory, machine)) is not None:
        return lack
    speed, fault = speed_on(work, machine, memory, remembered=False)
    if speed is None or speed.value <= 0 or speed.low <= 0:
        return "not-predicted"
    if machine.gpus and not _is_ready(work, machine, speed.stack):
        return "stack"
    return speed


def _lack(
    work: Workload, memory: tuple[MemoryEstimate, ...], machine: Machine
) -> Literal["memory", "short"] | None:
    """Return the fault where a GPU surely, or most likely, does not hold what a work takes."""
    parts = (part_seen(work, node.gpu) for node in machine.gpus)
    rooms = ((need, usable_gib(part)) for need, part in zip(memory, parts, strict=False))
    known = [(need, room) for need, room in rooms if room is not None]
    if any(need.low_gib > room for need, room in known):
        return "memory"
    return "short" if any(need.device_gib > room for need, room in known) else None


def _is_ready(work: Workload, machine: Machine, stack: str) -> bool:
    count = len(machine.gpus)
    for gpu in _kinds(machine):
        try:
            asked = settled(work, gpu, count, 1, link_of(machine), shipped_zoo())
        except WorkloadFault:
            return False
        state = ready(stack, gpu, asked.precision, asked.quant)
        if state is not None and state.how == "none":
            return False
    return True


def _kinds(machine: Machine) -> list[GPU]:
    """The GPUs of a machine, one of each kind."""
    return list({node.gpu.id: node.gpu for node in machine.gpus}.values())


def is_unproven(speed: SpeedEstimate, gpu: GPU) -> bool:
    """Return whether a speed leans on measurements of other makers' chips alone, so that nobody
    knows how the software does on this one's."""
    if known_of(speed, gpu) == "unproven":
        return True
    return bool(speed.anchors) and all(
        maker_of(anchor.gpu) != gpu.chip_maker for anchor in speed.anchors
    )


@cache
def maker_of(name: str) -> str:
    """Return who makes the chip of a card; "" of an unknown one."""
    try:
        return find_gpu(name).chip_maker
    except WorkloadFault:
        return ""


def _reaches(speed: SpeedEstimate, target: float) -> bool:
    return speed.value <= target if speed.metric in TIME_METRICS else speed.value >= target


def mean(wants: tuple[Want, ...], speeds: tuple[SpeedEstimate, ...]) -> tuple[float, float, float]:
    """Return the weighted geometric mean of speeds as rates, with both ends of its interval; 1
    where nothing has a weight."""
    total = sum(want.weight for want in wants)
    if not total:
        return 1.0, 1.0, 1.0
    ends = [0.0, 0.0, 0.0]
    for want, speed in zip(wants, speeds, strict=True):
        for at, rate in enumerate(rates(speed)):
            ends[at] += want.weight / total * math.log(rate)
    value, low, high = (math.exp(end) for end in ends)
    return value, low, high


def rates(speed: SpeedEstimate) -> tuple[float, float, float]:
    """Return value, low and high of a speed as rates, more of which is faster."""
    if speed.metric in TIME_METRICS:
        return 1 / speed.value, 1 / speed.high, 1 / speed.low
    return speed.value, speed.low, speed.high
