"""Ranked cards as rows of a table: text, CSV and JSON from one list of records."""

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from rigplanner.planning.map.rank import Answer, Row
from rigplanner.report import format as fmt
from rigplanner.report.language import Words, tr

FIT_WORDS = Words(
    {
        "fits": "fits",
        "tight": "tight",
        "host": "part in RAM",
        "no": "does not fit",
        "unknown": "unknown",
    }
)
TEXT_HEADS = ("#", "Cards", "Memory", "Speed", "80 % interval", "Price", "Per 1,000", "Evidence")


KNOWN_WORDS = Words(
    {
        "measured": "measured",
        "near": "measured nearby",
        "modelled": "modelled",
        "unproven": "not proven on this maker's chips",
    }
)


def record(row: Row, works: Sequence[str], currency: str) -> dict[str, Any]:
    """Return a row as plain data, numbers as numbers: units stand in the names."""
    return {
        "place": row.place,
        "gpu": row.gpu,
        "name": row.name,
        "count": row.count,
        "fit": row.fit,
        "score": row.score,
        "score_low": row.low,
        "score_high": row.high,
        "cost": row.cost,
        "currency": currency if row.cost is not None else None,
        "price_day": row.price.day if row.price else None,
        "price_source": row.price.source if row.price else None,
        "watts": row.watts,
        "memory_left_gib": row.left_gib,
        "score_per_1000": row.score / row.cost * 1000 if row.score and row.cost else None,
        "score_per_watt": row.score / row.watts if row.score and row.watts else None,
        "works": [
            _work_record(name, found) for name, found in zip(works, row.answers, strict=True)
        ],
    }


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


def text(rows: Sequence[Row], works: Sequence[str], currency: str, most: int) -> list[str]:
    """Return the first rows as lines of text, then what was left out."""
    several = len(works) > 1
    table = [tuple(map(tr, TEXT_HEADS))]
    shown = [row for row in rows if row.score is not None][:most]
    for row in shown:
        speed = row.answers[0].speed
        metric = "" if several or speed is None else speed.metric
        table.append(
            (
                str(row.place or ""),
                f"{row.count} × {row.name}",
                FIT_WORDS[row.fit],
                _figure(row.score, metric, several),
                f"{_plain(row.low, several)} – {_plain(row.high, several)}",
                fmt.money(row.cost, currency, whole=True) if row.cost is not None else "",
                fmt.number(row.score / row.cost * 1000, 1) if row.score and row.cost else "",
                KNOWN_WORDS.get(row.answers[0].known or "", ""),
            )
        )
    widths = [max(len(line[at]) for line in table) for at in range(len(TEXT_HEADS))]
    right = (0, 3, 4, 5, 6)
    lines = [
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]
    return [*lines, *_left_out(rows, len(shown))]


def _figure(value: float | None, metric: str, share: bool) -> str:
    if value is None:
        return ""
    return fmt.number(100 * value, 0) + " %" if share else fmt.quantity(value, metric)


def _plain(value: float | None, share: bool) -> str:
    return "" if value is None else fmt.number(100 * value if share else value)


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
