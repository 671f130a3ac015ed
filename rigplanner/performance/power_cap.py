"""What a power limit below the maker's costs in speed."""

from rigplanner.catalog.parts import GPU
from rigplanner.evidence import Estimate, Step
from rigplanner.workload.answer import WorkloadFault

COMPUTE_LOSS = 1.35
"""Share of speed that matrix work loses, times the square of the share of power taken away. From an RTX 3090 (350 W): 280 W kept
95 % in training (Puget Systems 2020); TF32 training kept 80 %, 90 % and 95 % of its best at 230, 280 and 320 W (qwertyforce)."""
BANDWIDTH_LOSS = 0.25
"""The same for work that waits for memory: an RTX 3090 at 280 W lost less than 1 % of decoding speed (J. F. Brito 2025)."""
KNEE = 0.55
"""Share of the maker's limit below which speed falls with power itself: under about 200 of 350 W "everything collapses" (Brito)."""
SOURCE = (
    "pugetsystems.com/labs/hpc/quad-rtx3090 (2020); blog.qwertyforce.dev/posts/optimal_power_limit; jeanfbrito.github.io (2025)"
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
    loss = BANDWIDTH_LOSS + (COMPUTE_LOSS - BANDWIDTH_LOSS) * compute_share
    kept = _kept(part, loss)
    step = Step("speed kept", "1 - loss x (1 - cap / limit) ** 2, in proportion below the knee",
                {"cap_w": cap_w, "limit_w": gpu.tdp_w, "loss": loss, "knee": KNEE}, kept, "share", SOURCE)  # fmt: skip
    return Estimate(kept, _kept(part, 1.6 * loss), min(1.0, _kept(part, 0.6 * loss)), "share", (step,))


def _kept(part: float, loss: float) -> float:
    above = max(part, KNEE)
    kept = max(0.0, 1 - loss * (1 - above) ** 2)
    return kept * (part / KNEE) if part < KNEE else kept
