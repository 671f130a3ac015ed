"""Logos that people choose: made into pictures of the letterhead's room that travel inside the rig,
everything else refused."""

import errno
import re
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader, QImageWriter, QPainter

from rigplanner.report.language import tr
from rigplanner.report.quote.logo import LOGO_TYPES, carried, chosen_picture, logo_name
from rigplanner.whole_file import read_within

LARGEST_SVG_BYTES = 1_000_000
PNG = b"\x89PNG"
DRAWN_WIDTH_PX, DRAWN_HEIGHT_PX = 1250, 384
"""Pixels that a drawing is made into: the room of the logo on paper at 600 dots an inch."""
KEPT_BYTES = 300_000
"""A smaller picture is kept as it is, byte by byte, unless it is stored in inks of a press or to be
turned when shown."""
DOCTYPE = re.compile(rb"<!doctype[^>\[]*>", re.IGNORECASE)
"""What older drawing programs write before a drawing; with definitions of its own (in brackets) it
stays, and is refused."""
FORBIDDEN = (
    b"<!entity",
    b"<!doctype",
    b"<image",
    b"<script",
    b"<foreignobject",
    b"url(http",
    b"@import",
)
"""What a drawing must not hold: it could read other files or never end."""


def picture_files() -> str:
    """Return the filter of file dialogs that ask for a logo."""
    return f"{tr('Pictures')} (*.png *.jpg *.jpeg *.svg)"


def usable_logo(text: str, now: str = "") -> tuple[str, str]:
    """Return the logo for a chosen file ("" for none), a picture as text, and why it cannot be one
    ("" when it can). What names the logo that is there `now` leaves it."""
    path = Path(text)
    if not text or (now and text == logo_name(now)):
        return (now if text else ""), ""
    if path.suffix.casefold() == ".svg":
        return _from_drawing(path)
    content, fault = chosen_picture(path)
    if fault:
        return "", fault
    kind = LOGO_TYPES[path.suffix.casefold()]
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    reader = QImageReader(buffer, QByteArray(b"png" if content.startswith(PNG) else b"jpeg"))
    reader.setAutoTransform(True)
    turned = reader.transformation() != QImageIOHandler.Transformation.TransformationNone
    image = reader.read()
    printed = image.format() == QImage.Format.Format_CMYK8888
    if (
        turned
        or printed
        or image.width() > DRAWN_WIDTH_PX
        or image.height() > DRAWN_HEIGHT_PX
        or len(content) > KEPT_BYTES
    ):
        content, kind = _encoded(image), "png"
    return carried(content, kind, path.name), ""


def _from_drawing(path: Path) -> tuple[str, str]:
    try:
        content = DOCTYPE.sub(b"", read_within(path, LARGEST_SVG_BYTES), 1)
        if any(word in content.lower() for word in FORBIDDEN) or not (picture := _drawn(content)):
            return "", tr("{name}: not a plain drawing.", name=path.name)
    except OSError as fault:
        if fault.errno == errno.EFBIG:
            return "", tr("{name}: a drawing has at most 1 MB.", name=path.name)
        return "", tr(
            "{path}: cannot be read ({reason}).",
            path=str(path)[:200],
            reason=fault.strerror or fault,
        )
    return carried(picture, "png", path.name), ""


def _drawn(content: bytes) -> bytes:
    """Return a drawing as PNG within the room of a logo, b"" when it is none."""
    from PySide6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(QByteArray(content))
    size = renderer.defaultSize()
    if not renderer.isValid() or size.isEmpty():
        return b""
    image = QImage(
        size.scaled(QSize(DRAWN_WIDTH_PX, DRAWN_HEIGHT_PX), Qt.AspectRatioMode.KeepAspectRatio),
        QImage.Format.Format_ARGB32,
    )
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return _encoded(image)


def _encoded(image: QImage) -> bytes:
    """Return a picture as PNG, made smaller where it is larger than the room of a logo."""
    room = QSize(DRAWN_WIDTH_PX, DRAWN_HEIGHT_PX)
    if image.width() > room.width() or image.height() > room.height():
        image = image.scaled(
            room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(
        image.convertToFormat(QImage.Format.Format_ARGB32)
    )
    return bytes(buffer.data().data())
