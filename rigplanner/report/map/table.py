"""Ranked cards as rows of a table: text, CSV and JSON from one list of records."""

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from rigplanner import __version__
from rigplanner.catalog.prices.index import carried_to
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.planning.map.rank import Answer, Row, Sort
from rigplanner.report import format as fmt
from rigplanner.report.columns import table_lines
from rigplanner.report.language import Words, tr
from rigplanner.report.map.figures import shown, title_of

FIT_WORDS = Words(
    {
        "fits": "fits",
        "tight": "tight",
        "host": "part in RAM",
        "slow": "too slow",
        "no": "does not run",
        "unknown": "unknown",
    }
)
TEXT_HEADS = (
    "#", "Cards", "Memory", "Speed", "80 % interval", "Price", "Price of", "Per 1,000",
    "Three years", "Pays after", "Evidence",
)  # fmt: skip
RIGHT = (0, 3, 4, 5, 7, 8, 9)
"""Columns of numbers."""
SOFT = {1: 20, 2: 7, 10: 12}
"""Columns of words, and how narrow they may become before others are left out."""
SPARE = (9, 8, 6, 10, 7, 2, 4, 5)
"""Columns that a narrow terminal does without, the first first."""
SORTED_BY: dict[Sort, int] = {"money": 7, "years": 8, "memory": 2}

KNOWN_WORDS = Words(
    {
        "measured": "measured",
        "near": "measured nearby",
        "modelled": "modelled",
        "unproven": "not proven on this maker's chips",
    }
)


READY_WORDS = Words(
    {
        "native": "",
        "weight-only": "weights widened as they are read",
        "slow": "slow on this chip",
        "none": "does not run on this chip",
    }
)


def record(row: Row, works: Sequence[str], currency: str) -> dict[str, Any]:
    """Return a row as plain data, numbers as numbers: units stand in the names."""
    return {
        "place": row.place,
        "kind": row.kind,
        "id": row.id,
        "gpu": row.gpu,
        "name": row.name,
        "count": row.count,
        "memory_gib": row.memory_gib,
        "fit": row.fit,
        "score": row.score,
        "score_low": row.low,
        "score_high": row.high,
        "cost": row.cost,
        "currency": currency if row.cost is not None else None,
        "price_day": row.price.day if row.price else None,
        "price_source": row.price.source if row.price else None,
        "price_used": row.price.used if row.price else None,
        "price_carried_to": carried_to(row.price) or None if row.price else None,
        "watts": row.watts,
        "slots": row.slots,
        "memory_left_gib": row.left_gib,
        "score_per_1000": _times(row.per("money"), 1000),
        "score_per_1000_of_three_years": _times(row.per("years"), 1000),
        "score_per_watt": row.per("watt"),
        "score_per_slot": row.per("slot"),
        "energy_year": row.energy_year,
        "three_years": row.three_years,
        "cheapest_hire": row.hire,
        "break_even_hours": row.break_even_h,
        "works": [
            _work_record(name, found) for name, found in zip(works, row.answers, strict=True)
        ],
    }


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _work_record(name: str, found: Answer) -> dict[str, Any]:
    speed = found.speed
    return {
        "work": name,
        "fit": found.fit,
        "need_gib": found.need_gib,
        "room_gib": found.room_gib,
        "metric": speed.metric if speed else None,
        "value": speed.value if speed else None,
        "low": speed.low if speed else None,
        "high": speed.high if speed else None,
        "stack": speed.stack if speed else None,
        "evidence": found.known,
        "readiness": found.ready,
        "fault": found.fault or None,
    }


def json_text(rows: Sequence[Row], works: Sequence[str], currency: str) -> str:
    """Return the rows as a JSON list."""
    made = [record(row, works, currency) for row in rows]
    return msgspec.json.format(msgspec.json.encode(made), indent=1).decode() + "\n"


def csv_text(rows: Sequence[Row], works: Sequence[str], currency: str) -> str:
    """Return one line a row and work, for a spreadsheet."""
    out = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for row in rows:
        made = record(row, works, currency)
        for work in made.pop("works"):
            line = {**made, **{f"work_{key}": value for key, value in work.items()}}
            if writer is None:
                writer = csv.DictWriter(out, list(line), lineterminator="\n")
                writer.writeheader()
            writer.writerow(line)
    return out.getvalue()


