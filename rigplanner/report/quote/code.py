"""The code on paper that carries a rig: its one line of text as a QR code (ISO/IEC 18004)."""

from typing import Any

from rigplanner.report.language import tr
from rigplanner.report.paper.inks import INK
from rigplanner.report.paper.sheet import Sheet
from rigplanner.report.paper.tagging import drawn_as

SIDE = 74.0
"""Points; 26 mm, on which phones read the codes of usual rigs."""
MOST_BYTES = 900
"""A longer line makes modules under 0.28 mm, which phones miss: it is then text alone."""
QUIET = 4
"""Modules of margin that readers need around a code."""


def code_of(text: str, side: float = SIDE) -> Any:
    """Return the drawing of a text's QR code, `side` points wide; None where it is too long."""
    from reportlab.graphics.barcode.qr import QrCodeWidget
    from reportlab.graphics.shapes import Drawing
    from reportlab.lib.colors import HexColor

    if not text or len(text.encode()) > MOST_BYTES:
        return None
    widget = QrCodeWidget(text, barLevel="L", barBorder=QUIET, barFillColor=HexColor(INK))
    widget.barWidth = widget.barHeight = side
    drawing = Drawing(side, side)
    drawing.add(widget)
    return drawn_as(drawing, "Figure", tr("QR code of the rig"))


def share_story(share: str, sheet: Sheet) -> list[Any]:
    """Return a rig's code beside its line of text, and how both are read; [] for a rig without
    parts."""
    drawing = code_of(share)
    if not share:
        return []
    words = [
        sheet.text(
            tr('This rig as one line, for "New rig from a parts list" in RigPlanner:'), "small"
        ),
        sheet.text(share, "fine", longest=4000),
    ]
    if drawing is None:
        return words
    return [sheet.columns([[drawing], [sheet.gap(8), *words]], (0.17, 0.83))]
