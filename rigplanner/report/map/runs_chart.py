"""What a machine runs as a picture: the speed of each model with its interval, by purpose."""

from collections.abc import Sequence
from itertools import groupby

from rigplanner.planning.map.runs import Run
from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.map.models import PURPOSE_WORDS
from rigplanner.report.map.scatter import RADIUS
from rigplanner.report.map.scene import (
    FORMS,
    LARGE,
    SIZE,
    SMALL,
    Dot,
    Measure,
    Rect,
    Role,
    Scene,
    Stroke,
    Text,
    legend,
    letters,
    shortened,
    wrapped,
)

WIDTH, MARGIN, STEP, BAR, MOST_NAME = 760.0, 16.0, 20.0, 12.0, 0.42
WHOLE: Role = "card"
PARTLY: Role = "machine"
"""Colours of models that lie in GPU memory, and of those of which a part lies in RAM."""
Shape = Rect | Stroke | Dot | Text


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
        shapes += _bars(shown, y + 24, measure)
        y += 24 + len(shown) * STEP + 8
    if not drawn:
        shapes.append(Text(MARGIN, y + 14, tr("No model of these runs.")))
        y += 24
    lines = wrapped(note, WIDTH - 2 * MARGIN, measure, SMALL)
    shapes += [
        Text(MARGIN, y + 14 + 13 * at, line, SMALL, role="quiet") for at, line in enumerate(lines)
    ]
    return Scene(WIDTH, y + 14 + 13 * len(lines), title, tuple(shapes))


def _bars(runs: Sequence[Run], top: float, measure: Measure) -> list[Shape]:
    names = [f"{run.model} {run.precision}" for run in runs]
    speeds = [run.speed for run in runs if run.speed is not None]
    texts = [fmt.quantity(speed.value, speed.metric) for speed in speeds]
    widest = max(measure(name, SIZE, False) for name in names)
    left = MARGIN + 8 + min(widest, WIDTH * MOST_NAME)
    room = WIDTH - left - MARGIN - 8 - max(measure(text, SIZE, True) for text in texts)
    scale = room / (max(speed.high for speed in speeds) or 1.0)
    made: list[Shape] = []
    for at, (run, speed) in enumerate(zip(runs, speeds, strict=True)):
        y = top + at * STEP
        role: Role = WHOLE if run.whole else PARTLY
        made.append(Text(MARGIN, y + 10, shortened(names[at], left - 8 - MARGIN, measure)))
        made.append(Rect(left, y, speed.value * scale, BAR, role))
        ends = (left + speed.low * scale, left + speed.high * scale)
        made += _whisker(ends, y + BAR / 2)
        made.append(Text(ends[1] + 6, y + 10, texts[at], strong=True))
    return made


def _whisker(ends: tuple[float, float], middle: float) -> list[Shape]:
    """The interval as a line with two ends."""
    low, high = ends
    return [
        Stroke(((low, middle), (high, middle)), "mark", 1.2),
        *(Stroke(((end, middle - 4), (end, middle + 4)), "mark", 1.2) for end in ends),
    ]
