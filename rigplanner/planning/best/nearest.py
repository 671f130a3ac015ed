"""Where no rig does it: the least change of the question that makes one possible."""

import math
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.silicon import weight_bits
from rigplanner.planning.best.answer import Seeker
from rigplanner.planning.best.bounds import least_gib
from rigplanner.planning.best.question import MOST_CARDS, Question, Want
from rigplanner.planning.best.score import on_cards
from rigplanner.planning.best.works import HOSTED_STACKS, trains, writes
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import memory_on

LEAST_TOKENS = 512


class Change(Struct, frozen=True, kw_only=True):
    """What must change of the question together, by codes, and what the cheapest rig costs then."""

    codes: tuple[str, ...]
    price: float


class Shortage(Struct, frozen=True, kw_only=True):
    """What a work takes of all cards of a set together, GiB, and what these have: of all sets the
    one that lacks least."""

    work: int
    gpu: str
    count: int
    needed_gib: float
    room_gib: float


MOST_TRIED = 6
"""Sets of cards, the largest memory first, whose lack is worked out."""


def shortage(seeker: Seeker) -> Shortage | None:
    """Return the work that the largest sets of cards do not hold and what they lack least, None
    where they hold all works."""
    bounds = seeker.search.bounds
    sets = [cards for cards in seeker.space.sets if cards.count and bounds.has_slots(cards)]
    sets.sort(key=lambda cards: -least_gib(cards, seeker.catalog))
    found: list[Shortage] = []
    for cards in sets[:MOST_TRIED]:
        machine = bounds.free_machine(cards)
        rooms = [usable_gib(node.gpu) or 0.0 for node in machine.gpus]
        for number, want in enumerate(seeker.question.wants):
            needs, _ = memory_on(on_cards(want, cards.count, cards.way), machine)
            each = max((need.device_gib for need in needs), default=0.0)
            if each > min(rooms, default=0.0):
                lack = Shortage(
                    work=number,
                    gpu=cards.gpu,
                    count=cards.count,
                    needed_gib=cards.count * each,
                    room_gib=sum(rooms),
                )
                found.append(lack)
    return min(found, key=lambda one: one.needed_gib - one.room_gib, default=None)


Loosening = tuple[str, Callable[[Question], Question]]


def changes(seeker: Seeker) -> Iterator[Change]:
    """Yield the changes that make a rig possible, each by itself: more money first, and what is
    easier for the money; then each limit given up. Where no single one does, the fewest of them
    that do together: giving up all of them, each is asked for again unless nothing is possible
    then. At last what must change of a work that no rig holds."""
    question = replace(seeker.question, budget=None)
    if seeker.question.budget is not None and (price := _cheapest(question, seeker)) is not None:
        yield Change(codes=("budget",), price=price)
        yield from _of_works(seeker.question, [], seeker)
        return
    some = any_at_all = False
    limits = list(_limits(question))
    for code, loosen in limits:
        price = _cheapest(loosen(question), seeker)
        if price is not None:
            any_at_all = True
            some = some or not _gives_up_a_wish(code)
            yield Change(codes=(code,), price=price)
    if some:
        return
    lighter = [each for each in limits if not _gives_up_a_wish(each[0])]
    several = _together(question, lighter, seeker) if len(lighter) > 1 else None
    if several is None and not any_at_all:
        whole = [each for each in limits if not each[0].startswith("work")]
        several = _together(question, whole, seeker) if len(whole) > len(lighter) else None
        if several is None:
            yield from _of_works(question, limits, seeker)
    if several is not None:
        yield several


def _gives_up_a_wish(code: str) -> bool:
    """Say whether a change leaves out what was asked for by name: a part or a work."""
    return code == "pinned" or code.startswith("work")


def _limits(question: Question) -> Iterator[Loosening]:
    """The limits of a question and how each is given up."""
    if not question.used:
        yield "used", lambda q: replace(q, used=True)
    if not question.abroad:
        yield "abroad", lambda q: replace(q, abroad=True)
    if question.quiet:
        yield "quiet", lambda q: replace(q, quiet=False)
    if question.size != "any":
        yield "size", lambda q: replace(q, size="any")
    if question.makers or question.not_makers:
        yield "maker", lambda q: replace(q, makers=(), not_makers=())
    if question.growth:
        yield "growth", lambda q: replace(q, growth=0)
    if question.pinned:
        yield "pinned", lambda q: replace(q, pinned=(), least_cards=0)
    if question.least_cards > 1 and not question.pinned:
        yield "least cards", lambda q: replace(q, least_cards=0)
    if question.most_cards < MOST_CARDS:
        yield "cards", lambda q: replace(q, most_cards=MOST_CARDS)
    if any(want.at_least for want in question.wants):
        yield "target", _without_targets
    if question.site.breaker_a is not None and question.site.volts is not None:
        yield "circuit", lambda q: replace(q, site=replace(q.site, volts=None, breaker_a=None))
    if len(question.wants) > 1:
        for n in range(len(question.wants)):
            yield f"work {n + 1}", lambda q, n=n: _without(q, n)  # type: ignore[misc]


