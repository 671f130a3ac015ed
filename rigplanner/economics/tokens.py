"""What do tokens cost: on a rig of one's own, and at a price per million?"""

from msgspec import Struct

from rigplanner.economics.running import HOURS_PER_DAY

MILLION, SECONDS_PER_HOUR = 1e6, 3600.0


class TokenCost(Struct, frozen=True, kw_only=True):
    """Tokens of a day, one's own against those of an API, in one currency. `hours` the rig works a
    day (above 24: it does not get done), `energy_kwh` and `own` what that takes, `own_per_million`
    tokens of answers, energy alone; `api` what the API asks for the same prompts and answers, and
    `days` after which the rig has paid for itself (None: never)."""

    hours: float
    energy_kwh: float
    own: float
    own_per_million: float
    api: float
    days: float | None

    @property
    def enough(self) -> bool:
        """Whether a day is long enough."""
        return self.hours <= HOURS_PER_DAY


def token_cost(
    *,
    price: float,
    tokens_s: float,
    answers: float,
    prompts: float,
    input_price: float,
    output_price: float,
    wall_w: float,
    energy_price: float,
) -> TokenCost:
    """Return what a day of so many tokens (`answers`, and the `prompts` before them) costs on a rig
    of `price` that writes `tokens_s` tokens a second at `wall_w` watts, against prices for a
    million tokens in and out. Raises ValueError for figures below 0 or a rig that writes none."""
    figures = (price, answers, prompts, input_price, output_price, wall_w, energy_price)
    if min(figures) < 0 or tokens_s <= 0:
        raise ValueError("prices, tokens and watts are not negative; a rig writes some tokens")
    hours = answers / tokens_s / SECONDS_PER_HOUR
    energy = hours * wall_w / 1e3
    own = energy * energy_price
    api = (prompts * input_price + answers * output_price) / MILLION
    saved = api - own
    return TokenCost(
        hours=hours,
        energy_kwh=energy,
        own=own,
        own_per_million=own / answers * MILLION if answers else 0.0,
        api=api,
        days=price / saved if saved > 0 else None,
    )
