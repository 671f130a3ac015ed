"""What stands around the best rig: the front of price against speed and its knee, several budgets,
rivals and why they lost, and the price at which one would win."""

import math
import time
from collections.abc import Container, Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU, System
from rigplanner.machine.assemble import assemble
from rigplanner.memory.usable_memory import unified
from rigplanner.planning.best.answer import Answer, Seeker
from rigplanner.planning.best.goals import NEAR, Least, gain
from rigplanner.planning.best.nearest import in_four_bits
from rigplanner.planning.best.question import Question
from rigplanner.planning.best.reads import LADDER, Strictness
from rigplanner.planning.best.score import Score, score_of
from rigplanner.planning.best.search import Candidate, NoLedger, Stopped
from rigplanner.planning.best.space import CardSet
from rigplanner.rig.document import Item

MOST_POINTS = 10
MOST_RIVALS, MOST_USED = 4, 1
NAMED = ("RTX 3090", "RTX 5090")
"""Cards that people name whatever is asked (r/LocalLLaMA, r/MachineLearning): used and cheap, new
and fast. What is said of them is worked out as of any other."""
MOST_STEPS = 4000
"""Steps of the search for the rig of one rival: ten times what they usually take."""
LEAST_STEP = 0.01
"""Points of a front whose price is less than this share below the last one's say nothing new."""


class Rival(Struct, frozen=True, kw_only=True):
    """Cards that somebody would name, or a complete machine, and why they are not the answer:
    `price` is what the cheapest rig with them costs, `score` what they do at most, both None where
    it was not worked out.
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
    rig of each is built, whatever it costs. Cards that people always name come first, used ones
    where only new parts count; machines with one memory for all come last."""
    best = answer.best
    chosen = best.cards.gpu if best is not None and best.cards else ""
    told: dict[object, Rival | None] = {_chip(seeker, chosen): None}
    named = [_chip(seeker, find_gpu(name).id) for name in NAMED]
    _tell(seeker, answer, told, len(named), False, named)
    _tell(seeker, answer, told, MOST_RIVALS - len(named), False)
    if not seeker.question.used:
        other = seeker.asking(replace(seeker.question, used=True))
        _tell(other, answer, told, len(named), True, named)
        _tell(other, answer, told, MOST_USED, True)
    for name, chip in zip(NAMED, named, strict=True):
        if chip not in told:
            told[chip] = Rival(gpu=find_gpu(name).id, count=1, why="no-price")
    found = [rival for rival in told.values() if rival is not None and rival.why != "no-rig"]
    found.sort(key=lambda rival: _chip(seeker, rival.gpu) not in named)
    return [*found, *_with_one_memory(seeker, answer)]


def from_abroad(seeker: Seeker, answer: Answer) -> Answer | None:
    """Return the best rig at prices of other markets, where nobody could take it for as good as the
    answer; None where it is not better, or these prices count already."""
    if seeker.question.abroad or not seeker.market.home:
        return None
    return _better(seeker, answer, replace(seeker.question, abroad=True))


def with_used_parts(seeker: Seeker, answer: Answer) -> Answer | None:
    """Return the best rig found soon with used parts too, where nobody could take it for as good as
    the answer; it need not be proven, as nothing is said of others."""
    if seeker.question.used:
        return None
    return _better(seeker, answer, replace(seeker.question, used=True), proven=False)


def with_tight_memory(seeker: Seeker, answer: Answer) -> Answer | None:
    """Return the best rig whose memory may not hold the job, where nobody could take it for as good
    as the answer; None where it is not better, or such rigs count already."""
    if seeker.question.tight or seeker.strictness != "sound":
        return None
    return _better(seeker, answer, replace(seeker.question, tight=True))


def with_four_bits(seeker: Seeker, answer: Answer) -> Answer | None:
    """Return the best rig for works whose weights have four bits, where nobody said what they have
    and nobody could take it for as good as the answer."""
    wants = tuple(
        one if want.workload.precision or want.workload.quant
        else replace(one, workload=in_four_bits(one.workload))
        for want, one in zip(seeker.said.wants, seeker.question.wants, strict=True)
    )  # fmt: skip
    if wants == seeker.question.wants:
        return None
    found = _better(seeker, answer, replace(seeker.question, wants=wants))
    cards = found.best.cards if found is not None and found.best is not None else None
    return found if cards is None or cards.count else None


ASIDE_S = 5.0
"""Processor time after which a question that nobody asked is left without an answer: some take
minutes after the asked one is proven. It costs that a slow machine may tell less beside the answer,
which itself is the same everywhere."""


