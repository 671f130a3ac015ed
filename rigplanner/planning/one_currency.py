"""Rigs whose sums are of different money, counted in one."""

from msgspec.structs import replace

from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.schema.parts import Price
from rigplanner.rules.assess import Assessment

SITE_PRICES = (
    "energy_per_kwh",
    "hire_per_hour",
    "hire_per_month",
    "api_input_per_million",
    "api_output_per_million",
)


def counted_in(assessment: Assessment, base: Assessment) -> Assessment:
    """Return an assessment with its sums and the prices of its site in the currency of `base`; as
    it is where no rate is known."""
    currency, rates = base.totals.currency, assessment.rig.exchange or base.rig.exchange
    rate = convert(1.0, assessment.totals.currency, currency, rates)
    if assessment.totals.currency == currency or rate is None:
        return assessment
    site = assessment.rig.site
    prices = {name: _counted(getattr(site, name), currency, rates) for name in SITE_PRICES}
    rig = replace(assessment.rig, exchange=rates, site=replace(site, **prices))
    return replace(
        assessment,
        rig=rig,
        totals=replace(assessment.totals, currency=currency, total=assessment.totals.total * rate),
    )


def _counted(price: Price | None, currency: str, rates: ExchangeRates | None) -> Price | None:
    amount = convert(price.amount, price.currency, currency, rates) if price else None
    return (
        replace(price, amount=amount, currency=currency) if price and amount is not None else price
    )
