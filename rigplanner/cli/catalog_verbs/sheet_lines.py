"""Values of a part in lines that people read: equal neighbours are counted, names that count on are
told as a range."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any

_COUNTED = re.compile(r"(.*?)(\d+)")
EMPTY: tuple[object, ...] = (None, "", (), {})
NAMES = ("id", "origin")
"""Fields that tell rows apart which are otherwise alike."""


def told_lines(value: Any) -> list[str]:
    """Return a value of builtin types as lines: one for a figure or plain names, one for each field
    or row of what is nested. There is always a first one."""
    if isinstance(value, dict):
        return _told_fields(value) or [""]
    if isinstance(value, tuple) and any(isinstance(each, dict) for each in value):
        return _told_rows(value)
    return [_told(value)]


def _told_fields(fields: dict[str, Any]) -> list[str]:
    """Return a line for each field that says something; fields of one value that count on share
    theirs."""
    lines = []
    said = [(name, told_lines(value)) for name, value in fields.items() if value not in EMPTY]
    for told, group in groupby(said, lambda field: field[1]):
        for name in _ranges(name for name, _ in group).split(", "):
            lines.append(f"{name}: {told[0]}" if len(told) == 1 else f"{name}:")
            lines += [f"  {line}" for line in told] if len(told) > 1 else []
    return lines


def _told_rows(rows: tuple[Any, ...]) -> list[str]:
    """Return a line for each run of rows that differ in their names alone."""
    lines = []
    for _, group in groupby(rows, _without_names):
        alike = list(group)
        told = {name: [row.get(name) for row in alike] for name in NAMES if name in alike[0]}
        ranges = {name: _ranges(dict.fromkeys(map(str, names))) for name, names in told.items()}
        lines.append(_told({**alike[0], **ranges}))
    return lines


def _without_names(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    return {name: value for name, value in row.items() if name not in NAMES}


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_told(each)}" for name, each in value.items())
    if isinstance(value, tuple):
        nested = [isinstance(each, dict | tuple) for each in value]
        texts = map(_told, value)
        return _ranges(
            f"({text})" if deep else text for text, deep in zip(texts, nested, strict=True)
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not known" if value is None else str(value)


def _ranges(names: Iterable[str]) -> str:
    """Return names one after the other: "36 x Grace" where one comes again and again, "GPU0 to
    GPU71" where three or more count on."""
    runs: list[list[str]] = []
    for name in names:
        if runs and (name == runs[-1][-1] == runs[-1][0] or _counts_on(runs[-1], name)):
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(_told_run(run) for run in runs)


def _counts_on(run: list[str], name: str) -> bool:
    before, now = _COUNTED.fullmatch(run[-1]), _COUNTED.fullmatch(name)
    equal = len(run) > 1 and run[0] == run[1]
    return bool(
        before and now and not equal and before[1] == now[1] and int(now[2]) == int(before[2]) + 1
    )


def _told_run(run: list[str]) -> str:
    if len(run) > 1 and run[0] == run[-1]:
        return f"{len(run)} x {run[0]}"
    return f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run)
