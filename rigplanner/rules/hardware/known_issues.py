"""Pairs of parts that are known to trouble each other: data in `resources/rules/known_pairs.json`,
found by words."""

from collections.abc import Iterator
from functools import cache
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.parts import Part, kind_of
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.evidence import Source
from rigplanner.machine.model import Piece
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import rule


class Pattern(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parts of one kind by id prefix, and by the value of a field ("layout.chipset"); `least`
    pieces of them must be there."""

    kind: str
    id: str = ""
    field: str = ""
    values: tuple[str | float, ...] = ()
    least: int = 1


class KnownPair(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two parts that do not go together, or only on a condition; `settled_by` names the software or
    firmware (`settings.software`) whose version, once the rig states it, settles the matter; a
    firmware that knows a CPU of the day `settled_since` (ISO) or later is new enough too."""

    key: str
    first: Pattern
    second: Pattern
    severity: Literal["error", "warning", "info"]
    text: str
    source: Source
    settled_by: str | None = None
    settled_since: str | None = None


@cache
def known_pairs() -> tuple[KnownPair, ...]:
    """Return the list, read once."""
    path = data_path("resources") / "rules" / "known_pairs.json"
    return read_json(path.read_bytes(), tuple[KnownPair, ...])


def matches(pattern: Pattern, part: Part) -> bool:
    """Say whether a part is one that the pattern means."""
    if kind_of(part) != pattern.kind or not part.id.startswith(pattern.id):
        return False
    value: object = part
    for name in pattern.field.split(".") if pattern.field else ():
        value = getattr(value, name, None)
    return not pattern.field or value in pattern.values


class Together(Struct, frozen=True):
    """A known pair and the pieces of the rig that make it."""

    first: str
    second: str
    pair: KnownPair

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.first, self.second)


def together(context: Context) -> Iterator[Together]:
    """Known pairs of which both halves are in the rig."""
    of_kind: dict[str, list[Piece]] = {}
    for piece in context.in_turn:
        of_kind.setdefault(kind_of(piece.part), []).append(piece)
    for pair in known_pairs():
        if pair.settled_by in context.rig.settings.software or _knows_later_cpu(context, pair):
            continue
        first = _matching(of_kind, pair.first)
        second = _matching(of_kind, pair.second) if first else None
        if first and second and first.name != second.name:
            yield Together(first.name, second.name, pair)


def _knows_later_cpu(context: Context, pair: KnownPair) -> bool:
    """Say whether the rig's CPU came after the trouble was mended, so that firmware which starts it
    has the mending."""
    since = pair.settled_since
    days = [cpu.released or "" for _, cpu in context.cpus]
    return since is not None and any(day >= since for day in days)


def _matching(of_kind: dict[str, list[Piece]], pattern: Pattern) -> Piece | None:
    """Return the first piece that a pattern means, when there are enough of them."""
    found = [piece for piece in of_kind.get(pattern.kind, ()) if matches(pattern, piece.part)]
    return found[0] if len(found) >= pattern.least else None


@rule(
    "KNO001",
    "Parts are known to trouble each other",
    "warning",
    may_err=True,
    over=together,
    reason="Some failures follow from no specification; builders found them.",
    source="Each entry names its own source",
)
def known(context: Context, case: Together) -> Iterator[Finding]:
    """Give the entry's own severity and text."""
    pair = case.pair
    yield known.finding(case, pair.severity, key=pair.key, text=pair.text, source=pair.source.title)
