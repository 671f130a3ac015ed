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


def monitor_form(
    session: Session, edit: Callable[[str, Edit], None]
) -> tuple[QFormLayout, Callable[[], None]]:
    """Return the fields and what fills them from the rig; each change is one edit."""
    form = QFormLayout()
    count = QSpinBox(minimum=0, maximum=MOST_MONITORS)
    count.setAccessibleName(tr("Number of monitors"))
    count.setSpecialValueText(tr("none"))
    count.setKeyboardTracking(False)
    indented(count)
    size, desktop = QComboBox(), QComboBox()
    size.setAccessibleName(tr("Resolution of the monitors"))
    desktop.setAccessibleName(tr("Desktop on the monitors"))
    for words, value in (
        (tr("text alone"), "none"),
        (tr("bare desktop"), "light"),
        (tr("desktop with a browser"), "usual"),
        (tr("desktop with many windows"), "heavy"),
    ):
        desktop.addItem(words, value)
    games = QCheckBox(tr("Games run too"))
    games.setAccessibleName(tr("Games on the monitors"))

    def change(**fields: Any) -> None:
        now = session.rig.site.monitors or Monitors(count=1)
        edit(tr("Monitors"), Edit("change_site", {"monitors": replace(now, **fields)}))

    def set_count(number: int) -> None:
        if number:
            change(count=number)
        else:
            edit(tr("No monitors"), Edit("change_site", {"monitors": None}))

    def set_size() -> None:
        width, height = size.currentData()
        change(width_px=width, height_px=height)

    def fill() -> None:
        now = session.rig.site.monitors
        shown = now or Monitors(count=1)
        pixels = (shown.width_px, shown.height_px)
        size.clear()
        for width, height in SIZES if pixels in SIZES else (*SIZES, pixels):
            size.addItem(f"{width} × {height}", (width, height))
        size.setCurrentIndex(max(0, size.findText(f"{pixels[0]} × {pixels[1]}")))
        count.setValue(now.count if now else 0)
        desktop.setCurrentIndex(max(0, desktop.findData(shown.desktop)))
        games.setChecked(shown.games)
        for field in (size, desktop, games):
            field.setEnabled(now is not None)

    count.valueChanged.connect(set_count)
    size.activated.connect(lambda _: set_size())
    desktop.activated.connect(lambda _: change(desktop=desktop.currentData()))
    games.toggled.connect(lambda on: change(games=on))
    form.addRow(tr("Number"), count)
    form.addRow(tr("Resolution"), size)
    form.addRow(tr("Desktop"), desktop)
    form.addRow("", games)
    return form, fill
