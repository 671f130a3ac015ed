"""The page `docs/accuracy.md`: what to expect at first sight, two pictures, what is asked and what
is reached; beside it every table and case as CSV."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from rigplanner.error_figures import Errors
from rigplanner.report.accuracy.pictures import novelty_svg, pooled, scatter_svg
from rigplanner.report.accuracy.table import (
    AccuracyTable,
    as_csv,
    csv_text,
    markdown_table,
    notes_csv,
)
from rigplanner.report.accuracy.targets import TARGETS, Target

PREFACE = """# How right the predictions are

Made by `make accuracy` from measured cases; by hand are only what is asked and why it is missed. How fast the program itself is,
`make bench` tells.

**Expect of a source that nobody has looked at** what was predicted at first sight, before anything was learnt from it: {lead}.
What ships knows these sources since; all figures of known cases flatter.
"""
PICTURES = """
![Predicted against measured memory and speed, each without its source or GPU]({folder}/{scatter})

Dashed: half as much again, and two thirds. The newer a case is to what was fitted, the larger the error:

![Error by novelty: median and 90th percentile]({folder}/{novelty})

Where several files are judged the figures of the best and the worst stand, and the worst decides.
"""
SCATTER, NOVELTY = "predicted-measured.svg", "novelty.svg"
HEAD = ("predicted", "figure", "asked", "reached", "", "why")
TERMS = """
`median`, `mean` and `p90` (90th percentile) are of the absolute relative error, `bias` is the median signed error, `inside` the
share of measurements within the stated 80 % interval. `covered` counts the cases that the model could express; the rest were
refused with a reason. Every table by kind, stack, source, GPU and network is in [tables.csv]({folder}/tables.csv), what each compares
and leaves out in [comparisons.csv]({folder}/comparisons.csv), every case
without its source or GPU, and at first sight, in [cases.csv]({folder}/cases.csv).
"""
PLACES = 3
"""Decimals of a share to which a figure is told and judged: tenths of a per cent."""


class Reached(Struct, frozen=True):
    """A target and the figures of all tables that tell it, least first; none where this run judged
    no such cases."""

    target: Target
    figures: tuple[float, ...]

    @property
    def met(self) -> bool | None:
        """Whether every figure keeps the bounds; None where nothing is asked or nothing was
        judged."""
        asked = self.target
        if not self.figures or (asked.least is None and asked.most is None):
            return None
        enough = asked.least is None or self.figures[0] >= asked.least
        return enough and (asked.most is None or self.figures[-1] <= asked.most)


def reached(tables: Sequence[AccuracyTable], targets: Sequence[Target] = TARGETS) -> list[Reached]:
    """Return each target with what the tables say of it."""
    return [Reached(target, tuple(sorted(_figures(target, tables)))) for target in targets]


def _figures(target: Target, tables: Sequence[AccuracyTable]) -> Iterator[float]:
    for table in tables:
        if table.judged != target.judged:
            continue
        if target.figure in table.shares:
            yield round(table.shares[target.figure], PLACES)
        for row in table.rows:
            share = (
                row.covered / row.cases
                if target.figure == "covered"
                else getattr(row, target.figure, None)
            )
            if row.group == target.group and share is not None:
                yield round(share, PLACES)


def accuracy_page(tables: Sequence[AccuracyTable], folder: str = "accuracy") -> str:
    """Return the page as Markdown; its pictures and tables are those of `beside`, in `folder`."""
    first = (("memory", "memory at first sight"), ("speed", "speed at first sight"))
    lead = "; ".join(f"{what} {_first(pooled(tables, judged))}" for what, judged in first)
    return "\n".join(
        [
            PREFACE.format(lead=lead)
            + PICTURES.format(folder=folder, scatter=SCATTER, novelty=NOVELTY),
            *markdown_table(HEAD, map(_cells, reached(tables)), 0),
            TERMS.format(folder=folder),
        ]
    )


def _first(errors: Errors | None) -> str:
    if errors is None or errors.median is None or errors.p90 is None:
        return "not judged here"
    return f"off by {100 * errors.median:.1f} % (median) and {100 * errors.p90:.0f} % (p90)"


SHOWN = ("memory held out", "memory at first sight", "GPU left out", "speed at first sight")
"""Comparisons whose cases are written one by one: those of the first picture, and first sight."""


def beside(tables: Sequence[AccuracyTable]) -> dict[str, str]:
    """Return the files that lie beside the page in a folder of its name: two pictures, every table,
    what each compares, and the cases of those `SHOWN`."""
    cases = (
        (table.judged, case.id, case.unit, f"{case.measured:.4g}", f"{case.predicted:.4g}")
        for table in tables
        if table.judged in SHOWN
        for case in table.cases
    )
    return {
        SCATTER: scatter_svg(tables),
        NOVELTY: novelty_svg(tables),
        "tables.csv": as_csv(tables),
        "comparisons.csv": notes_csv(tables),
        "cases.csv": csv_text(("judged", "id", "unit", "measured", "predicted"), cases),
    }


def _cells(told: Reached) -> list[str]:
    target, verdict = told.target, {True: "met", False: "**missed**", None: ""}[told.met]
    return [
        target.what,
        target.figure,
        _asked(target),
        _told(told.figures, target.unit),
        verdict,
        target.why if told.met is False else "",
    ]


def _asked(target: Target) -> str:
    if target.least is not None and target.most is not None:
        return f"{100 * target.least:g} to {100 * target.most:g} {target.unit}"
    bounds = (("at least", target.least), ("at most", target.most))
    return next(
        (f"{word} {100 * bound:g} {target.unit}" for word, bound in bounds if bound is not None), ""
    )


def _told(figures: tuple[float, ...], unit: str) -> str:
    if not figures:
        return "not judged here"
    ends = dict.fromkeys(f"{100 * figure:.1f}" for figure in (figures[0], figures[-1]))
    return f"{' to '.join(ends)} {unit}"
