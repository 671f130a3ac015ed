"""Search everything: commands, rigs, parts and models by words in any order; and the sheet of
shortcuts."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QHeaderView, QLineEdit

from rigplanner.catalog.find.find import words_of
from rigplanner.catalog.schema.parts import kind_of
from rigplanner.data import sample_files
from rigplanner.desktop import documents
from rigplanner.desktop.actions import COMMANDS, MENUS
from rigplanner.desktop.controls.tables import fill, plain_table
from rigplanner.desktop.controls.widgets import button, column, label, panel, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.words import KIND_WORDS
from rigplanner.path_text import path_of
from rigplanner.report.language import tr

MOST_PARTS = 12
MOST_MODELS = 6
MOST_LINES = 14
SHEET = (("File",), ("Edit", "Rig"), ("View", "Help"))
"""Columns of the sheet of shortcuts, each a stack of menus."""


class Hit(Struct, frozen=True):
    """One line of the palette."""

    text: str
    note: str
    icon: str
    run: Callable[[], object]


def hits(desk: Desk, query: str) -> list[Hit]:
    """Return commands, then rigs, parts and models, that hold every word of the query."""
    from rigplanner.catalog.zoo import shipped_zoo

    words = words_of(query)
    found = []
    for command in COMMANDS:
        action = desk.actions_by_id[command.id]
        if action.isEnabled() and all(
            word in f"{tr(command.text)} {tr(command.menu)} {command.text}".casefold()
            for word in words
        ):
            keys = QKeySequence(command.keys).toString(QKeySequence.SequenceFormat.NativeText)
            found.append(
                Hit(
                    tr(command.text),
                    keys or tr(command.menu),
                    command.icon or "rigplanner",
                    partial(command.run, desk),
                )
            )
    if words:
        found += _rigs(desk, words)
        for part in desk.session.index.search(query, limit=MOST_PARTS):
            kind = kind_of(part)
            found.append(
                Hit(part.name, KIND_WORDS[kind], kind, partial(desk.show_part, kind, part.id))
            )
        models = shipped_zoo().find(query)[:MOST_MODELS]
        found += [
            Hit(model.name, tr("Model"), "workload", partial(desk.focus_zoo, model.name))
            for model in models
        ]
    return found


def _rigs(desk: Desk, words: Sequence[str]) -> Iterator[Hit]:
    """The recent rigs that are there, and the samples, whose names hold every word."""
    kept = map(path_of, desk.session.preferences.now.recent)
    recent = [(path, tr("Recent"), False) for path in kept if path.is_file()]
    for path, note, sample in (*recent, *((path, tr("Sample"), True) for path in sample_files())):
        title = documents.rig_title(path)
        if all(word in f"{title} {path.stem}".casefold() for word in words):
            yield Hit(title, note, "open", partial(documents.open_file, desk, path, sample))


class PaletteBox(QFrame):
    """A field with a list under it, over the top of the window. Escape or leaving it closes it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self._desk = desk
        self.setProperty("role", "card")
        self.setAccessibleName(tr("Search everything"))
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("A command, a rig, a part, a model"))
        self.field.setAccessibleName(tr("Search commands and parts"))
        self.field.setMaxLength(200)
        self.list = plain_table(tr("What was found"), ("", ""))
        self.list.horizontalHeader().hide()
        self.list.horizontalHeader().setStretchLastSection(False)
        self.list.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.horizontalHeader().setSectionResizeMode(
            1, QHeaderView.ResizeMode.ResizeToContents
        )
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.cellClicked.connect(lambda *_: self._take())
        self.setLayout(column(self.field, self.list, margins=(8, 8, 8, 8), spacing=4))
        self.field.textChanged.connect(self._fill)
        self.field.installEventFilter(self)
        self._hits: list[Hit] = []
        self.hide()

    def open_at_top(self) -> None:
        """Show the field, empty and with the cursor in it."""
        whole = self._desk.window().width()
        width = min(whole - 80, row_px() * 24)
        self.setGeometry((whole - width) // 2, row_px() * 2, width, row_px() * 16)
        self.field.clear()
        self._fill("")
        self.show()
        self.raise_()
        self.field.setFocus()

    def _fill(self, text: str) -> None:
        self._hits = hits(self._desk, text)
        fill(
            self.list,
            [(hit.text, hit.note) for hit in self._hits]
            or [(tr("No results. Try fewer words."), "")],
            numbers=(1,),
        )
        for n, hit in enumerate(self._hits):
            name, note = self.list.item(n, 0), self.list.item(n, 1)
            if name is not None and note is not None:
                name.setIcon(icons.icon(hit.icon, "soft"))
                note.setForeground(look.tokens.color("soft"))
        self.list.setCurrentCell(0, 0)
        lines = min(MOST_LINES, self.list.rowCount())
        self.resize(self.width(), self.field.sizeHint().height() + lines * row_px() + 24)

    def _take(self) -> None:
        line = self.list.currentRow()
        self.hide()
        if 0 <= line < len(self._hits):
            self._hits[line].run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {
                Qt.Key.Key_Down: 1,
                Qt.Key.Key_Up: -1,
                Qt.Key.Key_PageDown: 10,
                Qt.Key.Key_PageUp: -10,
            }.get(Qt.Key(event.key()))
            if step is not None:
                self.list.setCurrentCell(
                    max(0, min(self.list.rowCount() - 1, self.list.currentRow() + step)), 0
                )
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                self._desk.window().setFocus()
                return True
        elif event.type() == QEvent.Type.FocusOut:
            self.hide()
        return super().eventFilter(watched, event)


def _shortcuts_of(menu: str) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 1)
    grid.addWidget(label(tr(menu).upper(), "section"), 0, 0, 1, 2)
    for line, command in enumerate(
        (command for command in COMMANDS if command.menu == menu and command.keys), 1
    ):
        grid.addWidget(label(tr(command.text).rstrip("…")), line, 0)
        keys = QKeySequence(command.keys).toString(QKeySequence.SequenceFormat.NativeText)
        grid.addWidget(label(keys, "small"), line, 1)
    return grid


def shortcut_sheet(desk: Desk) -> QDialog:
    """Return the sheet of all shortcuts, made from the list of commands."""
    sheet = QDialog(desk.window())
    sheet.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    sheet.setWindowTitle(tr("Shortcuts"))
    groups = {menu: _shortcuts_of(menu) for menu in MENUS}
    stacks = (column(*(groups[menu] for menu in stack), 1, spacing=20) for stack in SHEET)
    columns = row(*stacks, margins=(16, 16, 16, 8), spacing=24)
    close = button(tr("Close"), sheet.close)
    tips = label(
        tr(
            "In the catalog Enter takes the part; in the build list Delete removes it; on a gauge"
            " Enter opens its breakdown."
        ),
        "small",
    )
    sheet.setLayout(column(columns, panel(row(tips, 1, close, margins=(16, 0, 16, 12)))))
    return sheet
