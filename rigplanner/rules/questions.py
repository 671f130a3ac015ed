"""What would settle a finding that waits for a figure, or rests on one that nobody verified: one
question per figure, of the kind that a person answers from the part in front of him."""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart, Motherboard, Part, Slot, System
from rigplanner.machine.model import Machine
from rigplanner.rig.document import Rig, part_of
from rigplanner.rig.facts import FactFault, checked_value, limits
from rigplanner.rules.core.finding import Finding

Kind = Literal["between", "column", "length", "plugs", "number", "count", "yes-no", "words"]
"""between: openings between two slots; column: the opening of a slot, counted from the CPU; length:
millimetres; plugs: plugs by type; number, count, yes-no, words: other figures by their sort."""

PLUGS_ASKED = ("pcie8", "12v-2x6", "eps8")
"""Plugs that cards and boards want of a supply."""


class Question(Struct, frozen=True, kw_only=True):
    """One figure that a person can tell: `fact` as findings name it ("asus.x:PCIE2.position"), of
    `part`; `least` and `most` bound a number, in the unit that its name ends with. A question of
    openings between two slots counts from the `anchor`, which stands in `anchor_column`; `order` is
    that of a slot on its board."""

    fact: str
    part: str
    name: str
    kind: Kind
    least: float = 0.0
    most: float = 0.0
    place: str = ""
    anchor: str = ""
    anchor_column: int = 0
    order: int = 0

    def value_of(self, answer: Any) -> Any:
        """Return the fact that an answer means: of openings the column of the slot, of plugs a
        list."""
        if self.kind == "between":
            return self.anchor_column + int(answer) + 1
        if self.kind == "plugs":
            return [{"type": kind, "count": count} for kind, count in answer.items()]
        return answer

    def answer_of(self, value: Any) -> Any:
        """Return the answer that a fact stands for, the reverse of `value_of`."""
        if self.kind == "between":
            return max(0, int(value) - self.anchor_column - 1)
        if self.kind == "plugs":
            return {plug["type"]: plug["count"] for plug in value}
        return value


def questions_of(
    finding: Finding, rig: Rig, catalog: Catalog, machine: Machine
) -> tuple[Question, ...]:
    """Return the questions whose answers would settle a finding: of each figure that is missing,
    or of the one that nobody verified. What is not a figure of a part in the rig is no question. Of
    several slots the one nearest to the CPU comes first: from it the others are counted."""
    wanted = finding.missing if finding.severity == "unknown" else (finding.values.get("fact"),)
    found = (question_of(str(fact), rig, catalog, machine) for fact in wanted if fact)
    asked = [question for question in found if question is not None]
    return tuple(sorted(asked, key=lambda question: question.order))


def question_of(fact: str, rig: Rig, catalog: Catalog, machine: Machine) -> Question | None:
    """Return the question for one fact, None where it is no figure of a part of the rig."""
    owner, _, name = fact.partition(":")
    part = part_of(rig, catalog, owner)
    if part is None or not name or all(item.part != owner for item in rig.items):
        return None
    kind = _kind(part, name)
    if kind is None:
        return None
    least, most = limits(name)
    made = Question(fact=fact, part=owner, name=name, kind=kind, least=least, most=most)
    return _of_slot(made, part, machine) if kind == "column" else made


def _kind(part: AnyPart, name: str) -> Kind | None:
    """Return how a fact is asked for, by its name and what its part takes."""
    place, _, field = name.rpartition(".")
    if field == "position" and place:
        return "column"
    if field == "plugs":
        return "plugs"
    if field.endswith("_mm"):
        return "length" if _takes(part, name, 100.0) else None
    for kind, sample in _SAMPLES:
        if _takes(part, name, sample):
            return kind
    return None


_SAMPLES: tuple[tuple[Kind, Any], ...] = (
    ("yes-no", True),
    ("number", 1.5),
    ("count", 1),
    ("words", "x"),
)
"""A value of each sort, the narrowest first: what a field takes tells how to ask for it."""


def _takes(part: AnyPart, name: str, value: Any) -> bool:
    try:
        checked_value(part, name, value)
    except (FactFault, msgspec.ValidationError):
        return False
    return True


def _of_slot(question: Question, part: Part, machine: Machine) -> Question:
    """Return the question for a slot's opening: of those between it and the next occupied slot
    whose column is known, else of the column itself."""
    place = question.name.rpartition(".")[0]
    slots = part.layout.slots if isinstance(part, Motherboard | System) else ()
    order = [slot.id for slot in slots]
    used = {held.slot.id for held in machine.slots_held if held.piece}
    known = [slot for slot in slots if slot.position is not None and slot.id in used]
    at = order.index(place) if place in order else 0
    asked = msgspec.structs.replace(question, place=place, order=at)
    before = [slot for slot in known if place in order and _is_before(slot, place, order)]
    if not before:
        return asked
    anchor = before[-1]
    column = anchor.position or 0
    most = max(0.0, question.most - column - 1)
    return msgspec.structs.replace(
        asked, kind="between", anchor=anchor.id, anchor_column=column, least=0.0, most=most
    )


def _is_before(slot: Slot, place: str, order: list[str]) -> bool:
    return order.index(slot.id) < order.index(place)


def own_facts(rig: Rig) -> Iterator[tuple[str, Any]]:
    """Yield the figures that the owner gave, as findings name them, with their values."""
    for part, facts in rig.facts.items():
        for name, value in facts.items():
            yield f"{part}:{name}", value
