"""The small picture of a rig: sockets, memory, cards by their thickness, NVLink, drives, drawn from
the machine as assembled."""

import math
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from rigplanner.catalog.schema.parts import GPU, MemoryKit
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.report.language import tr, trn

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment

MOST_STICKS = 16
CARD_FORMS = ("pcie",)
SLOT_WIDTH = 5.0
"""Width of one expansion slot, where the whole drawing is 40 high."""


class Sketch(Struct, frozen=True, kw_only=True):
    """What is drawn: sockets, memory modules, the thickness of each card in slots, GPU modules on a
    baseboard, pairs of GPUs (by their number) that NVLink joins, drives and network cards."""

    sockets: int = 0
    sticks: int = 0
    cards: tuple[float, ...] = ()
    modules: int = 0
    joined: tuple[tuple[int, int], ...] = ()
    drives: int = 0
    nics: int = 0

    def words(self) -> str:
        """Return the picture for those who hear it."""
        gpus = len(self.cards) + self.modules
        return ", ".join(
            (
                trn("{count} processor", "{count} processors", self.sockets),
                trn("{count} GPU", "{count} GPUs", gpus),
                trn("{count} memory module", "{count} memory modules", self.sticks),
                trn("{count} drive", "{count} drives", self.drives),
            )
        )


def sketch_of(assessment: "Assessment") -> Sketch:
    """Return the sketch of a rig."""
    machine = assessment.machine
    boards = {node.piece: node for node in machine.gpus}
    gpus = [node.gpu for node in boards.values()]
    sticks = sum(
        piece.part.modules for piece in machine.pieces if isinstance(piece.part, MemoryKit)
    )
    direct = {
        (min(int(edge.a.key), int(edge.b.key)), max(int(edge.a.key), int(edge.b.key)))
        for edge in machine.edges
        if edge.kind in ("nvlink", "xgmi") and edge.a.kind == edge.b.kind == "gpu"
    }
    return Sketch(
        sockets=len(machine.cpus),
        sticks=min(sticks, MOST_STICKS),
        cards=tuple(gpu.slots or 2.0 for gpu in gpus if gpu.form_factor in CARD_FORMS),
        modules=sum(isinstance(gpu, GPU) and gpu.form_factor not in CARD_FORMS for gpu in gpus),
        joined=tuple(sorted(direct)),
        drives=len(machine.storage),
        nics=len(machine.nics),
    )


class SketchView(QWidget):
    """Draws a sketch at the left of its room; empty until there is one."""

    def __init__(self, sketch: Sketch | None = None) -> None:
        super().__init__()
        self._sketch = sketch
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMaximumHeight(row_px() * 5)
        self.setMinimumHeight(round(row_px() * 2.2))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        look.look_changed.connect(self.update)

    def show_sketch(self, sketch: Sketch) -> None:
        """Draw another sketch."""
        self._sketch = sketch
        self.setAccessibleName(tr("Picture: {what}", what=sketch.words()))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(row_px() * 6, round(row_px() * 2.2))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._sketch is not None:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_sketch(painter, QRectF(self.rect()), self._sketch)


def paint_sketch(painter: QPainter, area: QRectF, sketch: Sketch) -> None:
    """Draw a sketch into an area, as large as fits, beginning at its left."""
    wide = _width(sketch)
    scale = min(area.height() / 40, area.width() / wide)
    painter.save()
    painter.translate(area.left(), area.top() + (area.height() - 40 * scale) / 2)
    painter.scale(scale, scale)
    tokens = look.tokens
    ink, soft, accent, back = (
        tokens.color(name) for name in ("strong_line", "line", "accent", "raised")
    )
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(back)
    painter.drawRoundedRect(QRectF(0, 0, wide, 40), 2.5, 2.5)
    x = 5.0
    x = _paint_sockets(painter, sketch, x, ink, tokens.color("surface"))
    x = _paint_sticks(painter, sketch, x, ink)
    x = _paint_cards(painter, sketch, x, accent, tokens.color("selection"), tokens.color("weights"))
    x = _paint_modules(painter, sketch, x, accent, tokens.color("selection"))
    _paint_small(painter, sketch, x, ink, soft)
    painter.restore()