def _better(
    seeker: Seeker, answer: Answer, asked: Question, *, proven: bool = True
) -> Answer | None:
    """The best rig of a question with a limit less, where it is surely better; None, too, where it
    cannot be told, or not be `proven`, soon."""
    found = _aside(seeker, asked, seeker.strictness, answer.question.budget)
    if (
        answer.best is None
        or found is None
        or found.best is None
        or (proven and found.gap is not None)
    ):
        return None
    better = gain(seeker.question.objective, answer.best, found.best)
    return found if better > 1 + NEAR else None


def surely_from(seeker: Seeker, answer: Answer) -> Candidate | None:
    """Return the cheapest rig of which nothing is in doubt, whatever it costs, where the answer is
    none; None, too, where that cannot be told soon."""
    if answer.best is None or answer.sure is not None or seeker.strictness == LADDER[0]:
        return None
    asked = replace(seeker.question, objective="cheapest", budget=None)
    found = _aside(seeker, asked, LADDER[0], None)
    return found.best if found is not None and found.gap is None else None


def _aside(
    seeker: Seeker, asked: Question, strictness: Strictness, budget: float | None
) -> Answer | None:
    """The answer to a question that nobody asked, as far as it is known soon."""
    ends = time.process_time() + ASIDE_S

    def go_on() -> bool:
        return time.process_time() < ends and seeker.go_on()

    *_, found = seeker.asking(asked, go_on, strictness).answers(budget)
    return found


def _tell(
    seeker: Seeker,
    answer: Answer,
    told: dict[object, Rival | None],
    most: int,
    used: bool,
    wanted: Container[object] | None = None,
) -> None:
    """Add rivals, of which so many have a rig; only `wanted` ones where these are given."""
    added = 0
    for cards in _singles(seeker, answer):
        part = seeker.catalog.get(cards.gpu)
        offer = seeker.market.offer(part) if part is not None else None
        kind = _chip(seeker, cards.gpu)
        if kind in told or added >= most or (wanted is not None and kind not in wanted):
            continue
        if used and not (offer and offer.price.used):
            continue
        rival = _rival(seeker, cards, answer)
        told[kind] = replace(rival, used=bool(offer and offer.price.used)) if rival else None
        added += rival is not None and rival.why != "no-rig"


def _with_one_memory(seeker: Seeker, answer: Answer) -> list[Rival]:
    """Return of each maker's complete machines whose GPU shares the memory of the computer the one
    that does the works fastest, priced or not; where none does, why the largest does not."""
    best, found = answer.best, dict[str, tuple[float, Rival]]()
    mine = best.choices["system"].part if best is not None and "system" in best.choices else ""
    for part in seeker.catalog.of_kind("system"):
        if not isinstance(part, System) or part.role != "complete" or part.status != "current":
            continue
        told = _of_machine(seeker, part)
        if told is None:
            continue
        rank, maker, rival = told
        if maker not in found or rank > found[maker][0]:
            found[maker] = rank, rival
    return [rival for _, rival in found.values() if rival.gpu != mine]


def _of_machine(seeker: Seeker, part: System) -> tuple[float, str, Rival] | None:
    """Rank, maker of the chip and rival of a complete machine; None of one with memory apart."""
    items = (Item(uid="system", part=part.id),)
    rig = seeker.judge.with_items(items, False)
    machine = assemble(rig, seeker.catalog)
    if not machine.gpus or not all(unified(node.gpu) for node in machine.gpus):
        return None
    score = score_of(seeker.question, machine, "copies", seeker.strictness)
    offer = seeker.market.offer(part) if seeker.market.is_todays(part) else None
    gpu = machine.gpus[0].gpu
    rank = score.value if isinstance(score, Score) else -1 / (1 + (gpu.memory_gib or 0.0))
    rival = Rival(
        gpu=part.id,
        count=1,
        why="speed" if isinstance(score, Score) else score,
        price=offer.amount if offer else None,
        score=score.value if isinstance(score, Score) else None,
    )
    return rank, gpu.chip_maker, rival


def _chip(seeker: Seeker, gpu_id: str) -> object:
    part = seeker.catalog.get(gpu_id)
    return (
        (part.chip, part.memory_gib, part.cores) if isinstance(part, GPU) and part.chip else gpu_id
    )


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
    """Return the cheapest sound rig with a set of cards, whatever it costs; of those that
    `MOST_STEPS` steps reach."""
    kept, go_on = seeker.judge.question, seeker.search.go_on
    seeker.judge.question = replace(kept, budget=None)
    aim, steps = Least(math.inf, seeker.search.by_watts), iter(range(MOST_STEPS))
    seeker.search.go_on = lambda: go_on() and next(steps, None) is not None
    try:
        seeker.search.over(cards, aim, NoLedger())
    except Stopped:
        pass  # the cheapest of those that were looked at: hosts are taken cheapest first
    finally:
        seeker.judge.question, seeker.search.go_on = kept, go_on
    return aim.best
