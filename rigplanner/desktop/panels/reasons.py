"""Why a figure is what it is: title, headline, steps with formula, inputs and sources, and what
there is to add."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart, Price
from rigplanner.desktop.panels.gauges import TITLES, gauge_text
from rigplanner.desktop.parts.columns import sources_of
from rigplanner.desktop.words import interval, money, quantity
from rigplanner.evidence import Step
from rigplanner.machine.model import Machine, PowerTree
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.planning.limits import Limit
from rigplanner.report.format import percent, unit_text
from rigplanner.report.language import Words, listed, tr
from rigplanner.report.quote.jobs import workload_title
from rigplanner.report.words.faults import fault_text
from rigplanner.report.words.hire import provider_text
from rigplanner.report.words.rates import prices_today_text
from rigplanner.report.words.speed import leading_anchors
from rigplanner.report.words.workloads import assumed_text
from rigplanner.rig.document import Site
from rigplanner.rules.assess import Assessment, Job

if TYPE_CHECKING:
    from rigplanner.planning.renting import Offer

Inputs = dict[str, float | str | None]
ALLOWANCES = Words(
    {
        "memory-module": "A memory module",
        "board": "A board",
        "board-small": "A small board",
        "board-workstation": "A workstation board",
        "board-server": "A server board",
        "cooler-air": "An air cooler",
        "cooler-liquid": "A liquid cooler",
        "case-fans": "Fans of the case",
        "network-card": "A network card",
        "drive-m2": "An M.2 drive",
        "drive-2.5": "A 2.5 inch drive",
        "drive-3.5": "A 3.5 inch drive",
        "drive-other": "Another drive",
        "efficiency": "Efficiency of the supply",
    }
)
"""What is assumed to draw power where no maker's figure is in the catalog."""


class Reason(Struct, frozen=True):
    """What a figure rests on; `steps` may be empty where nothing is computed."""

    title: str
    headline: str
    steps: tuple[Step, ...]
    note: str = ""


def limit_reason(assessment: Assessment, limit: Limit, catalog: Catalog) -> Reason:
    """Return what a gauge rests on."""
    if limit.axis == "vram":
        return _vram_reason(assessment.jobs[limit.job or 0], limit)
    if limit.axis in ("supply", "circuit"):
        made = load_reason(assessment, catalog)
    else:
        made = {"price": price_reason, "lanes": lanes_reason, "slots": slots_reason}[limit.axis](
            assessment
        )
    return replace(made, title=TITLES[limit.axis], headline=gauge_text(limit))


def _vram_reason(job: Job, limit: Limit) -> Reason:
    if not job.memory:
        return Reason(
            tr("Memory per GPU"),
            fault_text(job.memory_fault) or tr("There is no GPU in the rig."),
            (),
        )
    made = memory_reason(max(job.memory, key=lambda estimate: estimate.device_gib))
    return replace(
        made,
        headline=f"{workload_title(job)}: {gauge_text(limit)}",
        note=f"{made.headline}. {made.note}".strip(),
    )


def memory_reason(estimate: MemoryEstimate) -> Reason:
    """Return what the memory of a workload on one GPU rests on."""
    headline = tr(
        "{size} per GPU, {interval}",
        size=quantity(estimate.device_gib, "GiB", 1),
        interval=interval(estimate.low_gib, estimate.high_gib, "GiB"),
    )
    note = (
        f"{tr('Software: {stack}.', stack=estimate.stack)} {assumed_text(estimate.assumed)}".strip()
    )
    return Reason(tr("Memory per GPU"), headline, estimate.steps, note)


def speed_reason(job: Job) -> Reason:
    """Return what the speed of a workload rests on, or why there is none."""
    speed = job.speed
    if speed is None:
        return Reason(
            tr("Speed"), fault_text(job.speed_fault) or tr("There is no GPU in the rig."), ()
        )
    return estimate_reason(speed)


def estimate_reason(speed: SpeedEstimate, of: str = "", catalog: Catalog | None = None) -> Reason:
    """Return what a speed rests on; `of` names what it is the speed of. With a `catalog`, whose
    names they have, the measured rows that carry it most come after the steps."""
    value = quantity(speed.value, speed.metric)
    headline = f"{value}, {interval(speed.low, speed.high, speed.metric)}"
    note = f"{tr('Software: {stack}.', stack=speed.stack)} {assumed_text(speed.assumed)}".strip()
    steps = (*speed.steps, *(_measured(speed, catalog) if catalog else ()))
    return Reason(tr("Speed"), f"{of}: {headline}" if of else headline, steps, note)


