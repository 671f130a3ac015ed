"""What a quote says: plain content without a toolkit, from which PDF, Markdown and the rest are made."""

from datetime import date, timedelta
from itertools import groupby

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import Part
from rigplanner.evidence import Source
from rigplanner.machine.machine import Machine, PowerTree
from rigplanner.report import format as fmt
from rigplanner.report.words import finding_text, fix_text, rule_title
from rigplanner.rig.document import Party, Rig, part_of
from rigplanner.rules.assess import Assessment, Job
from rigplanner.rules.finding import Finding

BTU_PER_HOUR_PER_WATT = 3.412142
"""1 W = 3.412142 BTU/h (International Table BTU, NIST SP 811)."""


class QuoteLine(Struct, frozen=True, kw_only=True):
    """One row of the parts list, as text but for the quantity."""

    name: str
    detail: str
    quantity: int
    unit: str
    dated: str
    amount: str


class QuoteFinding(Struct, frozen=True, kw_only=True):
    """A finding in words; `waived` carries reason, name and end."""

    severity: str
    code: str
    title: str
    text: str
    fix: str = ""
    waived: str = ""


class SlotRow(Struct, frozen=True, kw_only=True):
    """Where a card goes and what link it gets."""

    place: str
    what: str
    link: str
    note: str = ""


class MemoryBar(Struct, frozen=True, kw_only=True):
    """Memory of one GPU of a workload in GiB against its capacity; `count` GPUs are alike."""

    gpu: str
    count: int
    parts: tuple[tuple[str, float], ...]
    total_gib: float
    low_gib: float
    high_gib: float
    capacity_gib: float | None
    verdict: str


class QuoteJob(Struct, frozen=True, kw_only=True):
    """One workload: memory and expected speed in words and numbers."""

    title: str
    settings: str
    bars: tuple[MemoryBar, ...]
    memory_note: str
    speed: str
    interval: str
    stack: str
    bound: str
    anchors: tuple[str, ...]
    assumed: str


class Quote(Struct, frozen=True, kw_only=True):
    """All that stands on a quote, in the order in which it is read."""

    title: str
    number: str
    date: str
    valid_until: str
    seller: Party
    customer: Party
    lines: tuple[QuoteLine, ...]
    sums: tuple[tuple[str, str], ...]
    money_notes: tuple[str, ...]
    verdict: str
    verdict_text: str
    findings: tuple[QuoteFinding, ...]
    waived: tuple[QuoteFinding, ...]
    slots: tuple[SlotRow, ...]
    machine: Machine
    links: str
    jobs: tuple[QuoteJob, ...]
    power: tuple[tuple[str, str], ...]
    setup: tuple[tuple[str, str], ...]
    unchecked: tuple[str, ...]
    ran: int
    sources: tuple[str, ...]
    terms: str
    remarks: str
    catalog_version: str


def quote_content(assessment: Assessment, catalog: Catalog, today: date) -> Quote:
    """Return the content of a rig's quote. `today` dates a quote that names no date of its own."""
    rig, details, report = assessment.rig, assessment.rig.quote, assessment.report
    issued = _day(details.date) or today
    verdict = report.verdict()
    return Quote(
        title=rig.name,
        number=details.number,
        date=issued.isoformat(),
        valid_until=(issued + timedelta(days=details.valid_days)).isoformat(),
        seller=details.seller,
        customer=details.customer,
        lines=tuple(_lines(assessment, catalog)),
        sums=tuple(_sums(assessment)),
        money_notes=tuple(_money_notes(assessment, catalog)),
        verdict=verdict,
        verdict_text=verdict_text(assessment),
        findings=tuple(_finding(f, rig, catalog) for f in report.findings),
        waived=tuple(_finding(f, rig, catalog) for f in report.waived),
        slots=tuple(_slots(assessment.machine)),
        machine=assessment.machine,
        links=_links(assessment.machine),
        jobs=tuple(_job(job, assessment.machine) for job in assessment.jobs),
        power=tuple(power_rows(assessment.machine.power)),
        setup=tuple(_setup(assessment)),
        unchecked=tuple(_unchecked(assessment, catalog)),
        ran=len(report.ran),
        sources=tuple(_sources(rig, catalog)),
        terms=details.terms,
        remarks=details.remarks,
        catalog_version=catalog.version,
    )


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def verdict_text(assessment: Assessment) -> str:
    """Return the one sentence that a reader of the quote sees first."""
    report = assessment.report
    errors, warnings, unknown = (report.count(s) for s in ("error", "warning", "unknown"))
    if errors:
        head = f"This rig does not work as planned: {_count(errors, 'error')}"
    elif unknown:
        head = f"Nothing wrong was found, but {_count(unknown, 'check')} could not be made for lack of data"
    elif warnings:
        head = "This rig works, with conditions"
    else:
        head = "This rig works"
    rest = [_count(warnings, "warning")] if warnings else []
    if unknown and errors:
        rest.append(f"{_count(unknown, 'check')} not made for lack of data")
    if report.waived:
        rest.append(f"{_count(len(report.waived), 'finding')} waived")
    return "; ".join([head, *rest]) + f". {len(report.ran)} rules were checked."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _lines(assessment: Assessment, catalog: Catalog) -> list[QuoteLine]:
    rows = []
    for line in assessment.totals.lines:
        item = assessment.rig.item(line.uid)
        part = part_of(assessment.rig, catalog, item.part) if item else None
        rows.append(
            QuoteLine(
                name=part.name if part else (item.part if item else line.uid),
                detail="; ".join(text for text in (detail_of(part), item.note if item else "") if text),
                quantity=line.quantity,
                unit=fmt.price(line.unit),
                dated=fmt.day(line.unit.day) if line.unit else "",
                amount=fmt.money(line.amount, assessment.totals.currency) if line.amount is not None else "",
            )
        )
    return rows


