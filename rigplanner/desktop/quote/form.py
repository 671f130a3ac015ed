"""What the quote needs to know: details, money, costs, site, parties. Every field is an edit at
once."""

from collections.abc import Callable
from datetime import date
from typing import Any

from msgspec.structs import replace
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from rigplanner.catalog.schema.parts import Price
from rigplanner.desktop.controls.widgets import (
    column,
    icon_button,
    indented,
    label,
    panel,
    restyle,
    row,
)
from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.quote.goods_fields import GoodsFields
from rigplanner.desktop.quote.logos import picture_files, usable_logo
from rigplanner.report.language import THIN, tr
from rigplanner.report.quote.logo import logo_fault, logo_name
from rigplanner.rig.document import MOST_CIRCUITS, QuoteDetails, Tax, part_of
from rigplanner.rig.edits import Edit

PARTY_FIELDS = (
    ("name", "Name"),
    ("address", "Address"),
    ("contact", "Contact"),
    ("email", "E-mail"),
    ("phone", "Phone"),
    ("tax_id", "Tax id"),
)
FORMS = (
    ("dealer", "For a customer"),
    ("private", "For yourself, one page"),
    ("internal", "Internal, with cost and margin"),
)


class QuoteForm(QWidget):
    """The fields in groups, one below the other."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._filling = False
        self._setters: list[Callable[[], None]] = []
        self.setLayout(column(*self._make_forms(), 1, margins=(12, 8, 12, 8), spacing=8))
        align_names(self.findChildren(QFormLayout))
        self.fill()

    def _make_forms(self) -> list[QWidget]:
        return [
            _group(tr("Quote"), self._details()),
            _group(tr("Money"), self._money()),
            self._lines(),
            self._costs(),
            self._site(),
            *self._party_boxes(),
            self._text_box(),
        ]

    def _details(self) -> QFormLayout:
        rig = QFormLayout()
        self.shape = QComboBox()
        self.shape.setAccessibleName(tr("Form of the quote"))
        for code, word in FORMS:
            self.shape.addItem(tr(word), code)
        self.shape.activated.connect(
            lambda _: self._edit(
                tr("Form of the quote"), self._quote_edit("form")(self.shape.currentData())
            )
        )
        self._setters.append(
            lambda: self.shape.setCurrentIndex(self.shape.findData(self._quote().form))
        )
        rig.addRow(tr("Quote form"), narrowing(self.shape))
        self._text(
            rig,
            tr("Rig name"),
            lambda: self._session.rig.name,
            lambda text: Edit("rename", {"name": text or tr("Untitled rig")}),
        )
        self._text(
            rig, tr("Quote number"), lambda: self._quote().number, self._quote_edit("number")
        )
        self._text(rig, tr("Date"), lambda: self._quote().date or "", self._date_edit, tr("today"))
        self._number(
            rig,
            tr("Valid"),
            lambda: self._quote().valid_days,
            self._quote_edit("valid_days"),
            0,
            3650,
            tr("days"),
        )
        self._text(
            rig, tr("Lead time"), lambda: self._quote().lead_time, self._quote_edit("lead_time")
        )
        self._tick(rig, tr("Room to sign"), "signature")
        return rig

    def _money(self) -> QFormLayout:
        money = QFormLayout()
        self._text(money, tr("Currency"), lambda: self._session.rig.currency, self._currency_edit)
        self._number(
            money,
            tr("Budget"),
            lambda: self._session.rig.budget or 0,
            self._budget_edit,
            2,
            1e9,
            "",
            tr("none"),
        )
        self._tax_fields(money)
        for field, name in (
            ("discount_percent", tr("Discount")),
            ("deposit_percent", tr("Deposit")),
        ):
            edit = self._quote_edit(field)
            self._number(money, name, self._quote_value(field), edit, 2, 100, "%", tr("none"))
        for field, name in (("labour", tr("Labour")), ("shipping", tr("Shipping"))):
            edit = self._quote_edit(field)
            self._number(money, name, self._quote_value(field), edit, 2, 1e9, "", tr("none"))
        return money

    def _tax_fields(self, money: QFormLayout) -> None:
        self._number(
            money,
            tr("Tax"),
            lambda: self._quote().tax_percent or 0,
            lambda v: self._quote_edit("tax_percent")(v or None),
            2,
            100,
            "%",
            tr("none"),
        )
        self._text(
            money, tr("Tax is called"), lambda: self._quote().tax_name, self._quote_edit("tax_name")
        )
        self._text(
            money,
            tr("Further taxes"),
            lambda: taxes_text(self._quote().more_taxes),
            self._taxes_edit,
            tr("for example PST 7"),
        )
        self._tick(money, tr("Prices include tax"), "prices_include_tax")

    def _quote_value(self, field: str) -> Callable[[], Any]:
        return lambda: getattr(self._quote(), field)

    def _tick(self, form: QFormLayout, title: str, field: str) -> None:
        box = QCheckBox(title)
        box.toggled.connect(lambda on: self._edit(title, self._quote_edit(field)(on)))
        self._setters.append(lambda: box.setChecked(getattr(self._quote(), field)))
        form.addRow(box)

    def _taxes_edit(self, text: str) -> Edit | None:
        taxes = read_taxes(text)
        return None if taxes is None else self._quote_edit("more_taxes")(taxes)

    def _lines(self) -> QWidget:
        """What is said of one part: its tax, and its goods."""
        lines = QFormLayout()
        self.taxed = QComboBox()
        self.taxed.setAccessibleName(tr("Part with a tax of its own"))
        self.taxed.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.taxed.activated.connect(lambda _: self._show_own_tax())
        lines.addRow(tr("Part"), self.taxed)
        self.own_tax = QDoubleSpinBox(decimals=2, minimum=-1, maximum=100)
        self.own_tax.setAccessibleName(tr("Tax of this part"))
        self.own_tax.setSpecialValueText(tr("as the quote"))
        self.own_tax.setSuffix(f"{THIN}%")
        self.own_tax.setKeyboardTracking(False)
        indented(self.own_tax)
        self.own_tax.valueChanged.connect(self._set_own_tax)
        lines.addRow(tr("Tax"), self.own_tax)
        self.goods = GoodsFields(self._session, lambda: self.taxed.currentData() or "", narrowing)
        self.goods.add_to(lines)
        self._setters.append(self._list_taxed)
        return _group(tr("Parts one by one"), lines)

    def _site(self) -> QWidget:
        site = QFormLayout()
        self._number(
            site,
            tr("Wall power"),
            lambda: self._session.rig.site.volts or 0,
            self._site_edit("volts"),
            0,
            500,
            "V",
            tr("not set"),
        )
        self._number(
            site,
            tr("Breaker"),
            lambda: self._session.rig.site.breaker_a or 0,
            self._site_edit("breaker_a"),
            1,
            400,
            "A",
            tr("not set"),
        )
        self._number(
            site,
            tr("Circuits"),
            self._circuits,
            lambda count: Edit("change_site", {"circuits": max(1, count)}),
            0,
            MOST_CIRCUITS,
            "",
            tr("one"),
        )
        self._number(
            site,
            tr("Other devices on this circuit"),
            lambda: self._session.rig.site.other_load_w,
            self._site_edit("other_load_w", 0.0),
            0,
            1e5,
            "W",
            tr("none"),
        )
        return _group(tr("Site"), site)

    def _costs(self) -> QWidget:
        """What years cost."""
        costs = QFormLayout()

        def row(
            name: str,
            value: Callable[[], float],
            edit: Callable[[float], Edit],
            digits: int = 2,
            most: float = 1e7,
            unit: str = "",
        ) -> None:
            self._number(costs, name, value, edit, digits, most, unit, tr("not set"))

        tariff = self._site_price("energy_per_kwh", "own tariff")
        row(tr("Energy"), self._site_amount("energy_per_kwh"), tariff, 4, 100, tr("per kWh"))
        hours = self._site_value("hours_per_day"), self._site_edit("hours_per_day")
        row(tr("Hours of use"), *hours, 1, 24, tr("h per day"))
        row(
            tr("Resale"),
            lambda: self._quote().resale_percent or 0,
            lambda share: self._quote_edit("resale_percent")(share or None),
            *(1, 100, "%"),
        )
        ratio = self._site_value("hire_speed_ratio"), self._site_edit("hire_speed_ratio")
        row(tr("Rig's speed over the cloud instance's"), *ratio, 2, 1e6, "×")
        for field, name in (
            ("hire_per_hour", tr("Rent per hour")),
            ("hire_per_month", tr("Rent per month")),
            ("api_input_per_million", tr("API, million tokens in")),
            ("api_output_per_million", tr("API, million tokens out")),
        ):
            row(name, self._site_amount(field), self._site_price(field, "own offer"))
        row(
            tr("Answers per day"),
            lambda: self._site_value("tokens_per_day")() / 1e6,
            lambda millions: self._site_edit("tokens_per_day")(millions * 1e6),
            most=1e6,
            unit=tr("million tokens"),
        )
        return _group(tr("Costs"), costs)

    def _site_value(self, field: str) -> Callable[[], float]:
        return lambda: getattr(self._session.rig.site, field) or 0

    def _site_amount(self, field: str) -> Callable[[], float]:
        return lambda: _amount(getattr(self._session.rig.site, field))

    def _site_price(self, field: str, source: str) -> Callable[[float], Edit]:
        def made(amount: float) -> Edit:
            day, currency = self._session.today, self._session.rig.currency
            price = (
                Price(amount=amount, currency=currency, day=day, source=source) if amount else None
            )
            return Edit("change_site", {field: price})

        return made

    def _list_taxed(self) -> None:
        chosen = self.taxed.currentData()
        held = [
            (item.uid, part_of(self._session.rig, self._session.catalog, item.part))
            for item in self._session.rig.items
        ]
        names = [(uid, part.name if part else uid) for uid, part in held]
        if [
            (self.taxed.itemData(n), self.taxed.itemText(n)) for n in range(self.taxed.count())
        ] != names:
            self.taxed.clear()
            for uid, name in names:
                self.taxed.addItem(name, uid)
            self.taxed.setCurrentIndex(max(0, self.taxed.findData(chosen)))
        self._show_own_tax()

    def _show_own_tax(self) -> None:
        self.goods.show()
        item = self._session.rig.item(self.taxed.currentData() or "")
        self.own_tax.setEnabled(item is not None)
        self.own_tax.blockSignals(True)
        self.own_tax.setValue(
            item.tax_percent if item is not None and item.tax_percent is not None else -1
        )
        self.own_tax.blockSignals(False)

    def _set_own_tax(self, percent: float) -> None:
        uid = self.taxed.currentData()
        if uid:
            edit = Edit("set_tax", {"uid": uid, "percent": percent if percent >= 0 else None})
            self._edit(tr("Tax of {part}", part=self.taxed.currentText()), edit, merge=f"tax {uid}")

    def _party_boxes(self) -> list[QWidget]:
        boxes = []
        for party, title in (("customer", tr("Customer")), ("seller", tr("Seller"))):
            layout = QFormLayout()
            for field, name in PARTY_FIELDS:
                self._text(
                    layout,
                    tr(name),
                    self._party_value(party, field),
                    self._party_edit(party, field),
                    spoken=f"{title} {tr(name)}",
                )
            if party == "seller":
                self._add_logo(layout)
            boxes.append(_group(title, layout))
        return boxes

    def _add_logo(self, form: QFormLayout) -> None:
        """The picture of the letterhead; a file that cannot be one is refused below the field."""
        self.logo = QLineEdit()
        self.logo.setAccessibleName(tr("Logo"))
        self.logo.setPlaceholderText("PNG, JPEG, SVG")
        self.logo.setMaxLength(4000)
        self.logo.editingFinished.connect(lambda: self.use_logo(self.logo.text().strip()))
        self.logo_note = label("", "small", wrap=True, state="fails")
        self.logo_note.hide()
        form.addRow(
            tr("Logo"),
            panel(
                row(
                    self.logo,
                    icon_button("open", tr("Choose a logo"), self._ask_logo),
                    spacing=4,
                )
            ),
        )
        form.addRow("", self.logo_note)
        self._shown_logo = ""
        self._setters.append(self._show_logo)

    def _show_logo(self) -> None:
        """Show the rig's logo; where it is not printed, say why."""
        logo = self._quote().seller.logo
        if not self.logo.hasFocus():
            self.logo.setText(logo_name(logo))
        if logo != self._shown_logo:
            self._shown_logo = logo
            self._say_logo(logo_fault(logo))

    def _say_logo(self, fault: str) -> None:
        self.logo_note.setText(fault)
        self.logo_note.setVisible(bool(fault))
        restyle(self.logo, "faulty", "true" if fault else "false")

    def _ask_logo(self) -> None:
        ask_file(self, tr("Choose a logo"), lambda path: self.use_logo(str(path)), picture_files())

    def use_logo(self, text: str) -> bool:
        """Take a picture as the seller's logo; say below the field why it cannot be one."""
        used, fault = usable_logo(text, self._quote().seller.logo)
        self._say_logo(fault)
        if fault:
            return False
        if used != self._quote().seller.logo:
            self._edit(tr("Logo"), self._party_edit("seller", "logo")(used))
        return True

    def _text_box(self) -> QWidget:
        texts = QFormLayout()
        self._long(texts, tr("Terms"), lambda: self._quote().terms, self._quote_edit("terms"))
        self._long(texts, tr("Remarks"), lambda: self._quote().remarks, self._quote_edit("remarks"))
        self._long(
            texts,
            tr("Private notes"),
            lambda: self._session.rig.notes,
            lambda text: Edit("set_notes", {"notes": text}),
            tr("Saved with the rig, not printed."),
        )
        return _group(tr("Text"), texts)

    def _quote(self) -> QuoteDetails:
        return self._session.rig.quote

    def _quote_edit(self, field: str) -> Callable[[Any], Edit]:
        return lambda value: Edit("set_quote", {"quote": replace(self._quote(), **{field: value})})

    def _date_edit(self, text: str) -> Edit | None:
        try:
            return self._quote_edit("date")(date.fromisoformat(text).isoformat() if text else None)
        except ValueError:
            return None

    def _currency_edit(self, text: str) -> Edit | None:
        code = text.strip().upper()
        return (
            Edit("set_money", {"currency": code, "budget": self._session.rig.budget})
            if len(code) == 3 and code.isalpha()
            else None
        )

    def _budget_edit(self, amount: float) -> Edit:
        return Edit("set_money", {"currency": self._session.rig.currency, "budget": amount or None})

    def _circuits(self) -> int:
        """How many circuits feed the rig, 0 for the one that goes without saying."""
        count = self._session.rig.site.circuits
        return count if count > 1 else 0

    def _site_edit(self, field: str, empty: float | None = None) -> Callable[[float], Edit]:
        return lambda value: Edit("change_site", {field: value or empty})

    def _party_value(self, party: str, field: str) -> Callable[[], str]:
        return lambda: getattr(getattr(self._quote(), party), field)

    def _party_edit(self, party: str, field: str) -> Callable[[str], Edit]:
        return lambda text: self._quote_edit(party)(
            replace(getattr(self._quote(), party), **{field: text})
        )

    def _text(
        self,
        form: QFormLayout,
        title: str,
        value: Callable[[], str],
        edit: Callable[[str], Edit | None],
        empty: str = "",
        spoken: str = "",
    ) -> None:
        field = QLineEdit()
        field.setAccessibleName(spoken or title)
        field.setPlaceholderText(empty)
        field.setMaxLength(1000)

        def done() -> None:
            if not field.hasFocus():
                field.setCursorPosition(0)
            made = edit(field.text().strip())
            restyle(field, "faulty", "true" if made is None else "false")
            if made is None:
                self._session.tell(
                    tr(
                        '{title}: cannot read "{text}". Write a date as 2026-11-20, a currency as'
                        " EUR.",
                        title=title,
                        text=f"{field.text()[:40]!r}",
                    ),
                    "warning",
                )
            elif field.text().strip() != value():
                self._edit(title, made)

        field.editingFinished.connect(done)

        def show() -> None:
            if not field.hasFocus():
                field.setText(value())
                field.setCursorPosition(0)

        self._setters.append(show)
        form.addRow(title, narrowing(field))

    def _number(
        self,
        form: QFormLayout,
        title: str,
        value: Callable[[], float],
        edit: Callable[[Any], Edit],
        digits: int,
        most: float,
        unit: str,
        empty: str = "",
    ) -> None:
        field: Any = (
            QDoubleSpinBox(decimals=digits, maximum=most) if digits else QSpinBox(maximum=int(most))
        )
        field.setAccessibleName(title)
        field.setKeyboardTracking(False)
        indented(field)
        if unit:
            field.setSuffix(f"{THIN}{unit}")
        if empty:
            field.setSpecialValueText(empty)
        field.valueChanged.connect(lambda number: self._edit(title, edit(number), merge=title))
        self._setters.append(lambda: field.setValue(value() if digits else int(value())))
        form.addRow(title, narrowing(field))

    def _long(
        self,
        form: QFormLayout,
        title: str,
        value: Callable[[], str],
        edit: Callable[[str], Edit],
        empty: str = "",
    ) -> None:
        field = QPlainTextEdit()
        field.setPlaceholderText(empty)
        field.setAccessibleName(title)
        field.setTabChangesFocus(True)
        field.setMaximumHeight(72)
        field.textChanged.connect(
            lambda: self._edit(title, edit(field.toPlainText()[:20_000]), merge=title)
        )
        self._setters.append(
            lambda: (
                None
                if field.hasFocus() or field.toPlainText() == value()
                else field.setPlainText(value())
            )
        )
        form.addRow(title, narrowing(field))

    def _edit(self, name: str, edit: Edit, merge: str = "") -> None:
        if not self._filling:
            self._session.edit(name, edit, merge=f"quote {merge}" if merge else "")

    def fill(self) -> None:
        self._filling = True
        for setter in self._setters:
            setter()
        self._filling = False


