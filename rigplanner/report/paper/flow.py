"""How a page flows: entries of the outline, and figures that wait for a page with room."""

from collections.abc import Sequence
from typing import Any

from rigplanner.report.paper.type import printable


def outline_flowable(title: str) -> Any:
    """Return an invisible mark that puts `title` into the outline of the document."""
    from reportlab.platypus import Flowable

    class Outline(Flowable):  # type: ignore[misc]
        width = height = 0

        def wrap(self, *_: float) -> tuple[float, float]:
            return 0, 0

        def draw(self) -> None:
            shown = printable(title)
            self.canv.bookmarkHorizontal(shown, 0, 14)
            self.canv.addOutlineEntry(shown, shown, 0)

    return Outline()


def whole_rows(table: Any, page_height: float) -> Any:
    """Return a class of table that cuts a row in two only where a whole page of `page_height`
    points does not hold it."""

    class WholeRows(table):  # type: ignore[misc]
        def split(self, width: float, height: float) -> list[Any]:
            self.splitInRow = int(height >= page_height)
            return list(super().split(width, height))

    return WholeRows


class Figure:
    """Flowables that stay on one page, and those that follow them at once (a long table under its
    picture)."""

    def __init__(self, kept: list[Any], tail: Sequence[Any] = ()) -> None:
        self.kept = kept
        self.tail = list(tail)


def floating(figures: Sequence[Figure], following: Sequence[list[Any]], page_height: float) -> Any:
    """Return figures and the blocks after them as one flow, so that no page is left half empty.

    While the first figure does not fit on the page, blocks go before it, and when there are none
    left the next figure that fits. Blocks keep their order. A figure taller than `page_height`
    points is not kept together."""
    from reportlab.platypus import Flowable, Spacer
    from reportlab.platypus.flowables import _listWrapOn

    class Floating(Flowable):  # type: ignore[misc]
        def wrap(self, width: float, height: float) -> tuple[float, float]:
            return width, 1e7

        def split(self, width: float, height: float) -> list[Any]:
            nothing = Spacer(1, 0)
            if not figures:
                return [nothing, *(flowable for block in following for flowable in block)]
            needed = [_listWrapOn(figure.kept, width, self.canv)[1] for figure in figures]
            fits = [tall <= height or tall > page_height for tall in needed]
            if following and not fits[0]:
                return [nothing, *following[0], floating(figures, following[1:], page_height)]
            if not any(fits):
                return []
            n = fits.index(True)
            rest = [*figures[:n], *figures[n + 1 :]]
            return [
                nothing,
                *figures[n].kept,
                *figures[n].tail,
                floating(rest, following, page_height),
            ]

    return Floating()
