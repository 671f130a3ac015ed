"""The Quote tab: what the quote needs to know at the left, the very bytes that will be saved at the right."""

from collections.abc import Callable
from datetime import date
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QTimer, Signal
from PySide6.QtGui import QPalette, QShowEvent
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QFormLayout, QLineEdit, QPlainTextEdit, QSpinBox, QSplitter, QWidget

from rigplanner.desktop.change import Change
from rigplanner.desktop.session import Session
from rigplanner.desktop.theme import look, row_px
from rigplanner.desktop.widgets import button, column, indented, label, panel, restyle, row, scrolled, strip
from rigplanner.report.language import tr
from rigplanner.rig.document import QuoteDetails
from rigplanner.rig.edits import Edit

PREVIEW_DELAY_MS = 250
CURRENCIES = ("USD", "EUR", "GBP", "TWD", "CZK", "JPY", "CHF", "CNY")
PARTY_FIELDS = (
    ("name", "Name"),
    ("address", "Address"),
    ("contact", "Contact"),
    ("email", "E-mail"),
    ("phone", "Phone"),
    ("tax_id", "Tax id"),
)


class QuoteView(QWidget):
    """`save_asked` asks for a file name."""

    save_asked = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._filling = False
        self._setters: list[Callable[[], None]] = []
        self._buffer: QBuffer | None = None
        self.content: bytes | None = None
        self._view: Any = None
        self._document: Any = None
        form = panel(column(*self._make_forms(), 1, margins=(12, 8, 12, 8), spacing=8))
        self.note = label("", wrap=True)
        self._note = panel(column(self.note, margins=(16, 16, 16, 16)))
        self._page = column(self._note, spacing=0)
        self.save = button(tr("Save as PDF…"), self.save_asked.emit, "quote", "primary")
        self.pages = label("", "small")
        head = row(self.save, self.pages, 1, margins=(12, 6, 12, 6))
        split = QSplitter()
        split.addWidget(scrolled(form, tr("Details of the quote")))
        split.addWidget(panel(column(strip(head), panel(self._page), spacing=0)))
        split.setSizes([290, 560])
        split.setChildrenCollapsible(False)
        self.setLayout(column(split))
        self._delay = QTimer(self, singleShot=True, interval=PREVIEW_DELAY_MS)
        self._delay.timeout.connect(self._make)
        session.rig_changed.connect(self._rig_changed)
        self._fill()

    def _make_forms(self) -> list[QWidget]:
        rig, money, site = QFormLayout(), QFormLayout(), QFormLayout()
        self._text(
            rig, tr("Rig name"), lambda: self._session.rig.name, lambda text: Edit("rename", {"name": text or tr("Untitled rig")})
        )
        self._text(rig, tr("Quote number"), lambda: self._quote().number, self._quote_edit("number"))
        self._text(rig, tr("Date"), lambda: self._quote().date or "", self._date_edit, tr("today"))
        self._number(rig, tr("Valid"), lambda: self._quote().valid_days, self._quote_edit("valid_days"), 0, 3650, tr("days"))
        self._text(money, tr("Currency"), lambda: self._session.rig.currency, self._currency_edit)
        self._number(money, tr("Budget"), lambda: self._session.rig.budget or 0, self._budget_edit, 2, 1e9, "", tr("none"))
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
        self._number(
            money,
            tr("Discount"),
            lambda: self._quote().discount_percent,
            self._quote_edit("discount_percent"),
            2,
            100,
            "%",
            tr("none"),
        )
        included = QCheckBox(tr("Prices include tax"))
        included.toggled.connect(lambda on: self._edit(tr("Prices include tax"), self._quote_edit("prices_include_tax")(on)))
        self._setters.append(lambda: included.setChecked(self._quote().prices_include_tax))
        money.addRow(included)
        self._number(
            site, tr("Mains"), lambda: self._session.rig.site.volts or 0, self._site_edit("volts"), 0, 500, "V", tr("not set")
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
            tr("Other load"),
            lambda: self._session.rig.site.other_load_w,
            self._site_edit("other_load_w", 0.0),
            0,
            1e5,
            "W",
            tr("none"),
        )
        boxes = [_group("QUOTE", rig), _group("MONEY", money), _group("SITE", site)]
        return boxes + self._party_boxes() + [self._text_box()]

    def _party_boxes(self) -> list[QWidget]:
        boxes = []
        for party, title in (("customer", "CUSTOMER"), ("seller", "SELLER")):
            layout = QFormLayout()
            for field, name in PARTY_FIELDS:
                self._text(
                    layout,
                    name,
                    self._party_value(party, field),
                    self._party_edit(party, field),
                    spoken=f"{title.capitalize()} {name}",
                )
            boxes.append(_group(title, layout))
        return boxes

    def _text_box(self) -> QWidget:
        texts = QFormLayout()
        self._long(texts, tr("Terms"), lambda: self._quote().terms, self._quote_edit("terms"))
        self._long(texts, tr("Remarks"), lambda: self._quote().remarks, self._quote_edit("remarks"))
        return _group("TEXT", texts)

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
            Edit("set_money", {"currency": code, "budget": self._session.rig.budget}) if len(code) == 3 and code.isalpha() else None
        )

    def _budget_edit(self, amount: float) -> Edit:
        return Edit("set_money", {"currency": self._session.rig.currency, "budget": amount or None})

    def _site_edit(self, field: str, empty: float | None = None) -> Callable[[float], Edit]:
        return lambda value: Edit("change_site", {field: value or empty})

    def _party_value(self, party: str, field: str) -> Callable[[], str]:
        return lambda: getattr(getattr(self._quote(), party), field)

    def _party_edit(self, party: str, field: str) -> Callable[[str], Edit]:
        return lambda text: self._quote_edit(party)(replace(getattr(self._quote(), party), **{field: text}))

    def _text(self, form: QFormLayout, title: str, value: Callable[[], str], edit: Callable[[str], Edit | None], empty: str = "",
              spoken: str = "") -> None:  # fmt: skip
        field = QLineEdit()
        field.setAccessibleName(spoken or title)
        field.setPlaceholderText(empty)
        field.setMaxLength(1000)

        def done() -> None:
            made = edit(field.text().strip())
            restyle(field, "faulty", "true" if made is None else "false")
            if made is None:
                self._session.tell(
                    tr(
                        "{title}: {text} is not understood. A date is written 2026-11-20, a currency EUR.",
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
        form.addRow(title, field)

    def _number(
        self, form: QFormLayout, title: str, value: Callable[[], float], edit: Callable[[Any], Edit], digits: int, most: float,
        unit: str, empty: str = "",
    ) -> None:  # fmt: skip
        field: Any = QDoubleSpinBox(decimals=digits, maximum=most) if digits else QSpinBox(maximum=int(most))
        field.setAccessibleName(title)
        field.setKeyboardTracking(False)
        indented(field)
        if unit:
            field.setSuffix(f"\u202f{unit}")
        if empty:
            field.setSpecialValueText(empty)
        field.valueChanged.connect(lambda number: self._edit(title, edit(number), merge=title))
        self._setters.append(lambda: field.setValue(value() if digits else int(value())))
        form.addRow(title, field)

    def _long(self, form: QFormLayout, title: str, value: Callable[[], str], edit: Callable[[str], Edit]) -> None:
        field = QPlainTextEdit()
        field.setAccessibleName(title)
        field.setTabChangesFocus(True)
        field.setMaximumHeight(72)
        field.textChanged.connect(lambda: self._edit(title, edit(field.toPlainText()[:20_000]), merge=title))
        self._setters.append(lambda: None if field.hasFocus() or field.toPlainText() == value() else field.setPlainText(value()))
        form.addRow(title, field)

    def _edit(self, name: str, edit: Edit, merge: str = "") -> None:
        if not self._filling:
            self._session.edit(name, edit, merge=f"quote {merge}" if merge else "")

    def _fill(self) -> None:
        self._filling = True
        for setter in self._setters:
            setter()
        self._filling = False

    def _rig_changed(self, _: Change) -> None:
        self._fill()
        if self.isVisible():
            self._delay.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._delay.start()

    def _make(self) -> None:
        """Make the quote's bytes aside from the window."""
        session = self._session
        if session.pending:
            return
        assessment = session.assessment if session.is_open else None
        self.save.setEnabled(assessment is not None)
        if assessment is None:
            self._say(session.fault or tr("Open or start a rig to see its quote."))
            return
        catalog, today = session.catalog, date.fromisoformat(session.today)

        def work(_: object) -> bytes:
            from rigplanner.report.quote_pdf import quote_pdf

            return quote_pdf(assessment, catalog, today)

        session.tasks.run_task(
            "quote", work, self._show, lambda fault: self._say(tr("The quote could not be made: {fault}", fault=fault))
        )

    def _tone(self) -> None:
        """Give the space around the pages the colour of a raised surface."""
        tones = self._view.palette()
        tones.setColor(QPalette.ColorRole.Dark, look.tokens.color("raised"))
        self._view.setPalette(tones)

    def _say(self, text: str) -> None:
        self.note.setText(text)
        self._note.show()
        if self._view is not None:
            self._view.hide()

    def _show(self, content: bytes) -> None:
        """Show a PDF; the place in it that is read stays."""
        from PySide6.QtPdf import QPdfDocument
        from PySide6.QtPdfWidgets import QPdfView

        if self._view is None:
            self._document = QPdfDocument(self)
            self._view = QPdfView(self)
            self._view.setAccessibleName(tr("Preview of the quote"))
            self._view.setDocument(self._document)
            self._tone()
            look.look_changed.connect(self._tone)
            self._view.setPageMode(QPdfView.PageMode.MultiPage)
            self._view.setZoomMode(QPdfView.ZoomMode.FitToWidth)
            self._page.addWidget(self._view)
        at = self._view.verticalScrollBar().value()
        self.content = content
        self._document.close()
        self._buffer = QBuffer(self)
        self._buffer.setData(QByteArray(content))
        self._buffer.open(QIODevice.OpenModeFlag.ReadOnly)
        self._document.load(self._buffer)
        self._view.verticalScrollBar().setValue(at)
        count = self._document.pageCount()
        self.pages.setText(
            tr(
                "Pages: {count}, size: {kilobytes} kB. The preview shows the bytes that are saved.",
                count=count,
                kilobytes=len(content) // 1024,
            )
        )
        self._note.hide()
        self._view.show()


def _group(title: str, form: QFormLayout) -> QWidget:
    form.setContentsMargins(0, 0, 0, 0)
    form.setSpacing(4)
    for line in range(form.rowCount()):
        item = form.itemAt(line, QFormLayout.ItemRole.LabelRole)
        if item is not None and (name := item.widget()) is not None:
            name.setFixedWidth(round(row_px() * 3.8))
    return panel(column(label(title, "section"), form, spacing=4))
