"""Polynomials in batch and length, counted as whole numbers.

What a trace counts it makes by adding and multiplying sizes. Traced with powers of two far above
every coefficient in the place of batch and length (Kronecker's substitution), each of its numbers
holds the coefficients of a polynomial side by side in its bits: one trace tells what every size
takes. Where a network compares a size, the stand-in answers as the size that was asked would, and
notes between which sizes that answer stays the same."""

from __future__ import annotations

from math import ceil, floor, inf
from struct import Struct
from typing import NamedTuple

PLACE, FRACTION = 64, 10
"""Bits from one power to the next, and those of them that hold parts of a coefficient: half a
length is half a coefficient."""
FAR = 1 << 48
"""No size is as large; what is, holds a stand-in."""


class BatchTerms(NamedTuple):
    """Coefficients of a polynomial in the batch, of networks that read images of one size."""

    one: float
    b: float


class LengthTerms(NamedTuple):
    """Coefficients of a polynomial in batch b and length s, of networks that read sequences."""

    one: float
    b: float
    s: float
    bs: float
    ss: float
    bss: float


Terms = BatchTerms | LengthTerms


class Stand(int):
    """A power of two in the place of a size that was `asked`; what was compared holds from `least`
    to `most`.

    In arithmetic it is the power of two. In comparisons with a size it answers as the size that was
    asked would, and narrows `least` and `most` to the sizes that answer alike: a network that asks
    "longer than its window?" is then known to be traced right on one side of the window only."""

    asked: int
    least: int
    most: float

    def __new__(cls, places: int, asked: int) -> Stand:
        self = super().__new__(cls, 1 << (places * PLACE))
        self.asked, self.least, self.most = asked, 1, inf
        return self

    __hash__ = int.__hash__

    def _is_below(self, edge: float) -> bool:
        """Whether the asked size lies below an edge; what holds of it holds of whole numbers up to
        the edge, or from it on."""
        if self.asked < edge:
            self.most = min(self.most, ceil(edge) - 1)
            return True
        self.least = max(self.least, ceil(edge))
        return False

    def __lt__(self, other: float) -> bool:
        return self._is_below(other) if _is_size(other) else int.__lt__(self, int(other))

    def __le__(self, other: float) -> bool:
        return self._is_below(floor(other) + 1) if _is_size(other) else int.__le__(self, int(other))

    def __ge__(self, other: float) -> bool:
        return not self < other

    def __gt__(self, other: float) -> bool:
        return not self <= other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | float) or not _is_size(other):
            return int.__eq__(self, other) is True
        return not self < other and self <= other

    def __ne__(self, other: object) -> bool:
        return not self == other


def _is_size(other: float) -> bool:
    return not isinstance(other, Stand) and other < FAR


def terms_of(number: int, sequence: bool) -> Terms:
    """The coefficients that a number holds, each below 2**53; the length of a sequence stands at
    the first place, its batch at the third."""
    # A coefficient below zero would borrow from the place above it: half a place is added to each
    # before the bits are cut, and taken off after.
    if not sequence:
        one, b = _PAIR.unpack(((number << FRACTION) + _MIDDLES[2]).to_bytes(_PAIR.size, "little"))
        return BatchTerms((one - _MIDDLE) / _PARTS, (b - _MIDDLE) / _PARTS)
    places = _SIX.unpack(((number << FRACTION) + _MIDDLES[6]).to_bytes(_SIX.size, "little"))
    one, s, ss, b, bs, bss = [(place - _MIDDLE) / _PARTS for place in places]
    return LengthTerms(one, b, s, bs, ss, bss)


def is_within(number: int, other: int) -> bool:
    """Whether no coefficient of a number is larger than that of another."""
    # All places are compared at once: where one of them is larger, the difference borrows, which
    # sets that place's sign bit.
    over = other - number
    return over >= 0 and not over & _SIGNS


_PARTS, _MIDDLE = 1 << FRACTION, 1 << (PLACE - 1)
_PAIR, _SIX = Struct("<2Q"), Struct("<6Q")
_MIDDLES = {count: sum(_MIDDLE << (at * PLACE) for at in range(count)) for count in (2, 6)}
"""Added to a number that is shifted to whole parts, so that every place of it holds what is no
longer negative."""
_SIGNS = _MIDDLES[6] >> FRACTION
"""Bits that are set where a place holds what is negative."""


def powers(batch: float, length: float, sequence: bool) -> Terms:
    """What the terms are multiplied with at one size."""
    if not sequence:
        return BatchTerms(1.0, batch)
    area = batch * length
    return LengthTerms(1.0, batch, length, area, length * length, area * length)
