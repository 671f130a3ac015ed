"""The order of a map: scores of several works, places that rows share, what is cheapest to run."""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from rigplanner.performance.answer import TIME_METRICS
from rigplanner.planning.map.money import Terms, with_costs
from rigplanner.planning.map.rank import RUNS, Answer, Row, Sort


def ranked(
    made: Sequence[Row], weights: Sequence[float], sort: Sort = "speed", terms: Terms | None = None
) -> list[Row]:
    """Return the rows that run all works, the best first by `sort`, with score and place; those
    that do not run follow in their order. Software counts: where nobody has published the stack on
    chips of the maker, the row stands behind all that are proven. A row without the figure of the
    sort stands behind those that have it, and by any figure but speed one whose model lies partly
    in RAM behind those that hold it: its speed is the host's too, whose price, watts and slots do
    not count. With `terms` the rows say what they cost to run."""
    scored = _scored([row for row in made if row.fit in RUNS], weights)
    if terms is not None:
        scored = with_costs(scored, terms)
    return [*ordered(scored, sort), *(row for row in made if row.fit not in RUNS)]


def ordered(scored: Sequence[Row], sort: Sort) -> list[Row]:
    """Return rows with a score in the order of a sort, with their places."""
    known = [row for row in scored if row.per(sort) is not None]
    beside = {id(row) for row in known if row.fit == "host" and sort != "speed"}
    known.sort(key=lambda row: (not row.proven, id(row) in beside, -(row.per(sort) or 0.0)))
    rest = [replace(row, place=None) for row in scored if row.per(sort) is None]
    return [*_placed(known, sort), *rest]


def within(best: Sequence[Row], budget: float | None, sort: Sort) -> list[Row]:
    """Return the rows that cost no more than a budget (None: all), their places counted anew; an
    hour of hire is no price that a budget pays once."""
    if budget is None:
        return list(best)
    paid = [row for row in best if row.kind != "hire" and row.cost is not None]
    paid = [row for row in paid if (row.cost or 0.0) <= budget]
    runs = ordered([row for row in paid if row.score is not None], sort)
    return [*runs, *(row for row in paid if row.score is None)]


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
        equal = equal and first is not None and first.proven == row.proven
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
