"""The Compare tab: two to four rigs side by side, deltas against a chosen one."""

from collections.abc import Iterator, Sequence
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
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QMenu,
    QSizePolicy,
    QTableView,
    QWidget,
)

from rigplanner.data import sample_files
from rigplanner.desktop import documents
from rigplanner.desktop.compare.charts import CompareCharts
from rigplanner.desktop.compare.hires import HireShelf
from rigplanner.desktop.compare.model import CompareModel, DeltaCells
from rigplanner.desktop.controls.flow_row import FlowRow, flow_strip
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
from rigplanner.path_text import path_of
from rigplanner.planning.compare import CHOSEN, CompareRow, differences
from rigplanner.report.comparison.changes import change_text, with_changes
from rigplanner.report.comparison.content import Comparison, comparison, markdown, names_apart
from rigplanner.report.forms import PDF, WORKBOOK, form_title
from rigplanner.report.language import tr
from rigplanner.rig.document import Rig, Variant
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rig.variants import states

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment

MOST_RIGS, MOST_RECENT = 4, 6
MOST_MADE = 12
"""Rigs that were made to be compared (with cards of the map), beside the open one."""
NARROWEST = 4
"""Rows of height that a rig's column is wide at least; what has no room is scrolled to."""
ACROSS = Qt.Orientation.Horizontal
WRAPPED = Qt.AlignmentFlag(
    Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
)
WITH_STEPS = ("gpus",)
"""Choices that have steps: of all others nothing is computed."""
WITHOUT_STEPS = ("cpus", "nvlink_islands", "gpu_pairs")
"""Attributes in words, of which nothing is computed."""


