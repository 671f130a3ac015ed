"""`rigplanner catalog import`: other people's data into the user's catalog, with every refusal
counted and named."""

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.foreign import Import, slug
from rigplanner.catalog.imports import importing, user_catalog
from rigplanner.catalog.imports.foreign_files import ForeignFault
from rigplanner.catalog.load import CatalogFault
from rigplanner.catalog.prices import price_list
from rigplanner.catalog.prices.prices import Offers
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_catalog, stands_text
from rigplanner.report.words.importing import list_notes, refusal_counts, refusal_text, summary
from rigplanner.report.words.rates import without_rate_text
from rigplanner.rig.edits import set_exchange, set_notes
from rigplanner.rig.files import RigFault, write_rig
from rigplanner.rig.from_text.parts_list import read_parts_list, rig_from_entries
from rigplanner.whole_file import read_within

SOURCES = {
    "opendb": "folder or zip of BuildCores OpenDB: parts",
    "pc-part-dataset": "JSON, JSONL or CSV file or folder: parts with old prices",
    "coolpc": "saved evaluation page of 原價屋: prices in TWD",
    "csv": "CSV of prices",
    "list": "parts list as pasted text, Markdown or HTML: a rig file (-o)",
    "parts": "family file of own parts, which override by id",
}
MOST_LISTED = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "sources:\n" + "\n".join(
        f"  {name:16} {text}" for name, text in SOURCES.items()
    )
    parser.add_argument("source", choices=list(SOURCES))
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be taken and write nothing"
    )
    parser.add_argument(
        "--all", action="store_true", help="list every refusal, not the first of them"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--accept",
        choices=("exact", "words"),
        default="exact",
        help="prices: how sure the name must be",
    )
    parser.add_argument(
        "--map", action="append", default=[], metavar="COLUMN=FIELD", help="csv: what a column is"
    )
    parser.add_argument(
        "--encoding", choices=price_list.ENCODINGS, help="csv: guessed if not given"
    )
    parser.add_argument("--currency", default="USD", help="csv: of amounts without one")
    parser.add_argument("--region", help="csv: where the prices hold")
    parser.add_argument("--day", help="day of the data, YYYY-MM-DD; else that of the file")
    parser.add_argument("--name", help="name under which it is kept; else that of the source")
    parser.add_argument("-o", "--output", type=Path, help="list: the rig file to write")


def run(args: argparse.Namespace) -> int:
    """Import from one source."""
    if args.name is not None and not args.name.replace("-", "").replace("_", "").isalnum():
        raise InputFault(f"--name: expected letters, digits, - and _; found {args.name!r}.")
    day = _day(args)
    if args.source == "parts":
        return _own_parts(args)
    if args.source in importing.PART_SOURCES:
        index = PartIndex([])
    else:
        catalog = open_catalog()
        index = index_of(catalog)
    if args.source == "list":
        return _list(args, index, day)
    mapping = dict(_mapped(text) for text in args.map) or None
    options = importing.Options(
        currency=args.currency, region=args.region, mapping=mapping, encoding=args.encoding
    )
    try:
        made = importing.read_source(args.source, args.file, day, index, options, _progress)
    except ForeignFault as fault:
        raise InputFault(str(fault)) from fault
    _tell(args, made)
    if importing.count_to_keep(made, args.accept):
        _keep(args, lambda: importing.keep(args.source, args.file, made, args.accept, args.name))
    return FINE


def _progress(done: int, total: int) -> bool:
    if sys.stderr.isatty():
        print(
            f"\r{done:,} of {total:,}",
            end="" if done < total else "\n",
            file=sys.stderr,
            flush=True,
        )
    return True


