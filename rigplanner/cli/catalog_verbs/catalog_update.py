"""`rigplanner catalog update`: fetch a catalog or price file, or the exchange rates, over HTTPS
into the user's catalog."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from rigplanner import __version__
from rigplanner.catalog.imports import editions, fetch
from rigplanner.catalog.imports.updating import (
    check_family,
    check_prices,
    fetch_rates,
    rates_target,
    target,
)
from rigplanner.catalog.prices.exchange import ECB_URL, read_ecb
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.data import data_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("url", nargs="?", help="https address of a catalog file or a price file")
    what.add_argument(
        "--rates",
        nargs="?",
        const=ECB_URL,
        metavar="URL",
        help="exchange rates of the European Central Bank",
    )
    what.add_argument(
        "--data",
        nargs="?",
        const="",
        metavar="URL",
        help="a newer edition of the shipped data, believed by its signature (URL: of its index)",
    )
    what.add_argument(
        "--back", action="store_true", help="use the data that came with the program again"
    )
    parser.add_argument(
        "--look", action="store_true", help="with --data: only say what there is, take nothing"
    )
    parser.add_argument("--prices", action="store_true", help="the file holds prices, not parts")
    parser.add_argument(
        "--checksum",
        default="",
        metavar="SHA256|URL",
        help="what the file must have, or where that is written",
    )
    parser.add_argument(
        "--timeout", type=float, default=20.0, metavar="S", help="seconds without an answer"
    )


def run(args: argparse.Namespace) -> int:
    """Fetch one file; without a connection say how old the present one is."""
    if not 0 < args.timeout <= 600:
        raise InputFault(f"--timeout: expected seconds from 0 to 600, found {args.timeout:g}.")
    if args.back:
        told = "are used again" if editions.take_back() else "were in use already"
        print(f"The data that came with the program {told}.")
        return FINE
    if args.data is not None:
        return _edition(args.data, args.look)
    limits = fetch.Limits(
        connect_s=min(args.timeout, fetch.STANDARD_LIMITS.connect_s), read_s=args.timeout
    )
    url = args.rates or args.url
    try:
        path = target(url, args.prices) if args.rates is None else rates_target()
    except ValueError as fault:
        raise InputFault(f"{url}: no address ({fault}).") from fault
    check = read_ecb if args.rates else check_prices if args.prices else check_family
    try:
        if args.rates == ECB_URL:
            fetched = fetch_rates(lambda _done, _all: True)
        else:
            fetched = fetch.fetch(url, path, check, limits, args.checksum)
    except fetch.FetchFault as fault:
        raise InputFault(str(fault)) from fault
    age = fetched.age_days(datetime.now(UTC))
    if fetched.fault:
        print(f"{fetched.fault} The file from {age:.1f} days ago is used.", file=sys.stderr)
    print(
        f"{'updated' if fetched.changed else 'unchanged'} {fetched.path}, sha256"
        f" {fetched.stamp.sha256}"
    )
    if args.rates:
        print(f"exchange rates of {read_ecb(path.read_bytes()).day}")
    return FINE


def _edition(address: str, only_look: bool) -> int:
    """Say what editions of data and program there are, and take the data unless asked only to
    look."""
    place = editions.shipped_place()
    if address:
        place = msgspec.structs.replace(place, index=address)
    try:
        with TemporaryDirectory() as cache:
            index = editions.look(place, Path(cache))
        if editions.newer_program(index):
            print(f"RigPlanner {index.program} is out; this is {__version__}.")
        used = (data_path("catalog") / "VERSION").read_text("ascii").strip()
        if not editions.newer(index):
            print(f"The data in use, {used}, are the newest.")
        elif only_look:
            print(f"Data of {index.edition} are there; those in use are of {used}.")
        else:
            folder = editions.take(index, place.index or "")
            print(f"Data of {index.edition} are used from the next start on: {folder}")
            print("'rigplanner catalog update --back' returns to those of the program.")
    except editions.EditionFault as fault:
        raise InputFault(str(fault)) from fault
    return FINE
