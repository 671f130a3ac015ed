"""Figures of the quote that open what they rest on: which one a click on the preview means, and all
of them as a list."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF

from rigplanner.catalog.load import Catalog
from rigplanner.desktop.panels.reasons import (
    Reason,
    lanes_reason,
    load_reason,
    memory_reason,
    price_reason,
    slots_reason,
    speed_reason,
)
from rigplanner.report.language import tr
from rigplanner.report.quote.jobs import workload_title
from rigplanner.rules.assess import Assessment, Job

if TYPE_CHECKING:
    from PySide6.QtPdf import QPdfDocument
    from PySide6.QtPdfWidgets import QPdfView

COSTS = "costs"
"""Stands for the reason that is worked out aside."""
EDGE = 1.0
"""Points inside a box of text where its first and last characters are."""


class FigureEntry(Struct, frozen=True):
    """One line of the list: its words, and what makes its reason (COSTS: worked out aside)."""

    words: str
    make: Callable[[], Reason] | str


def figure_entries(assessment: Assessment, catalog: Catalog) -> list[FigureEntry]:
    """Return all figures of a quote that have steps."""
    made = [
        FigureEntry(tr("Price"), lambda: price_reason(assessment)),
        FigureEntry(tr("Costs of years and rent"), COSTS),
        FigureEntry(tr("Power"), lambda: load_reason(assessment, catalog)),
        FigureEntry(tr("CPU lanes"), lambda: lanes_reason(assessment)),
        FigureEntry(tr("Slots"), lambda: slots_reason(assessment)),
    ]
    for job in assessment.jobs:
        title = workload_title(job)
        if job.memory:
            made.append(FigureEntry(tr("{job}: memory", job=title), lambda job=job: _memory(job)))  # type: ignore[misc]
        if job.speed is not None:
            made.append(
                FigureEntry(
                    tr("{job}: speed", job=title),
                    lambda job=job: speed_reason(job),  # type: ignore[misc]
                )
            )
    return made


def _memory(job: Job) -> Reason:
    return memory_reason(max(job.memory, key=lambda estimate: estimate.device_gib))


class Pages:
    """Where the texts of the preview stand; a page's boxes are read when they are first asked
    for."""

    def __init__(self, document: "QPdfDocument", view: "QPdfView") -> None:
        self._document, self._view = document, view
        self._boxes: dict[int, list[QRectF]] = {}

    def page_at(self, x: float, y: float) -> tuple[int, QPointF] | None:
        """Return the page under a point of the view, and the point on it; pages are as wide as the
        view (QPdfView's layout)."""
        view, margins = self._view, self._view.documentMargins()
        width = view.viewport().width() - margins.left() - margins.right()
        top = margins.top() - view.verticalScrollBar().value()
        for page in range(self._document.pageCount()):
            size = self._document.pagePointSize(page)
            scale = width / size.width()
            if top <= y <= top + size.height() * scale:
                return page, QPointF(
                    (x - margins.left() + view.horizontalScrollBar().value()) / scale,
                    (y - top) / scale,
                )
            top += round(size.height() * scale) + view.pageSpacing()
        return None

    def box_at(self, page: int, point: QPointF) -> QRectF | None:
        """Return the box of text at a point of a page."""
        if page not in self._boxes:
            self._boxes[page] = [
                polygon.boundingRect() for polygon in self._document.getAllText(page).bounds()
            ]
        near = (box.adjusted(-2, -2, 2, 2) for box in self._boxes[page])
        return next((box.adjusted(2, 2, -2, -2) for box in near if box.contains(point)), None)

    def text_in(self, page: int, box: QRectF) -> str:
        """Return the text of a box."""
        middle = box.center().y()
        return self._document.getSelection(
            page, QPointF(box.left() + EDGE, middle), QPointF(box.right() - EDGE, middle)
        ).text()

    def text_before(self, page: int, box: QRectF) -> str:
        """Return all text up to a box, from the first page on."""
        earlier = [self._document.getAllText(each).text() for each in range(page)]
        first = self._boxes[page][0]
        here = self._document.getSelection(
            page,
            QPointF(first.left() + EDGE, first.center().y()),
            QPointF(box.right() - EDGE, box.center().y()),
        )
        return "\n".join((*earlier, here.text()))


def figure_reason(
    text: str, before: str, assessment: Assessment, catalog: Catalog
) -> Reason | str | None:
    """Return what a figure of the quote rests on, by the section that it stands in; None for what
    is no figure."""
    if not any(letter.isdigit() for letter in text):
        return None
    lines = [line.strip() for line in before.splitlines()]
    makers: dict[str, Callable[[], Reason | str | None]] = {
        tr("Parts"): lambda: price_reason(assessment),
        tr("Alternatives offered"): lambda: price_reason(assessment),
        tr("What it will do"): lambda: _workload_reason(text, lines, assessment),
        tr("The machine"): lambda: lanes_reason(assessment),
        tr("Slots and ports"): lambda: slots_reason(assessment),
        tr("Power, circuit and heat"): lambda: load_reason(assessment, catalog),
        tr("Against renting"): lambda: COSTS,
        **dict.fromkeys(
            (
                tr("Findings"),
                tr("Annex: setting it up"),
                tr("What was not checked"),
                tr("Sources of the deciding figures"),
            ),
            lambda: None,
        ),
    }
    section = next((line for line in reversed(lines) if line in makers), None)
    return makers[section]() if section is not None else None


def _workload_reason(text: str, lines: list[str], assessment: Assessment) -> Reason | None:
    titles = {workload_title(job): job for job in assessment.jobs}
    job = next((titles[line] for line in reversed(lines) if line in titles), None)
    if job is None:
        return None
    of_speed = any(
        text.startswith(tr(word).partition("{")[0][:6])
        for word in ("Expected speed: {speed}", "Measured: {anchor}", "Rests on {evidence}.")
    )
    return speed_reason(job) if of_speed else _memory(job) if job.memory else None
