"""Settings: choices of the person that hold at once and for every new rig."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QSpinBox,
    QTabWidget,
    QWidget,
)

from rigplanner.catalog.imports.fetch import allowed
from rigplanner.catalog.prices.exchange import unpublished_among
from rigplanner.catalog.prices.prices import is_currency
from rigplanner.catalog.schema.parts import Price
from rigplanner.desktop.controls.widgets import button, column, indented, label, panel, restyle, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.preferences import OwnRate, Preferences, folder_of, rates_of
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.fade import want_motion
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.quote.logos import picture_files, usable_logo
from rigplanner.desktop.words import outlets
from rigplanner.report.format import use_inches
from rigplanner.report.language import LANGUAGES, tr
from rigplanner.report.quote.logo import logo_name
from rigplanner.rig.countries import USUAL
from rigplanner.rig.edits import Edit

THEMES = (("system", "Follow the system"), ("light", "Light"), ("dark", "Dark"))
CURRENCIES = (
    "USD",
    "EUR",
    "TWD",
    "CZK",
    "GBP",
    "CHF",
    "JPY",
    "CNY",
    "CAD",
    "AUD",
    "INR",
    "KRW",
    "PLN",
    "SEK",
    "BRL",
)
SELLER_FIELDS = (
    ("name", "Name"),
    ("address", "Address"),
    ("contact", "Contact"),
    ("email", "E-mail"),
    ("phone", "Phone"),
    ("tax_id", "Tax number"),
)


class SettingsDialog(QDialog):
    """Every change is taken at once; there is nothing to confirm."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Settings"))
        self.setMinimumWidth(row_px() * 24)
        self._desk, self._store = desk, desk.session.preferences
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(tr("Settings"))
        self.tabs.tabBar().setAccessibleName(tr("Settings"))
        for title, form in (
            (tr("Window"), self._make_window()),
            (tr("New rigs"), self._make_rigs()),
            (tr("Seller"), self._make_seller()),
            (tr("Catalog"), self._make_catalog()),
        ):
            self.tabs.addTab(panel(form), title)
        self.note = label("", "small", wrap=True)
        self.here = button(tr("Use for the open rig too"), self._use_here)
        self.here.setEnabled(desk.session.is_open)
        buttons = row(self.here, 1, button(tr("Close"), self.close, role="primary"))
        self.setLayout(column(self.tabs, self.note, buttons, margins=(16, 12, 16, 12)))

    @property
    def _now(self) -> Preferences:
        return self._store.now

    def _form(self) -> QFormLayout:
        form = QFormLayout()
        form.setContentsMargins(0, 12, 0, 8)
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        return form

    def _choice(
        self,
        form: QFormLayout,
        name: str,
        entries: list[tuple[str, str]],
        now: str,
        take: Callable[[str], object],
    ) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        for code, words in entries:
            box.addItem(words, code)
        box.setCurrentIndex(max(0, box.findData(now)))
        box.activated.connect(lambda _: take(box.currentData()))
        form.addRow(name, box)
        return box

    def _amount(
        self,
        form: QFormLayout,
        name: str,
        now: float | None,
        unit: str,
        take: Callable[[float | None], object],
        decimals: int = 0,
    ) -> QDoubleSpinBox:
        box = QDoubleSpinBox(minimum=0, maximum=1e5, decimals=decimals)
        box.setAccessibleName(name)
        box.setSpecialValueText(tr("not set"))
        box.setSuffix(f"\u202f{unit}")
        box.setKeyboardTracking(False)
        indented(box)
        box.setValue(now or 0.0)
        box.valueChanged.connect(lambda value: take(value or None))
        form.addRow(name, box)
        return box

    def _make_window(self) -> QFormLayout:
        form = self._form()
        self.theme = self._choice(
            form,
            tr("Colours"),
            [(code, tr(words)) for code, words in THEMES],
            self._now.theme,
            self._desk.use_theme,  # type: ignore[arg-type]
        )
        languages = [("", tr("Follow the system")), *LANGUAGES.items()]
        self.language = self._choice(
            form, tr("Language"), languages, self._now.language, self._use_language
        )
        lengths = [("mm", tr("Millimetres")), ("in", tr("Inches"))]
        self.lengths = self._choice(
            form, tr("Lengths"), lengths, self._now.lengths, self._use_lengths
        )
        self.motion = QCheckBox(tr("Fade figures that change"))
        self.motion.setChecked(self._now.motion)
        self.motion.toggled.connect(self._use_motion)
        form.addRow("", self.motion)
        return form

    def _use_lengths(self, unit: str) -> None:
        use_inches(unit == "in")
        self._change_and_show(lengths=unit)
        self._desk.parts.take_catalog()

    def _use_motion(self, on: bool) -> None:
        self._store.change(motion=on)
        want_motion(on)

    def _use_language(self, code: str) -> None:
        self._desk.use_language(code)
        self.close()

    def _make_rigs(self) -> QFormLayout:
        form = self._form()
        currencies = [(code, code) for code in dict.fromkeys((self._now.currency, *CURRENCIES))]
        self.currency = self._choice(
            form, tr("Currency"), currencies, self._now.currency, self._use_currency
        )
        self.currency.setEditable(True)
        if (typed := self.currency.lineEdit()) is not None:
            typed.editingFinished.connect(lambda: self._use_currency(typed.text().strip().upper()))
        form.addRow(tr("Own exchange rate"), self._make_rate())
        self._add_site(form)
        self.price_days = QSpinBox(minimum=1, maximum=3650)
        self.price_days.setAccessibleName(tr("Mark prices as old after"))
        self.price_days.setSuffix(f"\u202f{tr('days')}")
        self.price_days.setValue(self._now.price_days)
        indented(self.price_days)
        self.price_days.valueChanged.connect(lambda days: self._change_and_show(price_days=days))
        form.addRow(tr("Mark prices as old after"), self.price_days)
        return form

    def _add_site(self, form: QFormLayout) -> None:
        """Add the fields of the usual site: country, circuit, energy."""
        site = self._now.site
        countries = [("", tr("not set")), *outlets()]
        self.country = self._choice(
            form, tr("Country"), countries, site.country or "", self._use_country
        )
        self.volts = self._amount(
            form, tr("Wall power"), site.volts, "V", lambda v: self._change_site(volts=v)
        )
        self.amperes = self._amount(
            form, tr("Breaker"), site.breaker_a, "A", lambda v: self._change_site(breaker_a=v)
        )
        tariff = site.energy_per_kwh
        self.tariff = self._amount(
            form,
            tr("Energy price"),
            tariff.amount if tariff else None,
            tr("{currency} per kWh", currency=self._now.currency),
            self._use_tariff,
            3,
        )
        self.hours = self._amount(
            form,
            tr("Hours of use per day"),
            site.hours_per_day,
            "h",
            lambda v: self._change_site(hours_per_day=min(v, 24.0) if v else None),
            1,
        )

    def _make_rate(self) -> QWidget:
        """Return the fields of a rate that the bank does not publish, or of the one that was
        paid."""
        own = self._now.own_rate
        usual = unpublished_among(CURRENCIES) if own is None else [own.code]
        self.rate_of = QComboBox()
        self.rate_of.setAccessibleName(tr("Currency of the own exchange rate"))
        for code in dict.fromkeys((*usual, *CURRENCIES)):
            self.rate_of.addItem(f"1\u202f{code}\u202f=", code)
        self.rate = QDoubleSpinBox(minimum=0, maximum=1e6, decimals=6)
        self.rate.setAccessibleName(tr("Own exchange rate"))
        self.rate.setSpecialValueText(tr("not set"))
        self.rate.setSuffix(f"\u202f{own.currency if own else self._now.currency}")
        self.rate.setKeyboardTracking(False)
        indented(self.rate)
        self.rate.setValue(own.amount if own else 0.0)
        self.rate.valueChanged.connect(self._use_rate)
        self.rate_of.activated.connect(self._use_rate)
        return panel(row(self.rate_of, self.rate))

    def _use_rate(self) -> None:
        """Take the rate in the currency of new rigs; one of that currency itself is none."""
        code, currency, amount = self.rate_of.currentData(), self._now.currency, self.rate.value()
        self.note.setText(
            tr("New rigs count in {currency} already.", currency=code)
            if amount and code == currency
            else ""
        )
        self._store.change(
            own_rate=OwnRate(code, amount, currency) if amount and code != currency else None
        )
        self.rate.setSuffix(f"\u202f{currency}")

    def _change_and_show(self, **fields: object) -> None:
        self._store.change(**fields)
        self._desk.session.refresh()

    def _use_currency(self, code: str) -> None:
        known = is_currency(code)
        restyle(self.currency, "faulty", not known)
        self.note.setText("" if known else tr("A currency has three capital letters, such as EUR."))
        if known and code != self._now.currency:
            tariff = self._now.site.energy_per_kwh
            self._store.change(currency=code)
            self._change_site(energy_per_kwh=replace(tariff, currency=code) if tariff else None)
            self.tariff.setSuffix(f"\u202f{tr('{currency} per kWh', currency=code)}")
            if self._now.own_rate is None:
                self.rate.setSuffix(f"\u202f{code}")

    def _use_country(self, code: str) -> None:
        """Take a country with its usual outlet."""
        volts, amperes = USUAL.get(code, (None, None))
        self._change_site(country=code or None, volts=volts, breaker_a=amperes)
        for box, value in ((self.volts, volts), (self.amperes, amperes)):
            box.blockSignals(True)
            box.setValue(value or 0.0)
            box.blockSignals(False)

    def _use_tariff(self, amount: float | None) -> None:
        now = self._now
        price = (
            Price(
                amount=amount,
                currency=now.currency,
                day=self._desk.session.today,
                source="entered by hand",
            )
            if amount
            else None
        )
        self._change_site(energy_per_kwh=price)

    def _change_site(self, **fields: object) -> None:
        self._store.change(site=replace(self._now.site, **fields))

    def _make_seller(self) -> QFormLayout:
        form = self._form()
        for field, words in SELLER_FIELDS:
            self._line(
                form,
                tr(words),
                getattr(self._now.seller, field),
                lambda text, field=field: self._seller(**{field: text}),  # type: ignore[misc]
            )
        self.logo = self._line(form, tr("Logo"), logo_name(self._now.seller.logo), self._use_logo)
        form.addRow("", panel(row(button(tr("Choose a picture…"), self._ask_logo, "open"), 1)))
        return form

    def _line(
        self, form: QFormLayout, name: str, now: str, take: Callable[[str], object]
    ) -> QLineEdit:
        field = QLineEdit(now)
        field.setAccessibleName(name)
        field.setMaxLength(2000)
        field.editingFinished.connect(lambda: take(field.text().strip()))
        form.addRow(name, field)
        return field

    def _seller(self, **fields: str) -> None:
        self._store.change(seller=replace(self._now.seller, **fields))

    def _use_logo(self, text: str) -> None:
        used, fault = usable_logo(text, self._now.seller.logo)
        restyle(self.logo, "faulty", bool(fault))
        self.note.setText(fault)
        if not fault:
            self._seller(logo=used)
            self.logo.setText(logo_name(used))

    def _ask_logo(self) -> None:
        def take(path: Path) -> None:
            self.logo.setText(str(path))
            self._use_logo(str(path))

        ask_file(self, tr("Choose a picture…"), take, picture_files())

    def _make_catalog(self) -> QFormLayout:
        form = self._form()
        self.folder = self._line(
            form, tr("Own parts and prices"), self._now.catalog_folder, self._use_folder
        )
        self.folder.setPlaceholderText(tr("In your data folder"))
        form.addRow("", panel(row(button(tr("Choose a folder…"), self._ask_folder, "open"), 1)))
        self.url = self._line(form, tr("Update address"), self._now.update_url, self._use_url)
        self.url.setPlaceholderText(tr("https address of a catalog or price file"))
        self.prices = QCheckBox(tr("That file holds prices"))
        self.prices.setChecked(self._now.update_prices)
        self.prices.toggled.connect(lambda on: self._store.change(update_prices=on))
        form.addRow("", self.prices)
        return form

    def _use_folder(self, text: str) -> None:
        if text and not Path(text).is_dir():
            restyle(self.folder, "faulty", True)
            self.note.setText(tr("{path} is not a folder.", path=text[:200]))
            return
        restyle(self.folder, "faulty", False)
        self.note.setText("")
        if text != self._now.catalog_folder:
            self._store.change(catalog_folder=text)
            self._desk.session.shelf.follow(folder_of(text))
            self._desk.session.shelf.reload()

    def _ask_folder(self) -> None:
        def take(path: Path) -> None:
            self.folder.setText(str(path))
            self._use_folder(str(path))

        now = Path(self._now.catalog_folder) if self._now.catalog_folder else None
        ask_file(self, tr("Choose a folder…"), take, wanted="folder", folder=now)

    def _use_url(self, text: str) -> None:
        fine = not text or allowed(text)
        restyle(self.url, "faulty", not fine)
        self.note.setText("" if fine else tr("Only https addresses are fetched."))
        if fine:
            self._store.change(update_url=text)

    def _use_here(self) -> None:
        """Give the open rig the currency, own exchange rate, site and seller of new ones, as one
        step."""
        session, now = self._desk.session, self._now
        site = replace(
            now.site, other_load_w=session.rig.site.other_load_w, room_c=session.rig.site.room_c
        )
        edits = (
            Edit("set_money", {"currency": now.currency, "budget": session.rig.budget}),
            Edit("set_site", {"site": site}),
            Edit("set_quote", {"quote": replace(session.rig.quote, seller=now.seller)}),
            *([Edit("set_exchange", {"exchange": rates_of(now)})] if now.own_rate else []),
        )
        if session.edit(tr("Use the settings of new rigs"), *edits):
            self.note.setText(tr("The open rig now uses these settings."))


def settings_dialog(desk: Desk) -> QDialog:
    """Show the settings over the window."""
    dialog = SettingsDialog(desk)
    give_hints(dialog)
    dialog.open()
    return dialog
