"""A correction that somebody sends: one field of one part, what it should be, and the evidence."""

import math
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.foreign import text_fault
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Part
from rigplanner.decoding import JsonFault, convert, read_json

LONGEST_EVIDENCE = 500


class Correction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`field` by its dotted name, `found` what the catalog of `catalog_version` says, `expected`
    what it should be; `evidence` is an address, a document or what was measured, seen on `day`."""

    part: str
    field: str
    found: Any
    expected: Any
    evidence: str
    day: str
    catalog_version: str


class CorrectionFault(Exception):
    """A correction that cannot be one; the text says why."""


def correction(
    catalog: Catalog, part: Part, field: str, expected: str, evidence: str, day: str
) -> Correction:
    """Return the correction of one field of a part. `expected` is a number, a word or JSON.

    Raises CorrectionFault when the part has no such field, the value does not fit it or is what
    stands there, or no evidence is given."""
    found = _value(part, field)
    try:
        value = read_json(expected, object)
    except JsonFault:
        value = expected.strip()
    if isinstance(value, float) and not math.isfinite(value):
        raise CorrectionFault(f"{field}: no figure: {expected[:40]!r}")
    if value == msgspec.to_builtins(found):
        raise CorrectionFault(f"{field}: that is what the catalog says")
    try:
        convert(_with(msgspec.to_builtins(part), field.split("."), value), type(part))
    except JsonFault as fault:
        raise CorrectionFault(f"{field}: {fault}") from fault
    evidence = evidence.strip()
    if not evidence or text_fault(evidence, LONGEST_EVIDENCE):
        raise CorrectionFault(
            "say where it can be seen: an address, a document, or how you measured it"
        )
    return Correction(
        part=part.id,
        field=field,
        found=msgspec.to_builtins(found),
        expected=value,
        evidence=evidence,
        day=day,
        catalog_version=catalog.version,
    )


def encoded(made: Correction) -> bytes:
    """Return a correction as a file to send."""
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"


def _value(part: Part, field: str) -> Any:
    value: Any = part
    for name in field.split("."):
        if not isinstance(value, Struct) or name not in value.__struct_fields__:
            raise CorrectionFault(f"{part.name} has no field {field!r}")
        value = getattr(value, name)
    return value


def _with(tree: dict[str, Any], names: list[str], value: object) -> dict[str, Any]:
    inner = tree.get(names[0]) or {}
    return {**tree, names[0]: _with(inner, names[1:], value) if names[1:] else value}
