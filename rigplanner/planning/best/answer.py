"""From a question to the best rig with its proof: passes over the space that find it, and one that
proves it."""

import math
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.planning.best.certificate import Book, Certificate, Claim
from rigplanner.planning.best.goals import (
    Fastest,
    Least,
    NearlyAsFast,
    PerMoney,
    ProofOfFastest,
    WorthTheDoubt,
)
from rigplanner.planning.best.judge import Judge
from rigplanner.planning.best.market import Market
from rigplanner.planning.best.question import Question
from rigplanner.planning.best.reads import LADDER, Strictness
from rigplanner.planning.best.search import (
    NO_MONEY,
    TWIN,
    Aim,
    Candidate,
    Ledger,
    NoLedger,
    Search,
    Stopped,
)
from rigplanner.planning.best.space import CardSet, Space, space_of
from rigplanner.workload.resolved import in_one_format

NOT_IN_SPACE = (
    "cards of different kinds together, but for two kinds of one maker, four cards at most, whose"
    " layers a program deals out",
    "risers, switches and docks",
    "two supplies in a closed case",
    "several drives",
    "barebones and baseboards",
    "parts without a price that counts",
)


class Answer(Struct, frozen=True, kw_only=True):
    """The best rig of a question. `top` is the fastest where that is another one (then `best` is
    its near-tie for less money). `total` rigs are in the space, `examined` of them were looked at
    one by one, `counts` says how many were left out for which reason. `gap` is None where the proof
    is whole; else no rig is faster than the best by more than this share. `sure` is the best rig
    whose memory surely holds the works, where the answer is worth a doubt."""

    question: Question
    strictness: Strictness
    best: Candidate | None
    top: Candidate | None
    total: int
    examined: int
    counts: dict[str, int]
    gap: float | None
    certificate: Certificate | None = None
    left_out: dict[str, int] = {}
    sure: Candidate | None = None


