"""A comparison as columns of plain text, for mail and terminals."""

from collections.abc import Sequence
from itertools import zip_longest

from rigplanner.report.columns import GAP, widest
from rigplanner.report.comparison.content import Comparison
from rigplanner.report.format import columns_of, padded, wrapped

NARROWEST = 16
"""Columns of a terminal below which words are cut to pieces; further rigs go below instead."""

Line = tuple[str, ...]


def table(made: Comparison, width: int | None = None) -> str:
    """Return what changed, then columns of plain text; a star marks what is ahead. Lines are at
    most `width` columns of a terminal wide (None: as long as they are): words go on in the next
    line, and rigs that find no room beside the others stand below them."""
    told = [line for change in made.changes for line in wrapped(change, width)]
    blocks = [_columns(lines, width) for lines in _side_by_side(_lines(made), width)]
    return "\n".join([*told, *([""] if told else []), "\n\n".join(blocks)]) + "\n"


def _lines(made: Comparison) -> list[Line]:
    lines: list[Line] = [("", *(f"  {name}" for name in made.names))]
    for row, best in zip(made.rows, made.better, strict=True):
        marked = (f"* {cell}" if n in best else f"  {cell}" for n, cell in enumerate(row[1:]))
        lines.append((row[0], *marked))
    return lines


def _side_by_side(lines: Sequence[Line], width: int | None) -> list[list[Line]]:
    """Return the lines once for as many rigs as find room beside each other."""
    rigs = len(lines[0]) - 1
    most = rigs if width is None else max(1, width // (NARROWEST + len(GAP)) - 1)
    return [
        [(line[0], *line[first : first + most]) for line in lines]
        for first in range(1, rigs + 1, most)
    ]


def _columns(lines: Sequence[Line], width: int | None) -> str:
    widths = [max(columns_of(cell) for cell in column) for column in zip(*lines, strict=True)]
    if width is not None:
        most = widest(widths, width - len(GAP) * (len(widths) - 1))
        widths = [min(each, most) for each in widths]
    return "\n".join(text for line in lines for text in _row(line, widths))


def _row(line: Line, widths: Sequence[int]) -> list[str]:
    """Return a row as lines of text; what goes on in the next line stands under its first word."""
    head = wrapped(line[0], widths[0])
    cells = [
        [cell[:2] + text if n == 0 else "  " + text for n, text in enumerate(texts)]
        for cell, width in zip(line[1:], widths[1:], strict=True)
        for texts in [wrapped(cell[2:], max(1, width - 2))]
    ]
    return [
        GAP.join(padded(*pair) for pair in zip(texts, widths, strict=True)).rstrip()
        for texts in zip_longest(head, *cells, fillvalue="")
    ]
