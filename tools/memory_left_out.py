"""Error of the memory constants by source of measurement: as shipped, and with the source held out.

python -m tools.memory_left_out cases.jsonl

Held out: what lies beyond live tensors is fitted anew on the other sources, and constants that a
stack has from its own source are dropped (rigplanner.memory.measured.holdout). The constants fitted
to all sources are printed last, as catalog/architectures/ memory_stacks.json holds them, with the
measured cases that are said not to fit the card they ran on. With --bounds the status is 1 where
held-out rows all together lie outside of what must hold."""

import argparse
import json
from pathlib import Path

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory import estimate as memory
from rigplanner.memory.measured.accuracy import Comparison, compare, error_table
from rigplanner.memory.measured.holdout import fitted, held_out, intervals, kinds, measured
from rigplanner.workload.cases import BadCase, read_case

ZOO = shipped_zoo()
MOST_MEDIAN, MOST_P90, INSIDE = 0.08, 0.24, (0.75, 0.87)
"""What must hold of all rows with their source held out."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--bounds", action="store_true")
    asked = parser.parse_args()
    lines = [
        line for path in asked.cases for line in path.read_bytes().splitlines() if line.strip()
    ]
    shipped, held = compare(lines, card, ZOO), held_out(lines, card, ZOO)
    print(f"{'':39}shipped: median, p90, bias, inside   held out: the same")
    for field in ("source", "task", "kind"):
        for name in sorted({getattr(case, field) for case in shipped}):
            sides = [
                [case for case in cases if getattr(case, field) == name]
                for cases in (shipped, held)
            ]
            print(f"{name:32} {len(sides[0]):5}  {words(sides[0]):36} {words(sides[1])}")
    print(f"{'all':32} {len(shipped):5}  {words(shipped):36} {words(held)}")
    ran, refused = refusals(lines)
    print(
        "measured cases said not to fit, with their whole interval, the card they ran on:"
        f" {refused} of {ran}"
    )
    cases = [case for case in (measured(line, card, ZOO) for line in lines) if case is not None]
    spares = fitted(cases)
    print("fitted to all:", spares)
    print(
        "intervals:",
        {
            name: (round(low, 2), round(high, 2))
            for name, (low, high) in intervals(cases, spares).items()
        },
    )
    print("sources by kind:", kinds((case.source, case.kind) for case in cases))
    if asked.bounds and not holds(held):
        raise SystemExit(
            f"outside of median {MOST_MEDIAN:.0%}, p90 {MOST_P90:.0%}, inside {INSIDE[0]:.0%} to"
            f" {INSIDE[1]:.0%}"
        )


def holds(cases: list[Comparison]) -> bool:
    """Whether all rows together keep what must hold."""
    row = error_table(cases, ())[0]
    if row.median is None or row.p90 is None or row.inside is None:
        return False
    return (
        row.median <= MOST_MEDIAN and row.p90 <= MOST_P90 and INSIDE[0] <= row.inside <= INSIDE[1]
    )


def refusals(lines: list[bytes]) -> tuple[int, int]:
    """How many measured cases name a card of known memory, and how many of them are said not to fit
    it."""
    ran = refused = 0
    for line in lines:
        case = read_case(line)
        if (
            isinstance(case, BadCase)
            or not case.hardware.gpu
            or json.loads(line).get("part", "total") != "total"
        ):
            continue
        gpu = card(case.hardware.gpu)
        if gpu is None or not gpu.memory_gib:
            continue
        try:
            told = memory.estimate_memory(case.workload, gpu, case.hardware.count or 1, ZOO)
        except WorkloadFault:
            continue
        ran += 1
        refused += told.low_gib > gpu.memory_gib
    return ran, refused


def words(cases: list[Comparison]) -> str:
    """Median error, 90th percentile, bias and the share inside the interval, in per cent."""
    row = error_table(cases, ())[0]
    if row.median is None or row.p90 is None or row.bias is None or row.inside is None:
        return "-"
    return (
        f"{100 * row.median:5.1f} % {100 * row.p90:5.1f} % {100 * row.bias:+6.1f} %"
        f" {100 * row.inside:4.0f} %"
    )


def card(name: str) -> GPU | None:
    """The card that the words name, if it is known."""
    try:
        return find_gpu(name)
    except WorkloadFault:
        return None


if __name__ == "__main__":
    main()
