"""What a quote says: plain content without a toolkit, from which PDF, Markdown and the rest are
made."""

from datetime import date, timedelta

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.index import carried_to
from rigplanner.catalog.schema.parts import Part, Price
from rigplanner.economics.totals import Line, Totals
from rigplanner.machine.model import Machine
from rigplanner.report import format as fmt
from rigplanner.report.language import Words, listed, tr, trn
from rigplanner.report.quote.costs import renting_rows, running_rows
from rigplanner.report.quote.jobs import QuoteJob, job_content
from rigplanner.report.quote.machine import SlotRow, links_text, noise_row, power_rows, slot_rows
from rigplanner.report.quote.notes import QuoteSource, deciding_sources, unverified_texts
from rigplanner.report.quote.offered import Offered, alternatives_offered
from rigplanner.report.quote.setup_sheet import SetupRow, setup_rows
from rigplanner.report.quote.sums import (
    condition_rows,
    incomplete_text,
    item_name,
    line_cost,
    margin_rows,
    net_of,
    shown_sums,
)
from rigplanner.report.words.fields import VALUE_WORDS
from rigplanner.report.words.findings import (
    finding_text,
    fix_text,
    rests_text,
    rule_title,
)
from rigplanner.report.words.machine import absent_texts
from rigplanner.report.words.rates import prices_today_text, uncounted_text
from rigplanner.rig.document import Form, Item, Party, QuoteDetails, Rig, part_of
from rigplanner.rig.files import with_snapshot
from rigplanner.rig.goods import number_in_name
from rigplanner.rig.one_line import one_line
from rigplanner.rules.assess import Assessment
from rigplanner.rules.core.finding import Finding

FINDING_WORDS = Words(
    {
        "error": "does not work",
        "warning": "on a condition",
        "unknown": "not known",
        "info": "note",
        "ok": "works",
    }
)
"""How a finding's severity reads on paper."""
CONDITION_WORDS = Words({"new": "new", "used": "used", "refurbished": "refurbished"})


class QuoteLine(Struct, frozen=True, kw_only=True):
    """One row of the parts list in words; `unit` is the price of one piece as given, `each` that in
    the quote's currency where its rates reach; `value` the amount in that currency. `condition` and
    `warranty` are in words, `goods` with the numbers as one line; `cost` is what all pieces cost
    the seller, `margin` what he keeps before tax. `is_beside`: it stands beside the computer;
    `is_included`: it costs nothing."""

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
    part_number: str = ""
    ean: str = ""
    condition: str = ""
    warranty_months: int | None = None
    goods: str = ""
    cost: float | None = None
    margin: float | None = None
    is_beside: bool = False
    is_included: bool = False


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

    form: Form
    heading: str
    title: str
    number: str
    date: str
    valid_until: str
    seller: Party
    customer: Party
    lines: tuple[QuoteLine, ...]
    sums: tuple[tuple[str, str], ...]
    conditions: tuple[tuple[str, str], ...]
    margin: tuple[tuple[str, str], ...]
    money_notes: tuple[str, ...]
    verdict: str
    verdict_text: str
    incomplete: str
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
    unverified: tuple[str, ...]
    ran: int
    sources: tuple[QuoteSource, ...]
    share: str
    terms: str
    remarks: str
    catalog_version: str
    rig: Rig
    totals: Totals


def quote_content(
    assessment: Assessment, catalog: Catalog, today: date, form: Form | None = None
) -> Quote:
    """Return the content of a rig's quote. `today` dates a quote that names no date of its own;
    `form` is the rig's own where none is given."""
    rig, details, report = assessment.rig, assessment.rig.quote, assessment.report
    form = form or details.form
    issued = _day(details.date) or today
    return Quote(
        form=form,
        heading=_heading(form, details),
        title=rig.name,
        number=details.number,
        date=issued.isoformat(),
        valid_until=(issued + timedelta(days=details.valid_days)).isoformat(),
        seller=details.seller,
        customer=details.customer,
        lines=tuple(_lines(assessment, catalog, form)),
        sums=tuple(shown_sums(assessment, catalog)),
        conditions=tuple(condition_rows(assessment.totals, details)),
        margin=tuple(margin_rows(assessment)) if form == "internal" else (),
        money_notes=tuple(_money_notes(assessment, catalog)),
        verdict=report.verdict(),
        verdict_text=" ".join(filter(None, (verdict_text(assessment, catalog), _proof(rig)))),
        incomplete=incomplete_text(assessment.totals),
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
        unchecked=tuple(_unchecked(assessment, catalog)),
        unverified=tuple(unverified_texts(assessment, catalog)),
        ran=len(report.ran),
        sources=tuple(deciding_sources(assessment, catalog)),
        share=one_line(rig),
        terms=details.terms,
        remarks=details.remarks,
        catalog_version=catalog.version,
        rig=with_snapshot(_as_told(rig, form), catalog),
        totals=assessment.totals,
    )


def _heading(form: Form, details: QuoteDetails) -> str:
    """Return what the paper is called: a quote needs somebody who quotes."""
    if form == "internal":
        return tr("Calculation")
    return tr("Quote") if form == "dealer" and details.seller.name else tr("Parts list")


def _as_told(rig: Rig, form: Form) -> Rig:
    """Return the rig as a reader of the quote may have it: a dealer's customer sees no cost."""
    if form != "dealer" or all(item.goods.cost is None for item in rig.items):
        return rig
    told = (replace(item, goods=replace(item.goods, cost=None)) for item in rig.items)
    return replace(rig, items=tuple(told))


