"""Error of the memory constants by source of measurement: as shipped, and with the source held out.

    python tools/memory_left_out.py cases.jsonl --brackets fit.jsonl

Held out: what lies beyond live tensors is fitted anew on the other sources, and constants that a stack has from its own source are
dropped (rigplanner.workload.left_out). The constants fitted to all sources are printed last, as catalog/architectures/
memory_stacks.json holds them. With brackets (a batch that fits a card, one that fails) the constants of the layer classes are
fitted on one half of the networks and judged on the other; estimates that fit a card on which the batch failed, and that do not fit
one on which it ran, are counted; so are measured cases that are said not to fit the card they ran on.
"""

import argparse
import json
import random
import re
from collections import defaultdict
from pathlib import Path

import msgspec

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import base_name, shipped_zoo
from rigplanner.performance.anchors import find_gpu
from rigplanner.rig.task import Workload
from rigplanner.workload import figures, memory
from rigplanner.workload.accuracy import Comparison, compare, error_table
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.cases import BadCase, read_case
from rigplanner.workload.left_out import fitted, held_out, intervals, measured

ZOO = shipped_zoo()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--brackets", type=Path)
    parser.add_argument("--card-gib", type=float, default=23.7)
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
    if asked.brackets:
        brackets = [Bracket.read(line) for line in asked.brackets.read_bytes().splitlines()]
        right = sum(bracket.holds(asked.card_gib) for bracket in brackets)
        failed = [bracket for bracket in brackets if bracket.high is not None]
        wrong = sum(bracket.overflows(asked.card_gib) for bracket in failed)
        right_held, wrong_held = halves(brackets, asked.card_gib)
        print(f"brackets: {right} of {len(brackets)} as shipped, {right_held} by halves")
        print(f"said to fit with its whole interval though the batch failed: {wrong} of {len(failed)}, {wrong_held} by halves")
        refused = sum(bracket.refuses(asked.card_gib) for bracket in brackets)
        print(f"said not to fit with its whole interval though the batch ran: {refused} of {len(brackets)}")


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

    @property
    def layer_class(self) -> int:
        """Number of the layer class in the table."""
        return next(
            at for at, (_, pattern, _) in enumerate(figures.CLASSES) if re.search(pattern, f"{base_name(self.model)} {self.model}")
        )


KEPT = tuple(1 + 0.05 * step for step in range(140))


COUNTED = (
    (r"smooth|hard-swish|^depthwise$", 3.0), (r"gated$", 8.0), (r"step by step", 6.0), (r"group norm", 5.0),
    (r"^stacked$", 1.0), (r"^fused blocks$", 3 / 2),
    (r"^channel norm$", 9 / 4), (r"^attention$", 19 / 9), (r"", 2.0),
)  # fmt: skip
"""Tensors kept per value as the layers tell: the output for the norm and the result of the activation in place; the input of a
smooth activation besides; float copies where a norm is not fused (an EvoNorm its input, the sigmoid, their product, the
deviation of each value, a float copy, the quotient and the output: 8; a filter response norm 6, timm/layers/evo_norm.py and
filter_response_norm.py); the result alone where there is no norm, or one result for two outputs that are added. A ConvNeXt
block of width C writes 6 C and keeps 8 C of its activation, 2 C of the norm's float input, and C of each product's input and of
the last output, and the norms before its reductions keep 3 of each value besides (101 of 45 in the smallest); a transformer
block writes 9 C and keeps 19 C likewise."""


def counted(name: str) -> float:
    """The count of a class, nearest to which a constant is taken among those that hold equally many brackets."""
    return next(count for pattern, count in COUNTED if re.search(pattern, name))


def halves(brackets: list[Bracket], card_gib: float) -> tuple[int, int]:
    """How many brackets hold, and in how many the batch that failed is said to fit with its whole interval, with each class fitted
    on the other half of its networks; a class without one gets what is counted."""
    names = sorted({base_name(bracket.model) for bracket in brackets})
    random.Random(1).shuffle(names)
    half = {name: at % 2 for at, name in enumerate(names)}
    groups: dict[tuple[int, int], list[Bracket]] = defaultdict(list)
    for bracket in brackets:
        groups[bracket.layer_class, half[base_name(bracket.model)]].append(bracket)
    shipped, right, wrong = figures.CLASSES, 0, 0
    for (at, side), judged in groups.items():
        scores = []
        for kept in KEPT:
            take((*shipped[:at], (*shipped[at][:2], kept), *shipped[at + 1 :]))
            scores.append(sum(bracket.holds(card_gib) for bracket in groups.get((at, 1 - side), [])))
        best = [kept for kept, score in zip(KEPT, scores, strict=True) if score == max(scores)]
        kept = min(best, key=lambda kept: abs(kept - counted(shipped[at][0])))
        take((*shipped[:at], (*shipped[at][:2], kept), *shipped[at + 1 :]))
        right += sum(bracket.holds(card_gib) for bracket in judged)
        wrong += sum(bracket.overflows(card_gib) for bracket in judged)
        take(shipped)
    return right, wrong


def take(classes: tuple[tuple[str, str, float], ...]) -> None:
    """Put other constants of the layer classes in place."""
    figures.CLASSES = classes
    figures.kept_per_value.cache_clear()


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
