"""`rigplanner catalog price URL`: the price that a shop's page states for machines."""

import argparse
import sys

import msgspec

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.imports.fetch import FetchFault
from rigplanner.catalog.imports.price_link import keep_link, read_link
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import no_part_text, open_catalog


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("url", help="https address of a product's page")
    parser.add_argument("--part", help="the part it is of, by words; else by the page's name")
    parser.add_argument("--dry-run", action="store_true", help="show the price and keep nothing")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Read one page, say what it states, and keep the price where the part is known."""
    catalog = open_catalog()
    index = index_of(catalog)
    part = next(iter(index.find(args.part, limit=1)), None) if args.part else None
    if args.part and part is None:
        raise InputFault(f"--part: {no_part_text(args.part, index)}.")
    try:
        linked = read_link(args.url, index)
    except FetchFault as fault:
        raise InputFault(str(fault)) from fault
    part = part or linked.part
    if args.format == "json":
        told = {"offer": linked.offer, "price": linked.price, "part": part.id if part else None}
        print(msgspec.json.encode(told).decode())
    else:
        price = linked.price
        print(
            f"{price.amount:,.2f} {price.currency}, {linked.offer.availability},"
            f" {price.condition}, {price.day}: {linked.offer.name}"
        )
        print(f"part: {part.id}" if part else "part: none of the catalog; say --part WORDS")
    if part is not None and not args.dry_run:
        try:
            print(f"kept in {keep_link(linked, part)}", file=sys.stderr)
        except OSError as fault:
            raise InputFault(f"not kept ({fault.strerror or fault}).") from fault
    return FINE
