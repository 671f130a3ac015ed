"""What rules said of candidates, kept under the fields that were read for it, and within ranges of
the figures compared."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.rules.fitting.figures import ANYWHERE, Range, Ranges, also_read, observed
from rigplanner.rules.fitting.watching import SOLVED, Placement

T = TypeVar("T")

Brought = tuple[tuple[str, str], ...]
"""What a candidate brings: severity and code."""


Badge = Literal["fits", "warns", "no", "unknown"]


class Fitting(Struct, frozen=True, gc=False):
    """The badge of a candidate, and the codes behind it by severity, worst first."""

    badge: Badge
    brings: Brought = ()


class Row(dict[str, Hashable]):
    """What may be read of a candidate, by field; what is not there yet is looked up. `seen` is the
    row of the candidate as the solver sees it, `agreed` the fields in which it agrees with the
    candidate of its placement."""

    def __init__(
        self, fields: Iterable[tuple[str, Hashable]], part: AnyPart, likeness: Any
    ) -> None:
        super().__init__(fields)
        self.part, self.likeness = part, likeness
        self.seen = self
        self.placement: Placement | None = None
        self.agreed: frozenset[str] | None = None

    def __missing__(self, field: str) -> Hashable:
        value: Hashable = self.likeness.reader(field)(self)
        self[field] = value
        return value


class Remembered(Generic[T]):
    """Answers to one question about candidates, each kept under the fields that were read for
    it."""

    def __init__(self) -> None:
        self.known: dict[frozenset[str], tuple[Callable[[Row], Hashable], dict[Hashable, T]]] = {}

    def get(self, row: Row, question: Callable[[], T]) -> T:
        """Return the answer for a candidate without figures under watch; the fields behind it count
        as read."""
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


Terms = tuple[tuple[int, float], ...]
"""Figures by their places that are added up, and what each is multiplied with."""


class Box(Struct, frozen=True):
    """What candidates bring while their figures, told by their places, and sums of them lie between
    two values each; `says_no` where an error is among it."""

    holds: Brought
    ranges: tuple[tuple[int, float, float], ...] = ()
    sums: tuple[tuple[Terms, float, float], ...] = ()
    says_no: bool = False


def holding(boxes: Iterable[Box], figures: Sequence[float]) -> Box | None:
    """Return the first box in which figures lie; one that a candidate lacks is NaN and lies in
    none."""
    for box in boxes:
        for place, low, high in box.ranges:
            if not low <= figures[place] <= high:
                break
        else:
            for terms, low, high in box.sums:
                if not low <= sum([figures[place] * by for place, by in terms]) <= high:
                    break
            else:
                return box
    return None


class Said:
    """What rules said of candidates that agree in some fields: `bits` of the rules that gave all of
    them one answer, what these say that they bring, and the boxes of the others by their bits."""

    __slots__ = ("bits", "boxes", "brought")

    def __init__(self) -> None:
        self.bits: int = 0
        self.brought: Brought = ()
        self.boxes: dict[int, list[Box]] = {}


class Shelf(dict[Hashable, Said]):
    """Answers for which the same fields were read, by the values of these fields, which `take`
    takes of a candidate; `bits` of the rules of which there are some, `dear` to look at by what it
    asks of the solver, then of the candidate."""

    def __init__(self, fields: frozenset[str]) -> None:
        super().__init__()
        self.take = taking(fields)
        self.bits = 0
        self.dear = sum(field.startswith(SOLVED) for field in fields), len(fields)

    def __missing__(self, key: Hashable) -> Said:
        said = self[key] = Said()
        return said


class Shelves(dict[frozenset[str], Shelf]):
    """Where the answers to the questions of a stage are kept, by the fields that were read for
    them; the cheapest to look at is looked at first."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[Shelf] = []

    def __missing__(self, fields: frozenset[str]) -> Shelf:
        shelf = self[fields] = Shelf(fields)
        self.order = sorted((*self.order, shelf), key=attrgetter("dear"))
        return shelf

    def said(self, row: Row, bits: int) -> list[Said]:
        """Return what is known of candidates such as one in a row, where some of the rules `bits`
        answered."""
        found = []
        for shelf in self.order:
            if shelf.bits & bits:
                said = shelf.get(shelf.take(row))
                if said is not None:
                    found.append(said)
                    bits &= ~said.bits
        return found


class Alike:
    """Candidates that agree in all that tells them apart but in their figures, the boxes of figures
    for which it is known what is brought (`always` where no figure counts), and by the number of
    the question round what it is known from."""

    __slots__ = ("always", "boxes", "row", "said")

    def __init__(self, row: Row) -> None:
        self.row = row
        self.always: Box | None = None
        self.boxes: list[Box] = []
        self.said: dict[int, list[Said]] = {}


class Tally:
    """What all rules together say of a candidate, and in which ranges of its figures (NaN where it
    lacks one)."""

    def __init__(self, names: Sequence[str], figures: Iterable[float | None]) -> None:
        self.bits: int = 0
        self.brought: list[tuple[str, str]] = []
        self._ranges: dict[int, Range] = {}
        self._sums: dict[Terms, Range] = {}
        self.measure(names, figures)

    def measure(self, names: Sequence[str], figures: Iterable[float | None]) -> None:
        """Take the figures that were ever compared."""
        self.names, self.figures = (
            names,
            [math.nan if value is None else value for value in figures],
        )

    def recall(self, known: Iterable[Said]) -> None:
        """Add what is known."""
        for said in known:
            self.bits |= said.bits
            self.brought += said.brought
            for bits, boxes in said.boxes.items():
                box = holding(boxes, self.figures)
                if box is not None:
                    self.bits |= bits
                    self._keep_within(box)

    def says_no(self) -> bool:
        """Say whether an error is among what is brought."""
        return any(severity == "error" for severity, _ in self.brought)

    def learn(self, said: Said, bits: int, brought: Brought, ranges: Ranges) -> None:
        """Add the answer of one rule, or of several that bring nothing, and keep it."""
        self.bits |= bits
        if ranges:
            box = self._box_of(ranges, brought)
            said.boxes.setdefault(bits, []).append(box)
            self._keep_within(box)
        else:
            said.bits, said.brought = said.bits | bits, said.brought + brought
            self.brought += brought

    def _box_of(self, ranges: Ranges, brought: Brought) -> Box:
        place = self.names.index
        single = tuple(
            [
                (place(counted), *ends)
                for counted, ends in ranges.items()
                if isinstance(counted, str)
            ]
        )
        sums = [
            (tuple([(place(field), by) for field, by in counted]), *ends)
            for counted, ends in ranges.items()
            if not isinstance(counted, str)
        ]
        return Box(brought, single, tuple(sums))

    def _keep_within(self, box: Box) -> None:
        self.brought += box.holds
        for place, low, high in box.ranges:
            known = self._ranges.get(place)
            self._ranges[place] = (
                (low, high) if known is None else (max(low, known[0]), min(high, known[1]))
            )
        for terms, low, high in box.sums:
            known = self._sums.get(terms)
            self._sums[terms] = (
                (low, high) if known is None else (max(low, known[0]), min(high, known[1]))
            )

    def box(self) -> Box:
        """Return what is brought in these ranges, for candidates that lack the same figures."""
        ranges = tuple([(place, *ends) for place, ends in self._ranges.items() if ends != ANYWHERE])
        return Box(
            tuple(self.brought),
            ranges,
            tuple([(terms, low, high) for terms, (low, high) in self._sums.items()]),
            self.says_no(),
        )