def text(
    rows: Sequence[Row],
    works: Sequence[str],
    currency: str,
    most: int,
    sort: Sort = "speed",
    width: int | None = None,
) -> list[str]:
    """Return the first rows as lines of text, then what was left out. `width`: columns of the
    terminal, where the table must keep to it; columns that are sorted by stay longest."""
    shown_rows = [row for row in rows if row.score is not None][:most]
    spare = [at for at in SPARE if at != SORTED_BY.get(sort)]
    table = table_lines(
        tuple(map(tr, TEXT_HEADS)),
        [cells(row, currency) for row in shown_rows],
        RIGHT,
        SOFT,
        spare,
        width,
    )
    return [*table, *_left_out(rows, len(shown_rows)), *_notes(shown_rows, sort)]


def cells(row: Row, currency: str) -> tuple[str, ...]:
    """Return a row in words, in the order of `TEXT_HEADS`."""
    several = len(row.answers) > 1
    speed = row.answers[0].speed
    per = row.per("money")
    value = shown(row.score, several)
    if not several and speed is not None and speed.metric not in TIME_METRICS:
        value = fmt.quantity(row.score, speed.metric)
    return (
        str(row.place or ""),
        title_of(row),
        FIT_WORDS[row.fit],
        value,
        f"{shown(row.low, several)} – {shown(row.high, several)}",
        cost_text(row, currency),
        price_text(row),
        shown(per * 1000, False) if per is not None and row.score else "",
        fmt.money(row.three_years, currency, whole=True) if row.three_years is not None else "",
        fmt.quantity(row.break_even_h, "h", 0) if row.break_even_h is not None else "",
        evidence_text(row),
    )


def cost_text(row: Row, currency: str) -> str:
    """Return what a row costs in words, of a hire an hour of it."""
    if row.cost is None:
        return ""
    money = fmt.money(row.cost, currency, whole=row.kind != "hire")
    return tr("{money} per hour", money=money) if row.kind == "hire" else money


def price_text(row: Row) -> str:
    """Return the day and the condition of a price in words, and whether the index carried it."""
    if row.price is None:
        return ""
    day = fmt.day(row.price.day)
    asked = tr("{day}, used", day=day) if row.price.used else day
    return tr("{day}, carried to today", day=asked) if carried_to(row.price) else asked


def evidence_text(row: Row) -> str:
    """Return how the first work's speed is known, and how ready the software is."""
    first = row.answers[0]
    words = (KNOWN_WORDS.get(first.known or "", ""), READY_WORDS.get(first.ready or "", ""))
    return "; ".join(word for word in words if word)


def _notes(rows: Sequence[Row], sort: Sort) -> list[str]:
    """What the figures leave out."""
    lines = []
    if any(row.three_years is not None for row in rows):
        lines.append(
            tr("Prices and energy are those of the GPUs alone; a whole machine's price is its own.")
        )
    if sort == "money" and any(row.kind == "hire" for row in rows):
        lines.append(tr("Cloud instances have no price to buy: --sort years compares them."))
    hires = sorted({row.hire for row in rows if row.hire and row.break_even_h is not None})
    if hires:
        lines.append(tr("Pays after: hours of its own work against {hire}.", hire=", ".join(hires)))
    return lines


def _left_out(rows: Sequence[Row], shown: int) -> list[str]:
    runs = sum(1 for row in rows if row.score is not None)
    idle: dict[str, int] = {}
    for row in rows:
        if row.score is None:
            idle[row.fit] = idle.get(row.fit, 0) + 1
    lines = []
    if runs > shown:
        lines.append(tr("{count} more run it; --most shows more.", count=runs - shown))
    if idle:
        told = ", ".join(f"{FIT_WORDS[fit]} {count}" for fit, count in sorted(idle.items()))
        lines.append(tr("Left out: {told}.", told=told))
    if any(a.place == b.place for a, b in pairwise(rows) if a.place):
        lines.append(tr("Rows of one number: their intervals overlap, either may be faster."))
    return lines


def unpriced(rows: Sequence[Row]) -> list[str]:
    """Return the line that counts what runs the work but is not for sale at a price of today."""
    count = sum(row.score is not None and row.kind != "hire" and row.cost is None for row in rows)
    told = tr("{count} more run it; no price that counts is known for them.", count=count)
    return [told] if count else []


def market(day: str) -> str:
    """Return the line that says of which day the cards and prices are."""
    return tr(
        "The market of {day}: what was out and the prices known by then. Speeds are those of the"
        " software as it is measured since.",
        day=fmt.day(day),
    )


def note(day: str, market_day: str = "") -> str:
    """Return the line of sources below a picture, and of which day its market is."""
    told = tr(
        "RigPlanner {version}, {day}. Thin lines: 80 % interval. Prices and measurements are those"
        " of the catalog, each with its source.",
        version=__version__,
        day=fmt.day(day),
    )
    return f"{told} {market(market_day)}" if market_day else told
