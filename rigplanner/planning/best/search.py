"""Branch and bound over all rigs of a space: sets of cards first, then the host around them part by
part, cheapest first; what bounds and rules leave out is left out by whole families."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, System
from rigplanner.planning.best.bounds import Bounds, card_watts
from rigplanner.planning.best.judge import Chosen, Judge
from rigplanner.planning.best.reads import CARDS, NO_CASE, NO_HOUSING
from rigplanner.planning.best.score import Score, score_of
from rigplanner.planning.best.space import HOST_KINDS, CardSet, Option, Space
from rigplanner.planning.best.works import trains
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import Assessment

NOTHING = float("-inf")
NO_MONEY = 1e-6
"""So much above a budget is the noise of adding, not money."""
CENT = 0.005
NONE: frozenset[str] = frozenset()
TWIN = "twin"
"""Why a choice is left out that differs from a cheaper one in nothing but its name and price."""
SITS = frozenset(("cards", "motherboard", "cpu"))
"""What speed and the least price of the rest depend on."""
PACING = ("memory", "storage")
"""Kinds on which the speed of works rests that lie in the host, beside cards, board and
processor."""
RELATES_TO: dict[str, frozenset[str]] = {
    "motherboard": frozenset(("cards",)),
    "cpu": frozenset(("cards", "motherboard")),
    "memory": frozenset(("cards", "motherboard")),
    "storage": NONE,
    "chassis": NONE,
    "cooler": frozenset(("cpu",)),
    "psu": frozenset(("cards", "chassis")),
}
"""What plain relations of a kind depend on: with others of these another choice of it may do."""
BEFORE_HOUSING = ("cpu", "chassis")
"""Kinds after whose choice it is asked what holds, cools and feeds the rig."""
WHOLE = frozenset(("cards", *HOST_KINDS))


class Candidate(Struct, frozen=True, kw_only=True):
    """A whole rig that no rule refuses: what it costs and draws, and how well it does the works.
    `cards` is None for a complete machine."""

    rig: Rig
    cards: CardSet | None
    choices: dict[str, Option]
    price: float
    watts: float
    score: Score


class Stopped(Exception):
    """The search was told to stop."""


class Aim(Protocol):
    """What a pass over the space looks for."""

    def limit(self, score: float) -> float:
        """Return the most that a rig of at most this score may cost (or draw) to be of interest."""

    def found(self, candidate: Candidate) -> None:
        """Take a rig that is within the limit of its score."""


class Ledger(Protocol):
    """Who is told what a pass leaves out."""

    def leave(
        self,
        cards: CardSet | None,
        chosen: Chosen,
        kind: str,
        options: tuple[Option, ...],
        reason: str,
        bound: float | None = None,
    ) -> None:
        """Take a family: these choices of `kind` beside the choices before, with all that could
        come after."""

    def examined(self, cards: CardSet | None, chosen: Chosen, reason: str) -> None:
        """Take one whole rig."""


class NoLedger:
    """Keeps nothing."""

    def leave(self, *_: object) -> None:
        """Forget it."""

    def examined(self, *_: object) -> None:
        """Forget it."""


class Search:
    """Passes over one space; what one pass learned the next one need not ask again."""

    def __init__(
        self,
        space: Space,
        judge: Judge,
        by_watts: bool = False,
        go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self.space, self.judge, self.by_watts, self.go_on = space, judge, by_watts, go_on
        self.bounds = Bounds(space, judge)
        self.built = 0
        self._whole: dict[object, Candidate | str] = {}

    def _measure(self, option: Option) -> float:
        return option.watts if self.by_watts else option.cost

    def least(self, cards: CardSet) -> float:
        """Return what no rig with these cards undercuts, in money or watts."""
        own = card_watts(cards, self.judge.catalog) if self.by_watts else cards.cost
        return own + self.bounds.rest(0, cards, {}, self.by_watts)

    def over(self, cards: CardSet, aim: Aim, ledger: Ledger) -> None:
        """Look for rigs with a set of cards. Raises Stopped."""
        least, budget = self.least(cards), self.judge.question.budget
        if not self.bounds.has_slots(cards):
            return ledger.leave(cards, {}, "", (), "slots")
        if budget is not None and self._price_least(cards) > budget + NO_MONEY:
            return ledger.leave(cards, {}, "", (), "price", self._price_least(cards))
        if least > aim.limit(float("inf")):
            return ledger.leave(cards, {}, "", (), "price", least)
        for bound in (self.bounds.roof, self.bounds.ceiling):
            found = bound(cards)
            if isinstance(found, str):
                return ledger.leave(cards, {}, "", (), found)
            most = found.value if isinstance(found, Score) else found
            limit = aim.limit(most)
            if least > limit:
                reason, told = ("speed", most) if limit == NOTHING else ("price", least)
                return ledger.leave(cards, {}, "", (), reason, told)
        if not self.judge.has_case(cards, self.bounds.plausible("chassis", cards, {}).firsts):
            return ledger.leave(cards, {}, "", (), NO_CASE)
        own = card_watts(cards, self.judge.catalog) if self.by_watts else cards.cost
        self._descend(cards, {}, (own, cards.cost), most, 0, aim, ledger)
        return None

    def _price_least(self, cards: CardSet) -> float:
        return cards.cost + self.bounds.rest(0, cards, {}, False)

    def _descend(
        self,
        cards: CardSet,
        chosen: Chosen,
        spent: tuple[float, float],
        score: float,
        level: int,
        aim: Aim,
        ledger: Ledger,
    ) -> frozenset[str]:
        """Go through the choices of one kind, cheapest first; return the kinds without another
        choice of which nothing else comes out. Where the kind itself is none of them, its dearer
        choices share the fate of the first."""
        if not self.go_on():
            raise Stopped
        kind = HOST_KINDS[level]
        plausible = self.bounds.plausible(kind, cards, chosen)
        options, blamed = plausible.firsts, NONE
        if plausible.unrelated:
            ledger.leave(cards, chosen, kind, plausible.unrelated, "relation")
            blamed = RELATES_TO[kind]
        if plausible.twins:
            ledger.leave(cards, chosen, kind, plausible.twins, TWIN)
        if self.by_watts:
            options = tuple(sorted(options, key=self._measure))
        least_rest = self.bounds.housed if kind in PACING else self.bounds.rest
        rest = least_rest(level + 1, cards, chosen, self.by_watts)
        for at, option in enumerate(options):
            least = spent[0] + self._measure(option) + rest
            if least > aim.limit(score):
                ledger.leave(cards, chosen, kind, options[at:], "price", least)
                blamed |= self._dear(cards, least, aim, kind)
                break
            chosen[kind] = option
            after = least_rest(level + 1, cards, chosen, self.by_watts)
            least = spent[0] + self._measure(option) + after
            found = self._choose(cards, chosen, spent, score, level, least, aim, ledger)
            del chosen[kind]
            blamed |= found
            if kind not in found and at + 1 < len(options):
                ledger.leave(cards, chosen, kind, options[at + 1 :], "sibling")
                break
        return blamed - {kind}

    def _choose(
        self,
        cards: CardSet,
        chosen: Chosen,
        spent: tuple[float, float],
        score: float,
        level: int,
        least: float,
        aim: Aim,
        ledger: Ledger,
    ) -> frozenset[str]:
        """Go on with one choice unless a bound or a rule leaves it out; return the kinds that are
        to blame."""
        kind = HOST_KINDS[level]
        option = chosen[kind]
        before = {k: o for k, o in chosen.items() if k != kind}
        if least > aim.limit(score):
            ledger.leave(cards, before, kind, (option,), "price", least)
            return self._dear(cards, least, aim, kind)
        if (money := self._over_budget(cards, chosen, spent[1], level)) is not None:
            ledger.leave(cards, before, kind, (option,), "price", money)
            return frozenset((CARDS, *chosen))
        refusal = self.judge.refusal(cards, chosen, kind)
        if refusal is not None:
            ledger.leave(cards, before, kind, (option,), refusal.code)
            return frozenset(refusal.kinds)
        found = self._score(cards, chosen, kind)
        blamed = self._paced_by(cards, kind, found, score)
        if isinstance(found, str):
            ledger.leave(cards, before, kind, (option,), found)
            return blamed
        score = min(score, found.value) if found else score
        if least > aim.limit(score):
            slow = aim.limit(score) == NOTHING
            reason, bound = ("speed", score) if slow else ("price", least)
            ledger.leave(cards, before, kind, (option,), reason, bound)
            return blamed if slow else blamed | self._dear(cards, least, aim, kind)
        paid = (spent[0] + self._measure(option), spent[1] + option.cost)
        if kind in BEFORE_HOUSING:
            left = self._unhoused(cards, chosen, paid, score, level, aim)
            if left is not None:
                ledger.leave(cards, before, kind, (option,), *left)
                rests = SITS | {"chassis"} if kind == "chassis" else SITS
                dear = self._dear(cards, left[1], aim, kind) if left[1] is not None else NONE
                return rests | (blamed | dear if dear else NONE)
        if level + 1 < len(HOST_KINDS):
            return self._descend(cards, chosen, paid, score, level + 1, aim, ledger)
        self._end(cards, chosen, round(paid[1], 2), aim, ledger)
        return WHOLE

    def _over_budget(self, cards: CardSet, chosen: Chosen, paid: float, level: int) -> float | None:
        """Where watts are what is measured: return what a rig with these choices costs at least, if
        that is above the budget. A choice that draws more may cost less: all of them are to
        blame."""
        budget = self.judge.question.budget
        if not self.by_watts or budget is None:
            return None
        sits = level >= HOST_KINDS.index("cpu")
        rest = (self.bounds.housed if sits else self.bounds.rest)(level + 1, cards, chosen, False)
        least = paid + chosen[HOST_KINDS[level]].cost + rest
        return least if least > budget + NO_MONEY else None

    def _unhoused(
        self,
        cards: CardSet,
        chosen: Chosen,
        paid: tuple[float, float],
        score: float,
        level: int,
        aim: Aim,
    ) -> tuple[str, float | None] | None:
        """Return why nothing that may hold, cool and feed a rig keeps it within the limit, and what
        it costs at least; None where something may."""
        rest = self.bounds.housed(level + 1, cards, chosen, self.by_watts)
        if rest == float("inf"):
            return NO_HOUSING, None
        if paid[0] + rest > aim.limit(score):
            return "price", paid[0] + rest
        return None

    def _score(self, cards: CardSet, chosen: Chosen, kind: str) -> Score | str | None:
        """Return a better bound of the score, where a choice of this kind tells one."""
        if kind == "cpu":
            return self.bounds.sitting(cards, chosen)
        if kind == "motherboard" and self.bounds.leans_on_host(cards):
            return self.bounds.on_socket(cards, chosen)
        if kind in PACING and self.bounds.leans_on_host(cards):
            return self.bounds.furnished(cards, chosen)
        return None

    def _paced_by(
        self, cards: CardSet, kind: str, found: Score | str | None, before: float
    ) -> frozenset[str]:
        """Return the kinds that a bound of the score rests on. A drive that is no slower than the
        fastest of all is none of them: with no other one it would be more."""
        if kind not in PACING or not self.bounds.leans_on_host(cards):
            return SITS
        if kind == "storage" and (not isinstance(found, Score) or found.value < before):
            return SITS | frozenset(PACING)
        return SITS | {"memory"}

    def _dear(self, cards: CardSet, least: float, aim: Aim, kind: str) -> frozenset[str]:
        """Return the kinds that a price rests on which is too much: where a faster rig might cost
        it, on all that decide the speed so far; before a supply is chosen, on the case, which says
        how many supplies there may be."""
        rests = SITS | {"chassis"} if kind in ("chassis", "cooler") else SITS
        later = HOST_KINDS.index(kind) > HOST_KINDS.index(PACING[0])
        if later and self.bounds.leans_on_host(cards) and least <= aim.limit(float("inf")):
            return rests | frozenset(PACING)
        return rests

    def _end(self, cards: CardSet, chosen: Chosen, price: float, aim: Aim, ledger: Ledger) -> None:
        budget = self.judge.question.budget
        if budget is not None and price > budget:
            return ledger.examined(cards, chosen, "price")
        key = (cards, *((o.part, o.quantity) for o in chosen.values()))
        if key not in self._whole:
            self._whole[key] = self._made(cards, dict(chosen), price)
        made = self._whole[key]
        if isinstance(made, str):
            return ledger.examined(cards, chosen, made)
        measure = made.watts if self.by_watts else made.price
        if measure <= aim.limit(made.score.value):
            aim.found(made)
        ledger.examined(cards, chosen, "rig")
        return None

    def _made(self, cards: CardSet, chosen: Chosen, price: float) -> Candidate | str:
        rig = self.judge.rig_of(cards, chosen, True, self.judge.works_on(cards))
        return self._candidate(rig, cards, chosen, price)

    def _candidate(
        self, rig: Rig, cards: CardSet | None, chosen: Chosen, price: float
    ) -> Candidate | str:
        self.built += 1
        assessment, code = self.judge.whole(rig)
        if code is not None:
            return code
        score = _scored(self.judge, assessment, cards)
        if not isinstance(score, Score):
            return score
        watts = assessment.machine.power.sustained_w or 0.0
        return Candidate(
            rig=rig, cards=cards, choices=chosen, price=price, watts=watts, score=score
        )

    def machine(self, option: Option, aim: Aim, ledger: Ledger) -> None:
        """Look at a complete machine. Raises Stopped."""
        if not self.go_on():
            raise Stopped
        key, budget = (option.part,), self.judge.question.budget
        if budget is not None and option.cost > budget:
            return ledger.examined(None, {"system": option}, "price")
        if key not in self._whole:
            part = self.judge.catalog.get(option.part)
            works = tuple(want.workload for want in self.judge.question.wants)
            items = (Item(uid="system", part=option.part),)
            rig = self.judge.with_items(items, True, works)
            suits = isinstance(part, System) and _suits(part, self.judge)
            self._whole[key] = (
                self._candidate(rig, None, {"system": option}, option.cost) if suits else "role"
            )
        made = self._whole[key]
        if isinstance(made, str):
            return ledger.examined(None, {"system": option}, made)
        measure = made.watts if self.by_watts else made.price
        if measure <= aim.limit(made.score.value):
            aim.found(made)
        ledger.examined(None, {"system": option}, "rig")
        return None


def _scored(judge: Judge, assessment: Assessment, cards: CardSet | None) -> Score | str:
    way = cards.way if cards else "copies"
    return score_of(judge.question, assessment.machine, way, judge.strictness)


def _suits(system: System, judge: Judge) -> bool:
    """A development board suits what is to run, not what is to be trained."""
    trained = any(trains(want.workload) for want in judge.question.wants)
    return system.role == "complete" or not trained


def card_name(judge: Judge, cards: CardSet) -> str:
    """Return the name of a set's card."""
    part = judge.catalog.get(cards.gpu)
    return part.name if isinstance(part, GPU) else ""
