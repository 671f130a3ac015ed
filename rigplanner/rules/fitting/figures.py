"""Numbers of a candidate under watch: each comparison notes how far they may move before it comes
out otherwise.

Rules add figures up, scale them and compare them with limits, so what they compare is a linear form
of the candidate's figures. As long as the gap between its two sides stays open, the answer is the
same."""

import math
import operator
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, Union

T = TypeVar("T")
Range = tuple[float, float]
Sum = tuple[tuple[str, float], ...]
"""Several figures added up: fields, and what each is multiplied with, the first with 1."""
Ranges = dict[str | Sum, Range]
"""The least and the greatest value of figures, by field, and of sums of them."""

ROUNDING = 1e-9
"""Share of two numbers below which their difference may be one of rounding."""
ANYWHERE: Range = (-math.inf, math.inf)


FIGURES: dict[str, tuple[str, ...]] = {
    "gpu": (
        "tdp_w",
        "length_mm",
        "height_mm",
        "memory_gib",
        "dense_tflops.bf16",
        "dense_tflops.fp8",
        "dense_tflops.fp4",
    ),
    "cpu": ("max_power_w", "tdp_w"),
    "motherboard": ("width_mm", "depth_mm"),
    "psu": ("length_mm",),
    "chassis": tuple(
        f"enclosure.{side}_mm"
        for side in (
            "gpu_length",
            "gpu_height",
            "cooler_height",
            "psu_length",
            "board_max_width",
            "board_max_depth",
        )
    ),
    "cooler": ("rated_w", "height_mm"),
    "storage": ("capacity_gb", "power_w", "read_gbs"),
    "nic": ("power_w",),
    "accessory": ("power_w",),
}
"""Fields of which candidates have values of their own: an answer holds for all values that compare
alike."""


class _Notes(threading.local):
    """What was read for each question that is open, the innermost last; `note` adds a field to
    it."""

    def __init__(self) -> None:
        self.open = [_Question()]
        self.note = self.open[-1].fields.add


class _Question:
    """What was read for a question so far: fields, figures with the ranges that were enough, and
    what earlier answers passed on."""

    __slots__ = ("fields", "passed", "ranges")

    def __init__(self) -> None:
        self.fields: set[str] = set()
        self.ranges: Ranges = {}
        self.passed: set[Reading] = set()


_notes = _Notes()


class Reading:
    """What was read to answer a question: the fields whose values count, and in which range figures
    leave the answer as it is; `noted` are all fields, those of figures too."""

    __slots__ = ("fields", "noted", "ranges")

    def __init__(self, fields: frozenset[str], ranges: Ranges) -> None:
        self.fields, self.ranges = fields, ranges
        self.noted = fields.union(ranges) if ranges else fields


def observed(question: Callable[[], T]) -> tuple[T, Reading]:
    """Return the answer to a question and what of watched candidates was read for it."""
    own, opened = _Question(), _notes.open
    opened.append(own)
    _notes.note = own.fields.add
    try:
        answer = question()
    finally:
        opened.pop()
        _notes.note = opened[-1].fields.add
    return answer, Reading(frozenset(own.fields), own.ranges)


def note_read(field: str) -> None:
    """Note a field as read for the innermost open question."""
    _notes.note(field)


def pass_on(read: Reading) -> None:
    """Note what was read for an earlier answer as read for the innermost open question."""
    own = _notes.open[-1]
    if read not in own.passed:
        own.passed.add(read)
        also_read(read.fields, read.ranges)


def also_read(fields: Iterable[str], ranges: Ranges | None = None) -> None:
    """Note fields, and ranges of figures, as read for the innermost open question."""
    _notes.open[-1].fields.update(fields)
    if ranges:
        for field, found in ranges.items():
            _narrow(field, *found)


def _narrow(field: str | Sum, low: float, high: float) -> None:
    ranges = _notes.open[-1].ranges
    known = ranges.get(field, ANYWHERE)
    ranges[field] = (max(low, known[0]), min(high, known[1]))


Number = Union[float, "Figure"]
Term = tuple[str, float, float]
"""A figure in a sum: its field, its value and what it is multiplied with."""


