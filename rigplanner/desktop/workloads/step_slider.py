"""A slider over sizes that people choose, and the number field beside it. Moves of one turn of the
loop become one change."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QSpinBox, QWidget

from rigplanner.desktop.controls.widgets import indented

BATCHES = (
    1,
    2,
    3,
    4,
    6,
    8,
    12,
    16,
    24,
    32,
    48,
    64,
    96,
    128,
    192,
    256,
    384,
    512,
    768,
    1024,
    1536,
    2048,
    3072,
    4096,
)
LENGTHS = (
    128,
    256,
    512,
    768,
    1024,
    1536,
    2048,
    3072,
    4096,
    6144,
    8192,
    12288,
    16384,
    24576,
    32768,
    49152,
    65536,
    98304,
    131072,
    196608,
    262144,
    524288,
    1048576,
)


class StepSlider(QWidget):
    """`changed` is called with the new size; 0 in the field stands for the usual one."""

    def __init__(
        self, name: str, stops: Sequence[int], most: int, changed: Callable[[int], None]
    ) -> None:
        super().__init__()
        self._stops, self._changed = tuple(stops), changed
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, len(self._stops) - 1)
        self.slider.setAccessibleName(name)
        self.slider.setPageStep(2)
        self.field = QSpinBox(minimum=0, maximum=most)
        self.field.setAccessibleName(name)
        self.field.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.field.setFixedWidth(self.field.fontMetrics().horizontalAdvance("1048576") + 38)
        indented(self.field)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._tell)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.slider, 1)
        layout.addWidget(self.field)
        self.setFocusProxy(self.slider)
        self.slider.valueChanged.connect(self._slid)
        self.field.valueChanged.connect(self._typed)

    def limit(self, most: int) -> None:
        """Let the slider and the field end at `most`."""
        stops = tuple(stop for stop in self._stops if stop <= most) or self._stops[:1]
        self.slider.blockSignals(True)
        self.slider.setMaximum(len(stops) - 1)
        self.slider.blockSignals(False)

    def value(self) -> int:
        """Return the size that is shown."""
        return self.field.value()

    def show_value(self, value: int) -> None:
        """Show a size without telling of it."""
        for widget, shown in ((self.field, value), (self.slider, self._stop_of(value))):
            if widget.value() != shown:
                widget.blockSignals(True)
                widget.setValue(shown)
                widget.blockSignals(False)

    def _stop_of(self, value: int) -> int:
        at = min(bisect_left(self._stops, value), len(self._stops) - 1)
        return at - 1 if at and value - self._stops[at - 1] < self._stops[at] - value else at

    def _slid(self, at: int) -> None:
        self.field.blockSignals(True)
        self.field.setValue(self._stops[at])
        self.field.blockSignals(False)
        self._later.start()

    def _typed(self, value: int) -> None:
        self.slider.blockSignals(True)
        self.slider.setValue(self._stop_of(value))
        self.slider.blockSignals(False)
        self._later.start()

    def _tell(self) -> None:
        self._changed(self.field.value())
