"""The two pictures of the accuracy page: predicted against measured, and error by novelty."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from rigplanner.error_figures import Errors, errors_of
from rigplanner.report.accuracy.table import AccuracyTable, JudgedCase
from rigplanner.report.drawing.charts import bar, document, line, text

SIDE, GAP, LEFT, TOP = 300, 70, 56, 40
CELL = 4
"""Pixels of a cell of the scatter; a cell is darker the more cases lie in it."""
FEW_DECADES = 6
"""Up to so many each power of ten is named, beyond every third."""
APART = 1.5
"""Factor of the two dashed lines beside the line of equal values."""


class Panel(Struct, frozen=True):
    """Half of the scatter: cases of one comparison, on two logarithmic axes in `unit`."""

    title: str
    unit: str
    cases: tuple[JudgedCase, ...]


def scatter_svg(tables: Sequence[AccuracyTable]) -> str:
    """Return predicted against measured as an SVG document: memory with its source left out, speed
    with its GPU left out (rates only: a time has another unit)."""
    memory = _cases(tables, "memory held out")
    speed = tuple(case for case in _cases(tables, "GPU left out") if case.unit.endswith("/s"))
    panels = (
        Panel("Memory, source left out", "GiB", memory),
        Panel("Speed, GPU left out", "tokens or images per second", speed),
    )
    lines = [
        piece
        for place, panel in enumerate(panels)
        for piece in _panel(panel, LEFT + place * (SIDE + GAP))
    ]
    return document(lines, LEFT + 2 * SIDE + GAP + 20, TOP + SIDE + 48)


def _cases(tables: Iterable[AccuracyTable], judged: str) -> tuple[JudgedCase, ...]:
    return tuple(case for table in tables if table.judged == judged for case in table.cases)


def _panel(panel: Panel, left: int) -> list[str]:
    """Title, decades of both axes, the line of equal values with its neighbours, and the cells."""
    cases = [case for case in panel.cases if min(case.measured, case.predicted) > 0]
    title = f"{panel.title}: {len(cases)} cases"
    lines = [text(left, TOP - 14, title, "ink")]
    if not cases:
        return lines
    values = [value for case in cases for value in (case.measured, case.predicted)]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    step, named = SIDE / max(1, high - low), 1 if high - low <= FEW_DECADES else 3
    for decade in range(low, high + 1):
        along, name = (decade - low) * step, "" if decade % named else _decade(decade)
        lines += [
            line(left + along, TOP, left + along, TOP + SIDE, "grid"),
            line(left, TOP + SIDE - along, left + SIDE, TOP + SIDE - along, "grid"),
            text(left + along, TOP + SIDE + 14, name, "quiet", "middle"),
            text(left - 5, TOP + SIDE - along + 4, name, "quiet", "end"),
        ]
    lines += _cells(cases, left, low, step)
    aside = math.log10(APART) * step
    lines += [
        line(left, TOP + SIDE, left + SIDE, TOP, "even"),
        line(left, TOP + SIDE - aside, left + SIDE - aside, TOP, "off"),
        line(left + aside, TOP + SIDE, left + SIDE, TOP + aside, "off"),
        text(left + SIDE / 2, TOP + SIDE + 32, f"measured, {panel.unit}", "quiet", "middle"),
        text(left + 6, TOP + 14, "predicted", "quiet"),
    ]
    return lines


def _decade(power: int) -> str:
    """A power of ten in a few letters: 0.01, 100, 10k, 1M."""
    thousands = max(0, power // 3)
    return f"{10.0 ** (power - 3 * thousands):g}{'kMGT'[thousands - 1] if thousands else ''}"


def _cells(cases: Sequence[JudgedCase], left: int, low: int, step: float) -> list[str]:
    """Cases counted into cells of a few pixels: thousands of points stay readable and small."""

    def cell(value: float) -> int:
        return int((math.log10(value) - low) * step / CELL)

    counted = Counter((cell(case.measured), cell(case.predicted)) for case in cases)
    most = math.log1p(max(counted.values()))
    return [
        bar(
            left + x * CELL,
            TOP + SIDE - (y + 1) * CELL,
            CELL,
            CELL,
            hue=0,
            opacity=0.25 + 0.74 * math.log1p(count) / most,
        )
        for (x, y), count in sorted(counted.items())
    ]


class Novelty(Struct, frozen=True):
    """A line of the second picture: how new the case was to what had been fitted."""

    name: str
    judged: str
    group: str = "all"


MEMORY = (
    Novelty("Memory: as shipped", "memory"),
    Novelty("its source left out", "memory held out"),
    Novelty("at first sight", "memory at first sight"),
)
SPEED = (
    Novelty("Speed: the row left out", "row left out"),
    Novelty("its network on this GPU", "network on GPU left out"),
    Novelty("its GPU", "GPU left out"),
    Novelty("its GPU, constants too", "GPU left out, refitted"),
    Novelty("its source", "source left out"),
    Novelty("its generation of GPUs", "generation left out"),
    Novelty("its network, everywhere", "network left out"),
    Novelty("its stack of software", "stack left out"),
    Novelty("at first sight", "speed at first sight"),
    Novelty("two measurements of one job", "another measurement", "the same job"),
)
NAMES, WIDE, ROW, MOST = 190, 660, 24, 0.75
"""Pixels of names, of the picture and of a line; the error at the right end."""


def novelty_svg(tables: Sequence[AccuracyTable]) -> str:
    """Return error by novelty as an SVG document: the median as a bar, the 90th percentile as a
    mark; the last line is how far two published measurements of one job lie apart."""
    scale = (WIDE - NAMES - 40) / MOST
    lines = [text(16, 20, "Error by what was left out: bar median, mark p90", "ink")]
    told = [(each, pooled(tables, each.judged, each.group)) for each in (*MEMORY, *SPEED)]
    at = 30
    for novelty, errors in told:
        if errors is None or errors.median is None or errors.p90 is None:
            continue
        hue = 1 if novelty.judged == "another measurement" else 0
        median, p90 = (NAMES + min(share, MOST) * scale for share in (errors.median, errors.p90))
        words = f"{100 * errors.median:.1f} · {100 * errors.p90:.0f} %"
        lines += [
            text(NAMES - 8, at + 13, novelty.name, "ink", "end"),
            bar(NAMES, at + 3, median - NAMES, 13, hue),
            line(p90, at + 1, p90, at + 18, "mark"),
            text(p90 + 5, at + 13, words, "quiet"),
        ]
        at += ROW
    return document(lines, WIDE + 40, at + 12)


def pooled(tables: Sequence[AccuracyTable], judged: str, group: str = "all") -> Errors | None:
    """Return the errors of all cases of the tables of one comparison together, or of the named
    group of the only one that tells no cases; None where none was judged."""
    if cases := _cases(tables, judged):
        signed = [case.predicted / case.measured - 1 for case in cases]
        return errors_of(group, len(cases), signed, [])
    return next(
        (
            row
            for table in tables
            if table.judged == judged
            for row in table.rows
            if row.group == group
        ),
        None,
    )
