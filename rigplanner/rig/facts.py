"""Facts that the owner measured or read himself: what the catalog leaves out of a part, kept in the
rig and used wherever the part is."""

from typing import Any

import msgspec

from rigplanner.catalog.schema.parts import AnyPart, Part
from rigplanner.decoding import convert

NESTED = ("enclosure", "supply", "layout", "memory")
"""Fields of parts that hold fields of their own; a fact is named by its last word."""
PLACES = ("slots", "drives")
NO_FACTS = frozenset(
    (
        *("id", "name", "vendor", "aliases", "status", "sources", "doubts", "unpublished"),
        *("prices", "notes", "layout", "enclosure", "supply", "memory", "includes"),
        *("proven_with", "role", "chip", "architecture", "compute_capability", "isa"),
        *("switches", "fabric", "drives", "dense_tflops", "unsupported"),
    )
)
"""Fields that nobody measures: names of parts and of their silicon, records of sources, and what
holds further fields."""
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
    "gen": (1, 7),
    "width": (1, 32),
    "numa_nodes": (1, 64),
    "modules": (1, 64),
    "sockets_max": (1, 8),
    "gpus": (2, 16),
    "per_pair": (1, 4),
    "links": (1, 36),
    "dies": (1, 16),
    "outputs": (0, 16),
    "units": (1, 64),
    "count": (1, 64),
    "cores": (1, 100_000),
    "threads": (1, 4096),
}
"""Smallest and largest that a fact whose name ends so can be."""
ANY_NUMBER = (0.0, 1e6)
MOST_PLUGS = 40
PLUG_TYPES = ("pcie8", "pcie6", "12v-2x6", "12vhpwr", "eps8", "eps4", "sata", "molex")


class FactFault(ValueError):
    """A fact that a part cannot have: the message, for commands, names it and says what was
    expected; `code` and `values` say the same to those who make words of it."""

    def __init__(self, code: str, message: str, **values: Any) -> None:
        super().__init__(message)
        self.code = code
        self.values = values


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
    """Return a part with the facts that it can have; the others are left aside (`unusable` names
    them)."""
    wrong = unusable(part, facts)
    fit = {name: value for name, value in facts.items() if name not in wrong}
    return _built(part, fit) if fit else part


def _built(part: AnyPart, facts: dict[str, Any]) -> AnyPart:
    built: dict[str, Any] = msgspec.to_builtins(part)
    for name, value in facts.items():
        owner, field, path = _owner(part, built, name)
        owner[field] = value
        for doubted in {name, path}:
            built.setdefault("doubts", {}).pop(doubted, None)
    return convert(built, type(part))


def unusable(part: AnyPart, facts: dict[str, Any]) -> dict[str, FactFault]:
    """Return the facts that a part cannot have, with what is wrong with each."""
    wrong: dict[str, FactFault] = {}
    for name, value in facts.items():
        try:
            checked_value(part, name, value)
        except FactFault as fault:
            wrong[name] = fault
    return wrong


def _owner(part: Part, built: dict[str, Any], name: str) -> tuple[dict[str, Any], str, str]:
    """Return what holds a fact, its field there, and its path in the part."""
    place, _, field = name.rpartition(".")
    if place in NESTED and getattr(part, place, None) is not None:
        place = ""
    if place:
        layout = built.get("layout", {})
        for kind in PLACES:
            for entry in layout.get(kind, ()):
                if entry["id"] == place:
                    return entry, field, f"layout.{kind}"
        raise FactFault("no-place", f"{part.id} has no place {place!r}.", place=place)
    if field in NO_FACTS:
        message = f"{part.id}: {name!r} is nothing that somebody measures."
        raise FactFault("not-measured", message, name=name)
    if field in part.__struct_fields__:
        return built, field, field
    for nest in NESTED:
        inner = getattr(part, nest, None)
        if inner is not None and field in inner.__struct_fields__:
            return built.setdefault(nest, {}), field, f"{nest}.{field}"
    raise FactFault("no-field", f"{part.id} has no field {name!r}.", name=name)


def checked(part: AnyPart, name: str, text: str) -> Any:
    """Return the value of a fact as its part takes it, of a text in JSON or plain; raise FactFault
    where the part has no such field, or the value is of another sort, beyond sense or contradicts
    another figure of the part."""
    try:
        value: Any = msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        value = text
    if name.rpartition(".")[2] == "plugs" and isinstance(value, dict):
        value = [{"type": kind, "count": count} for kind, count in value.items()]
    return checked_value(part, name, value)


def checked_value(part: AnyPart, name: str, value: Any) -> Any:
    """Return the value of a fact; raise FactFault as `checked` does."""
    field = name.rpartition(".")[2]
    if isinstance(value, dict):
        raise FactFault("no-figure", f"{part.id}: {name}: expected a figure.", name=name)
    if field == "plugs":
        _check_plugs(name, value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        least, most = limits(name)
        if not least <= value <= most:
            message = f"{name}: expected {least:g} to {most:g}, found {value:g}."
            raise FactFault("range", message, name=name, least=least, most=most, found=value)
    try:
        made = _built(part, {name: value})
    except msgspec.ValidationError as fault:
        message = f"{part.id}: {name}: {fault}"
        raise FactFault("other-sort", message, name=name, found=str(value)) from fault
    low, high = getattr(made, "power_min_w", None), getattr(made, "power_max_w", None)
    if low is not None and high is not None and low > high:
        message = f"{part.id}: {name}: the lowest limit {low:g} is above {high:g}."
        raise FactFault("limits-crossed", message, name=name, low=low, high=high)
    if field == "position":
        _check_column(part, name, value)
    return value


def limits(name: str) -> tuple[float, float]:
    """Return the smallest and largest that a fact of this name can be."""
    return next((span for ending, span in LIMITS.items() if name.endswith(ending)), ANY_NUMBER)


def _check_plugs(name: str, value: Any) -> None:
    for plug in value if isinstance(value, list | tuple) else ():
        kind, count = (plug.get("type"), plug.get("count")) if isinstance(plug, dict) else (0, 0)
        if kind not in PLUG_TYPES:
            known = ", ".join(PLUG_TYPES)
            message = f"{name}: expected one of {known}, found {kind!r}."
            raise FactFault("no-plug", message, name=name, known=known, found=str(kind))
        if not isinstance(count, int) or not 0 <= count <= MOST_PLUGS:
            message = f"{name}: {kind}: expected 0 to {MOST_PLUGS}, found {count}."
            found = {"plug": kind, "most": MOST_PLUGS, "found": str(count)}
            raise FactFault("plug-count", message, name=name, **found)


def _check_column(part: Part, name: str, value: Any) -> None:
    """Raise FactFault where another slot of the board stands in this column."""
    place = name.rpartition(".")[0]
    layout = getattr(part, "layout", None)
    for slot in layout.slots if layout is not None else ():
        if slot.id != place and slot.kind == "pcie" and slot.position == value:
            message = f"{part.id}: {name}: {slot.id} stands in column {value} already."
            raise FactFault("column-taken", message, name=name, place=slot.id, column=value)
