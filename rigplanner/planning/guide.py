"""From a few answers to a rig: cards that hold the job, the cheapest computer around them, judged
by the rules."""

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct, structs
from msgspec.structs import replace

from rigplanner.catalog.cloud import Cloud, newest, shipped_cloud
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.schema.parts import GPU, Price, System
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.economics.running import break_even_hours
from rigplanner.errors import WorkloadFault
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.answer import TIME_METRICS, SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.planning.aims import AIMS, Aim, Purpose, aim_of
from rigplanner.planning.host import Market, Need, with_host
from rigplanner.planning.limits import limits
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rules.assess import Assessment, Job, assess, memory_of

Runs = Literal["yes", "tight", "no", "unknown"]
"""yes: the whole memory interval fits; tight: only a part of it; no: it does not fit; unknown: it
could not be worked out."""

Cause = Literal["too-small", "too-dear", "not-todays", "no-host", "rule", "unknown", "place"]
"""Why cards were passed over."""

COUNTS = (1, 2, 4)
QUIET_COUNTS = (1, 2)
LEAST_HOST = 400.0
"""No computer around a card costs less in US dollars or euros; it only saves looking at cards that
eat the whole budget."""
MOST_RENTED = 3
WARNED_SHARE, WARNED_COST = 0.5, 1.25
"""How much less a rig with warnings counts in speed, and how much more in money: judgement."""
PACED = ("P2P001", "HST004")
"""Warnings that say nothing but how fast it will be."""
NEEDS: dict[Purpose, tuple[int, float, float]] = {
    "trying": (6, 16, 500),
    "little-money": (6, 32, 900),
    "kaggle": (6, 32, 1800),
    "vision": (8, 64, 1800),
    "language": (6, 32, 1800),
    "serve": (6, 32, 1800),
}
"""Least processor cores, memory in GiB and drive in GB by purpose: judgement, not measurement; the
rules check the result."""
CORES_PER_CARD = 4


class Answers(Struct, frozen=True, kw_only=True):
    """What the person said. `budget` in `currency`, None when open; `quiet`: it stands beside a
    person."""

    purpose: Purpose
    aim: str = ""
    budget: float | None = None
    currency: str = "USD"
    site: Site = Site()
    quiet: bool = False
    rates: ExchangeRates | None = None


class Ability(Struct, frozen=True, kw_only=True):
    """Whether a rig does an aim: what it needs on the fullest card and what that has (the pool that
    a serving engine takes beside is no need), how fast it is where it is known, and the fault of
    the models where it is not."""

    aim: Aim
    runs: Runs
    needed_gib: float | None = None
    capacity_gib: float | None = None
    speed: SpeedEstimate | None = None
    fault: str = ""


class Reason(Struct, frozen=True, kw_only=True):
    """Why an item was chosen: a code for the words, and their values."""

    uid: str
    code: str
    values: dict[str, float | str | None] = {}


class Proposal(Struct, frozen=True, kw_only=True):
    """A rig that no rule calls wrong, with the reasons of its choices and what it can and cannot
    do."""

    rig: Rig
    assessment: Assessment
    abilities: tuple[Ability, ...]
    reasons: tuple[Reason, ...]

    @property
    def total(self) -> float:
        """The price in the rig's currency."""
        return self.assessment.totals.total


class Rented(Struct, frozen=True, kw_only=True):
    """A machine for hire that holds the aim, its price by the hour, that of one that may be taken
    back (`spot`, None: not known), and its speed where it is known."""

    name: str
    provider: str
    gpus: str
    price: Price
    speed: SpeedEstimate | None
    spot: Price | None = None


class Advice(Struct, frozen=True, kw_only=True):
    """`best` within the budget (None when it buys nothing that holds the aim), `cheapest` of all
    where that is another rig, machines for hire, and how many sorts and numbers of cards were
    passed over for which cause. `priced`: whether any card has a price that counts in the currency.
    `whole` is false while the cheapest is still looked for."""

    answers: Answers
    aim: Aim
    best: Proposal | None
    cheapest: Proposal | None
    rented: tuple[Rented, ...]
    passed_over: dict[Cause, int]
    priced: bool = True
    whole: bool = True


class Candidate(Struct, frozen=True):
    """Cards (or a complete system) that hold the aim: their price, the pace predicted for them, and
    how many aims of the purpose they hold."""

    gpu: GPU
    count: int
    amount: float
    pace: float
    held: int
    system: System | None = None


def advise(
    answers: Answers, catalog: Catalog, today: str, go_on: Callable[[], bool] = lambda: True
) -> Advice:
    """Return the advice for the answers by the prices, rules, memory and speed models in force.
    Deterministic.

    `go_on` is asked between candidates; when it says no, the advice is what was found until then.
    """
    *_, whole = advising(answers, catalog, today, go_on)
    return whole


