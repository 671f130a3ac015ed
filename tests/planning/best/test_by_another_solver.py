"""The best rig of random small catalogs by CP-SAT: a model of its own, built from the parts alone.
It knows what rigs are made of and what they cost; speed and verdict of a rig are asked for when it
comes up, and what is refused is forbidden."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import CPU, GPU, AnyPart, Chassis, MemoryKit, Motherboard
from rigplanner.planning.best.answer import Seeker
from rigplanner.planning.best.question import Question
from tools.campaign.small_catalogs import KITS, TODAY, asked_of, card_sets, paid, rig_judged

cp_model: Any = pytest.importorskip(
    "ortools.sat.python.cp_model", reason="CP-SAT is not installed (ortools, extra dev)"
)

CASES = (100, 101, 102)
"""Cards that are owned, two bought kinds, and one kind."""
UNKNOWN = 10**12
"""The speed of what was not asked yet, above all that is known."""
SPEED_STEPS = 10**7
"""Steps in which the speeds of a case are counted, so many up to the first one known."""
PACED = ("cards", "motherboard", "cpu", "memory", "storage")
"""Kinds that decide the speed."""


class Choice(Struct, frozen=True):
    """So many pieces of a part (cards: None of none), how jobs lie on cards, and one card of
    another kind beside them."""

    part: AnyPart | None
    many: int
    way: str = "copies"
    other: GPU | None = None

    @property
    def pieces(self) -> list[tuple[AnyPart, int]]:
        """The parts, and how many of each."""
        own = [(self.part, self.many)] if self.part else []
        return [*own, (self.other, 1)] if self.other else own

    def cents(self, question: Question) -> int:
        """What they cost: owned ones what selling them would bring."""
        return round(100 * sum(paid(part, many, question) for part, many in self.pieces))


def choices(catalog: Catalog, question: Question) -> dict[str, list[Choice]]:
    """What there is to choose of each kind."""
    cards = []
    for one in card_sets(list(catalog.of_kind("gpu")), question):
        (part, many), *more = [*one, *(((None, 0),) if not one else ())]
        other = more[0][0] if more else None
        cards.append(Choice(part, many, other=other))
        if many > 1:
            cards.append(Choice(part, many, "spread"))
    found = {"cards": cards}
    for kind in ("motherboard", "cpu", "memory", "storage", "chassis", "cooler", "psu"):
        many = {"memory": KITS, "psu": (1, 2)}.get(kind, (1,))
        found[kind] = [Choice(part, n) for part in catalog.of_kind(kind) for n in many]
    return found


def goes(one: Choice, other: Choice) -> bool:
    """Whether two choices may stand in one rig, by what rigs of the question are."""
    a, b = one.part, other.part
    if isinstance(a, Motherboard) and isinstance(b, CPU):
        return b.socket in a.layout.sockets
    if isinstance(a, Motherboard) and isinstance(b, MemoryKit):
        fits = other.many * b.modules <= (a.layout.memory_slots or 0)
        return b.type == a.layout.memory_type and fits
    if isinstance(b, CPU):
        return (b.cores or 0) >= max(6, 4 * _count(one)) if _is_cards(one) else True
    if isinstance(b, MemoryKit) and _is_cards(one):
        gib = other.many * b.modules * b.module_gib
        video = sum(n * (gpu.memory_gib or 0) for gpu, n in one.pieces if isinstance(gpu, GPU))
        return gib >= max(32, video) and other.many * b.modules <= 16
    if isinstance(a, Chassis) and other.many > 1:
        return a.enclosure.airflow == "open"
    return True


def _count(choice: Choice) -> int:
    return sum(many for _, many in choice.pieces)


def _is_cards(choice: Choice) -> bool:
    return choice.part is None or isinstance(choice.part, GPU)


class Model:
    """One literal for each choice, exactly one of each kind; pairs that do not go are forbidden."""

    def __init__(self, catalog: Catalog, question: Question) -> None:
        self.question, self.found = question, choices(catalog, question)
        self.model = cp_model.CpModel()
        self.literals = {
            kind: [self.model.NewBoolVar(f"{kind} {n}") for n in range(len(found))]
            for kind, found in self.found.items()
        }
        for literals in self.literals.values():
            self.model.AddExactlyOne(literals)
        order = list(self.found)
        for at, one in enumerate(order):
            for other in order[at + 1 :]:
                for (n, a), (m, b) in product(
                    enumerate(self.found[one]), enumerate(self.found[other])
                ):
                    if not goes(a, b):
                        self.model.AddBoolOr(~self.literals[one][n], ~self.literals[other][m])
        self.cents = sum(
            choice.cents(question) * literal
            for kind, found in self.found.items()
            for choice, literal in zip(found, self.literals[kind], strict=True)
        )
        if question.budget is not None:
            self.model.Add(self.cents <= round(100 * question.budget))

    def rigs(self) -> Iterator[dict[str, int]]:
        """Yield the best rig by the model as it stands, again and again, until there is none."""
        while True:
            solver = cp_model.CpSolver()
            solver.parameters.num_workers, solver.parameters.random_seed = 1, 1
            if solver.Solve(self.model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                return
            yield {
                kind: next(n for n, each in enumerate(literals) if solver.Value(each))
                for kind, literals in self.literals.items()
            }

    def forbid(self, chosen: dict[str, int]) -> None:
        """Forbid a rig."""
        self.model.AddBoolOr(*(~self.literals[kind][n] for kind, n in chosen.items()))

    def judged(self, chosen: dict[str, int]) -> Any:
        """Watts and score of a rig, None where it is refused."""
        items = []
        for kind, n in chosen.items():
            uid = {"cards": "gpu", "motherboard": "board", "storage": "ssd"}.get(kind, kind)
            for at, (part, many) in enumerate(self.found[kind][n].pieces):
                items.append((f"{uid}2" if at else uid, part.id, many))
        cards = self.found["cards"][chosen["cards"]]
        question = self.question
        return rig_judged(tuple(items), cards.way, question.wants, question.site, _count(cards))

    def price(self, chosen: dict[str, int]) -> float:
        """What a rig costs."""
        each = (self.found[kind][n].cents(self.question) for kind, n in chosen.items())
        return sum(each) / 100


def cheapest(catalog: Catalog, question: Question) -> float | None:
    """What the cheapest sound rig costs."""
    model = Model(catalog, question)
    model.model.Minimize(model.cents)
    for chosen in model.rigs():
        if model.judged(chosen) is not None:
            return model.price(chosen)
        model.forbid(chosen)
    return None


def fastest(catalog: Catalog, question: Question) -> float | None:
    """The speed of the fastest sound rig: each set of what decides the speed is taken to be
    faster than all others until it is known."""
    model, known = Model(catalog, question), dict[tuple[int, ...], tuple[Any, float]]()
    for chosen in model.rigs():
        paced = tuple(chosen[kind] for kind in PACED)
        if paced in known:
            if model.judged(chosen) is not None:
                return known[paced][1]
            model.forbid(chosen)
            continue
        told = model.judged(chosen)
        if told is None:
            model.forbid(chosen)
            continue
        literal = model.model.NewBoolVar(f"paced {len(known)}")
        these = [model.literals[kind][n] for kind, n in zip(PACED, paced, strict=True)]
        model.model.AddBoolAnd(these).OnlyEnforceIf(literal)
        model.model.AddBoolOr(literal, *(~each for each in these))
        known[paced] = literal, told[1].value
        unit = SPEED_STEPS / next(iter(known.values()))[1]
        model.model.Maximize(
            UNKNOWN - sum((UNKNOWN - round(unit * speed)) * one for one, speed in known.values())
        )
    return None


@pytest.mark.parametrize("seed", CASES)
def test_another_solver_finds_the_same_least_price(seed: int) -> None:
    catalog, question = asked_of(seed)
    question = replace(question, objective="cheapest")
    *_, answer = Seeker(question, catalog, TODAY).answers(question.budget)
    price = cheapest(catalog, question)
    assert (answer.best is None) == (price is None)
    assert answer.best is None or answer.best.price == pytest.approx(price)


@pytest.mark.parametrize("seed", CASES)
def test_another_solver_finds_the_same_highest_speed(seed: int) -> None:
    catalog, question = asked_of(seed)
    question = replace(question, objective="fastest")
    *_, answer = Seeker(question, catalog, TODAY).answers(question.budget)
    speed = fastest(catalog, question)
    assert (answer.top is None) == (speed is None)
    assert answer.top is None or answer.top.score.value == pytest.approx(speed, rel=1e-6)