class Figure:
    """A number that was made of figures: a sum of `terms` and constants. A `rough` one was rounded:
    compared, it counts whole."""

    __slots__ = ("rough", "terms", "value")

    def __init__(self, value: float, terms: tuple[Term, ...], rough: bool = False) -> None:
        self.value, self.terms, self.rough = value, terms, rough

    def read(self) -> None:
        """Note that there is such a figure."""
        for field, _, _ in self.terms:
            _narrow(field, *ANYWHERE)

    def __float__(self) -> float:
        for field, own, _ in self.terms:
            _narrow(field, own, own)
        return float(self.value)

    def __bool__(self) -> bool:
        return _compared(self, 0.0, operator.ne)

    def __neg__(self) -> "Figure":
        return self * -1

    def __add__(self, other: Number) -> "Figure":
        return _joined(self, other, self.value + _value(other), 1.0)

    __radd__ = __add__

    def __sub__(self, other: Number) -> "Figure":
        return _joined(self, other, self.value - _value(other), -1.0)

    def __rsub__(self, other: float) -> "Figure":
        return Figure(other - self.value, _scaled(self, -1.0), self.rough)

    def __mul__(self, other: Number) -> "Figure":
        factor = float(other)
        return Figure(self.value * factor, _scaled(self, factor), self.rough)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> "Figure":
        divisor = float(other)
        return Figure(self.value / divisor, _scaled(self, 1 / divisor), self.rough)

    def __round__(self, digits: int | None = None) -> "Figure":
        return Figure(round(self.value, digits), self.terms, rough=True)

    def __ceil__(self) -> "Figure":
        return Figure(math.ceil(self.value), self.terms, rough=True)

    def __floor__(self) -> "Figure":
        return Figure(math.floor(self.value), self.terms, rough=True)

    def __lt__(self, other: Number) -> bool:
        return _compared(self, other, operator.lt)

    def __le__(self, other: Number) -> bool:
        return _compared(self, other, operator.le)

    def __gt__(self, other: Number) -> bool:
        return _compared(self, other, operator.gt)

    def __ge__(self, other: Number) -> bool:
        return _compared(self, other, operator.ge)

    def __eq__(self, other: object) -> bool:
        return (
            _compared(self, other, operator.eq)
            if isinstance(other, int | float | Figure)
            else False
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(float(self))

    def __format__(self, form: str) -> str:
        return format(float(self), form)

    def __getattr__(self, name: str) -> Any:
        return getattr(float(self), name)


def _whole(name: str) -> Callable[..., Any]:
    """Return an operation that no sum is made of; its number counts whole."""

    def operate(self: Figure, *others: Any) -> Any:
        return getattr(float(self), name)(*[float(other) for other in others])

    return operate


for _name in (
    "abs",
    "int",
    "trunc",
    "pow",
    "rpow",
    "mod",
    "rmod",
    "floordiv",
    "rfloordiv",
    "rtruediv",
    "divmod",
    "rdivmod",
):
    setattr(Figure, f"__{_name}__", _whole(f"__{_name}__"))


def _value(number: Number) -> float:
    return number.value if isinstance(number, Figure) else number


def _scaled(figure: Figure, factor: float) -> tuple[Term, ...]:
    return tuple((field, own, slope * factor) for field, own, slope in figure.terms)


def _joined(one: Figure, other: Number, value: float, sign: float) -> Figure:
    """Return the sum of `value` that two numbers make, the other counted `sign` times."""
    if not isinstance(other, Figure):
        return Figure(value, one.terms, one.rough)
    slopes = {field: (own, slope) for field, own, slope in one.terms}
    for field, own, slope in other.terms:
        slopes[field] = (own, slopes.get(field, (own, 0.0))[1] + sign * slope)
    terms = tuple((field, own, slope) for field, (own, slope) in slopes.items())
    return Figure(value, terms, one.rough or other.rough)


def _compared(one: Figure, other: Number, compare: Callable[[float, float], bool]) -> bool:
    """Return what a comparison says; the figures in it may move as long as the gap between its
    sides stays open."""
    gap = one - other
    if math.isinf(gap.value):
        return compare(one.value, _value(other))
    room = abs(gap.value) - ROUNDING * (abs(one.value) + abs(_value(other)))
    terms = [term for term in gap.terms if term[2]]
    if gap.rough or room <= 0:
        for field, own, _ in terms:
            _narrow(field, own, own)
    elif terms:
        first = terms[0][2]
        value, reach = sum(own * slope / first for _, own, slope in terms), room / abs(first)
        counted = (
            terms[0][0]
            if len(terms) == 1
            else tuple((field, slope / first) for field, _, slope in terms)
        )
        _narrow(
            counted,
            *(
                (value - reach, math.inf)
                if (first > 0) == (gap.value > 0)
                else (-math.inf, value + reach)
            ),
        )
    return compare(one.value, _value(other))
