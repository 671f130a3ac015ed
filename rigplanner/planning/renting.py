"""Buying against renting: after how much work of its own is the rig cheaper than a machine for hire?"""

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.cloud import Cloud, CloudInstance
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU, Price
from rigplanner.economics.running import break_even_hours, rent_over
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.performance.predict import predict_speed
from rigplanner.planning.compare import yearly_energy
from rigplanner.rules.assess import Assessment, Job
from rigplanner.workload.answer import WorkloadFault

MOST_OFFERS = 3
MONTHS_PER_YEAR = 12
HOURS_PER_DAY = 24.0
"""Hours a day where the site names none."""


class Offer(Struct, frozen=True, kw_only=True):
    """A machine for hire against the rig, for one workload: `speed_ratio` is the rig's speed over the rented one's, `hours` the
    rig's own work after which it is cheaper (None: never), energy taken into account where its price is known. `days` are those
    hours at `hours_per_day`; `own` and `rented` are both speeds in `metric`, by the same model."""

    instance: str
    provider: str
    gpus: str
    rent: Price
    speed_ratio: float
    hours: float | None
    energy_counted: bool
    metric: str = ""
    own: float = 0.0
    rented: float = 0.0
    hours_per_day: float = HOURS_PER_DAY

    @property
    def days(self) -> float | None:
        """The days after which the rig is cheaper."""
        return self.hours / self.hours_per_day if self.hours is not None and self.hours_per_day else None


class OwnHire(Struct, frozen=True, kw_only=True):
    """A hire that the owner of the rig was offered, of whatever speed: `rent` an hour, or a month where `months` is set, which
    come to `whole`. `running` is what the rig's energy costs in an hour or a month (None: not known). `after` so many hours or
    months the rig is cheaper; None when it never is, or `comparable` is false: its own price is not whole or in other money."""

    rent: Price
    months: int | None = None
    whole: float | None = None
    running: float | None
    comparable: bool
    after: float | None


def own_hires(assessment: Assessment) -> tuple[OwnHire, ...]:
    """Return the hires that the site names, against the rig's price; () where it names none."""
    site, found = assessment.rig.site, []
    if hour := site.hire_per_hour:
        found.append(_own_hire(assessment, hour, _energy_per_hour(assessment, hour.currency)))
    if month := site.hire_per_month:
        year = yearly_energy(assessment)
        running = year.cost / MONTHS_PER_YEAR if year and month.currency == assessment.totals.currency else None
        hire = _own_hire(assessment, month, running)
        found.append(replace(hire, months=site.hire_months, whole=rent_over(site.hire_months, month.amount)))
    return tuple(found)


def _own_hire(assessment: Assessment, rent: Price, running: float | None) -> OwnHire:
    totals = assessment.totals
    comparable = not totals.unpriced and not totals.foreign and totals.total > 0 and rent.currency == totals.currency
    after = break_even_hours(totals.total, rent.amount, running or 0.0) if comparable else None
    return OwnHire(rent=rent, running=running, comparable=comparable, after=after)


def offers(assessment: Assessment, job: Job, catalog: Catalog, cloud: Cloud) -> tuple[Offer, ...]:
    """Return the machines for hire that do the workload at the lowest price for the same work, cheapest first.

    Empty when the rig has no whole price in the currency of the rent, or its speed is not predicted."""
    totals, speed = assessment.totals, job.speed
    if speed is None or totals.unpriced or totals.foreign or not totals.total:
        return ()
    daily, found = assessment.rig.site.hours_per_day or HOURS_PER_DAY, []
    for machine in cloud.instances.values():
        rent = max((p for p in machine.on_demand if p.currency == totals.currency), key=lambda p: p.day, default=None)
        rented = _rented_speed(machine, job, catalog) if rent else None
        if rent and rented:
            ratio = rented / speed.value if speed.metric in TIME_METRICS else speed.value / rented
            running = _energy_per_hour(assessment, rent.currency)
            hours = break_even_hours(totals.total, rent.amount, running or 0.0, ratio)
            found.append((rent.amount * ratio, machine, rent, ratio, rented, hours, running is not None))
    found.sort(key=lambda row: (row[0], row[1].id))
    return tuple(
        Offer(instance=m.name, provider=m.provider, gpus=f"{m.count} x {m.gpu_name}", rent=rent, speed_ratio=ratio, hours=hours,
              energy_counted=counted, metric=speed.metric, own=speed.value, rented=rented, hours_per_day=daily)
        for _, m, rent, ratio, rented, hours, counted in found[:MOST_OFFERS]
    )  # fmt: skip


def _energy_per_hour(assessment: Assessment, currency: str) -> float | None:
    """Return what an hour of full load costs, None without a tariff in this currency or a known load."""
    tariff, wall_w = assessment.rig.site.energy_per_kwh, assessment.machine.power.wall_w
    if tariff is None or wall_w is None or tariff.currency != currency:
        return None
    return wall_w / 1000 * tariff.amount


def _rented_speed(machine: CloudInstance, job: Job, catalog: Catalog) -> float | None:
    """Return the rented machine's speed in the job's metric by the same model; None where it cannot be predicted."""
    gpu = catalog.get(machine.gpu) if machine.gpu else None
    if not isinstance(gpu, GPU) or job.speed is None or not job.speed.value:
        return None
    from rigplanner.catalog.zoo import shipped_zoo

    link = machine.link if machine.count > 1 else "none"
    try:
        rented = predict_speed(job.workload, gpu, machine.count, 1, link, shipped_zoo(), metric=job.speed.metric)
    except WorkloadFault:
        return None
    return rented.value or None
