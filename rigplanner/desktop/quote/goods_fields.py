"""What a seller says of one line of the quote: part number, EAN, condition, warranty, cost."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from rigplanner.desktop.controls.widgets import indented, restyle
from rigplanner.desktop.document.session import Session
from rigplanner.report.language import THIN, tr
from rigplanner.rig.document import Goods
from rigplanner.rig.edits import Edit
from rigplanner.rig.goods import LONGEST_NUMBER, LONGEST_WARRANTY, is_ean

CONDITIONS = (
    ("", "as the price says"),
    ("new", "new"),
    ("used", "used"),
    ("refurbished", "refurbished"),
)
MOST_COST = 1e9


class GoodsFields:
    """Fields of the line that `chosen` names by its uid; what is entered is an edit at once."""

    def __init__(
        self, session: Session, chosen: Callable[[], str], placed: Callable[[QWidget], QWidget]
    ) -> None:
        self._session, self._chosen = session, chosen
        self._filling = False
        self.number, self.ean = (
            QLineEdit(maxLength=LONGEST_NUMBER),
            QLineEdit(maxLength=LONGEST_NUMBER),
        )
        self.condition, self.warranty = QComboBox(), QSpinBox(maximum=LONGEST_WARRANTY)
        self.cost = QDoubleSpinBox(decimals=2, maximum=MOST_COST)
        self._rows = (
            (tr("Part number"), self.number),
            (tr("EAN or UPC"), self.ean),
            (tr("Condition"), self.condition),
            (tr("Warranty"), self.warranty),
            (tr("Cost of one"), self.cost),
        )
        for code, word in CONDITIONS:
            self.condition.addItem(tr(word), code)
        self.warranty.setSuffix(f"{THIN}{tr('months')}")
        for spin in (self.warranty, self.cost):
            spin.setSpecialValueText(tr("not set"))
            spin.setKeyboardTracking(False)
            indented(spin)
        for name, field in self._rows:
            field.setAccessibleName(name)
            placed(field)
        self._join()

    def _join(self) -> None:
        self.number.editingFinished.connect(
            lambda: self._set(part_number=self.number.text().strip())
        )
        self.ean.editingFinished.connect(self._set_ean)
        self.condition.activated.connect(
            lambda _: self._set(condition=self.condition.currentData())
        )
        self.warranty.valueChanged.connect(lambda n: self._set(warranty_months=n or None))
        self.cost.valueChanged.connect(lambda amount: self._set(cost=amount or None))

    def add_to(self, form: QFormLayout) -> None:
        """Put the fields below what a form has."""
        for name, field in self._rows:
            form.addRow(name, field)

    def show(self) -> None:
        """Show what is said of the chosen line."""
        item = self._session.rig.item(self._chosen())
        goods = item.goods if item else Goods()
        self._filling = True
        for _, field in self._rows:
            field.setEnabled(item is not None)
        for line, text in ((self.number, goods.part_number), (self.ean, goods.ean)):
            if not line.hasFocus():
                line.setText(text)
        restyle(self.ean, "faulty", "false")
        self.condition.setCurrentIndex(max(0, self.condition.findData(goods.condition)))
        self.warranty.setValue(goods.warranty_months or 0)
        self.cost.setValue(goods.cost or 0.0)
        self._filling = False

    def _set_ean(self) -> None:
        text = "".join(self.ean.text().split()).replace("-", "")
        wrong = bool(text) and not is_ean(text)
        restyle(self.ean, "faulty", "true" if wrong else "false")
        if wrong:
            told = tr(
                "{number} is no EAN or UPC: 8, 12, 13 or 14 digits, the last checks the others.",
                number=text,
            )
            self._session.tell(told, "warning")
        else:
            self._set(ean=text)

    def _set(self, **said: Any) -> None:
        uid = self._chosen()
        item = self._session.rig.item(uid)
        if self._filling or item is None or replace(item.goods, **said) == item.goods:
            return
        edit = Edit("set_goods", {"uid": uid, "goods": replace(item.goods, **said)})
        self._session.edit(tr("What is said of the goods"), edit, merge=f"goods {uid} {[*said]}")
