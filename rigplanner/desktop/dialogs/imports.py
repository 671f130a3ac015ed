"""The import dialog: choose a source, see what matched, what did not and why, then keep it."""

from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QTabWidget,
)

from rigplanner.catalog.foreign import Import
from rigplanner.catalog.imports import importing
from rigplanner.catalog.imports.foreign_files import ForeignFault
from rigplanner.catalog.prices.price_list import FIELDS
from rigplanner.catalog.prices.prices import Offers
from rigplanner.catalog.schema.parts import kind_of
from rigplanner.desktop.controls.tables import fill, plain_table
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.preferences import folder_of, rates_of
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.words import KIND_WORDS, money
from rigplanner.report.language import Words, digits, tr
from rigplanner.report.words.importing import refusal_counts, refusal_text, summary
from rigplanner.rig.edits import Edit

SOURCE_WORDS = Words(
    {
        "opendb": "BuildCores OpenDB, a zip or folder: parts",
        "pc-part-dataset": "pc-part-dataset, a file: parts with old prices",
        "coolpc": "Evaluation page of 原價屋, saved: prices in TWD",
        "csv": "CSV: prices",
    }
)
SOURCE_HINTS = Words(
    {
        "opendb": "Choose the zip of the OpenDB repository, or the folder that it unpacks to.",
        "pc-part-dataset": (
            "Choose one file of the dataset, for example video-card.json. Its prices carry no day"
            " of their own."
        ),
        "coolpc": (
            "Save the shop's evaluation page from the browser and choose it here. The European"
            " Central Bank publishes no rate of TWD: rigs in other currencies do not count these"
            " prices unless a rate is given."
        ),
        "csv": "Choose a table with a column for the part and one for the price.",
    }
)
FILTERS = Words(
    {
        "opendb": "OpenDB (*.zip)",
        "pc-part-dataset": "pc-part-dataset (*.json *.jsonl *.csv)",
        "coolpc": "Web page (*.html *.htm *.php)",
        "csv": "CSV (*.csv *.txt)",
    }
)
MOST_ROWS = 500
MOST_SENTENCES = 20_000
TOPIC = "import"
CONFIDENCE_WORDS = Words({"exact": "name and maker", "words": "name only, not kept"})


