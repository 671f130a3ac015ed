"""A rig against a price per token, in words."""

from rigplanner.planning.tokens import TokenOffer
from rigplanner.report import format as fmt
from rigplanner.report.language import listed, tr
from rigplanner.rules.assess import Assessment


def token_words(assessment: Assessment, offer: TokenOffer) -> tuple[str, str, str, str]:
    """Return a workload against an API: its name, what it asks, what a day takes here and there,
    and the days after which the rig has paid for itself."""
    site, currency, cost = assessment.rig.site, assessment.totals.currency, offer.cost
    asked = [
        tr(words, amount=fmt.money(price.amount, price.currency))
        for words, price in (
            ("{amount} a million tokens in", site.api_input_per_million),
            ("{amount} out", site.api_output_per_million),
        )
        if price
    ]
    here = tr(
        "{tokens} million tokens a day take {hours} at {watts}, {own} of energy; the API {api}",
        tokens=fmt.number(offer.tokens_per_day / 1e6, 2),
        hours=fmt.quantity(cost.hours, "h", 1),
        watts=fmt.quantity(offer.wall_w, "W", 0),
        own=fmt.money(cost.own, currency) if offer.energy_known else tr(fmt.UNKNOWN),
        api=fmt.money(cost.api, currency),
    )
    if not cost.enough:
        after = tr("the day is too short")
    else:
        after = tr("never") if cost.days is None else fmt.quantity(cost.days, tr("days"), 0)
    return tr("API, by the token"), listed(asked), here, after
