"""Figures of the best rig for `make bench`: a question with proof, the first rig, a front."""

import time
from itertools import islice

from rigplanner.catalog.load import shipped_catalog
from rigplanner.performance.anchors.own import kept_evidence
from rigplanner.planning.aims import aim_of
from rigplanner.planning.best.answer import Seeker
from rigplanner.planning.best.choices import front
from rigplanner.planning.best.question import Question, Want
from rigplanner.rig.document import Site
from tools.bench_figure import Figure

TODAY = "2026-11-23"
US = Site(country="US", volts=120.0, breaker_a=15.0)


def _seeker(budget: float) -> Seeker:
    wants = (Want(workload=aim_of("language", "").workload),)
    question = Question(wants=wants, budget=budget, site=US, used=True)
    kept_evidence()
    return Seeker(question, shipped_catalog(), TODAY)


def proven() -> tuple[float, str]:
    """Seconds of one question over the whole catalog, with proof."""
    start = time.process_time()
    *_, answer = _seeker(4500.0).answers(4500.0)
    return time.process_time() - start, f"{answer.total:.2e} rigs, {answer.examined} one by one"


def first() -> float:
    """Seconds until the first sound rig."""
    start = time.process_time()
    next(_seeker(4500.0).answers(4500.0))
    return time.process_time() - start


def ten_points() -> tuple[float, str]:
    """Seconds of a front of at most ten rigs."""
    start = time.process_time()
    points = list(islice(front(_seeker(12000.0), 12000.0), 10))
    return time.process_time() - start, f"{len(points)} points"


FIGURES: tuple[Figure, ...] = (
    Figure("best rig: a question over the whole catalog, with proof", proven, "s", 2),
    Figure("best rig: the first sound rig", first, "s", 0.5),
    Figure("best rig: a front of ten budgets", ten_points, "s", 8),
)
