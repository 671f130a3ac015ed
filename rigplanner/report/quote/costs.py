"""What the rig costs while it runs, and against renting, in words."""

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.load import Catalog
from rigplanner.economics.running import HOURS_PER_DAY, energy_per_year, three_year_total
from rigplanner.planning.renting import Offer, OwnHire, offers, own_hires
from rigplanner.planning.tokens import token_offers
from rigplanner.report import format as fmt
from rigplanner.report.language import listed, tr, trn
from rigplanner.report.quote.jobs import workload_title
from rigplanner.report.words.hire import provider_text, spot_text
from rigplanner.report.words.tokens import token_words
from rigplanner.rules.assess import Assessment

RULE_OF_2015 = 1500.0
"""Hours from which a rig of one's own pays, as a guide of 2015 had it for any rig and hire."""


def running_rows(assessment: Assessment) -> list[tuple[str, str]]:
    """Return energy and cost of a year and of three, as far as load, hours, tariff and prices are
    known."""
    site, totals, wall_w = assessment.rig.site, assessment.totals, assessment.machine.power.wall_w
    if wall_w is None or site.hours_per_day is None or not 0 <= site.hours_per_day <= HOURS_PER_DAY:
        return []
    tariff = site.energy_per_kwh
    year = energy_per_year(
        wall_w, site.hours_per_day, tariff.amount if tariff and tariff.amount >= 0 else 0.0
    )
    rows = [
        (
            tr(
                "Energy per year at full load, {hours_per_day} h per day",
                hours_per_day=fmt.number(site.hours_per_day),
            ),
            fmt.quantity(year.energy_kwh, "kWh", 0),
        )
    ]
    if tariff is not None:
        rows.append(
            (
                tr(
                    "Its cost at {amount} {currency} per kWh",
                    amount=fmt.number(tariff.amount, 3),
                    currency=tariff.currency,
                ),
                fmt.money(year.cost, tariff.currency),
            )
        )
        if (
            tariff.currency == totals.currency
            and totals.lines
            and not totals.unpriced
            and not totals.foreign
        ):
            rows += _three_years(assessment, year.cost)
    return rows


def _three_years(assessment: Assessment, year_cost: float) -> list[tuple[str, str]]:
    """Price, energy of three years and, where the quote names it, what the rig brings when it is
    sold then."""
    totals, share = assessment.totals, assessment.rig.quote.resale_percent
    if share is None:
        return [
            (
                tr("Price and energy of three years"),
                fmt.money(three_year_total(totals.total, year_cost), totals.currency),
            )
        ]
    resale = fmt.money(-totals.total * share / 100, totals.currency)
    whole = three_year_total(totals.total, year_cost, share / 100)
    return [
        (tr("Resale after three years at {share} % of the price", share=fmt.number(share)), resale),
        (tr("Three years: price and energy, less resale"), fmt.money(whole, totals.currency)),
    ]


def renting_rows(assessment: Assessment, catalog: Catalog) -> list[tuple[str, ...]]:
    """Return rows of workload, machine for hire, rent, the rig's speed against it, and the hours
    after which the rig is cheaper; first the hires that the site names itself."""
    cloud = shipped_cloud()
    rows: list[tuple[str, ...]] = [_own(hire) for hire in own_hires(assessment)]
    rows += [
        (workload_title(offer.job), *token_words(assessment, offer))
        for offer in token_offers(assessment)
    ]
    for job in assessment.jobs:
        found = offers(assessment, job, catalog, cloud)
        rows += [
            (workload_title(job), *_offer(offer, assessment.totals.currency)) for offer in found
        ]
    return rows


def _own(hire: OwnHire) -> tuple[str, str, str, str, str]:
    amount = fmt.money(hire.rent.amount, hire.rent.currency)
    if hire.months is None:
        rent = tr("{amount} per hour", amount=amount)
        after = _own_hours(hire)
    else:
        whole = fmt.money(hire.whole or 0.0, hire.rent.currency)
        rent = tr(
            "{amount} per month, {whole} over {months}",
            amount=amount,
            whole=whole,
            months=_months(hire.months),
        )
        after = _months(hire.after)
    if hire.after is None:
        after = tr("never") if hire.comparable else tr(fmt.UNKNOWN)
    ratio = tr("{ratio} ×, as entered", ratio=fmt.number(hire.ratio)) if hire.ratio else ""
    return tr("Any work"), tr("Rent as entered"), rent, ratio or tr("not compared"), after


def _own_hours(hire: OwnHire) -> str:
    """Hours of the rig's work first, then those of rent where they differ, and what people said."""
    rented = (hire.after or 0.0) * (hire.ratio or 1.0)
    return listed(
        filter(
            None,
            (
                tr("{hours} of work", hours=fmt.quantity(hire.after, "h", 0)),
                tr("{hours} of rent", hours=fmt.quantity(rented, "h", 0)) if hire.ratio else "",
                tr("a rule of thumb of 2015 says {hours}", hours=fmt.quantity(RULE_OF_2015, "h")),
            ),
        )
    )


def _months(value: float | None) -> str:
    return trn("{count} month", "{count} months", round(value or 0))


def _offer(offer: Offer, currency: str) -> tuple[str, str, str, str]:
    amount = fmt.money(offer.rent.amount, offer.rent.currency)
    if offer.rent.currency != currency:
        amount = tr(
            "{amount} ({counted})", amount=amount, counted=fmt.money(offer.counted, currency)
        )
    asked = tr("{amount} per hour, {day}", amount=amount, day=fmt.day(offer.rent.day))
    rent = listed(filter(None, (asked, spot_text(offer.spot))), "; ")
    both = tr(
        "{ratio} ×: {own} here, {rented} {metric} rented",
        ratio=fmt.number(offer.speed_ratio, 2),
        own=fmt.number(offer.own),
        rented=fmt.number(offer.rented),
        metric=fmt.unit_text(offer.metric),
    )
    if offer.hours is None:
        after = tr("never")
    else:
        after = tr(
            "{hours}, {days} at {daily} h per day",
            hours=fmt.quantity(offer.hours, "h", 0),
            days=fmt.quantity(offer.days, tr("days"), 0),
            daily=fmt.number(offer.hours_per_day),
        )
    machine = f"{provider_text(offer.provider)} {offer.instance}"
    if offer.gpus.partition(" x ")[2] not in offer.instance:
        machine = listed([machine, offer.gpus.replace(" x ", " × ")])
    return machine, rent, both, after
