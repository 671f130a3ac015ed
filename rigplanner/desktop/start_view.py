"""The Start tab: a new rig, a sample, a recent file, a pasted list, or edits that a crash left behind."""

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU
from rigplanner.data import data_path
from rigplanner.desktop import icons
from rigplanner.desktop.session import Session
from rigplanner.desktop.theme import STATE_OF, look
from rigplanner.desktop.widgets import button, clear, column, icon_button, label, panel, row, scrolled, stretchy
from rigplanner.desktop.words import VERDICT_ICONS, VERDICT_WORDS, money, shortened
from rigplanner.report.language import tr, trn
from rigplanner.rig import journal
from rigplanner.rig.document import Rig, part_of
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rig.from_words import read_wish, rig_from_wishes

COLUMNS = 3
TOUR = (
    ("Build", "The list on the left says what is in the rig. A click opens the catalog for that kind."),
    ("Parts", "Each row says whether the part would fit. The pane below shows what choosing it would change."),
    ("Findings", "The list on the right says what is wrong, with what was needed and what is there, and fixes it by a click."),
    ("Gauges", "The bars below show how far the rig is from its limits. A click opens the calculation."),
)


class Card(QFrame):
    """A clickable card with a title, a line of figures and a verdict that comes later."""

    clicked = Signal()

    def __init__(self, title: str, note: str, icon: str) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{title}, {note}")
        self._icon, self._verdict = icon, ""
        self._picture, self._sign = label(), label()
        self._sign.setFixedWidth(20)
        self.verdict = label("", "small", wrap=True)
        self.setLayout(
            column(
                row(self._picture, label(shortened(title, 60), "strong", wrap=True), margins=(0, 0, 0, 0)),
                label(note, "small", wrap=True),
                1,
                row(self._sign, stretchy(self.verdict), spacing=4),
                margins=(12, 8, 12, 8),
                spacing=4,
            )
        )
        self.paint_icons()

    def show_verdict(self, verdict: str, price: str) -> None:
        """Say how the rig does and what it costs."""
        self._verdict = verdict
        self.verdict.setText(f"{VERDICT_WORDS[verdict] if verdict != 'error' else tr('has errors')} · {price}")
        self.paint_icons()

    def paint_icons(self) -> None:
        """Draw the icons in the colours in force."""
        ratio = self.devicePixelRatioF()
        self._picture.setPixmap(icons.pixmap(self._icon, "soft", 20, ratio))
        self._picture.setFixedWidth(24)
        if self._verdict:
            self._sign.setPixmap(icons.pixmap(VERDICT_ICONS[self._verdict], STATE_OF[self._verdict], 16, ratio))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
        else:
            super().keyPressEvent(event)


def sample_files() -> list[Path]:
    """Return the sample rigs that came with the program."""
    return sorted((data_path("resources") / "samples").glob("*.rig"))