def detail_of(part: Part | None) -> str:
    """Return the few figures by which a buyer tells a part from its neighbours."""
    figures = {
        "memory_gib": "GiB", "tdp_w": "W", "cores": "cores", "lanes": "lanes", "module_gib": "GiB a module", "speed_mts": "MT/s",
        "capacity_gb": "GB", "read_gbs": "GB/s read", "form_factor": "", "port_gbps": "Gb/s",
    }  # fmt: skip
    found = []
    for field, unit in figures.items():
        value = getattr(part, field, None)
        if isinstance(value, str) and value != "pcie":
            found.append(value)
        elif isinstance(value, int | float) and not (field == "cores" and hasattr(part, "memory_gib")):
            found.append(fmt.quantity(value, unit))
    return ", ".join(found[:4])


def _sums(assessment: Assessment) -> list[tuple[str, str]]:
    totals, details = assessment.totals, assessment.rig.quote
    if totals.lines and all(line.amount is None for line in totals.lines):
        return [("Total", "no prices yet")]
    rows = [("Subtotal", fmt.money(totals.subtotal, totals.currency))]
    if totals.discount:
        rows.append((f"Discount {fmt.number(details.discount_percent)} %", fmt.money(-totals.discount, totals.currency)))
    if details.tax_percent is not None:
        word = "of which tax" if details.prices_include_tax else "Tax"
        rows.append((f"{word} {fmt.number(details.tax_percent)} %", fmt.money(totals.tax, totals.currency)))
    return [*rows, ("Total", fmt.money(totals.total, totals.currency))]


def _money_notes(assessment: Assessment, catalog: Catalog) -> list[str]:
    totals, notes = assessment.totals, []
    for uids, text in (
        (totals.unpriced, "without a price, not in the total"),
        (totals.foreign, "priced in another currency, not in the total"),
    ):
        if uids:
            names = [_item_name(assessment.rig, uid, catalog) for uid in uids]
            notes.append(f"{len(names)} {text}: {', '.join(names)}.")
    if assessment.rig.quote.tax_percent is None:
        notes.append("Tax is not stated.")
    return notes


def _item_name(rig: Rig, uid: str, catalog: Catalog) -> str:
    item = rig.item(uid)
    part = part_of(rig, catalog, item.part) if item else None
    return part.name if part else uid


def _finding(finding: Finding, rig: Rig, catalog: Catalog) -> QuoteFinding:
    waiver = next((w for w in rig.waivers if w.code == finding.code and w.subject in ("", *finding.subjects)), None)
    waived = ""
    if finding.waived_by and waiver:
        waived = f"Waived by {waiver.by}: {waiver.reason}" + (f" (until {fmt.day(waiver.until)})" if waiver.until else "")
    return QuoteFinding(
        severity=finding.severity,
        code=finding.code,
        title=rule_title(finding.code),
        text=finding_text(finding, rig, catalog),
        fix=" or ".join(fix_text(fix, rig, catalog) for fix in finding.fixes[:2]),
        waived=waived,
    )


def link_text(width: int | None, gen: int | None) -> str:
    """Return "x8 Gen4" or "unknown"."""
    if width is None:
        return fmt.UNKNOWN
    return f"x{width} Gen{gen}" if gen else f"x{width}"


