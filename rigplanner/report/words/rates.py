"""Which currencies the European Central Bank publishes no rate of, in words."""

from collections.abc import Iterable

from rigplanner.catalog.prices.exchange import unpublished_among
from rigplanner.economics.totals import Totals
from rigplanner.report.language import listed, tr


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
