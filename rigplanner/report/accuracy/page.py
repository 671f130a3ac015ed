"""The page `docs/accuracy.md`: what is asked and what is reached on one screen, then every
table."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from rigplanner.report.accuracy.table import AccuracyTable, as_markdown, markdown_table
from rigplanner.report.accuracy.targets import TARGETS, Target

PREFACE = """# How right the predictions are

Made by `make accuracy` from measured cases; by hand are only what is asked and why it is missed. Where several files are judged the
figures of the best and the worst stand, and the worst decides. How fast the program itself is, `make bench` tells.
"""
HEAD = ("predicted", "figure", "asked", "reached", "", "why")
TERMS = """
`median`, `mean` and `p90` (90th percentile) are of the absolute relative error, `bias` is the median signed error, `inside` the
share of measurements within the stated 80 % interval. `covered` counts the cases that the model could express; the rest were
refused with a reason.
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


def accuracy_page(tables: Sequence[AccuracyTable]) -> str:
    """Return the page as Markdown."""
    return "\n".join(
        [
            PREFACE,
            *markdown_table(HEAD, map(_cells, reached(tables)), 0),
            TERMS,
            as_markdown(tables),
        ]
    )


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
