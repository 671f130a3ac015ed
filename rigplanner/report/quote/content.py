"""What a quote says: plain content without a toolkit, from which PDF, Markdown and the rest are
made."""

from collections.abc import Iterator
from datetime import date, timedelta

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Part, Price
from rigplanner.economics.totals import Line, Totals
from rigplanner.evidence import Source
from rigplanner.machine.model import Machine
from rigplanner.report import format as fmt
from rigplanner.report.language import listed, tr, trn
from rigplanner.report.quote.costs import renting_rows, running_rows
from rigplanner.report.quote.jobs import QuoteJob, job_content
from rigplanner.report.quote.machine import SlotRow, links_text, noise_row, power_rows, slot_rows
from rigplanner.report.quote.offered import Offered, alternatives_offered
from rigplanner.report.quote.setup_sheet import SetupRow, setup_rows, software_sources
from rigplanner.report.words.fields import FIELD_WORDS
from rigplanner.report.words.findings import (
    STATE_WORDS,
    finding_text,
    fix_text,
    rests_text,
    rule_title,
)
from rigplanner.report.words.machine import absent_texts
from rigplanner.report.words.rates import prices_today_text, uncounted_text
from rigplanner.rig.document import Party, QuoteDetails, Rig, part_of
from rigplanner.rig.files import with_snapshot
from rigplanner.rules.assess import Assessment
from rigplanner.rules.core.finding import Finding


class QuoteLine(Struct, frozen=True, kw_only=True):
    """One row of the parts list in words; `unit` is the price of one piece as given, `each` that in
    the quote's currency where its rates reach; `value` the amount in that currency."""

    part: str
    name: str
    detail: str
    quantity: int
    unit: str
    each: str
    dated: str
    amount: str
    price: Price | None = None
    value: float | None = None


class QuoteSource(Struct, frozen=True):
    """Where figures come from: title, address ("" for none) and the day read, in words."""

    title: str
    url: str
    read: str


class QuoteFinding(Struct, frozen=True, kw_only=True):
    """A finding in words; `waived` carries reason, name and end."""

    severity: str
    code: str
    title: str
    text: str
    fix: str = ""
    waived: str = ""


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
    running: tuple[tuple[str, str], ...]
    renting: tuple[tuple[str, ...], ...]
    setup: tuple[SetupRow, ...]
    offered: tuple[Offered, ...]
    unchecked: tuple[str, ...]
    ran: int
    sources: tuple[QuoteSource, ...]
    terms: str
    remarks: str
    catalog_version: str
    rig: Rig
    totals: Totals


def quote_content(assessment: Assessment, catalog: Catalog, today: date) -> Quote:
    """Return the content of a rig's quote. `today` dates a quote that names no date of its own."""
    rig, details, report = assessment.rig, assessment.rig.quote, assessment.report
    issued = _day(details.date) or today
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
        verdict=report.verdict(),
        verdict_text=" ".join(filter(None, (verdict_text(assessment, catalog), _proof(rig)))),
        findings=tuple(_finding(f, rig, catalog) for f in report.findings),
        waived=tuple(_finding(f, rig, catalog) for f in report.waived),
        slots=tuple(slot_rows(assessment.machine)),
        machine=assessment.machine,
        links=links_text(assessment.machine),
        jobs=tuple(job_content(job, assessment.machine, catalog) for job in assessment.jobs),
        power=(*power_rows(assessment.machine.power), noise_row(assessment.machine)),
        running=tuple(running_rows(assessment)),
        renting=tuple(renting_rows(assessment, catalog)),
        setup=tuple(setup_rows(assessment)),
        offered=tuple(
            alternatives_offered(assessment, catalog, today.isoformat() if rig.waivers else "")
        ),
        unchecked=(*_unchecked(assessment, catalog), *_unverified(assessment, catalog)),
        ran=len(report.ran),
        sources=tuple(_sources(assessment, catalog)),
        terms=details.terms,
        remarks=details.remarks,
        catalog_version=catalog.version,
        rig=with_snapshot(rig, catalog),
        totals=assessment.totals,
    )


