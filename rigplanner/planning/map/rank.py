"""Every card against some work: whether memory holds it, how fast it is, what that costs."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.host_fit import fitted
from rigplanner.memory.capacity.mixed_gpus import card_plan, deals_layers
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.anchors.evidence import Evidence
from rigplanner.performance.anchors.own import current_evidence
from rigplanner.performance.answer import TIME_METRICS, SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.settled import settled
from rigplanner.performance.software.readiness import How, ready
from rigplanner.performance.software.stacks import find_stack, shipped_stacks
from rigplanner.planning.map.cards import Card, Kind
from rigplanner.planning.what_if import split_over
from rigplanner.rig.workload import Workload
from rigplanner.workload.resolved import in_one_format

Fit = Literal["fits", "tight", "host", "slow", "no", "unknown"]
"""fits: the whole interval of memory; tight: only a part of it; host: a part of the model stays in
RAM; slow: it runs, but below the least speed that was asked for; no: it does not fit or does not
run; unknown: it could not be worked out."""

Sort = Literal["speed", "money", "years", "watt", "slot", "memory"]
"""What the best has most of: speed, speed per price, speed per cost of three years, per watt, per
slot, or memory left."""

Known = Literal["measured", "near", "modelled", "unproven"]
"""How a speed is known: rows of this very GPU lead; rows of other GPUs; physics and little else;
unproven: nobody has published this stack on a chip of this maker, so that it may not run at all."""

NEAR, SOME = 0.5, 0.2
"""Weight of the leading measurement, and of all together, from which they count: judgement."""
WORST_FIRST: tuple[Fit, ...] = ("no", "unknown", "slow", "host", "tight", "fits")
RUNS = ("fits", "tight", "host")


class Answer(Struct, frozen=True, kw_only=True):
    """One work on some cards: memory of the fullest card in GiB, what it has, speed, how the stack
    runs the format (None: as it is meant), or the fault that says why there is none."""

    fit: Fit
    need_gib: float | None = None
    room_gib: float | None = None
    speed: SpeedEstimate | None = None
    known: Known | None = None
    ready: How | None = None
    fault: str = ""


class Row(Struct, frozen=True, kw_only=True):
    """`count` of a card against all works. `fit` is the worst of them; `cost` (of a hire that of an
    hour), `launch_cost`, `watts`, `slots` and `memory_gib` are of all cards; `score` with its
    interval is the speed of one work in its metric (times inverted), of several the geometric mean
    of their shares of the fastest. `place` is shared by rows whose intervals hold each other's
    score: nobody can tell which of them is faster. `energy_year` and `three_years` are money;
    `hire` does the same work for the least, and after `break_even_h` hours of its own work the row
    is cheaper than that (None: never, or not known)."""

    gpu: str
    name: str
    count: int
    fit: Fit
    answers: tuple[Answer, ...]
    kind: Kind = "card"
    id: str = ""
    released: str | None = None
    memory_gib: float | None = None
    price: Price | None = None
    cost: float | None = None
    launch_cost: float | None = None
    watts: float | None = None
    slots: float | None = None
    score: float | None = None
    low: float | None = None
    high: float | None = None
    place: int | None = None
    energy_year: float | None = None
    three_years: float | None = None
    hire: str | None = None
    break_even_h: float | None = None

    @property
    def left_gib(self) -> float | None:
        """GiB that the fullest work leaves free on its card."""
        rooms = [
            answer.room_gib - answer.need_gib
            for answer in self.answers
            if answer.room_gib is not None and answer.need_gib is not None
        ]
        return min(rooms, default=None)

    def per(self, sort: Sort) -> float | None:
        """Return the figure that a sort goes by; None where it is not known."""
        if self.score is None:
            return None
        if sort == "memory":
            return self.left_gib
        if sort == "speed":
            return self.score
        share = {
            "money": self.cost if self.kind != "hire" else None,
            "years": self.three_years,
            "watt": self.watts,
            "slot": self.slots,
        }[sort]
        return self.score / share if share else None

    @property
    def proven(self) -> bool:
        """Whether somebody has published each stack on a chip of this maker."""
        return all(answer.known != "unproven" for answer in self.answers)


Key = tuple[int, int, str, int]
"""A work by its index, a GPU by its identity, the link, and the number of GPUs."""


def rows(
    works: Sequence[Workload],
    found: Sequence[Card],
    counts: Sequence[int],
    zoo: Zoo,
    least: Sequence[float | None] = (),
    known: "dict[Key, Answer] | None" = None,
    own: int = 0,
) -> Iterator[Row]:
    """Yield each number of each card with its answers, as they are worked out; no score yet.
    `least`: the speed that each work must reach, in its own metric (of times: the most). `known`
    holds what was answered, for machines with the same GPUs. Works that are split over all `own`
    GPUs of a rig are split over those of the row. The first speed of a row alone keeps its steps
    and measurements, which people open: those of nine works would take 14 MiB."""
    known = {} if known is None else known
    works = [in_one_format(work, zoo) for work in works]
    for card in found:
        for count in card.counts(counts):
            link = card.link or usual_link(card.gpu, count)
            answers: list[Answer] = []
            for at, work in enumerate(works):
                key = at, id(card.gpu), link, count
                if key not in known:
                    asked = split_over(work, own, count) if own else work
                    made = answer(asked, card.gpu, count, zoo, link)
                    if made.speed is not None and any(each.speed for each in answers):
                        made = replace(made, speed=replace(made.speed, steps=(), anchors=()))
                    known[key] = _enough(made, least[at]) if least and least[at] else made
                answers.append(known[key])
            yield _row(card, count, tuple(answers))


def _row(card: Card, count: int, answers: tuple[Answer, ...]) -> Row:
    gpu, many = card.gpu, 1 if card.kind == "hire" or card.count else count
    return Row(
        gpu=gpu.id,
        name=card.name or gpu.name,
        count=count,
        fit=min((each.fit for each in answers), key=WORST_FIRST.index),
        answers=answers,
        kind=card.kind,
        id=card.id or gpu.id,
        released=gpu.released,
        memory_gib=None if gpu.memory_gib is None else gpu.memory_gib * gpu.dies * count,
        price=card.price,
        cost=None if card.cost is None else card.cost * many,
        launch_cost=None if card.launch_cost is None else card.launch_cost * many,
        watts=None if gpu.tdp_w is None or card.kind == "hire" else gpu.tdp_w * count,
        slots=gpu.slots * count if gpu.slots and card.kind == "card" else None,
    )


def _enough(made: Answer, least: float | None) -> Answer:
    """The answer, called slow where its speed misses what was asked for."""
    speed = made.speed
    if speed is None or least is None or made.fit not in RUNS:
        return made
    missed = speed.value > least if speed.metric in TIME_METRICS else speed.value < least
    return replace(made, fit="slow") if missed else made


def answer(work: Workload, gpu: GPU, count: int, zoo: Zoo, link: str | None = None) -> Answer:
    """Return how one work does on `count` equal cards in a computer that holds nothing back. Cards
    that take no layer of a model do not run it: all of it would lie in RAM."""
    link = link or usual_link(gpu, count)
    try:
        speed = predict_speed(work, gpu, count, 1, link, zoo)
    except WorkloadFault as fault:
        return Answer(fit="no", fault=str(fault))
    room, known = usable_gib(gpu), known_of(speed, gpu)
    try:
        asked = settled(work, gpu, count, 1, link, zoo)
        state = ready(speed.stack, gpu, asked.precision, asked.quant)
        if state is not None and state.how == "none":
            return Answer(fit="no", room_gib=room, fault=f"stack: {speed.stack} does not run it.")
        placed = fitted(asked, [gpu] * count, zoo)
        need = _need(placed, gpu, count, zoo)
    except WorkloadFault as fault:
        return Answer(fit="unknown", room_gib=room, speed=speed, known=known, fault=str(fault))
    hosted, bare = placed is not asked, placed is not asked and placed.gpu_layers == 0
    fit: Fit = "unknown"
    if room is not None:
        fit = "no" if need.low_gib > room or bare else "tight" if need.high_gib > room else "fits"
    return Answer(
        fit="host" if hosted and fit != "no" else fit,
        need_gib=need.device_gib,
        room_gib=room,
        speed=speed,
        known=known,
        ready=state.how if state is not None else None,
    )


def known_of(speed: SpeedEstimate, gpu: GPU) -> Known:
    """Return how the speed on a GPU is known."""
    if speed.stack not in shipped_stacks():
        return "modelled"
    if (_row_stack(speed.stack), gpu.chip_maker.casefold()) not in _published(current_evidence()):
        return "unproven"
    if not speed.anchors:
        return "modelled"
    leading = max(speed.anchors, key=lambda anchor: anchor.weight)
    if _same_chip(leading.gpu, gpu) and leading.weight >= NEAR:
        return "measured"
    return "near" if sum(anchor.weight for anchor in speed.anchors) >= SOME else "modelled"


@lru_cache(2)
def _published(known: Evidence) -> frozenset[tuple[str, str]]:
    """The stacks of measured rows, each with the makers of chips that it was measured on."""
    return frozenset((each.point.stack, each.point.maker.casefold()) for each in known.placed)


@cache
def _row_stack(slug: str) -> str:
    """The stack that measured rows name in the stead of one of its relatives."""
    stack = find_stack(slug)
    return stack.kin.like if stack.kin else slug


def _same_chip(name: str, gpu: GPU) -> bool:
    try:
        other = find_gpu(name)
    except WorkloadFault:
        return False
    return (other.chip, other.memory_gib, other.sms) == (gpu.chip, gpu.memory_gib, gpu.sms)


def _need(placed: Workload, gpu: GPU, count: int, zoo: Zoo) -> MemoryEstimate:
    """The memory of the fullest card."""
    need = estimate_memory(placed, gpu, count, zoo, explained=False)
    if count > 1 and deals_layers(placed, need.stack):
        need = card_plan(placed, [gpu] * count, zoo).fullest.need
    return need


def usual_link(gpu: GPU, count: int) -> str:
    """Return the link word of a case that several of a card usually have: what their form factor
    brings; cards with a bridge are taken without it."""
    if count == 1:
        return "none"
    if gpu.form_factor == "oam":
        return "xgmi"
    if gpu.form_factor in ("sxm3", "sxm4", "sxm5", "sxm6"):
        return "nvswitch"
    return "nvlink-mesh" if gpu.form_factor == "sxm2" else "pcie"
