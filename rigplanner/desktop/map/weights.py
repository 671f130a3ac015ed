"""How much each of several works counts in the ranking, and the least speed that it must reach."""

from msgspec import Struct
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox, QWidget

from rigplanner.desktop.controls.flow_row import FlowRow, let_flow
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import label, panel, row
from rigplanner.desktop.words import THIN, shortened
from rigplanner.report.language import tr

MOST_WEIGHT, FASTEST = 99, 1e9
TYPING_MS = 400
LONGEST_TITLE = 26


class Wish(Struct, frozen=True):
    """The weight of a work (0: it does not count), and the least speed in its own metric."""

    weight: int = 1
    least: float | None = None


class _Work:
    """The fields of one work."""

    def __init__(self, title: str, wish: Wish) -> None:
        self.title = title
        self.weight = QSpinBox()
        self.weight.setRange(0, MOST_WEIGHT)
        self.weight.setPrefix("×" + THIN)
        self.weight.setValue(wish.weight)
        self.weight.setAccessibleName(tr("Weight of {name}", name=title))
        self.weight.setToolTip(
            plain(
                tr("How often this work counts in the ranking.")
                + "\n"
                + tr("0 leaves it out, 2 counts its speed twice.")
            )
        )
        self.least = QDoubleSpinBox()
        self.least.setRange(0.0, FASTEST)
        self.least.setDecimals(1)
        self.least.setSpecialValueText(tr("any speed"))
        self.least.setPrefix(tr("at least") + " ")
        self.least.setValue(wish.least or 0.0)
        self.least.setAccessibleName(tr("Least speed of {name}", name=title))
        self.least.setToolTip(
            plain(
                tr("The least speed that will do, in the unit of this work.")
                + "\n"
                + tr("Slower cards come last, as too slow.")
            )
        )
        named = label(shortened(title, LONGEST_TITLE), "small")
        named.setToolTip(plain(title))
        self.group = panel(row(named, self.weight, self.least, spacing=4))

    def wish(self) -> Wish:
        """Return what is entered."""
        return Wish(self.weight.value(), self.least.value() or None)


class Weights(QWidget):
    """A weight and a least speed for each work; what was entered stays with the work's title."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.works: list[_Work] = []
        self._kept: dict[str, Wish] = {}
        self._flow = FlowRow(spacing=16)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._typing.timeout.connect(self.changed)
        let_flow(self, self._flow)
        self.hide()

    def show_works(self, titles: tuple[str, ...]) -> None:
        """Offer fields for several works; none for a single one."""
        shown = titles if len(titles) > 1 else ()
        if tuple(work.title for work in self.works) != shown:
            self._keep()
            while item := self._flow.takeAt(0):
                if (widget := item.widget()) is not None:
                    widget.deleteLater()
            self.works = [_Work(title, self._kept.get(title, Wish())) for title in shown]
            for work in self.works:
                self._flow.addWidget(work.group)
                work.weight.valueChanged.connect(lambda _: self._typing.start())
                work.least.valueChanged.connect(lambda _: self._typing.start())
        self.setVisible(bool(shown))

    def _keep(self) -> None:
        self._kept.update({work.title: work.wish() for work in self.works})

    def wishes(self, count: int) -> list[Wish]:
        """Return the wish of each of `count` works; of a single one that it counts."""
        return (
            [work.wish() for work in self.works] if len(self.works) == count else [Wish()] * count
        )
