"""`rigplanner memory CASES.jsonl`: one case a line in, one answer a line out, in order."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.cli.faults import BAD_INPUT, FINE, InputFault
from rigplanner.cli.hardware import place_of
from rigplanner.rig.task import Case
from rigplanner.workload.answer import MemoryEstimate, WorkloadFault
from rigplanner.workload.cases import BadCase, read_cases
from rigplanner.workload.memory import estimate_memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cases", help="file of cases, one JSON object a line; - reads standard input")
    parser.add_argument("--steps", action="store_true", help="add the steps of each calculation")


def run(args: argparse.Namespace) -> int:
    """Answer every line; one that cannot be answered says why and stops nothing. Exit 2 when a line is no case at all."""
    zoo = shipped_zoo()
    code, encode = FINE, msgspec.json.Encoder().encode
    for case in read_cases(lines_of(args.cases)):
        code = BAD_INPUT if isinstance(case, BadCase) else code
        sys.stdout.write(encode(answer(case, zoo, args.steps)).decode() + "\n")
    return code


def lines_of(name: str) -> Iterator[bytes]:
    """Yield the lines of a file, or of standard input for "-"; raise InputFault when it cannot be read."""
    if name == "-":
        yield from sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as lines:
            yield from lines
    except OSError as fault:
        raise InputFault(f"{name}: cannot be read ({fault.strerror}).") from fault


def answer(case: Case | BadCase, zoo: Zoo, steps: bool) -> dict[str, Any]:
    """The answer of one case, with `error` where there is none."""
    if isinstance(case, BadCase):
        return {"id": case.id, "error": case.error}
    try:
        place = place_of(case.hardware)
        return {"id": case.id, **_shown(estimate_memory(case.workload, place.gpu, place.count, zoo), steps)}
    except WorkloadFault as fault:
        return {"id": case.id, "error": str(fault)}


def _shown(estimate: MemoryEstimate, steps: bool) -> dict[str, Any]:
    parts = {field.removesuffix("_gib"): round(getattr(estimate.parts, field), 6) for field in estimate.parts.__struct_fields__}
    figures = ("tensors_gib", "allocated_gib", "reserved_gib", "device_gib", "low_gib", "high_gib", "host_gib")
    shown: dict[str, Any] = {"parts_gib": parts, **{field: round(getattr(estimate, field), 6) for field in figures}}
    shown |= {"stack": estimate.stack, "assumed": estimate.assumed}
    return shown | {"steps": msgspec.to_builtins(estimate.steps)} if steps else shown
