"""What narrows the catalog table besides words: values of a field, and ranges of figures."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from rigplanner.desktop.controls.flow_row import FlowRow
from rigplanner.desktop.controls.tips import hint
from rigplanner.desktop.controls.widgets import button, clear, label, panel, row
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.parts.columns import FACETS, spans_of
from rigplanner.desktop.parts.model import PartsModel
from rigplanner.desktop.words import cell, number
from rigplanner.report.format import MM_PER_INCH, as_wished
from rigplanner.report.language import tr

Ends = tuple[float | None, float | None]


class RangeField(QWidget):
    """The least and the greatest value of a figure; an empty field is no end."""

    changed = Signal()

    def __init__(self, title: str, unit: str) -> None:
        super().__init__()
        self._title, self._unit = title, unit
        self._ends = [self._field(tr("from"), "least"), self._field(tr("to"), "most")]
        shown = as_wished(1.0, unit)[1]
        words = f"{tr(title)}, {tr(shown)}" if shown else tr(title)
        self.setLayout(row(label(words, "small"), *self._ends, spacing=4))

    def _field(self, word: str, end: str) -> QLineEdit:
        made = QLineEdit()
        made.setPlaceholderText(word)
        made.setValidator(QDoubleValidator(0.0, 1e9, 2, made))
        made.setFixedWidth(round(row_px() * 2.4))
        made.setAccessibleName(
            tr("{figure}, at least", figure=tr(self._title))
            if end == "least"
            else tr("{figure}, at most", figure=tr(self._title))
        )
        hint(
            made,
            tr("Shows only parts with this value or more.")
            if end == "least"
            else tr("Shows only parts with this value or less."),
            tr("Parts whose value is not known are left out."),
        )
        made.textChanged.connect(lambda _: self.changed.emit())
        return made

    def ends(self) -> Ends:
        """Return the least and greatest value in the unit of the catalog, None for no end."""
        least, most = (self._value(field) for field in self._ends)
        return least, most

    def _value(self, field: QLineEdit) -> float | None:
        try:
            value = float(field.text().replace(" ", "").replace(",", "."))
        except ValueError:
            return None
        return value * MM_PER_INCH if as_wished(1.0, self._unit)[1] == "in" else value

    def empty(self) -> None:
        """Take both ends away."""
        for field in self._ends:
            field.clear()


class Filters(QWidget):
    """The fields of one kind of part; `changed` tells that the table is to be filtered anew."""

    changed = Signal()

    def __init__(self, model: PartsModel) -> None:
        super().__init__()
        self._model = model
        self._facets: dict[str, QComboBox] = {}
        self._ranges: dict[str, RangeField] = {}
        self._line = FlowRow(spacing=8)
        self.setLayout(self._line)

    def show_kind(self, kind: str) -> None:
        """Offer the fields of another kind of part, all empty."""
        clear(self._line)
        self._facets, self._ranges = {}, {}
        for span in spans_of(kind):
            title = span.title
            unit = span.unit or (self._model.offers.currency if span.value is None else "")
            field = self._ranges[title] = RangeField(title, unit)
            field.changed.connect(self.changed)
            self._line.addWidget(field)
        for facet in FACETS[kind]:
            box = self._facets[facet.title] = QComboBox()
            box.setAccessibleName(tr(facet.title))
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.setMaximumWidth(row_px() * 7)
            hint(
                box,
                tr("Shows only parts with this value."),
                tr("Behind each stands how many there are."),
            )
            box.activated.connect(lambda _: self.changed.emit())
            self._line.addWidget(box)
        self._line.addWidget(panel(row(button(tr("Clear filters"), self.empty, role="link"))))

    def fill(self) -> None:
        """Offer the values that the words leave, with their counts."""
        for title, box in self._facets.items():
            chosen = box.currentData()
            box.blockSignals(True)
            box.clear()
            box.addItem(tr("{title}: all", title=tr(title)), None)
            for value, count in self._model.facet_counts(title):
                box.addItem(f"{cell(value)} ({number(count)})", value)
            box.setCurrentIndex(max(0, box.findData(chosen)) if chosen else 0)
            box.blockSignals(False)

    def facets(self) -> dict[str, str]:
        """Return the chosen value of each field that has one."""
        return {
            title: box.currentData() for title, box in self._facets.items() if box.currentData()
        }

    def ranges(self) -> dict[str, Ends]:
        """Return the ends of each figure that has one."""
        ends = {title: field.ends() for title, field in self._ranges.items()}
        return {title: pair for title, pair in ends.items() if pair != (None, None)}

    def empty(self) -> None:
        """Take all filters away."""
        for box in self._facets.values():
            box.setCurrentIndex(0)
        for field in self._ranges.values():
            field.blockSignals(True)
            field.empty()
            field.blockSignals(False)
        self.changed.emit()