def advising(
    answers: Answers, catalog: Catalog, today: str, go_on: Callable[[], bool] = lambda: True
) -> Iterator[Advice]:
    """Yield the advice of `advise` as it grows: the best rig as soon as it is found, then the
    whole."""
    market = Market(catalog, answers.currency, today, answers.rates)
    aim = aim_of(answers.purpose, answers.aim)
    passed: dict[Cause, int] = {}
    candidates = list(_candidates(answers, aim, market, passed))
    search = _Search(answers, aim, market, passed, go_on)
    best = search.best(candidates, answers.budget)
    hires = rented(aim, catalog, shipped_cloud())
    advice = Advice(
        answers=answers,
        aim=aim,
        best=best,
        cheapest=None,
        rented=hires,
        passed_over={},
        priced=bool(market.of_kind("gpu")),
        whole=False,
    )
    if best is not None:
        yield advice
    cheapest = search.cheapest(candidates)
    if best is not None and cheapest is not None and cheapest.rig.items == best.rig.items:
        cheapest = None
    yield replace(advice, cheapest=cheapest, passed_over=passed, whole=True)


def _candidates(
    answers: Answers, aim: Aim, market: Market, passed: dict[Cause, int]
) -> Iterator[Candidate]:
    for gpu in market.of_kind("gpu"):
        if not isinstance(gpu, GPU) or gpu.form_factor != "pcie":
            continue
        if not market.is_todays(gpu) or gpu.status == "reference":
            _count(passed, "not-todays")
        elif gpu.cooling == "passive" or (answers.quiet and gpu.cooling == "blower"):
            _count(passed, "place")
        else:
            for count in QUIET_COUNTS if answers.quiet else COUNTS:
                yield from _candidate(gpu, count, market.amount(gpu), aim, answers.purpose, passed)
    for system in market.of_kind("system"):
        if isinstance(system, System) and market.is_todays(system) and _suits(system, aim):
            gpus = [(market.catalog.get(each.part), each.quantity) for each in system.includes]
            for gpu, count in ((gpu, count) for gpu, count in gpus if isinstance(gpu, GPU)):
                for found in _candidate(
                    gpu, count, market.amount(system) / count, aim, answers.purpose, passed
                ):
                    yield replace(found, system=system)


def _suits(system: System, aim: Aim) -> bool:
    """A complete computer suits everything, a development board only what is to run, not what is to
    be trained."""
    trains = (aim.workload.task or "").startswith("train")
    return system.role == "complete" or (system.role == "embedded" and not trains)


def _candidate(
    gpu: GPU, count: int, each: float, aim: Aim, purpose: Purpose, passed: dict[Cause, int]
) -> Iterator[Candidate]:
    workload = aim.on(count)
    memory, room = memory_of(workload, gpu, count), usable_gib(gpu)
    speed = _speed(aim, gpu, count, "pcie" if count > 1 else "none")
    if isinstance(memory, str) or room is None or speed is None:
        _count(passed, "unknown")
    elif memory.high_gib > room:
        _count(passed, "too-small")
    else:
        held = sum(_holds(gpu, count, other) for other in AIMS[purpose])
        yield Candidate(gpu, count, count * each, _pace(speed), held)


def _holds(gpu: GPU, count: int, aim: Aim) -> bool:
    memory, room = memory_of(aim.on(count), gpu, count), usable_gib(gpu)
    return not isinstance(memory, str) and room is not None and memory.high_gib <= room


def _speed(aim: Aim, gpu: GPU, count: int, link: str) -> SpeedEstimate | None:
    try:
        speed = predict_speed(aim.on(count), gpu, count, 1, link, shipped_zoo())
    except WorkloadFault:
        return None
    return speed if speed.value > 0 else None


def _pace(speed: SpeedEstimate) -> float:
    """Return the low end of a speed as a figure of which more is better: what is predicted vaguely
    counts for less."""
    return 1 / speed.high if speed.metric in TIME_METRICS else speed.low


def _count(passed: dict[Cause, int], cause: Cause) -> None:
    passed[cause] = passed.get(cause, 0) + 1


