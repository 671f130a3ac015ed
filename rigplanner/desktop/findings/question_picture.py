"""The picture beside a question after a figure: what to count or to measure, as a line drawing."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from rigplanner.desktop.look.theme import look, row_px, small_font
from rigplanner.report.format import number
from rigplanner.rules.questions import Question

OPENINGS = 8
"""Slot openings that are drawn; a column beyond them is drawn as the last."""
ROWS_HIGH = 5
PEN = 1.4
ARROW = 5.0


class QuestionPicture(QWidget):
    """Draws a question; `show_answer` moves what is drawn with the number that is typed."""

    def __init__(self, question: Question, description: str) -> None:
        super().__init__()
        self._question = question
        self._answer = 0.0
        self.setAccessibleName(description)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_answer(self, answer: float) -> None:
        """Draw another answer."""
        if answer != self._answer:
            self._answer = answer
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(row_px() * 9, row_px() * ROWS_HIGH)

    def minimumSizeHint(self) -> QSize:
        return QSize(row_px() * 6, row_px() * ROWS_HIGH)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(small_font())
        area = QRectF(self.rect()).adjusted(8, 6, -8, -6)
        if self._question.kind in ("between", "column"):
            _paint_slots(painter, area, self._question, int(self._answer))
        elif self._question.kind == "plugs":
            _paint_plugs(painter, area)
        else:
            length = f"{number(self._answer)}\u202fmm" if self._answer >= 1 else "? mm"
            _paint_measure(painter, area, self._question.name.rpartition(".")[2], length)
        painter.end()


def is_drawn(question: Question) -> bool:
    """Say whether there is a picture of a question."""
    field = question.name.rpartition(".")[2]
    return question.kind in ("between", "column", "plugs") or field in MEASURED


MEASURED = {
    "psu_length_mm": "supply",
    "gpu_length_mm": "card along",
    "length_mm": "card along",
    "gpu_height_mm": "card up",
    "height_mm": "card up",
    "cooler_height_mm": "cooler",
}
"""What is measured in which drawing of a case."""


def _line(painter: QPainter, token: str, width: float = PEN, dashed: bool = False) -> None:
    pen = QPen(look.tokens.color(token), width)
    if dashed:
        pen.setDashPattern([3.0, 3.0])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _box(painter: QPainter, box: QRectF, token: str, fill: str = "") -> None:
    _line(painter, token)
    if fill:
        painter.setBrush(look.tokens.color(fill))
    painter.drawRect(box)


def _span(painter: QPainter, start: QPointF, end: QPointF, text: str) -> None:
    """A dimension line with arrows at both ends and its figure beside it."""
    _line(painter, "accent", 1.2)
    painter.drawLine(start, end)
    upright = abs(end.y() - start.y()) > abs(end.x() - start.x())
    for tip, sign in ((start, 1.0), (end, -1.0)):
        for side in (-1.0, 1.0):
            along, across = sign * ARROW, side * ARROW * 0.6
            offset = QPointF(across, along) if upright else QPointF(along, across)
            painter.drawLine(tip, tip + offset)
    metrics = painter.fontMetrics()
    middle = (start + end) / 2
    wide, high = metrics.horizontalAdvance(text) + 4, metrics.height()
    at = (
        QRectF(middle.x() + 6, middle.y() - high / 2, wide, high)
        if upright
        else QRectF(middle.x() - wide / 2, middle.y() - high - 2, wide, high)
    )
    painter.setPen(look.tokens.color("text"))
    painter.drawText(at, Qt.AlignmentFlag.AlignCenter, text)


def _paint_slots(painter: QPainter, area: QRectF, question: Question, answer: int) -> None:
    """The rear of the case: its slot openings as rows below the CPU, a card in the known slot and
    one in the slot that is asked for."""
    known = question.anchor_column if question.kind == "between" else 0
    asked = answer >= 0 if known else answer > 0
    column = known + max(0, answer) + 1 if known else max(1, answer)
    column = min(column, OPENINGS)
    row = area.height() / (OPENINGS + 1.2)
    left = area.left() + area.width() * 0.06
    wide = area.width() * 0.14
    top = area.top() + row * 1.2
    processor = QRectF(left + wide * 1.6, area.top() - 3, wide * 2.2, row * 1.4)
    _box(painter, processor, "line", "raised")
    painter.setPen(look.tokens.color("soft"))
    painter.drawText(processor, Qt.AlignmentFlag.AlignCenter, "CPU")
    for n in range(1, OPENINGS + 1):
        opening = QRectF(left, top + (n - 1) * row + 1, wide, row - 2)
        taken = n in (known, column)
        _box(painter, opening, "strong_line", "surface" if not taken else "raised")
        if taken:
            token = "text" if n == known else "accent"
            card = QRectF(opening.right(), opening.top() + 1, area.width() * 0.5, row - 4)
            _box(painter, card, token, "raised" if n == known else "selection")
            name = question.anchor if n == known else question.place
            painter.setPen(look.tokens.color(token))
            painter.drawText(
                QRectF(card.right() + 6, card.top() - 3, area.right() - card.right() - 6, row + 4),
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
                painter.fontMetrics().elidedText(
                    name, Qt.TextElideMode.ElideMiddle, int(area.right() - card.right() - 6)
                ),
            )
    start = top + known * row if known else top
    end = top + (column - 1) * row if known else top + column * row
    if end > start:
        x = left + wide * 2.2
        _span(painter, QPointF(x, start), QPointF(x, end), str(answer) if asked else "?")


def _paint_plugs(painter: QPainter, area: QRectF) -> None:
    """The faces of the plugs that are counted: 6+2 pins, 16 pins, 4+4 pins."""
    faces = (("6+2", 4, False), ("16", 6, True), ("4+4", 4, False))
    cell = min(area.width() / 24, area.height() / 5)
    x = area.left() + cell
    for name, columns, sense in faces:
        for row in range(2):
            for column in range(columns):
                split = 0.35 * cell if name != "16" and column >= (3 if name == "6+2" else 2) else 0
                pin = QRectF(
                    x + column * cell + split,
                    area.center().y() - cell + row * cell,
                    cell * 0.84,
                    cell * 0.84,
                )
                _box(painter, pin, "strong_line", "raised")
        if sense:
            for column in range(4):
                tiny = QRectF(
                    x + (column + 1) * cell, area.center().y() + cell * 1.15, cell * 0.4, cell * 0.4
                )
                _box(painter, tiny, "strong_line", "raised")
        painter.setPen(look.tokens.color("text"))
        painter.drawText(
            QRectF(x, area.top(), columns * cell, area.center().y() - cell - area.top()),
            Qt.AlignmentFlag.AlignCenter,
            name,
        )
        x += (columns + 1.6) * cell


def _paint_measure(painter: QPainter, area: QRectF, field: str, length: str) -> None:
    """A case with its board, card, cooler and supply; the length that is asked for is marked."""
    what = MEASURED.get(field, "")
    if what in ("card up", "cooler"):
        _paint_from_above(painter, area, what, length)
        return
    case = QRectF(area.left(), area.top(), area.width(), area.height())
    _box(painter, case, "strong_line")
    board = QRectF(case.left() + 6, case.top() + 6, case.width() * 0.5, case.height() * 0.5)
    _box(painter, board, "line", "raised")
    wide, deep = case.width() * 0.62, case.height() * 0.11
    card = QRectF(case.left() + 6, case.top() + case.height() * 0.26, wide, deep)
    supply = QRectF(case.left() + 6, case.bottom() - 6, case.width() * 0.36, 0.0)
    supply.setTop(case.bottom() - case.height() * 0.24)
    _box(painter, card, "accent" if what == "card along" else "line", "selection")
    _box(painter, supply, "accent" if what == "supply" else "line", "selection")
    if what == "supply":
        y, end = supply.top() - 8, case.right() - case.width() * 0.12
        _line(painter, "soft", 1.0, dashed=True)
        painter.drawLine(QPointF(end, y - 6), QPointF(end, case.bottom()))
        _span(painter, QPointF(supply.left(), y), QPointF(end, y), length)
    else:
        y = card.bottom() + case.height() * 0.28
        end = card.right() if field == "length_mm" else case.right() - 2
        _span(painter, QPointF(card.left(), y), QPointF(end, y), length)


def _paint_from_above(painter: QPainter, area: QRectF, what: str, length: str) -> None:
    """The case seen from above: the board at the left wall, the side panel at the right."""
    wall, panel = area.left() + area.width() * 0.12, area.right() - area.width() * 0.14
    _line(painter, "strong_line", 2.0)
    painter.drawLine(QPointF(wall, area.top()), QPointF(wall, area.bottom()))
    painter.drawLine(QPointF(panel, area.top()), QPointF(panel, area.bottom()))
    top, middle = area.top() + area.height() * 0.25, area.center().y()
    cooler = QRectF(wall + 8, top - 14, (panel - wall) * 0.8, 26)
    card = QRectF(wall + 14, middle + 8, (panel - wall) * 0.62, 14)
    _box(painter, cooler, "accent" if what == "cooler" else "line", "selection")
    _box(painter, card, "accent" if what == "card up" else "line", "selection")
    y = cooler.bottom() + 16 if what == "cooler" else card.bottom() + 22
    start = wall + 4 if what == "cooler" else card.left()
    _span(painter, QPointF(start, y), QPointF(panel - 2, y), length)
