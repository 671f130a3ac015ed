"""Cards for work where a card for games does the same."""

from collections.abc import Iterator

from rigplanner.catalog.schema.parts import GPU
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.fixes import item_of
from rigplanner.rules.core.registry import rule

MORE_IN_A_CARD = ("ecc", "gds", "gpudirect-storage", "nvlink", "p2p", "rdma")
"""Flags of jobs that ask for what cards for work have more of."""


class Chosen(Named, frozen=True):
    """A card for workstations or servers, and the jobs of the rig."""

    card: GPU


def work_cards(context: Context) -> Iterator[Chosen]:
    """NVIDIA's cards of no line for games that the owner put into slots, one of each model, in rigs
    with jobs of which none asks for what such cards have more of."""
    asked = {flag.partition(":")[0] for job in context.jobs for flag in job.workload.flags}
    fp64 = any(job.workload.precision == "fp64" for job in context.jobs)
    if not context.jobs or fp64 or asked & set(MORE_IN_A_CARD):
        return
    seen: set[str] = set()
    for each in context.that_work(context.own_cards):
        card = each.card
        if card.form_factor == "pcie" and card.chip_maker == "NVIDIA" and not card.plays:
            if card.id not in seen:
                yield Chosen(each.name, card)
            seen.add(card.id)


@rule(
    "GPU003",
    "A card for games does the same work",
    "info",
    over=work_cards,
    reason=(
        "Workstation and server cards cost more for ECC, certified drivers, FP64 on some, peer"
        " access, a cooler for dense boxes and the licence for data centres; training in FP32 and"
        " below needs none of them."
    ),
    source="Cards of the catalog by memory, bandwidth and FP32 rate; NVIDIA's GeForce licence",
)
def for_games(context: Context, case: Chosen) -> Iterator[Finding]:
    """Name the card for games of its day, or older, with at least its memory, bandwidth and rate:
    of those the nearest in rate."""
    rate, day = case.card.dense_tflops.fp32, case.card.released
    if not rate or not day or case.card.memory_gib is None:
        return
    found = [
        (other.dense_tflops.fp32 or 0.0, other)
        for other in context.catalog.of_kind("gpu")
        if isinstance(other, GPU) and _does_more(other, case.card, f"{int(day[:4]) + 1}")
    ]
    if not found or item_of(context, case.name) is None:
        return
    best, other = min(found, key=lambda pair: (pair[0], pair[1].id))
    yield for_games.finding(case, part=other.id, times=round(best / rate, 1))


def _does_more(other: GPU, card: GPU, until: str) -> bool:
    """Say whether a card for games of no later than the year `until` has at least as much of all
    that training wants."""
    if not other.plays or other.form_factor != "pcie" or other.chip_maker != card.chip_maker:
        return False
    if not other.released or other.released[:4] > until or other.status == "reference":
        return False
    return (
        (other.memory_gib or 0.0) >= (card.memory_gib or 0.0)
        and (other.bandwidth_gbs or 0.0) >= (card.bandwidth_gbs or 0.0)
        and (other.dense_tflops.fp32 or 0.0) >= (card.dense_tflops.fp32 or 0.0)
    )
