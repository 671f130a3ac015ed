"""`rigplanner catalog community get|status|remove`: 26,000 more parts from an open database, kept
apart from the shipped ones."""

import argparse
import sys

from rigplanner.catalog.imports import community, fetch
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.report.words.importing import refusal_counts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    verbs = parser.add_subparsers(dest="deed", required=True)
    get = verbs.add_parser("get", help="fetch, prove, convert and keep the database")
    get.add_argument(
        "--url",
        default=community.URL,
        help="another address of the same archive; its contents must have the same checksum",
    )
    verbs.add_parser("status", help="say whether it is here, since when, and under which licence")
    verbs.add_parser("remove", help="take it away again")


def run(args: argparse.Namespace) -> int:
    """Do one deed."""
    if args.deed == "get":
        return _get(args.url)
    if args.deed == "remove":
        try:
            was_there = community.remove()
        except OSError as fault:
            raise InputFault(f"not removed ({fault.strerror or fault}).") from fault
        print("removed" if was_there else "it was not here")
        return FINE
    return _status()


def _status() -> int:
    stamp = community.status()
    if stamp is None:
        print("not here; 'rigplanner catalog community get' fetches it")
    else:
        print(f"{stamp.parts:,} parts, fetched {stamp.fetched[:10]} from {stamp.url}")
        print(f"contents SHA-256 {stamp.sha256}")
    _print_terms()
    return FINE if stamp else FINDINGS


def _print_terms() -> None:
    print(f"state of {community.DAY}, commit {community.COMMIT}")
    print(f"licence: {community.LICENCE}, {community.LICENCE_URL}")
    print(community.NOTICE)


def _get(url: str) -> int:
    _print_terms()
    try:
        got = community.get(progress=_progress, url=url)
    except fetch.FetchFault as fault:
        raise InputFault(str(fault)) from fault
    for count, text in refusal_counts(got.made.refused):
        print(f"{count:8,}  {text}")
    print(f"{got.stamp.parts:,} parts are kept apart; shipped parts come first")
    return FINE


def _progress(stage: str, done: int, total: int | None) -> bool:
    if sys.stderr.isatty():
        print(f"\r{stage} {done:,}{f' of {total:,}' if total else ''}   ", end="", file=sys.stderr)
    return True
