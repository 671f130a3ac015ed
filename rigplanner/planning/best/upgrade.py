"""The best next step from a rig that is there: what is kept costs what selling it would bring."""

from collections import Counter

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.planning.best.market import Market
from rigplanner.planning.best.question import Owned, Question
from rigplanner.planning.best.search import Candidate
from rigplanner.rig.document import Rig

RESALE = 0.5
"""Share of a part's price of today that selling one brings, where nobody says other: judgement."""


def from_rig(
    question: Question, rig: Rig, catalog: Catalog, today: str, resale: float = RESALE
) -> Question:
    """Return the question with the parts of a rig as owned ones. The budget is what may be spent
    beside what selling all of them would bring: keeping a part costs what selling it would bring,
    so that a step which frees parts may spend it."""
    market = Market(catalog, question.currency, today, question.rates, abroad=True)
    counts: Counter[str] = Counter()
    for item in rig.items:
        counts[item.part] += item.quantity
    owned = []
    for part_id, many in counts.items():
        part = catalog.get(part_id)
        offer = market.offer(part) if part is not None else None
        each = round(resale * offer.amount, 2) if offer else 0.0
        owned.append(Owned(part=part_id, quantity=many, resale=each))
    whole = worth(tuple(owned))
    budget = None if question.budget is None else question.budget + whole
    kept = [each for each in question.owned if each.part not in counts]
    return replace(question, owned=(*owned, *kept), budget=budget)


def worth(owned: tuple[Owned, ...]) -> float:
    """Return what selling all owned parts would bring."""
    return round(sum(each.quantity * each.resale for each in owned), 2)


def sold(owned: tuple[Owned, ...], best: Candidate) -> list[tuple[str, int, float]]:
    """Return the owned parts that a rig leaves over: part, number, what they bring."""
    used: Counter[str] = Counter()
    for item in best.rig.items:
        used[item.part] += item.quantity
    left = [(each, each.quantity - min(each.quantity, used[each.part])) for each in owned]
    return [(each.part, many, round(many * each.resale, 2)) for each, many in left if many]