class Seeker:
    """Answers questions about one space at any budget; what was learned serves the next one."""

    def __init__(
        self,
        question: Question,
        catalog: Catalog,
        today: str,
        strictness: Strictness = "sound",
        go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self.said, question = question, _in_one_format(question)
        self.question, self.catalog, self.today = question, catalog, today
        self.strictness, self.go_on = strictness, go_on
        self.market = Market(
            catalog, question.currency, today, question.rates, question.used,
            question.price_age_days, question.abroad,
        )  # fmt: skip
        self.space: Space = space_of(question, self.market)
        self.judge = Judge(question, self.market, strictness, self.space.sparing)
        self.search = Search(self.space, self.judge, question.objective == "least-watts", go_on)
        firsts, self._twins = self.search.bounds.without_twins(self.space.sets)
        alone = set(firsts)
        self._sets = tuple(cards for cards in self.space.sets if cards in alone)
        self._machines, self._machine_twins = self.search.bounds.machines()

    def asking(
        self,
        question: Question,
        go_on: Callable[[], bool] | None = None,
        strictness: Strictness | None = None,
    ) -> "Seeker":
        """Return who answers another question of the same catalog and day, as strictly unless
        said."""
        strict, going = strictness or self.strictness, go_on or self.go_on
        return Seeker(question, self.catalog, self.today, strict, going)

    def answers(self, budget: float | None, keep: bool = False) -> Iterator[Answer]:
        """Yield what is the best so far each time that it changes, at last with its proof."""
        self.judge.question = replace(self.question, budget=budget)
        self.search.bounds.question = self.judge.question
        most = math.inf if budget is None else budget + NO_MONEY
        if self.question.objective == "fastest":
            yield from self._fastest(most, keep)
        else:
            yield from self._least(most, keep)

    def _fastest(self, most: float, keep: bool) -> Iterator[Answer]:
        first = Fastest(most)
        if (early := self._early(most)) is not None:
            first.found(early)
            yield self._told(early, early, None, math.inf)
        for _ in self._pass(first, NoLedger(), self._by_speed(most)):
            if self._stopped:
                break
            if first.best is not None:
                yield self._told(first.best, first.best, None, self._faster_by(first.best))
        if self._stopped or first.best is None:
            yield self._unproven(first.best, first, keep)
            return
        second = NearlyAsFast(first.best)
        for _ in self._pass(second, NoLedger(), self._by_price(most)):
            pass
        top, best = first.best, second.best
        if self._stopped:
            yield self._told(best, top, None, 0.0)
            return
        book = Book(self.space, keep)
        proof = ProofOfFastest(most, top, best)
        for _ in self._pass(proof, book, self._sets):
            pass
        yield self._told(best, top, book, 0.0 if self._stopped else None)

    def _least(self, most: float, keep: bool) -> Iterator[Answer]:
        watts = self.question.objective == "least-watts"
        aim: PerMoney | Least = (
            PerMoney(most) if self.question.objective == "per-money" else Least(most, watts)
        )
        for _ in self._pass(aim, NoLedger(), self._by_price(most)):
            if aim.best is not None:
                yield self._told(aim.best, aim.best, None, self._gap(aim.best))
        if self._stopped:
            yield self._told(aim.best, aim.best, None, self._gap(aim.best))
            return
        book = Book(self.space, keep)
        for _ in self._pass(aim, book, self._sets):
            pass
        yield self._told(aim.best, aim.best, book, 0.0 if self._stopped else None)

    def _gap(self, best: Candidate | None) -> float:
        """By what share a rig that was not looked at may take less than the best: those that may
        take least come first."""
        if best is None or self.question.objective == "per-money":
            return math.inf
        least = self.search.least(self._left[0]) if self._left else math.inf
        measure = best.watts if self.search.by_watts else best.price
        return max(0.0, 1 - least / measure)

    def _pass(self, aim: Aim, ledger: Ledger, order: tuple[CardSet, ...]) -> Iterator[None]:
        """Look at all complete machines and sets of cards; yield after each that changed the
        aim."""
        self._stopped, self._left = False, list(order)
        for cards in self._twins:
            ledger.leave(cards, {}, "", (), TWIN)
        for option in self._machine_twins:
            ledger.examined(None, {"system": option}, TWIN)
        try:
            for option in self._machines:
                before = getattr(aim, "best", None)
                self.search.machine(option, aim, ledger)
                if getattr(aim, "best", None) is not before:
                    yield
            for cards in order:
                before = getattr(aim, "best", None)
                self.search.over(cards, aim, ledger)
                self._left.pop(0)
                if getattr(aim, "best", None) is not before:
                    yield
        except Stopped:
            self._stopped = True

    def is_worth_the_doubt(self, sure: Candidate) -> bool:
        """Return whether some rig whose memory may not hold the works is so much better than the
        best that surely does. Of cards only those come into question that are not sound for just
        that: what they hold does not rest on their host."""
        budget = self.judge.question.budget
        asks_most = self.question.objective in ("fastest", "per-money")
        if self.strictness != LADDER[0] or self.question.tight or not asks_most:
            return False
        bounds = self.search.bounds
        some = [c for c in self._sets if bounds.has_slots(c) and bounds.ceiling(c) == "tight"]
        other = self.asking(self.question, strictness=LADDER[1])
        other.judge.question = replace(other.question, budget=budget)
        other.search.bounds.question = other.judge.question
        most = math.inf if budget is None else budget + NO_MONEY
        aim = WorthTheDoubt(self.question.objective, most, sure)
        for _ in other._pass(aim, NoLedger(), tuple(some)):
            return True
        return False

    def _early(self, most: float) -> Candidate | None:
        """The cheapest rig with the single card that may be fastest: a good one to begin with,
        found long before what several cards do is known."""
        cheapest = Least(most, False)
        try:
            for cards in self._by_speed(most, 1):
                self.search.over(cards, cheapest, NoLedger())
                if cheapest.best is not None:
                    break
        except Stopped:
            return None
        return cheapest.best

    def _by_speed(self, most: float, count: int | None = None) -> tuple[CardSet, ...]:
        """Sets of (so many) cards that the money reaches, the one that may be fastest first."""
        bounds = self.search.bounds
        every = (c for c in self._sets if count is None or c.count == count)
        reached = [c for c in every if bounds.has_slots(c) and self.search.least(c) <= most]
        told = [(bounds.roof(cards), cards) for cards in reached]
        fast = [(most, cards) for most, cards in told if not isinstance(most, str)]
        fast.sort(key=lambda pair: (-pair[0], pair[1].cost, pair[1].gpu, pair[1].count))
        return tuple(cards for _, cards in fast)

    def _by_price(self, most: float) -> tuple[CardSet, ...]:
        costs = [(self.search.least(cards), n) for n, cards in enumerate(self._sets)]
        return tuple(self._sets[n] for cost, n in sorted(costs) if cost <= most)

    def _unproven(self, best: Candidate | None, aim: Fastest, keep: bool) -> Answer:
        """Return the answer of a pass that was stopped, or found nothing."""
        if not self._stopped:
            book = Book(self.space, keep)
            for _ in self._pass(aim, book, self._sets):
                pass
            return self._told(None, None, book, None)
        return self._told(best, best, None, self._faster_by(best) if best else math.inf)

    def _faster_by(self, best: Candidate) -> float:
        """By what share a rig that was not looked at may be faster: those that may be fastest come
        first."""
        roof = self.search.bounds.roof(self._left[0]) if self._left else 0.0
        return max(0.0, 0.0 if isinstance(roof, str) else roof / best.score.value - 1)

    def _told(
        self,
        best: Candidate | None,
        top: Candidate | None,
        book: Book | None,
        gap: float | None,
    ) -> Answer:
        question = self.judge.question
        certificate = None
        if book is not None and book.keep:
            certificate = self._certificate(best, top, book, gap)
        return Answer(
            question=question,
            strictness=self.strictness,
            best=best,
            top=top,
            total=self.space.size,
            examined=book.examined_rigs if book else self.search.built,
            counts=dict(sorted(book.counts.items(), key=lambda p: (-p[1], p[0]))) if book else {},
            gap=gap,
            certificate=certificate,
            left_out={str(cause): n for cause, n in self.space.left_out.items()},
        )

    def _certificate(
        self, best: Candidate | None, top: Candidate | None, book: Book, gap: float | None
    ) -> Certificate:
        claim = None
        if best is not None and top is not None:
            cards, chosen = book.numbers(best.cards, best.choices)
            top_cards, top_chosen = book.numbers(top.cards, top.choices)
            claim = Claim(
                cards=cards,
                chosen=chosen,
                price=best.price,
                watts=best.watts,
                score=best.score.value,
                top=top.score.value,
                top_cards=top_cards,
                top_chosen=top_chosen,
            )
        return Certificate(
            day=self.today,
            catalog=self.catalog.version,
            strictness=self.strictness,
            question=self.judge.question,
            options=self.space.options,
            sets=self.space.sets,
            machines=self.space.machines,
            left_out={str(cause): n for cause, n in self.space.left_out.items()},
            not_in_space=NOT_IN_SPACE,
            total=self.space.size,
            claim=claim,
            families=tuple(book.families),
            gap=gap,
        )


def answers(
    question: Question,
    catalog: Catalog,
    today: str,
    keep: bool = False,
    go_on: Callable[[], bool] = lambda: True,
) -> Iterator[tuple[Seeker, Answer]]:
    """Yield what is the best so far each time that it changes, with who found it: among sound rigs;
    where it is proven that there is none, or one of the next is twice as good, among those whose
    memory may not hold the works; then
    among those with warnings that no choice mends, and those with facts that are not known. The
    last certificate holds the proofs that the stricter ones found none."""
    stricter: Certificate | None = None
    sure: Candidate | None = None
    for strictness in LADDER:
        seeker = Seeker(question, catalog, today, strictness, go_on)
        for answer in seeker.answers(question.budget, keep):
            if answer.certificate is not None and stricter is not None:
                whole = replace(answer.certificate, stricter=stricter)
                answer = replace(answer, certificate=whole)
            yield seeker, replace(answer, sure=sure)
        sure = answer.best
        if not go_on() or (sure is not None and not seeker.is_worth_the_doubt(sure)):
            return
        stricter = answer.certificate


def best_rig(
    question: Question,
    catalog: Catalog,
    today: str,
    keep: bool = False,
    go_on: Callable[[], bool] = lambda: True,
) -> Answer:
    """Return the last of `answers`."""
    *_, (_, answer) = answers(question, catalog, today, keep, go_on)
    return answer


def _in_one_format(question: Question) -> Question:
    """The question with works that every card is asked in the same format."""
    zoo = shipped_zoo()
    wants = (replace(w, workload=in_one_format(w.workload, zoo)) for w in question.wants)
    return replace(question, wants=tuple(wants))
