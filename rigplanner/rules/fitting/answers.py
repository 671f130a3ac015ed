"""What rules said of candidates, kept under the fields that were read for it, and within ranges of the figures compared."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import itemgetter
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from rigplanner.catalog.parts import AnyPart
from rigplanner.rules.fitting.figures import Ranges, also_read, observed
from rigplanner.rules.fitting.watching import Placement

T = TypeVar("T")

Brought = tuple[tuple[str, str], ...]
"""What a candidate brings: severity and code."""


Badge = Literal["fits", "warns", "no", "unknown"]


class Fitting(Struct, frozen=True, gc=False):
    """The badge of a candidate, and the codes behind it by severity, worst first."""

    badge: Badge
    brings: Brought = ()


class Row(dict[str, Hashable]):
    """What may be read of a candidate, by field; what is not there yet is looked up."""

    def __init__(self, fields: dict[str, Hashable], part: AnyPart, readers: Mapping[str, Callable[["Row"], Hashable]]) -> None:
        super().__init__(fields)
        self.part, self.readers = part, readers
        self.placement: Placement | None = None

    def __missing__(self, field: str) -> Hashable:
        value = self[field] = self.readers[field](self)
        return value


class Readers(dict[str, Callable[[Row], Hashable]]):
    """How a field of a row is looked up, made once for each field."""

    def __init__(self, make: Callable[[str], Callable[[Row], Hashable]]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, field: str) -> Callable[[Row], Hashable]:
        reader = self[field] = self.make(field)
        return reader


class Remembered(Generic[T]):
    """Answers to one question about candidates, each kept under the fields that were read for it."""

    def __init__(self) -> None:
        self.known: dict[frozenset[str], tuple[Callable[[Row], Hashable], dict[Hashable, T]]] = {}

    def get(self, row: Row, question: Callable[[], T]) -> T:
        """Return the answer for a candidate without figures under watch; the fields behind it count as read."""
        for fields, (take, answers) in self.known.items():
            key = take(row)
            if key in answers:
                also_read(fields)
                return answers[key]
        answer, read = observed(question)
        also_read(read.fields)
        take, answers = self.known.setdefault(read.fields, (taking(read.fields), {}))
        answers[take(row)] = answer
        return answer


def taking(fields: Iterable[str]) -> Callable[[Row], Hashable]:
    """Return a function that takes fields of a row as a key."""
    names = sorted(fields)
    return itemgetter(*names) if names else lambda row: None


class Box(Struct, Generic[T], frozen=True):
    """What holds while figures, told by their places, lie between two values each."""

    ranges: tuple[tuple[int, float, float], ...]
    holds: T


def holding(boxes: Iterable[Box[T]], figures: tuple[float, ...]) -> Box[T] | None:
    """Return the first box in which figures lie; one that a candidate lacks is NaN and lies in none."""
    for box in boxes:
        for place, low, high in box.ranges:
            if not low <= figures[place] <= high:
                break
        else:
            return box
    return None


class Said:
    """What rules said of candidates that agree in some fields: `bits` of the rules that gave all of them one answer, what these
    say that they bring, and by bit the boxes of the others."""

    __slots__ = ("bits", "boxes", "brought")

    def __init__(self) -> None:
        self.bits: int = 0
        self.brought: Brought = ()
        self.boxes: dict[int, list[Box[Brought]]] = {}


class _Known(dict[Hashable, Said]):
    def __missing__(self, key: Hashable) -> Said:
        said = self[key] = Said()
        return said


class Shelf:
    """Answers for which the same fields were read, by the values of these fields, which `take` takes of a candidate. They are
    looked up from the `stage` of the questions on in which the earliest of them was given."""

    __slots__ = ("known", "stage", "take")

    def __init__(self, fields: frozenset[str], stage: int) -> None:
        self.stage, self.take = stage, taking(fields)
        self.known = _Known()


class Alike:
    """Candidates that agree in all that tells them apart but in their figures: where the answers about them are kept, and the
    boxes of figures whose fitting is known."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.boxes: list[Box[Fitting]] = []
        self.known: dict[int, list[Said]] = {}

    def said(self, stage: int, shelves: Iterable[Shelf]) -> list[Said]:
        """Return what is known of these candidates from a stage of the questions on."""
        known = self.known.get(stage)
        if known is None:
            known = self.known[stage] = [shelf.known[shelf.take(self.row)] for shelf in shelves if shelf.stage == stage]
        return known

    def said_on(self, shelf: Shelf) -> Said:
        """Return what a shelf keeps of these candidates, which then are told by it."""
        said, known = shelf.known[shelf.take(self.row)], self.known[shelf.stage]
        if said not in known:
            known.append(said)
        return said


class Tally:
    """What all rules together say of a candidate, and in which ranges of its figures."""

    def __init__(self, names: tuple[str, ...], figures: tuple[float, ...]) -> None:
        self.names, self.figures = names, figures
        self.bits: int = 0
        self.brought: list[tuple[str, str]] = []
        self._ranges: dict[int, tuple[float, float]] = {}

    def recall(self, known: Iterable[Said]) -> None:
        """Add what is known."""
        bits = self.bits
        for said in known:
            bits |= said.bits
            if said.brought:
                self.brought += said.brought
            if said.boxes:
                for bit, boxes in said.boxes.items():
                    box = holding(boxes, self.figures)
                    if box is not None:
                        bits |= bit
                        self._keep_within(box)
        self.bits = bits

    def learn(self, said: Said, bit: int, brought: Brought, ranges: Ranges) -> None:
        """Add the answer of one rule, and keep it."""
        box = Box(tuple((self.names.index(field), *ends) for field, ends in ranges.items()), brought)
        if ranges:
            said.boxes.setdefault(bit, []).append(box)
        else:
            said.bits, said.brought = said.bits | bit, said.brought + brought
        self.bits |= bit
        self._keep_within(box)

    def _keep_within(self, box: Box[Brought]) -> None:
        self.brought += box.holds
        for place, low, high in box.ranges:
            known = self._ranges.get(place, (low, high))
            self._ranges[place] = (max(low, known[0]), min(high, known[1]))

    def box(self, holds: Any) -> Box[Any]:
        """Return what holds in these ranges."""
        return Box(tuple((place, *ends) for place, ends in self._ranges.items()), holds)
