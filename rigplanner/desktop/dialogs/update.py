"""Catalog updates: exchange rates, a file of parts or prices, a newer edition of the shipped data,
and an open database of many more parts, fetched aside with progress and Stop."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QProgressBar, QPushButton

from rigplanner.catalog.imports import community, editions
from rigplanner.catalog.imports.fetch import Fetched, FetchFault, GoOn, read_stamp
from rigplanner.catalog.imports.updating import fetch_file, fetch_rates, target
from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import button, column, label, panel, row, rule
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.preferences import folder_of
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.words import age, day
from rigplanner.report.language import digits, tr

TOPIC = "update"


class UpdateDialog(QDialog):
    """Nothing is fetched before a button asks for it; a server that cannot be reached changes
    nothing."""

    _progressed = Signal(int, int)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Update the catalog"))
        self.resize(row_px() * 28, row_px() * 14)
        self._desk, self._session = desk, desk.session
        self._folder = folder_of(self._session.preferences.now.catalog_folder)
        self._rates_state, self._file_state = (
            label("", "small", wrap=True),
            label("", "small", wrap=True),
        )
        self.rates_button = button(
            tr("Fetch"), self.fetch_rates, name=tr("Fetch the exchange rates")
        )
        self.file_button = button(tr("Fetch"), self.fetch_file, name=tr("Fetch parts or prices"))
        self._data_state = label("", "small", wrap=True)
        self.data_button = button(
            tr("Look"), self.look_for_data, name=tr("Look for newer data and a newer program")
        )
        self._found: editions.Index | None = None
        self._more_state = label("", "small", wrap=True)
        self.more_button = button(tr("Get 26,000 more parts"), self.fetch_more)
        self.remove_button = button(tr("Remove them"), self.remove_more)
        self.progress = QProgressBar()
        self.progress.setAccessibleName(tr("Progress"))
        self.progress.setTextVisible(False)
        self.stop_button = button(tr("Stop"), self.stop)
        self.outcome = label("", wrap=True)
        self._lay_out()
        self._progressed.connect(self._show_progress)
        self._show_states()
        self._rest()

    def _lay_out(self) -> None:
        close = button(tr("Close"), self.close)
        self.setLayout(
            column(
                self._line(
                    tr("Exchange rates of the European Central Bank"),
                    self._rates_state,
                    self.rates_button,
                ),
                rule(),
                self._line(
                    tr("Parts or prices from the update address"),
                    self._file_state,
                    self.file_button,
                ),
                rule(),
                self._line(tr("Newer data of RigPlanner"), self._data_state, self.data_button),
                rule(),
                self._line(
                    tr("More parts, of BuildCores OpenDB"),
                    self._more_state,
                    self.more_button,
                    self.remove_button,
                ),
                rule(),
                self.outcome,
                1,
                row(self.progress, self.stop_button, 1, close),
                margins=(20, 16, 20, 16),
                spacing=12,
            )
        )

    def _line(self, title: str, state: QLabel, *presses: QPushButton) -> QHBoxLayout:
        line = row(spacing=16)
        line.addWidget(panel(column(label(title, "strong", wrap=True), state, spacing=2)), 1)
        for press in presses:
            line.addWidget(press, 0, Qt.AlignmentFlag.AlignVCenter)
        return line

    def _show_states(self) -> None:
        rates, today = newest_rates(self._folder), self._session.today
        self._rates_state.setText(
            tr("Rates of {day}, {age} old.", day=day(rates.day), age=age(rates.day, today))
        )
        self._show_more()
        self._show_data()
        now = self._session.preferences.now
        self.file_button.setEnabled(bool(now.update_url))
        if not now.update_url:
            self._file_state.setText(tr("No update address. Set one in Settings > Catalog."))
            return
        stamp = read_stamp(target(now.update_url, now.update_prices, self._folder))
        known = (
            tr("Last fetched {day}.", day=day(stamp.read[:10])) if stamp else tr("Not fetched yet.")
        )
        self._file_state.setText(f"{now.update_url}\n{known}")

    def _show_more(self) -> None:
        stamp = community.status(self._folder)
        terms = tr(
            "State of {day}, {licence}. Figures written by many people, none verified.",
            day=day(community.DAY),
            licence=community.LICENCE,
        )
        known = (
            tr(
                "{n} parts, fetched {day}.",
                n=digits(f"{stamp.parts:,}"),
                day=day(stamp.fetched[:10]),
            )
            if stamp
            else tr("Not here. About 36 MB are fetched from github.com.")
        )
        self._more_state.setText(f"{terms}\n{known}")
        self._more_state.setToolTip(plain(community.NOTICE))
        self.more_button.setVisible(stamp is None)
        self.remove_button.setVisible(stamp is not None)

    def _show_data(self) -> None:
        place, used = editions.shipped_place(), self._session.catalog.version
        if not place.index or not place.public_key:
            said = tr("This edition of the program names no place to look for newer data.")
        else:
            said = tr("In use: {edition}. Nothing is looked for unasked.", edition=used)
        self._data_state.setText(said)

    def look_for_data(self) -> None:
        """Ask what editions there are; on the second press take the one that was found."""
        found, place = self._found, editions.shipped_place()

        def work(ticket: Ticket) -> editions.Index | Path:
            def go_on(_done: int, _all: int | None) -> bool:
                return not ticket.cancelled

            if found is not None:
                return editions.take(found, place.index or "", go_on)
            with TemporaryDirectory() as cache:
                return editions.look(place, Path(cache), go_on)

        self.progress.setRange(0, 0)
        self.outcome.setText(tr("Asking the server…"))
        self._session.tasks.run_task(TOPIC, work, self._looked, self._failed)
        self._rest()

    def _looked(self, found: editions.Index | Path) -> None:
        self._found = None
        self.data_button.setText(tr("Look"))
        if isinstance(found, Path):
            self.outcome.setText(
                tr("Data of {edition} are used from the next start on.", edition=found.name)
            )
        elif editions.newer(found):
            self._found = found
            self.data_button.setText(tr("Take"))
            self.outcome.setText(tr("Data of {edition} are there.", edition=found.edition))
        elif editions.newer_program(found):
            self.outcome.setText(tr("RigPlanner {version} is out.", version=found.program))
        else:
            self.outcome.setText(tr("Data and program are the newest."))
        self._rest()

    def fetch_more(self) -> None:
        """Fetch the open database of parts, prove and convert it."""
        progressed, folder = self._progressed, self._folder

        def work(ticket: Ticket) -> community.Got:
            def go_on(stage: str, done: int, total: int | None) -> bool:
                if not ticket.cancelled:
                    progressed.emit(done if stage == "fetch" else -done - 1, total or 0)
                return not ticket.cancelled

            return community.get(folder, go_on, community.URL, community.SHA256)

        self.progress.setRange(0, 0)
        self.outcome.setText(tr("Asking the server…"))
        self._session.tasks.run_task(TOPIC, work, self._got, self._failed)
        self._rest()

    def remove_more(self) -> None:
        """Take the open database out again."""
        try:
            community.remove(self._folder)
        except OSError as fault:
            self._failed(fault)
            return
        self.outcome.setText(tr("Removed. Rigs that hold such parts keep their figures."))
        self._session.shelf.reload()
        self._show_states()

    def _got(self, got: community.Got) -> None:
        said = tr("{n} more parts are found by their words now.", n=digits(f"{got.stamp.parts:,}"))
        self.outcome.setText(said)
        self._session.shelf.reload()
        self._show_states()
        self._rest()

    def fetch_rates(self) -> None:
        """Fetch the exchange rates."""
        folder = self._folder
        self._fetch(lambda go_on: fetch_rates(go_on, folder))

    def fetch_file(self) -> None:
        """Fetch the file of the update address."""
        now, folder = self._session.preferences.now, self._folder
        self._fetch(lambda go_on: fetch_file(now.update_url, now.update_prices, go_on, folder))

    def _fetch(self, deed: Callable[[GoOn], Fetched]) -> None:
        progressed = self._progressed

        def work(ticket: Ticket) -> Fetched:
            def go_on(done: int, announced: int | None) -> bool:
                if not ticket.cancelled:
                    progressed.emit(done, announced or 0)
                return not ticket.cancelled

            return deed(go_on)

        self.progress.setRange(0, 0)
        self.outcome.setText(tr("Asking the server…"))
        self._session.tasks.run_task(TOPIC, work, self._done, self._failed)
        self._rest()

    def _show_progress(self, done: int, announced: int) -> None:
        if self._session.tasks.is_busy(TOPIC):
            self.progress.setRange(0, announced)
            if done < 0:  # what was received is being read
                self.progress.setValue(min(-done - 1, announced))
                self.outcome.setText(tr("Reading {n} files…", n=digits(f"{announced:,}")))
                return
            self.progress.setValue(min(done, announced))
            self.outcome.setText(tr("{size} KiB received", size=digits(f"{done / 1024:,.0f}")))

    def _done(self, fetched: Fetched) -> None:
        days = fetched.age_days(datetime.now(UTC))
        if fetched.fault:
            self.outcome.setText(
                tr(
                    "{fault} What was fetched {days} days ago stays in use.",
                    fault=fetched.fault,
                    days=f"{days:.0f}",
                )
            )
        elif fetched.changed:
            self.outcome.setText(tr("Updated. The new figures are in use now."))
            self._session.shelf.reload()
        else:
            self.outcome.setText(tr("Nothing has changed since the last time."))
        self._show_states()
        self._rest()

    def _failed(self, fault: Exception) -> None:
        plain_words = isinstance(fault, FetchFault | editions.EditionFault)
        words = str(fault) if plain_words else f"{type(fault).__name__}: {fault}"
        self.outcome.setText(tr("{fault} Nothing was changed.", fault=words))
        self._rest()

    def stop(self) -> None:
        """Stop fetching; everything stays as it was."""
        self._session.tasks.cancel(TOPIC)
        self.outcome.setText(tr("Stopped. Nothing was changed."))
        self._rest()

    def _rest(self) -> None:
        busy = self._session.tasks.is_busy(TOPIC)
        self.progress.setVisible(busy)
        self.stop_button.setVisible(busy)
        self.rates_button.setEnabled(not busy)
        self.file_button.setEnabled(not busy and bool(self._session.preferences.now.update_url))
        place = editions.shipped_place()
        self.data_button.setEnabled(not busy and bool(place.index and place.public_key))
        self.more_button.setEnabled(not busy)
        self.remove_button.setEnabled(not busy)

    def done(self, result: int) -> None:
        self._session.tasks.cancel(TOPIC)
        super().done(result)


def update_dialog(desk: Desk) -> UpdateDialog:
    """Show the dialog over the window."""
    dialog = UpdateDialog(desk)
    give_hints(dialog)
    dialog.open()
    return dialog