def _amount(price: Price | None) -> float:
    return price.amount if price else 0.0


def taxes_text(taxes: tuple[Tax, ...]) -> str:
    """Return further taxes as they are written in the form: "PST 7; levy 2.5"."""
    return "; ".join(f"{tax.name} {tax.percent:g}" for tax in taxes)


def read_taxes(text: str) -> tuple[Tax, ...] | None:
    """Return the further taxes that a text names, each by its name and per cent; None where one
    has no name or no rate from 0 to 100."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, _, rate = part.removesuffix("%").strip().rpartition(" ")
        try:
            percent = float(rate.replace(",", "."))
        except ValueError:
            return None
        if not name.strip() or not 0 <= percent <= 100:
            return None
        found.append(Tax(name=name.strip(), percent=percent))
    return tuple(found)


def narrowing(field: QWidget) -> QWidget:
    """Let a field be as narrow as the room beside its name."""
    field.setSizePolicy(QSizePolicy.Policy.Ignored, field.sizePolicy().verticalPolicy())
    field.setMinimumWidth(row_px() * 4)
    return field


def align_names(forms: list[QFormLayout]) -> None:
    """Give the names of all forms one width, that of the longest within limits; what is longer
    still wraps."""
    items = (
        form.itemAt(n, QFormLayout.ItemRole.LabelRole)
        for form in forms
        for n in range(form.rowCount())
    )
    names = [name for item in items if item is not None and (name := item.widget()) is not None]
    longest = max(name.sizeHint().width() for name in names)
    for name in names:
        if isinstance(name, QLabel):
            name.setWordWrap(True)
        name.setFixedWidth(max(round(row_px() * 3.8), min(longest, round(row_px() * 4.8))))


def _group(title: str, form: QFormLayout) -> QWidget:
    form.setContentsMargins(0, 0, 0, 0)
    form.setSpacing(4)
    return panel(column(label(title.upper(), "section"), form, spacing=4))