class ImportDialog(QDialog):
    """Reads aside with progress and Cancel; nothing is written before Keep."""

    _progressed = Signal(int, int)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Import parts or prices"))
        self.resize(row_px() * 32, row_px() * 22)
        self._session: Session = desk.session
        self._place: Path | None = None
        self.made: Import | Offers | None = None
        self.source = QComboBox()
        self.source.setAccessibleName(tr("Source"))
        for key, words in SOURCE_WORDS.items():
            self.source.addItem(words, key)
        self.columns = QLineEdit()
        self.columns.setAccessibleName(tr("Columns of the CSV"))
        self.columns.setPlaceholderText(
            tr(
                "column=field, … where names are unusual; fields: {fields}",
                fields=", ".join(FIELDS),
            )
        )
        self.head = label("", wrap=True)
        self.progress = QProgressBar()
        self.progress.setAccessibleName(tr("Progress"))
        self.matched = plain_table(
            tr("What matched"),
            (tr("Kind"), tr("Part"), tr("Price"), tr("Text in the file"), tr("Matched by")),
        )
        self.counts = plain_table(tr("Rejected lines by reason"), (tr("Count"), tr("Reason")))
        self.refused = QPlainTextEdit(readOnly=True)
        self.refused.setAccessibleName(tr("What was left out, one by one"))
        self.keep_button = button(tr("Import"), self.keep, role="primary")
        self.cancel_button = button(tr("Cancel"), self.cancel)
        self._lay_out()
        self._progressed.connect(self._show_progress)
        self.source.currentIndexChanged.connect(self._show_source)
        self._show_source()
        self._rest()

    def _lay_out(self) -> None:
        tabs = QTabWidget()
        for each in (tabs, tabs.tabBar()):
            each.setAccessibleName(tr("What was read"))
        tabs.addTab(self.matched, tr("Matched"))
        tabs.addTab(self.counts, tr("Left out"))
        tabs.addTab(self.refused, tr("All rejected lines"))
        heads = self.matched.horizontalHeader()
        heads.setStretchLastSection(False)
        for number in range(self.matched.columnCount()):
            fit = (
                QHeaderView.ResizeMode.Stretch
                if number in (1, 3)
                else QHeaderView.ResizeMode.ResizeToContents
            )
            heads.setSectionResizeMode(number, fit)
        self.file_button = button(tr("Choose file…"), self._ask_file, icon="open")
        self.folder_button = button(tr("Choose folder…"), self._ask_folder, icon="open")
        buttons = row(
            self.progress, 1, self.cancel_button, button(tr("Close"), self.close), self.keep_button
        )
        top = row(self.source, self.file_button, self.folder_button, 1)
        self.setLayout(
            column(top, self.columns, self.head, tabs, buttons, margins=(16, 16, 16, 12))
        )

    def _show_source(self) -> None:
        source = self.source.currentData()
        self.columns.setVisible(source == "csv")
        self.folder_button.setVisible(source in importing.PART_SOURCES)
        if self.made is None:
            self.head.setText(
                f"{SOURCE_HINTS[source]}"
                f" {tr('You can review the result before anything is imported.')}"
            )

    def _rest(self) -> None:
        self.progress.hide()
        self.cancel_button.hide()
        self.keep_button.setEnabled(
            self.made is not None and importing.count_to_keep(self.made) > 0
        )

    def _ask_file(self) -> None:
        kinds = tr("{kinds};;All files (*)", kinds=FILTERS[self.source.currentData()])
        ask_file(self, tr("Choose a file"), self.read, kinds)

    def _ask_folder(self) -> None:
        ask_file(self, tr("Choose a folder"), self.read, wanted="folder")

    def read(self, place: Path) -> None:
        """Read a file or folder aside and show what it gives."""
        try:
            day = datetime.fromtimestamp(place.stat().st_mtime, UTC).date().isoformat()
            mapping = dict(_pair(text) for text in self.columns.text().split(",") if text.strip())
        except (OSError, ValueError) as fault:
            self._fail(fault)
            return
        source, index = self.source.currentData(), self._session.index
        options = importing.Options(currency=self._session.rig.currency, mapping=mapping or None)
        progressed = self._progressed

        def work(ticket: Ticket) -> Import | Offers:
            def tell(done: int, total: int) -> bool:
                if not ticket.cancelled:
                    progressed.emit(done, total)
                return not ticket.cancelled

            return importing.read_source(source, place, day, index, options, tell)

        self._place, self.made = place, None
        self._rest()
        self.progress.setRange(0, 0)
        self.progress.show()
        self.cancel_button.show()
        self.head.setText(tr("Reading {name}…", name=place.name))
        self._session.record_now()
        self._session.tasks.run_task(TOPIC, work, self._show, self._fail)

    def _show_progress(self, done: int, total: int) -> None:
        if self._session.tasks.is_busy(TOPIC):
            self.progress.setRange(0, total)
            self.progress.setValue(done)

    def _fail(self, fault: Exception) -> None:
        words = (
            str(fault)
            if isinstance(fault, ForeignFault | ValueError)
            else tr("It cannot be read ({fault}).", fault=fault)
        )
        self.head.setText(words)
        self._rest()

    def _show(self, made: Import | Offers) -> None:
        self.made = made
        rows = _part_rows(made) if isinstance(made, Import) else _offer_rows(made)
        cut = (
            tr(" The first {count} are shown.", count=digits(f"{MOST_ROWS:,}"))
            if len(rows) > MOST_ROWS
            else ""
        )
        self.head.setText(
            tr(
                "{made}; {refused} left out.{cut}",
                made=summary(made),
                refused=digits(f"{len(made.refused):,}"),
                cut=cut,
            )
        )
        fill(self.matched, rows[:MOST_ROWS], numbers=(2,))
        fill(
            self.counts,
            [(digits(f"{count:,}"), text) for count, text in refusal_counts(made.refused)],
            numbers=(0,),
        )
        sentences = [refusal_text(refusal) for refusal in made.refused[:MOST_SENTENCES]]
        more = len(made.refused) - len(sentences)
        self.refused.setPlainText(
            "\n".join(
                [*sentences, tr("... and {more} more", more=digits(f"{more:,}"))]
                if more
                else sentences
            )
        )
        self._rest()

    def cancel(self) -> None:
        """Stop reading; nothing was written."""
        self._session.tasks.cancel(TOPIC)
        self.head.setText(tr("Stopped. Nothing was written."))
        self._rest()

    def keep(self) -> None:
        """Write what was read into the user's catalog."""
        if self.made is None or self._place is None:
            return
        try:
            folder = folder_of(self._session.preferences.now.catalog_folder)
            importing.keep(self.source.currentData(), self._place, self.made, folder=folder)
        except OSError as fault:
            self._fail(fault)
            return
        self._session.tell(tr("Imported: {made}.", made=summary(self.made)))
        self._session.shelf.reload()
        self.close()

    def done(self, result: int) -> None:
        self._session.tasks.cancel(TOPIC)
        super().done(result)


def open_import(desk: Desk) -> ImportDialog:
    """Show the dialog over the window."""
    dialog = ImportDialog(desk)
    give_hints(dialog)
    dialog.open()
    return dialog


def use_rates(desk: Desk) -> None:
    """Count the rig's prices in other currencies by the newest exchange rates that are here, and by
    the person's own one."""
    rates = rates_of(desk.session.preferences.now)
    if desk.session.edit(tr("Set exchange rates"), Edit("set_exchange", {"exchange": rates})):
        desk.session.tell(
            tr(
                "Prices in other currencies count by the rates of {day} ({source}).",
                day=rates.day,
                source=rates.source,
            )
        )


def _pair(text: str) -> tuple[str, str]:
    name, found, field = text.rpartition("=")
    if not found:
        raise ValueError(f"Columns: expected column=field, found {text.strip()!r}.")
    return name.strip(), field.strip()


def _part_rows(made: Import) -> list[tuple[str, ...]]:
    prices = [part.prices[0] if part.prices else None for part in made.parts]
    return [
        (
            KIND_WORDS[kind_of(part)],
            part.name,
            money(price.amount, price.currency) if price else "",
            part.vendor,
            "",
        )
        for part, price in zip(made.parts, prices, strict=True)
    ]


def _offer_rows(made: Offers) -> list[tuple[str, ...]]:
    return [
        (
            KIND_WORDS[offer.kind],
            offer.name,
            money(offer.price.amount, offer.price.currency),
            offer.text,
            CONFIDENCE_WORDS.get(offer.confidence, ""),
        )
        for offer in made.offers
    ]
