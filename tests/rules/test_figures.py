"""Numbers under watch: the ranges that comparisons note, against trying other numbers."""

import math
import random
from collections.abc import Callable

import pytest

from rigplanner.rules.fitting.figures import Figure, Ranges, observed

Question = Callable[[float, float], object]


def _figure(field: str, value: float) -> Figure:
    return Figure(value, ((field, value, 1.0),))


def _asked(question: Question, first: float, second: float) -> tuple[object, Ranges]:
    answer, read = observed(lambda: question(_figure("first", first), _figure("second", second)))  # type: ignore[arg-type]
    return answer, read.ranges


QUESTIONS: dict[str, Question] = {
    "limit": lambda a, b: a < 5,
    "scaled": lambda a, b: 100 - 2 * a / 3 >= 96.0,
    "sum": lambda a, b: sum([a, 1.5, b, 2]) > 12,
    "each other": lambda a, b: a < b,
    "larger": lambda a, b: max(a, b, 4) - 1 <= 5,
    "truth": lambda a, b: bool(a - 3),
    "between": lambda a, b: 3 < a <= 6 or 7 <= b < 8,
    "rounded": lambda a, b: round(a) > 4,
    "ceiling": lambda a, b: math.ceil(a + b) == 9,
    "product": lambda a, b: a * b > 20,
    "power": lambda a, b: a**2 + math.sqrt(b) > 20,
    "words": lambda a, b: f"{a:.0f}" == "4",
    "never": lambda a, b: 0 * a + b < math.inf,
    "other": lambda a, b: a == "4" or a is None,
}


def _is_within(figures: dict[str, float], ranges: Ranges) -> bool:
    for counted, (low, high) in ranges.items():
        terms = ((counted, 1.0),) if isinstance(counted, str) else counted
        if not low <= sum(figures[field] * slope for field, slope in terms) <= high:
            return False
    return True


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_holds_for_all_numbers_in_the_noted_ranges(name: str) -> None:
    chance, question = random.Random(name), QUESTIONS[name]
    for _ in range(300):
        own = [
            chance.choice((float(chance.randint(0, 10)), chance.uniform(0, 10))) for _ in range(2)
        ]
        answer, ranges = _asked(question, *own)
        assert answer == question(*own)
        for _ in range(20):
            tried = [
                chance.choice((value, float(chance.randint(0, 10)), chance.uniform(0, 10)))
                for value in own
            ]
            if _is_within(dict(zip(("first", "second"), tried, strict=True)), ranges):
                assert question(*tried) == answer, (own, tried, ranges)


def test_a_limit_leaves_room_up_to_itself() -> None:
    assert _asked(lambda a, b: a <= 340, 304.0, 0.0)[1]["first"] == (
        -math.inf,
        pytest.approx(340, abs=1e-5),
    )
    assert _asked(lambda a, b: a <= 340, 341.0, 0.0)[1]["first"] == (
        pytest.approx(340, abs=1e-5),
        math.inf,
    )
    assert _asked(lambda a, b: a <= 340, 340.0, 0.0)[1]["first"] == (340.0, 340.0)


def test_two_figures_have_the_room_between_them_together() -> None:
    ranges = _asked(lambda a, b: 2 * a + b < 100, 30.0, 20.0)[1]
    assert ranges == {(("first", 1.0), ("second", 0.5)): (-math.inf, pytest.approx(50))}


def test_rounding_alone_counts_nothing() -> None:
    assert _asked(lambda a, b: [round(a), math.floor(b)] and True, 3.3, 4.4) == (True, {})