def _measured(speed: SpeedEstimate, catalog: Catalog) -> Iterator[Step]:
    for anchor in leading_anchors(speed):
        gpu = catalog.get(anchor.gpu)
        machine = listed([gpu.name if gpu else anchor.gpu, anchor.model, anchor.stack])
        inputs: Inputs = {tr("weight"): percent(anchor.weight)}
        yield Step(tr("measured"), machine, inputs, anchor.value, anchor.metric, anchor.source)


def price_reason(assessment: Assessment) -> Reason:
    """Return what the total rests on: a line an item, discount, taxes; and what is not in it."""
    sums, rig = assessment.totals, assessment.rig
    names = _names(assessment)
    steps = [
        Step(
            names.get(line.uid, line.uid),
            tr("quantity × price"),
            {
                tr("quantity"): float(line.quantity),
                tr("price"): money(line.unit.amount, line.unit.currency),
            },
            line.amount,
            sums.currency,
            f"{line.unit.source}, {line.unit.day}",
        )
        for line in sums.lines
        if line.amount is not None and line.unit is not None
    ]
    discount = rig.quote.discount_percent
    if discount:
        steps.append(
            Step(
                tr("Discount"),
                tr("subtotal × percent"),
                {tr("percent"): discount},
                -sums.discount,
                sums.currency,
            )
        )
    how = (
        tr("contained in the prices") if rig.quote.prices_include_tax else tr("added to the prices")
    )
    steps += [
        Step(tr("Tax"), how, {tr("percent"): rate}, amount, sums.currency)
        for rate, amount in sums.taxes
    ]
    missing = [names.get(uid, uid) for uid in (*sums.unpriced, *sums.foreign)]
    note = (
        tr(
            "Not in it, for want of a price in {currency}: {parts}.",
            currency=sums.currency,
            parts=listed(missing),
        )
        if missing
        else ""
    )
    note = " ".join(filter(None, (note, prices_today_text(sums))))
    total = Step(tr("Total"), tr("sum"), {}, sums.total, sums.currency)
    return Reason(tr("Price"), money(sums.total, sums.currency), (*steps, total), note)


def _names(assessment: Assessment) -> dict[str, str]:
    return {
        piece.uid: piece.part.name for piece in assessment.machine.pieces if "/" not in piece.name
    }


def source_of(part: AnyPart, field: str, catalog: Catalog) -> str:
    """Return the title of the source that settled a field of a part, "" where the part has no such
    figure."""
    known = getattr(part, field, None) is not None
    return listed(
        [
            catalog.sources[key].title
            for key in sources_of(part, field)[:1]
            if known and key in catalog.sources
        ]
    )


def grouped(pairs: Iterable[tuple[str, float]]) -> dict[tuple[str, float], int]:
    """Return how often each name stands with a value."""
    counts: dict[tuple[str, float], int] = {}
    for pair in pairs:
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def load_reason(assessment: Assessment, catalog: Catalog) -> Reason:
    """Return the loads by part, their sum, what the supply and the circuit can give, and the
    assumptions that went in."""
    power = assessment.machine.power
    names = {piece.name: piece.part.name for piece in assessment.machine.pieces}
    sources = {
        piece.part.name: _load_source(piece.part, catalog) for piece in assessment.machine.pieces
    }
    loads = grouped(
        (names.get(piece, piece), watts) for piece, watts in power.loads if watts is not None
    )
    steps = [
        Step(
            name,
            tr("quantity × load at full use"),
            {tr("quantity"): float(count), tr("each in W"): watts},
            count * watts,
            "W",
            sources.get(name, ""),
        )
        for (name, watts), count in loads.items()
    ]
    steps += _load_sums(power, assessment.rig.site)
    headline = quantity(power.sustained_w, "W") if power.sustained_w is not None else tr("unknown")
    return Reason(
        tr("Sustained load"),
        headline,
        (*steps, *(_power_step(step, catalog) for step in power.steps)),
    )