class _Search:
    """Builds the rig of a candidate once, and keeps it."""

    def __init__(
        self,
        answers: Answers,
        aim: Aim,
        market: Market,
        passed: dict[Cause, int],
        go_on: Callable[[], bool],
    ) -> None:
        self._answers, self._aim, self._market, self._passed, self._go_on = (
            answers,
            aim,
            market,
            passed,
            go_on,
        )
        self._built: dict[tuple[str, int], Proposal | None] = {}

    def best(self, candidates: list[Candidate], budget: float | None) -> Proposal | None:
        """Return the cheapest rig for a first try, that of most speed per money where money is
        short or open, else the one with the most of speed times number of aims it holds: a slow
        machine with much memory does not beat a fast one."""
        affordable = [c for c in candidates if budget is None or self._floor(c) <= budget]
        for _ in range(len(candidates) - len(affordable)):
            _count(self._passed, "too-dear")
        if self._answers.purpose == "trying":
            return self._first(affordable, lambda c: -c.amount, lambda p: -p.total, budget)
        if self._answers.purpose == "little-money" or budget is None:
            return self._first(
                affordable,
                lambda c: c.pace / c.amount,
                lambda p: self._pace_of(p) / p.total,
                budget,
            )
        return self._first(
            affordable, lambda c: c.held * c.pace, lambda p: _held(p) * self._pace_of(p), budget
        )

    def cheapest(self, candidates: list[Candidate]) -> Proposal | None:
        """Return the rig that holds the aim for the least money, whatever the budget."""
        return self._first(candidates, lambda c: -c.amount, lambda p: -p.total, None)

    def _pace_of(self, proposal: Proposal) -> float:
        ability = next(each for each in proposal.abilities if each.aim.code == self._aim.code)
        return _pace(ability.speed) if ability.speed else 0.0

    def _floor(self, candidate: Candidate) -> float:
        return candidate.amount + (
            0.0 if candidate.system or self._market.currency not in ("USD", "EUR") else LEAST_HOST
        )

    def _first(
        self,
        candidates: list[Candidate],
        bound: Callable[[Candidate], float],
        worth: Callable[[Proposal], float],
        budget: float | None,
    ) -> Proposal | None:
        """Return the proposal of greatest worth, where warnings weigh; `bound` is hardly ever less
        than the worth, so the rest is left once it falls short."""
        found: tuple[float, Proposal] | None = None
        ranked = sorted(candidates, key=lambda c: (c.amount, c.gpu.id, c.count))
        for candidate in sorted(ranked, key=bound, reverse=True):
            if (found is not None and bound(candidate) <= found[0]) or not self._go_on():
                break
            proposal = self._build(candidate)
            if proposal is None or (budget is not None and proposal.total > budget):
                continue
            value = _weighed(worth(proposal), proposal)
            if found is None or value > found[0]:
                found = (value, proposal)
        return found[1] if found else None

    def _build(self, candidate: Candidate) -> Proposal | None:
        key = (candidate.system.id if candidate.system else candidate.gpu.id, candidate.count)
        if key not in self._built:
            self._built[key] = self._made(candidate)
        return self._built[key]

    def _made(self, candidate: Candidate) -> Proposal | None:
        answers, market = self._answers, self._market
        rig = Rig(
            site=answers.site,
            currency=answers.currency,
            budget=answers.budget,
            exchange=answers.rates,
        )
        if candidate.system is not None:
            whole: Rig | None = replace(rig, items=(Item(uid="system", part=candidate.system.id),))
        else:
            cores, ram_gib, storage_gb = NEEDS[answers.purpose]
            cards_gib = candidate.count * (candidate.gpu.memory_gib or 0.0)
            need = Need(
                cards=candidate.count,
                cores=max(cores, CORES_PER_CARD * candidate.count),
                ram_gib=max(ram_gib, cards_gib),
                storage_gb=storage_gb,
                quiet=answers.quiet,
            )
            cards = replace(
                rig, items=(Item(uid="gpu", part=candidate.gpu.id, quantity=candidate.count),)
            )
            whole = with_host(cards, need, market, self._go_on)
        if whole is None:
            _count(self._passed, "no-host")
            return None
        return self._judged(market.priced(whole), candidate)

    def _judged(self, rig: Rig, candidate: Candidate) -> Proposal | None:
        """Give the rig the aims it holds as workloads, and let the rules have the last word."""
        market, count = self._market, candidate.count
        aims = AIMS[self._answers.purpose]
        tried = assess(
            replace(rig, workloads=tuple(aim.on(count) for aim in aims)),
            market.catalog,
            market.today,
        )
        abilities = tuple(
            _ability(aim, job, tried) for aim, job in zip(aims, tried.jobs, strict=True)
        )
        held = tuple(ability.aim.on(count) for ability in abilities if ability.runs == "yes")
        assessment = assess(replace(rig, workloads=held), market.catalog, market.today)
        sums = assessment.totals
        if (
            assessment.report.count("error")
            or sums.unpriced
            or sums.foreign
            or self._aim.on(count) not in held
        ):
            _count(self._passed, "rule")
            return None
        reasons = tuple(_reasons(assessment, abilities, self._aim))
        return Proposal(
            rig=assessment.rig, assessment=assessment, abilities=abilities, reasons=reasons
        )


