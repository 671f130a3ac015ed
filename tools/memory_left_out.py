"""Error of the memory constants by source of measurement: as shipped, and with the source held out.

    python tools/memory_left_out.py cases.jsonl --brackets fit.jsonl

Held out: slack and fixed workspace of the source's stack are fitted anew on the stack's other sources; where there are none,
the constants of plain PyTorch stand in, so the row says what a stack costs that nobody measured. The layers' physics and the
table of layer classes stay as they are. With brackets (a batch that fits a card, one that fails) the constants of the layer
classes are fitted on one half of the networks and judged on the other.
"""

import argparse
import itertools
import json
import random
import re
import statistics
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
from rigplanner.workload.stacks import MemoryStack, memory_stack

SLACKS = (0.0, 0.03, 0.06, 0.1, 0.15, 0.2)
FIXED_GIB = (0.1, 0.4, 0.8, 1.5)
NAMELESS = "pytorch"
STACK_READER = "memory_stack"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--brackets", type=Path)
    parser.add_argument("--card-gib", type=float, default=23.7)
    asked = parser.parse_args()
    groups: dict[str, dict[str, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    for line in asked.cases.read_bytes().splitlines():
        case = json.loads(line)
        if case.get("part", "total") == "total" and case.get("value_gib"):
            groups[memory_stack(case["workload"]["stack"]).slug]["/".join(case["source"].split("/")[:2])].append(line)
    print(f"{'':53}{'shipped: median, bias, inside':31}{'held out: the same':32}held out means")
    shipped, held = [], []
    for stack, sources in groups.items():
        for source, lines in sources.items():
            own = predicted(lines, memory_stack(stack))
            others = [line for other, found in sources.items() if other != source for line in found]
            constants = fitted(others, memory_stack(stack)) if others else plain(memory_stack(stack))
            without = predicted(lines, constants)
            basis = (
                f"fitted to {len(others)} cases of other sources" if others else "plain PyTorch; shipped is fitted to this source"
            )
            print(f"{stack:13} {source:32} {len(lines):5}  {words(own):30} {words(without):31} {basis}")
            shipped += own
            held += without
    print(f"{'all':46} {len(shipped):5}  {words(shipped):30} {words(held):31}")
    if asked.brackets:
        brackets = [Bracket.read(line) for line in asked.brackets.read_bytes().splitlines()]
        right = sum(bracket.holds(asked.card_gib) for bracket in brackets)
        print(f"brackets: {right} of {len(brackets)} as shipped, {halves(brackets, asked.card_gib)} by halves")


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

    @property
    def layer_class(self) -> int:
        """Number of the layer class in the table."""
        return next(
            at for at, (_, pattern, _) in enumerate(figures.CLASSES) if re.search(pattern, f"{base_name(self.model)} {self.model}")
        )


KEPT = tuple(1 + 0.05 * step for step in range(100))


def halves(brackets: list[Bracket], card_gib: float) -> int:
    """How many brackets hold with each class fitted on the other half of its networks; a class without one gets the plain one's."""
    names = sorted({base_name(bracket.model) for bracket in brackets})
    random.Random(1).shuffle(names)
    half = {name: at % 2 for at, name in enumerate(names)}
    groups: dict[tuple[int, int], list[Bracket]] = defaultdict(list)
    for bracket in brackets:
        groups[bracket.layer_class, half[base_name(bracket.model)]].append(bracket)
    shipped, right = figures.CLASSES, 0
    for (at, side), judged in groups.items():
        scores = []
        for kept in KEPT:
            figures.CLASSES = (*shipped[:at], (*shipped[at][:2], kept), *shipped[at + 1 :])
            scores.append(sum(bracket.holds(card_gib) for bracket in groups.get((at, 1 - side), [])))
        best = [kept for kept, score in zip(KEPT, scores, strict=True) if score == max(scores)]
        kept = best[len(best) // 2] if max(scores) else shipped[-1][2]
        figures.CLASSES = (*shipped[:at], (*shipped[at][:2], kept), *shipped[at + 1 :])
        right += sum(bracket.holds(card_gib) for bracket in judged)
        figures.CLASSES = shipped
    return right


def predicted(lines: list[bytes], constants: MemoryStack) -> list[Comparison]:
    """The comparisons of the lines with these constants in place of those of their stack."""
    shipped = getattr(memory, STACK_READER)
    setattr(memory, STACK_READER, lambda _: constants)
    try:
        return compare(lines, card, ZOO)
    finally:
        setattr(memory, STACK_READER, shipped)


def fitted(lines: list[bytes], stack: MemoryStack) -> MemoryStack:
    """The stack with the slack and workspace that have the least median error over the lines."""
    trials = [
        msgspec.structs.replace(stack, slack=slack, fixed_gib=fixed, train_fixed_gib=None, train_static_slack=None)
        for slack, fixed in itertools.product(SLACKS, FIXED_GIB)
    ]
    return min(trials, key=lambda trial: statistics.median(abs(case.error or 0.0) for case in predicted(lines, trial)))


def plain(stack: MemoryStack) -> MemoryStack:
    """Plain PyTorch's constants under the stack's name, with what its documentation says: loss, cache, checkpointing."""
    told = {name: getattr(stack, name) for name in TOLD}
    return msgspec.structs.replace(memory_stack(NAMELESS), slug=stack.slug, **told)


TOLD = (
    "loss", "prompt_logits", "fused_act", "gathers_all", "unties_head", "kv_growth", "unknown_checkpointing", "adapters",
    "text_tokens", "fused_optimizer", "reduces_fp32", "raises_rest",
)  # fmt: skip


def words(cases: list[Comparison]) -> str:
    """Median error, bias and the share inside the interval, in per cent."""
    row = error_table(cases, ())[0]
    if row.median is None or row.bias is None or row.inside is None:
        return "-"
    return f"{100 * row.median:5.1f} % {100 * row.bias:+6.1f} % {100 * row.inside:4.0f} %"


def card(name: str) -> GPU | None:
    """The card that the words name, if it is known."""
    try:
        return find_gpu(name)
    except WorkloadFault:
        return None


ZOO = shipped_zoo()

if __name__ == "__main__":
    main()
