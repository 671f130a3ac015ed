"""Figures of the best rig for `make bench`: a question with proof, the first rig, a front."""

import random
import time
from functools import cache
from itertools import islice

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.performance.anchors.own import current_evidence
from rigplanner.planning.aims import aim_of
from rigplanner.planning.best.answer import Seeker
from rigplanner.planning.best.choices import front
from rigplanner.planning.best.question import Question, Want
from rigplanner.rig.document import Site
from tools.bench_figure import Figure

TODAY = "2026-11-23"
SEED, LAYERED = 1, 30_000
US = Site(country="US", volts=120.0, breaker_a=15.0)


@cache
def layered() -> Catalog:
    """Return the shipped catalog with a layer of made-up rows above it, 30,000 parts in all: rows
    with a price, again and again under other names and at prices from 20 % less to 40 % more."""
    rng, shipped = random.Random(SEED), shipped_catalog()
    priced = [part for part in shipped.parts.values() if part.prices]
    parts = dict(shipped.parts)
    while len(parts) < LAYERED:
        part, factor = rng.choice(priced), rng.uniform(0.8, 1.4)
        name = f"{part.id}-{len(parts)}"
        prices = tuple(replace(p, amount=round(factor * p.amount, 2)) for p in part.prices)
        parts[name] = replace(part, id=name, name=f"{part.name} {len(parts)}", prices=prices)
    return replace(shipped, parts=parts)


def _seeker(budget: float, catalog: Catalog) -> Seeker:
    wants = (Want(workload=aim_of("language", "").workload),)
    question = Question(wants=wants, budget=budget, site=US, used=True)
    current_evidence()
    return Seeker(question, catalog, TODAY)


def _proven(budget: float, catalog: Catalog) -> tuple[float, str]:
    start = time.process_time()
    *_, answer = _seeker(budget, catalog).answers(budget)
    assert answer.gap is None
    return time.process_time() - start, f"{answer.total:.2e} rigs, {answer.examined} one by one"


def proven() -> tuple[float, str]:
    """Seconds of one question over the whole catalog, with proof."""
    return _proven(4500.0, shipped_catalog())


def proven_of_much_money() -> tuple[float, str]:
    """Seconds of one question over the whole catalog where the money reaches nearly all cards."""
    return _proven(100_000.0, shipped_catalog())


def proven_of_many_parts() -> tuple[float, str]:
    """Seconds of the same question over 30,000 parts."""
    return _proven(100_000.0, layered())


def first() -> float:
    """Seconds until the first sound rig, catalog and measurements read."""
    shipped_catalog(), current_evidence()
    start = time.process_time()
    next(_seeker(4500.0, shipped_catalog()).answers(4500.0))
    return time.process_time() - start


def ten_points() -> tuple[float, str]:
    """Seconds of a front of at most ten rigs."""
    start = time.process_time()
    points = list(islice(front(_seeker(12000.0, shipped_catalog()), 12000.0), 10))
    return time.process_time() - start, f"{len(points)} points"


def ten_budgets() -> float:
    """Seconds of ten budgets from 1,000 to 20,000."""
    seeker, start = _seeker(20_000.0, shipped_catalog()), time.process_time()
    for step in range(10):
        budget = round(1000.0 * 20.0 ** (step / 9), 2)
        *_, answer = seeker.answers(budget)
        assert answer.gap is None
    return time.process_time() - start


FIGURES: tuple[Figure, ...] = (
    Figure("best rig: the first sound rig", first, "s", 0.5),
    Figure("best rig: a question over the whole catalog, with proof", proven, "s", 2),
    Figure("best rig: the same for 100,000", proven_of_much_money, "s", 2),
    Figure("best rig: the same of 30,000 parts", proven_of_many_parts, "s", 6),
    Figure("best rig: a front of ten points", ten_points, "s", 8),
    Figure("best rig: ten budgets", ten_budgets, "s", 8),
)