class StartView(QWidget):
    """`file_asked` carries a path and whether it is a sample."""

    file_asked = Signal(Path, bool)
    new_asked = Signal()
    open_asked = Signal()

    def __init__(self, session: Session, journals: Path | None = None) -> None:
        super().__init__()
        self._session, self._journals = session, journals
        self._cards: list[tuple[Card, Path]] = []
        self._judged = False
        self._restore = QVBoxLayout()
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        self._samples = QGridLayout()
        self._samples.setSpacing(8)
        self._tour = QHBoxLayout()
        self._tour.setSpacing(8)
        buttons = row(
            button(tr("New rig"), self.new_asked.emit, "new", "primary"),
            button(tr("Open…"), self.open_asked.emit, "open"),
            1,
            spacing=8,
        )
        left = column(
            label(tr("What shall the rig be"), "large"),
            label(tr("Pick parts and see at once what works, what it can train and how fast."), "small"),
            buttons,
            self._restore,
            label(tr("Samples").upper(), "section"),
            self._samples,
            1,
            spacing=12,
        )
        right = column(
            label(tr("Recent").upper(), "section"),
            self._recent,
            label(tr("Parts list").upper(), "section"),
            *self._make_paste(),
            1,
            spacing=8,
        )
        body = row(panel(left), panel(right), spacing=24)
        body.setStretch(0, 5)
        body.setStretch(1, 3)
        page = panel(column(self._tour, body, 1, margins=(24, 16, 24, 16), spacing=16))
        self.setLayout(column(scrolled(page, tr("Start"))))
        self._show_tour()
        self._show_samples()
        self._show_recent()
        self._show_restore()
        session.document_changed.connect(self._show_recent)
        look.look_changed.connect(self._repaint)

    def _make_paste(self) -> tuple[QWidget, ...]:
        self.paste = QPlainTextEdit()
        self.paste.setPlaceholderText(tr("One part a line, for example\n2x RTX 3090\nRyzen 9 5950X\n4x 32 GB DDR4-3200"))
        self.paste.setAccessibleName(tr("Parts list, one part a line"))
        self.paste.setTabChangesFocus(True)
        self.paste.setMaximumHeight(120)
        self.unmatched = label("", "small", wrap=True)
        return self.paste, self.unmatched, panel(row(button(tr("Make a rig of the list"), self.make_from_list, "paste"), 1))

    def focus_paste(self) -> None:
        """Put the cursor into the field for a parts list."""
        self.paste.setFocus()

    def make_from_list(self) -> None:
        """Start a rig with the best match of each line; lines without a match stay in the field."""
        lines = [line.strip()[:200] for line in self.paste.toPlainText()[:20_000].splitlines() if line.strip()]
        wishes = [read_wish(line, self._session.index) for line in lines]
        missing = [wish.text for wish in wishes if not wish.parts]
        matched = [wish for wish in wishes if wish.parts]
        if not matched:
            self.unmatched.setText(tr("No line names a part of the catalog.") if lines else tr("The list is empty."))
            return
        try:
            rig = rig_from_wishes(tr("Rig from a list"), matched)
        except ValueError as fault:
            self.unmatched.setText(str(fault))
            return
        self._session.start_rig(Rig(), tr("New rig"))
        self._session.start_rig(rig, tr("Paste list"))
        self._session.mark_unsaved()
        self.paste.setPlainText("\n".join(missing))
        self.unmatched.setText(tr("Not in the catalog: {missing}", missing=", ".join(missing)) if missing else "")
        self._session.tell(
            trn("{count} line became a part.", "{count} lines became parts.", len(matched))
            + (" " + trn("{count} did not match.", "{count} did not match.", len(missing)) if missing else "")
        )

    def _show_tour(self) -> None:
        clear(self._tour)
        if self._session.preferences.now.tour_seen:
            return
        for n, (title, text) in enumerate(TOUR, 1):
            card = QFrame()
            card.setProperty("role", "card")
            card.setLayout(
                column(label(f"{n}  {title}", "strong"), label(text, "small", wrap=True), 1, margins=(12, 8, 12, 8), spacing=4)
            )
            self._tour.addWidget(card, 1)
        self._tour.addWidget(icon_button("cross", tr("Dismiss the tour"), self._dismiss_tour), 0, Qt.AlignmentFlag.AlignTop)

    def _dismiss_tour(self) -> None:
        self._session.preferences.change(tour_seen=True)
        self._show_tour()

    def _show_samples(self) -> None:
        files = sample_files()
        if not files:
            self._samples.addWidget(label(tr("No samples came with this installation."), "small"), 0, 0)
        for n, path in enumerate(files):
            try:
                rig = read_rig(path)
            except RigFault:
                continue
            title, note, icon = describe(rig, self._session)
            card = Card(title, note, icon)
            card.clicked.connect(lambda path=path: self.file_asked.emit(path, True))
            self._cards.append((card, path))
            self._samples.addWidget(card, n // COLUMNS, n % COLUMNS)
        for n in range(COLUMNS):
            self._samples.setColumnStretch(n, 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._judged and self._cards:
            self._judged = True
            catalog, paths = self._session.catalog, [path for _, path in self._cards]
            self._session.tasks.run_task("samples", lambda _: _verdicts(paths, catalog), lambda _: None, piece=self._take_verdict)

    def _take_verdict(self, answer: tuple[Path, str, str]) -> None:
        for card, path in self._cards:
            if path == answer[0]:
                card.show_verdict(answer[1], answer[2])

    def _show_recent(self) -> None:
        clear(self._recent)
        names = self._session.preferences.now.recent
        if not names:
            self._recent.addWidget(label(tr("Rigs that you save or open appear here."), "small", wrap=True))
        for name in names[:8]:
            path = Path(name)
            there = path.is_file()
            ask: Callable[[], object] = lambda path=path: self.file_asked.emit(path, False)  # type: ignore[misc]  # noqa: E731
            line = button(shortened(path.stem, 40), ask, role="link", name=tr("Open {name}", name=name))
            line.setToolTip(name)
            line.setEnabled(there)
            drop = icon_button("cross", tr("Forget {name}", name=path.name), lambda name=name: self._forget(name))  # type: ignore[misc]
            where = button(tr("Locate"), self.open_asked.emit, role="link", name=tr("Locate {name}", name=path.name))
            where.setVisible(not there)
            self._recent.addLayout(row(line, label("" if there else tr("not found"), "small"), 1, where, drop))

    def _forget(self, name: str) -> None:
        self._session.preferences.forget_file(name)
        self._show_recent()

    def _show_restore(self) -> None:
        for found in journal.unsaved(self._journals)[:3] if self._journals else []:
            where = f" ({Path(found.document).name})" if found.document else ""
            frame = QFrame()
            frame.setProperty("role", "card")
            text = label(
                tr("{name}{where} has edits that were not saved.", name=shortened(found.rig.name, 50), where=where), wrap=True
            )

            def restore(found: journal.Unsaved = found, frame: QFrame = frame) -> None:
                frame.hide()
                self._session.restore(found)

            def drop(found: journal.Unsaved = found, frame: QFrame = frame) -> None:
                frame.hide()
                journal.forget(found.journal)

            frame.setLayout(
                row(text, 1, button(tr("Restore"), restore, "history"), button(tr("Discard"), drop), margins=(12, 8, 12, 8))
            )
            self._restore.addWidget(frame)

    def _repaint(self) -> None:
        for card, _ in self._cards:
            card.paint_icons()


def describe(rig: Rig, session: Session) -> tuple[str, str, str]:
    """Return the title, the line of parts and the icon of a rig's card."""
    parts = [(item, part_of(rig, session.catalog, item.part)) for item in rig.items]
    gpus = [f"{item.quantity} × {part.name}" for item, part in parts if isinstance(part, GPU)]
    others = [part.name for _, part in parts if part is not None and not isinstance(part, GPU)]
    note = ", ".join([*gpus, *others[:2]])
    return rig.name, shortened(note, 90), "gpu" if gpus else "system"


def _verdicts(paths: list[Path], catalog: Catalog) -> Iterator[tuple[Path, str, str]]:
    from rigplanner.rules.assess import assess

    for path in paths:
        found = assess(read_rig(path), catalog)
        sums = found.totals
        partly = tr("at least ") if sums.unpriced or sums.foreign else ""
        price = f"{partly}{money(sums.total, sums.currency)}" if sums.total else tr("no prices")
        yield path, found.report.verdict(), price
