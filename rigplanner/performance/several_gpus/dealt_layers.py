"""Language models whose layers lie on GPUs that differ: each card works on its own in turn."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.evidence import Step
from rigplanner.memory.capacity.mixed_gpus import card_plan, deals_layers
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.rig.workload import Workload


def of_dealt_layers(
    workload: Workload, gpus: Sequence[GPU], predict: Callable[[GPU, int], SpeedEstimate]
) -> SpeedEstimate | None:
    """Return the tokens/s of a model whose stack deals out whole layers to GPUs that differ: a
    token passes the layers of one card after the other, so that the seconds of each card's share
    add up. None for other stacks and metrics. `predict` tells the speed on so many equal GPUs.
    Raises WorkloadFault for a job that cannot be."""
    told = {gpu.id: predict(gpu, len(gpus)) for gpu in gpus}
    first = told[gpus[0].id]
    if first.metric != "tokens/s" or not deals_layers(workload, first.stack):
        return None
    shares = _shares(workload, gpus)
    if not (whole := sum(shares.values())) or min(one.low for one in told.values()) <= 0:
        return None

    def in_turn(field: str) -> float:
        times = (share / float(getattr(told[gpu], field)) for gpu, share in shares.items())
        return whole / sum(times)

    def added(field: str) -> float | None:
        times = [(getattr(told[gpu], field), share) for gpu, share in shares.items()]
        known = all(time is not None for time, _ in times)
        return sum(time * share for time, share in times) / whole if known else None

    value = in_turn("value")
    slowest = min(told.values(), key=lambda one: one.value)
    known: dict[str, float | str | None] = {f"tokens/s, {gpu}": told[gpu].value for gpu in told}
    known |= {f"share, {gpu}": round(share / whole, 4) for gpu, share in shares.items()}
    step = Step(
        "layers in turn",
        "1 / sum of (share of the layers / tokens/s of a card)",
        known,
        value,
        "tokens/s",
        "",
    )
    return replace(
        slowest,
        value=value,
        low=in_turn("low"),
        high=in_turn("high"),
        first_token_ms=added("first_token_ms"),
        next_token_ms=added("next_token_ms"),
        hours=None,
        energy_kwh=None,
        mfu=None,
        scaling_efficiency=None,
        steps=(*slowest.steps, step),
    )


def _shares(workload: Workload, gpus: Sequence[GPU]) -> dict[str, float]:
    """The share of the layers that lies on all cards of each kind."""
    shares = dict.fromkeys((gpu.id for gpu in gpus), 0.0)
    for gpu, card in zip(gpus, card_plan(workload, gpus, shipped_zoo()).cards, strict=True):
        shares[gpu.id] += card.share
    return shares