def _proof(rig: Rig) -> str:
    """What was proven of the rig as it is, "" where nothing was."""
    from rigplanner.planning.best.proof import proof_of
    from rigplanner.report.words.best import proof_text

    found = proof_of(rig)
    return proof_text(found.rigs, found.gap) if found else ""


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def verdict_text(assessment: Assessment, catalog: Catalog) -> str:
    """Return what a reader of the quote sees first: the verdict, and on what it rests."""
    report = assessment.report
    if not assessment.rig.items:
        return tr("No parts are chosen yet, so nothing was checked.")
    if not report.ran:
        return tr("Nothing was checked: every rule is ignored or had nothing to judge.")
    errors, warnings, unknown = (report.count(s) for s in ("error", "warning", "unknown"))
    if errors:
        head = trn(
            "This rig does not work as planned: {count} error",
            "This rig does not work as planned: {count} errors",
            errors,
        )
    elif unknown:
        head = trn(
            "Nothing wrong was found, but {count} check could not be made for lack of data",
            "Nothing wrong was found, but {count} checks could not be made for lack of data",
            unknown,
        )
    elif warnings:
        head = tr("This rig works with warnings")
    else:
        head = tr("This rig works")
    rest = [trn("{count} warning", "{count} warnings", warnings)] if warnings else []
    if unknown and errors:
        rest.append(
            trn(
                "{count} check not made for lack of data",
                "{count} checks not made for lack of data",
                unknown,
            )
        )
    if report.waived:
        rest.append(trn("{count} finding waived", "{count} findings waived", len(report.waived)))
    ran = trn("{count} rule was checked.", "{count} rules were checked.", len(report.ran))
    rests = rests_text(report, assessment.rig, catalog, most=0)
    told = listed([head, *rest], "; ")
    return listed([told, rests, ran] if rests else [told, ran], ". ")


def _lines(assessment: Assessment, catalog: Catalog) -> list[QuoteLine]:
    rows = []
    for line in assessment.totals.lines:
        item = assessment.rig.item(line.uid)
        part = part_of(assessment.rig, catalog, item.part) if item else None
        rows.append(
            QuoteLine(
                part=item.part if item else "",
                name=part.name if part else (item.part if item else line.uid),
                detail="; ".join(
                    text for text in (detail_of(part), item.note if item else "") if text
                ),
                quantity=line.quantity,
                unit=fmt.price(line.unit),
                each=_price_of_one(line, assessment.totals.currency),
                dated=fmt.day(line.unit.day) if line.unit else "",
                amount=(
                    fmt.money(line.amount, assessment.totals.currency)
                    if line.amount is not None
                    else ""
                ),
                price=line.unit,
                value=line.amount,
            )
        )
    return rows


def _price_of_one(line: Line, currency: str) -> str:
    """Return the price of one piece in the quote's currency where its rates reach, else as it was
    given."""
    return (
        fmt.price(line.unit)
        if line.amount is None
        else fmt.money(line.amount / line.quantity, currency)
    )


def detail_of(part: Part | None) -> str:
    """Return the few figures by which a buyer tells a part from its neighbours."""
    figures = {
        "memory_gib": "GiB",
        "tdp_w": "W",
        "cores": "cores",
        "lanes": "lanes",
        "module_gib": "GiB a module",
        "speed_mts": "MT/s",
        "capacity_gb": "GB",
        "read_gbs": "GB/s read",
        "form_factor": "",
        "port_gbps": "Gb/s",
    }
    found = []
    for field, unit in figures.items():
        value = getattr(part, field, None)
        if isinstance(value, str) and value != "pcie":
            found.append(value)
        elif isinstance(value, int | float) and not (
            field == "cores" and hasattr(part, "memory_gib")
        ):
            found.append(fmt.quantity(value, unit))
    return ", ".join(found[:4])


def _sums(assessment: Assessment) -> list[tuple[str, str]]:
    totals = assessment.totals
    if totals.lines and all(line.amount is None for line in totals.lines):
        return [(tr("Total"), tr("no prices yet"))]
    return [
        (word, fmt.money(amount, totals.currency))
        for word, amount in sum_rows(totals, assessment.rig.quote)
    ]


def sum_rows(totals: Totals, details: QuoteDetails) -> list[tuple[str, float]]:
    """Return the lines below the parts list, the total last: words and amounts in the quote's
    currency."""
    rows = [(tr("Subtotal"), totals.subtotal)]
    if totals.discount:
        rows.append(
            (
                tr(
                    "Discount {discount_percent} %",
                    discount_percent=fmt.number(details.discount_percent),
                ),
                -totals.discount,
            )
        )
    rows += [(tax_word(rate, details.prices_include_tax), amount) for rate, amount in totals.taxes]
    partial = totals.unpriced or totals.foreign
    return [*rows, (tr("Total of the priced parts") if partial else tr("Total"), totals.total)]


