"""Machines for hire that hold the same works, beside the best rig."""

from msgspec import Struct

from rigplanner.catalog.cloud import Cloud, newest
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import convert
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.economics.running import break_even_hours
from rigplanner.errors import WorkloadFault
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.answer import TIME_METRICS, SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.planning.best.question import Question
from rigplanner.planning.best.search import Candidate
from rigplanner.rules.assess import memory_of

MOST_HIRED = 3


class Rented(Struct, frozen=True, kw_only=True):
    """A machine for hire that holds the first work of a question, its price by the hour, and its
    speed."""

    name: str
    provider: str
    gpus: str
    price: Price
    speed: SpeedEstimate


def hired(question: Question, catalog: Catalog, cloud: Cloud) -> tuple[Rented, ...]:
    """Return the machines for hire that surely hold the first work, lowest price by the hour first;
    each provider's cheapest."""
    work = question.wants[0].workload
    found: dict[str, tuple[float, Rented]] = {}
    for machine in cloud.instances.values():
        gpu = catalog.get(machine.gpu) if machine.gpu else None
        price = newest(machine.on_demand)
        room = usable_gib(gpu) if isinstance(gpu, GPU) else None
        if not isinstance(gpu, GPU) or room is None or price is None or machine.status != "current":
            continue
        old = found.get(machine.provider)
        if old is not None and old[0] <= price.amount:
            continue
        memory = memory_of(work, gpu, machine.count)
        if isinstance(memory, str) or memory.high_gib > room:
            continue
        link = machine.link if machine.count > 1 else "none"
        try:
            speed = predict_speed(work, gpu, machine.count, 1, link, shipped_zoo())
        except WorkloadFault:
            continue
        if speed.value > 0:
            gpus = f"{machine.count} × {machine.gpu_name}"
            entry = Rented(
                name=machine.name, provider=machine.provider, gpus=gpus, price=price, speed=speed
            )
            found[machine.provider] = price.amount, entry
    ranked = sorted(found.values(), key=lambda pair: (pair[0], pair[1].name))
    return tuple(entry for _, entry in ranked[:MOST_HIRED])


def hours_for(hire: Rented, best: Candidate) -> float | None:
    """Return after how many hours of its own work a rig costs less than the machine for hire does
    for the same work, energy not counted; None where a rate is not known."""
    own = best.score.speeds[0]
    rent = convert(hire.price.amount, hire.price.currency, best.rig.currency, best.rig.exchange)
    if own.metric != hire.speed.metric or not rent:
        return None
    ratio = own.value / hire.speed.value
    if own.metric in TIME_METRICS:
        ratio = 1 / ratio
    return break_even_hours(best.price, rent, speed_ratio=ratio)
