"""Lists in sections: a heading that names a kind, and under it the model and its figures, each on a
line of its own."""

import re

from rigplanner.rig.from_text.list_tables import counted_label, is_label

_HEADING = re.compile(r"\s*(?:#{1,6}\s+(?P<marked>.+?)|\*\*(?P<bold>[^*:]+):?\*\*:?)\s*$")
_ITEM = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\*\*|__)?(?P<key>[^\W\d][^:*|]{1,30}?)(?:\*\*|__)?\s*[::]\s*(?:\*\*)?"
    r"\s*(?P<value>\S.*)$"
)
_MODEL = frozenset(("model", "name", "modell", "modèle", "model name", "型号", "型號", "product"))
_FIGURES = frozenset(
    (
        *("capacity", "size", "speed", "type", "total", "configuration", "frequency", "wattage"),
        *("quantity", "count", "kapazität", "größe", "容量", "频率"),
    )
)


def joined_sections(lines: list[str]) -> list[str]:
    """Return the lines of a list where a heading, "Model: ..." and the figures under it are one
    line; what else stands under such a heading describes the part and goes."""
    told: list[str] = []
    place = 0
    while place < len(lines):
        heading = _heading(lines[place])
        items = _items(lines[place + 1 :]) if heading else []
        model = next((value for key, value in items if key in _MODEL), None)
        if heading is None or model is None:
            counted = heading is not None and _counts_one(heading, lines[place + 1 : place + 3])
            told.append(_one_line(heading, lines[place + 1]) if counted else lines[place])
            place += 1 + counted
            continue
        figures = [value for key, value in items if key in _FIGURES]
        told.append(f"{heading}: {' '.join((model, *figures))}")
        place += 1 + len(items)
    return told


def _counts_one(heading: str, below: list[str]) -> bool:
    """Say whether a heading counts the one line under it: "CPUs (x2)" above "EPYC 7742"."""
    alone = len(below) == 1 or (len(below) == 2 and _HEADING.match(below[1]) is not None)
    return alone and counted_label(heading)[0] > 1 and _HEADING.match(below[0]) is None


def _one_line(heading: str | None, below: str) -> str:
    count, label = counted_label(heading or "")
    return f"{label} x{count}: {below.lstrip(' -*•')}"


def _heading(line: str) -> str | None:
    found = _HEADING.match(line)
    label = (found["marked"] or found["bold"]).strip(" *_:") if found else ""
    return label if label and is_label(label) else None


def _items(lines: list[str]) -> list[tuple[str, str]]:
    """Return the lines under a heading as key and value, up to the first that is none."""
    items: list[tuple[str, str]] = []
    for line in lines:
        found = None if _HEADING.match(line) else _ITEM.match(line)
        if found is None:
            break
        items.append((found["key"].strip().casefold(), found["value"].strip()))
    return items