def _slots(machine: Machine) -> list[SlotRow]:
    names = {piece.name: piece.part.name for piece in machine.pieces}
    rows = []
    for use in machine.slots:
        if use.piece:
            offered = link_text(use.available_width, use.available_gen)
            link = link_text(use.width, use.gen)
            note = f"slot offers {offered}" if use.available_width and use.width and use.width < use.available_width else ""
            rows.append(SlotRow(place=use.slot.id, what=names.get(use.piece, use.piece), link=link, note=note))
        elif use.disabled_by:
            rows.append(SlotRow(place=use.slot.id, what="off", link="", note=f"switched off by {', '.join(use.disabled_by)}"))
        elif use.covered_by:
            rows.append(SlotRow(place=use.slot.id, what="covered", link="", note=f"by {names.get(use.covered_by, use.covered_by)}"))
        else:
            rows.append(SlotRow(place=use.slot.id, what="free", link=link_text(use.available_width, use.available_gen)))
    for drive in machine.drives:
        note = f"switched off by {', '.join(drive.disabled_by)}" if drive.disabled_by else ""
        for piece in drive.pieces:
            link = "SATA" if drive.port.kind == "sata" else link_text(drive.width, drive.gen)
            rows.append(SlotRow(place=drive.port.id, what=names.get(piece, piece), link=link, note=note))
    return _grouped(rows)


def _grouped(rows: list[SlotRow]) -> list[SlotRow]:
    grouped = []
    for (what, link, note), alike in groupby(rows, key=lambda row: (row.what, row.link, row.note)):
        places = [row.place for row in alike]
        if len(places) == 1:
            grouped.append(SlotRow(place=places[0], what=what, link=link, note=note))
        else:
            shown = f"{places[0]} to {places[-1]}" if len(set(places)) > 1 else places[0]
            grouped.append(SlotRow(place=shown, what=f"{len(places)} × {what}", link=link, note=note))
    return grouped


def _links(machine: Machine) -> str:
    if len(machine.gpus) < 2:
        return ""
    kinds = sorted(
        {cell for row in machine.matrix[: len(machine.gpus)] for cell in row[: len(machine.gpus)] if cell not in ("X", "")}
    )
    islands = [island for island in machine.islands if len(island) > 1]
    return f"GPU to GPU: {', '.join(kinds) or fmt.UNKNOWN}; " + (
        f"NVLink islands: {', '.join('+'.join(map(str, island)) for island in islands)}." if islands else "no NVLink between GPUs."
    )


PART_WORDS = (
    ("weights_gib", "weights"), ("gradients_gib", "gradients"), ("optimizer_gib", "optimizer"), ("activations_gib", "activations"),
    ("kv_cache_gib", "KV cache"), ("workspace_gib", "workspace"), ("context_gib", "context"),
)  # fmt: skip


def memory_bars(job: Job, machine: Machine) -> tuple[MemoryBar, ...]:
    """Return one bar per distinct GPU of a workload."""
    bars: dict[tuple[str, float], MemoryBar] = {}
    for gpu, estimate in zip(machine.gpus, job.memory, strict=False):
        key = (gpu.gpu.id, estimate.device_gib)
        count = bars[key].count + 1 if key in bars else 1
        bars[key] = MemoryBar(
            gpu=gpu.gpu.name,
            count=count,
            parts=tuple((word, getattr(estimate.parts, field)) for field, word in PART_WORDS),
            total_gib=estimate.device_gib,
            low_gib=estimate.low_gib,
            high_gib=estimate.high_gib,
            capacity_gib=gpu.gpu.memory_gib,
            verdict=fit_verdict(estimate.low_gib, estimate.high_gib, gpu.gpu.memory_gib),
        )
    return tuple(bars.values())


def fit_verdict(low_gib: float, high_gib: float, capacity_gib: float | None) -> str:
    """Return fits, tight, does not fit, or unknown, from the interval against the card."""
    if capacity_gib is None:
        return fmt.UNKNOWN
    return "fits" if high_gib <= capacity_gib else "does not fit" if low_gib > capacity_gib else "tight"


def workload_title(job: Job) -> str:
    """Return a workload's name, else model and task."""
    work = job.workload
    model = work.model or (work.config or {}).get("model_type") or "network"
    return work.name or f"{model}, {(work.task or 'task not set').replace('_', ' ')}"


