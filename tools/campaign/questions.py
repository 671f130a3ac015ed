"""Random questions about the shipped catalog: no rig has an error, none exceeds its budget, every
certificate holds, and the same question has the same answer."""

import random
from pathlib import Path

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.planning.aims import AIMS
from rigplanner.planning.best.answer import LADDER, Answer, Seeker
from rigplanner.planning.best.certificate import as_json
from rigplanner.planning.best.question import Objective, Question, Size, Want
from rigplanner.planning.best.verify import read_certificate, verify
from rigplanner.rig.countries import USUAL
from rigplanner.rig.document import Site
from rigplanner.rules.assess import assess
from tools.campaign.figures import Failure, Figures, keep
from tools.campaign.small_catalogs import TODAY

COUNTRIES = ("US", "DE", "CZ", "TW", "JP", "GB")
OBJECTIVES: tuple[Objective, ...] = ("fastest", "fastest", "cheapest", "per-money", "least-watts")
SIZES: tuple[Size, ...] = ("any", "any", "atx", "matx", "itx")
CENT = 0.011


def random_question(seed: int) -> Question:
    """Return a question as people ask it: one or two works, some money, some limits."""
    rng = random.Random(seed)
    aims = [aim for some in AIMS.values() for aim in some]
    works = rng.sample(aims, rng.choice((1, 1, 1, 2)))
    volts, amperes = USUAL[country := rng.choice(COUNTRIES)]
    return Question(
        wants=tuple(Want(workload=aim.workload, weight=rng.choice((1.0, 3.0))) for aim in works),
        objective=rng.choice(OBJECTIVES),
        budget=rng.choice((800.0, 1500.0, 2500.0, 4000.0, 6000.0, 12_000.0, 40_000.0)),
        site=Site(country=country, volts=volts, breaker_a=amperes),
        used=rng.random() < 0.6,
        tight=rng.random() < 0.2,
        quiet=rng.random() < 0.2,
        size=rng.choice(SIZES),
        growth=rng.choice((0, 0, 0, 1)),
        most_cards=rng.choice((1, 2, 4, 16)),
    )


def questions(count: int, seed: int, kept: Path | None) -> Figures:
    """Ask `count` random questions of the shipped catalog."""
    found, catalog = Figures("questions"), shipped_catalog()
    for number in range(seed * 10_000, seed * 10_000 + count):
        question = random_question(number)
        answer = _answered(question, catalog)
        found.deeds += 1
        faults = _faults(answer, catalog)
        if faults:
            proof = as_json(answer.certificate) if answer.certificate else b""
            place = keep(kept, f"question-{number}.json", proof)
            found.failures.append(Failure(f"question {number}", faults[0], place))
    return found


def _answered(question: Question, catalog: Catalog) -> Answer:
    for strictness in LADDER:
        *_, answer = Seeker(question, catalog, TODAY, strictness).answers(question.budget, True)
        if answer.best is not None:
            break
    return answer


def _faults(answer: Answer, catalog: Catalog) -> list[str]:
    faults: list[str] = []
    if answer.certificate is None or sum(answer.counts.values()) != answer.total:
        return ["the proof is not whole"]
    again = read_certificate(as_json(answer.certificate))
    faults += verify(again, catalog).faults
    if (best := answer.best) is None:
        return faults
    found = assess(best.rig, catalog, TODAY)
    faults += [f"{f.code} is an error" for f in found.report.findings if f.severity == "error"]
    if found.totals.total is None or abs(found.totals.total - best.price) > CENT:
        faults.append(f"costs {found.totals.total}, not {best.price}")
    if answer.question.budget is not None and best.price > answer.question.budget + CENT:
        faults.append("costs more than the budget")
    return faults
