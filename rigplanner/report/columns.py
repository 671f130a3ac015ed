"""Tables of plain text that keep to the width of a terminal."""

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest

from rigplanner.report.format import columns_of, padded, wrapped
from rigplanner.report.language import tr

GAP = "  "
Cells = tuple[str, ...]


def table_lines(
    heads: Cells,
    rows: Sequence[Cells],
    right: Collection[int],
    soft: Mapping[int, int],
    spare: Sequence[int],
    width: int | None = None,
) -> list[str]:
    """Return a table as lines of at most `width` columns of a terminal (None: as long as they are),
    without the columns that no row fills. Where room is short, the words of `soft` columns go on
    in the next line, down to the width that stands there, then `spare` columns are left out, the
    first first, and a last line names them. `right`: columns of numbers."""
    lines = [heads, *rows]
    kept = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    widths = {at: max(columns_of(line[at]) for line in lines) for at in kept}
    gone = _left_out(widths, soft, spare, width)
    kept = [at for at in kept if at not in gone]
    if width is not None:
        room = width - len(GAP) * (len(kept) - 1)
        room -= sum(widths[at] for at in kept if at not in soft)
        soft_ones = [at for at in kept if at in soft]
        most = widest([widths[at] for at in soft_ones], room) if soft_ones else 0
        widths |= {at: min(widths[at], max(most, 1)) for at in soft_ones}
    made = [text for line in lines for text in _row(line, kept, widths, right)] if kept else []
    if gone:
        names = ", ".join(heads[at] for at in sorted(gone))
        told = tr("No room for: {columns}. A wider terminal or a file shows them.", columns=names)
        made += wrapped(told, width)
    return made


def widest(widths: Sequence[int], room: int) -> int:
    """Return how wide a column may be so that all together take the room, narrow ones no more than
    they need."""
    left, many = room, len(widths)
    for each in sorted(widths):
        if each > left // many:
            return max(1, left // many)
        left, many = left - each, many - 1
    return max(widths)


def _left_out(
    widths: Mapping[int, int], soft: Mapping[int, int], spare: Sequence[int], width: int | None
) -> list[int]:
    """The columns without which the others fit."""
    least = {at: min(each, soft.get(at, each)) for at, each in widths.items()}
    gone: list[int] = []
    if width is None:
        return gone
    for at in (at for at in spare if at in least):
        if sum(least.values()) + len(GAP) * (len(least) - 1) <= width:
            break
        gone.append(at)
        del least[at]
    return gone


def _row(
    line: Cells, kept: Sequence[int], widths: Mapping[int, int], right: Collection[int]
) -> list[str]:
    """A row as lines of text, cells that need more than one going on below."""
    cells = [wrapped(line[at], widths[at]) for at in kept]
    return [
        GAP.join(
            " " * (widths[at] - columns_of(text)) + text
            if at in right
            else padded(text, widths[at])
            for at, text in zip(kept, texts, strict=True)
        ).rstrip()
        for texts in zip_longest(*cells, fillvalue="")
    ]