def _proof(rig: Rig) -> str:
    """What was proven of the rig as it is, "" where nothing was."""
    from rigplanner.planning.best.proof import proof_of
    from rigplanner.report.words.best import proof_text

    found = proof_of(rig)
    return proof_text(int(found.rigs), found.gap) if found else ""


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
        rest.append(
            trn("{count} finding accepted", "{count} findings accepted", len(report.waived))
        )
    ran = trn("{count} rule was checked.", "{count} rules were checked.", len(report.ran))
    rests = rests_text(report, assessment.rig, catalog, most=0)
    told = listed([head, *rest], "; ")
    return listed([told, rests, ran] if rests else [told, ran], ". ")


def _lines(assessment: Assessment, catalog: Catalog, form: Form) -> list[QuoteLine]:
    """Return the rows of the parts list, those that stand beside the computer last; cost and
    margin in the internal form alone."""
    totals = assessment.totals
    ordered = sorted(totals.lines, key=lambda line: line.uid in totals.aside)
    rows = [_row(line, assessment, catalog) for line in ordered]
    return rows if form == "internal" else [replace(row, cost=None, margin=None) for row in rows]


def _dated(price: Price) -> str:
    """Return the day of a price; of one that the price index carried, that it is an estimate."""
    today = carried_to(price)
    return tr("estimate of {day}", day=fmt.day(today)) if today else fmt.day(price.day)


def _row(line: Line, assessment: Assessment, catalog: Catalog) -> QuoteLine:
    rig, totals = assessment.rig, assessment.totals
    item = rig.item(line.uid)
    part = part_of(rig, catalog, item.part) if item else None
    name = part.name if part else (item.part if item else line.uid)
    included = line.unit is not None and not line.unit.amount
    known = line.amount is not None and not included
    cost = line_cost(rig, line.uid)
    margin = (
        net_of(assessment, line.amount) - cost
        if cost is not None and line.amount is not None
        else None
    )
    made = QuoteLine(
        part=item.part if item else "",
        name=name,
        detail="; ".join(text for text in (detail_of(part), item.note if item else "") if text),
        quantity=line.quantity,
        unit=tr("included") if included else fmt.price(line.unit),
        each=tr("included") if included else _price_of_one(line, totals.currency),
        dated=_dated(line.unit) if line.unit and not included else "",
        amount=fmt.money(line.amount, totals.currency) if known else "",
        price=line.unit,
        value=line.amount,
        cost=cost,
        margin=margin,
        is_beside=line.uid in totals.aside,
        is_included=included,
    )
    return _with_goods(made, item) if item else made


def _with_goods(line: QuoteLine, item: Item) -> QuoteLine:
    """Return a row with what the seller says of its pieces; a part number that ends the name stands
    in its own field, and is not said twice."""
    goods, months = item.goods, item.goods.warranty_months
    used = line.price.condition if line.price and line.price.used else ""
    condition = CONDITION_WORDS.get(goods.condition or used, "")
    number = goods.part_number or number_in_name(line.name)
    told = (
        condition,
        trn("{count} month warranty", "{count} months warranty", months) if months else "",
        tr("part no. {number}", number=number) if number and number not in line.name else "",
        f"EAN {goods.ean}" if goods.ean else "",
    )
    return replace(
        line,
        part_number=number,
        ean=goods.ean,
        condition=condition,
        warranty_months=months,
        goods=listed(text for text in told if text),
    )


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
        "module_gib": "GiB per module",
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
            found.append(tr(VALUE_WORDS.get(value, value)))
        elif isinstance(value, int | float) and not (
            field == "cores" and hasattr(part, "memory_gib")
        ):
            found.append(fmt.quantity(value, unit))
    return ", ".join(found[:4])


def _money_notes(assessment: Assessment, catalog: Catalog) -> list[str]:
    totals, notes = assessment.totals, []
    for uids, text in (
        (totals.unpriced, tr("Without a price, not in the total: {names}.")),
        (totals.foreign, tr("Priced in another currency, not in the total: {names}.")),
    ):
        if uids:
            names = [item_name(assessment.rig, uid, catalog) for uid in uids]
            notes.append(text.format(names=listed(names)))
    notes += filter(None, [uncounted_text(totals)])
    if totals.converted and assessment.rig.exchange:
        names = [item_name(assessment.rig, uid, catalog) for uid in totals.converted]
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


def _finding(finding: Finding, rig: Rig, catalog: Catalog) -> QuoteFinding:
    waiver = next(
        (w for w in rig.waivers if w.code == finding.code and w.subject in ("", *finding.subjects)),
        None,
    )
    waived = ""
    if finding.waived_by and waiver:
        waived = tr("Accepted by {by}: {reason}", by=waiver.by, reason=waiver.reason) + (
            tr(" (until {until})", until=fmt.day(waiver.until)) if waiver.until else ""
        )
    return QuoteFinding(
        severity=finding.severity,
        code=finding.code,
        title=rule_title(finding.code),
        text=finding_text(finding, rig, catalog),
        fix=tr(" or ").join(
            text[: n == 0] + text[n == 0 : 1].lower() + text[1:]
            for n, text in enumerate(fix_text(fix, rig, catalog) for fix in finding.fixes[:2])
        ),
        waived=waived,
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