class Column(Struct, frozen=True):
    """One rig that is compared: that of a file, a variant of the open rig, one that was made, or
    (none of these) the open one."""

    name: str
    path: Path | None = None
    variant: Variant | None = None
    made: Rig | None = None


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
        room = max((self.viewport().width() - first) // rigs, row_px() * NARROWEST)
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
        self._files: list[Column] = []
        self._swapped: list[Column] = []
        self._assessed_made: dict[int, Assessment] = {}
        self._left_out: set[str] = set()
        self._kept: dict[int, tuple[Variant, Assessment]] = {}
        self._assessed: dict[Path, Assessment] = {}
        self._compared: list[Assessment] = []
        self._hires = HireShelf(session, self._show)
        self.setAcceptDrops(True)
        self._chips = FlowRow()
        self.model = CompareModel(self)
        self.table = self._make_table()
        head = self._make_head()
        self.charts = CompareCharts()
        self.table.setItemDelegate(DeltaCells(self.table))
        self.setLayout(column(head, self._hint, self.table, self._rest, self.charts, spacing=0))
        session.rig_changed.connect(self._rig_changed)
        look.look_changed.connect(self.table.viewport().update)
        self._show_chips()

    def _make_table(self) -> CompareTable:
        made = CompareTable()
        made.asked.connect(self._open_reason)
        made.setModel(self.model)
        made.setAccessibleName(tr("Comparison"))
        made.setShowGrid(False)
        made.setIconSize(QSize(icons.size_px(), icons.size_px()))
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        made.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        made.setTabKeyNavigation(False)
        made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        made.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        made.clicked.connect(self._open_reason)
        made.setMouseTracking(True)
        made.entered.connect(self._show_hand)
        made.verticalHeader().hide()
        made.verticalHeader().setMinimumSectionSize(row_px())
        made.horizontalHeader().setHighlightSections(False)
        made.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)
        made.horizontalHeader().setDefaultAlignment(WRAPPED)
        return made

    def _make_head(self) -> QWidget:
        self.add = button(tr("Add a rig"), self._open_menu, "plus")
        self.differences = QCheckBox(tr("Only differences"))
        self.differences.setAccessibleName(tr("Only differences"))
        self.differences.toggled.connect(lambda _: self.refresh())
        self.baseline = QComboBox()
        self.baseline.setAccessibleName(tr("Baseline"))
        self.baseline.setMinimumContentsLength(14)
        self.baseline.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.baseline.activated.connect(lambda _: self._show())
        self.hint = label(
            tr(
                "Add one to three rigs to see them beside the open one: from a file, a sample, or"
                " dropped here."
            ),
            wrap=True,
        )
        self._rest = QWidget()
        self._rest.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self._hint = strip(column(self.hint, margins=(12, 16, 12, 16)))
        self._hint.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        copy = button(tr("Copy"), self._copy, "copy", name=tr("Copy the comparison as Markdown"))
        self.export = button(
            tr("Export"), self._open_export, "export", name=tr("Save the comparison as a file")
        )
        baseline = panel(row(label(tr("Compared with"), "small"), self.baseline))
        first = flow_strip(self.add, baseline, self.differences, copy, self.export)
        self.said = label("", wrap=True)
        self.said.setAccessibleName(tr("What changed"))
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.said.hide()
        return panel(column(first, self._chips, self.said, margins=(12, 6, 12, 6), spacing=4))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.toLocalFile().endswith(".rig") for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls():
            self.add_file(Path(url.toLocalFile()))

    @property
    def _columns(self) -> list[Column]:
        """The open rig, its variants but those that were left out, and the rigs of files; while
        there are rigs that were made, these alone."""
        rig = self._session.rig
        if self._swapped:
            return [Column(rig.name), *self._swapped]
        own = [
            Column(each.name, variant=each)
            for each in rig.variants
            if each.name not in self._left_out
        ]
        return [Column(rig.name), *own, *self._files][:MOST_RIGS]

    def _open_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("From a file…"), self._ask_file)
        for variant in self._session.rig.variants:
            if variant.name in self._left_out:
                words = tr("Variant: {name}", name=shortened(variant.name, 40))
                menu.addAction(words.replace("&", "&&"), partial(self._show_again, variant.name))
        recent = [path_of(name) for name in self._session.preferences.now.recent]
        others = [path for path in recent if path != self._session.path and path.is_file()]
        for paths, head in ((others[:MOST_RECENT], tr("Recent")), (sample_files(), tr("Samples"))):
            if paths:
                menu.addSection(head)
            for path in paths:
                menu.addAction(
                    documents.rig_title(path).replace("&", "&&"), partial(self.add_file, path)
                )
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
        self._files.append(Column(rig.name, path))
        self._show_chips()
        self.refresh()
        return True

    def add_rigs(self, rigs: Sequence[tuple[str, Rig]]) -> None:
        """Put rigs that were made beside the open one, in the stead of what stood there; without
        them the former ones come back."""
        self._assessed_made.clear()
        self._swapped = [Column(name, made=rig) for name, rig in rigs[:MOST_MADE]]
        self._show_chips()
        self.refresh()

    def _show_again(self, name: str) -> None:
        self._left_out.discard(name)
        self._show_chips()
        self.refresh()

    def _drop(self, column: Column) -> None:
        if column.variant is not None:
            self._left_out.add(column.name)
        elif column.made is not None:
            self._swapped.remove(column)
        else:
            self._files.remove(column)
        self._show_chips()
        self.refresh()

    def _show_chips(self) -> None:
        clear(self._chips)
        for rig in self._columns[1:]:
            if rig.path is not None or rig.variant is not None or rig.made is not None:
                name = label(shortened(rig.name, 24), "small")
                words = tr("Remove {name}", name=rig.name)
                away = icon_button("cross", words, partial(self._drop, rig))
                self._chips.addWidget(panel(row(name, away, spacing=4)))

    def _rig_changed(self, change: Change) -> None:
        if change.another:
            self._left_out.clear()
            self._swapped.clear()
        if change.another or change.before.variants is not change.after.variants:
            self._show_chips()
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
        new = [each for each in self._columns[1:] if self._assessment_of(each) is None]
        if not new:
            self._show()
            return
        rig, catalog, today = self._session.rig, self._session.catalog, self._session.today
        kept = {id(own): state for own, state in zip(rig.variants, states(rig)[1:], strict=True)}

        def work(_: object) -> "Iterator[tuple[Column, Assessment]]":
            from rigplanner.rules.assess import assess

            for each in new:
                state = each.made or (read_rig(each.path) if each.path else kept[id(each.variant)])
                yield each, assess(state, catalog, today)

        self._session.tasks.run_task(
            "compare",
            work,
            lambda _: self._show(),
            lambda fault: self._session.tell(str(fault), "error"),
            self._take,
        )

    def _take(self, answer: "tuple[Column, Assessment]") -> None:
        each, made = answer
        if each.path is not None:
            self._assessed[each.path] = made
        elif each.made is not None:
            self._assessed_made[id(each.made)] = made
        elif each.variant is not None:
            self._kept = {
                id(own): self._kept[id(own)]
                for own in self._session.rig.variants
                if id(own) in self._kept
            }
            self._kept[id(each.variant)] = (each.variant, made)

    def _assessment_of(self, each: Column) -> "Assessment | None":
        """What is known of a rig, None while it is worked out."""
        if each.path is not None:
            return self._assessed.get(each.path)
        if each.made is not None:
            return self._assessed_made.get(id(each.made))
        if each.variant is not None:
            known = self._kept.get(id(each.variant))
            return known[1] if known else None
        return self._session.assessment if self._session.is_open else None

    def _show(self) -> None:
        from rigplanner.planning.compare import compare

        columns, own = self._columns, self._session.path
        found = [self._assessment_of(each) for each in columns]
        files = [each.path or (None if each.variant or each.made else own) for each in columns]
        names = names_apart(
            [shortened(each.name, 40) for each in columns],
            [path.name if path else "" for path in files],
        )
        shown = [(name, each) for name, each in zip(names, found, strict=True) if each is not None]
        chosen = max(0, self.baseline.currentIndex())
        self.baseline.clear()
        self.baseline.addItems([name for name, _ in shown])
        chosen = min(chosen, max(0, len(shown) - 1))
        self.baseline.setCurrentIndex(chosen)
        if len(shown) < 2:
            self.model.show((), (), 0)
            self.said.hide()
            self.charts.show_charts((), ())
            return
        self._compared = [each for _, each in shown]
        rows = compare(self._compared, chosen, self._hires)
        self._say_changes([name for name, _ in shown], rows, chosen)
        if self.differences.isChecked():
            rows = differences(rows)
        self.model.show(tuple(name for name, _ in shown), rows, chosen)
        self.table.clearSpans()
        for n, line in enumerate(self.model.lines):
            if isinstance(line, str):
                self.table.setSpan(n, 0, 1, self.model.columnCount())
        self.charts.show_charts(self.model.names, comparison(self.model.names, rows).charts)
        self._hires.ask()
        self.table.fit_rows()

    def _say_changes(self, names: list[str], rows: tuple[CompareRow, ...], baseline: int) -> None:
        """Say of each rig in one sentence what changed against the baseline and what it brought."""
        others = (n for n in range(len(names)) if n != baseline)
        self.said.setText("\n".join(change_text(rows, names, n, baseline) for n in others))
        self.said.setVisible(len(names) <= MOST_RIGS)

    def _reason_at(self, index: QModelIndex) -> tuple[CompareRow, int] | None:
        line = self.model.lines[index.row()]
        if isinstance(line, str) or index.column() == 0 or not has_steps(line):
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
        from rigplanner.report.comparison.writers import FORMATS

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
        from rigplanner.report.comparison.writers import FORMATS

        names, rows, made = self.model.names, self.model.rows, self._made()
        if form == PDF:
            from rigplanner.report.comparison.pdf import comparison_pdf

            return comparison_pdf(made, paper_of(self._session))
        if form == WORKBOOK:
            from rigplanner.report.comparison.workbook import comparison_workbook

            return comparison_workbook(names, rows)
        return FORMATS[form](made).encode()

    def _made(self) -> Comparison:
        """The comparison that is shown, with what changed."""
        made = comparison(self.model.names, self.model.rows)
        return with_changes(made, self.model.rows, self.model.baseline)

    def save(self, path: Path, form: str) -> None:
        """Write the comparison that is shown."""
        write(self._session, path, lambda: self.content(form))

    def _copy(self) -> None:
        if self.model.rows:
            QGuiApplication.clipboard().setText(markdown(self._made()))
            self._session.tell(tr("Copied the comparison as Markdown."))


def has_steps(line: CompareRow) -> bool:
    """Return whether the values of a row open the steps they were made in: what was chosen by hand
    has none but the GPUs, which open their figures."""
    if line.attribute.group == CHOSEN:
        return line.attribute.code in WITH_STEPS
    return line.attribute.code not in WITHOUT_STEPS
