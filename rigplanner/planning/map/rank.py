"""Every card against some work: whether memory holds it, how fast it is, what that costs."""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.capacity.host_fit import fitted
from rigplanner.memory.capacity.mixed_gpus import card_plan, deals_layers
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.anchors.anchors import find_gpu
from rigplanner.performance.answer import TIME_METRICS, SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.settled import settled
from rigplanner.performance.software.readiness import ready
from rigplanner.planning.map.cards import Card
from rigplanner.rig.workload import Workload

Fit = Literal["fits", "tight", "host", "no", "unknown"]
"""fits: the whole interval of memory; tight: only a part of it; host: a part of the model stays in
RAM; no: it does not fit or does not run; unknown: it could not be worked out."""

Sort = Literal["speed", "money", "watt", "memory"]

Known = Literal["measured", "near", "modelled", "unproven"]
"""How a speed is known: rows of this very GPU lead; rows of other GPUs; physics and little else;
unproven: nobody has published this stack on a chip of this maker, so that it may not run at all."""

NEAR, SOME = 0.5, 0.2
"""Weight of the leading measurement, and of all together, from which they count: judgement."""
WORST_FIRST: tuple[Fit, ...] = ("no", "unknown", "host", "tight", "fits")
RUNS = ("fits", "tight", "host")


class Answer(Struct, frozen=True, kw_only=True):
    """One work on some cards: memory of the fullest card in GiB, what it has, speed, or the fault
    that says why there is none."""

    fit: Fit
    need_gib: float | None = None
    room_gib: float | None = None
    speed: SpeedEstimate | None = None
    known: Known | None = None
    fault: str = ""


class Row(Struct, frozen=True, kw_only=True):
    """`count` of a card against all works. `fit` is the worst of them; `cost` and `watts` are of
    all cards; `score` with its interval is the speed of one work in its metric (times inverted), of
    several the geometric mean of their shares of the fastest. `place` is shared by rows whose
    intervals hold each other's score: nobody can tell which of them is faster."""

    gpu: str
    name: str
    count: int
    fit: Fit
    answers: tuple[Answer, ...]
    price: Price | None = None
    cost: float | None = None
    watts: float | None = None
    score: float | None = None
    low: float | None = None
    high: float | None = None
    place: int | None = None

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
        if sort == "money":
            return self.score / self.cost if self.cost else None
        if sort == "watt":
            return self.score / self.watts if self.watts else None
        return self.left_gib if sort == "memory" else self.score


def rows(
    works: Sequence[Workload], found: Sequence[Card], counts: Sequence[int], zoo: Zoo
) -> Iterator[Row]:
    """Yield each number of each card with its answers, as they are worked out; no score yet."""
    for card in found:
        for count in counts:
            answers = tuple(answer(work, card.gpu, count, zoo) for work in works)
            yield Row(
                gpu=card.gpu.id,
                name=card.gpu.name,
                count=count,
                fit=min((each.fit for each in answers), key=WORST_FIRST.index),
                answers=answers,
                price=card.price,
                cost=None if card.cost is None else card.cost * count,
                watts=None if card.gpu.tdp_w is None else card.gpu.tdp_w * count,
            )


def answer(work: Workload, gpu: GPU, count: int, zoo: Zoo) -> Answer:
    """Return how one work does on `count` equal cards in a computer that holds nothing back."""
    link = usual_link(gpu, count)
    try:
        speed = predict_speed(work, gpu, count, 1, link, zoo)
    except WorkloadFault as fault:
        return Answer(fit="no", fault=str(fault))
    room, known = usable_gib(gpu), _known(speed, gpu)
    try:
        asked = settled(work, gpu, count, 1, link, zoo)
        state = ready(speed.stack, gpu, asked.precision, asked.quant)
        if state is not None and state.how == "none":
            return Answer(fit="no", room_gib=room, fault=f"stack: {speed.stack} does not run it.")
        low, high, hosted = _need(asked, gpu, count, zoo)
    except WorkloadFault as fault:
        return Answer(fit="unknown", room_gib=room, speed=speed, known=known, fault=str(fault))
    fit: Fit = "unknown"
    if room is not None:
        fit = "no" if low > room else "tight" if high > room else "fits"
    return Answer(
        fit="host" if hosted and fit != "no" else fit,
        need_gib=(low + high) / 2,
        room_gib=room,
        speed=speed,
        known=known,
    )