def _width(sketch: Sketch) -> float:
    sockets = math.ceil(sketch.sockets / 2) * 15
    sticks = math.ceil(sketch.sticks / (1 if sketch.sticks <= 8 else 2)) * 2.4 + (
        4 if sketch.sticks else 0
    )
    cards = sum(math.ceil(slots) * SLOT_WIDTH + 1.5 for slots in sketch.cards) + (
        4 if sketch.cards else 0
    )
    modules = math.ceil(sketch.modules / 2) * 15 + (4 if sketch.modules else 0)
    small = math.ceil((sketch.drives + sketch.nics) / 3) * 12
    return max(60.0, 10 + sockets + sticks + cards + modules + small)


def _paint_sockets(painter: QPainter, sketch: Sketch, x: float, ink: QColor, fill: QColor) -> float:
    painter.setPen(QPen(ink, 0.9))
    painter.setBrush(fill)
    for n in range(sketch.sockets):
        top = 14.0 if sketch.sockets == 1 else 5.5 + 17 * (n % 2)
        box = QRectF(x + 15 * (n // 2), top, 12, 12)
        painter.drawRect(box)
        painter.drawRect(box.adjusted(3, 3, -3, -3))
    return x + math.ceil(sketch.sockets / 2) * 15


def _paint_sticks(painter: QPainter, sketch: Sketch, x: float, ink: QColor) -> float:
    rows = 1 if sketch.sticks <= 8 else 2
    columns = math.ceil(sketch.sticks / rows)
    painter.setPen(QPen(ink, 1.1, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
    for n in range(sketch.sticks):
        left = x + 1 + 2.4 * (n % columns)
        top, high = (8.0, 24.0) if rows == 1 else (5.0 + 16 * (n // columns), 13.5)
        painter.drawLine(QPointF(left, top), QPointF(left, top + high))
    return x + columns * 2.4 + (4 if sketch.sticks else 0)


def _paint_cards(
    painter: QPainter, sketch: Sketch, x: float, line: QColor, fill: QColor, bridge: QColor
) -> float:
    middles = []
    for slots in sketch.cards:
        wide = math.ceil(slots) * SLOT_WIDTH
        painter.setPen(QPen(line, 0.9))
        painter.setBrush(fill)
        box = QRectF(x, 6, wide - 1.2, 30)
        painter.drawRoundedRect(box, 1.2, 1.2)
        fan = min(wide - 4, 8.0)
        for middle in (14.0, 27.0):
            if fan > 3:
                painter.drawEllipse(QPointF(box.center().x(), middle), fan / 2, fan / 2)
        middles.append(box.center().x())
        x += wide + 1.5
    painter.setPen(
        QPen(bridge, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.MiterJoin)
    )
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for a, b in sketch.joined:
        if b < len(middles):
            painter.drawPolyline(
                [
                    QPointF(middles[a], 6),
                    QPointF(middles[a], 3),
                    QPointF(middles[b], 3),
                    QPointF(middles[b], 6),
                ]
            )
    return x + (2.5 if sketch.cards else 0)


def _paint_modules(
    painter: QPainter, sketch: Sketch, x: float, line: QColor, fill: QColor
) -> float:
    painter.setPen(QPen(line, 0.9))
    painter.setBrush(fill)
    for n in range(sketch.modules):
        top = 13.5 if sketch.modules == 1 else 5.0 + 17 * (n % 2)
        box = QRectF(x + 15 * (n // 2), top, 13, 13)
        painter.drawRoundedRect(box, 1.2, 1.2)
        painter.drawRect(box.adjusted(4, 4, -4, -4))
    return x + math.ceil(sketch.modules / 2) * 15 + (4 if sketch.modules else 0)


def _paint_small(painter: QPainter, sketch: Sketch, x: float, ink: QColor, fill: QColor) -> None:
    painter.setPen(QPen(ink, 0.8))
    for n in range(sketch.drives + sketch.nics):
        box = QRectF(x + 12 * (n // 3), 6 + 10 * (n % 3), 10, 6.5)
        painter.setBrush(fill if n < sketch.drives else Qt.BrushStyle.NoBrush)
        painter.drawRect(box)