def _without_targets(question: Question) -> Question:
    return replace(question, wants=tuple(replace(w, at_least=None) for w in question.wants))


def _without(question: Question, number: int) -> Question:
    """The question without a work; with no other work the last stays."""
    wants = question.wants[:number] + question.wants[number + 1 :]
    return replace(question, wants=wants or question.wants)


def _together(question: Question, limits: list[Loosening], seeker: Seeker) -> Change | None:
    """The fewest limits that must be given up together: none of them can be asked for again."""
    kept = list(limits)
    price = _cheapest(_loosened(question, kept), seeker)
    if price is None:
        return None
    for each in list(kept):
        fewer = [other for other in kept if other is not each]
        found = _cheapest(_loosened(question, fewer), seeker)
        if found is not None:
            kept, price = fewer, found
    return Change(codes=tuple(code for code, _ in kept), price=price)


def _loosened(question: Question, limits: list[Loosening]) -> Question:
    for _, loosen in limits:
        question = loosen(question)
    return question


def _of_works(question: Question, limits: list[Loosening], seeker: Seeker) -> Iterator[Change]:
    """What must change of the works, each change by itself, then one after the other until a rig
    does them; where that takes limits too, both are named."""
    kept = [each for each in limits if not each[0].startswith("work")]
    for others in ([], kept) if kept else ([],):
        asked, codes = _loosened(question, others), tuple(code for code, _ in others)
        for code, easier in EASIER:
            wants = tuple(_with(want, easier) for want in question.wants)
            if wants == question.wants:
                continue
            price = _cheapest(replace(asked, wants=wants), seeker)
            if price is not None:
                yield Change(codes=(code, *codes), price=price)
                return
            question = replace(question, wants=wants)
            asked = replace(asked, wants=wants)


def _with(want: Want, easier: Callable[[Workload], Workload]) -> Want:
    return replace(want, workload=easier(want.workload))


def _one_at_a_time(work: Workload) -> Workload:
    many = work.batch_per_gpu is not None and work.batch_per_gpu > 1
    return replace(work, batch_per_gpu=1) if many else work


def _recomputed(work: Workload) -> Workload:
    return replace(work, gradient_checkpointing="full") if trains(work) else work


def _shorter(work: Workload) -> Workload:
    short = {
        field: LEAST_TOKENS
        for field in ("seq_len", "input_tokens")
        if (getattr(work, field) or 0) > LEAST_TOKENS
    }
    return replace(work, **short) if short else work


def _adapted(work: Workload) -> Workload:
    return replace(work, task="train_qlora") if work.task in ADAPTABLE else work


def in_four_bits(work: Workload) -> Workload:
    """Return a work that writes with weights of four bits, itself where they are as small."""
    hosted = (work.stack or "").casefold() in HOSTED_STACKS
    if trains(work) or hosted or not writes(work) or weight_bits(work.precision or "") < 8:
        return work
    return replace(work, precision="int4", quant="awq")


def _in_ram(work: Workload) -> Workload:
    if trains(work) or not work.model:
        return work
    return replace(work, stack="llama.cpp", precision="q4_k_m", quant=None, parallelism=None)


ADAPTABLE = ("train_full", "train_lora")
EASIER: tuple[tuple[str, Callable[[Workload], Workload]], ...] = (
    ("batch", _one_at_a_time),
    ("checkpointing", _recomputed),
    ("context", _shorter),
    ("qlora", _adapted),
    ("four-bit", in_four_bits),
    ("in-ram", _in_ram),
)
"""What makes a work easier, the least change first; each is added to those before it."""


def _cheapest(question: Question, seeker: Seeker) -> float | None:
    """Return what the cheapest rig within the budget costs."""
    asked = replace(question, objective="cheapest")
    *_, answer = seeker.asking(asked).answers(question.budget)
    return answer.best.price if answer.best is not None and answer.best.price < math.inf else None
