"""What a machine runs as a picture: the speed of each model with its interval, by purpose."""

from collections.abc import Sequence
from itertools import groupby

from rigplanner.planning.map.runs import Run
from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.map.bar import MARGIN, STEP, Bar, Shape, bar_rows
from rigplanner.report.map.models import PURPOSE_WORDS
from rigplanner.report.map.scatter import RADIUS
from rigplanner.report.map.scene import (
    FORMS,
    LARGE,
    SIZE,
    SMALL,
    Dot,
    Measure,
    Role,
    Scene,
    Text,
    legend,
    letters,
    shortened,
    wrapped,
)

WIDTH = 760.0
WHOLE: Role = "card"
PARTLY: Role = "machine"
"""Colours of models that lie in GPU memory, and of those of which a part lies in RAM."""


def runs_chart(
    runs: Sequence[Run], machine: str, note: str, most: int, measure: Measure = letters
) -> Scene:
    """Return the first models of each purpose that run, as bars with their 80 % intervals; each
    purpose has a scale of its own, as their speeds have units of their own."""
    title = tr("What runs on {machine}", machine=machine)
    drawn = [run for run in runs if run.speed is not None and run.precision is not None]
    entries = [
        (words, Dot(0, 0, RADIUS, role, FORMS[role]))
        for words, role, met in (
            (tr("in GPU memory"), WHOLE, any(run.whole for run in drawn)),
            (tr("part in RAM"), PARTLY, not all(run.whole for run in drawn)),
        )
        if met
    ]
    told, top = legend(entries, tr("80 % intervals"), MARGIN, WIDTH - MARGIN, measure)
    name = shortened(title, WIDTH - 2 * MARGIN, measure, LARGE * 1.06)
    shapes: list[Shape] = [Text(MARGIN, 24, name, LARGE, strong=True), *told]
    y = top + 12
    for purpose, of_kind in groupby(drawn, key=lambda run: run.purpose):
        shapes.append(Text(MARGIN, y + 14, PURPOSE_WORDS[purpose], SIZE, strong=True))
        shown = list(of_kind)[:most]
        shapes += bar_rows(_bars(shown), y + 24, WIDTH, measure)
        y += 24 + len(shown) * STEP + 8
    if not drawn:
        shapes.append(Text(MARGIN, y + 14, tr("No model of these runs.")))
        y += 24
    lines = wrapped(note, WIDTH - 2 * MARGIN, measure, SMALL)
    shapes += [
        Text(MARGIN, y + 14 + 13 * at, line, SMALL, role="quiet") for at, line in enumerate(lines)
    ]
    return Scene(WIDTH, y + 14 + 13 * len(lines), title, tuple(shapes))


def _bars(runs: Sequence[Run]) -> list[Bar]:
    return [
        Bar(
            f"{run.model} {run.precision}",
            WHOLE if run.whole else PARTLY,
            speed.value,
            speed.low,
            speed.high,
            fmt.quantity(speed.value, speed.metric),
        )
        for run in runs
        if (speed := run.speed) is not None
    ]
