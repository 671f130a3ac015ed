"""What rules said of candidates, kept under the fields that were read for it."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable
from operator import itemgetter
from typing import Any, Generic, TypeVar

from rigplanner.catalog.parts import AnyPart
from rigplanner.rules.watching import SOLVED, Placement, also_read, observed

T = TypeVar("T")

Brought = tuple[tuple[str, str], ...]
"""What a candidate brings: severity and code."""

RISING = {
    "gpu": ("tdp_w", "length_mm", "height_mm"),
    "cpu": ("max_power_w", "tdp_w"),
    "psu": ("length_mm",),
    "cooler": ("rated_w", "height_mm"),
    "storage": ("capacity_gb", "power_w", "read_gbs"),
    "nic": ("power_w",),
    "accessory": ("power_w",),
}
"""Fields of which a greater value moves the answer of every rule one way only: what two values share holds between them."""


class Row(dict[str, Hashable]):
    """What may be read of a candidate, by field; what is not there yet is looked up."""

    def __init__(self, fields: dict[str, Hashable], part: AnyPart, look_up: Callable[["Row", str], Hashable]) -> None:
        super().__init__(fields)
        self.part, self.look_up = part, look_up
        self.placement: Placement | None = None

    def __missing__(self, field: str) -> Hashable:
        value = self[field] = self.look_up(self, field)
        return value


class Remembered(Generic[T]):
    """Answers to one question about candidates, each kept under the fields that were read for it."""

    def __init__(self) -> None:
        self.known: dict[frozenset[str], tuple[Callable[[Row], Hashable], dict[Hashable, T]]] = {}

    def get(self, row: Row, question: Callable[[], T]) -> T:
        """Return the answer for a candidate; the fields behind it count as read."""
        for fields, (take, answers) in self.known.items():
            key = take(row)
            if key in answers:
                also_read(fields)
                return answers[key]
        answer, fields = observed(question)
        also_read(fields)
        self.known.setdefault(fields, (taking(fields), {}))[1][taking(fields)(row)] = answer
        return answer


def taking(fields: Iterable[str]) -> Callable[[Row], Hashable]:
    """Return a function that takes fields of a row as a key."""
    names = sorted(fields)
    return itemgetter(*names) if names else lambda row: None


class Shelf:
    """Answers for which the same fields were read, by the values of these fields; of a rising field by the values around.

    Rules are bits, so that what is known of a candidate adds up fast."""

    def __init__(self, fields: frozenset[str], kind: str) -> None:
        self.rising = next((field for field in RISING.get(kind, ()) if field in fields), None)
        self.placed = any(field.startswith(SOLVED) for field in fields)
        self._take = taking(fields - {self.rising})
        self._known: dict[Hashable, tuple[int, Brought]] = {}
        self._steps: dict[Hashable, dict[int, list[tuple[float, Brought]]]] = {}

    def find(self, row: Row) -> tuple[int, Brought]:
        """Return the bits of the rules whose answers are known for a candidate, and what they say it brings."""
        value: Any = row[self.rising] if self.rising else None
        if value is None:
            return self._known.get(self._take(row), (0, ()))
        bits: int = 0
        brought: Brought = ()
        for bit, steps in self._steps.get(self._take(row), {}).items():
            place = bisect_left(steps, value, key=itemgetter(0))
            above = steps[place] if place < len(steps) else None
            if above and (above[0] == value or (place and steps[place - 1][1] == above[1])):
                bits, brought = bits | bit, brought + above[1]
        return bits, brought

    def keep(self, row: Row, bit: int, brought: Brought) -> None:
        """Keep the answer of one rule for a candidate."""
        value: Any = row[self.rising] if self.rising else None
        key = self._take(row)
        if value is None:
            bits, others = self._known.get(key, (0, ()))
            self._known[key] = (bits | bit, others + brought)
        else:
            steps = self._steps.setdefault(key, {}).setdefault(bit, [])
            steps.insert(bisect_left(steps, value, key=itemgetter(0)), (value, brought))
