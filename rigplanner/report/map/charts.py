"""The pictures of the map as scenes: bars with intervals, scatters with their front."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from rigplanner.planning.map.cards import Kind
from rigplanner.planning.map.rank import Row, Sort
from rigplanner.report import format as fmt
from rigplanner.report.language import Words, tr
from rigplanner.report.map.bar import MARGIN, STEP, Bar, Shape, bar_rows
from rigplanner.report.map.figures import (
    PER,
    SORT_WORDS,
    figure,
    is_share,
    shown,
    speed_unit,
    title_of,
    unit_of,
)
from rigplanner.report.map.scatter import Axis, Point, kind_entries, scatter, short
from rigplanner.report.map.scene import (
    LARGE,
    SMALL,
    Measure,
    Scene,
    Spot,
    Text,
    legend,
    letters,
    shortened,
    wrapped,
)
from rigplanner.report.map.table import price_text

Chart = Literal["bars", "price", "memory", "time"]
CHARTS: tuple[Chart, ...] = ("bars", "price", "memory", "time")
CHART_WORDS = Words(
    {
        "bars": "Bars",
        "price": "Price and speed",
        "memory": "Memory and speed",
        "time": "Years",
    }
)
WIDTH = 760.0
MOST_BARS = 40


class Heading(Struct, frozen=True):
    """What stands around a picture: the work in words, the currency, and the line of sources with
    its date."""

    work: str
    note: str
    currency: str = "USD"


def chart(
    kind: Chart,
    rows: Sequence[Row],
    heading: Heading,
    sort: Sort = "speed",
    width: float = WIDTH,
    measure: Measure = letters,
    most: int = 25,
    height: float | None = None,
) -> Scene:
    """Return a picture of ranked rows; a spot's row is its index among them. A scatter takes the
    height that is wished, bars take what they need."""
    if kind == "bars":
        return bars(rows, heading, sort, width, measure, most)
    counts = {row.count for row in rows if row.score is not None and row.kind == "card"}
    count = counts.pop() if len(counts) == 1 else 0
    return _scatter(kind, rows, heading, sort, width, height, measure, count)


def bars(
    rows: Sequence[Row],
    heading: Heading,
    sort: Sort,
    width: float = WIDTH,
    measure: Measure = letters,
    most: int = 25,
) -> Scene:
    """Return the first rows as bars with their 80 % intervals as whiskers."""
    drawn = [
        (at, row, found) for at, row in enumerate(rows) if (found := figure(row, sort)) is not None
    ][: min(most, MOST_BARS)]
    title = f"{SORT_WORDS[sort]}: {heading.work}"
    if not drawn:
        return _empty(title, tr("Nothing runs this work."), width)
    share = is_share(rows, sort)
    unit = unit_of(rows, sort, heading.currency)
    shapes, top = _head(title, unit, [row.kind for _, row, _ in drawn], width, measure)
    share = is_share(rows, sort)
    shapes += bar_rows(
        [Bar(title_of(row), row.kind, *found, shown(found[0], share)) for _, row, found in drawn],
        top,
        width,
        measure,
    )
    spots = [
        Spot(0.0, top + at * STEP - 4, width, STEP, index, said(row, sort, heading.currency))
        for at, (index, row, _) in enumerate(drawn)
    ]
    foot = top + len(drawn) * STEP + 14
    said_lines = wrapped(heading.note, width - 2 * MARGIN, measure, SMALL)
    shapes += [
        Text(MARGIN, foot + 13 * at, line, SMALL, role="quiet")
        for at, line in enumerate(said_lines)
    ]
    return Scene(width, foot + 13 * len(said_lines), title, tuple(shapes), tuple(spots))


def _head(
    title: str, unit: str, kinds: Sequence[Kind], width: float, measure: Measure
) -> tuple[list[Shape], float]:
    """Title, unit and legend, and where the bars begin."""
    room = width - 2 * MARGIN
    entries = kind_entries(kinds) if len(set(kinds)) > 1 else []
    told, last = legend(entries, unit, MARGIN, width - MARGIN, measure)
    name = Text(MARGIN, 24, shortened(title, room, measure, LARGE * 1.06), LARGE, strong=True)
    return [name, *told], last + 12


def _empty(title: str, text: str, width: float) -> Scene:
    return Scene(
        width, 70.0, title, (Text(MARGIN, 24, title, LARGE, strong=True), Text(MARGIN, 48, text))
    )


def said(row: Row, sort: Sort, currency: str) -> str:
    """Return a row in one line, as a pointer over it tells."""
    found = figure(row, sort)
    if found is None:
        return title_of(row)
    share = sort == "speed" and len(row.answers) > 1
    unit = "" if share else " " + unit_of([row], sort, currency)
    parts = [
        title_of(row),
        f"{shown(found[0], share)}{unit}",
        tr(
            "80 % interval {low} to {high}", low=shown(found[1], share), high=shown(found[2], share)
        ),
    ]
    if row.cost is not None:
        money = fmt.money(row.cost, currency, whole=row.kind != "hire")
        parts.append(tr("{money} per hour", money=money) if row.kind == "hire" else money)
        parts.append(price_text(row))
    return ", ".join(part for part in parts if part)


def _scatter(
    kind: Chart,
    rows: Sequence[Row],
    heading: Heading,
    sort: Sort,
    width: float,
    height: float | None,
    measure: Measure,
    count: int,
) -> Scene:
    """`count`: of cards in every row, 0 where rows differ; it is then said once."""
    points = [
        point
        for at, row in enumerate(rows)
        if (point := _point(kind, at, row, heading, sort, count))
    ]
    left_out = sum(1 for row in rows if row.score is not None) - len(points)
    title, across, up, note = _axes(kind, rows, heading, sort, left_out)
    if count > 1:
        title = tr("{title}, {count} GPUs", title=title, count=count)
    if not points:
        return _empty(title, note or tr("Nothing runs this work."), width)
    return scatter(
        points,
        across,
        up,
        title,
        " ".join(part for part in (note, heading.note) if part),
        best="right" if kind == "memory" else "left",
        width=width,
        height=height,
        measure=measure,
    )


def _axes(
    kind: Chart, rows: Sequence[Row], heading: Heading, sort: Sort, left_out: int
) -> tuple[str, Axis, Axis, str]:
    """Title, both scales, and what is said of the rows that are left out."""
    unit, currency = speed_unit(rows), heading.currency
    speed = Axis(name=unit, share=is_share(rows, "speed"))
    if kind == "memory":
        title = tr("Memory and speed: {work}", work=heading.work)
        return title, Axis(name=tr("GPU memory, GiB"), doubling=True), speed, ""
    if kind == "price":
        note = tr("{count} without a price are left out.", count=left_out) if left_out else ""
        price = tr("price, {currency}", currency=currency)
        years = tr("cost of three years, {currency}", currency=currency)
        across = Axis(name=years if sort == "years" else price)
        return tr("Price and speed: {work}", work=heading.work), across, speed, note
    note = tr("{count} without a launch price are left out.", count=left_out) if left_out else ""
    up = Axis(name=tr("{unit} per 1,000 {currency} at launch", unit=unit, currency=currency))
    title = tr("What a price bought, by year of release: {work}", work=heading.work)
    return title, Axis(name=tr("year of release"), log=False), up, note


def _point(
    kind: Chart, at: int, row: Row, heading: Heading, sort: Sort, count: int
) -> Point | None:
    if row.score is None or not row.score:
        return None
    x, per = row.memory_gib, 1.0
    if kind == "price":
        x = row.three_years if sort == "years" else row.cost if row.kind != "hire" else None
    elif kind == "time":
        if row.launch_cost is None or row.released is None or row.count != (count or 1):
            return None
        x, per = year_of(row.released), PER["money"] / row.launch_cost
    if not x:
        return None
    return Point(
        x=x,
        y=row.score * per,
        low=(row.low or row.score) * per,
        high=(row.high or row.score) * per,
        name=short(row.name if row.kind == "card" and (count or row.count == 1) else title_of(row)),
        kind=row.kind,
        hollow=any(each.known not in ("measured", "near") for each in row.answers),
        row=at,
        text=said(row, "speed", heading.currency),
    )


def year_of(released: str) -> float:
    """Return a day, month or year as a year with its fraction."""
    parts = [int(part) for part in released.split("-")]
    month = parts[1] if len(parts) > 1 else 7
    day = parts[2] if len(parts) > 2 else 15
    return parts[0] + (month - 1 + (day - 1) / 31) / 12
