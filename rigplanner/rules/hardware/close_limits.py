"""Figures that nobody verified, so close to a limit that the truth may lie beyond it: one
measurement settles each."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import Part
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import rule
from rigplanner.rules.core.rests import Figure, figure, said_figure
from rigplanner.rules.hardware.plugs import demands
from rigplanner.rules.hardware.space import air_coolers, cards_in_case, measured_supplies

SPREAD: dict[str, float] = {
    "enclosure.gpu_length_mm": 10.0,
    "enclosure.gpu_height_mm": 2.0,
    "enclosure.cooler_height_mm": 3.0,
    "enclosure.psu_length_mm": 10.0,
    "length_mm": 10.0,
    "height_mm": 2.0,
}
"""How far such a figure usually lies from the truth where a second source corrects it, in mm: half
of the corrections of the shipped catalog are smaller."""
FEW_PLUGS = 3
"""Plugs that no list of a supply is wrong about; longer lists may be by one."""


class Close(Struct, frozen=True):
    """A figure of a part that meets what another part needs, and what it must be at least."""

    name: str
    part: Part
    figure: Figure
    limit: float
    needed: float
    unit: str
    parts: int = 1
    """How many of the part give the limit together: what sources say is of one."""

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def least(self) -> float:
        """The least that the figure may be by what is known of it."""
        said = [value for text in self.figure.said if (value := said_figure(text)) is not None]
        if self.figure.state == "verified":
            return self.limit
        if said:
            return min(*said, self.limit / self.parts) * self.parts
        if self.unit == "plugs":
            one = self.limit / self.parts
            return self.limit if one <= FEW_PLUGS else self.limit - self.parts
        return self.limit - SPREAD[self.figure.field]


def close_to_limits(context: Context) -> Iterator[Close]:
    """Limits that hold by the figures as they stand, one for each figure: the tightest."""
    tightest: dict[str, Close] = {}
    for close in _limits(context):
        if close.needed <= close.limit:
            held = tightest.get(close.figure.fact)
            if held is None or close.needed > held.needed:
                tightest[close.figure.fact] = close
    yield from tightest.values()


def _limits(context: Context) -> Iterator[Close]:
    for card in cards_in_case(context):
        space = card.chassis.enclosure
        if space is None:
            continue
        yield from _room(
            context, card.case_name, card.chassis, "gpu_length_mm", space.gpu_length_mm,
            card.card.length_mm,
        )  # fmt: skip
        if space.airflow != "open":
            yield from _room(
                context, card.case_name, card.chassis, "gpu_height_mm", space.gpu_height_mm,
                card.card.height_mm,
            )  # fmt: skip
    for cooler in air_coolers(context):
        if (space := cooler.chassis.enclosure) is not None:
            yield from _room(
                context, cooler.case_name, cooler.chassis, "cooler_height_mm",
                space.cooler_height_mm, cooler.cooler.height_mm,
            )  # fmt: skip
    for supply in measured_supplies(context):
        if (space := supply.chassis.enclosure) is not None:
            yield from _room(
                context, supply.case_name, supply.chassis, "psu_length_mm", space.psu_length_mm,
                supply.psu.length_mm,
            )  # fmt: skip
    for demand in demands(context):
        if demand.demand.type == "pcie8" and demand.psu is not None and demand.offered is not None:
            told = figure(demand.psu, "supply.plugs", context.catalog)
            plugs = demand.psu.supply.plugs if demand.psu.supply is not None else None
            of_one = sum(plug.count for plug in plugs or () if plug.type == "pcie8")
            yield Close(
                demand.name, demand.psu, told, demand.offered, demand.demand.needed, "plugs",
                parts=max(1, demand.offered // of_one) if of_one else 1,
            )  # fmt: skip


def _room(
    context: Context, name: str, part: Part, field: str, limit: float | None, needed: float | None
) -> Iterator[Close]:
    if limit is not None and needed is not None:
        told = figure(part, f"enclosure.{field}", context.catalog)
        yield Close(name, part, told, limit, needed, "mm")


@rule(
    "RIG006",
    "Figure that nobody verified is close to its limit",
    "warning",
    over=close_to_limits,
    reason="Where sources are corrected, they are so by more than what is left here: measure"
    " before you buy.",
    source="Corrections of the shipped catalog against second sources",
)
def unverified_limit(context: Context, case: Close) -> Iterator[Finding]:
    """Compare what is needed with the least that an unverified or disputed figure may be."""
    if case.needed > case.least:
        yield unverified_limit.finding(
            case,
            needed=case.needed,
            actual=case.limit,
            unit=case.unit,
            fact=case.figure.fact,
            state=case.figure.state,
        )