def tax_word(rate: float, included: bool) -> str:
    """Return the name of a line of tax at a rate in per cent."""
    return (
        tr("of which tax {rate} %", rate=fmt.number(rate))
        if included
        else tr("Tax {rate} %", rate=fmt.number(rate))
    )


def _money_notes(assessment: Assessment, catalog: Catalog) -> list[str]:
    totals, notes = assessment.totals, []
    for uids, text in (
        (totals.unpriced, tr("Without a price, not in the total: {names}.")),
        (totals.foreign, tr("Priced in another currency, not in the total: {names}.")),
    ):
        if uids:
            names = [_item_name(assessment.rig, uid, catalog) for uid in uids]
            notes.append(text.format(names=listed(names)))
    notes += filter(None, [uncounted_text(totals)])
    if totals.converted and assessment.rig.exchange:
        names = [_item_name(assessment.rig, uid, catalog) for uid in totals.converted]
        rates = assessment.rig.exchange
        whole = len(names) > 1 and len(names) == sum(line.unit is not None for line in totals.lines)
        notes.append(
            tr(
                "All prices are converted by the rates of {day} ({source}).",
                day=fmt.day(rates.day),
                source=rates.source,
            )
            if whole
            else tr(
                "Converted by the rates of {day} ({source}): {names}.",
                day=fmt.day(rates.day),
                source=rates.source,
                names=listed(names),
            )
        )
    notes += filter(None, [prices_today_text(totals)])
    if not totals.taxes:
        notes.append(tr("Tax is not stated."))
    return notes


def _item_name(rig: Rig, uid: str, catalog: Catalog) -> str:
    item = rig.item(uid)
    part = part_of(rig, catalog, item.part) if item else None
    return part.name if part else uid


def _finding(finding: Finding, rig: Rig, catalog: Catalog) -> QuoteFinding:
    waiver = next(
        (w for w in rig.waivers if w.code == finding.code and w.subject in ("", *finding.subjects)),
        None,
    )
    waived = ""
    if finding.waived_by and waiver:
        waived = tr("Waived by {by}: {reason}", by=waiver.by, reason=waiver.reason) + (
            tr(" (until {until})", until=fmt.day(waiver.until)) if waiver.until else ""
        )
    return QuoteFinding(
        severity=finding.severity,
        code=finding.code,
        title=rule_title(finding.code),
        text=finding_text(finding, rig, catalog),
        fix=tr(" or ").join(fix_text(fix, rig, catalog) for fix in finding.fixes[:2]),
        waived=waived,
    )


def _unverified(assessment: Assessment, catalog: Catalog) -> Iterator[str]:
    """Yield one line a part: its deciding figures that nobody verified, by state."""
    report, rig = assessment.report, assessment.rig
    for part_id in dict.fromkeys(figure.part for figure in report.unverified):
        part = part_of(rig, catalog, part_id)
        alike: dict[str, list[str]] = {}
        for figure in report.unverified:
            if figure.part == part_id:
                word = tr(FIELD_WORDS.get(figure.fact.partition(":")[2], figure.field))
                alike.setdefault(tr(STATE_WORDS[figure.state]), []).append(word)
        figures = listed((f"{listed(words)} ({state})" for state, words in alike.items()), "; ")
        yield tr(
            "Not verified of {part}: {figures}.",
            part=part.name if part else part_id,
            figures=figures,
        )


def _unchecked(assessment: Assessment, catalog: Catalog) -> list[str]:
    report = assessment.report
    rows = [
        tr("{title} ({code}): ignored for this rig", title=rule_title(code), code=code)
        for code in report.ignored
    ]
    rows += [
        f"{rule_title(finding.code)} ({finding.code}):"
        f" {finding_text(finding, assessment.rig, catalog)}"
        for finding in report.findings
        if finding.severity == "unknown"
    ]
    rows += absent_texts(assessment.machine)
    rows.append(
        tr(
            "Cable lengths, fan noise, clearance between RAM and CPU cooler, and local wiring rules"
            " are not checked."
        )
    )
    return rows


def _sources(assessment: Assessment, catalog: Catalog) -> list[QuoteSource]:
    rig = assessment.rig
    known: dict[str, Source] = {**rig.snapshot_sources, **catalog.sources}
    keys: dict[str, None] = {}
    for item in rig.items:
        part = part_of(rig, catalog, item.part)
        keys.update(dict.fromkeys(part.sources if part else ()))
    found = [known[key] for key in keys if key in known] + software_sources(assessment)
    return [QuoteSource(source.title, source.url or "", fmt.day(source.read)) for source in found]
