"""Questions after figures that nobody published, and the owner's own figures, in words."""

from typing import Any

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import kind_of
from rigplanner.report.format import number
from rigplanner.report.language import listed, tr
from rigplanner.report.words.findings import fact_text
from rigplanner.rig.document import Rig, part_of
from rigplanner.rules.questions import Question

QUESTIONS: dict[str, str] = {
    "chassis psu_length_mm": "How long a power supply does {part} take?",
    "chassis gpu_length_mm": "How long a card does {part} take?",
    "chassis gpu_height_mm": "How high a card does {part} take, from the edge that goes into the"
    " slot to the side panel?",
    "chassis cooler_height_mm": "How high a CPU cooler does {part} take?",
    "gpu length_mm": "How long is {part}, from the bracket to its end?",
    "gpu height_mm": "How high is {part}, from the edge that goes into the slot to its top?",
    "gpu slots": "How many slot openings does {part} cover?",
    "cooler height_mm": "How high is {part} on its CPU?",
    "cooler rated_w": "How much heat does the maker of {part} promise that it moves?",
    "psu length_mm": "How long is {part}, without its cables?",
    "psu plugs": "How many plugs do the cables of {part} have that can be used at the same time?",
    "chassis bays_25": "How many 2.5 inch drives does {part} take?",
    "chassis bays_35": "How many 3.5 inch drives does {part} take?",
    "motherboard eps8": "How many 8-pin CPU sockets does {part} have?",
}
"""By kind of part and field: what a person looks up on the part, its box or its photo."""
PLUG_WORDS = {"pcie8": "PCIe 8-pin (6+2)", "12v-2x6": "16-pin", "eps8": "EPS 8-pin (4+4)"}
UNIT_ENDS = {"_mm": "mm", "_w": "W", "_gib": "GiB", "_gbs": "GB/s", "_ghz": "GHz", "_mhz": "MHz"}


def question_text(question: Question, rig: Rig, catalog: Catalog) -> str:
    """Return the question as a sentence."""
    part = part_of(rig, catalog, question.part)
    name = part.name if part is not None else question.part
    if question.kind == "between":
        places = {"a": question.anchor, "b": question.place}
        return tr("How many slot openings lie between the two cards in {a} and {b}?", **places)
    if question.kind == "column":
        return tr(
            "Counted from the CPU, at which slot opening of the case is {place} on {part}?",
            place=question.place,
            part=name,
        )
    asked = QUESTIONS.get(f"{kind_of(part)} {question.name}") if part is not None else None
    if asked:
        return tr(asked, part=name)
    return tr("What is the {fact}?", fact=fact_text(question.fact, rig, catalog))


def unit_of(name: str) -> str:
    """Return the unit that a fact's name ends with, "" for a count."""
    return next((unit for ending, unit in UNIT_ENDS.items() if name.endswith(ending)), "")


def own_value_text(fact: str, value: Any) -> str:
    """Return the value of one's own figure with its unit."""
    unit = unit_of(fact)
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, int | float):
        return f"{number(value)}\u202f{unit}" if unit else number(value)
    if isinstance(value, list | tuple):
        said = [_entry(entry) for entry in value]
        return listed(said) if said else tr("none")
    return str(value)


def _entry(entry: Any) -> str:
    if isinstance(entry, dict) and "type" in entry:
        kind = str(entry["type"])
        return f"{entry.get('count', 1)} × {tr(PLUG_WORDS.get(kind, kind))}"
    return str(entry)


def own_fact_text(fact: str, value: Any, rig: Rig, catalog: Catalog) -> str:
    """Return one's own figure: "room for the supply of Case X: 210 mm"."""
    said, told = fact_text(fact, rig, catalog), own_value_text(fact, value)
    return tr("{fact}: {value}", fact=said, value=told)
