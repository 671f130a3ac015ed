"""The Parts tab: what can be bought of one kind, filtered while typing, judged against the open
rig."""

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
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

from rigplanner.catalog.schema.parts import KINDS, AnyPart, kind_of
from rigplanner.desktop.controls.flow_row import flow_strip
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    button,
    clear,
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
from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.parts.cells import PartsCells
from rigplanner.desktop.parts.columns import FACETS
from rigplanner.desktop.parts.details import Details
from rigplanner.desktop.parts.model import NAME, PART_ROLE, Fit, PartsModel, Wish
from rigplanner.desktop.words import KIND_WORDS, number, shortened
from rigplanner.report.language import tr, trn
from rigplanner.rig.document import part_of

Index = QModelIndex | QPersistentModelIndex
SINGLE = frozenset({"motherboard", "system", "chassis", "psu", "cooler"})
"""Kinds of which most rigs have one: a click on them means another one instead."""
FILTER_DELAY_MS = 60
BADGE_DELAY_MS = 120
FIRST_ROWS = 40
MEASURED_ROWS = 12
MOST_CHARS = 24
USUAL_PRICE = "99 999 USD"
"""For which the last column has room, whatever the first rows cost."""
LEAST_NAME, KEPT_FIGURES = 34, 3
"""Characters that a name has room for, and figures that give way only to half of that; the first
stays."""
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class PartsTable(QTableView):
    """The table; Enter puts the part into the rig."""

    def __init__(self, details: Details, model: PartsModel) -> None:
        super().__init__()
        self._details, self._model = details, model
        self.setDragEnabled(True)
        self._cells = PartsCells(model, self)
        self.setModel(model)
        self.sheet = give_viewport(self)
        self.setAccessibleName(tr("Catalog"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
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

    def make_room(self) -> None:
        """Hide columns, the last ones before the price first, until names can be told apart; the
        pane shows all figures."""
        header = self.horizontalHeader()
        own = range(NAME + 1, header.count() - 1)
        for n in own:
            self.setColumnHidden(n, False)
        wanted = LEAST_NAME * QFontMetrics(sized_font(1.0)).averageCharWidth()
        room = self.viewport().width() - sum(
            header.sectionSize(n) for n in range(header.count()) if n != NAME
        )
        for n in reversed(own):
            if room >= (wanted if n > NAME + KEPT_FIGURES else wanted / 2) or n == own[0]:
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
            self._details.put_into_rig()
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
        self.model = PartsModel(session.find, session.rig.currency, session.today, self)
        self.details = Details(session)
        self.table = PartsTable(self.details, self.model)
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)
        self.table.doubleClicked.connect(lambda _: self.details.put_into_rig())
        self._facet_line = row(spacing=4)
        self._facets: dict[str, QComboBox] = {}
        self.count = label("", "small")
        self.count.setAlignment(RIGHT)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.table)
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
        self.words.textChanged.connect(lambda _: self._delay.start())
        self.fitting = QCheckBox(tr("Only what fits"))
        self.fitting.setChecked(self._session.preferences.now.only_fitting)
        self.fitting.toggled.connect(self._toggle_fitting)
        self.starred = QCheckBox(tr("Favourites"))
        self.starred.toggled.connect(lambda _: self.apply_filter())
        self.narrow = button(
            tr("Filters"), self._toggle_facets, name=tr("Filter by vendor and form factor")
        )
        self.narrow.setCheckable(True)
        self._facet_strip = strip(row(self._facet_line, 1))
        self._facet_strip.hide()
        self.count.setMinimumWidth(
            QFontMetrics(small_font()).horizontalAdvance(
                tr("{shown} of {total}", shown=number(99_999), total=number(99_999))
            )
        )
        first = flow_strip(
            self.kinds, self.target, self.words, self.narrow, self.fitting, self.starred, self.count
        )
        return column(first, self._facet_strip, margins=(12, 6, 12, 6), spacing=4)

    def browse(self, kind: str) -> None:
        """Show the parts of a kind: beside those in the rig where there is room for one more,
        else instead of the first of them."""
        standing = self._standing(kind)
        full = kind in SINGLE or (kind == "gpu" and not self._has_free_slot())
        self.show_kind(kind, standing[0][0] if standing and full else "")

    def _standing(self, kind: str) -> list[tuple[str, str]]:
        """Return uid and name of the rig's items of a kind."""
        rig, catalog = self._session.rig, self._session.catalog
        parts = [(item.uid, part_of(rig, catalog, item.part)) for item in rig.items]
        return [(uid, part.name) for uid, part in parts if part and kind_of(part) == kind]

    def _has_free_slot(self) -> bool:
        assessment = self._session.assessment
        uses = assessment.machine.slots if assessment else ()
        return not uses or any(not (use.disabled_by or use.piece or use.covered_by) for use in uses)

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
            self._make_facets(kind)
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

    def _make_facets(self, kind: str) -> None:
        clear(self._facet_line)
        self._facets = {}
        for facet in FACETS[kind]:
            box = QComboBox()
            box.setAccessibleName(tr(facet.title))
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.setMaximumWidth(row_px() * 7)
            box.activated.connect(lambda _: self.apply_filter())
            self._facets[facet.title] = box
            self._facet_line.addWidget(box)

    def _toggle_facets(self) -> None:
        self._facet_strip.setVisible(self.narrow.isChecked())
        if self.narrow.isChecked():
            self._fill_facets()

    def _fill_facets(self) -> None:
        for title, box in self._facets.items():
            chosen = box.currentData()
            box.blockSignals(True)
            box.clear()
            box.addItem(tr("{title}: all", title=tr(title)), None)
            for value, count in self.model.facet_counts(title):
                box.addItem(f"{value} ({count})", value)
            box.setCurrentIndex(max(0, box.findData(chosen)) if chosen else 0)
            box.blockSignals(False)

    def take_catalog(self) -> None:
        """Show the parts of another catalog in place of the present ones."""
        if self.model.kind:
            self.model.kind = ""
            self.apply_filter()

    def wish(self) -> Wish:
        """Return what the filter widgets ask for."""
        chosen = {
            title: box.currentData() for title, box in self._facets.items() if box.currentData()
        }
        return Wish(
            words=self.words.text(),
            facets=chosen,
            favourites=self.starred.isChecked(),
            fitting=self.fitting.isChecked(),
        )

    def apply_filter(self) -> None:
        """Show what the filter leaves, keeping the selected part in sight."""
        self._delay.stop()
        kind = self.kinds.currentData()
        fresh = kind != self.model.kind
        self.model.favourites = frozenset(self._session.preferences.now.favourites)
        self.model.show(kind, self.wish())
        if fresh:
            self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            self._size_columns()
        if self._facet_strip.isVisible():
            self._fill_facets()
        self._restore_selection()
        self._say_count()
        self.make_badges()

    def _say_count(self) -> None:
        active = len(self.wish().facets)
        self.narrow.setText(tr("Narrow ({active})", active=active) if active else tr("Filters"))
        shown, total = len(self.model.parts), self.model.total
        self.count.setText(
            tr("{shown} of {total}", shown=number(shown), total=number(total))
            if shown < total
            else trn("{count} part", "{count} parts", total)
        )

    def _size_columns(self) -> None:
        header = self.table.horizontalHeader()
        metrics = QFontMetrics(sized_font(1.0))
        first = [
            self.model.cells(line) for line in range(min(MEASURED_ROWS, len(self.model.parts)))
        ]
        for n in range(self.model.columnCount()):
            header.setSectionResizeMode(n, QHeaderView.ResizeMode.Interactive)
            texts = [str(self.model.headerData(n, Qt.Orientation.Horizontal)) + "  "]
            texts += [f"{cells[n].text} {cells[n].unit}" for cells in first]
            texts += [USUAL_PRICE] * (n == self.model.columnCount() - 1)
            widest = max(metrics.horizontalAdvance(text) for text in texts)
            header.resizeSection(
                n, min(MOST_CHARS * metrics.averageCharWidth(), widest) + 16 if n else row_px() * 5
            )
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
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
            self.table.setFocus()
            if not self.table.currentIndex().isValid():
                self.table.setCurrentIndex(self.model.index(0, NAME))

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
        self._say_context()
        self._fill_target()
        if not self.model.kind:
            return
        self.model.set_currency(self._session.rig.currency)
        if change.machine or change.workloads:
            self.model.forget_fits()
            self._say_count()
            self._scrolled.start()
        self._stale = not self.isVisible()
        if not self._stale:
            self._row_changed(self.table.currentIndex(), QModelIndex())

    def _choose_nothing(self) -> None:
        """Go back to the top of the table: what was chosen was meant for another rig."""
        self._uid = self._selected = ""
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

        session.tasks.run_task("badges", work, lambda _: self._say_count(), piece=self._take_badges)

    def _take_badges(self, fits: dict[str, Fit]) -> None:
        self.model.set_fits(fits)
        self._say_count()
