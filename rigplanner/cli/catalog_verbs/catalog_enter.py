"""`rigplanner catalog enter`: a part of one's own, by a form that asks only what decides."""

import argparse
import sys
from datetime import date
from typing import Any

from rigplanner.catalog.foreign import slug
from rigplanner.catalog.imports import user_catalog
from rigplanner.catalog.load import Family
from rigplanner.catalog.schema.parts import KINDS
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.decoding import JsonFault, convert, read_json
from rigplanner.evidence import Source
from rigplanner.rules.core.rests import DECIDING

SOURCE = "entered-by-the-owner"
NESTED = {"motherboard": "layout", "system": "layout", "chassis": "enclosure", "psu": "supply"}
"""What a part of a kind holds its figures in, and cannot be without."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("name", nargs="?", help="name of the part; without it the form is shown")
    parser.add_argument("figures", nargs="*", metavar="FIELD=VALUE")
    parser.add_argument("--vendor", default="own")


def run(args: argparse.Namespace) -> int:
    """Show the form of a kind, or keep a part as an own one."""
    asked = form(args.kind)
    if args.name is None:
        for field in asked:
            print(f"{field}=")
        return FINE
    tree: dict[str, Any] = {
        "kind": args.kind,
        "id": f"own.{args.kind}.{slug(args.name) or 'part'}",
        "name": args.name,
        "vendor": args.vendor,
        "sources": {SOURCE: ["*"]},
    }
    if args.kind in NESTED:
        tree[NESTED[args.kind]] = {}
    given = dict(_figure(text) for text in args.figures)
    for field, value in given.items():
        _put(tree, field.split("."), value)
    source = Source(title="Entered by the owner", read=date.today().isoformat(), trust="community")
    try:
        family = convert({"family": args.name, "sources": {}, "parts": [tree]}, Family)
        family = Family(family=args.name, sources={SOURCE: source}, parts=family.parts)
        path = user_catalog.keep_family(f"own-{args.kind}-{slug(args.name) or 'part'}", family)
    except JsonFault as fault:
        raise InputFault(f"{args.name}: {fault}.") from fault
    except OSError as fault:
        raise InputFault(f"not kept ({fault.strerror or fault}).") from fault
    print(f"{tree['id']}  {args.name}")
    missing = [field for field in asked if field not in given]
    if missing:
        print(f"decides too, not given: {', '.join(missing)}")
    print(f"kept in {path}", file=sys.stderr)
    return FINE


def form(kind: str) -> list[str]:
    """Return the fields of a kind that decide verdicts, those of most rules first."""
    counts: dict[str, int] = {}
    for fields in DECIDING.values():
        for field in fields.get(kind, ()):
            counts[field] = counts.get(field, 0) + 1
    return sorted(counts, key=lambda field: (-counts[field], field))


def _figure(text: str) -> tuple[str, Any]:
    """Return field and value of "FIELD=VALUE"; plugs are written 4xpcie8,1x12v-2x6 and words with
    commas between."""
    field, given, value = text.partition("=")
    if not given or not field:
        raise InputFault(f"expected FIELD=VALUE, found {text!r}.")
    last = field.rpartition(".")[2]
    if last in ("plugs", "connectors"):
        return field, [_plug(each) for each in value.split(",")]
    try:
        read: Any = read_json(value, object)
    except JsonFault:
        words = value.split(",")
        listed = last in ("sockets", "board_form_factors", "psu_form_factors", "memory_modules")
        return field, words if listed else value
    if last == "ratings" and isinstance(read, int | float):
        return field, [{"min_volts": 100.0 if read <= 1300 else 200.0, "watts": float(read)}]
    return field, read


def _plug(text: str) -> dict[str, Any]:
    count, times, kind = text.strip().partition("x")
    if not times or not count.isdigit():
        raise InputFault(f"expected plugs as 4xpcie8,1x12v-2x6, found {text!r}.")
    return {"type": kind, "count": int(count)}


def _put(tree: dict[str, Any], names: list[str], value: Any) -> None:
    for name in names[:-1]:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            raise InputFault(f"{'.'.join(names)}: no such field.")
        tree = inner
    tree[names[-1]] = value
