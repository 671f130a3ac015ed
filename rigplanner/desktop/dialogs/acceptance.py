"""Compare with the real one: captures of the delivered machine beside the plan, line by line, with
what a difference costs and what to do next."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHeaderView, QMenu, QPushButton, QTableWidget, QWidget

from rigplanner.asbuilt.acceptance import (
    Acceptance,
    AcceptanceFault,
    accept,
    compared,
    read_acceptance,
)
from rigplanner.asbuilt.burn_in import burn_in_plan
from rigplanner.asbuilt.captures import Capture, read_capture
from rigplanner.asbuilt.collect import collect_here, collect_script
from rigplanner.asbuilt.contribution import contribution, keep_as_anchors
from rigplanner.desktop.controls.tables import fill, plain_table
from rigplanner.desktop.controls.widgets import busy_bar, button, column, label, row, strip
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.exports import ask_export, paper_of, write
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.icons import verdict_icon
from rigplanner.desktop.look.theme import row_px
from rigplanner.errors import WorkloadFault
from rigplanner.report.acceptance.content import Protocol, ProtocolRow, protocol
from rigplanner.report.acceptance.writers import PLANS, PROTOCOLS
from rigplanner.report.forms import form_title
from rigplanner.report.language import tr

TOPIC = "acceptance"
WHAT, COST = 1, 4


class AcceptanceDialog(QDialog):
    """Reads aside; nothing of the rig changes."""

    def __init__(self, parent: QWidget, session: Session) -> None:
        super().__init__(parent.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Compare with the real machine"))
        self.resize(row_px() * 46, row_px() * 26)
        self._session = session
        self.made: Acceptance | None = None
        self._words: Protocol | None = None
        self.head = label(tr("Does the delivered machine keep the promise?"), "large", wrap=True)
        self.note = label(
            tr(
                "Read this computer, or a folder of captures that the collect script made on"
                " another one. Put load on the GPUs meanwhile: links rest when they do."
                " Nothing leaves this computer."
            ),
            "small",
            wrap=True,
        )
        self.progress = busy_bar()
        self.progress.hide()
        self.table = self._make_table()
        self.detail = label("", "", wrap=True)
        self.detail.setMinimumHeight(row_px() * 4)
        self.detail.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setLayout(
            column(
                self.head,
                self.note,
                self._make_sources(),
                self.progress,
                self.table,
                self.detail,
                self._make_keys(),
                margins=(20, 16, 20, 16),
                spacing=10,
            )
        )
        self._enable()

    def _make_table(self) -> QTableWidget:
        heads = (tr("Verdict"), tr("What"), tr("Promised"), tr("Seen"), tr("What it costs"))
        table = plain_table(tr("Promise and machine, line by line"), heads)
        header = table.horizontalHeader()
        header.setStretchLastSection(False)
        for n in range(len(heads)):
            wide = n in (WHAT, COST)
            fit = (
                QHeaderView.ResizeMode.Stretch if wide else QHeaderView.ResizeMode.ResizeToContents
            )
            header.setSectionResizeMode(n, fit)
        table.currentCellChanged.connect(lambda *_: self._show_detail())
        return table

    def _make_sources(self) -> QWidget:
        self.here = button(tr("Read this computer"), self.read_here, "system", "primary")
        self.folder = button(tr("Read a folder…"), self._ask_folder, "open")
        self.script = button(tr("Save the collect script…"), self._ask_script, "save")
        self.plan = button(tr("Burn-in plan"), lambda: self._plan_menu(), "export")
        return strip(row(self.here, self.folder, self.script, self.plan, 1))

    def _make_keys(self) -> QWidget:
        self.save = button(tr("Save the protocol"), lambda: self._protocol_menu(), "export")
        self.since = button(tr("Compare with an earlier one…"), self._ask_earlier, "history")
        self.keep = button(tr("Keep the measured speeds"), self.keep_speeds, "plus")
        close = button(tr("Close"), self.close)
        return strip(row(self.save, self.since, self.keep, 1, close))

    def read_here(self) -> None:
        """Read this computer and compare."""
        self._run(collect_here)

    def _ask_folder(self) -> None:
        ask_file(self, tr("Read a folder…"), self.read_folder, wanted="folder")

    def read_folder(self, folder: Path) -> None:
        """Read the captures in a folder and compare."""
        self._run(lambda: read_capture(folder))

    def _run(self, read: Callable[[], Capture]) -> None:
        assessment, catalog = self._session.assessment, self._session.catalog
        if assessment is None:
            return
        self.made = self._words = None
        self.progress.show()
        self._enable()

        def work(_: object) -> Acceptance:
            return accept(assessment, catalog, read(), self._session.today)

        self._session.tasks.run_task(TOPIC, work, self.show_acceptance, self._fail)

    def show_acceptance(self, made: Acceptance) -> None:
        """Show the lines of an acceptance, worst first within each subject."""
        self.made = made
        self._words = protocol(made, self._session.rig, self._session.catalog)
        self.progress.hide()
        words = self._words
        self.head.setText(words.verdict)
        said = [words.counts, *words.notes]
        if words.since_title:
            said += [words.since_title, *(words.since or (tr("nothing"),))]
        self.note.setText("\n".join(said))
        rows = words.rows
        fill(
            self.table,
            [(line.verdict, line.what, line.promised, line.seen, line.cost) for line in rows],
            tips=[_told(line) for line in rows],
        )
        for n, line in enumerate(rows):
            if (cell := self.table.item(n, 0)) is not None:
                cell.setIcon(verdict_icon(line.state))
        self.table.setCurrentCell(0, 0)
        self._show_detail()
        self._enable()

    def _show_detail(self) -> None:
        rows = self._words.rows if self._words else ()
        at = self.table.currentRow()
        line = rows[at] if 0 <= at < len(rows) else None
        self.detail.setText(_told(line) if line else "")

    def _fail(self, fault: Exception) -> None:
        self.progress.hide()
        self.table.setRowCount(0)
        self.head.setText(tr("Nothing was read"))
        self.note.setText(str(fault))
        self._enable()

    def _enable(self) -> None:
        busy = not self.progress.isHidden()
        known = self._session.assessment is not None
        for key in (self.here, self.folder):
            key.setEnabled(known and not busy)
        self.plan.setEnabled(known)
        for key in (self.save, self.since):
            key.setEnabled(self.made is not None)
        self.keep.setEnabled(self.made is not None and bool(self.made.rates))

    def _ask_script(self) -> None:
        ask_file(
            self,
            tr("Save the collect script…"),
            self.save_script,
            wanted="new file",
            name="collect.sh",
            suffix="sh",
        )

    def save_script(self, path: Path) -> bool:
        """Write the collect script."""
        return write(self._session, path, lambda: collect_script().encode())

    def _protocol_menu(self) -> None:
        self._menu(self.save, tuple(PROTOCOLS), tr("Save the protocol"), self.save_protocol)

    def _plan_menu(self) -> None:
        self._menu(self.plan, tuple(PLANS), tr("Burn-in plan"), self.save_plan)

    def _menu(
        self,
        at: QPushButton,
        forms: tuple[str, ...],
        title: str,
        save: Callable[[Path, str], bool],
    ) -> None:
        menu = QMenu(at)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for form in forms:
            menu.addAction(form_title(form), partial(self._ask, title, form, save))
        menu.popup(at.mapToGlobal(at.rect().bottomLeft()))

    def _ask(self, title: str, form: str, save: Callable[[Path, str], bool]) -> None:
        name = self._session.rig.name
        ask_export(self, self._session, title, name, form, lambda path: save(path, form))

    def save_protocol(self, path: Path, form: str) -> bool:
        """Write the protocol in one of the forms of `PROTOCOLS`."""
        session, made = self._session, self.made
        if made is None:
            return False
        return write(
            session,
            path,
            lambda: PROTOCOLS[form](made, session.rig, session.catalog, paper_of(session)),
        )

    def save_plan(self, path: Path, form: str) -> bool:
        """Write the burn-in plan in one of the forms of `PLANS`."""
        session, assessment = self._session, self._session.assessment
        if assessment is None:
            return False
        made = burn_in_plan(assessment)
        return write(session, path, lambda: PLANS[form](made, paper_of(session)))

    def _ask_earlier(self) -> None:
        ask_file(self, tr("Compare with an earlier one…"), self.compare_with, "JSON (*.json)")

    def compare_with(self, path: Path) -> None:
        """Show what changed since the acceptance in a JSON file."""
        if self.made is None:
            return
        try:
            self.show_acceptance(compared(self.made, read_acceptance(path)))
        except AcceptanceFault as fault:
            self.note.setText(str(fault))

    def keep_speeds(self) -> None:
        """Keep the measured speeds among the user's own anchors."""
        assessment = self._session.assessment
        if self.made is None or assessment is None:
            return
        rows = contribution(assessment, self.made)
        try:
            kept = keep_as_anchors(rows, self.made.day) if rows else None
        except (WorkloadFault, OSError) as fault:
            self.note.setText(str(fault))
            return
        self.note.setText(
            tr("Kept as your own measurements: {path}", path=kept)
            if kept
            else tr("No measured speed has a place in the table.")
        )

    def done(self, result: int) -> None:
        self._session.tasks.cancel(TOPIC)
        super().done(result)


def _told(line: ProtocolRow) -> str:
    """Return where a line was seen, its likely cause and the next step, each on its own line."""
    where = f"{line.what}  [{line.where}]" if line.where else line.what
    source = tr("Source: {source}", source=line.source) if line.source else ""
    return "\n".join(text for text in (where, line.cause, line.step, source) if text)


def acceptance_dialog(desk: Desk) -> AcceptanceDialog:
    """Show the page over the window."""
    dialog = AcceptanceDialog(desk.window(), desk.session)
    give_hints(dialog)
    dialog.open()
    return dialog
