"""`rigplanner performance CASES.jsonl`: predict the speed of cases, one JSON answer a line."""

import argparse
import sys
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.faults import BAD_INPUT, FINE, InputFault, own_fault
from rigplanner.cli.hardware import place_of
from rigplanner.cli.memory import lines_of
from rigplanner.performance.anchors import Evidence
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.own import read_own, with_own
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.task import Case
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.cases import BadCase, read_cases


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `performance`."""
    parser.add_argument("cases", help="a JSONL file of cases, or - for standard input")
    parser.add_argument("--measurements", type=Path, action="append", default=[], metavar="FILE", help="CSV or JSONL of your own "
                        "measurements: anchors of these answers")  # fmt: skip
    parser.add_argument("--steps", action="store_true", help="print the steps of each calculation too")


def run(args: argparse.Namespace) -> int:
    """Answer each case on its own line, in order; exit 2 when a line is no case at all."""
    code, encode = FINE, msgspec.json.Encoder().encode
    try:
        evidence = with_own([row for path in args.measurements for row in read_own(path)]) if args.measurements else None
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    for case in read_cases(lines_of(args.cases)):
        code = BAD_INPUT if isinstance(case, BadCase) else code
        sys.stdout.write(encode(answer(case, args.steps, evidence)).decode() + "\n")
    return code


def answer(case: Case | BadCase, steps: bool = False, evidence: Evidence | None = None) -> dict[str, Any]:
    """Return the answer of one case, or its id with an `error`."""
    if isinstance(case, BadCase):
        return {"id": case.id, "error": case.error}
    try:
        place = place_of(case.hardware)
        if place.gpu is None:
            raise WorkloadFault(place.fault)
        work, zoo = case.workload, shipped_zoo()
        found = predict_speed(work, place.gpu, place.count, place.nodes, place.link, zoo, place.machine, case.metric, evidence)
        return _as_answer(case, place.gpu, found, steps)
    except WorkloadFault as fault:
        return {"id": case.id, "error": str(fault)}
    except Exception as fault:  # a case must not silence those after it
        return {"id": case.id, "error": own_fault(fault)}


def _as_answer(case: Case, gpu: GPU, found: SpeedEstimate, steps: bool) -> dict[str, Any]:
    answer = {"id": case.id, **msgspec.to_builtins(found), "gpu": gpu.id}
    if not steps:
        del answer["steps"]
    return answer
