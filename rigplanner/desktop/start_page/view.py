"""The Start tab: ways to a rig (guide, new, this machine, a file, a pasted list), samples, recent
files, edits that were left."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QPlainTextEdit, QVBoxLayout, QWidget

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.data import sample_files
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    button,
    clear,
    column,
    icon_button,
    label,
    panel,
    row,
    scrolled,
)
from rigplanner.desktop.document.preferences import with_wishes
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import PAINTED_MS
from rigplanner.desktop.documents import take_rig
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.start_page.cards import Card, OneLine, SampleCard, Tile
from rigplanner.desktop.start_page.left_edits import LeftEdits
from rigplanner.desktop.start_page.rig_sketch import Sketch
from rigplanner.desktop.words import shortened
from rigplanner.errors import TooLarge
from rigplanner.path_text import path_of
from rigplanner.report.language import tr
from rigplanner.rig import journal
from rigplanner.rig.document import Rig, part_of
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.whole_file import read_within

if TYPE_CHECKING:
    from rigplanner.rig.from_text.parts_list import Entry

COLUMNS = 4
"""Tiles stand in four columns; samples take the first three, recent files and the parts list the
last."""
LARGEST_LIST_BYTES = 2**20
LONGEST_AT_ONCE = 2_000
"""Characters of a list that is read before the window goes on; a longer one is read aside."""
MOST_RECENT_SHOWN = 8
MOST_RESTORED = 3
TILES = (
    (
        "best",
        "Find the best rig",
        "Say what it is for and what it may cost: the best of all rigs, with proof.",
        "question",
    ),
    (
        "new",
        "New rig",
        "Pick parts and see what works, what fits and how fast it runs.",
        "new",
    ),
    (
        "machine",
        "Read this machine",
        "Start from the parts of this computer.",
        "system",
    ),
    ("open", "Open…", "Open a rig file, or drop one here.", "open"),
)


class StartView(QWidget):
    """`file_asked` carries a path and whether it is a sample, `command_asked` the id of a command,
    `locate_asked` a lost file. `rig_made` tells that a pasted list became the rig,
    `rig_restored` that edits that were left are open again."""

    file_asked = Signal(Path, bool)
    command_asked = Signal(str)
    locate_asked = Signal(str)
    rig_made = Signal()
    rig_restored = Signal()

    def __init__(self, session: Session, journals: Path | None = None) -> None:
        super().__init__()
        self._session, self._journals = session, journals
        self._tiles: list[Tile] = []
        self._samples: list[tuple[SampleCard, Path]] = []
        self._judged_by: Catalog | None = None
        self._restore, self._recent = column(spacing=8), column(spacing=2)
        self._tour = column()
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        for n in range(COLUMNS):
            self._grid.setColumnStretch(n, 1)
            self._grid.setColumnMinimumWidth(n, row_px() * 7)
        self._make_tiles()
        self._make_samples()
        head = column(
            label(tr("What do you want to build?"), "large"),
            label(
                tr(
                    "Plan it, check it, see what it runs and what it costs, and print the quote."
                    " Nothing needs an account."
                ),
                "small",
            ),
            spacing=2,
        )
        page = column(head, self._restore, self._tour, margins=(24, 16, 24, 16), spacing=12)
        page.addLayout(self._grid, 1)
        self.setLayout(column(scrolled(panel(page), tr("Start"))))
        self._show_tour()
        self._show_recent()
        self._show_restore()
        session.document_changed.connect(self._show_recent)
        session.catalog_changed.connect(self._judge)
        look.look_changed.connect(self._repaint)

    def _make_tiles(self) -> None:
        for n, (command, title, note, icon) in enumerate(TILES):
            tile = Tile(tr(title), tr(note), icon)
            tile.clicked.connect(lambda command=command: self.command_asked.emit(command))
            self._tiles.append(tile)
            self._grid.addWidget(tile, 0, n)

    def _make_samples(self) -> None:
        self._grid.addWidget(_section(tr("Samples")), 1, 0, 1, COLUMNS - 1)
        self._grid.addWidget(_section(tr("Recent")), 1, COLUMNS - 1)
        readable = [(path, rig) for path in sample_files() if (rig := _read(path)) is not None]
        if not readable:
            self._grid.addWidget(
                label(tr("No samples came with this installation."), "small"), 2, 0, 1, COLUMNS - 1
            )
        for n, (path, rig) in enumerate(readable):
            card = SampleCard(*describe(rig, self._session))
            card.clicked.connect(lambda path=path: self.file_asked.emit(path, True))
            self._samples.append((card, path))
            self._grid.addWidget(card, 2 + n // (COLUMNS - 1), n % (COLUMNS - 1))
        rows = max(1, -(-len(readable) // (COLUMNS - 1)))
        side = column(self._recent, _section(tr("Parts list")), *self._make_paste(), spacing=8)
        self._grid.addLayout(side, 2, COLUMNS - 1, rows, 1)
        for n in range(rows):
            self._grid.setRowStretch(2 + n, 1)

    def _make_paste(self) -> tuple[QWidget, ...]:
        self.paste = QPlainTextEdit()
        self.paste.setPlaceholderText(
            tr("One part per line, for example\n2x RTX 3090\nRyzen 9 5950X\n4x 32 GB DDR4-3200")
        )
        self.paste.setAccessibleName(tr("Parts list, one part per line"))
        self.paste.setTabChangesFocus(True)
        self.paste.setMinimumHeight(row_px() * 4)
        self.unmatched = label("", "small", wrap=True)
        self.unmatched.hide()
        self._make_list = button(tr("Create rig"), self.make_from_list, "paste")
        self._cancel_list = button(tr("Cancel"), self.cancel_list)
        self._cancel_list.hide()
        return self.paste, self.unmatched, panel(row(self._make_list, self._cancel_list, 1))

    def focus_paste(self) -> None:
        """Put the cursor into the field for a parts list."""
        self.paste.setFocus()

    def read_list(self, path: Path) -> None:
        """Put the text of a file, or of a workbook that we exported, into the field for a parts
        list, and make a rig of it."""
        from rigplanner.rig.from_text.workbook_list import parts_list_of_workbook

        try:
            content = read_within(path, LARGEST_LIST_BYTES)
            text = (
                parts_list_of_workbook(content)
                if path.suffix.casefold() == ".xlsx"
                else content.decode("utf-8", "replace")
            )
        except ValueError as fault:
            self._say_unmatched(tr("{name}: {fault}.", name=path.name, fault=fault))
            return
        except OSError as fault:
            self._say_unmatched(
                tr(
                    "{path} cannot be read ({reason}).",
                    path=path,
                    reason=fault.strerror or str(fault),
                )
            )
            return
        self.paste.setPlainText(text)
        self.make_from_list()

    def make_from_list(self) -> None:
        """Start a rig with the best match of each line; lines without a match stay in the field. A
        long list is read aside and may be cancelled."""
        from rigplanner.rig.from_text.parts_list import read_parts_list

        text, index, today = self.paste.toPlainText(), self._session.index, self._session.today
        if len(text) > LONGEST_AT_ONCE:
            self._reading(True)
            self._session.tasks.run_task(
                "list",
                lambda _: read_parts_list(text, index, today),
                self._take_entries,
                self._refuse_list,
            )
            return
        try:
            entries = read_parts_list(text, index, today)
        except ValueError as fault:
            self._say_unmatched(str(fault))
            return
        self._take_entries(entries)

    def cancel_list(self) -> None:
        """Read a list no further."""
        self._session.tasks.cancel("list")
        self._reading(False)
        self._say_unmatched(tr("Stopped."))

    def _reading(self, now: bool) -> None:
        self._make_list.setVisible(not now)
        self._cancel_list.setVisible(now)
        if now:
            self._say_unmatched(tr("Reading the list…"))

    def _refuse_list(self, fault: Exception) -> None:
        self._reading(False)
        if not isinstance(fault, ValueError):
            raise fault
        self._say_unmatched(str(fault))

    def _take_entries(self, entries: "list[Entry]") -> None:
        from rigplanner.report.words.importing import list_notes, taken_text
        from rigplanner.rig.from_text.parts_list import rig_from_entries

        self._reading(False)
        session, preferences = self._session, self._session.preferences.now
        try:
            matched = [entry for entry in entries if entry.wish.parts]
            rig = rig_from_entries(tr("New rig from a parts list"), matched)
        except ValueError as fault:
            self._say_unmatched(str(fault))
            return
        missing = [
            entry.wish.text
            for entry in entries
            if not entry.wish.parts and entry.comes_with is None
        ]
        if not matched:
            self._say_unmatched(
                tr(
                    'No parts found in this list. Write one part per line, for example "2x RTX'
                    ' 3090".'
                )
                if entries
                else tr("The list is empty.")
            )
            return
        wished = with_wishes(rig, preferences)
        rig = (
            replace(wished, currency=rig.currency)
            if any(entry.price for entry in matched)
            else wished
        )
        rig = replace(rig, notes="\n".join(list_notes(entries)))
        left_unsaved = session.is_open and session.unsaved
        take_rig(session, rig, tr("Paste list"))
        self.paste.setPlainText("\n".join(missing))
        self._say_unmatched(
            tr("Not found in the catalog: {lines}", lines=", ".join(missing)) if missing else ""
        )
        if missing or not left_unsaved:
            session.tell(taken_text(entries))
        self.rig_made.emit()

    def _say_unmatched(self, text: str) -> None:
        self.unmatched.setText(text[:2000])
        self.unmatched.setVisible(bool(text))

    def _show_tour(self) -> None:
        clear(self._tour)
        if self._session.preferences.now.tour_seen:
            return
        frame = QFrame()
        frame.setProperty("role", "card")
        said = label(tr("New here? Five steps show the window with a sample."), wrap=True)
        take = button(tr("Take the tour"), lambda: self.command_asked.emit("tour"))
        close = icon_button("cross", tr("Close the tour"), self._dismiss_tour)
        line = row(said, take, close, margins=(16, 8, 8, 8))
        line.setStretch(0, 1)
        frame.setLayout(line)
        self._tour.addWidget(frame)

    def _dismiss_tour(self) -> None:
        self._session.preferences.change(tour_seen=True)
        self._show_tour()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_tour()
        self._judge()

    def _judge(self) -> None:
        """Work verdicts, prices and pictures of the samples out aside, once per catalog."""
        catalog = self._session.catalog
        if self._judged_by is not catalog and self._samples and self.isVisible():
            self._judged_by = catalog
            paths = [path for _, path in self._samples]
            self._session.tasks.run_task(
                "samples",
                lambda _: _verdicts(paths, catalog),
                lambda _: None,
                piece=self._take_verdict,
                wait_ms=PAINTED_MS,
            )

    def _take_verdict(self, answer: tuple[Path, str, str, Sketch]) -> None:
        for card, path in self._samples:
            if path == answer[0]:
                card.show_verdict(*answer[1:])

    def _show_recent(self) -> None:
        clear(self._recent)
        names = self._session.preferences.now.recent[:MOST_RECENT_SHOWN]
        if not names:
            self._recent.addWidget(
                label(tr("Rigs you save or open appear here."), "small", wrap=True)
            )
        for name in names:
            self._recent.addLayout(self._recent_line(name))

    def _recent_line(self, name: str) -> QVBoxLayout:
        path = path_of(name)
        there = path.is_file()
        ask: Callable[[], object] = lambda: self.file_asked.emit(path, False)  # noqa: E731
        line = button(shortened(path.stem, 30), ask, role="link", name=tr("Open {name}", name=path))
        line.setToolTip(plain(str(path)))
        line.setEnabled(there)
        find = button(
            tr("Locate…"),
            lambda: self.locate_asked.emit(name),
            role="link",
            name=tr("Locate {name}", name=path.name),
        )
        find.setVisible(not there)
        drop = icon_button(
            "cross", tr("Remove {name} from the list", name=path.name), lambda: self._forget(name)
        )
        where = OneLine(
            str(path.parent) if there else tr("not found in {folder}", folder=path.parent), "small"
        )
        where.setContentsMargins(4, 0, 0, 0)
        return column(row(line, 1, find, drop), where, spacing=0)

    def _forget(self, name: str) -> None:
        self._session.preferences.forget_file(name)
        self._show_recent()

    def _show_restore(self) -> None:
        left, broken = journal.left_behind(self._journals) if self._journals else ([], [])
        for each in broken:
            said = tr(
                "A journal of edits cannot be read ({reason}). It is kept as {name}.",
                reason=each.reason[:200],
                name=each.kept,
            )
            self._restore.addWidget(label(said, "small", wrap=True, state="fails"))
        for found in left[:MOST_RESTORED]:
            card = LeftEdits(found)
            card.restored.connect(self._restore_edits)
            self._restore.addWidget(card)

    def _restore_edits(self, found: journal.Unsaved) -> None:
        self._session.restore(found)
        self._session.tell(
            tr("Restored {name}. Save it to keep it.", name=shortened(found.rig.name, 50))
        )
        self.rig_restored.emit()

    def _repaint(self) -> None:
        cards: list[Card] = [*self._tiles, *(card for card, _ in self._samples)]
        for card in cards:
            card.paint_icons()


def _section(text: str) -> QWidget:
    made = label(text.upper(), "section")
    made.setContentsMargins(0, 6, 0, 0)
    return made


def _read(path: Path) -> Rig | None:
    try:
        return read_rig(path)
    except RigFault:
        return None


def describe(rig: Rig, session: Session) -> tuple[str, str]:
    """Return the title and the line of parts of a rig's card."""
    parts = [(item, part_of(rig, session.catalog, item.part)) for item in rig.items]
    gpus = [f"{item.quantity} × {part.name}" for item, part in parts if isinstance(part, GPU)]
    others = [part.name for _, part in parts if part is not None and not isinstance(part, GPU)]
    return rig.name, shortened(", ".join([*gpus, *others[:2]]), 120)


def _verdicts(paths: list[Path], catalog: Catalog) -> Iterator[tuple[Path, str, str, Sketch]]:
    from rigplanner.desktop.start_page.rig_sketch import sketch_of
    from rigplanner.report.words.rates import total_text
    from rigplanner.rules.assess import assess

    for path in paths:
        try:
            found = assess(read_rig(path), catalog)
        except TooLarge:
            continue
        sums = found.totals
        price = total_text(sums) if sums.total else tr("no prices")
        if sums.total and (sums.unpriced or sums.foreign):
            price = tr("from {price}", price=price)
        yield path, found.report.verdict(), price, sketch_of(found)
