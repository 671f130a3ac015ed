"""Data of other people: what was taken, what was refused and why, and how a value is read with
suspicion."""

import csv
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import Any, Literal, TypeVar

from msgspec import Struct

from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.evidence import Source

T = TypeVar("T")

LONGEST_NAME = 200
LONGEST_TEXT = 500

Reason = Literal[
    "unreadable",
    "damaged",
    "encrypted",
    "symlink",
    "path",
    "special-file",
    "too-large",
    "zip-ratio",
    "total-size",
    "too-many",
    "pickle",
    "encoding",
    "not-json",
    "nested",
    "not-object",
    "kind",
    "missing",
    "type",
    "number",
    "range",
    "word",
    "too-long",
    "markup",
    "characters",
    "formula",
    "duplicate",
    "not-a-price",
    "currency",
    "day",
    "conditional",
    "no-match",
    "ambiguous",
]
"""Why something was refused. The words for it are made at the edge."""


class Refusal(Struct, frozen=True):
    """Something that was not taken: the file (or row), the field, why, and what stood there. `lost`
    tells whether all that the file or row said is left out, or only this field."""

    file: str
    field: str
    reason: Reason
    found: str = ""
    lost: bool = True


def csv_rows(reader: Any, file: str, refused: list[Refusal]) -> Iterator[Any]:
    """Yield the rows of a csv reader; those that are no CSV are refused by `file` and line."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            refused.append(
                Refusal(f"{file} line {reader.line_num}".strip(), "", "damaged", str(fault)[:60])
            )


class Import(Struct, frozen=True, kw_only=True):
    """What reading foreign data gave: `seen` files or rows, the parts made of them, their sources,
    and every refusal."""

    seen: int
    parts: tuple[AnyPart, ...]
    sources: dict[str, Source]
    refused: tuple[Refusal, ...]


class Cancelled(Exception):
    """The caller's progress function said to stop."""


Progress = Callable[[int, int], bool]
"""Told how many of how many are done; returns whether to go on."""


def go_on(done: int, total: int) -> bool:
    """Report progress to nobody and go on."""
    return True


MARKUP = re.compile(r"<\s*[a-zA-Z/!?]|javascript:", re.IGNORECASE)
_BAD_CATEGORIES = ("Cc", "Cs", "Co", "Cn")
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
_NO_SLUG = re.compile(r"[^a-z0-9]+")


def text_fault(text: str, longest: int = LONGEST_NAME) -> Reason | None:
    """Return why a text cannot be a name: too long, markup, control or direction characters, lone
    surrogates; None if it can."""
    if len(text) > longest:
        return "too-long"
    if MARKUP.search(text) or MARKUP.search(unescape(text)):
        return "markup"
    if not text.isascii() and any(
        c in _BIDI or unicodedata.category(c) in _BAD_CATEGORIES for c in text
    ):
        return "characters"
    return "characters" if text.isascii() and not text.isprintable() else None


def plain(text: str) -> str:
    """Return a text with entities resolved and blanks made single."""
    return " ".join(unescape(text).split())


def slug(text: str) -> str:
    """Return text as one element of a part id: [a-z0-9-], at most 80 characters, "" when nothing is
    left."""
    bare = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return _NO_SLUG.sub("-", bare).strip("-")[:80].rstrip("-")


class Record:
    """One foreign record, read field by field; what cannot be taken is noted in `refused`, and zero
    counts as unknown.

    Fields are named with dots ("cores.total"). All readers return None for what is absent or
    refused."""

    def __init__(self, file: str, data: Mapping[str, Any]) -> None:
        self.file = file
        self.data = data
        self.refused: list[Refusal] = []

    def refuse(self, field: str, reason: Reason, found: object = "", lost: bool = False) -> None:
        """Note that a field (or with `lost` the whole record) is not taken."""
        shown = found if isinstance(found, str) else repr(found)
        shown = shown[:60].encode("utf-8", "replace").decode()
        self.refused.append(Refusal(self.file, field, reason, shown, lost))

    def at(self, field: str) -> Any:
        """Return what stands at a field, None when the way there is not made of objects."""
        value: Any = self.data
        for name in field.split("."):
            if not isinstance(value, Mapping):
                return None
            value = value.get(name)
        return value

    def text(self, field: str, longest: int = LONGEST_TEXT) -> str | None:
        """Return a text fit to be shown."""
        return self._fit(field, self.at(field), longest)

    def _fit(self, field: str, value: Any, longest: int) -> str | None:
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            self.refuse(field, "type", value)
            return None
        fault = text_fault(value.strip(), longest)
        if fault:
            self.refuse(field, fault, value)
            return None
        return plain(value) or None

    def number(self, field: str, most: float) -> float | None:
        """Return a number above 0 and up to `most`; 0 is unknown."""
        value = self.at(field)
        if value is None or value == 0:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(field, "type", value)
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self.refuse(field, "number", value)
            return None
        if not 0 < value <= most:
            self.refuse(field, "range", value)
            return None
        return float(value)

    def count(self, field: str, most: int) -> int | None:
        """Return a whole number from 1 to `most`; 0 is unknown."""
        value = self.number(field, most)
        if value is None:
            return None
        if value != int(value):
            self.refuse(field, "number", value)
            return None
        return int(value)

    def flag(self, field: str) -> bool | None:
        """Return a yes or no."""
        value = self.at(field)
        if value is None or isinstance(value, bool):
            return value
        self.refuse(field, "type", value)
        return None

    def word(self, field: str, meanings: Mapping[str, T]) -> T | None:
        """Return what a word of a closed list means to us."""
        value = self.text(field)
        if value is None:
            return None
        if value not in meanings:
            self.refuse(field, "word", value)
            return None
        return meanings[value]

    def texts(self, field: str, most: int = 40) -> tuple[str, ...]:
        """Return a list of texts; those that are not fit are refused one by one."""
        texts = (self._fit(field, value, LONGEST_NAME) for value in self._list(field, most))
        return tuple(text for text in texts if text)

    def _list(self, field: str, most: int) -> list[Any]:
        value = self.at(field)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > most:
            self.refuse(
                field, "too-many" if isinstance(value, list) else "type", type(value).__name__
            )
            return []
        return value

    def records(self, field: str, most: int = 40) -> list["Record"]:
        """Return a list of objects as records that share this record's list of refusals."""
        found = []
        for each in self._list(field, most):
            if isinstance(each, Mapping):
                record = Record(self.file, each)
                record.refused = self.refused
                found.append(record)
            else:
                self.refuse(field, "not-object", each)
        return found

    def needs(self, field: str, value: T | None) -> T | None:
        """Return `value`; when it is None, note that the record cannot be a part without this
        field."""
        if value is None:
            self.refuse(field, "missing", lost=True)
        return value
