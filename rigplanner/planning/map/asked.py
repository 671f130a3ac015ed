"""A ranking that grows: the first rows at once, the rest as they are worked out."""

import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from rigplanner.catalog.cloud import Cloud
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.zoo import Zoo
from rigplanner.planning.map.cards import Kind, Money, everything, with_monitors
from rigplanner.planning.map.money import Terms
from rigplanner.planning.map.order import ranked, within
from rigplanner.planning.map.rank import Answer, Key, Row, Sort, rows
from rigplanner.rig.workload import Workload

FIRST_ROWS = 25
EVERY_S = 0.4
"""How often a growing ranking is told anew."""


class Question(Struct, frozen=True, kw_only=True):
    """What a map is asked: works with weights, those of a rig with its `own` number of GPUs;
    numbers of GPUs, kinds of rows, words of names, money, and the most that a row may cost (None:
    whatever it costs); what monitors take of the memory of each card of one's own; the least
    speed of each work in its own metric (None: any)."""

    works: tuple[Workload, ...]
    weights: tuple[float, ...]
    own: int = 0
    counts: tuple[int, ...] = (1,)
    kinds: tuple[Kind, ...] = ("card", "machine", "hire")
    words: str = ""
    money: Money = Money()
    terms: Terms = Terms()
    budget: float | None = None
    sort: Sort = "speed"
    monitors_gib: float = 0.0
    least: tuple[float | None, ...] = ()


class RowsSoFar(Struct, frozen=True):
    """The rows so far, ranked, and how many of all cards were looked at."""

    rows: list[Row]
    looked_at: int
    cards: int


def growing(
    question: Question,
    catalog: Catalog,
    cloud: Cloud,
    zoo: Zoo,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[RowsSoFar]:
    """Yield the ranking after the first rows, then now and then, and whole; the cards with the
    fastest memory are looked at first. Ends early when `stopped` says so."""
    found = everything(catalog, cloud, question.words, question.money)
    found = [card for card in found if card.counts(question.counts)]
    if question.monitors_gib:
        found = with_monitors(found, question.monitors_gib)
    found.sort(key=lambda card: -(card.gpu.bandwidth_gbs or 0.0))
    made: list[Row] = []
    known: dict[Key, Answer] = {}
    told_rows, told_at = 0, time.monotonic()
    for at, card in enumerate(found):
        if stopped():
            return
        made += rows(
            question.works, [card], question.counts, zoo, question.least, known, question.own
        )
        now = time.monotonic()
        if (not told_rows and len(made) >= FIRST_ROWS) or (
            told_rows and now - told_at > EVERY_S and at + 1 < len(found)
        ):
            yield RowsSoFar(shown(question, made), at + 1, len(found))
            told_rows, told_at = len(made), time.monotonic()
    yield RowsSoFar(shown(question, made), len(found), len(found))


def shown(question: Question, made: Sequence[Row]) -> list[Row]:
    """Return the rows in their order, but for those of other kinds and those that cost too much."""
    best = ranked(made, question.weights, question.sort, question.terms)
    asked = [row for row in best if row.kind in question.kinds]
    return within(asked, question.budget, question.sort)
