"""Plain outlines of parts, drawn from their measures: what is not known is not drawn."""

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from rigplanner.catalog.schema.parts import (
    GPU,
    AnyPart,
    Cooler,
    MemoryKit,
    Motherboard,
    PowerSupply,
    Storage,
)

SLOT_MM = 20.32
"""Distance of two expansion slots (PCI Express card electromechanical specification)."""
M2_MM = 22.0
DRIVES_MM = {"2.5": (100.0, 69.85), "3.5": (147.0, 101.6)}
"""Width of an M.2 module (PCI-SIG); length and width of drives by form (SFF-8201, SFF-8301)."""
SUPPLY_FACES_MM = {"ATX": 150.0, "SFX": 125.0, "SFX-L": 125.0}
"""Width of a power supply by form (ATX12V and SFX12V design guides)."""
MODULES_MM = {"sodimm": 69.6, "": 133.35}
"""Length of a memory module (JEDEC MO-310, MO-309); all but SO-DIMMs are as long."""
FAN_MM = 92.0
"""Fans of an open card are about so wide: as many as fit are drawn."""

Box = tuple[float, float, float, float]
"""Left, top, width, height in millimetres."""


class Outline(Struct, frozen=True):
    """The shape of a part in millimetres: its size, circles (fans) as centre and radius, and inner
    boxes."""

    width: float
    height: float
    circles: tuple[tuple[float, float, float], ...] = ()
    boxes: tuple[Box, ...] = ()


def outline_of(part: AnyPart | None) -> Outline | None:
    """Return the outline of a part, None where its measures are not known."""
    if isinstance(part, GPU):
        return _card(part)
    if isinstance(part, Motherboard) and part.width_mm and part.depth_mm:
        width, depth = part.width_mm, part.depth_mm
        slots = tuple((8.0, depth - 150 + n * SLOT_MM, 90.0, 6.0) for n in _rows(part, depth))
        return Outline(width, depth, boxes=((width * 0.35, 40.0, 60.0, 60.0), *slots))
    if isinstance(part, PowerSupply) and part.length_mm:
        face = SUPPLY_FACES_MM.get(part.form_factor or "")
        if face is None:
            return None
        middle = (part.length_mm / 2, face / 2, min(part.length_mm, face) * 0.4)
        return Outline(part.length_mm, face, circles=(middle,))
    if isinstance(part, MemoryKit) and part.height_mm:
        length = MODULES_MM.get(part.module or "", MODULES_MM[""])
        return Outline(length, part.height_mm)
    if isinstance(part, Storage):
        if part.form_factor == "m2":
            return Outline(float(part.m2_length_mm), M2_MM) if part.m2_length_mm else None
        known = DRIVES_MM.get(part.form_factor)
        return Outline(*known) if known else None
    if isinstance(part, Cooler):
        return _cooler(part)
    return None


def _rows(board: Motherboard, depth: float) -> range:
    """The expansion slots that the board's depth has room for."""
    fitting = int((depth - 100) // SLOT_MM)
    return range(max(0, min(len(board.layout.slots), fitting, 7)))


def _card(card: GPU) -> Outline | None:
    if not card.length_mm or not card.height_mm:
        return None
    length, height = card.length_mm, card.height_mm
    fans = {"open": max(1, int(length // (FAN_MM + 8))), "blower": 1}.get(card.cooling or "", 0)
    radius = min(FAN_MM, height - 16) / 2
    step = length / (fans or 1)
    circles = [(step * (n + 0.5), height / 2, radius) for n in range(fans)]
    if card.cooling == "blower":
        circles = [(length - radius - 10, height / 2, radius)]
    return Outline(length, height, circles=tuple(circles))


def _cooler(cooler: Cooler) -> Outline | None:
    if cooler.type == "liquid":
        if not cooler.radiator_mm:
            return None
        count = max(1, cooler.radiator_mm // 120)
        step = cooler.radiator_mm / count
        fans = tuple((step * (n + 0.5), 60.0, 54.0) for n in range(count))
        return Outline(float(cooler.radiator_mm), 120.0, circles=fans)
    return Outline(120.0, cooler.height_mm) if cooler.height_mm else None


def paint(painter: QPainter, shape: Outline, area: QRectF, color: QColor) -> None:
    """Draw an outline as large as fits into an area, in the middle of it."""
    scale = min(area.width() / shape.width, area.height() / shape.height)
    left = area.center().x() - shape.width * scale / 2
    top = area.center().y() - shape.height * scale / 2
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(left, top, shape.width * scale, shape.height * scale))
    for x, y, radius in shape.circles:
        spot = QPointF(left + x * scale, top + y * scale)
        painter.drawEllipse(spot, radius * scale, radius * scale)
    for x, y, width, height in shape.boxes:
        painter.drawRect(QRectF(left + x * scale, top + y * scale, width * scale, height * scale))
    painter.restore()


_pixmaps: dict[tuple[Outline, int, int, str, float], QPixmap] = {}
MOST_PIXMAPS = 100
"""Up to 15 kB each; a list of parts shows some 30."""


def pixmap(shape: Outline, width: int, height: int, color: QColor, ratio: float) -> QPixmap:
    """Return an outline drawn once for a size, a colour and a screen."""
    key = (shape, width, height, color.name(), ratio)
    if key not in _pixmaps:
        if len(_pixmaps) >= MOST_PIXMAPS:
            _pixmaps.clear()
        made = QPixmap(round(width * ratio), round(height * ratio))
        made.fill(Qt.GlobalColor.transparent)
        made.setDevicePixelRatio(ratio)
        painter = QPainter(made)
        paint(painter, shape, QRectF(1, 1, width - 2, height - 2), color)
        painter.end()
        _pixmaps[key] = made
    return _pixmaps[key]
