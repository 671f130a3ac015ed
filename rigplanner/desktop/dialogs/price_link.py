"""Paste a link: the price that a page states for machines, read aside and kept for a part."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit

from rigplanner.catalog.imports.fetch import FetchFault
from rigplanner.catalog.imports.price_link import Linked, keep_link, read_link
from rigplanner.catalog.schema.parts import Part
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.preferences import folder_of
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.words import day, money
from rigplanner.report.language import Words, tr

TOPIC = "price-link"
AVAILABLE = Words(
    {
        "in stock": "in stock",
        "out of stock": "out of stock",
        "to order": "to order",
        "unknown": "stock unknown",
    }
)
CONDITIONS = Words(
    {"new": "new", "used": "used", "refurbished": "refurbished", "launch": "launch price"}
)


class PriceLinkDialog(QDialog):
    """Asks one page, shows what it states and for which part, and keeps nothing before Keep."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Paste a link to a price"))
        self.resize(row_px() * 26, row_px() * 9)
        self._session = desk.session
        self._folder = folder_of(self._session.preferences.now.catalog_folder)
        self.linked: Linked | None = None
        self.part: Part | None = None
        self.address = QLineEdit()
        self.address.setAccessibleName(tr("Address of the product's page"))
        self.address.setPlaceholderText("https://")
        clipped = QApplication.clipboard().text().strip()
        if clipped.startswith("https://") and len(clipped.split()) == 1:
            self.address.setText(clipped)
        self.words = QLineEdit()
        self.words.setAccessibleName(tr("Part, by words"))
        self.words.setPlaceholderText(tr("Part, by words; else the name on the page"))
        self.outcome = label(
            tr("One page is asked, once a day at most, where the shop lets programs read."),
            wrap=True,
        )
        self.read_button = button(tr("Read the price"), self.read)
        self.keep_button = button(tr("Keep"), self.keep, role="primary")
        buttons = row(1, button(tr("Close"), self.close), self.read_button, self.keep_button)
        self.setLayout(
            column(
                self.address,
                self.words,
                self.outcome,
                1,
                buttons,
                margins=(20, 16, 20, 16),
                spacing=12,
            )
        )
        self.address.returnPressed.connect(self.read)
        self._rest()

    def read(self) -> None:
        """Ask the page aside."""
        url, index = self.address.text().strip(), self._session.index

        def work(ticket: Ticket) -> Linked:
            return read_link(url, index, lambda _done, _all: not ticket.cancelled)

        self.linked = self.part = None
        self.outcome.setText(tr("Asking the shop…"))
        self._session.tasks.run_task(TOPIC, work, self._read, self._failed)
        self._rest()

    def _read(self, linked: Linked) -> None:
        words = self.words.text().strip()
        named = next(iter(self._session.index.find(words, limit=1)), None) if words else None
        self.linked, self.part = linked, named or linked.part
        price = linked.price
        said = tr(
            "{price}, {condition}, {stock}, {day}: {name}",
            price=money(price.amount, price.currency),
            condition=CONDITIONS[price.condition],
            stock=AVAILABLE[linked.offer.availability],
            day=day(price.day),
            name=linked.offer.name,
        )
        part = (
            tr("It is kept for {part}.", part=self.part.name)
            if self.part
            else tr("No part of the catalog is named so: say which above and read again.")
        )
        self.outcome.setText(f"{said}\n{part}")
        self._rest()

    def _failed(self, fault: Exception) -> None:
        words = str(fault) if isinstance(fault, FetchFault) else f"{type(fault).__name__}: {fault}"
        self.outcome.setText(tr("{fault} Nothing was changed.", fault=words))
        self._rest()

    def keep(self) -> None:
        """Keep the price and use it."""
        if self.linked is None or self.part is None:
            return
        try:
            keep_link(self.linked, self.part, self._folder)
        except OSError as fault:
            self._failed(fault)
            return
        self._session.shelf.reload()
        self.outcome.setText(tr("Kept for {part}.", part=self.part.name))
        self.linked = None
        self._rest()

    def _rest(self) -> None:
        busy = self._session.tasks.is_busy(TOPIC)
        self.read_button.setEnabled(not busy)
        self.keep_button.setEnabled(not busy and self.linked is not None and self.part is not None)

    def done(self, result: int) -> None:
        self._session.tasks.cancel(TOPIC)
        super().done(result)


def price_link_dialog(desk: Desk) -> PriceLinkDialog:
    """Show the dialog over the window."""
    dialog = PriceLinkDialog(desk)
    give_hints(dialog)
    dialog.open()
    return dialog


def ask_page(desk: Desk, url: str) -> PriceLinkDialog:
    """Show the dialog with the address of a page that was dropped or pasted; nothing is asked
    before Read."""
    dialog = price_link_dialog(desk)
    dialog.address.setText(url)
    return dialog
