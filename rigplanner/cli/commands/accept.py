"""`rigplanner accept`: does the delivered machine keep the promise of its plan?"""

import argparse
import sys
from pathlib import Path

from rigplanner.asbuilt.acceptance import (
    Acceptance,
    AcceptanceFault,
    accept,
    compared,
    read_acceptance,
)
from rigplanner.asbuilt.burn_in import burn_in_plan
from rigplanner.asbuilt.captures import Capture, CaptureFault, read_capture
from rigplanner.asbuilt.checks.pairing import view_of
from rigplanner.asbuilt.collect import CollectFault, collect_here, collect_script
from rigplanner.asbuilt.contribution import contribution, contribution_text, keep_as_anchors
from rigplanner.asbuilt.manifests import MANIFESTS
from rigplanner.asbuilt.promise import promise_of
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_assessment
from rigplanner.cli.written import written
from rigplanner.errors import WorkloadFault
from rigplanner.plain_text import without_steering
from rigplanner.report.acceptance.writers import PLANS, PROTOCOLS
from rigplanner.rules.assess import Assessment

PAPER = "A4"
NOT_KEPT = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "rig", nargs="?", type=Path, help="the .rig file that the machine was bought by"
    )
    parser.add_argument(
        "--from",
        dest="folder",
        type=Path,
        metavar="FOLDER",
        help="captures of another machine (default: this machine)",
    )
    parser.add_argument(
        "--collect",
        action="store_true",
        help="print the shell script that collects captures (-o writes it), and stop",
    )
    parser.add_argument(
        "--plan", action="store_true", help="print the burn-in plan of the rig instead"
    )
    parser.add_argument(
        "--manifest",
        choices=tuple(MANIFESTS),
        help="write the plan for a tool that watches machines instead",
    )
    parser.add_argument(
        "--since", type=Path, metavar="FILE", help="an earlier acceptance (JSON): tell what changed"
    )
    parser.add_argument(
        "--contribute", type=Path, metavar="FILE", help="write the measured speeds as JSON lines"
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep the measured speeds as anchors of your own"
    )
    parser.add_argument("--format", choices=tuple(PROTOCOLS), default="text")
    parser.add_argument("-o", "--output", type=Path, help="file to write (needed for pdf)")


def run(args: argparse.Namespace) -> int:
    """Print or write the acceptance; 0 where the promise is kept, 1 where it is not."""
    if args.collect:
        return _out(args, collect_script().encode())
    if args.rig is None:
        raise InputFault("name the rig that the machine was bought by (or ask for --collect).")
    assessment, catalog = open_assessment(args.rig)
    if args.plan:
        return _out(args, PLANS[args.format](burn_in_plan(assessment), PAPER))
    capture = _capture(args.folder)
    if args.manifest:
        view = view_of(promise_of(assessment), capture.facts, capture.loaded)
        return _out(args, without_steering(MANIFESTS[args.manifest](view)).encode())
    made = accept(assessment, catalog, capture)
    if args.since is not None:
        made = _since(made, args.since)
    _give_back(args, assessment, made)
    _out(args, PROTOCOLS[args.format](made, assessment.rig, catalog, PAPER))
    return NOT_KEPT if made.verdict == "broken" else FINE


def _capture(folder: Path | None) -> Capture:
    try:
        return collect_here() if folder is None else read_capture(folder)
    except (CaptureFault, CollectFault) as fault:
        raise InputFault(str(fault)) from fault


def _since(made: Acceptance, path: Path) -> Acceptance:
    try:
        return compared(made, read_acceptance(path))
    except AcceptanceFault as fault:
        raise InputFault(str(fault)) from fault


def _give_back(args: argparse.Namespace, assessment: Assessment, made: Acceptance) -> None:
    """Write or keep the measured speeds, where that was asked."""
    if args.contribute is None and not args.keep:
        return
    rows = contribution(assessment, made)
    if not rows:
        print("No measured speed in the captures has a place in the table.", file=sys.stderr)
        return
    if args.contribute is not None:
        written(args.contribute, contribution_text(rows).encode())
    if args.keep:
        try:
            print(f"Kept: {keep_as_anchors(rows, made.day)}", file=sys.stderr)
        except WorkloadFault as fault:
            raise InputFault(str(fault)) from fault


def _out(args: argparse.Namespace, content: bytes) -> int:
    if args.output is not None:
        written(args.output, content)
    elif args.format == "pdf" and not (args.collect or args.manifest):
        raise InputFault("--format pdf needs -o FILE.pdf.")
    else:
        print(content.decode(), end="")
    return FINE
