"""Rigs side by side: attributes with unit and direction, differences, better and worse."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import MemoryKit
from rigplanner.economics.running import three_year_total
from rigplanner.machine.model import GpuNode
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.planning.chosen import chosen_values
from rigplanner.planning.one_currency import counted_in
from rigplanner.planning.renting import Hire, Offer, offers_among, own_hires, yearly_energy
from rigplanner.planning.what_if import split_over
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import Assessment, Job, job_on

Direction = Literal["more", "less", "none"]
Value = float | str | None


class Attribute(Struct, frozen=True, kw_only=True):
    """One thing that is compared: `code` names it for the words, `more` or `less` says what is
    better; `counted` things differ by so many, all others by a share."""

    code: str
    group: str
    unit: str = ""
    direction: Direction = "none"
    counted: bool = False


class CompareRow(Struct, frozen=True, kw_only=True):
    """An attribute with one value per rig. `deltas`: value / baseline - 1, of counted things value
    - baseline (None for text or unknown); `best`: the rigs ahead.

    `lows` and `highs` are the intervals of predicted values, () for the rest; rigs whose intervals
    overlap are all ahead. `partial` names the rigs of which only a part is known (a total without
    all prices): their values are lower bounds. `workload` is what the row speaks of, None for rows
    of the rigs themselves. `days` are those of the prices that values rest on (ISO, "" for none),
    () for rows without."""

    attribute: Attribute
    subject: str
    values: tuple[Value, ...]
    deltas: tuple[float | None, ...]
    best: tuple[int, ...]
    differs: bool
    lows: tuple[float | None, ...] = ()
    highs: tuple[float | None, ...] = ()
    partial: tuple[int, ...] = ()
    workload: Workload | None = None
    days: tuple[str, ...] = ()


def _gpus(gpus: tuple[GpuNode, ...]) -> str:
    names: dict[str, int] = {}
    for gpu in gpus:
        names[gpu.gpu.name] = names.get(gpu.gpu.name, 0) + 1
    return " + ".join(f"{count} x {name}" for name, count in names.items())


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if values and len(known) == len(values) else None


def _slowest_link(assessment: Assessment) -> float | None:
    rates = [gpu.host_gbs for gpu in assessment.machine.gpus]
    return None if not rates or None in rates else min(rate for rate in rates if rate is not None)


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else 100 * part / whole


def _ram(assessment: Assessment) -> float | None:
    kits = [piece.part for piece in assessment.machine.pieces if isinstance(piece.part, MemoryKit)]
    return sum(kit.modules * kit.module_gib for kit in kits) if kits else None


def _pairs(assessment: Assessment) -> Value:
    """The letters of `nvidia-smi topo -m` between the GPUs, each once."""
    count = len(assessment.machine.gpus)
    if count < 2:
        return "none"
    found = {cell for row in assessment.machine.matrix[:count] for cell in row[:count]} - {"X"}
    return None if "" in found else ", ".join(sorted(found)) or None


CHOSEN = "chosen"
"""The group of what was chosen: the causes of all other rows."""
MEASURES: tuple[tuple[Attribute, Callable[[Assessment], Value]], ...] = (
    (Attribute(code="verdict", group="verdict"), lambda a: a.report.verdict()),
    (
        Attribute(code="errors", group="verdict", direction="less", counted=True),
        lambda a: float(a.report.count("error")),
    ),
    (
        Attribute(code="warnings", group="verdict", direction="less", counted=True),
        lambda a: float(a.report.count("warning")),
    ),
    (
        Attribute(code="unknown", group="verdict", direction="less", counted=True),
        lambda a: float(a.report.count("unknown")),
    ),
    (
        Attribute(code="unverified", group="verdict", direction="less", counted=True),
        lambda a: float(len(a.report.unverified)),
    ),
    (Attribute(code="gpus", group=CHOSEN), lambda a: _gpus(a.machine.gpus)),
    (
        Attribute(code="cpus", group=CHOSEN),
        lambda a: " + ".join(cpu.cpu.name for cpu in a.machine.cpus),
    ),
    (
        Attribute(code="gpu_memory", group="parts", unit="GiB", direction="more"),
        lambda a: _sum([gpu.gpu.memory_gib for gpu in a.machine.gpus]),
    ),
    (
        Attribute(code="gpu_bandwidth", group="parts", unit="GB/s", direction="more"),
        lambda a: _sum([gpu.gpu.bandwidth_gbs for gpu in a.machine.gpus]),
    ),
    (Attribute(code="ram", group="parts", unit="GiB", direction="more"), _ram),
    (
        Attribute(code="drives", group="parts", unit="GB", direction="more"),
        lambda a: _sum([node.storage.capacity_gb for node in a.machine.storage]),
    ),
    (
        Attribute(code="slowest_gpu_link", group="machine", unit="GB/s", direction="more"),
        _slowest_link,
    ),
    (
        Attribute(code="nvlink_islands", group="machine"),
        lambda a: (
            ", ".join("+".join(map(str, island)) for island in a.machine.islands if len(island) > 1)
            or "none"
        ),
    ),
    (Attribute(code="gpu_pairs", group="machine"), _pairs),
    (Attribute(code="lanes_used", group="machine"), lambda a: a.machine.lanes_used),
    (
        Attribute(code="sustained", group="power", unit="W", direction="less"),
        lambda a: a.machine.power.sustained_w,
    ),
    (
        Attribute(code="wall", group="power", unit="W", direction="less"),
        lambda a: a.machine.power.wall_w,
    ),
    (
        Attribute(code="supply_load", group="power", unit="%", direction="less"),
        lambda a: _share(a.machine.power.sustained_w, a.machine.power.supply_w),
    ),
    (
        Attribute(code="circuit_load", group="power", unit="%", direction="less"),
        lambda a: _share(a.machine.power.wall_w, a.machine.power.circuit_w),
    ),
)
SPEED = Attribute(code="speed", group="workloads", direction="more")
TIME = Attribute(code="speed", group="workloads", direction="less")
MEMORY = Attribute(code="memory", group="workloads", unit="GiB", direction="less")
FITS = Attribute(code="fits", group="workloads")
BOUND = Attribute(code="bound", group="workloads")
LIFT = Attribute(code="lift", group="workloads")
SPEED_PER_MONEY = Attribute(code="speed_per_1000", group="workloads", direction="more")
SPEED_PER_WATT = Attribute(code="speed_per_kw", group="workloads", direction="more")
TOTAL = Attribute(code="total", group="money", direction="less")
YEAR = Attribute(code="energy_year", group="money", direction="less")
THREE_YEARS = Attribute(code="three_years", group="money", direction="less")
OWN_HIRE = Attribute(code="own_hire", group="money", unit="h", direction="less")
OWN_MONTHS = Attribute(code="own_hire", group="money", unit="months", direction="less")
HIRE = Attribute(code="hire", group="workloads")
HIRE_COST = Attribute(code="hire_cost", group="workloads")
HIRE_SPOT = Attribute(code="hire_spot", group="workloads")
HIRE_AFTER = Attribute(code="hire_after", group="workloads", unit="h")
Hires = Callable[[Workload, int, str], tuple[Hire, ...]]
"""What gives the machines for hire that hold a workload of so many GPUs, with their speed in a
metric."""


def compare(
    assessments: Sequence[Assessment], baseline: int = 0, hires: Hires | None = None
) -> tuple[CompareRow, ...]:
    """Return the rows that compare two or more rigs; `baseline` is the rig that the deltas refer
    to. A workload of one rig is predicted on the others too; a model that is split over all GPUs of
    its rig is split over those of the other. What does not fit into memory has no speed. Money is
    that of the baseline, others counted by the rates of their rigs. With `hires` the rows say too
    what the work costs on machines for hire."""
    assessments = [counted_in(a, assessments[baseline]) for a in assessments]
    rows = [
        _row(attribute, "", [measure(a) for a in assessments], baseline)
        for attribute, measure in MEASURES
    ]
    chosen = [
        _row(Attribute(code=code, group=CHOSEN, unit=unit), subject, values, baseline)
        for code, subject, unit, values in chosen_values(assessments)
    ]
    last = max(n for n, row in enumerate(rows) if row.attribute.group == CHOSEN)
    rows[last + 1 : last + 1] = chosen
    rows += _money_rows(assessments, baseline)
    for workload, own in _workloads(assessments):
        rows += [
            replace(row, workload=workload)
            for row in _workload_rows(workload, own, assessments, baseline, hires)
        ]
    return tuple(rows)


def differences(rows: Sequence[CompareRow]) -> tuple[CompareRow, ...]:
    """Return the rows in which rigs differ, what was chosen before what comes of it."""
    told = [row for row in rows if row.differs]
    return tuple(sorted(told, key=lambda row: row.attribute.group != CHOSEN))


def _is_partial(assessment: Assessment) -> bool:
    return bool(assessment.totals.unpriced or assessment.totals.foreign)


def _money_rows(assessments: Sequence[Assessment], baseline: int) -> list[CompareRow]:
    """Total, energy of a year and of three years with the price, where all rigs count in one
    currency."""
    currencies = {a.totals.currency for a in assessments}
    if len(currencies) != 1:
        return []
    currency = currencies.pop()
    partial = tuple(n for n, a in enumerate(assessments) if _is_partial(a))
    rows = [
        _row(
            _with_unit(TOTAL, currency),
            "",
            [_priced(a) for a in assessments],
            baseline,
            partial=partial,
        )
    ]
    running = [yearly_energy(a) for a in assessments]
    if any(year is not None for year in running):
        years: list[Value] = [year.cost if year else None for year in running]
        rows.append(_row(_with_unit(YEAR, currency), "", years, baseline))
        three: list[Value] = [
            three_year_total(a.totals.total, year.cost, (a.rig.quote.resale_percent or 0.0) / 100)
            if year and a.totals.lines
            else None
            for a, year in zip(assessments, running, strict=True)
        ]
        rows.append(_row(_with_unit(THREE_YEARS, currency), "", three, baseline, partial=partial))
    return rows + _own_hire_rows(assessments, baseline)


def _own_hire_rows(assessments: Sequence[Assessment], baseline: int) -> list[CompareRow]:
    """After how long each rig is cheaper than a hire that its site names."""
    rows = []
    for attribute, monthly in ((OWN_HIRE, False), (OWN_MONTHS, True)):
        named = [
            next((hire for hire in own_hires(a) if (hire.months is not None) == monthly), None)
            for a in assessments
        ]
        if any(named):
            after: list[Value] = [
                (hire.after or "never") if hire and hire.comparable else None for hire in named
            ]
            rows.append(_row(attribute, "", after, baseline))
    return rows


def _priced(assessment: Assessment) -> float | None:
    return (
        assessment.totals.total
        if any(line.amount is not None for line in assessment.totals.lines)
        else None
    )


def _with_unit(attribute: Attribute, unit: str) -> Attribute:
    return Attribute(
        code=attribute.code, group=attribute.group, unit=unit, direction=attribute.direction
    )


def _workloads(assessments: Sequence[Assessment]) -> list[tuple[Workload, int]]:
    """Each workload once, with the number of GPUs of the first rig that has it."""
    found: dict[bytes, tuple[Workload, int]] = {}
    for assessment in assessments:
        for workload in assessment.rig.workloads:
            found.setdefault(
                msgspec.msgpack.encode(workload), (workload, len(assessment.machine.gpus))
            )
    return list(found.values())


def _job_of(workload: Workload, own: int, assessment: Assessment) -> Job | None:
    """The workload on a rig: its own job, or one that is worked out for the comparison."""
    known = next((job for job in assessment.jobs if job.workload == workload), None)
    count = len(assessment.machine.gpus)
    return (
        known
        if known or not count
        else job_on(0, split_over(workload, own, count), assessment.machine)
    )


def _subject(workload: Workload) -> str:
    return (
        workload.name
        or f"{workload.model or 'network'} {(workload.task or '').replace('_', ' ')}".strip()
    )


def job_behind(row: CompareRow, rig: int, assessments: Sequence[Assessment]) -> Job | None:
    """Return the workload that a row of the comparison speaks of, on one of the rigs; None for rows
    of other things."""
    own = _own_count(row, assessments)
    return _job_of(row.workload, own, assessments[rig]) if row.workload is not None else None


def offers_behind(
    row: CompareRow, rig: int, assessments: Sequence[Assessment], hires: Hires
) -> tuple[Offer, ...]:
    """Return the machines for hire that a row of the comparison rests on for one of the rigs."""
    job = job_behind(row, rig, assessments)
    if row.workload is None or job is None or job.speed is None:
        return ()
    return offers_among(
        assessments[rig], job, hires(row.workload, _own_count(row, assessments), job.speed.metric)
    )


def _own_count(row: CompareRow, assessments: Sequence[Assessment]) -> int:
    """The number of GPUs of the rig that a row's workload comes from."""
    return next((own for workload, own in _workloads(assessments) if workload == row.workload), 1)


