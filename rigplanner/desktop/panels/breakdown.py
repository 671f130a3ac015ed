"""The breakdown behind a number: every step with its formula, inputs and source. Opened by a click
on any figure."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from rigplanner.desktop.controls.tables import plain_table
from rigplanner.desktop.controls.unit_cells import split_unit
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.panels.reasons import Reason
from rigplanner.desktop.words import cell, money, quantity
from rigplanner.evidence import Step
from rigplanner.report.format import is_currency
from rigplanner.report.language import listed, tr
from rigplanner.report.words.memory import step_title

Index = QModelIndex | QPersistentModelIndex
WIDTHS = (9, 5, 14, 10)
"""Columns in heights of a row; the last one takes what is left."""
VALUE, SOURCE = 1, 3
ACROSS, ABOVE = 6, 5
WRAPPED = int(Qt.TextFlag.TextWordWrap) | int(Qt.AlignmentFlag.AlignTop)


class StepCells(QStyledItemDelegate):
    """Paints a step from the top down: the first line as text, what follows smaller and lighter; a
    hairline under each row."""

    def __init__(self, table: QTableWidget) -> None:
        super().__init__(table)
        self._head = table.horizontalHeader()

    def _pieces(self, text: str, room: int) -> list[tuple[str, QFont, str, int]]:
        """Return the pieces of a cell with font, token and height."""
        first, _, rest = text.partition("\n")
        made = []
        for words, font, token in ((first, sized_font(1.0), "text"), (rest, small_font(), "soft")):
            if words:
                made.append(
                    (
                        words,
                        font,
                        token,
                        QFontMetrics(font)
                        .boundingRect(QRect(0, 0, room, 10_000), WRAPPED, words)
                        .height(),
                    )
                )
        return made

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        room = self._head.sectionSize(index.column()) - 2 * ACROSS
        height = sum(piece[3] for piece in self._pieces(str(index.data() or ""), room))
        return QSize(room, height + 2 * ABOVE + 1)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        area: QRect = option.rect
        tokens = look.tokens
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(area, tokens.color("selection"))
        painter.setPen(tokens.color("line"))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        inner = area.adjusted(ACROSS, ABOVE, -ACROSS, -ABOVE)
        text = str(index.data() or "")
        if index.column() == VALUE:
            self._paint_value(painter, inner, text)
            return
        for words, font, token, height in self._pieces(text, inner.width()):
            painter.setFont(font)
            painter.setPen(tokens.color("soft" if index.column() == SOURCE else token))
            painter.drawText(QRect(inner.topLeft(), QSize(inner.width(), height)), WRAPPED, words)
            inner.translate(0, height)

    def _paint_value(self, painter: QPainter, area: QRect, text: str) -> None:
        value, unit = split_unit(text)
        painter.setFont(sized_font(1.0))
        metrics = QFontMetrics(painter.font())
        at = QPoint(area.right() - metrics.horizontalAdvance(unit), area.top() + metrics.ascent())
        painter.setPen(look.tokens.color("soft"))
        painter.drawText(at, unit)
        painter.setPen(look.tokens.color("text"))
        painter.drawText(at - QPoint(metrics.horizontalAdvance(value), 0), value)


def show_breakdown(parent: QWidget, reason: Reason) -> QDialog:
    """Show the steps of a figure in a dialog that waits for nothing; return it."""
    dialog = QDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(reason.title)
    dialog.resize(row_px() * 40, row_px() * 22)
    table = _table(reason)
    copy = button(
        tr("Copy"),
        lambda: QGuiApplication.clipboard().setText(as_text(reason)),
        "copy",
        name=tr("Copy the steps"),
    )
    copy.setVisible(bool(reason.steps))
    close = button(tr("Close"), dialog.close)
    said = (
        reason.note
        if reason.steps
        else listed(
            [t for t in (reason.note, tr("No steps are recorded for this figure.")) if t], " "
        )
    )
    note = label(said, "small", wrap=True)
    note.setVisible(bool(said))
    head = column(
        label(reason.title, "section", wrap=True),
        label(reason.headline, "large", wrap=True),
        note,
        spacing=4,
    )
    body = table if reason.steps else 1
    dialog.setLayout(column(head, body, row(copy, 1, close), margins=(16, 12, 16, 12), spacing=12))
    if not reason.steps:
        dialog.resize(row_px() * 24, row_px() * 7)
    close.setFocus()
    dialog.open()
    table.resizeRowsToContents()
    spare = table.viewport().height() - sum(table.rowHeight(n) for n in range(table.rowCount()))
    if reason.steps and spare > row_px():
        dialog.resize(dialog.width(), dialog.height() - spare + row_px())
    return dialog


def _table(reason: Reason) -> QTableWidget:
    heads = (tr("Step"), tr("Value"), tr("Formula and inputs"), tr("Source"))
    table = plain_table(tr("Steps of {title}", title=reason.title), heads)
    table.setItemDelegate(StepCells(table))
    table.setVerticalScrollMode(QTableWidget.ScrollMode.ScrollPerPixel)
    table.setRowCount(len(reason.steps))
    for n, step in enumerate(reason.steps):
        for m, text in enumerate(step_texts(step)):
            table.setItem(n, m, QTableWidgetItem(text))
    header = table.horizontalHeader()
    header.setMinimumSectionSize(row_px() * 3)
    for m, width in enumerate(WIDTHS):
        header.setSectionResizeMode(m, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(m, row_px() * width)
    if (head := table.horizontalHeaderItem(VALUE)) is not None:
        head.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    table.setColumnHidden(SOURCE, not any(step.source for step in reason.steps))
    header.sectionResized.connect(lambda *_: table.resizeRowsToContents())
    return table


def step_texts(step: Step) -> tuple[str, str, str, str]:
    """Return a step as name, value, formula with its inputs on a second line, and source."""
    inputs = listed(
        [f"{tr(name)} = {cell(value)}" for name, value in step.inputs.items() if value is not None]
    )
    how = "\n".join(text for text in (tr(step.formula), inputs) if text)
    value = (
        money(step.value, step.unit) if is_currency(step.unit) else quantity(step.value, step.unit)
    )
    return step_title(step.name), value, how, step.source


def as_text(reason: Reason) -> str:
    """Return the steps as lines of tabs, as a spreadsheet takes them."""
    lines = [(reason.title, reason.headline), *(step_texts(step) for step in reason.steps)]
    return "\n".join("\t".join(text.replace("\n", "; ") for text in line) for line in lines) + "\n"