def _known(speed: SpeedEstimate, gpu: GPU) -> Known:
    if not speed.anchors:
        return "modelled"
    if all(_maker(anchor.gpu) != gpu.chip_maker for anchor in speed.anchors):
        return "unproven"
    leading = max(speed.anchors, key=lambda anchor: anchor.weight)
    if _same_chip(leading.gpu, gpu) and leading.weight >= NEAR:
        return "measured"
    return "near" if sum(anchor.weight for anchor in speed.anchors) >= SOME else "modelled"


@cache
def _maker(name: str) -> str:
    try:
        return find_gpu(name).chip_maker
    except WorkloadFault:
        return ""


def _same_chip(name: str, gpu: GPU) -> bool:
    try:
        other = find_gpu(name)
    except WorkloadFault:
        return False
    return (other.chip, other.memory_gib, other.sms) == (gpu.chip, gpu.memory_gib, gpu.sms)


def _need(asked: Workload, gpu: GPU, count: int, zoo: Zoo) -> tuple[float, float, bool]:
    """The interval of memory on the fullest card in GiB, and whether a part stays in RAM."""
    placed = fitted(asked, [gpu] * count, zoo)
    need = estimate_memory(placed, gpu, count, zoo, explained=False)
    if count > 1 and deals_layers(placed, need.stack):
        need = card_plan(placed, [gpu] * count, zoo).fullest.need
    return need.low_gib, need.high_gib, placed is not asked


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


def ranked(made: Sequence[Row], weights: Sequence[float], sort: Sort = "speed") -> list[Row]:
    """Return the rows that run all works, the best first by `sort`, with score and place; those
    that do not run follow in their order. A row without the figure of the sort stands behind those
    that have it."""
    scored = _scored([row for row in made if row.fit in RUNS], weights)
    known = [row for row in scored if row.per(sort) is not None]
    known.sort(key=lambda row: -(row.per(sort) or 0.0))
    rest = [row for row in scored if row.per(sort) is None]
    idle = [row for row in made if row.fit not in RUNS]
    return [*_placed(known, sort), *rest, *idle]


def _scored(running: Sequence[Row], weights: Sequence[float]) -> list[Row]:
    if not running:
        return []
    tops = [
        max((rates[0] for row in running if (rates := _rates(row.answers[at]))), default=1.0)
        for at in range(len(weights))
    ]
    shares = tops if len(weights) > 1 else [1.0]
    return [_with_score(row, weights, shares) for row in running]


def _with_score(row: Row, weights: Sequence[float], tops: Sequence[float]) -> Row:
    rates = [_rates(each) for each in row.answers]
    if any(rate is None for rate in rates):
        return row
    means = [
        math.exp(
            sum(
                weight * math.log(max(rate[end], 1e-12) / top)
                for rate, weight, top in zip(rates, weights, tops, strict=True)
                if rate is not None
            )
            / sum(weights)
        )
        for end in range(3)
    ]
    return replace(row, score=means[0], low=means[1], high=means[2])


def _rates(found: Answer) -> tuple[float, float, float] | None:
    """Value, low and high as a rate, more of which is faster."""
    speed = found.speed
    if speed is None or speed.value <= 0 or speed.low <= 0:
        return None
    if speed.metric in TIME_METRICS:
        return 1 / speed.value, 1 / speed.high, 1 / speed.low
    return speed.value, speed.low, speed.high


def _placed(best_first: Sequence[Row], sort: Sort) -> list[Row]:
    """Give places: a row shares that of the first before it whose interval holds its score, and
    whose score its own interval holds. Memory is no estimate of that kind: each has its own."""
    out: list[Row] = []
    first: Row | None = None
    for at, row in enumerate(best_first):
        equal = first is not None and sort == "speed" and _alike(first, row)
        if not equal:
            first = row
        assert first is not None
        place = out[-1].place if equal else at + 1
        out.append(replace(row, place=place))
    return out


def _alike(one: Row, other: Row) -> bool:
    if None in (one.low, one.high, other.low, other.high):
        return False
    return (one.low or 0) <= (other.score or 0) and (one.score or 0) <= (other.high or 0)
