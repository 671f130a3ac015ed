"""The Compare tab: two to four rigs side by side, deltas against a chosen one."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QComboBox, QMenu, QTableView, QWidget

from rigplanner.data import sample_files
from rigplanner.desktop.compare.charts import CompareCharts
from rigplanner.desktop.compare.hires import HireShelf
from rigplanner.desktop.compare.model import CompareModel, DeltaCells
from rigplanner.desktop.controls.flow_row import flow_strip
from rigplanner.desktop.controls.widgets import (
    button,
    clear,
    column,
    icon_button,
    label,
    panel,
    row,
    strip,
)
from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.exports import ask_export, paper_of, write
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, row_px, small_font
from rigplanner.desktop.words import shortened
from rigplanner.planning.compare import CompareRow
from rigplanner.report.comparison.content import comparison, markdown
from rigplanner.report.forms import PDF, WORKBOOK, form_title
from rigplanner.report.language import tr
from rigplanner.rig.files import RigFault, read_rig

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment

MOST_RIGS = 4
ACROSS = Qt.Orientation.Horizontal
WRAPPED = Qt.AlignmentFlag(
    Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
)
WITHOUT_STEPS = ("cpus", "nvlink_islands", "gpu_pairs")
"""Attributes in words, of which nothing is computed."""


class Column(Struct, frozen=True):
    """One rig that is compared; `path` None is the open one."""

    name: str
    path: Path | None


class CompareTable(QTableView):
    """The table; Enter asks what a value rests on."""

    asked = Signal(QModelIndex)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.asked.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit_rows()

    def fit_rows(self) -> None:
        """Share the width among the rigs, and give heads and rows as many lines as their texts need
        there."""
        header, model = self.horizontalHeader(), self.model()
        rigs = model.columnCount() - 1
        if rigs < 1:
            return
        metrics = QFontMetrics(self.font())
        words = [
            model.index(n, 0).data() for n in range(model.rowCount()) if self.columnSpan(n, 0) == 1
        ]
        first = min(
            max((metrics.horizontalAdvance(text) for text in words), default=0) + row_px(),
            self.viewport().width() // 3,
        )
        room = (self.viewport().width() - first) // rigs
        for n in range(rigs + 1):
            header.resizeSection(n, room if n else first)
        small = QFontMetrics(small_font())
        names = [
            small.boundingRect(0, 0, room - 16, 9999, WRAPPED, model.headerData(n + 1, ACROSS))
            for n in range(rigs)
        ]
        header.setFixedHeight(max(row_px(), max(name.height() for name in names) + 8))
        widths = [first - row_px(), *[room - 2 * row_px()] * rigs]
        for n in range(model.rowCount()):
            cells = (
                (model.index(n, m) for m in range(rigs + 1)) if self.columnSpan(n, 0) == 1 else ()
            )
            wide = any(
                metrics.horizontalAdvance(cell.data() or "") > widths[cell.column()]
                for cell in cells
            )
            self.setRowHeight(n, max(row_px(), self.sizeHintForRow(n)) if wide else row_px())


class CompareView(QWidget):
    """Rigs are added from files, samples or by dropping them here."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._columns: list[Column] = [Column("", None)]
        self._assessed: dict[Path, Assessment] = {}
        self._compared: list[Assessment] = []
        self._hires = HireShelf(session, self._show)
        self.setAcceptDrops(True)
        self.add = button(tr("Add a rig"), self._open_menu, "plus")
        self.differences = QCheckBox(tr("Only differences"))
        self.differences.toggled.connect(lambda _: self.refresh())
        self.baseline = QComboBox()
        self.baseline.setAccessibleName(tr("Baseline"))
        self.baseline.setMinimumContentsLength(14)
        self.baseline.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.baseline.activated.connect(lambda _: self._show())
        self._chips = row(spacing=4)
        self.model = CompareModel(self)
        self.table = CompareTable()
        self.table.asked.connect(self._open_reason)
        self.table.setModel(self.model)
        self.table.setAccessibleName(tr("Comparison"))
        self.table.setShowGrid(False)
        self.table.setIconSize(QSize(icons.size_px(), icons.size_px()))
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.table.setTabKeyNavigation(False)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.clicked.connect(self._open_reason)
        self.table.setMouseTracking(True)
        self.table.entered.connect(self._show_hand)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setMinimumSectionSize(row_px())
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.table.horizontalHeader().setDefaultAlignment(WRAPPED)
        self.hint = label(
            tr(
                "Add one to three rigs to see them beside the open one: from a file, a sample, or"
                " dropped here."
            ),
            wrap=True,
        )
        self._rest = QWidget()
        self._hint = strip(column(self.hint, margins=(12, 16, 12, 16)))
        copy = button(tr("Copy"), self._copy, "copy", name=tr("Copy the comparison as Markdown"))
        self.export = button(
            tr("Export"), self._open_export, "export", name=tr("Save the comparison as a file")
        )
        baseline = panel(row(label(tr("Compared with"), "small"), self.baseline))
        first = flow_strip(self.add, baseline, self.differences, copy, self.export)
        head = panel(column(first, self._chips, margins=(12, 6, 12, 6), spacing=4))
        self.charts = CompareCharts()
        self.table.setItemDelegate(DeltaCells(self.table))
        self.setLayout(column(head, self._hint, self.table, self._rest, self.charts, spacing=0))
        session.rig_changed.connect(self._rig_changed)
        look.look_changed.connect(self.table.viewport().update)
        self._show_chips()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.toLocalFile().endswith(".rig") for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls():
            self.add_file(Path(url.toLocalFile()))

    def _open_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("From a file…"), self._ask_file)
        menu.addSeparator()
        for path in sample_files():
            menu.addAction(tr("Sample: {stem}", stem=path.stem), partial(self.add_file, path))
        menu.popup(self.add.mapToGlobal(self.add.rect().bottomLeft()))

    def _ask_file(self) -> None:
        ask_file(
            self,
            tr("Compare with a rig"),
            self.add_file,
            tr("Rigs (*.rig)"),
            folder=self._session.folder,
        )

    def add_file(self, path: Path) -> bool:
        """Put the rig of a file beside the others."""
        if len(self._columns) >= MOST_RIGS:
            self._session.tell(
                tr("At most {most} rigs can be compared.", most=MOST_RIGS), "warning"
            )
            return False
        try:
            rig = read_rig(path)
        except RigFault as fault:
            self._session.tell(str(fault), "error")
            return False
        self._columns.append(Column(rig.name, path))
        self._show_chips()
        self.refresh()
        return True

    def _drop(self, n: int) -> None:
        del self._columns[n]
        self._show_chips()
        self.refresh()

    def _show_chips(self) -> None:
        clear(self._chips)
        for n, rig in enumerate(self._columns):
            if rig.path is not None:
                self._chips.addWidget(label(shortened(rig.name, 24), "small"))
                self._chips.addWidget(
                    icon_button(
                        "cross",
                        tr("Remove {name}", name=rig.name),
                        lambda n=n: self._drop(n),  # type: ignore[misc]
                    )
                )
        self._chips.addStretch(1)

    def _rig_changed(self, _: Change) -> None:
        if self.isVisible():
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Assess what is new aside from the window, then show the table."""
        self._hint.setVisible(len(self._columns) < 2 or not self._session.is_open)
        self.table.setVisible(not self._hint.isVisibleTo(self))
        self._rest.setVisible(self._hint.isVisibleTo(self))
        new = [
            rig.path
            for rig in self._columns
            if rig.path is not None and rig.path not in self._assessed
        ]
        if not new:
            self._show()
            return
        catalog, today = self._session.catalog, self._session.today

        def work(_: object) -> "Iterator[tuple[Path, Assessment]]":
            from rigplanner.rules.assess import assess

            for path in new:
                yield path, assess(read_rig(path), catalog, today)

        self._session.tasks.run_task(
            "compare",
            work,
            lambda _: self._show(),
            lambda fault: self._session.tell(str(fault), "error"),
            lambda pair: self._assessed.update([pair]),
        )

    def _show(self) -> None:
        from rigplanner.planning.compare import compare

        own = self._session.assessment if self._session.is_open else None
        found = [own if rig.path is None else self._assessed.get(rig.path) for rig in self._columns]
        names = tuple(
            shortened(self._session.rig.name if rig.path is None else rig.name, 40)
            for rig in self._columns
        )
        shown = [(name, each) for name, each in zip(names, found, strict=True) if each is not None]
        chosen = max(0, self.baseline.currentIndex())
        self.baseline.clear()
        self.baseline.addItems([name for name, _ in shown])
        chosen = min(chosen, max(0, len(shown) - 1))
        self.baseline.setCurrentIndex(chosen)
        if len(shown) < 2:
            self.model.show((), (), 0)
            self.charts.show_charts((), ())
            return
        self._compared = [each for _, each in shown]
        rows = compare(self._compared, chosen, self._hires)
        if self.differences.isChecked():
            rows = tuple(line for line in rows if line.differs)
        self.model.show(tuple(name for name, _ in shown), rows, chosen)
        self.table.clearSpans()
        for n, line in enumerate(self.model.lines):
            if isinstance(line, str):
                self.table.setSpan(n, 0, 1, self.model.columnCount())
        self.charts.show_charts(self.model.names, comparison(self.model.names, rows).charts)
        self._hires.ask()
        self.table.fit_rows()

    def _reason_at(self, index: QModelIndex) -> tuple[CompareRow, int] | None:
        line = self.model.lines[index.row()]
        if isinstance(line, str) or index.column() == 0 or line.attribute.code in WITHOUT_STEPS:
            return None
        return line, index.column() - 1

    def _show_hand(self, index: QModelIndex) -> None:
        opens = self._reason_at(index) is not None
        self.table.viewport().setCursor(
            Qt.CursorShape.PointingHandCursor if opens else Qt.CursorShape.ArrowCursor
        )

    def _open_reason(self, index: QModelIndex) -> None:
        """Show what a value rests on."""
        from rigplanner.desktop.compare.reasons import compare_reason
        from rigplanner.desktop.panels.breakdown import show_breakdown

        if (asked := self._reason_at(index)) is not None:
            show_breakdown(
                self, compare_reason(*asked, self._compared, self._session.catalog, self._hires)
            )

    def _open_export(self) -> None:
        from rigplanner.report.comparison.content import FORMATS

        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for form in (PDF, WORKBOOK, *FORMATS):
            menu.addAction(form_title(form), partial(self._ask_export, form))
        menu.popup(self.export.mapToGlobal(self.export.rect().bottomLeft()))

    def _ask_export(self, form: str) -> None:
        if not self.model.rows:
            self._session.tell(tr("Add a rig to compare with first."))
            return
        name = tr("Comparison of {name}", name=self._session.rig.name)
        ask_export(
            self,
            self._session,
            tr("Save the comparison"),
            name,
            form,
            lambda path: self.save(path, form),
        )

    def content(self, form: str) -> bytes:
        """Return the comparison that is shown in one of the forms of export."""
        from rigplanner.report.comparison.content import FORMATS

        names, rows = self.model.names, self.model.rows
        if form == PDF:
            from rigplanner.report.comparison.pdf import comparison_pdf

            return comparison_pdf(comparison(names, rows), paper_of(self._session))
        if form == WORKBOOK:
            from rigplanner.report.comparison.workbook import comparison_workbook

            return comparison_workbook(names, rows)
        return FORMATS[form](comparison(names, rows)).encode()

    def save(self, path: Path, form: str) -> None:
        """Write the comparison that is shown."""
        write(self._session, path, lambda: self.content(form))

    def _copy(self) -> None:
        if self.model.rows:
            QGuiApplication.clipboard().setText(
                markdown(comparison(self.model.names, self.model.rows))
            )
            self._session.tell(tr("Copied the comparison as Markdown."))
