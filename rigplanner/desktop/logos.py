"""Logos that people choose: pictures that the letterhead can show, drawings made into pictures, everything else refused."""

import hashlib
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageWriter, QPainter

from rigplanner.report.language import tr
from rigplanner.report.paper import logo_fault
from rigplanner.whole_file import write_whole

LARGEST_SVG_BYTES = 1_000_000
DRAWN_WIDTH_PX, DRAWN_HEIGHT_PX = 1250, 384
"""Pixels that a drawing is made into: the room of the logo on paper at 600 dots an inch."""
FORBIDDEN = (b"<!entity", b"<!doctype", b"<image", b"<script", b"<foreignobject", b"url(http", b"@import")
"""What a drawing must not hold: it could read other files or never end."""


def usable_logo(text: str, folder: Path) -> tuple[str, str]:
    """Return the file to use for a chosen one ("" for none) and why it cannot be used ("" when it can). A drawing (SVG) is made
    into a picture in `folder`."""
    path = Path(text)
    if not text or path.suffix.casefold() != ".svg":
        return text, logo_fault(text)
    try:
        if path.stat().st_size > LARGEST_SVG_BYTES:
            return "", tr("{name}: a drawing has at most 1 MB.", name=path.name)
        content = path.read_bytes()
        if any(word in content.lower() for word in FORBIDDEN) or not (picture := _drawn(content)):
            return "", tr("{name}: not a plain drawing.", name=path.name)
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.png"
        write_whole(made, picture)
    except OSError as fault:
        return "", tr("{path}: cannot be read ({reason}).", path=text[:200], reason=fault.strerror or fault)
    return str(made), ""


def _drawn(content: bytes) -> bytes:
    """Return a drawing as PNG within the room of a logo, b"" when it is none."""
    from PySide6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(QByteArray(content))
    size = renderer.defaultSize()
    if not renderer.isValid() or size.isEmpty():
        return b""
    image = QImage(
        size.scaled(QSize(DRAWN_WIDTH_PX, DRAWN_HEIGHT_PX), Qt.AspectRatioMode.KeepAspectRatio), QImage.Format.Format_ARGB32
    )
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())
