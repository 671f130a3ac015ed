"""Error of the memory constants by source of measurement: as shipped, and with the source held out.

    python tools/memory_left_out.py cases.jsonl --brackets fit.jsonl

Held out: what lies beyond live tensors is fitted anew on the other sources, and constants that a stack has from its own source are
dropped (rigplanner.workload.left_out). The constants fitted to all sources are printed last, as catalog/architectures/
memory_stacks.json holds them. With brackets (a batch that fits a card, one that fails) estimates that lie between are counted, as
are those that fit a card on which the batch failed, those that do not fit one on which it ran, and measured cases that are said not
to fit the card they ran on. With --bounds the status is 1 where held-out rows all together lie outside of what must hold.
"""

import argparse
import json
from pathlib import Path

import msgspec

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.anchors import find_gpu
from rigplanner.rig.task import Workload
from rigplanner.workload import memory
from rigplanner.workload.accuracy import Comparison, compare, error_table
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.cases import BadCase, read_case
from rigplanner.workload.left_out import fitted, held_out, intervals, kinds, measured

ZOO = shipped_zoo()
MOST_MEDIAN, MOST_P90, INSIDE = 0.08, 0.24, (0.75, 0.87)
"""What must hold of all rows with their source held out."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--brackets", type=Path)
    parser.add_argument("--card-gib", type=float, default=23.7)
    parser.add_argument("--bounds", action="store_true")
    asked = parser.parse_args()
    lines = [line for path in asked.cases for line in path.read_bytes().splitlines() if line.strip()]
    shipped, held = compare(lines, card, ZOO), held_out(lines, card, ZOO)
    print(f"{'':39}shipped: median, p90, bias, inside   held out: the same")
    for field in ("source", "task", "kind"):
        for name in sorted({getattr(case, field) for case in shipped}):
            sides = [[case for case in cases if getattr(case, field) == name] for cases in (shipped, held)]
            print(f"{name:32} {len(sides[0]):5}  {words(sides[0]):36} {words(sides[1])}")
    print(f"{'all':32} {len(shipped):5}  {words(shipped):36} {words(held)}")
    ran, refused = refusals(lines)
    print(f"measured cases said not to fit, with their whole interval, the card they ran on: {refused} of {ran}")
    cases = [case for case in (measured(line, card, ZOO) for line in lines) if case is not None]
    spares = fitted(cases)
    print("fitted to all:", spares)
    print("intervals:", {name: (round(low, 2), round(high, 2)) for name, (low, high) in intervals(cases, spares).items()})
    print("sources by kind:", kinds((case.source, case.kind) for case in cases))
    if asked.brackets:
        brackets = [Bracket.read(line) for line in asked.brackets.read_bytes().splitlines()]
        right = sum(bracket.holds(asked.card_gib) for bracket in brackets)
        failed = [bracket for bracket in brackets if bracket.high is not None]
        wrong = sum(bracket.overflows(asked.card_gib) for bracket in failed)
        print(f"brackets: {right} of {len(brackets)}")
        print(f"said to fit with its whole interval though the batch failed: {wrong} of {len(failed)}")
        refused = sum(bracket.refuses(asked.card_gib) for bracket in brackets)
        print(f"said not to fit with its whole interval though the batch ran: {refused} of {len(brackets)}")
    if asked.bounds and not holds(held):
        raise SystemExit(f"outside of median {MOST_MEDIAN:.0%}, p90 {MOST_P90:.0%}, inside {INSIDE[0]:.0%} to {INSIDE[1]:.0%}")


def holds(cases: list[Comparison]) -> bool:
    """Whether all rows together keep what must hold."""
    row = error_table(cases, ())[0]
    if row.median is None or row.p90 is None or row.inside is None:
        return False
    return row.median <= MOST_MEDIAN and row.p90 <= MOST_P90 and INSIDE[0] <= row.inside <= INSIDE[1]


def refusals(lines: list[bytes]) -> tuple[int, int]:
    """How many measured cases name a card of known memory, and how many of them are said not to fit it."""
    ran = refused = 0
    for line in lines:
        case = read_case(line)
        if isinstance(case, BadCase) or not case.hardware.gpu or json.loads(line).get("part", "total") != "total":
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


class Bracket(msgspec.Struct):
    """One network's largest batch: `low` fits, `high` (None where none was tried) does not."""

    model: str
    low: Workload
    high: Workload | None

    @classmethod
    def read(cls, line: bytes) -> "Bracket":
        """The bracket of one line of the file."""
        raw = json.loads(line)
        known = {
            name: raw[name] for name in ("model", "task", "precision", "optimizer", "image_size", "stack", "params_m", "gmacs")
        }
        known["activations_m"] = raw["macts_m"]
        given = {name: value for name, value in known.items() if value is not None}
        low, high = (
            msgspec.convert(given | {"batch_per_gpu": raw[side]}, Workload) if raw[side] else None
            for side in ("fits_batch", "fails_batch")
        )
        assert low is not None
        return cls(raw["model"], low, high)

    def holds(self, card_gib: float) -> bool:
        """Whether the estimates of the two batches lie on their sides of the card's memory."""
        fits = memory.estimate_memory(self.low, None, 1, ZOO).device_gib <= card_gib
        return fits and (self.high is None or memory.estimate_memory(self.high, None, 1, ZOO).device_gib > card_gib)

    def overflows(self, card_gib: float) -> bool:
        """Whether the batch that failed is said to fit, with the upper end of its interval."""
        return self.high is not None and memory.estimate_memory(self.high, None, 1, ZOO).high_gib <= card_gib

    def refuses(self, card_gib: float) -> bool:
        """Whether the batch that ran is said not to fit, with the lower end of its interval."""
        return memory.estimate_memory(self.low, None, 1, ZOO).low_gib > card_gib


def words(cases: list[Comparison]) -> str:
    """Median error, 90th percentile, bias and the share inside the interval, in per cent."""
    row = error_table(cases, ())[0]
    if row.median is None or row.p90 is None or row.bias is None or row.inside is None:
        return "-"
    return f"{100 * row.median:5.1f} % {100 * row.p90:5.1f} % {100 * row.bias:+6.1f} % {100 * row.inside:4.0f} %"


def card(name: str) -> GPU | None:
    """The card that the words name, if it is known."""
    try:
        return find_gpu(name)
    except WorkloadFault:
        return None


if __name__ == "__main__":
    main()
