"""Where no rig does it: the least change of the question that makes one possible."""

import math
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.planning.best.answer import Seeker
from rigplanner.planning.best.question import Question


class Change(Struct, frozen=True, kw_only=True):
    """A change of the question, by a code, and what the cheapest rig costs after it."""

    code: str
    price: float


def changes(seeker: Seeker) -> Iterator[Change]:
    """Yield the changes that make a rig possible, each by itself: more money first, then each limit
    given up."""
    if (price := _cheapest(seeker.question, seeker)) is not None:
        yield Change(code="budget", price=price)
        return
    for code, question in _looser(seeker.question):
        price = _cheapest(question, seeker)
        if price is not None:
            yield Change(code=code, price=price)


def _looser(question: Question) -> Iterator[tuple[str, Question]]:
    if not question.used:
        yield "used", replace(question, used=True)
    if not question.tight:
        yield "tight", replace(question, tight=True)
    if question.quiet:
        yield "quiet", replace(question, quiet=False)
    if question.size != "any":
        yield "size", replace(question, size="any")
    if question.makers or question.not_makers:
        yield "maker", replace(question, makers=(), not_makers=())
    if question.growth:
        yield "growth", replace(question, growth=0)
    if question.pinned:
        yield "pinned", replace(question, pinned=())
    if any(want.at_least for want in question.wants):
        slow = tuple(replace(want, at_least=None) for want in question.wants)
        yield "target", replace(question, wants=slow)
    if len(question.wants) > 1:
        for n in range(len(question.wants)):
            fewer = question.wants[:n] + question.wants[n + 1 :]
            yield f"work {n + 1}", replace(question, wants=fewer)


def _cheapest(question: Question, seeker: Seeker) -> float | None:
    """Return what the cheapest rig costs, whatever the budget."""
    asked = replace(question, objective="cheapest", budget=None)
    other = Seeker(asked, seeker.catalog, seeker.today, seeker.strictness, seeker.go_on)
    *_, answer = other.answers(None)
    return answer.best.price if answer.best is not None and answer.best.price < math.inf else None
