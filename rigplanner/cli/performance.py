"""`rigplanner performance CASES.jsonl`: predict the speed of cases, one JSON answer a line."""

import argparse
import sys
from typing import Any, TextIO

import msgspec

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.faults import BAD_INPUT, FINE, InputFault
from rigplanner.cli.hardware import place_of
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.task import Case
from rigplanner.workload.answer import WorkloadFault


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `performance`."""
    parser.add_argument("cases", help="a JSONL file of cases, or - for standard input")
    parser.add_argument("--steps", action="store_true", help="print the steps of each calculation too")


def run(args: argparse.Namespace) -> int:
    """Answer each case on its own line, in order; exit 2 when a line is no JSON object."""
    if args.cases == "-":
        return _answer_all(sys.stdin, args.steps)
    try:
        with open(args.cases, encoding="utf-8") as lines:  # noqa: PTH123
            return _answer_all(lines, args.steps)
    except (OSError, UnicodeDecodeError) as fault:
        raise InputFault(f"{args.cases}: cannot be read ({fault}).") from fault


def _answer_all(lines: TextIO, steps: bool) -> int:
    code, encoder = FINE, msgspec.json.Encoder()
    for number, line in enumerate(lines, 1):
        if line.strip():
            answer = answer_line(line, number, steps)
            code = BAD_INPUT if answer.pop("bad", False) else code
            print(encoder.encode(answer).decode())
    return code


def answer_line(line: str, number: int, steps: bool = False) -> dict[str, Any]:
    """Return the answer of one case, or its id with an `error`; `bad` marks a line that is no case at all."""
    try:
        case = msgspec.json.decode(line, type=Case)
    except msgspec.MsgspecError as fault:
        return {"id": _id_of(line, number), "error": f"line {number}: {fault}", "bad": True}
    try:
        place = place_of(case.hardware)
        if place.gpu is None:
            raise WorkloadFault(place.fault)
        found = predict_speed(
            case.workload, place.gpu, place.count, place.nodes, place.link, shipped_zoo(), place.machine, case.metric
        )
        return _as_answer(case, place.gpu, found, steps)
    except WorkloadFault as fault:
        return {"id": case.id, "error": str(fault)}


def _as_answer(case: Case, gpu: GPU, found: SpeedEstimate, steps: bool) -> dict[str, Any]:
    answer = {"id": case.id, **msgspec.to_builtins(found), "gpu": gpu.id}
    if not steps:
        del answer["steps"]
    return answer


def _id_of(line: str, number: int) -> str | int:
    try:
        found = msgspec.json.decode(line)
    except msgspec.MsgspecError:
        return number
    return found.get("id", number) if isinstance(found, dict) else number
