"""The drawing of the machine as a widget: hover explains, a drag or the arrow keys move a card."""

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, sized_font, small_font
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.machine.shapes import Box, Drawing, Scale, Wire
from rigplanner.desktop.words import VERDICT_ICONS
from rigplanner.planning.moves import Move
from rigplanner.report.language import tr

WIDTH_TOKENS = ((16, "weights"), (8, "activations"), (4, "gradients"), (1, "kv_cache"))
"""Least number of lanes to the hue of a link when lines are coloured by width; the label says the
width too."""
EDGE = 16.0
"""Pixels by which pens and labels reach beyond their lines."""


class MachineDrawing(QWidget):
    """`moved` asks to put a piece into a place; `explained` says why a place is not possible while
    dragging."""

    selected = Signal(str)
    drag_started = Signal(str)
    moved = Signal(str, str)
    explained = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Machine drawing; the table of places says the same in words"))
        self._drawing = Drawing(width=1, height=1)
        self.empty = ""
        self.by_width = False
        self._piece = ""
        self._pressed: QPointF | None = None
        self._dragged = ""
        self._pointer = QPointF()
        self._moves: dict[str, Move] = {}

    @property
    def scale(self) -> Scale | None:
        """The scale of what is shown."""
        return self._drawing.scale

    def show_drawing(self, drawing: Drawing) -> None:
        """Show another drawing; of one of the same size only what differs is painted."""
        former, self._drawing = self._drawing, drawing
        if not drawing.boxes or (former.width, former.height) != (drawing.width, drawing.height):
            self.setMinimumSize(self.sizeHint())
            self.updateGeometry()
            self.update()
            return
        areas = [box_area(box) for box in {*former.boxes} ^ {*drawing.boxes}]
        areas += [wire_area(wire) for wire in {*former.wires} ^ {*drawing.wires}]
        for area in areas:
            self.update(_reach(area))

    def select(self, piece: str) -> None:
        """Mark a piece."""
        if piece != self._piece:
            self._piece = piece
            self.update()

    def show_targets(self, moves: dict[str, Move]) -> None:
        """Light up where the dragged piece may go; answer to `drag_started`."""
        self._moves = moves
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self._drawing.width), round(self._drawing.height))

    def box_at(self, point: QPointF) -> Box | None:
        """Return the place or device under a point."""
        return next(
            (
                box
                for box in self._drawing.boxes
                if box.role in ("place", "device", "loose", "socket")
                and QRectF(box.x, box.y, box.width, box.height).contains(point)
            ),
            None,
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        box = self.box_at(event.position())
        if box is not None and box.piece and event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position()
            self.select(box.piece)
            self.selected.emit(box.piece)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer = event.position()
        if self._pressed is not None and not self._dragged:
            if (
                event.position() - self._pressed
            ).manhattanLength() >= QApplication.startDragDistance():
                self._dragged = self._piece
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
                self.drag_started.emit(self._piece)
        elif not self._dragged:
            box = self.box_at(event.position())
            grab = box is not None and box.piece and box.role in ("device", "loose")
            self.setCursor(Qt.CursorShape.OpenHandCursor if grab else Qt.CursorShape.ArrowCursor)
        if self._dragged:
            box = self.box_at(event.position())
            self.explained.emit(box.place if box else "")
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        dragged, self._dragged, self._pressed = self._dragged, "", None
        moves, self._moves = self._moves, {}
        self.unsetCursor()
        self.update()
        if dragged:
            self.explained.emit("")
            box = self.box_at(event.position())
            move = moves.get(box.place) if box else None
            if move is not None and not move.problems and not move.here:
                self.moved.emit(dragged, move.place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        pieces = [
            box.piece
            for box in self._drawing.boxes
            if box.role in ("device", "loose") and box.piece
        ]
        if event.key() == Qt.Key.Key_Escape and self._dragged:
            self._dragged, self._pressed, self._moves = "", None, {}
            self.update()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up) and pieces:
            step = 1 if event.key() == Qt.Key.Key_Down else -1
            at = pieces.index(self._piece) + step if self._piece in pieces else 0
            self.select(pieces[at % len(pieces)])
            self.selected.emit(self._piece)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.tip_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), text, self) if text else QToolTip.hideText()
            return True
        return super().event(event)

    def tip_at(self, point: QPointF) -> str:
        """Return what hovering a point explains."""
        box = self.box_at(point)
        if box is not None:
            return "\n".join(text for text in (f"{box.place} {box.text}".strip(), box.note) if text)
        for wire in self._drawing.wires:
            for (x1, y1), (x2, y2) in zip(wire.points, wire.points[1:], strict=False):
                if QRectF(
                    min(x1, x2) - 4, min(y1, y2) - 4, abs(x2 - x1) + 8, abs(y2 - y1) + 8
                ).contains(point):
                    return wire.tip
        return ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.empty:
            painter.setPen(look.tokens.color("soft"))
            words = int(Qt.AlignmentFlag.AlignTop) | int(Qt.TextFlag.TextWordWrap)
            painter.drawText(self.rect().adjusted(12, 12, -12, -12), words, self.empty)
        shown, top, bottom = event.region(), event.rect().top() - EDGE, event.rect().bottom() + EDGE
        for wire in self._drawing.wires:
            if shown.intersects(_reach(wire_area(wire))):
                self._paint_wire(painter, wire)
        for box in self._drawing.boxes:
            if (
                top <= box.y + box.height
                and box.y <= bottom
                and shown.intersects(_reach(box_area(box)))
            ):
                self._paint_box(painter, box)
        if self._dragged:
            self._paint_dragged(painter)

    def _wire_token(self, wire: Wire) -> str:
        """The colour of a line: by the width of its link, or by what is wrong with it."""
        if wire.fabric:
            return "accent"
        if self.by_width:
            return next(
                (token for lanes, token in WIDTH_TOKENS if (wire.lanes or 0) >= lanes),
                "strong_line",
            )
        return STATE_OF[wire.state] if wire.state else "strong_line"

    def color_by_width(self, on: bool) -> None:
        """Colour lines by the width of their links instead of by verdict."""
        self.by_width = on
        self.update()

    def _paint_wire(self, painter: QPainter, wire: Wire) -> None:
        tokens = look.tokens
        token = self._wire_token(wire)
        pen = QPen(tokens.color(token), wire.weight)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in wire.points]))
        if not wire.label:
            return
        painter.setFont(small_font())
        metrics = QFontMetricsF(painter.font())
        width = metrics.horizontalAdvance(wire.label)
        if wire.beside:
            painter.setPen(tokens.color("accent" if wire.fabric else "soft"))
            painter.drawText(
                QPointF(wire.label_x, wire.label_y + metrics.ascent() / 2 - 1), wire.label
            )
            return
        if wire.fabric and len(wire.points) > 2:
            area = QRectF(
                wire.label_x - width / 2 - 2,
                wire.label_y - metrics.height() / 2,
                width + 4,
                metrics.height(),
            )
            painter.fillRect(area, tokens.color("window"))
            painter.setPen(tokens.color("accent"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, wire.label)
            return
        painter.setPen(tokens.color(STATE_OF[wire.state] if wire.state else "soft"))
        painter.drawText(QPointF(wire.label_x - width, wire.label_y - wire.weight / 2), wire.label)

    def _edge(self, box: Box, chosen: bool) -> QPen:
        """The line around a box: where a dragged card may go, its state, or whether it is empty."""
        tokens = look.tokens
        if self._dragged and box.role in ("place", "device"):
            move = self._moves.get(box.place)
            if move is not None:
                return QPen(tokens.color("fails" if move.problems else "fits"), 2.0)
        width = 1.4 if chosen or box.state else 1.0
        pen = QPen(tokens.color(_line_token(box, chosen)), width)
        if box.empty and not box.state:
            pen.setStyle(Qt.PenStyle.DashLine)
        return pen

    def _paint_box(self, painter: QPainter, box: Box) -> None:
        tokens = look.tokens
        area = box_area(box)
        chosen = (
            bool(box.piece)
            and box.piece == self._piece
            and box.role in ("device", "loose", "socket")
        )
        painter.setPen(self._edge(box, chosen))
        painter.setBrush(tokens.color(_fill_token(box, chosen)))
        painter.drawRect(area)
        if box.role in ("socket", "hub"):
            self._paint_tall(painter, box, area)
            return
        painter.setFont(small_font() if box.role == "place" or box.empty else sized_font(1.0))
        painter.setPen(tokens.color("soft" if box.empty or box.role == "place" else "text"))
        inner = area.adjusted(8, 0, -8, 0)
        if box.state and box.role in ("device", "loose"):
            sign = icons.pixmap(
                VERDICT_ICONS[box.state], STATE_OF[box.state], self.devicePixelRatioF()
            )
            side = icons.size_px()
            painter.drawPixmap(inner.topRight() + QPointF(-side, (box.height - side) / 2), sign)
            inner.adjust(0, 0, -side - 4, 0)
        text = QFontMetricsF(painter.font()).elidedText(
            box.text, Qt.TextElideMode.ElideRight, inner.width()
        )
        tall = box.height > QFontMetricsF(painter.font()).height() * 2.4
        flags = Qt.AlignmentFlag.AlignLeft | (
            Qt.AlignmentFlag.AlignTop if tall else Qt.AlignmentFlag.AlignVCenter
        )
        painter.drawText(inner.adjusted(0, 5, 0, 0) if tall else inner, flags, text)

    def _paint_tall(self, painter: QPainter, box: Box, area: QRectF) -> None:
        """A socket or hub: its number small on top, the name below, over several lines if there is
        room."""
        inner = area.adjusted(8, 4, -8, -4)
        painter.setFont(small_font())
        painter.setPen(look.tokens.color("soft"))
        small = QFontMetricsF(painter.font())
        if box.note and inner.height() > small.height() * 2:
            note = small.elidedText(box.note, Qt.TextElideMode.ElideRight, inner.width())
            painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, note)
            inner.adjust(0, small.height() + 1, 0, 0)
        painter.setFont(sized_font(1.0))
        painter.setPen(look.tokens.color("soft" if box.empty else "text"))
        flags = (
            int(Qt.AlignmentFlag.AlignLeft)
            | int(Qt.AlignmentFlag.AlignTop)
            | int(Qt.TextFlag.TextWordWrap)
        )
        metrics, text = QFontMetricsF(painter.font()), box.text
        if metrics.boundingRect(inner, flags, text).height() > inner.height():
            lines = max(1, int(inner.height() / metrics.height()))
            lost = (lines - 1) * max(metrics.horizontalAdvance(word) for word in text.split())
            text = metrics.elidedText(
                text, Qt.TextElideMode.ElideRight, max(inner.width(), lines * inner.width() - lost)
            )
        painter.drawText(inner, flags, text)

    def _paint_dragged(self, painter: QPainter) -> None:
        box = next(
            (
                box
                for box in self._drawing.boxes
                if box.piece == self._dragged and box.role in ("device", "loose")
            ),
            None,
        )
        if box is None:
            return
        area = QRectF(
            self._pointer.x() + 10, self._pointer.y() - box.height / 2, box.width, box.height
        )
        painter.setOpacity(0.9)
        painter.setPen(QPen(look.tokens.color("accent"), 1.4))
        painter.setBrush(look.tokens.color("selection"))
        painter.drawRect(area)
        painter.setPen(look.tokens.color("text"))
        painter.setFont(sized_font(1.0))
        painter.drawText(area.adjusted(8, 0, -8, 0), Qt.AlignmentFlag.AlignVCenter, box.text)
        painter.setOpacity(1.0)


def _line_token(box: Box, chosen: bool) -> str:
    """The colour of the line around a box that no dragged card may go to."""
    if chosen:
        return "accent"
    if box.state:
        return STATE_OF[box.state]
    return "line" if box.empty else "strong_line"


def _fill_token(box: Box, chosen: bool) -> str:
    """The colour of a box."""
    if chosen:
        return "selection"
    if box.empty:
        return "window"
    return "raised" if box.role in ("socket", "hub", "fabric") else "surface"


def _reach(area: QRectF) -> QRect:
    """Return the pixels that pens and labels of a shape may touch."""
    return area.adjusted(-EDGE, -EDGE, EDGE, EDGE).toAlignedRect()


def box_area(box: Box) -> QRectF:
    """Return the room of a box."""
    return QRectF(box.x, box.y, box.width, box.height)


def wire_area(wire: Wire) -> QRectF:
    """Return the room that a line and its label take, at least a pixel wide."""
    across, down = [x for x, _ in wire.points], [y for _, y in wire.points]
    area = QRectF(min(across), min(down), max(across) - min(across) + 1, max(down) - min(down) + 1)
    return area.united(QRectF(wire.label_x - 1, wire.label_y - 1, 2, 2)) if wire.label else area