def _day(args: argparse.Namespace) -> str:
    if args.day is None:
        try:
            return datetime.fromtimestamp(args.file.stat().st_mtime, UTC).date().isoformat()
        except OSError as fault:
            raise InputFault(f"{args.file}: cannot be read ({fault.strerror or fault}).") from fault
    try:
        return date.fromisoformat(args.day).isoformat()
    except ValueError as fault:
        raise InputFault(f"--day: expected YYYY-MM-DD, found {args.day!r}.") from fault


def _own_parts(args: argparse.Namespace) -> int:
    try:
        family = user_catalog.read_own_family(args.file)
    except CatalogFault as fault:
        raise InputFault(str(fault)) from fault
    print(f"{len(family.parts)} own parts of {family.family}")
    _keep(
        args, lambda: user_catalog.keep_family(args.name or slug(args.file.stem) or "parts", family)
    )
    return FINE


def _mapped(text: str) -> tuple[str, str]:
    column, found, field = text.rpartition("=")
    if not found or field not in price_list.FIELDS:
        raise InputFault(
            f"--map: expected COLUMN=FIELD with a field of {', '.join(price_list.FIELDS)}; found"
            f" {text!r}."
        )
    return column, field


def _list(args: argparse.Namespace, index: PartIndex, day: str) -> int:
    try:
        content = read_within(args.file, price_list.LARGEST_FILE_BYTES)
        entries = read_parts_list(price_list.decoded(content, args.encoding), index, day)
    except OSError as fault:
        raise InputFault(f"{args.file}: cannot be read ({fault.strerror or fault}).") from fault
    except ValueError as fault:
        raise InputFault(f"{args.file}: {fault}") from fault
    for entry in entries:
        found = f"matched   {entry.wish.parts[0].name}" if entry.wish.parts else "NO MATCH"
        if entry.comes_with is not None:
            found = f"comes with {entry.comes_with.name}"
        alike = stands_text(entry.wish)
        print(f"{found}  <- {entry.wish.quantity} x {entry.wish.text}{alike}")
    matched = sum(1 for entry in entries if entry.wish.parts or entry.comes_with)
    print(f"{matched} of {len(entries)} parts of the list were found", file=sys.stderr)
    if args.output and not args.dry_run:
        try:
            rig = set_exchange(
                rig_from_entries(args.file.stem, entries), user_catalog.newest_rates()
            )
            write_rig(set_notes(rig, "\n".join(list_notes(entries))), args.output, open_catalog())
        except RigFault as fault:
            raise InputFault(str(fault)) from fault
        print(f"written {args.output}", file=sys.stderr)
    return FINE


def _tell(args: argparse.Namespace, made: Import | Offers) -> None:
    if args.format == "json":
        print(msgspec.json.encode(made).decode())
        return
    for offer in made.offers if isinstance(made, Offers) else ():
        print(
            f"{offer.confidence:6} {offer.price.amount:>12,.2f} {offer.price.currency} "
            f" {offer.name}  <- {offer.text}"
        )
    for refusal in made.refused if args.all else made.refused[:MOST_LISTED]:
        print(f"  {refusal_text(refusal)}")
    if len(made.refused) > MOST_LISTED and not args.all:
        print(f"  ... and {len(made.refused) - MOST_LISTED:,} more (--all lists them)")
    for count, text in refusal_counts(made.refused):
        print(f"{count:8,}  {text}")
    print(summary(made, args.accept))
    rates = (
        without_rate_text({offer.price.currency for offer in made.offers})
        if isinstance(made, Offers)
        else ""
    )
    if rates:
        print(
            f"{rates} Rigs in other currencies count these prices by a rate given: 'rigplanner new"
            " --set rate:CURRENCY=RATE'."
        )


def _keep(args: argparse.Namespace, keep: Callable[[], Path]) -> None:
    if args.dry_run:
        print("nothing written (--dry-run)", file=sys.stderr)
        return
    try:
        print(f"kept in {keep()}", file=sys.stderr)
    except OSError as fault:
        raise InputFault(
            f"{user_catalog.user_folder()}: not written ({fault.strerror or fault})."
        ) from fault
