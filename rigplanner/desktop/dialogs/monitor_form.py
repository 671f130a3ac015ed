"""The fields of the monitors in the machine settings: how many, how large, what runs on them."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QSpinBox

from rigplanner.desktop.controls.widgets import indented
from rigplanner.desktop.document.session import Session
from rigplanner.report.language import tr
from rigplanner.rig.document import MOST_MONITORS, Monitors
from rigplanner.rig.edits import Edit

SIZES = ((1920, 1080), (2560, 1440), (3440, 1440), (3840, 2160), (5120, 2880), (7680, 4320))


class MonitorForm(QFormLayout):
    """Number, resolution, desktop and games; each change is one edit."""

    def __init__(self, session: Session, edit: Callable[[str, Edit], None]) -> None:
        super().__init__()
        self._session, self._edit = session, edit
        self.number = QSpinBox(minimum=0, maximum=MOST_MONITORS)
        self.number.setAccessibleName(tr("Number of monitors"))
        self.number.setSpecialValueText(tr("none"))
        self.number.setKeyboardTracking(False)
        indented(self.number)
        self.pixels, self.windows = QComboBox(), QComboBox()
        self.pixels.setAccessibleName(tr("Resolution of the monitors"))
        self.windows.setAccessibleName(tr("Desktop on the monitors"))
        for words, value in (
            (tr("text alone"), "none"),
            (tr("bare desktop"), "light"),
            (tr("desktop with a browser"), "usual"),
            (tr("desktop with many windows"), "heavy"),
        ):
            self.windows.addItem(words, value)
        self.played = QCheckBox(tr("Games run too"))
        self.played.setAccessibleName(tr("Games on the monitors"))
        self.number.valueChanged.connect(self._set_count)
        self.pixels.activated.connect(lambda _: self._set_size())
        self.windows.activated.connect(lambda _: self._change(desktop=self.windows.currentData()))
        self.played.toggled.connect(lambda on: self._change(games=on))
        self.addRow(tr("Number"), self.number)
        self.addRow(tr("Resolution"), self.pixels)
        self.addRow(tr("Desktop"), self.windows)
        self.addRow("", self.played)

    def _change(self, **fields: Any) -> None:
        now = self._session.rig.site.monitors or Monitors(count=1)
        self._edit(tr("Monitors"), Edit("change_site", {"monitors": replace(now, **fields)}))

    def _set_count(self, number: int) -> None:
        if number:
            self._change(count=number)
        else:
            self._edit(tr("No monitors"), Edit("change_site", {"monitors": None}))

    def _set_size(self) -> None:
        width, height = self.pixels.currentData()
        self._change(width_px=width, height_px=height)

    def fill(self) -> None:
        """Show the monitors of the rig."""
        now = self._session.rig.site.monitors
        shown = now or Monitors(count=1)
        pixels = (shown.width_px, shown.height_px)
        self.pixels.clear()
        for width, height in SIZES if pixels in SIZES else (*SIZES, pixels):
            self.pixels.addItem(f"{width} × {height}", (width, height))
        self.pixels.setCurrentIndex(max(0, self.pixels.findText(f"{pixels[0]} × {pixels[1]}")))
        self.number.setValue(now.count if now else 0)
        self.windows.setCurrentIndex(max(0, self.windows.findData(shown.desktop)))
        self.played.setChecked(shown.games)
        for field in (self.pixels, self.windows, self.played):
            field.setEnabled(now is not None)