def _weighed(worth: float, proposal: Proposal) -> float:
    """Return what a proposal is worth beside others: one with warnings must be twice as good, or a
    fifth cheaper. What a warning costs in speed alone is in the pace already."""
    if all(f.severity != "warning" or f.code in PACED for f in proposal.assessment.report.findings):
        return worth
    return worth * (WARNED_SHARE if worth > 0 else WARNED_COST)


def _held(proposal: Proposal) -> int:
    return sum(ability.runs == "yes" for ability in proposal.abilities)


def _ability(aim: Aim, job: Job, assessment: Assessment) -> Ability:
    """Return what the fullest card says; a job that the models refuse is unknown, unless it does
    not fit."""
    limit = next((limit for limit in limits(assessment) if limit.job == job.index), None)
    fault = job.memory_fault or job.speed_fault or ""
    if limit is None or limit.used is None or limit.limit is None:
        return Ability(aim=aim, runs="unknown", fault=fault)
    runs: Runs = (
        "yes"
        if (limit.high or limit.used) <= limit.limit
        else "tight"
        if limit.used <= limit.limit
        else "no"
    )
    speed = job.speed if runs != "no" else None
    runs = "unknown" if speed is None and runs != "no" else runs
    return Ability(
        aim=aim,
        runs=runs,
        needed_gib=_needed(job),
        capacity_gib=limit.limit,
        speed=speed,
        fault=fault,
    )


def _needed(job: Job) -> float:
    """Return what the fullest card must hold, GiB: all parts, without the pool that a serving
    engine takes of what is free."""
    return max(min(float(sum(structs.astuple(each.parts))), each.device_gib) for each in job.memory)


def _reasons(assessment: Assessment, abilities: tuple[Ability, ...], aim: Aim) -> Iterator[Reason]:
    """Yield why each item is in the rig, with the figures that decided."""
    ability = next(each for each in abilities if each.aim is aim)
    power, machine = assessment.machine.power, assessment.machine
    figures: dict[str, dict[str, float | str | None]] = {
        "gpu": {"needed": ability.needed_gib, "capacity": ability.capacity_gib},
        "system": {"needed": ability.needed_gib, "capacity": ability.capacity_gib},
        "cpu": {"cores": sum(cpu.cpu.cores or 0 for cpu in machine.cpus)},
        "memory": {"vram": sum(node.gpu.memory_gib or 0.0 for node in machine.gpus)},
        "psu": {"load": power.sustained_w, "supply": power.supply_w},
    }
    for item in assessment.rig.items:
        yield Reason(uid=item.uid, code=item.uid, values=figures.get(item.uid, {}))


def hours_against(machine: Rented, proposal: Proposal, aim: Aim) -> float | None:
    """Return after how many hours of its own work a rig costs less than the machine for hire does
    for the same work, energy not counted; None where a speed or a rate is not known."""
    own = next((each.speed for each in proposal.abilities if each.aim.code == aim.code), None)
    rig, hired = proposal.rig, machine.speed
    rent = convert(machine.price.amount, machine.price.currency, rig.currency, rig.exchange)
    if (
        own is None
        or hired is None
        or own.metric != hired.metric
        or not rent
        or not own.value
        or not hired.value
    ):
        return None
    ratio = hired.value / own.value if own.metric in TIME_METRICS else own.value / hired.value
    return break_even_hours(proposal.total, rent, speed_ratio=ratio)


def rented(aim: Aim, catalog: Catalog, cloud: Cloud) -> tuple[Rented, ...]:
    """Return the machines for hire that surely hold the aim, lowest price by the hour first; each
    provider's cheapest."""
    found: dict[str, tuple[float, Rented]] = {}
    for machine in cloud.instances.values():
        gpu = catalog.get(machine.gpu) if machine.gpu else None
        price = newest(machine.on_demand)
        room = usable_gib(gpu) if isinstance(gpu, GPU) else None
        if not isinstance(gpu, GPU) or room is None or price is None or machine.status != "current":
            continue
        memory = memory_of(aim.on(machine.count), gpu, machine.count)
        if isinstance(memory, str) or memory.high_gib > room:
            continue
        speed = _speed(aim, gpu, machine.count, machine.link if machine.count > 1 else "none")
        old = found.get(machine.provider)
        if speed is not None and (old is None or price.amount < old[0]):
            spot, gpus = newest(machine.spot), f"{machine.count} × {machine.gpu_name}"
            entry = Rented(
                name=machine.name,
                provider=machine.provider,
                gpus=gpus,
                price=price,
                speed=speed,
                spot=spot,
            )
            found[machine.provider] = price.amount, entry
    return tuple(
        entry
        for _, entry in sorted(found.values(), key=lambda pair: (pair[0], pair[1].name))[
            :MOST_RENTED
        ]
    )
