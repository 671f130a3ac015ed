"""The sums of a quote in words: what the computer and what stands beside it come to, labour,
shipping, taxes, the total of what has a price, and the deposit."""

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import System
from rigplanner.economics.totals import Totals
from rigplanner.report import format as fmt
from rigplanner.report.language import digits, tr, trn
from rigplanner.rig.document import QuoteDetails, Rig, part_of
from rigplanner.rules.assess import Assessment


def sum_rows(totals: Totals, details: QuoteDetails) -> list[tuple[str, float]]:
    """Return the lines below the parts list, the total last: words and amounts in the quote's
    currency."""
    rows = []
    if totals.beside:
        rows = [
            (tr("Computer"), totals.subtotal - totals.beside),
            (tr("Beside the computer"), totals.beside),
        ]
    rows.append((tr("Subtotal"), totals.subtotal))
    if totals.discount:
        percent = share_text(details.discount_percent)
        rows.append(
            (tr("Discount {discount_percent} %", discount_percent=percent), -totals.discount)
        )
    rows += [(tr("Labour"), totals.labour)] if totals.labour else []
    rows += [(tr("Shipping"), totals.shipping)] if totals.shipping else []
    included = details.prices_include_tax
    rows += [(tax_word(rate, included, details.tax_name), amount) for rate, amount in totals.taxes]
    rows += [(tax_word(rate, included, name), amount) for name, rate, amount in totals.levies]
    return [*rows, (total_word(totals), totals.total)]


def total_word(totals: Totals) -> str:
    """Return what the total is called: a total of some parts says of how many."""
    if not totals.unpriced and not totals.foreign:
        return tr("Total")
    every = len(totals.lines)
    return tr(
        "Total of the priced parts, {count} of {all}",
        count=every - len(totals.unpriced) - len(totals.foreign),
        all=every,
    )


def incomplete_text(totals: Totals) -> str:
    """Return that a sum leaves parts out, "" where it does not."""
    count = len(totals.unpriced) + len(totals.foreign)
    if not count or count == len(totals.lines):
        return ""
    return trn(
        "Not complete: {count} of {all} parts has no price in the total",
        "Not complete: {count} of {all} parts have no price in the total",
        count,
        all=len(totals.lines),
    )


def share_text(percent: float) -> str:
    """Return a rate in per cent with as many decimals as it was entered with."""
    return digits(f"{percent:.10g}")


def tax_word(rate: float, included: bool, name: str = "") -> str:
    """Return the name of a line of tax at a rate in per cent."""
    share = share_text(rate)
    if name:
        return (
            tr("of which {tax} {rate} %", tax=name, rate=share) if included else f"{name} {share} %"
        )
    if included:
        return tr("of which tax {rate} %", rate=share)
    return tr("Tax {rate} %", rate=share)


def shown_sums(assessment: Assessment, catalog: Catalog) -> list[tuple[str, str]]:
    """Return the sums in words and money. A complete machine without a price leaves no total: what
    its other parts come to is none."""
    totals, rig = assessment.totals, assessment.rig
    if totals.lines and all(line.amount is None for line in totals.lines):
        return [(tr("Total"), tr("no prices yet"))]
    rows = [
        (word, fmt.money(amount, totals.currency)) for word, amount in sum_rows(totals, rig.quote)
    ]
    missing = (*totals.unpriced, *totals.foreign)
    whole = not any(is_machine(rig, uid, catalog) for uid in missing)
    return rows if whole else [*rows, (tr("Total"), tr("not known"))]


def is_machine(rig: Rig, uid: str, catalog: Catalog) -> bool:
    """Say whether an item is a complete machine."""
    item = rig.item(uid)
    return item is not None and isinstance(part_of(rig, catalog, item.part), System)


def item_name(rig: Rig, uid: str, catalog: Catalog) -> str:
    """Return what an item's part is called."""
    item = rig.item(uid)
    part = part_of(rig, catalog, item.part) if item else None
    return part.name if part else uid


def condition_rows(totals: Totals, details: QuoteDetails) -> list[tuple[str, str]]:
    """Return on what terms is sold, as far as the seller says it: lead time and deposit."""
    rows = [(tr("Lead time"), details.lead_time)] if details.lead_time else []
    if totals.deposit:
        share = share_text(details.deposit_percent)
        rows.append(
            (
                tr("Deposit with the order, {percent} %", percent=share),
                fmt.money(totals.deposit, totals.currency),
            )
        )
        rest = fmt.money(totals.total - totals.deposit, totals.currency)
        rows.append((tr("Due on delivery"), rest))
    return rows


def margin_rows(assessment: Assessment) -> list[tuple[str, str]]:
    """Return what the parts cost the seller and what he keeps of them before tax, for those whose
    cost he named; and how many those are."""
    totals, rig = assessment.totals, assessment.rig
    sold = [
        (net_of(assessment, line.amount), cost)
        for line in totals.lines
        if line.amount is not None and (cost := line_cost(rig, line.uid)) is not None
    ]
    if not sold:
        return [(tr("Cost"), tr("not entered for any part"))]
    cost = sum(row[1] for row in sold)
    net = sum(row[0] for row in sold)
    share = fmt.percent((net - cost) / net) if net else tr(fmt.UNKNOWN)
    counted = tr("{count} of {all} parts", count=len(sold), all=len(totals.lines))
    margin = fmt.money(net - cost, totals.currency)
    return [
        (tr("Sold without tax, {counted}", counted=counted), fmt.money(net, totals.currency)),
        (tr("Cost"), fmt.money(cost, totals.currency)),
        (tr("Margin"), f"{margin} ({share})"),
    ]


def net_of(assessment: Assessment, amount: float) -> float:
    """Return what the seller gets of an amount: after the discount and, where prices contain tax,
    without the mean share of it."""
    totals, quote = assessment.totals, assessment.rig.quote
    paid = amount * (1 - quote.discount_percent / 100)
    taken = totals.tax / totals.total if quote.prices_include_tax and totals.total else 0.0
    return paid * (1 - taken)


def line_cost(rig: Rig, uid: str) -> float | None:
    """Return what all pieces of an item cost the seller, None where he did not say."""
    item = rig.item(uid)
    cost = item.goods.cost if item else None
    return None if item is None or cost is None else cost * item.quantity
