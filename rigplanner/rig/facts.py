"""Facts that the owner measured or read himself: what the catalog leaves out of a part, kept in the
rig and used wherever the part is."""

from typing import Any

import msgspec

from rigplanner.catalog.schema.parts import AnyPart, Part
from rigplanner.decoding import convert

NESTED = ("enclosure", "supply", "layout", "memory")
"""Fields of parts that hold fields of their own; a fact is named by its last word."""
PLACES = ("slots", "drives")
LIMITS: dict[str, tuple[float, float]] = {
    "_mm": (1, 3000),
    "_w": (1, 20_000),
    "_gib": (1, 65_536),
    "position": (1, 24),
    "slot_columns": (1, 32),
    "slots": (0.5, 8),
    "eps8": (0, 8),
    "eps4": (0, 4),
    "bays_25": (0, 64),
    "bays_35": (0, 64),
}
"""Smallest and largest that a fact whose name ends so can be."""


class FactFault(ValueError):
    """A fact that a part cannot have; the text names it, and says what was expected."""


def with_facts(part: AnyPart, facts: dict[str, Any]) -> AnyPart:
    """Return a part with facts of its owner, by their names ("gpu_height_mm", "PCIE2.position")."""
    if not facts:
        return part
    key = (id(part), msgspec.json.encode(facts, order="sorted"))
    known = _MADE.get(key)
    if known is None or known[0] is not part:
        if len(_MADE) >= MOST_MADE:
            _MADE.clear()
        known = _MADE[key] = (part, _with(part, facts))
    return known[1]


MOST_MADE = 256
_MADE: dict[tuple[int, bytes], tuple[AnyPart, AnyPart]] = {}
"""Parts with facts, kept so that equal questions get the same object."""


def _with(part: AnyPart, facts: dict[str, Any]) -> AnyPart:
    built: dict[str, Any] = msgspec.to_builtins(part)
    for name, value in facts.items():
        owner, field = _owner(part, built, name)
        owner[field] = value
        built.setdefault("doubts", {}).pop(name, None)
    return convert(built, type(part))


def _owner(part: Part, built: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    """Return what holds a fact, and its field there."""
    place, _, field = name.rpartition(".")
    if place:
        layout = built.get("layout", {})
        for kind in PLACES:
            for entry in layout.get(kind, ()):
                if entry["id"] == place:
                    return entry, field
        raise FactFault(f"{part.id} has no place {place!r}.")
    if field in part.__struct_fields__ and field not in ("id", "name", "vendor", "sources"):
        return built, field
    for nest in NESTED:
        inner = getattr(part, nest, None)
        if inner is not None and field in inner.__struct_fields__:
            return built.setdefault(nest, {}), field
    raise FactFault(f"{part.id} has no field {name!r}.")


def checked(part: AnyPart, name: str, text: str) -> Any:
    """Return the value of a fact as its part takes it, of a text in JSON or plain; raise FactFault
    where the part has no such field, or the value is of another sort or beyond sense."""
    try:
        value: Any = msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        value = text
    if name.rpartition(".")[2] == "plugs" and isinstance(value, dict):
        value = [[kind, count] for kind, count in value.items()]
        value = [{"type": kind, "count": count} for kind, count in value]
    for ending, (least, most) in LIMITS.items():
        if name.endswith(ending) and isinstance(value, int | float):
            if not least <= value <= most:
                raise FactFault(f"{name}: expected {least:g} to {most:g}, found {text}.")
            break
    try:
        made = _with(part, {name: value})
    except msgspec.ValidationError as fault:
        raise FactFault(f"{part.id}: {name}: {fault}") from fault
    low, high = getattr(made, "power_min_w", None), getattr(made, "power_max_w", None)
    if low is not None and high is not None and low > high:
        raise FactFault(f"{part.id}: {name}: the lowest limit {low:g} is above {high:g}.")
    return value