def _workload_rows(
    workload: Workload,
    own: int,
    assessments: Sequence[Assessment],
    baseline: int,
    hires: Hires | None,
) -> list[CompareRow]:
    jobs = [_job_of(workload, own, a) for a in assessments]
    subject = _subject(workload)
    memory = [
        max((m.device_gib for m in job.memory), default=None) if job else None for job in jobs
    ]
    rows = [
        _row(MEMORY, subject, list(memory), baseline),
        _row(
            FITS, subject, [_fits(*pair) for pair in zip(jobs, assessments, strict=True)], baseline
        ),
    ]
    jobs = [
        replace(job, speed=None) if job and rows[1].values[n] == "does not fit" else job
        for n, job in enumerate(jobs)
    ]
    metrics = {job.speed.metric for job in jobs if job and job.speed}
    if len(metrics) != 1:
        return rows
    metric = metrics.pop()
    speeds = [job.speed if job else None for job in jobs]
    attribute = _with_unit(TIME if metric in TIME_METRICS else SPEED, metric)
    rows.append(
        _row(
            attribute,
            subject,
            [speed.value if speed else None for speed in speeds],
            baseline,
            tuple(speed.low if speed else None for speed in speeds),
            tuple(speed.high if speed else None for speed in speeds),
        )
    )
    rows.append(
        _row(BOUND, subject, [speed.bound if speed else None for speed in speeds], baseline)
    )
    rows.append(_row(LIFT, subject, [speed.lift if speed else None for speed in speeds], baseline))
    if metric not in TIME_METRICS:
        rows += _worth(subject, metric, jobs, assessments, baseline)
    return rows + (
        _hire_rows(subject, jobs, assessments, baseline, hires(workload, own, metric))
        if hires
        else []
    )


