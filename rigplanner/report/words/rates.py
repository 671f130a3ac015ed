"""Which currencies the European Central Bank publishes no rate of, in words."""

from collections.abc import Iterable

from rigplanner.catalog.prices.exchange import unpublished_among
from rigplanner.economics.totals import Totals
from rigplanner.report import format as fmt
from rigplanner.report.language import listed, tr

LEAST_DIFFERENCE = 0.02
"""Below this share of the sum, what it would be today is not told apart from what it is."""


def prices_today_text(totals: Totals) -> str:
    """Return how much of a sum rests on prices of the last half year, and what it would be today;
    nothing where all of it does."""
    today = totals.today
    if today is None or not totals.subtotal or totals.fresh > 1 - LEAST_DIFFERENCE:
        return ""
    return tr(
        "{share} % of the sum rests on prices of the last half year. By the price index the parts"
        " would be {value} today, before discount and tax, likely {low} to {high}.",
        share=fmt.number(100 * totals.fresh, 0),
        value=fmt.money(today.value, totals.currency, whole=True),
        low=fmt.money(today.low, totals.currency, whole=True),
        high=fmt.money(today.high, totals.currency, whole=True),
    )


def total_text(totals: Totals, whole: bool = False) -> str:
    """Return the total, "NT$49,850 + NT$2,588" where a part of it stands beside the computer and
    neither tax, discount nor labour changes the sum."""
    if not totals.beside or totals.total != totals.subtotal:
        return fmt.money(totals.total, totals.currency, whole)
    return split_text(totals.total, totals.beside, totals.currency, whole)


def split_text(total: float, beside: float, currency: str, whole: bool = False) -> str:
    """Return a total as the computer and what stands beside it."""
    own = fmt.money(total - beside, currency, whole)
    return f"{own} + {fmt.money(beside, currency, whole)}"


def apart_text(totals: Totals) -> str:
    """Return what the computer and what stands beside it come to, "" where nothing stands there."""
    if not totals.beside:
        return ""
    return tr(
        "Computer {own}, beside it {beside}",
        own=fmt.money(totals.subtotal - totals.beside, totals.currency),
        beside=fmt.money(totals.beside, totals.currency),
    )


def without_rate_text(currencies: Iterable[str]) -> str:
    """Return the sentence that names those of `currencies` that the bank leaves out (TWD); nothing
    where it has them all."""
    missing = unpublished_among(currencies)
    return (
        tr(
            "The European Central Bank publishes no rate of {currencies}.",
            currencies=listed(missing),
        )
        if missing
        else ""
    )


def uncounted_text(totals: Totals) -> str:
    """Return that sentence for the money that a rig's sums leave out."""
    foreign = {
        line.unit.currency for line in totals.lines if line.uid in totals.foreign and line.unit
    }
    return without_rate_text({*foreign, totals.currency}) if foreign else ""
