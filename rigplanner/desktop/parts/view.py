"""The Parts tab: what can be bought of one kind, filtered while typing, judged against the open
rig."""

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QHideEvent,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import KINDS, AnyPart, Price, kind_of
from rigplanner.desktop.controls.flow_row import flow_strip
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    button,
    column,
    give_viewport,
    label,
    panel,
    row,
    strip,
)
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.parts.cells import PartsCells
from rigplanner.desktop.parts.details import Details
from rigplanner.desktop.parts.filters import Filters
from rigplanner.desktop.parts.model import NAME, PART_ROLE, Fit, PartsModel, Wish
from rigplanner.desktop.parts.offers import usual_rates
from rigplanner.desktop.words import KIND_WORDS, number, shortened
from rigplanner.economics.totals import asked_price
from rigplanner.report.language import tr, trn
from rigplanner.rig.document import part_of

Index = QModelIndex | QPersistentModelIndex
SINGLE = frozenset({"motherboard", "system", "chassis", "psu", "cooler"})
"""Kinds of which most rigs have one: a click on them means another one instead."""
FILTER_DELAY_MS = 60
BADGE_DELAY_MS = 120
FIRST_ROWS = 40
MEASURED_ROWS = 48
"""Spread over the table: figures of its first rows alone tell little of the others."""
MOST_CHARS = 24
GPU_LANES = 4
"""Lanes that a slot for a GPU has at least."""
USUAL_PRICE, USUAL_DAY = "≈ NT$99,999", "launch, 30 Nov 2026"
"""For which the last columns have room, whatever the first rows cost."""
USUAL_CAUSE = "passive: needs forced air"
LEAST_NAME, KEPT_FIGURES, LEAST_SHARE = 34, 2, 0.7
"""Characters that a name has room for, and figures that give way only to a share of it; the first
stays."""
MOST_NAMES = 0.9
"""Share of the names that have room for all their characters."""
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class PartsTable(QTableView):
    """The table; Enter puts the part into the rig."""

    def __init__(self, details: Details, model: PartsModel) -> None:
        super().__init__()
        self._details, self._model = details, model
        self.names_px = self.causes_px = 0
        self.setDragEnabled(True)
        self._cells = PartsCells(model, self)
        self.setModel(model)
        self.sheet = give_viewport(self)
        self.setAccessibleName(tr("Catalog"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setShowGrid(False)
        self.setSortingEnabled(True)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(row_px())
        self.verticalHeader().setMinimumSectionSize(row_px())
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)

    def part(self) -> AnyPart | None:
        """Return the part of the row that is chosen."""
        index = self.currentIndex()
        return index.data(PART_ROLE) if index.isValid() else None

    def chosen(self) -> list[AnyPart]:
        """Return the parts of all rows that are chosen, from top to bottom."""
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        return [self._model.parts[n] for n in rows]

    def make_room(self) -> None:
        """Give the causes room for most of them, less where the table is narrow, and hide columns
        until names can be told apart: figures from the last on, at the end the day of the price;
        the pane shows them all."""
        header, day = self.horizontalHeader(), self._model.price_column + 1
        if header.count():
            quarter = self.viewport().width() // 4
            header.resizeSection(0, max(row_px() * 5, min(self.causes_px, quarter)))
        own = range(NAME + 1, day - 1)
        for n in range(header.count()):
            self.setColumnHidden(n, False)
        least = LEAST_NAME * QFontMetrics(sized_font(1.0)).averageCharWidth()
        room = self.viewport().width() - sum(
            header.sectionSize(n) for n in range(header.count()) if n != NAME
        )
        spare, kept = own[KEPT_FIGURES:], own[1:KEPT_FIGURES]
        for n in (*reversed(spare), *reversed(kept), day):
            if room >= (max(least, self.names_px) if n in spare else LEAST_SHARE * least):
                return
            room += header.sectionSize(n)
            self.setColumnHidden(n, True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.make_room()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._cells.paint(self, event.rect())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        from rigplanner.desktop.parts.menus import catalog_deeds, open_menu

        if (part := self.part()) is not None:
            open_menu(self, event, catalog_deeds(self._details, self._model, part))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._details.put(self.chosen())
        else:
            super().keyPressEvent(event)


class FilterField(QLineEdit):
    """The field of the filter; Down and Enter go on to the table."""

    left_down = Signal()

    def sizeHint(self) -> QSize:
        """A field of few words: what is left of the line is given to it anyway."""
        return QSize(row_px() * 5, super().sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.left_down.emit()
        else:
            super().keyPressEvent(event)


class PartsView(QWidget):
    """Kind, filter, facets, table, details."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._uid = ""
        self._selected = ""
        self._stale = False
        self._settled: tuple[str, str] | None = None
        self._guessed = False
        self.model = PartsModel(
            session.find, session.rig.currency, session.today, self, self._asked
        )
        self.details = Details(session)
        self.table = PartsTable(self.details, self.model)
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)
        self.table.doubleClicked.connect(lambda _: self.details.put_into_rig())
        self.filters = Filters(self.model)
        self.filters.changed.connect(self._filter_soon)
        self.filters.hide()
        self.count = label("", "small")
        self.count.setAlignment(RIGHT)
        split = QSplitter(Qt.Orientation.Vertical)
        self.blank = self._make_blank()
        split.addWidget(panel(column(self.blank, self.table, spacing=0)))
        split.addWidget(self.details)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 1)
        split.setSizes([row_px() * 21, row_px() * 6])
        split.setChildrenCollapsible(False)
        self.setLayout(column(panel(self._make_head()), split, spacing=0))
        self._delay = QTimer(self, singleShot=True, interval=FILTER_DELAY_MS)
        self._delay.timeout.connect(self.apply_filter)
        self._scrolled = QTimer(self, singleShot=True, interval=BADGE_DELAY_MS)
        self._scrolled.timeout.connect(self.make_badges)
        self.table.verticalScrollBar().valueChanged.connect(lambda _: self._scrolled.start())
        session.rig_changed.connect(self._rig_changed)
        look.look_changed.connect(self.table.sheet.update)

    def _make_head(self) -> QVBoxLayout:
        self.kinds = QComboBox()
        self.kinds.setAccessibleName(tr("Kind of part"))
        for kind in KINDS:
            self.kinds.addItem(KIND_WORDS[kind], kind)
        self.kinds.activated.connect(lambda _: self.browse(self.kinds.currentData()))
        self.target = QComboBox()
        self.target.setAccessibleName(tr("Add, or replace a part of the rig"))
        self.target.setToolTip(
            plain(
                tr(
                    "What choosing a row does, and what the badges answer for: the part beside"
                    " those in the rig, or instead of one."
                )
            )
        )
        self.target.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.target.activated.connect(
            lambda _: self.show_kind(self.kinds.currentData(), self.target.currentData())
        )
        self.words = FilterField()
        self.words.left_down.connect(self._enter_table)
        self.words.setAccessibleName(tr("Filter parts by words"))
        self.words.setPlaceholderText(tr("Filter: words in any order"))
        self.words.setClearButtonEnabled(True)
        self.words.setMaxLength(200)
        self.words.textChanged.connect(self._filter_soon)
        self.fitting = QCheckBox(tr("Only what fits"))
        self.fitting.setChecked(self._session.preferences.now.only_fitting)
        self.fitting.toggled.connect(self._toggle_fitting)
        self.starred = QCheckBox(tr("Favourites"))
        self.starred.toggled.connect(lambda _: self.apply_filter())
        self.narrow = button(
            tr("Filters"), self._toggle_filters, name=tr("Filter by ranges and values")
        )
        self.narrow.setCheckable(True)
        self.count.setMinimumWidth(
            QFontMetrics(small_font()).horizontalAdvance(
                tr("{shown} of {total}", shown=number(9_999), total=number(9_999))
            )
        )
        first = flow_strip(
            self.kinds, self.target, self.words, self.narrow, self.fitting, self.starred, self.count
        )
        return column(first, self.filters, margins=(12, 6, 12, 6), spacing=4)

    def _make_blank(self) -> QWidget:
        """What stands above an empty table: what happened, and the way back."""
        said = label(tr("No part matches these words and filters."))
        self.more_parts = label(
            tr("File > Update the catalog… can bring 26,000 more."), "small", wrap=True
        )
        made = strip(
            row(
                said,
                button(tr("Show all"), self.clear_filters),
                self.more_parts,
                1,
                margins=(12, 12, 12, 12),
            )
        )
        made.hide()
        return made

    def browse(self, kind: str) -> None:
        """Show the parts of a kind: beside those in the rig where there is room for one more,
        else instead of the first of them."""
        self._guessed = self._session.assessment is None
        standing = self._standing(kind)
        full = kind in SINGLE or (kind == "gpu" and not self._has_free_slot())
        self.show_kind(kind, standing[0][0] if standing and full else "")

    def _standing(self, kind: str) -> list[tuple[str, str]]:
        """Return uid and name of the rig's items of a kind."""
        rig, catalog = self._session.rig, self._session.catalog
        parts = [(item.uid, part_of(rig, catalog, item.part)) for item in rig.items]
        return [(uid, part.name) for uid, part in parts if part and kind_of(part) == kind]

    def _has_free_slot(self) -> bool:
        """Whether a slot is free that carries a GPU; one of a lane or two is for other cards."""
        assessment = self._session.assessment
        uses = assessment.machine.slots if assessment else ()
        free = [use for use in uses if not (use.disabled_by or use.piece or use.covered_by)]
        return not uses or any((use.slot.width or GPU_LANES) >= GPU_LANES for use in free)

    def _fill_target(self) -> None:
        standing = self._standing(self.kinds.currentData())
        self.target.blockSignals(True)
        self.target.clear()
        self.target.addItem(tr("Add"), "")
        for uid, name in standing:
            self.target.addItem(tr("Replace {name}", name=shortened(name, 24)), uid)
        self.target.setCurrentIndex(max(0, self.target.findData(self._uid)))
        self.target.blockSignals(False)
        self.target.setVisible(bool(standing))

    def show_kind(self, kind: str, uid: str) -> None:
        """Show the parts of a kind; `uid` is the item that a choice would replace, "" to add one:
        badges answer for one of them."""
        self._guessed &= uid == self._uid
        if uid != self._uid:
            self.model.forget_fits()
        self._uid = uid
        self.kinds.setCurrentIndex(self.kinds.findData(kind))
        item = self._session.rig.item(uid) if uid else None
        if item is not None:
            self._selected = item.part
        if kind != self.model.kind:
            self.words.blockSignals(True)
            self.words.clear()
            self.words.blockSignals(False)
            self.filters.show_kind(kind)
        self._say_context()
        self._fill_target()
        self.apply_filter()

    def search(self, words: str, kind: str, part_id: str) -> None:
        """Show one part, as the palette asks for it."""
        self.show_kind(kind, "")
        self._selected = part_id
        self.words.setText(words)
        self.apply_filter()

    def _say_context(self) -> None:
        item = self._session.rig.item(self._uid) if self._uid else None
        part = part_of(self._session.rig, self._session.catalog, item.part) if item else None
        self.details.say_context(tr("instead of {name}", name=part.name) if part else "")

    def _filter_soon(self) -> None:
        self._delay.start()

    def _toggle_filters(self) -> None:
        self.filters.setVisible(self.narrow.isChecked())
        if self.narrow.isChecked():
            self.filters.fill()

    def clear_filters(self) -> None:
        """Show all parts of the kind again."""
        self.words.clear()
        self.fitting.setChecked(False)
        self.starred.setChecked(False)
        self.filters.empty()

    def take_catalog(self) -> None:
        """Show the parts of another catalog in place of the present ones."""
        if self.model.kind:
            self.model.kind = ""
            self.apply_filter()

    def wish(self) -> Wish:
        """Return what the filter widgets ask for."""
        return Wish(
            words=self.words.text(),
            facets=self.filters.facets(),
            ranges=self.filters.ranges(),
            favourites=self.starred.isChecked(),
            fitting=self.fitting.isChecked(),
        )

    def apply_filter(self) -> None:
        """Show what the filter leaves, keeping the selected part in sight."""
        self._delay.stop()
        kind = self.kinds.currentData()
        fresh = kind != self.model.kind
        self.model.favourites = frozenset(self._session.preferences.now.favourites)
        self._say_prices()
        self.model.show(kind, self.wish())
        if fresh:
            self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            self._size_columns()
        if self.filters.isVisible():
            self.filters.fill()
        self._restore_selection()
        self._say_count()
        self.make_badges()

    def _say_count(self) -> None:
        active = len(self.filters.facets()) + len(self.filters.ranges())
        self.narrow.setText(tr("Filters ({active})", active=active) if active else tr("Filters"))
        self.blank.setVisible(bool(self.model.kind) and not self.model.parts)
        self.more_parts.setVisible(not self._session.catalog.community)
        shown, total = len(self.model.parts), self.model.total
        self.count.setText(
            tr("{shown} of {total}", shown=number(shown), total=number(total))
            if shown < total
            else trn("{count} part", "{count} parts", total)
        )

    def _size_columns(self) -> None:
        header = self.table.horizontalHeader()
        metrics = QFontMetrics(sized_font(1.0))
        rows = len(self.model.parts)
        some = [self.model.cells(line) for line in range(0, rows, 1 + rows // MEASURED_ROWS)]
        for n in range(self.model.columnCount()):
            header.setSectionResizeMode(n, QHeaderView.ResizeMode.Interactive)
            texts = [str(self.model.headerData(n, Qt.Orientation.Horizontal)) + "  "]
            texts += [f"{cells[n].text} {cells[n].unit}" for cells in some]
            texts += [USUAL_PRICE] * (n == self.model.price_column)
            texts += [USUAL_DAY] * (n > self.model.price_column)
            widest = max(metrics.horizontalAdvance(text) for text in texts)
            room = min(MOST_CHARS * metrics.averageCharWidth(), widest) + 16
            header.resizeSection(n, room)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        names = sorted(metrics.horizontalAdvance(cells[NAME].text) for cells in some)
        self.table.names_px = names[int(MOST_NAMES * (len(names) - 1))] + 16 if names else 0
        cause = metrics.horizontalAdvance(tr(USUAL_CAUSE))
        self.table.causes_px = icons.size_px() + 16 + cause
        self.table.make_room()

    def _restore_selection(self) -> None:
        line = self.model.row_of(self._selected)
        if line is not None:
            self.table.setCurrentIndex(self.model.index(line, NAME))
            self.table.scrollTo(self.model.index(line, NAME))
        else:
            self._row_changed(self.table.currentIndex(), QModelIndex())

    def _enter_table(self) -> None:
        """Go from the filter to the row that is chosen, the first one if none is."""
        self.apply_filter()
        if self.model.parts:
            if not self.table.currentIndex().isValid():
                self.table.setCurrentIndex(self.model.index(0, NAME))
            self.table.setFocus()

    def _row_changed(self, index: QModelIndex, _: QModelIndex) -> None:
        part: AnyPart | None = index.data(PART_ROLE) if index.isValid() else None
        if part is not None:
            self._selected = part.id
        self.details.show_part(part, self._uid)

    def _toggle_fitting(self, on: bool) -> None:
        self._session.preferences.change(only_fitting=on)
        self.apply_filter()

    def _rig_changed(self, change: Change) -> None:
        if self._uid and self._session.rig.item(self._uid) is None:
            self._uid = ""
        if change.another and self.model.kind:
            self._choose_nothing()
            self._guessed = True
        self._say_context()
        had_none = self.target.count() == 1
        self._fill_target()
        if had_none and self.target.count() > 1 and self.model.kind in SINGLE:
            self._guessed = True
        if not self.model.kind:
            return
        if self._guessed and self._session.assessment is not None:
            self.browse(self.model.kind)
        self._say_prices()
        if change.machine or change.workloads:
            self.model.forget_fits()
            self._say_count()
            self._scrolled.start()
        self._stale = not self.isVisible()
        if not self._stale:
            self._row_changed(self.table.currentIndex(), QModelIndex())

    def _asked(self, part: AnyPart, currency: str, rates: ExchangeRates | None) -> Price | None:
        return asked_price(part, currency, rates, self._session.catalog)

    def _say_prices(self) -> None:
        """Tell the table what it counts in, what is in the rig, and what a choice would replace."""
        rig, item = self._session.rig, self._session.rig.item(self._uid) if self._uid else None
        self.model.set_currency(
            rig.currency, rig.exchange or usual_rates(), self._session.preferences.now.price_days
        )
        self.model.judge(self._session.is_open)
        installed = frozenset(each.part for each in rig.items)
        self.model.mark(installed, item.part if item else "")

    def _choose_nothing(self) -> None:
        """Go back to the top of the table: what was chosen was meant for another rig."""
        self._uid = self._selected = ""
        self._settled = None
        self.table.setCurrentIndex(QModelIndex())
        self.table.scrollToTop()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.model.kind:
            self.browse("gpu")
        elif self._stale:
            self._stale = False
            self._row_changed(self.table.currentIndex(), QModelIndex())
        self.make_badges()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave the badges that nobody sees; the next sight of the table asks for them again."""
        super().hideEvent(event)
        self._session.tasks.cancel("badges")

    def make_badges(self) -> None:
        """Ask the worker for the badges that are missing, rows in sight first."""
        session, model = self._session, self.model
        if session.assessment is None or not self.isVisible():
            return
        top = max(0, self.table.rowAt(0))
        seen: list[Any] = [
            part for part in model.parts[top : top + FIRST_ROWS] if model.fit_of(part.id) is None
        ]
        judged = model.judged() | {part.id for part in seen}
        if not seen and len(judged) >= model.total:
            self._settle()
            return
        rig, catalog, uid, today, kind = (
            session.rig,
            session.catalog,
            self._uid,
            session.today,
            model.kind,
        )

        def work(ticket: Ticket) -> Iterator[dict[str, Fit]]:
            from rigplanner.desktop.parts.badges import badges

            others = [part for part in catalog.of_kind(kind) if part.id not in judged]
            return badges(rig, catalog, uid, seen, others, today, ticket)

        session.tasks.run_task("badges", work, lambda _: self._settle(), piece=self._take_badges)

    def _settle(self) -> None:
        """All badges are there: arrange the rows by them, once for each question, so that no row
        moves later."""
        asked = (self.model.kind, self._uid)
        if self._settled != asked:
            self._settled = asked
            self.model.settle()
            chosen = self.table.currentIndex()
            self.table.scrollToTop()
            if chosen.isValid():
                self.table.scrollTo(chosen, QTableView.ScrollHint.PositionAtCenter)
        self._say_count()

    def _take_badges(self, fits: dict[str, Fit]) -> None:
        self.model.set_fits(fits)
        self._say_count()
