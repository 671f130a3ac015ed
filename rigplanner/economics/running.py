"""What a rig costs while it runs, and when it is cheaper than renting."""

from msgspec import Struct

from rigplanner.evidence import Step

HOURS_PER_YEAR, HOURS_PER_DAY = 8760.0, 24.0


class Running(Struct, frozen=True, kw_only=True):
    """Energy of one year: `energy_kwh`, its `cost` in the tariff's currency."""

    energy_kwh: float
    cost: float
    steps: tuple[Step, ...]


def energy_per_year(wall_w: float, hours_per_day: float, price_per_kwh: float) -> Running:
    """Return energy and cost of a year at `wall_w` watts from the wall for `hours_per_day` hours.

    Raises ValueError for hours outside 0 to 24 or a negative power or price.
    """
    if not 0 <= hours_per_day <= HOURS_PER_DAY or wall_w < 0 or price_per_kwh < 0:
        raise ValueError("hours a day lie between 0 and 24; power and price are not negative")
    energy = wall_w / 1000 * hours_per_day * HOURS_PER_YEAR / HOURS_PER_DAY
    inputs: dict[str, float | str | None] = {"wall_w": wall_w, "hours_per_day": hours_per_day}
    steps = (
        Step("energy", "wall_w / 1000 x hours_per_day x 365", inputs, energy, "kWh"),
        Step(
            "cost",
            "energy x price_per_kwh",
            {"energy": energy, "price_per_kwh": price_per_kwh},
            energy * price_per_kwh,
            "",
        ),
    )
    return Running(energy_kwh=energy, cost=energy * price_per_kwh, steps=steps)


def break_even_hours(
    price: float, rent_per_hour: float, running_per_hour: float = 0.0, speed_ratio: float = 1.0
) -> float | None:
    """Return after how many hours of its own work a rig of `price` is cheaper than renting; None
    when it never is. Rent and running costs by the month give months.

    `running_per_hour` is what the rig's energy costs, `speed_ratio` its speed over that of the
    rented machine: in one hour it does the work of `speed_ratio` rented hours."""
    saved = rent_per_hour * speed_ratio - running_per_hour
    return price / saved if saved > 0 else None


def rent_over(months: int, per_month: float) -> float:
    """Return what a monthly fee sums up to."""
    return months * per_month


def three_year_total(price: float, running_per_year: float, resale_share: float = 0.0) -> float:
    """Return price plus three years' energy less what the rig is sold for (a share of its price, 0
    to 1)."""
    return price * (1 - resale_share) + 3 * running_per_year
