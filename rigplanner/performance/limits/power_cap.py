"""What a power limit below what a card draws costs in speed."""

import itertools
import math

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Estimate, Step

Curve = tuple[tuple[float, float], ...]

COMPUTE: Curve = (
    (0.0, 0.0),
    (0.286, 0.14),
    (0.429, 0.26),
    (0.571, 0.60),
    (0.657, 0.79),
    (0.714, 0.855),
    (0.80, 0.92),
    (0.857, 0.945),
    (0.914, 0.96),
    (1.0, 1.0),
)
"""Share of the maker's limit -> share of speed that matrix work keeps, measured on RTX 3090 (350
W): prompts on six cards at 100 to 350 W (llmgarage.ai 2026), TF32 training at 230, 280, 320 W
(qwertyforce), FP16 training at 280 W (Puget Systems 2020)."""
BANDWIDTH: Curve = (
    (0.0, 0.0),
    (0.286, 0.17),
    (0.357, 0.25),
    (0.429, 0.60),
    (0.5, 0.74),
    (0.571, 0.87),
    (0.643, 0.915),
    (0.714, 0.945),
    (0.80, 0.96),
    (0.857, 0.975),
    (1.0, 1.0),
)
"""The same for work that waits for memory: decoding on RTX 3090 at 100 to 350 W (the mean of
llmgarage.ai 2026 and jankyai.droidgram.com; above 0.6 also of RTX 3090, 4090 and 5090 in
club-3090). An RTX 5060 Ti at 150 of 180 W kept 99 %."""
DRAWN = {("Ada", "GDDR6X"): (0.87, 0.87), ("Blackwell", "GDDR7"): (1.0, 0.94)}
"""Share of the maker's limit that a generation draws with no cap: (matrix work, work that waits for
memory); 1 where none is known. RTX 4090: 390 and 393 of 450 W while decoding; RTX 5090: 537 to 547
of 575 W while decoding, its whole limit on prompts."""
MEASURED = {
    ("Ampere", "GDDR6"),
    ("Ampere", "GDDR6X"),
    ("Ada", "GDDR6X"),
    ("Blackwell", "GDDR7"),
    ("Volta", "HBM2"),
}
"""Generations whose published points lie within SURE of the curves, taken over what each draws. RTX
4090 decoding at 260 W kept 92 to 93 %, at 300 W 93 to 97 %; games held 90 % of the clock at 268 W
and 96 % at 315 W; RTX 5090 at 400 W kept 84 % of prompts and 95 % of decoding; Tesla V100 drew
pictures at 88 % with 175 of 250 W and at 93 % with 200."""
SURE, UNSURE = (0.5, 1.6), (0.4, 1.8)
"""Range of the loss over the curve's own: on generations that were measured, and on others."""
SOURCE = (
    "llmgarage.ai/power-limit-tokens-per-second-benchmark (2026); jankyai.droidgram.com;"
    " blog.qwertyforce.dev/posts/optimal_power_limit; pugetsystems.com/labs/hpc/quad-rtx3090"
    " (2020); inventivehq.com/blog/gpu-power-limit-tokens-per-watt; github.com/noonghunna/club-3090"
    " (docs/HARDWARE.md); github.com/sudoingX/qwen38-mtp/pull/47;"
    " github.com/bradrlaw/ai-server/pull/32; thorstenmeyerai.com; hardwaretimes.com, read"
    " 2026-11-21"
)


def speed_at_cap(gpu: GPU, cap_w: float, compute_share: float = 1.0) -> Estimate:
    """Return the share of full speed (0 to 1) that a GPU keeps at `cap_w` watts, `compute_share` of
    its time being matrix work.

    Raises WorkloadFault where the limit lies outside what the driver takes. A limit at or above the
    maker's keeps all."""
    if gpu.power_min_w and cap_w < gpu.power_min_w:
        raise WorkloadFault(
            f"power limit: {gpu.name} takes at least {gpu.power_min_w:g} W, found {cap_w:g}."
        )
    if gpu.power_max_w and cap_w > gpu.power_max_w:
        raise WorkloadFault(
            f"power limit: {gpu.name} takes at most {gpu.power_max_w:g} W, found {cap_w:g}."
        )
    if cap_w <= 0:
        raise WorkloadFault(f"power limit: expected watts above 0, found {cap_w:g}.")
    if not gpu.tdp_w:
        raise WorkloadFault(f"power limit: the catalog lacks the power of {gpu.name}.")
    kind = (gpu.architecture or "", gpu.memory_type or "")
    matrix_w, memory_w = (share * gpu.tdp_w for share in DRAWN.get(kind, (1.0, 1.0)))
    compute, bandwidth = (
        at(COMPUTE, min(1.0, cap_w / matrix_w)),
        at(BANDWIDTH, min(1.0, cap_w / memory_w)),
    )
    kept = 1 / (compute_share / compute + (1 - compute_share) / bandwidth)
    least, most = SURE if kind in MEASURED else UNSURE
    step = Step(
        "speed kept",
        "1 / (share of matrix work / its curve + rest / curve of memory work)",
        {
            "cap_w": cap_w,
            "limit_w": gpu.tdp_w,
            "drawn_w": matrix_w,
            "matrix work": compute,
            "memory work": bandwidth,
            "share": compute_share,
        },
        kept,
        "share",
        SOURCE,
    )
    loss = -math.log(kept)
    return Estimate(kept, math.exp(-most * loss), math.exp(-least * loss), "share", (step,))


def at(curve: Curve, part: float) -> float:
    """Return the value of a curve at `part`, linear between its points."""
    for (left, low), (right, high) in itertools.pairwise(curve):
        if part <= right:
            return low + (high - low) * (part - left) / (right - left)
    return curve[-1][1]
