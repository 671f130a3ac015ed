"""Case files: one JSON case a line, in the contract's form or as a flat line of a tracer's
specification."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.decoding import JsonFault, convert, read_tree
from rigplanner.rig.own_words import in_own_words
from rigplanner.rig.workload import Case, Hardware, Workload

LONGEST_LINE = 4 * 2**20
"""Bytes; a longer line is not a case."""

_fields = set(Workload.__struct_fields__)


class BadCase(Struct, frozen=True):
    """A line that is not a case: its id where one could be read, and one sentence on what was
    expected."""

    id: Any
    error: str


def read_cases(lines: Iterator[bytes]) -> Iterator[Case | BadCase]:
    """Yield a case or a fault for each line that is not blank, in order."""
    for number, line in enumerate(lines, 1):
        marked = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if marked.strip():
            yield read_case(marked, number)


def read_case(line: bytes, number: int = 1) -> Case | BadCase:
    """Return the case of one line, or the fault that names field, expected and found."""
    if len(line) > LONGEST_LINE:
        return BadCase(
            number, f"line {number}: longer than {LONGEST_LINE // 2**20} MiB, not a case."
        )
    if line[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return BadCase(
            number, f"line {number}: expected text in UTF-8, found UTF-16; save the file as UTF-8."
        )
    try:
        raw = read_tree(line)
    except JsonFault as fault:
        return BadCase(number, f"line {number}: not JSON ({fault}).")
    if not isinstance(raw, dict):
        return BadCase(number, f"line {number}: expected an object, found {type(raw).__name__}.")
    name = raw.get("id", number)
    if not isinstance(name, str | int) or isinstance(name, bool):
        return BadCase(number, f"id: expected text or a whole number, found {type(name).__name__}.")
    try:
        return _case(name, raw)
    except (msgspec.ValidationError, OverflowError, RecursionError) as fault:
        return BadCase(name, f"line {number}: {fault}")


def _case(name: str | int, raw: dict[str, Any]) -> Case:
    """A nested case as it is; of a flat line the known fields are the workload, the rest describe
    it."""
    flat = "workload" not in raw
    if not flat and isinstance(raw["workload"], dict):
        raw = {**raw, "workload": in_own_words(raw["workload"])}
    given = (
        {key: value for key, value in raw.items() if key in _fields} if flat else raw["workload"]
    )
    work = convert(_known(given), Workload)
    hardware = convert(_plain(raw.get("hardware")), Hardware)
    metric = raw.get("metric")
    return Case(
        id=name,
        workload=work,
        hardware=hardware,
        metric=metric if isinstance(metric, str) else None,
        ignored=_ignored(raw, flat),
    )


DESCRIBES = ("stack_text", "model_text", "note", "notes")
"""Fields beside a workload's that say where a case comes from."""


def _ignored(raw: dict[str, Any], flat: bool) -> str:
    """The fields of a case that nothing hears, each with the field of a workload that it may mean;
    of those beside the workload only such as mean one, since others tell where the case comes from.
    """
    inside = {} if flat or not isinstance(raw["workload"], dict) else raw["workload"]
    deaf = [
        (name, _meant(name)) for name in inside if name not in _fields and name not in DESCRIBES
    ]
    beside = (
        (name, _meant(name))
        for name in raw
        if name not in BESIDE and not (flat and name in _fields)
    )
    deaf += [(name, meant) for name, meant in beside if meant]
    told = dict(deaf[:MOST_NAMED])
    return ", ".join(
        f"{name[:60]} ({meant}?)" if meant else name[:60] for name, meant in told.items()
    )


BESIDE = ("id", "workload", "hardware", "metric", "value")
MOST_NAMED = 8


@lru_cache(1024)
def _meant(name: str) -> str | None:
    """The field of a workload that another name may mean."""
    if name in _fields:
        return f"workload.{name}"
    longer = next(
        (field for field in Workload.__struct_fields__ if field.startswith(f"{name}_")), None
    )
    return longer or next(iter(get_close_matches(name, Workload.__struct_fields__, 1, 0.85)), None)


def _known(given: Any) -> Any:
    """Drop nulls, which mean the same as an absent field; `stack_text` of measured cases names the
    software and its release."""
    if not isinstance(given, dict):
        return given
    if isinstance(given.get("stack_text"), str):
        given = {"framework_text": given["stack_text"], **given}
    kept = {key: value for key, value in given.items() if value is not None and key in _fields}
    if isinstance(kept.get("parallelism"), dict):
        kept["parallelism"] = {
            key: value for key, value in kept["parallelism"].items() if value is not None
        }
    return kept


def _plain(hardware: Any) -> Any:
    """What is said of the machine; raise ValidationError for a field that nothing here would
    heed."""
    if not isinstance(hardware, dict):
        return {} if hardware is None else hardware
    given, known = (
        {key: value for key, value in hardware.items() if value is not None},
        Hardware.__struct_fields__,
    )
    if strange := next((key for key in given if key not in known), None):
        raise msgspec.ValidationError(
            f"hardware.{str(strange)[:40]}: expected one of {', '.join(known)}."
        )
    return given
