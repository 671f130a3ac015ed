"""Random questions about the shipped catalog: no rig has an error, none exceeds its budget, every
certificate holds, and the same question has the same answer."""

import random
from pathlib import Path

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.prices.exchange import convert, shipped_rates
from rigplanner.planning.aims import AIMS
from rigplanner.planning.best.answer import Answer, best_rig
from rigplanner.planning.best.certificate import as_json
from rigplanner.planning.best.question import Objective, Owned, Question, Size, Want
from rigplanner.planning.best.verify import read_certificate, verify
from rigplanner.rig.countries import USUAL
from rigplanner.rig.document import Site
from rigplanner.rules.assess import assess
from tools.campaign.figures import Failure, Figures, keep
from tools.campaign.small_catalogs import POOL, TODAY

COUNTRIES = ("US", "DE", "CZ", "TW", "JP", "GB")
CURRENCIES = ("USD", "USD", "EUR", "TWD", "CZK", "JPY", "GBP")
OBJECTIVES: tuple[Objective, ...] = ("fastest", "fastest", "cheapest", "per-money", "least-watts")
SIZES: tuple[Size, ...] = ("any", "any", "atx", "matx", "itx")
CENT = 0.011


def random_question(seed: int) -> Question:
    """Return a question as people ask it: one or two works, some money of their own, some limits,
    at times a part that is there already or must be in it."""
    rng = random.Random(seed)
    aims = [aim for some in AIMS.values() for aim in some]
    works = rng.sample(aims, rng.choice((1, 1, 1, 2)))
    volts, amperes = USUAL[country := rng.choice(COUNTRIES)]
    currency, rates = rng.choice(CURRENCIES), shipped_rates()
    budget = rng.choice((800.0, 1500.0, 2500.0, 4000.0, 6000.0, 12_000.0, 40_000.0))
    question = Question(
        wants=tuple(Want(workload=aim.workload, weight=rng.choice((1.0, 3.0))) for aim in works),
        objective=rng.choice(OBJECTIVES),
        budget=convert(budget, "USD", currency, rates),
        currency=currency,
        rates=rates,
        site=Site(country=country, volts=volts, breaker_a=amperes),
        used=rng.random() < 0.6,
        abroad=rng.random() < 0.2,
        tight=rng.random() < 0.2,
        quiet=rng.random() < 0.2,
        size=rng.choice(SIZES),
        growth=rng.choice((0, 0, 0, 1)),
        most_cards=rng.choice((1, 2, 4, 16)),
        makers=("NVIDIA",) if rng.random() < 0.1 else (),
        not_makers=("Intel",) if rng.random() < 0.1 else (),
    )
    return _with_parts(question, rng)


def _with_parts(question: Question, rng: random.Random) -> Question:
    """The same with a card, a case or a supply that is owned or must be in it, at times."""
    chance, part = rng.random(), rng.choice([part for some in POOL.values() for part in some])
    if chance < 0.15:
        return replace(question, owned=(Owned(part=part, quantity=rng.choice((1, 1, 2))),))
    return replace(question, pinned=(part,)) if chance < 0.25 else question


def questions(count: int, seed: int, kept: Path | None) -> Figures:
    """Ask `count` random questions of the shipped catalog."""
    found, catalog = Figures("questions"), shipped_catalog()
    for number in range(seed * 10_000, seed * 10_000 + count):
        answer = best_rig(random_question(number), catalog, TODAY, True)
        found.deeds += 1
        if faults := faults_of(answer, catalog):
            proof = as_json(answer.certificate) if answer.certificate else b""
            place = keep(kept, f"question-{number}.json", proof)
            found.failures.append(Failure(f"question {number}", faults[0], place))
    return found


def faults_of(answer: Answer, catalog: Catalog) -> list[str]:
    """Return what is wrong with an answer: its rig, or a certificate that does not hold."""
    if answer.certificate is None or sum(answer.counts.values()) != answer.total:
        return ["the proof is not whole"]
    again = read_certificate(as_json(answer.certificate))
    return [*verify(again, catalog).faults, *faults_of_rig(answer, catalog)]


def faults_of_rig(answer: Answer, catalog: Catalog) -> list[str]:
    """Return what is wrong with the rig of an answer: an error, a price that its parts do not cost
    or that is above the budget."""
    if (best := answer.best) is None:
        return []
    found = assess(best.rig, catalog, TODAY)
    faults = [f"{f.code} is an error" for f in found.report.findings if f.severity == "error"]
    owned = any(o.part == item.part for item in best.rig.items for o in answer.question.owned)
    paid = found.totals.total
    if not owned and (paid is None or abs(paid - best.price) > CENT):
        faults.append(f"costs {paid}, not {best.price}")
    if answer.question.budget is not None and best.price > answer.question.budget + CENT:
        faults.append("costs more than the budget")
    return faults
