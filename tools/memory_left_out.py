"""Error of the memory constants by source of measurement: as shipped, and with the source held out.

    python tools/memory_left_out.py cases.jsonl

Held out: slack and fixed workspace of the source's stack are fitted anew on the stack's other sources; where there are none,
the constants of plain PyTorch stand in, so the row says what a stack costs that nobody measured. The layers' physics and the
table of layer classes stay as they are.
"""

import argparse
import itertools
import json
import statistics
from collections import defaultdict
from pathlib import Path

import msgspec

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.anchors import find_gpu
from rigplanner.workload import memory
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
    groups: dict[str, dict[str, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    for line in parser.parse_args().cases.read_bytes().splitlines():
        case = json.loads(line)
        if case.get("part", "total") == "total" and case.get("value_gib"):
            groups[memory_stack(case["workload"]["stack"]).slug]["/".join(case["source"].split("/")[:2])].append(line)
    print(print(f"{'':53}{'shipped: median, bias, inside':31}{'held out: the same':32}held out means"))
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
    "text_tokens",
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
