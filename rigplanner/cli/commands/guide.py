"""`rigplanner guide`: a rig for a purpose and a budget, with the reasons, or what would be
needed."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import msgspec

from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.catalog.load import Catalog
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.cli.terminal import tell
from rigplanner.planning.aims import AIMS, Purpose
from rigplanner.planning.guide import Advice, Answers, Proposal, advise
from rigplanner.report.format import money
from rigplanner.report.language import tr
from rigplanner.report.words import guide as words
from rigplanner.rig.countries import USUAL, country_code
from rigplanner.rig.document import Site
from rigplanner.rig.files import RigFault, write_rig

NOTHING_FOUND = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("purpose", choices=get_args(Purpose), help="what the rig is for")
    parser.add_argument("--aim", default="", help="what it must do (--aims lists them)")
    parser.add_argument(
        "--aims", action="store_true", help="list what can be asked for the purpose, and stop"
    )
    parser.add_argument("--budget", type=float, help="the most it may cost, in the currency")
    parser.add_argument("--currency", default="USD")
    parser.add_argument(
        "--country", default="", help="two letters; its usual outlet is the circuit"
    )
    parser.add_argument("--quiet", action="store_true", help="it stands beside a person")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.rig", help="write the proposed rig"
    )


def run(args: argparse.Namespace) -> int:
    """Print the advice; 1 when the budget buys nothing that does it."""
    purpose: Purpose = args.purpose
    codes = [aim.code for aim in AIMS[purpose]]
    if args.aims:
        for code in codes:
            print(f"{code:20} {words.aim_title(code)}")
        return FINE
    if args.aim and args.aim not in codes:
        raise InputFault(f"--aim: expected one of {', '.join(codes)}, found {args.aim!r}.")
    if args.budget is not None and not 0 < args.budget < 1e9:
        raise InputFault(f"--budget: expected an amount above 0, found {args.budget:g}.")
    catalog = open_catalog()
    answers = Answers(
        purpose=purpose,
        aim=args.aim,
        budget=args.budget,
        currency=args.currency.upper(),
        quiet=args.quiet,
        site=_site(args.country.upper()),
        rates=newest_rates(),
    )
    today = datetime.now(UTC).astimezone().date().isoformat()
    advice = advise(answers, catalog, today)
    _tell(advice, catalog, today)
    chosen = advice.best
    if args.output is not None and chosen is not None:
        try:
            write_rig(
                msgspec.structs.replace(chosen.rig, name=args.output.stem), args.output, catalog
            )
        except RigFault as fault:
            raise InputFault(str(fault)) from fault
        print(f"Written: {args.output}", file=sys.stderr)
    return FINE if advice.best is not None else NOTHING_FOUND


def _site(country: str) -> Site:
    if not country:
        return Site()
    code = country_code(country)
    if code not in USUAL:
        raise InputFault(
            f"--country: expected one of {', '.join(sorted(USUAL))}, found {country!r}."
        )
    volts, amperes = USUAL[code]
    return Site(country=code, volts=volts, breaker_a=amperes)


def _tell(advice: Advice, catalog: Catalog, today: str) -> None:
    tell(words.headline(advice))
    for title, proposal in (
        (tr("Proposed"), advice.best),
        (tr("The least money"), advice.cheapest),
    ):
        if proposal is not None:
            _tell_proposal(title, proposal, catalog, today)
    if advice.rented:
        tell(f"\n{tr('For hire')}")
    for machine in advice.rented:
        tell(f"  {words.rented_text(machine, advice.best or advice.cheapest, advice.aim)}")
    for text in words.passed_over_texts(advice):
        tell(text)


def _tell_proposal(title: str, proposal: Proposal, catalog: Catalog, today: str) -> None:
    tell(f"\n{title}: {money(proposal.total, proposal.rig.currency)}")
    for name, price, reason in words.item_rows(proposal, catalog):
        tell(f"  {name}   ({price})\n      {reason}")
    for ability in proposal.abilities:
        tell(f"  {words.aim_title(ability.aim.code)}: {words.ability_text(ability)}")
        if doubt := words.doubt_text(ability):
            tell(f"      {doubt}")
    tell(f"  {words.checked_text(proposal)}")
    if age := words.age_text(proposal, today):
        tell(f"  {age}")
