"""What stands around the best rig: the front of price against speed and its knee, several budgets,
rivals and why they lost, and the price at which one would win."""

import math
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.planning.best.answer import Answer, Seeker
from rigplanner.planning.best.goals import Least
from rigplanner.planning.best.search import Candidate, NoLedger, Stopped
from rigplanner.planning.best.space import CardSet

MOST_POINTS = 10
MOST_RIVALS, MOST_USED = 4, 2
LEAST_STEP = 0.01
"""Points of a front whose price is less than this share below the last one's say nothing new."""


class Rival(Struct, frozen=True, kw_only=True):
    """Cards that somebody would name, and why they are not the answer: `price` is what the cheapest
    rig with them costs, `score` what they do at most, both None where it was not worked out.
    `wins_below`: what one card would have to cost for its rig to come within the budget; `sways`
    says that this lies within the interval of its price."""

    gpu: str
    count: int
    why: str
    price: float | None = None
    score: float | None = None
    card: float | None = None
    wins_below: float | None = None
    sways: bool = False
    used: bool = False


def front(seeker: Seeker, most: float | None) -> Iterator[Answer]:
    """Yield the best rig within a budget, then within less than that costs, and so on: dearest
    first, each faster than all that cost less."""
    budget = most
    for _ in range(MOST_POINTS):
        *_, answer = seeker.answers(budget)
        if answer.best is None:
            return
        yield answer
        budget = round(answer.best.price * (1 - LEAST_STEP), 2)


def knee(points: list[Candidate]) -> int | None:
    """Return the number of the point after which more money buys least: the one that lies furthest
    above the line from the cheapest to the dearest, by the logarithms of price and speed; None
    for fewer than three."""
    if len(points) < 3:
        return None
    ordered = sorted(range(len(points)), key=lambda n: points[n].price)
    xs = [math.log(points[n].price) for n in ordered]
    ys = [math.log(points[n].score.value) for n in ordered]
    width, height = xs[-1] - xs[0], ys[-1] - ys[0]
    if width <= 0 or height <= 0:
        return None
    above = [(y - ys[0]) / height - (x - xs[0]) / width for x, y in zip(xs, ys, strict=True)]
    best = max(range(len(above)), key=above.__getitem__)
    return ordered[best] if above[best] > 0 else None


def rivals(seeker: Seeker, answer: Answer) -> list[Rival]:
    """Return cards whose rigs cost about as much or may be faster, and why each lost: the cheapest
    rig of each is built, whatever it costs. Where only new parts count, used cards stand beside."""
    best = answer.best
    chosen = best.cards.gpu if best is not None and best.cards else ""
    told: dict[object, Rival | None] = {_chip(seeker, chosen): None}
    _tell(seeker, answer, told, MOST_RIVALS, False)
    if not seeker.question.used:
        with_used = replace(seeker.question, used=True)
        other = Seeker(with_used, seeker.catalog, seeker.today, seeker.strictness, seeker.go_on)
        _tell(other, answer, told, MOST_USED, True)
    return [rival for rival in told.values() if rival is not None and rival.why != "no-rig"]


def _tell(
    seeker: Seeker, answer: Answer, told: dict[object, Rival | None], most: int, used: bool
) -> None:
    """Add rivals, of which so many have a rig."""
    added = 0
    for cards in _singles(seeker, answer):
        part = seeker.catalog.get(cards.gpu)
        offer = seeker.market.offer(part) if part is not None else None
        kind = _chip(seeker, cards.gpu)
        if kind in told or added >= most or (used and not (offer and offer.price.used)):
            continue
        rival = _rival(seeker, cards, answer)
        told[kind] = replace(rival, used=used) if rival else None
        added += rival is not None and rival.why != "no-rig"


def _chip(seeker: Seeker, gpu_id: str) -> object:
    part = seeker.catalog.get(gpu_id)
    return (part.chip or part.id, part.memory_gib) if isinstance(part, GPU) else gpu_id


def _singles(seeker: Seeker, answer: Answer) -> list[CardSet]:
    """Single cards whose cheapest rig costs about as much as the answer, the nearest first; those
    that memory keeps out behind the others."""
    budget = answer.question.budget
    about = answer.best.price if answer.best is not None else budget or 1.0

    def away(cards: CardSet) -> tuple[bool, float, str]:
        apart = abs(math.log(max(seeker.search.least(cards), 1.0) / about))
        kept_out = isinstance(seeker.search.bounds.ceiling(cards), str)
        return kept_out, round(apart, 6), cards.gpu

    return sorted((c for c in seeker.space.sets if c.count == 1 and c.cap_w is None), key=away)


def _rival(seeker: Seeker, cards: CardSet, answer: Answer) -> Rival | None:
    ceiling, best = seeker.search.bounds.ceiling(cards), answer.best
    gpu = seeker.catalog.get(cards.gpu)
    offer = seeker.market.offer(gpu) if gpu is not None else None
    if isinstance(ceiling, str) or gpu is None or offer is None:
        why = ceiling if isinstance(ceiling, str) else "no-rig"
        return Rival(gpu=cards.gpu, count=1, why=why, card=offer.amount if offer else None)
    rig = cheapest_with(seeker, cards)
    if rig is None:
        return Rival(gpu=cards.gpu, count=1, why="no-rig", card=offer.amount)
    budget = answer.question.budget
    faster = best is None or ceiling.value > best.score.value
    if budget is not None and rig.price > budget:
        below = offer.amount - (rig.price - budget)
        wins = round(below, 2) if faster and below > 0 else None
        return Rival(
            gpu=cards.gpu,
            count=1,
            why="price",
            price=rig.price,
            score=rig.score.value,
            card=offer.amount,
            wins_below=wins,
            sways=wins is not None and wins >= offer.low,
        )
    return Rival(
        gpu=cards.gpu,
        count=1,
        why="speed",
        price=rig.price,
        score=rig.score.value,
        card=offer.amount,
    )


def cheapest_with(seeker: Seeker, cards: CardSet) -> Candidate | None:
    """Return the cheapest sound rig with a set of cards, whatever it costs."""
    kept = seeker.judge.question
    seeker.judge.question = replace(kept, budget=None)
    aim = Least(math.inf, seeker.search.by_watts)
    try:
        seeker.search.over(cards, aim, NoLedger())
    except Stopped:
        return None
    finally:
        seeker.judge.question = kept
    return aim.best