def _hire_rows(
    subject: str,
    jobs: Sequence[Job | None],
    assessments: Sequence[Assessment],
    baseline: int,
    hires: tuple[Hire, ...],
) -> list[CompareRow]:
    """The machine for hire that does the work for the least, what an hour of each rig's work costs
    there, on demand and spot, and when the rig pays."""
    found = [
        offers_among(a, job, hires) if job else () for job, a in zip(jobs, assessments, strict=True)
    ]
    best = [offers[0] if offers else None for offers in found]
    currencies = {a.totals.currency for a in assessments}
    if not any(best) or len(currencies) != 1:
        return []
    after: list[Value] = [
        None if offer is None else "never" if offer.hours is None else offer.hours for offer in best
    ]
    currency = currencies.pop()
    cost = _row(
        _with_unit(HIRE_COST, currency),
        subject,
        [offer.same_work if offer else None for offer in best],
        baseline,
    )
    spot = _row(
        _with_unit(HIRE_SPOT, currency),
        subject,
        [offer.spot_work if offer else None for offer in best],
        baseline,
    )
    spots = [offer.spot if offer else None for offer in best]
    return [
        _row(
            HIRE,
            subject,
            [f"{offer.provider} {offer.instance}" if offer else None for offer in best],
            baseline,
        ),
        replace(cost, days=tuple(offer.rent.day if offer else "" for offer in best)),
        *(
            [replace(spot, days=tuple(price.day if price else "" for price in spots))]
            if any(spots)
            else []
        ),
        _row(HIRE_AFTER, subject, after, baseline),
    ]


