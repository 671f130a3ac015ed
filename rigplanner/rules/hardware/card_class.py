"""Which class of card: those for work where a card for games does the same, and the reverse."""

from collections.abc import Callable, Iterator

from rigplanner.catalog.schema.parts import GPU
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.fixes import item_of
from rigplanner.rules.core.registry import rule
from rigplanner.workload.without_network import DOUBLE

FULL_FP64 = 8
"""Below an eighth of FP32 a card's FP64 is a token, and eight times as much is worth a change."""
MORE_IN_A_CARD = ("ecc", "gds", "gpudirect-storage", "nvlink", "p2p", "rdma")
"""Flags of jobs that ask for what cards for work have more of."""


class Chosen(Named, frozen=True):
    """A card for workstations or servers, and the jobs of the rig."""

    card: GPU


def work_cards(context: Context) -> Iterator[Chosen]:
    """NVIDIA's cards of no line for games that the owner put into slots, one of each model, in rigs
    with jobs of which none asks for what such cards have more of."""
    asked = {flag.partition(":")[0] for job in context.jobs for flag in job.workload.flags}
    fp64 = any((job.workload.precision or "").casefold() in DOUBLE for job in context.jobs)
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
    times = round(best / rate, 1)
    prices = _launch_usd(case.card), _launch_usd(other)
    if prices[0] and prices[1] and prices[1] < prices[0]:
        yield for_games.finding(
            case,
            variant="priced",
            part=other.id,
            times=times,
            less=round(prices[0] / rate / (prices[1] / best), 1),
        )
    else:
        yield for_games.finding(case, part=other.id, times=times)


def _launch_usd(card: GPU) -> float | None:
    """What a card cost in US dollars when it came out; None where that is not known."""
    known = [p for p in card.prices if p.condition == "launch" and p.currency == "USD"]
    return min(known, key=lambda price: price.day).amount if known else None


class Wanting(Named, frozen=True):
    """A card for games, and the job that asks for what it lacks: "fp64" or "ecc"."""

    card: GPU
    job: str
    asks: str

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.job)


def game_cards(context: Context) -> Iterator[Wanting]:
    """Cards for games that the owner put into slots, one of each model, with the first job that
    asks for FP64 or for memory that checks itself."""
    asks: dict[str, str] = {}
    for job in context.jobs:
        flags = {flag.partition(":")[0] for flag in job.workload.flags}
        if (job.workload.precision or "").casefold() in DOUBLE:
            asks.setdefault("fp64", job.name)
        if "ecc" in flags:
            asks.setdefault("ecc", job.name)
    seen: set[str] = set()
    for each in context.that_work(context.own_cards):
        if each.card.plays and each.card.id not in seen:
            seen.add(each.card.id)
            yield from (Wanting(each.name, each.card, job, what) for what, job in asks.items())


@rule(
    "GPU004",
    "A job asks for what cards for games lack",
    "info",
    over=game_cards,
    reason=(
        "Cards for games do FP64 at a small fraction of FP32, and most have no memory that corrects"
        " its errors: where a job needs one of them, a card for work of the same day earns its"
        " price."
    ),
    source="FP64 rates and ECC of the catalog's cards, from their makers' data sheets",
)
def for_work(context: Context, case: Wanting) -> Iterator[Finding]:
    """Name the card for work of its day, or older, with at least its memory, that does most FP64
    for the least watts, or the nearest one with ECC."""
    card = case.card
    single, double = card.dense_tflops.fp32, card.dense_tflops.fp64
    if case.asks == "ecc":
        if card.ecc is False:
            other = _nearest_work(context, card, lambda each: bool(each.ecc))
            variant = "ecc" if other else "ecc-alone"
            yield for_work.finding(case, variant=variant, part=other.id if other else "")
        return
    if not single or not double or double * FULL_FP64 >= single:
        return
    other = _nearest_work(
        context, card, lambda each: (each.dense_tflops.fp64 or 0.0) >= FULL_FP64 * double
    )
    yield for_work.finding(
        case,
        part=other.id if other else "",
        share=round(single / double),
        times=round((other.dense_tflops.fp64 or 0.0) / double) if other else 0,
        variant="" if other else "alone",
    )


def _nearest_work(context: Context, card: GPU, suits: Callable[[GPU], bool]) -> GPU | None:
    """The card for work, in a slot and of no later than the year after the card's, that suits and
    has at least its memory: of those the nearest in FP32 rate."""
    if not card.released:
        return None
    until, rate = f"{int(card.released[:4]) + 1}", card.dense_tflops.fp32 or 0.0
    found = [
        other
        for other in context.catalog.of_kind("gpu")
        if isinstance(other, GPU)
        and not other.plays
        and other.form_factor == "pcie"
        and other.chip_maker == card.chip_maker
        and other.status != "reference"
        and other.released
        and other.released[:4] <= until
        and (other.memory_gib or 0.0) >= (card.memory_gib or 0.0)
        and suits(other)
    ]
    return min(
        found, key=lambda each: (abs((each.dense_tflops.fp32 or 0.0) - rate), each.id), default=None
    )


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
