"""The figure that a map goes by, with its interval and its unit in words."""

from collections.abc import Sequence

from rigplanner.performance.answer import TIME_METRICS
from rigplanner.planning.map.rank import Row, Sort
from rigplanner.report import format as fmt
from rigplanner.report.language import Words, tr
from rigplanner.report.words.hire import machine_text

THOUSAND = 1000.0
PER: dict[Sort, float] = {
    "speed": 1.0,
    "money": THOUSAND,
    "years": THOUSAND,
    "watt": THOUSAND,
    "slot": 1.0,
    "memory": 1.0,
}
"""Of how many units of price, watts or slots the figure speaks."""

SORT_WORDS = Words(
    {
        "speed": "Speed",
        "money": "Speed per price",
        "years": "Speed per cost of three years",
        "watt": "Speed per watt",
        "slot": "Speed per slot",
        "memory": "Memory left",
    }
)


def figure(row: Row, sort: Sort) -> tuple[float, float, float] | None:
    """Return what a sort goes by, and its interval; None where it is not known."""
    value = row.per(sort)
    if value is None or row.score is None:
        return None
    value *= PER[sort]
    if sort == "memory" or not row.score:
        return value, value, value
    low, high = row.low or row.score, row.high or row.score
    return value, value * low / row.score, value * high / row.score


def unit_of(rows: Sequence[Row], sort: Sort, currency: str) -> str:
    """Return the unit of the figures in words."""
    if sort == "memory":
        return "GiB"
    speed = speed_unit(rows)
    if sort == "speed":
        return speed
    per = {
        "money": tr("1,000 {currency}", currency=currency),
        "years": tr("1,000 {currency} of three years", currency=currency),
        "watt": tr("kW"),
        "slot": tr("slot"),
    }[sort]
    return tr("{speed} per {per}", speed=speed, per=per)


def speed_unit(rows: Sequence[Row]) -> str:
    """Return the unit of the scores: the metric of one work (of times, how many a unit of time),
    or shares of the fastest."""
    first = next((row for row in rows if row.score is not None), None)
    if first is None:
        return ""
    if len(first.answers) > 1:
        return tr("share of the fastest")
    metric = first.answers[0].speed.metric if first.answers[0].speed else ""
    if metric in TIME_METRICS:
        return tr("1 / {unit}", unit=fmt.unit_text(metric))
    return fmt.unit_text(metric)


def shown(value: float | None, share: bool) -> str:
    """Return a figure in words: a share in percent."""
    if value is None:
        return ""
    return fmt.number(100 * value, 0) + " %" if share else fmt.number(value)


def is_share(rows: Sequence[Row], sort: Sort) -> bool:
    """Whether the figures are shares of the fastest."""
    return sort == "speed" and any(len(row.answers) > 1 for row in rows[:1])


def title_of(row: Row) -> str:
    """Return the row's name: `2 × GeForce RTX 3090`, of a whole machine its own."""
    if row.kind == "hire":
        return machine_text(row.name)
    return row.name if row.kind != "card" else f"{row.count} × {row.name}"
