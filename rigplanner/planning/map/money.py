"""What the rows of a map cost: energy, three years, and when buying beats hiring."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.economics.running import (
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    break_even_hours,
    energy_per_year,
    three_year_total,
)
from rigplanner.planning.map.rank import Row

YEARS = 3


class Terms(Struct, frozen=True):
    """What a kilowatt-hour costs in the currency of the rows (None: not said, energy is not
    counted), and for how many hours a day the work runs."""

    per_kwh: float | None = None
    hours_per_day: float = 8.0

    def __post_init__(self) -> None:
        if not 0 < self.hours_per_day <= HOURS_PER_DAY:
            raise ValueError("hours a day lie above 0 and up to 24")
        if self.per_kwh is not None and self.per_kwh < 0:
            raise ValueError("the price of energy is not negative")


def with_costs(scored: Sequence[Row], terms: Terms) -> list[Row]:
    """Return the rows with the energy of a year, the cost of three years, and the machine for hire
    among them that does the same work for the least. The energy is that of the GPUs alone at their
    board power; a hire costs its hours."""
    hired = [row for row in scored if row.kind == "hire" and row.cost and row.score]
    cheapest = min(hired, key=lambda row: (row.cost or 0.0) / (row.score or 1.0), default=None)
    return [_costed(row, terms, cheapest) for row in scored]


def _costed(row: Row, terms: Terms, cheapest: Row | None) -> Row:
    if row.kind == "hire":
        hours = terms.hours_per_day / HOURS_PER_DAY * HOURS_PER_YEAR * YEARS
        return replace(row, three_years=None if row.cost is None else row.cost * hours)
    energy = None
    if terms.per_kwh is not None and row.watts is not None:
        energy = energy_per_year(row.watts, terms.hours_per_day, terms.per_kwh).cost
    if row.cost is None:
        return replace(row, energy_year=energy)
    made = replace(row, energy_year=energy, three_years=three_year_total(row.cost, energy or 0.0))
    if cheapest is None or not cheapest.cost or not cheapest.score or not row.score:
        return made
    running = (row.watts or 0.0) / 1000 * (terms.per_kwh or 0.0)
    ratio = row.score / cheapest.score
    hours_needed = break_even_hours(row.cost, cheapest.cost, running, ratio)
    return replace(made, hire=cheapest.name, break_even_h=hours_needed)
