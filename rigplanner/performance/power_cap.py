"""What a power limit below the maker's costs in speed, and what limit a hot rig sets by itself."""

import itertools
import math

from rigplanner.catalog.parts import GPU
from rigplanner.evidence import Estimate, Step
from rigplanner.workload.answer import WorkloadFault

Curve = tuple[tuple[float, float], ...]

COMPUTE: Curve = (
    (0.0, 0.0), (0.286, 0.14), (0.429, 0.26), (0.571, 0.60), (0.657, 0.79), (0.714, 0.855), (0.80, 0.92), (0.857, 0.945),
    (0.914, 0.96), (1.0, 1.0),
)  # fmt: skip
"""Share of the maker's limit -> share of speed that matrix work keeps, measured on RTX 3090 (350 W): prompts on six cards at 100 to
350 W (llmgarage.ai 2026), TF32 training at 230, 280, 320 W (qwertyforce), FP16 training at 280 W (Puget Systems 2020)."""
BANDWIDTH: Curve = (
    (0.0, 0.0), (0.286, 0.17), (0.357, 0.25), (0.429, 0.60), (0.5, 0.74), (0.571, 0.87), (0.643, 0.92), (0.714, 0.958),
    (0.80, 0.98), (0.857, 0.987), (1.0, 1.0),
)  # fmt: skip
"""The same for work that waits for memory: decoding on RTX 3090 at 100 to 350 W (llmgarage.ai 2026 and jankyai.droidgram.com, the
mean of both); an RTX 5060 Ti at 150 of 180 W kept 99 % (inventivehq.com)."""
SURE, UNSURE = (0.55, 1.45), (0.4, 1.8)
"""Range of the loss over the curve's own: on the generation that was measured (Ampere), and on others."""
SOURCE = (
    "llmgarage.ai/power-limit-tokens-per-second-benchmark (2026); jankyai.droidgram.com; "
    "blog.qwertyforce.dev/posts/optimal_power_limit; "
    "pugetsystems.com/labs/hpc/quad-rtx3090 (2020); inventivehq.com/blog/gpu-power-limit-tokens-per-watt"
)


def speed_at_cap(gpu: GPU, cap_w: float, compute_share: float = 1.0) -> Estimate:
    """Return the share of full speed (0 to 1) that a GPU keeps at `cap_w` watts, `compute_share` of its time being matrix work.

    Raises WorkloadFault where the limit lies outside what the driver takes. A limit at or above the maker's keeps all."""
    if gpu.power_min_w and cap_w < gpu.power_min_w:
        raise WorkloadFault(f"power limit: {gpu.name} takes at least {gpu.power_min_w:g} W, found {cap_w:g}.")
    if gpu.power_max_w and cap_w > gpu.power_max_w:
        raise WorkloadFault(f"power limit: {gpu.name} takes at most {gpu.power_max_w:g} W, found {cap_w:g}.")
    if cap_w <= 0:
        raise WorkloadFault(f"power limit: expected watts above 0, found {cap_w:g}.")
    if not gpu.tdp_w:
        raise WorkloadFault(f"power limit: the catalog lacks the power of {gpu.name}.")
    part = min(1.0, cap_w / gpu.tdp_w)
    compute, bandwidth = at(COMPUTE, part), at(BANDWIDTH, part)
    kept = 1 / (compute_share / compute + (1 - compute_share) / bandwidth)
    measured = (gpu.architecture or "").casefold().startswith("ampere")
    least, most = SURE if measured else UNSURE
    step = Step("speed kept", "1 / (share of matrix work / its curve + rest / curve of memory work)",
                {"cap_w": cap_w, "limit_w": gpu.tdp_w, "matrix work": compute, "memory work": bandwidth, "share": compute_share},
                kept, "share", SOURCE)  # fmt: skip
    loss = -math.log(kept)
    return Estimate(kept, math.exp(-most * loss), math.exp(-least * loss), "share", (step,))


def at(curve: Curve, part: float) -> float:
    """Return the value of a curve at `part`, linear between its points."""
    for (left, low), (right, high) in itertools.pairwise(curve):
        if part <= right:
            return low + (high - low) * (part - left) / (right - left)
    return curve[-1][1]
