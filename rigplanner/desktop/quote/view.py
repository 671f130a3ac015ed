"""The Quote tab: what the quote needs to know at the left, the very bytes that will be saved at the
right."""

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QEvent, QIODevice, QObject, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QComboBox, QMenu, QPushButton, QSplitter, QWidget

from rigplanner.desktop.controls.flow_row import flow_strip
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import button, column, label, panel, scrolled
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.exports import (
    ask_export,
    ask_save_quote,
    copy_as,
    exported,
    paper_of,
    write,
)
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import look
from rigplanner.desktop.panels.breakdown import show_breakdown
from rigplanner.desktop.panels.reasons import Reason, cost_steps
from rigplanner.desktop.quote.figures import COSTS, Pages, figure_entries, figure_reason
from rigplanner.desktop.quote.form import QuoteForm
from rigplanner.desktop.words import money
from rigplanner.evidence import Step
from rigplanner.report.forms import WORKBOOK, form_title
from rigplanner.report.language import THIN, tr, trn
from rigplanner.report.paper.sheet import SIZES

PREVIEW_DELAY_MS = 250


class QuoteView(QWidget):
    """`content` is the PDF that is shown, None before it was made."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._buffer: QBuffer | None = None
        self.content: bytes | None = None
        self._view: Any = None
        self._document: Any = None
        self._pages: Pages | None = None
        self._pointed: tuple[object, Reason | str | None] = (None, None)
        self.form = QuoteForm(session)
        self.note = label("", wrap=True)
        self._note = panel(column(self.note, margins=(16, 16, 16, 16)))
        self._page = column(self._note, spacing=0)
        self.save = button(
            tr("Save as PDF…"), lambda: ask_save_quote(self, session), "quote", "primary"
        )
        self.pages = label("", "small")
        self.copy = button(tr("Copy as"), self._open_copy, "copy")
        self.export = button(tr("Export"), self._open_export, "export")
        self.figures = button(tr("Figures"), self._open_figures, "info", name=tr("Show sources"))
        self.paper = QComboBox()
        self.paper.setAccessibleName(tr("Paper"))
        self.paper.setToolTip(plain(tr("Paper of quotes and comparisons")))
        self.paper.addItems(list(SIZES))
        self.paper.setCurrentText(paper_of(session))
        self.paper.textActivated.connect(self._use_paper)
        head = flow_strip(
            self.save,
            self.copy,
            self.export,
            self.figures,
            self.paper,
            self.pages,
            margins=(12, 6, 12, 6),
        )
        split = QSplitter()
        self._details = scrolled(self.form, tr("Details of the quote"))
        split.addWidget(self._details)
        split.addWidget(panel(column(head, panel(self._page), spacing=0)))
        split.setSizes([290, 560])
        split.setChildrenCollapsible(False)
        self.setLayout(column(split))
        self._delay = QTimer(self, singleShot=True, interval=PREVIEW_DELAY_MS)
        self._delay.timeout.connect(self._make)
        session.rig_changed.connect(self._rig_changed)

    def _rig_changed(self, _: Change) -> None:
        self.form.fill()
        if self.isVisible():
            self._delay.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        bar = self._details.verticalScrollBar().sizeHint().width()
        self._details.setMinimumWidth(self.form.minimumSizeHint().width() + bar)
        self._delay.start()

    def _use_paper(self, paper: str) -> None:
        self._session.preferences.change(paper=paper)
        self._make()

    def show_costs(self) -> None:
        """Work out aside what years cost and what hire would, then show how."""
        assessment, catalog = self._session.assessment, self._session.catalog
        if assessment is None:
            return
        note = tr(
            "Energy and years need a tariff and hours a day; renting is compared where the rig's "
            "whole price is known."
        )

        def show(steps: tuple[Step, ...]) -> None:
            headline = tr(
                "Price {total}", total=money(assessment.totals.total, assessment.totals.currency)
            )
            show_breakdown(self, Reason(tr("Costs"), headline, steps, note))

        self._session.tasks.run_task("costs", lambda _: cost_steps(assessment, catalog), show)

    def _open_figures(self) -> None:
        """Offer all figures of the quote; each opens its steps."""
        if self._session.assessment is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for entry in figure_entries(self._session.assessment, self._session.catalog):
            menu.addAction(entry.words.replace("&", "&&"), partial(self._show_reason, entry.make))
        menu.popup(self.figures.mapToGlobal(self.figures.rect().bottomLeft()))

    def _show_reason(self, reason: Callable[[], Reason] | Reason | str | None) -> None:
        made = reason() if callable(reason) else reason
        if made == COSTS:
            self.show_costs()
        elif isinstance(made, Reason):
            show_breakdown(self, made)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click on a figure of the preview opens what it rests on."""
        if (
            isinstance(event, QMouseEvent)
            and self._view is not None
            and watched is self._view.viewport()
        ):
            if event.type() == QEvent.Type.MouseMove and not event.buttons():
                over = self._reason_at(event) is not None
                self._view.viewport().setCursor(
                    Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor
                )
            elif (
                event.type() == QEvent.Type.MouseButtonRelease
                and event.button() == Qt.MouseButton.LeftButton
            ):
                self._show_reason(self._reason_at(event))
        return super().eventFilter(watched, event)

    def _reason_at(self, event: QMouseEvent) -> Reason | str | None:
        """Return what the figure under the pointer rests on; the last answer is kept while the
        pointer stays in its box."""
        pages, assessment = self._pages, self._session.assessment
        at = pages.page_at(event.position().x(), event.position().y()) if pages else None
        box = pages.box_at(*at) if pages and at else None
        if pages is None or at is None or box is None or assessment is None:
            return None
        key = (at[0], box.getRect(), id(pages))
        if self._pointed[0] != key:
            found = figure_reason(
                pages.text_in(at[0], box),
                pages.text_before(at[0], box),
                assessment,
                self._session.catalog,
            )
            self._pointed = key, found
        return self._pointed[1]

    def _open_copy(self) -> None:
        from rigplanner.report.quote.export import FORMATS

        self._open_menu(self.copy, list(FORMATS), partial(copy_as, self._session))

    def _open_export(self) -> None:
        from rigplanner.report.quote.export import FORMATS

        self._open_menu(self.export, [*FORMATS, WORKBOOK], self._ask_export)

    def _open_menu(
        self, at: QPushButton, forms: list[str], chosen: Callable[[str], object]
    ) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for form in forms:
            menu.addAction(form_title(form), partial(chosen, form))
        menu.popup(at.mapToGlobal(at.rect().bottomLeft()))

    def _ask_export(self, form: str) -> None:
        name = self._session.rig.name
        ask_export(
            self,
            self._session,
            tr("Export the quote"),
            name,
            form,
            lambda path: self.save_as(path, form),
        )

    def save_as(self, path: Path, form: str) -> None:
        """Write the quote in one of the forms of export."""
        write(self._session, path, lambda: exported(self._session, form))

    def _make(self) -> None:
        """Make the quote's bytes aside from the window."""
        session = self._session
        if self._view is None and session.is_open:
            self._say(tr("The quote is being made; its pages appear here."))
        if session.pending:
            return
        assessment = session.assessment if session.is_open else None
        self.save.setEnabled(assessment is not None)
        if assessment is None:
            self._say(session.fault or tr("Open or start a rig to see its quote."))
            return
        catalog, today, paper = (
            session.catalog,
            date.fromisoformat(session.today),
            paper_of(session),
        )

        def work(_: object) -> bytes:
            from rigplanner.report.quote.pdf import quote_pdf

            return quote_pdf(assessment, catalog, today, paper)

        session.tasks.run_task(
            "quote",
            work,
            self._show,
            lambda fault: self._say(tr("The quote could not be made: {fault}", fault=fault)),
        )

    def _tone(self) -> None:
        """Give the space around the pages the colour of a raised surface."""
        tones = self._view.palette()
        tones.setColor(QPalette.ColorRole.Dark, look.tokens.color("raised"))
        self._view.setPalette(tones)

    def _say(self, text: str) -> None:
        self.note.setText(text)
        self._note.show()
        if self._view is not None:
            self._view.hide()

    def _show(self, content: bytes) -> None:
        """Show a PDF; the place in it that is read stays."""
        from PySide6.QtPdf import QPdfDocument
        from PySide6.QtPdfWidgets import QPdfView

        if self._view is None:
            self._document = QPdfDocument(self)
            self._view = QPdfView(self)
            self._view.setAccessibleName(tr("Preview of the quote"))
            self._view.setDocument(self._document)
            self._tone()
            look.look_changed.connect(self._tone)
            self._view.setPageMode(QPdfView.PageMode.MultiPage)
            self._view.setZoomMode(QPdfView.ZoomMode.FitToWidth)
            # A bar that comes and goes changes the width, so the height of pages that fit it, so
            # whether a bar is wanted: where only one of both heights fits, Qt lays out for ever
            # (docs/upstream/qt-pdf-view.md).
            self._view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
            self._view.viewport().setMouseTracking(True)
            self._view.viewport().installEventFilter(self)
            self._page.addWidget(self._view)
        at = self._view.verticalScrollBar().value()
        self.content = content
        self._document.close()
        self._buffer = QBuffer(self)
        self._buffer.setData(QByteArray(content))
        self._buffer.open(QIODevice.OpenModeFlag.ReadOnly)
        self._document.load(self._buffer)
        self._pages = Pages(self._document, self._view)
        self._view.verticalScrollBar().setValue(at)
        count = self._document.pageCount()
        self.pages.setText(trn("{count} page", "{count} pages", count))
        self.pages.setToolTip(
            plain(
                tr(
                    "The preview shows the bytes that are saved: {size}.",
                    size=f"{len(content) // 1024}{THIN}kB",
                )
            )
        )
        self._note.hide()
        self._view.show()
