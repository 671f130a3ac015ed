"""Read this machine: what the computer says of itself, what the catalog knows of it, and the rig of
that."""

import sys
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHeaderView

from rigplanner.desktop.controls.tables import fill, plain_table
from rigplanner.desktop.controls.widgets import busy_bar, button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.preferences import with_wishes
from rigplanner.desktop.documents import take_rig
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.words import KIND_WORDS
from rigplanner.machine.formats.captured import said_in_file
from rigplanner.machine.formats.facts import Fact
from rigplanner.machine.formats.nccl_beside import beside
from rigplanner.machine.formats.nccl_log import NcclRun
from rigplanner.machine.this_machine import Recognised, read_this_machine, recognise
from rigplanner.report.language import Words, tr
from rigplanner.report.words.machine import beside_cells, run_lines

TOPIC = "this machine"
WHY_NOT = Words(
    {
        "memory": "not added: only the total size is known, not the modules",
        "system": "not in the catalog; its board is looked up instead",
        "": "not in the catalog by this name",
    }
)


class MachineDialog(QDialog):
    """Reads aside; nothing becomes a rig before the button."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Read this machine"))
        self.resize(row_px() * 38, row_px() * 16)
        self._desk, self._session = desk, desk.session
        self.found: Recognised | None = None
        self.head = label(tr("Reading the hardware of this computer…"), "large", wrap=True)
        self.note = label(
            tr(
                "Processor, board, drives and cards, from the system's own files and nvidia-smi."
                " Nothing leaves this computer."
            ),
            "small",
            wrap=True,
        )
        self.progress = busy_bar()
        self.table = plain_table(
            tr("What was found"), (tr("Kind"), tr("Reported by the system"), tr("In the rig"))
        )
        heads = self.table.horizontalHeader()
        heads.setStretchLastSection(False)
        for n in range(self.table.columnCount()):
            fit = (
                QHeaderView.ResizeMode.Stretch
                if n == 1
                else QHeaderView.ResizeMode.ResizeToContents
            )
            heads.setSectionResizeMode(n, fit)
        self.take = button(tr("Open this rig"), self.open_rig, "new", "primary")
        self.take.setEnabled(False)
        keys = row(
            button(tr("Read a captured text…"), self._ask_text, "open"),
            1,
            self.take,
            button(tr("Close"), self.close),
        )
        self.setLayout(
            column(
                self.head,
                self.note,
                self.progress,
                self.table,
                keys,
                margins=(20, 16, 20, 16),
                spacing=10,
            )
        )
        self._run(read_this_machine)

    def _ask_text(self) -> None:
        """Ask for what another machine says of itself."""
        ask_file(self, tr("Read a captured text…"), self.read_text)

    def read_text(self, path: Path) -> None:
        """Read the output of nvidia-smi -q or lspci -tv, or an hwloc XML file, of another machine,
        or a log of NCCL."""
        self.note.setText(tr("From {name}, as captured on another machine.", name=path.name[:100]))
        self._run(lambda: said_in_file(path))

    def _run(self, read: Callable[[], tuple[Fact, ...] | NcclRun]) -> None:
        catalog = self._session.catalog
        self.found = None
        self.take.setEnabled(False)
        self.progress.show()

        def work(_: object) -> tuple[tuple[Fact, ...], Recognised] | NcclRun:
            said = read()
            return said if isinstance(said, NcclRun) else (said, recognise(said, catalog))

        def show(answer: tuple[tuple[Fact, ...], Recognised] | NcclRun) -> None:
            if isinstance(answer, NcclRun):
                self.show_run(answer)
            else:
                self.show_found(*answer)

        self._session.tasks.run_task(TOPIC, work, show, self._fail)

    def show_run(self, run: NcclRun) -> None:
        """Show what NCCL found, beside what is predicted for the open rig."""
        self.progress.hide()
        assessment = self._session.assessment if self._session.is_open else None
        said = beside(assessment.machine, run) if assessment is not None else ()
        fill(self.table, [beside_cells(one) for one in said])
        for n, one in enumerate(said):
            cell = self.table.item(n, 2)
            if not one.agrees and cell is not None:
                cell.setForeground(look.tokens.color("fails"))
        as_predicted = sum(one.agrees for one in said)
        head = tr(
            "NCCL: {known} of {all} as predicted for the open rig",
            known=as_predicted,
            all=len(said),
        )
        self.head.setText(head if said else tr("No rig is open that NCCL could be compared with"))
        self.note.setText("\n".join(run_lines(run)))

    def show_found(self, facts: tuple[Fact, ...], found: Recognised) -> None:
        """Show what was found and what became of it."""
        self.found = found
        self.progress.hide()
        missing = [id(fact) for fact in found.unmatched]
        items = iter(found.rig.items)
        whole = any(item.uid.startswith("system") for item in found.rig.items)
        rows: list[tuple[str, str, str]] = []
        for fact in facts:
            said = " · ".join(
                t
                for t in (
                    f"{fact.count} × {fact.name}" if fact.count > 1 else fact.name,
                    fact.detail,
                )
                if t
            )
            if id(fact) in missing:
                became = WHY_NOT.get(fact.kind) or WHY_NOT[""]
            elif whole and fact.kind == "motherboard":
                became = tr("part of the system")
            else:
                part = self._session.catalog.get(next(items).part)
                became = part.name if part else ""
            rows.append((KIND_WORDS[fact.kind], said[:200], became))
        fill(self.table, rows)
        for n, fact in enumerate(facts):
            cell = self.table.item(n, 2)
            if id(fact) in missing and cell is not None:
                cell.setForeground(look.tokens.color("soft"))
        known = len(facts) - len(missing)
        self.head.setText(
            tr("{known} of {all} parts were found in the catalog", known=known, all=len(facts))
        )
        if not facts:
            self.head.setText(tr("No hardware information found"))
            self.note.setText(
                tr(
                    "Reading needs Linux with /proc and /sys; here runs {system}.",
                    system=sys.platform,
                )
            )
        self.take.setEnabled(bool(found.rig.items))

    def _fail(self, fault: Exception) -> None:
        self.progress.hide()
        self.table.setRowCount(0)
        self.head.setText(tr("Nothing was read"))
        self.note.setText(str(fault))

    def open_rig(self) -> None:
        """Show the rig, unsaved, with what was not recognised in its notes."""
        if self.found is None:
            return
        session = self._session
        absent = "\n".join(
            tr(
                "Not in the catalog: {fact}",
                fact=f"{fact.count} × {fact.name} {fact.detail}".strip(),
            )
            for fact in self.found.unmatched
        )
        rig = replace(
            with_wishes(self.found.rig, session.preferences.now),
            name=tr("This machine"),
            notes=absent,
        )
        take_rig(session, rig, tr("Read this machine"))
        self._desk.show_first_item()
        self.close()

    def done(self, result: int) -> None:
        self._session.tasks.cancel(TOPIC)
        super().done(result)


def machine_dialog(desk: Desk) -> MachineDialog:
    """Show the dialog over the window."""
    dialog = MachineDialog(desk)
    give_hints(dialog)
    dialog.open()
    return dialog