def _fits(job: Job | None, assessment: Assessment) -> Value:
    """The worst verdict over the cards: fits, tight, does not fit; None where not known."""
    if job is None or not job.memory:
        return None
    pairs = [
        (m, usable_gib(node.gpu))
        for m, node in zip(job.memory, assessment.machine.gpus, strict=False)
    ]
    if any(room is None for _, room in pairs):
        return None
    if any(m.low_gib > (room or 0.0) for m, room in pairs):
        return "does not fit"
    return "tight" if any(m.high_gib > (room or 0.0) for m, room in pairs) else "fits"


def _worth(
    subject: str,
    metric: str,
    jobs: Sequence[Job | None],
    assessments: Sequence[Assessment],
    baseline: int,
) -> list[CompareRow]:
    totals = [None if _is_partial(a) else a.totals.total for a in assessments]
    walls = [a.machine.power.wall_w for a in assessments]
    rows = [_per(_with_unit(SPEED_PER_WATT, f"{metric} per kW"), subject, jobs, walls, baseline)]
    if len({a.totals.currency for a in assessments}) == 1:
        unit = f"{metric} per 1000 {assessments[0].totals.currency}"
        rows.insert(0, _per(_with_unit(SPEED_PER_MONEY, unit), subject, jobs, totals, baseline))
    return rows