def _load_sums(power: PowerTree, site: Site) -> list[Step]:
    """The sum of the loads and what supply, wall and circuit give for it, as far as known."""
    sums: list[tuple[str, str, Inputs, float | None]] = [
        (tr("Sustained load"), tr("sum of the parts"), {}, power.sustained_w),
        (
            tr("Power supply, continuous"),
            tr("rating at the site's voltage"),
            {tr("mains in V"): site.volts},
            power.supply_w,
        ),
        (
            tr("Drawn from the wall"),
            tr("sustained load / efficiency + other load"),
            {tr("efficiency"): power.efficiency, tr("other load in W"): site.other_load_w},
            power.wall_w,
        ),
        (
            tr("Circuit, continuous limit"),
            tr("volts × amperes × 0.8 × circuits that supplies share"),
            {
                tr("mains in V"): site.volts,
                tr("breaker in A"): site.breaker_a,
                tr("circuits"): site.circuits,
            },
            power.circuit_w,
        ),
    ]
    return [
        Step(title, formula, inputs, watts, "W")
        for title, formula, inputs, watts in sums
        if watts is not None
    ]


def _load_source(part: AnyPart, catalog: Catalog) -> str:
    found = (source_of(part, field, catalog) for field in ("max_power_w", "tdp_w", "power_w"))
    return next((source for source in found if source), tr("an allowance, below"))


def _power_step(step: Step, catalog: Catalog) -> Step:
    """Return a step of the power tree with its name in words."""
    kind, _, part_id = step.name.partition("-")
    if kind == "excursion":
        part = catalog.get(part_id)
        return replace(
            step, name=tr("Short excursion of {part}", part=part.name if part else part_id)
        )
    source = tr("assumption") if step.source == "assumption" else step.source
    return replace(step, name=ALLOWANCES.get(step.name, step.name), source=source)


def lanes_reason(assessment: Assessment) -> Reason:
    """Return the lanes that cards and drives take from the processors, those of switches, their sum
    and what there is."""
    machine = assessment.machine
    steps, direct = _direct_lanes(machine)
    used, lanes = machine.lanes_used, tr("lanes")
    if used is not None and used > direct:
        how = tr("width of their links to the processors")
        steps.append(Step(tr("Switches"), how, {}, used - direct, lanes))
    if used is not None:
        steps.append(Step(tr("CPU lanes used"), tr("sum"), {}, used, lanes))
    if machine.lanes_total is not None:
        how = tr("sum of the processors")
        steps.append(Step(tr("CPU lanes offered"), how, {}, machine.lanes_total, lanes))
    note = tr(
        "What stands behind a switch or the chipset shares its link and takes no lanes of its own."
    )
    return Reason(
        tr("CPU lanes"), str(used) if used is not None else tr("unknown"), tuple(steps), note
    )


def _direct_lanes(machine: Machine) -> tuple[list[Step], int]:
    """A step for each card and drive on lanes of the processors, and the sum of these lanes."""
    names = {piece.name: piece.part.name for piece in machine.pieces}
    cards = [
        (use.slot.id, use.slot.origin, use.gen, use.width, (use.piece,))
        for use in machine.slots
        if use.piece
    ]
    drives = [
        (use.port.id, use.port.origin, use.gen, use.width, use.pieces)
        for use in machine.drives
        if use.pieces and use.port.kind != "sata"
    ]
    steps, direct = [], 0
    for place, origin, gen, width, pieces in (*cards, *drives):
        if width and (origin or "").startswith("cpu"):
            held = listed([names.get(piece, piece) for piece in pieces])
            inputs: Inputs = {tr("origin"): origin, tr("generation"): gen}
            steps.append(
                Step(f"{place}: {held}", tr("negotiated width"), inputs, width, tr("lanes"))
            )
            direct += width
    return steps, direct


def slots_reason(assessment: Assessment) -> Reason:
    """Return slot by slot what holds or covers it, and the sum."""
    machine = assessment.machine
    names = {piece.name: piece.part.name for piece in machine.pieces}
    steps, taken = [], 0
    for use in machine.slots:
        if use.disabled_by:
            steps.append(Step(use.slot.id, tr("switched off by how others are used"), {}, 0, ""))
            continue
        how = tr("free")
        if use.piece:
            how = tr("holds {part}", part=names.get(use.piece, use.piece))
        elif use.covered_by:
            how = tr("covered by {part}", part=names.get(use.covered_by, use.covered_by))
        taken += bool(use.piece or use.covered_by)
        steps.append(Step(use.slot.id, how, {}, int(bool(use.piece or use.covered_by)), ""))
    return Reason(
        tr("Slots"), str(taken), (*steps, Step(tr("Slots taken"), tr("sum"), {}, taken, ""))
    )


