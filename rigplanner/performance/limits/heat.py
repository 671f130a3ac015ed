"""What cards that stand side by side lose to heat, whatever their power limit."""

import itertools

from rigplanner.evidence import Estimate, Step
from rigplanner.machine.model import GpuNode, Machine

CLOSE = {"open": (0.80, 0.38, 1.0), "blower": (0.93, 0.66, 1.0)}
"""Share of speed (and its range) that a card keeps whose fans face the next card without a free
slot between. Measured on four cards side by side in ResNet-152 training: an open TITAN RTX kept 38
%, an open RTX 2080 Ti 92 %, blower RTX 2080 Ti 66 to 98 % of what they did where the fans were
free."""
SOURCE = "l7.curtisnorthcutt.com/gpu-positioning (2019)"
USUAL_THICKNESS = 2.0
"""Slots of a card whose thickness is not known."""


def speed_in_heat(machine: Machine) -> Estimate | None:
    """Return the share of full speed (0 to 1) that the hottest card of a machine keeps over long
    runs; None where no card stands close before another or nothing tells. GPUs that work together
    run at the pace of the slowest."""
    places = {use.slot.id: use.slot.position for use in machine.slots if use.riser is None}
    standing = sorted(
        (
            (place, node)
            for node in machine.gpus
            if node.place and (place := places.get(node.place)) is not None
        ),
        key=_place,
    )
    kept = [
        CLOSE[node.gpu.cooling]
        for (place, node), (next_place, _) in itertools.pairwise(standing)
        if node.gpu.cooling in CLOSE and next_place - place <= (node.gpu.slots or USUAL_THICKNESS)
    ]
    if not kept:
        return None
    value, low, high = min(kept)
    step = Step(
        "heat",
        "share that a card keeps whose fans face the next card",
        {"cards": float(len(kept))},
        value,
        "share",
        SOURCE,
    )
    return Estimate(value, low, high, "share", (step,))


def _place(pair: tuple[int, GpuNode]) -> int:
    return pair[0]