def workload_settings(job: Job) -> str:
    """Return the settings that decide memory and speed, in one line."""
    work = job.workload
    size = "x".join(map(str, work.image_size)) if isinstance(work.image_size, list) else work.image_size
    named = (
        ("", work.precision), ("batch per GPU", work.batch_per_gpu), ("sequence", work.seq_len), ("image", size),
        ("prompt", work.input_tokens), ("output", work.output_tokens), ("optimizer", work.optimizer), ("LoRA rank", work.lora_rank),
        ("checkpointing", work.gradient_checkpointing), ("ZeRO", work.parallelism.zero if work.parallelism else None),
        ("tensor parallel", work.parallelism.tensor if work.parallelism and work.parallelism.tensor > 1 else None),
    )  # fmt: skip
    return ", ".join(f"{word} {value}".strip() for word, value in named if value not in (None, False, 0, ""))


def _job(job: Job, machine: Machine) -> QuoteJob:
    speed, bars = job.speed, memory_bars(job, machine)
    assumed = {**(job.memory[0].assumed if job.memory else {}), **(speed.assumed if speed else {})}
    return QuoteJob(
        title=workload_title(job),
        settings=workload_settings(job),
        bars=bars,
        memory_note=job.memory_fault or "",
        speed=fmt.quantity(speed.value, speed.metric) if speed else f"not predicted: {job.speed_fault or 'unknown'}",
        interval=fmt.interval(speed.low, speed.high, speed.metric) if speed else "",
        stack=speed.stack if speed else "",
        bound=speed.bound if speed else "",
        anchors=tuple(
            f"{a.gpu}, {a.model}, {a.stack}: {fmt.quantity(a.value, a.metric)} (weight {fmt.percent(a.weight)}, {a.source})"
            for a in (speed.anchors[:3] if speed else ())
        ),
        assumed=", ".join(f"{field} {value}" for field, value in sorted(assumed.items())),
    )


def power_rows(power: PowerTree) -> list[tuple[str, str]]:
    """Return the rows of the power table, from load to heat."""
    rows = [
        ("Sustained load of all parts", fmt.quantity(power.sustained_w, "W", 0)),
        ("Short excursions", fmt.quantity(power.transient_w, "W", 0)),
        ("Power supply, continuous", fmt.quantity(power.supply_w, "W", 0)),
        ("Drawn from the wall", fmt.quantity(power.wall_w, "W", 0)),
        ("Circuit, continuous limit", fmt.quantity(power.circuit_w, "W", 0) if power.circuit_w else "not stated"),
        ("Heat into the room", fmt.quantity(power.wall_w * BTU_PER_HOUR_PER_WATT if power.wall_w else None, "BTU/h", 0)),
    ]
    if power.unknown:
        rows.append(("Not known", ", ".join(power.unknown)))
    return rows


def _setup(assessment: Assessment) -> list[tuple[str, str]]:
    machine, rig = assessment.machine, assessment.rig
    names = {piece.name: piece.part.name for piece in machine.pieces}
    rows = [
        (f"Put {names.get(use.piece, use.piece)} into", use.slot.id) for use in machine.slots if use.piece and "/" not in use.piece
    ]
    rows += [
        (f"Put {names.get(piece, piece)} into", use.port.id) for use in machine.drives for piece in use.pieces if "/" not in piece
    ]
    rows += [(f"BIOS: {place}", choice) for place, choice in rig.settings.bios.items()]
    rows += [(f"nvidia-smi -pl for {gpu.piece}", fmt.quantity(gpu.power_cap_w, "W")) for gpu in machine.gpus if gpu.power_cap_w]
    return [*rows, *rig.settings.software.items()]


def _unchecked(assessment: Assessment, catalog: Catalog) -> list[str]:
    report = assessment.report
    rows = [f"{rule_title(code)} ({code}): ignored for this rig" for code in report.ignored]
    rows += [
        f"{rule_title(finding.code)} ({finding.code}): {finding_text(finding, assessment.rig, catalog)}"
        for finding in report.findings
        if finding.severity == "unknown"
    ]
    rows.append("Cable lengths, fan noise, clearance between RAM and CPU cooler, and local wiring rules are not checked.")
    return rows


def _sources(rig: Rig, catalog: Catalog) -> list[str]:
    known: dict[str, Source] = {**rig.snapshot_sources, **catalog.sources}
    keys: dict[str, None] = {}
    for item in rig.items:
        part = part_of(rig, catalog, item.part)
        keys.update(dict.fromkeys(part.sources if part else ()))
    found = [known[key] for key in keys if key in known]
    return [", ".join(text for text in (f"{source.title} (read {fmt.day(source.read)})", source.url) if text) for source in found]
