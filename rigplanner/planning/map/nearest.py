"""When nothing answers: what is missing, and what comes nearest."""

from collections.abc import Sequence

from msgspec import Struct

from rigplanner.catalog.find.likeness import likest
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.planning.map.cards import Card
from rigplanner.planning.map.rank import Answer, Row

MOST_NAMES = 3


class Shortage(Struct, frozen=True, kw_only=True):
    """Why no row runs a work, by the row that comes nearest: the GiB that its card lacks, the speed
    that it reaches in `metric`, or else the fault that most rows have."""

    work: int
    row: Row | None = None
    lacks_gib: float | None = None
    reached: float | None = None
    metric: str = ""
    fault: str = ""


def shortages(made: Sequence[Row]) -> list[Shortage]:
    """Return for each work that no row runs what comes nearest; [] where each has some row. A work
    that runs alone, but on no row together with the others, is none of them."""
    works = len(made[0].answers) if made else 0
    return [
        _shortage(at, made)
        for at in range(works)
        if all(row.answers[at].fit in ("no", "unknown", "slow") for row in made)
    ]


def _shortage(at: int, made: Sequence[Row]) -> Shortage:
    slow = [row for row in made if row.answers[at].fit == "slow"]
    if slow:
        best = max(slow, key=lambda row: _value(row.answers[at]))
        speed = best.answers[at].speed
        assert speed is not None
        return Shortage(work=at, row=best, reached=speed.value, metric=speed.metric)
    short = [(lack, row) for row in made if (lack := _lack(row.answers[at])) is not None]
    if short:
        lack, nearest = min(short, key=lambda pair: (pair[0], pair[1].count))
        return Shortage(work=at, row=nearest, lacks_gib=lack)
    faults = [row.answers[at].fault for row in made if row.answers[at].fault]
    return Shortage(work=at, fault=max(set(faults), key=faults.count) if faults else "")


def _value(answer: Answer) -> float:
    """More is nearer, also of times."""
    speed = answer.speed
    if speed is None or speed.value <= 0:
        return 0.0
    return 1 / speed.value if speed.metric in TIME_METRICS else speed.value


def _lack(answer: Answer) -> float | None:
    if answer.need_gib is None or answer.room_gib is None:
        return None
    return max(0.0, answer.need_gib - answer.room_gib)


def like(words: str, found: Sequence[Card]) -> list[str]:
    """Return the names of the cards that come nearest to words that name none."""
    return likest(words, ((card.name, card.name) for card in found), MOST_NAMES)


def cheapest(made: Sequence[Row]) -> Row | None:
    """Return the row of the least cost that is bought, whether it runs the work or not."""
    return min(
        (row for row in made if row.cost is not None and row.kind != "hire"),
        key=lambda row: row.cost or 0.0,
        default=None,
    )
