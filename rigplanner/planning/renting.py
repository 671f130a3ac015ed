"""Buying against renting: after how much work of its own is the rig cheaper than a machine for
hire?"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.cloud import Cloud, CloudInstance, newest
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import convert
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.economics.running import (
    HOURS_PER_DAY,
    Running,
    break_even_hours,
    energy_per_year,
    rent_over,
)
from rigplanner.errors import WorkloadFault
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.performance.limits.host import data_of
from rigplanner.performance.limits.input_pipeline import fed_rate, feed
from rigplanner.performance.predict import predict_speed
from rigplanner.planning.what_if import SAMPLE_METRICS, split_over
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import Assessment, Job, memory_of

MOST_OFFERS = 3
MONTHS_PER_YEAR = 12
VCPUS_PER_CORE = 2
"""Providers count threads: two of a core that decodes images. Their drives are not known and not
taken to be in the way."""


class Hire(Struct, frozen=True, kw_only=True):
    """A machine for hire that holds a workload: its newest price an hour, on demand and, where the
    provider may take it back (None: not known), and its speed in the metric that was asked for."""

    machine: CloudInstance
    rent: Price
    speed: float
    spot: Price | None = None

    @property
    def gpus(self) -> str:
        """Its cards: "8 x H100"."""
        return f"{self.machine.count} x {self.machine.gpu_name}"


class Offer(Struct, frozen=True, kw_only=True):
    """A machine for hire against the rig, for one workload: `speed_ratio` is the rig's speed over
    the rented one's, `hours` the rig's own work after which it is cheaper (None: never), energy
    taken into account where its price is known. `days` are those hours at `hours_per_day`; `own`
    and `rented` are both speeds in `metric`, by the same model. `counted` is the rent in the rig's
    currency, `same_work` what the rig's work of an hour costs there, `running` what the rig's
    energy of an hour costs (None: not known, not counted). `spot` is the rent where the provider
    may take the machine back, `spot_counted` and `spot_work` are to it what `counted` and
    `same_work` are to `rent` (None: not known)."""

    instance: str
    provider: str
    gpus: str
    rent: Price
    counted: float
    speed_ratio: float
    same_work: float
    hours: float | None
    running: float | None = None
    metric: str = ""
    own: float = 0.0
    rented: float = 0.0
    hours_per_day: float = HOURS_PER_DAY
    spot: Price | None = None
    spot_counted: float | None = None

    @property
    def spot_work(self) -> float | None:
        """What the rig's work of an hour costs at the spot price."""
        return None if self.spot_counted is None else self.spot_counted * self.speed_ratio

    @property
    def days(self) -> float | None:
        """The days after which the rig is cheaper."""
        return (
            self.hours / self.hours_per_day
            if self.hours is not None and self.hours_per_day
            else None
        )


class OwnHire(Struct, frozen=True, kw_only=True):
    """A hire that the owner of the rig was offered, of whatever speed: `rent` an hour, or a month
    where `months` is set, which come to `whole`. `running` is what the rig's energy costs in an
    hour or a month (None: not known). `ratio` is the rig's speed over the hire's where its owner
    named it. `after` so many hours of its own work, or months, the rig is cheaper; None when
    it never is, or `comparable` is false: its own price is not whole or in other money."""

    rent: Price
    months: int | None = None
    whole: float | None = None
    running: float | None
    comparable: bool
    after: float | None
    ratio: float | None = None


def own_hires(assessment: Assessment) -> tuple[OwnHire, ...]:
    """Return the hires that the site names, against the rig's price; () where it names none."""
    site, found = assessment.rig.site, []
    if hour := site.hire_per_hour:
        running = _energy_per_hour(assessment, hour.currency)
        found.append(_own_hire(assessment, hour, running, site.hire_speed_ratio))
    if month := site.hire_per_month:
        year = yearly_energy(assessment)
        running = (
            year.cost / MONTHS_PER_YEAR
            if year and month.currency == assessment.totals.currency
            else None
        )
        hire = _own_hire(assessment, month, running)
        found.append(
            replace(hire, months=site.hire_months, whole=rent_over(site.hire_months, month.amount))
        )
    return tuple(found)


def _own_hire(
    assessment: Assessment, rent: Price, running: float | None, ratio: float | None = None
) -> OwnHire:
    totals = assessment.totals
    comparable = (
        not totals.unpriced
        and not totals.foreign
        and totals.total > 0
        and rent.currency == totals.currency
    )
    after = (
        break_even_hours(totals.total, rent.amount, running or 0.0, ratio or 1.0)
        if comparable
        else None
    )
    return OwnHire(rent=rent, running=running, comparable=comparable, after=after, ratio=ratio)


def yearly_energy(assessment: Assessment) -> Running | None:
    """Return the energy of a year in the currency of the total; None without hours, tariff or
    load."""
    site, wall_w = assessment.rig.site, assessment.machine.power.wall_w
    tariff = site.energy_per_kwh
    if (
        tariff is None
        or tariff.currency != assessment.totals.currency
        or site.hours_per_day is None
        or wall_w is None
    ):
        return None
    try:
        return energy_per_year(wall_w, site.hours_per_day, tariff.amount)
    except ValueError:
        return None