def cost_steps(assessment: Assessment, catalog: Catalog) -> tuple[Step, ...]:
    """Return what years cost, and after how many hours the rig is cheaper than the machines for
    hire that it ever beats."""
    from rigplanner.catalog.cloud import shipped_cloud
    from rigplanner.planning.renting import offers

    sums = assessment.totals
    steps = [*year_steps(assessment), *own_hire_steps(assessment)]
    for job in assessment.jobs:
        for offer in offers(assessment, job, catalog, shipped_cloud()):
            pays = hire_step(workload_title(job), offer, sums.total)
            steps += [*filter(None, (pays, spot_step(offer, sums.currency) if pays else None))]
    return tuple(steps)


def own_hire_steps(assessment: Assessment) -> Iterator[Step]:
    """Yield what the hires that the site names come to, and after how long the rig is cheaper."""
    from rigplanner.planning.renting import own_hires

    for hire in own_hires(assessment):
        paid: Inputs = {
            tr("price"): assessment.totals.total,
            tr("rent"): hire.rent.amount,
            tr("energy"): hire.running,
        }
        if hire.ratio:
            paid = {**paid, tr("rig's speed over the cloud instance's"): hire.ratio}
        source = f"{hire.rent.source}, {hire.rent.day}"
        if hire.months is not None and hire.whole is not None:
            over: Inputs = {tr("months"): float(hire.months), tr("rent"): hire.rent.amount}
            yield Step(
                tr("Rent as entered"),
                tr("months × rent"),
                over,
                hire.whole,
                hire.rent.currency,
                source,
            )
        if hire.after is not None:
            unit = "h" if hire.months is None else tr("months")
            yield Step(
                tr("Cheaper than renting after"),
                tr("price / (rent × speed − energy)")
                if hire.ratio
                else tr("price / (rent − energy)"),
                paid,
                hire.after,
                unit,
                source,
            )


def hire_step(job: str, offer: "Offer", total: float) -> Step | None:
    """Return after how many hours a rig is cheaper than a machine for hire; None where it never
    is."""
    if offer.hours is None:
        return None
    inputs: Inputs = {
        tr("price"): total,
        tr("rent per hour"): offer.counted,
        tr("speed of the rig"): offer.own,
        tr("speed of the cloud instance"): offer.rented,
        tr("unit of speed"): unit_text(offer.metric),
        tr("energy of an hour"): offer.running,
    }
    name = tr(
        "{job}: cheaper than {machine} after",
        job=job,
        machine=f"{provider_text(offer.provider)} {offer.instance}",
    )
    formula = tr(
        "price / (rent × speed of the rig / speed of the cloud instance − energy of an hour)"
    )
    return Step(name, formula, inputs, offer.hours, "h", f"{offer.rent.source}, {offer.rent.day}")


def work_step(
    name: str, rent: Price, counted: float, offer: "Offer", same_work: float, currency: str
) -> Step:
    """Return what the rig's work of an hour costs on a machine for hire at one of its prices."""
    inputs: Inputs = {
        tr("rent per hour"): counted,
        tr("speed of the rig"): offer.own,
        tr("speed of the cloud instance"): offer.rented,
        tr("unit of speed"): unit_text(offer.metric),
    }
    source = ", ".join(filter(None, (rent.source, rent.region, rent.day)))
    return Step(
        name,
        tr("rent × speed of the rig / speed of the cloud instance"),
        inputs,
        same_work,
        currency,
        source,
    )


def spot_step(offer: "Offer", currency: str) -> Step | None:
    """Return the same at the spot price, where the provider may take the machine back; None where
    that is not known."""
    if offer.spot is None or offer.spot_counted is None or offer.spot_work is None:
        return None
    name = tr(
        "{machine} at its spot price: the same work of an hour",
        machine=f"{provider_text(offer.provider)} {offer.instance}",
    )
    return work_step(name, offer.spot, offer.spot_counted, offer, offer.spot_work, currency)


def year_steps(assessment: Assessment) -> tuple[Step, ...]:
    """Return the energy of a year and the cost of three, () without tariff, hours or load."""
    from rigplanner.economics.running import three_year_total
    from rigplanner.planning.renting import yearly_energy

    sums, year = assessment.totals, yearly_energy(assessment)
    if year is None:
        return ()
    share = (assessment.rig.quote.resale_percent or 0.0) / 100
    three: Inputs = {
        tr("price"): sums.total,
        tr("energy of a year"): year.cost,
        tr("resale in %"): 100 * share,
    }
    formula = tr("price × (1 − resale) + 3 × energy of a year")
    total = Step(
        tr("Three years"),
        formula,
        three,
        three_year_total(sums.total, year.cost, share),
        sums.currency,
    )
    return (*(replace(step, unit=step.unit or sums.currency) for step in year.steps), total)
