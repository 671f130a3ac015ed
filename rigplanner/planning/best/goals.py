"""What a pass looks for: each goal says how much a rig of a certain speed may cost to be of
interest, and keeps the best that it was shown."""

import math

from rigplanner.planning.best.question import Objective
from rigplanner.planning.best.score import Score
from rigplanner.planning.best.search import CENT, NOTHING, Candidate

EQUAL = 1e-9
"""Relative difference of speeds that is none."""
NEAR = 0.075
"""Share by which a rig may be slower and still be a near-tie, where the intervals hold each other:
two measurements of one and the same job by different sources differ by as much at the median (407
pairs of this catalog's rows)."""
SAME = 0.01
"""Share by which two runs on one and the same machine differ: a rig slower by less is as fast,
whatever the intervals say. One whose high end is its middle, as where arithmetic bounds it, holds
no other middle."""


def near(top: Score, other: Score) -> bool:
    """Return whether nobody can tell that `top` is faster: the speeds are the same, or the
    intervals hold each other's middle and the middles are no further apart than two measurements of
    one job are."""
    return other.value >= (1 - SAME) * top.value or (
        other.value >= (1 - NEAR) * top.value and other.high >= top.value and other.value >= top.low
    )


DOUBT = 2.0
"""A rig whose memory most likely holds the works counts for half of one whose surely does: in the
worst of likely cases every second one fails."""


def gain(objective: Objective, one: Candidate, other: Candidate) -> float:
    """Return how many times as much the other rig gives of what is asked, or as little it takes."""
    if objective == "fastest":
        return other.score.value / one.score.value
    if objective == "cheapest":
        return one.price / max(other.price, CENT)
    if objective == "least-watts":
        return one.watts / max(other.watts, 1.0)
    return other.score.value / max(other.price, CENT) * one.price / one.score.value


class WorthTheDoubt:
    """Any rig that gives more than `DOUBT` times as much, for the money or within it, as the one
    that surely holds the works. Who asks for the least that does them wants no doubt."""

    def __init__(self, objective: Objective, budget: float, sure: Candidate) -> None:
        self.objective, self.budget, self.sure = objective, budget, sure
        self.best: Candidate | None = None

    def limit(self, score: float) -> float:
        """What a rig of this speed may cost to be worth it."""
        ratio = score / (DOUBT * self.sure.score.value)
        if self.best is not None or (self.objective == "fastest" and ratio <= 1):
            return NOTHING
        return self.budget if self.objective == "fastest" else self.sure.price * ratio

    def found(self, candidate: Candidate) -> None:
        """Keep the first."""
        if gain(self.objective, self.sure, candidate) > DOUBT:
            self.best = candidate


class Fastest:
    """The fastest rig within the budget; of equally fast ones the cheapest that was shown."""

    def __init__(self, budget: float) -> None:
        self.budget, self.best = budget, None  # type: float, Candidate | None

    def limit(self, score: float) -> float:
        """The whole budget for what may be faster."""
        if self.best is None or score > self.best.score.value * (1 + EQUAL):
            return self.budget
        return NOTHING

    def found(self, candidate: Candidate) -> None:
        """Keep it: it is faster."""
        self.best = candidate


class NearlyAsFast:
    """The cheapest rig that nobody can tell to be slower than the fastest."""

    def __init__(self, top: Candidate) -> None:
        self.top, self.best = top, top

    def limit(self, score: float) -> float:
        """Less than the cheapest found, for what may be near."""
        if score < (1 - NEAR) * self.top.score.value:
            return NOTHING
        return self.best.price - CENT

    def found(self, candidate: Candidate) -> None:
        """Keep it where it is near: it is cheaper."""
        if near(self.top.score, candidate.score):
            self.best = candidate


class Least:
    """The rig that reaches all targets for the least money, or the fewest watts."""

    def __init__(self, budget: float, by_watts: bool) -> None:
        self.budget, self.by_watts, self.best = budget, by_watts, None  # type: float, bool, Candidate | None

    def limit(self, score: float) -> float:
        """Less than the best found."""
        if self.best is None:
            return math.inf if self.by_watts else self.budget
        return (self.best.watts if self.by_watts else self.best.price) - CENT

    def found(self, candidate: Candidate) -> None:
        """Keep it: it takes less."""
        self.best = candidate


class PerMoney:
    """The most work for the money."""

    def __init__(self, budget: float) -> None:
        self.budget, self.best = budget, None  # type: float, Candidate | None

    def limit(self, score: float) -> float:
        """What a rig of this speed may cost to give more for the money."""
        if self.best is None:
            return self.budget
        ratio = self.best.score.value / self.best.price
        return min(self.budget, score / ratio * (1 - EQUAL))

    def found(self, candidate: Candidate) -> None:
        """Keep it: it gives more for the money."""
        self.best = candidate


class ProofOfFastest:
    """No rig within the budget is faster than `top`, and none that is near it is cheaper than
    `chosen`; what contradicts it is kept."""

    def __init__(self, budget: float, top: Candidate, chosen: Candidate) -> None:
        self.budget, self.top, self.chosen = budget, top, chosen
        self.contradiction: Candidate | None = None

    def limit(self, score: float) -> float:
        """The budget for what may be faster, less than the chosen rig for what may be near."""
        if score > self.top.score.value * (1 + EQUAL):
            return self.budget
        if score >= (1 - NEAR) * self.top.score.value:
            return self.chosen.price - CENT
        return NOTHING

    def found(self, candidate: Candidate) -> None:
        """Keep what contradicts."""
        faster = candidate.score.value > self.top.score.value * (1 + EQUAL)
        if faster or near(self.top.score, candidate.score):
            self.contradiction = candidate