def _per(
    attribute: Attribute,
    subject: str,
    jobs: Sequence[Job | None],
    divisors: Sequence[float | None],
    baseline: int,
) -> CompareRow:
    """Return speed and its interval per 1000 of something known."""
    values: list[Value] = []
    lows: list[float | None] = []
    highs: list[float | None] = []
    for job, divisor in zip(jobs, divisors, strict=True):
        speed = job.speed if job and divisor else None
        share = 1000 / divisor if divisor else 0.0
        values.append(speed.value * share if speed else None)
        lows.append(speed.low * share if speed else None)
        highs.append(speed.high * share if speed else None)
    return _row(attribute, subject, values, baseline, tuple(lows), tuple(highs))


def _row(
    attribute: Attribute,
    subject: str,
    values: list[Value],
    baseline: int,
    lows: tuple[float | None, ...] = (),
    highs: tuple[float | None, ...] = (),
    partial: tuple[int, ...] = (),
) -> CompareRow:
    base = values[baseline]
    whole = [None if n in partial else value for n, value in enumerate(values)]
    return CompareRow(
        attribute=attribute,
        subject=subject,
        values=tuple(values),
        deltas=tuple(_delta(value, whole[baseline], attribute.counted) for value in whole),
        best=_best(attribute.direction, whole, lows, highs),
        differs=any(value != base for value in values),
        lows=lows,
        highs=highs,
        partial=partial,
    )


def _delta(value: Value, base: Value, counted: bool) -> float | None:
    if isinstance(value, str) or isinstance(base, str) or value is None or base is None:
        return None
    if counted:
        return value - base
    return value / base - 1 if base else None


def _best(
    direction: Direction,
    values: Sequence[Value],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
) -> tuple[int, ...]:
    known = [(n, value) for n, value in enumerate(values) if isinstance(value, int | float)]
    if direction == "none" or len(known) < 2 or len({value for _, value in known}) == 1:
        return ()
    sign = 1 if direction == "more" else -1
    winner, top = max(known, key=lambda pair: sign * pair[1])
    if not lows:
        return tuple(n for n, value in known if value == top)
    low, high = lows[winner], highs[winner]
    return tuple(
        n
        for n, value in known
        if n == winner or (low is not None and high is not None and low <= value <= high)
    )