def hires_for(
    workload: Workload, own: int, metric: str, catalog: Catalog, cloud: Cloud
) -> tuple[Hire, ...]:
    """Return the machines for hire that hold a workload, with their speed in `metric` by the same
    model. A model that is split over all `own` GPUs of the rig is split over those of the hire."""
    return tuple(_hires(workload, own, metric, catalog, cloud))


def _hires(work: Workload, own: int, metric: str, catalog: Catalog, cloud: Cloud) -> Iterator[Hire]:
    for machine in cloud.instances.values():
        gpu, rent = catalog.get(machine.gpu) if machine.gpu else None, newest(machine.on_demand)
        workload = split_over(work, own, machine.count)
        if not isinstance(gpu, GPU) or rent is None or not _holds(workload, gpu, machine.count):
            continue
        speed = _rented_speed(workload, metric, gpu, machine)
        if speed:
            yield Hire(machine=machine, rent=rent, speed=speed, spot=newest(machine.spot))


def _holds(workload: Workload, gpu: GPU, count: int) -> bool:
    memory, room = memory_of(workload, gpu, count), usable_gib(gpu)
    return not isinstance(memory, str) and room is not None and memory.low_gib <= room


def _rented_speed(
    workload: Workload, metric: str, gpu: GPU, machine: CloudInstance
) -> float | None:
    from rigplanner.catalog.zoo import shipped_zoo

    link = machine.link if machine.count > 1 else "none"
    try:
        speed = predict_speed(
            workload, gpu, machine.count, 1, link, shipped_zoo(), metric=metric
        ).value
        data = data_of(workload) if metric in SAMPLE_METRICS and machine.vcpus else None
    except WorkloadFault:
        return None
    if not speed:
        return None
    if data is None:
        return speed
    cores = max(1, (machine.vcpus or 0) // VCPUS_PER_CORE)
    return fed_rate(speed, feed(data, None, cores, machine.ram_gib, None).together_s)


def offers(assessment: Assessment, job: Job, catalog: Catalog, cloud: Cloud) -> tuple[Offer, ...]:
    """Return the machines for hire that do the workload at the lowest price for the same work,
    cheapest first.

    Empty when the rig has no whole price, its speed is not predicted, or no rent counts in its
    currency."""
    if job.speed is None or not is_priced(assessment):
        return ()
    return offers_among(
        assessment,
        job,
        hires_for(job.workload, len(assessment.machine.gpus), job.speed.metric, catalog, cloud),
    )


def is_priced(assessment: Assessment) -> bool:
    """Return whether the rig has a price that counts every item."""
    totals = assessment.totals
    return bool(not totals.unpriced and not totals.foreign and totals.total)


def offers_among(assessment: Assessment, job: Job, hires: tuple[Hire, ...]) -> tuple[Offer, ...]:
    """Return the best of these machines for hire against the rig, at the lowest price for the same
    work first."""
    totals, speed, rates = assessment.totals, job.speed, assessment.rig.exchange
    if speed is None or not speed.value or not is_priced(assessment):
        return ()
    daily, running, found = (
        assessment.rig.site.hours_per_day or HOURS_PER_DAY,
        _energy_per_hour(assessment, totals.currency),
        [],
    )
    for hire in hires:
        rent = convert(hire.rent.amount, hire.rent.currency, totals.currency, rates)
        if rent is None:
            continue
        ratio = (
            hire.speed / speed.value if speed.metric in TIME_METRICS else speed.value / hire.speed
        )
        found.append(
            (
                rent * ratio,
                hire,
                rent,
                ratio,
                break_even_hours(totals.total, rent, running or 0.0, ratio),
            )
        )
    found.sort(key=lambda row: (row[0], row[1].machine.id))
    return tuple(
        Offer(
            instance=hire.machine.name,
            provider=hire.machine.provider,
            gpus=hire.gpus,
            rent=hire.rent,
            counted=rent,
            speed_ratio=ratio,
            same_work=same_work,
            hours=hours,
            running=running,
            metric=speed.metric,
            own=speed.value,
            rented=hire.speed,
            hours_per_day=daily,
            spot=hire.spot,
            spot_counted=convert(hire.spot.amount, hire.spot.currency, totals.currency, rates)
            if hire.spot
            else None,
        )
        for same_work, hire, rent, ratio, hours in found[:MOST_OFFERS]
    )


def _energy_per_hour(assessment: Assessment, currency: str) -> float | None:
    """Return what an hour of full load costs, None without a tariff in this currency or a known
    load."""
    tariff, wall_w = assessment.rig.site.energy_per_kwh, assessment.machine.power.wall_w
    if tariff is None or wall_w is None or tariff.currency != currency:
        return None
    return wall_w / 1000 * tariff.amount
