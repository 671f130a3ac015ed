"""The Machine tab: the drawing, the places as a table, the matrix of links, and a way to move a
piece by keyboard."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHeaderView,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QTabWidget,
    QWidget,
)

from rigplanner.desktop.controls.picture_view import PictureView
from rigplanner.desktop.controls.tables import fill, plain_table
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import button, column, label, panel, row, scrolled, strip
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import PAINTED_MS
from rigplanner.desktop.help.hints import letter_hint
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.machine.better import BetterPlaces
from rigplanner.desktop.machine.drawing import MachineDrawing
from rigplanner.desktop.machine.export import open_export
from rigplanner.desktop.machine.layout import machine_drawing
from rigplanner.desktop.machine.leaves import piece_numbers
from rigplanner.desktop.machine.shapes import Drawing
from rigplanner.desktop.words import problem_words
from rigplanner.machine.model import DriveUse, Machine, SlotUse
from rigplanner.machine.topology.messages import message_times
from rigplanner.planning.moves import Move, moves, split_piece
from rigplanner.report.drawing.shapes import Picture
from rigplanner.report.drawing.slots import slot_picture
from rigplanner.report.language import tr
from rigplanner.report.quote.machine import link_text
from rigplanner.report.words.machine import TIME_HEADS, time_cells, times_note


def open_acceptance(parent: QWidget, session: Session) -> QWidget:
    """Show the page that compares the plan with a delivered machine; its module is loaded when it
    is asked for."""
    from rigplanner.desktop.dialogs.acceptance import AcceptanceDialog

    dialog = AcceptanceDialog(parent, session)
    dialog.open()
    return dialog


class Room(QScrollArea):
    """Says when it has another size, of itself, not for its scroll bars."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class MachineView(QWidget):
    """Shows the machine that the rig becomes."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._moves: dict[str, Move] = {}
        self._piece = ""
        self._listed: list[tuple[str, str]] = []
        self._matrix: tuple[list[str], tuple[tuple[str, ...], ...]] | None = None
        self.drawing = MachineDrawing()
        self.drawing.selected.connect(session.point_at)
        self.drawing.drag_started.connect(self._offer)
        self.drawing.explained.connect(self._explain)
        self.drawing.moved.connect(self._drop)
        self.hint = label("", "small")
        self.drawing.setToolTip(plain(tr("Drag a card to another place, or use the fields below")))
        self.places = plain_table(tr("Places"), (tr("Place"), tr("On"), tr("Link"), tr("Holds")))
        self.places.currentCellChanged.connect(lambda *_: self._row_chosen())
        self.matrix = plain_table(
            tr("Links between GPUs and network cards, as nvidia-smi topo -m shows them"), ()
        )
        room = Room()
        room.resized.connect(self._draw)
        self._canvas = scrolled(self.drawing, tr("Machine drawing"), room)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self._make_pictures())
        split.addWidget(self._make_tables())
        split.setSizes([row_px() * 19, row_px() * 8])
        split.setChildrenCollapsible(False)
        mover = self._make_mover()
        self.better = BetterPlaces(session)
        self.setLayout(column(split, self.better, mover, spacing=0))
        self._stale = True
        session.rig_changed.connect(self._rig_changed)
        session.subject_pointed.connect(self._show_piece)
        look.look_changed.connect(self.drawing.update)
        look.look_changed.connect(self.slots.update)
        self._refresh()

    def _make_mover(self) -> QWidget:
        self.pieces = QComboBox()
        self.pieces.setAccessibleName(tr("Part to move"))
        self.pieces.activated.connect(lambda _: self._point(self.pieces.currentData()))
        self.targets = QComboBox()
        self.targets.setAccessibleName(tr("Destination"))
        self.go = button(tr("Move"), self._move_chosen, "move")
        for box in (self.pieces, self.targets):
            box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            box.setMinimumContentsLength(10)
            box.setSizeAdjustPolicy(
                QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
        return strip(
            row(
                label(tr("Move")),
                self.pieces,
                label(tr("to")),
                self.targets,
                self.go,
                self.hint,
                margins=(12, 6, 12, 6),
            )
        )

    def _make_tables(self) -> QSplitter:
        left = panel(
            column(
                strip(row(label(tr("Places").upper(), "section"), 1, margins=(12, 6, 8, 2))),
                self.places,
                spacing=0,
            )
        )
        right = panel(
            column(
                strip(row(label(tr("Links").upper(), "section"), 1, margins=(12, 6, 8, 2))),
                self.matrix,
                spacing=0,
            )
        )
        tables = QSplitter(Qt.Orientation.Horizontal)
        tables.addWidget(left)
        tables.addWidget(right)
        tables.setSizes([480, 340])
        return tables

    def _make_pictures(self) -> QTabWidget:
        self.slots = PictureView(
            tr(
                "Slots of the board with the thickness of their cards; the table of places names"
                " them"
            ),
            tr(
                "The positions of the occupied slots are not known, so there is no picture of them."
            ),
        )
        pictures = QTabWidget()
        pictures.setDocumentMode(True)
        pictures.setAccessibleName(tr("Pictures of the machine"))
        pictures.tabBar().setAccessibleName(tr("Pictures of the machine"))
        self.coloring = QComboBox()
        self.coloring.setAccessibleName(tr("What the colour of the links says"))
        self.coloring.addItem(tr("Colour by verdict"), False)
        self.coloring.addItem(tr("Colour by link width"), True)
        self.coloring.activated.connect(
            lambda _: self.drawing.color_by_width(bool(self.coloring.currentData()))
        )
        self.export = button(
            tr("Export"),
            lambda: open_export(self.export, self._session),
            "export",
            name=tr("Export the machine"),
        )
        self.accept = button(
            tr("As built…"),
            lambda: open_acceptance(self, self._session),
            "tick",
            name=tr("Compare this plan with the delivered machine"),
        )
        corner = row(self.coloring, self.accept, self.export, margins=(0, 2, 12, 2))
        pictures.setCornerWidget(panel(corner))
        pictures.addTab(self._canvas, tr("Topology"))
        pictures.addTab(scrolled(self.slots, tr("Slots and cards")), tr("Slots and cards"))
        heads = tuple(map(tr, TIME_HEADS))
        self.times = plain_table(tr("Time of an all-reduce by the size of its message"), heads)
        self.times_note = label("", "small", wrap=True)
        noted = strip(row(self.times_note, margins=(12, 6, 12, 6)))
        pictures.addTab(panel(column(noted, self.times, spacing=0)), tr("Exchange"))
        return pictures

    def _rig_changed(self, change: Change) -> None:
        self._stale |= change.machine
        if self._stale and self.isVisible():
            self._refresh()

    def _refresh(self) -> None:
        assessment = self._session.assessment
        self.export.setEnabled(assessment is not None)
        self.accept.setEnabled(assessment is not None)
        if assessment is None:
            self._draw()
            return
        self._stale = False
        machine = assessment.machine
        self._draw()
        names = {piece.name: piece.part.name for piece in machine.pieces}
        self._show_places(machine, names)
        self._show_matrix(machine)
        self._show_times(machine)
        self._show_pieces(machine, names)
        if self.isVisible():
            self.better.ask(assessment)

    def _draw(self) -> None:
        assessment = self._session.assessment
        if assessment is not None:
            said = tr("Choose a motherboard or a system to see its slots and the parts in them.")
            drawing = self._fitted(assessment.machine)
            self.slots.show_picture(slot_picture(assessment.machine), "" if drawing.boxes else said)
            self.drawing.empty = "" if drawing.boxes else said
            self.drawing.show_drawing(drawing)
        elif not self._session.is_open:
            said = tr("Open or start a rig to see its slots and links.")
            self.slots.show_picture(Picture(1.0, 1.0, ()), said)
            self.drawing.empty = said

    def _fitted(self, machine: Machine) -> Drawing:
        room, bar = self._canvas.maximumViewportSize(), self._canvas.verticalScrollBar().sizeHint()
        return machine_drawing(
            machine, row_px(), room.width(), room.height(), bar.width(), self.drawing.scale
        )

    def _show_places(self, machine: Machine, names: dict[str, str]) -> None:
        rows = [_slot_row(use, names) for use in machine.slots] + [
            _drive_row(use, names) for use in machine.drives
        ]
        fill(self.places, [row[:4] for row in rows])
        for n, line in enumerate(rows):
            if (item := self.places.item(n, 0)) is not None:
                item.setData(Qt.ItemDataRole.UserRole, line[4])

    def _show_times(self, machine: Machine) -> None:
        nccl = self._session.rig.settings.software.get("nccl", "")
        times = message_times(machine, nccl)
        fill(self.times, [time_cells(each) for each in times], numbers=(0, 1, 2, 3))
        self.times.setColumnHidden(3, not any(each.rings_alone for each in times))
        self.times_note.setText(
            times_note(machine, nccl)
            if times
            else tr("An exchange takes two GPUs or more whose links are known.")
        )

    def _show_matrix(self, machine: Machine) -> None:
        heads = [f"GPU{gpu.index}" for gpu in machine.gpus] + [
            f"NIC{nic.index}" for nic in machine.nics
        ]
        shown = (heads, machine.matrix)
        if shown == self._matrix:
            return
        self._matrix = shown
        self.matrix.setColumnCount(len(heads))
        self.matrix.setHorizontalHeaderLabels(heads)
        fill(self.matrix, [[cell or "?" for cell in line] for line in machine.matrix])
        for n, line in enumerate(machine.matrix):
            for m, cell in enumerate(line):
                if (item := self.matrix.item(n, m)) is not None:
                    item.setToolTip(plain(letter_hint(cell or "?")))
        self.matrix.setVerticalHeaderLabels(heads)
        reads = tr("Each cell says how its GPU is reached from that of the row.")
        for n, head in enumerate(heads):
            if (item := self.matrix.horizontalHeaderItem(n)) is not None:
                item.setToolTip(plain(f"{head}\n{reads}"))
        self.matrix.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.matrix.verticalHeader().setVisible(bool(heads))

    def _show_pieces(self, machine: Machine, names: dict[str, str]) -> None:
        placed = [use.piece for use in machine.slots if use.piece] + [
            piece for use in machine.drives for piece in use.pieces
        ]
        loose = [
            problem.piece
            for problem in machine.problems
            if problem.piece not in placed and problem.piece in names
        ]
        own = [piece for piece in dict.fromkeys([*placed, *loose]) if split_piece(piece)]
        listed = _called(own, names, piece_numbers(machine))
        if listed != self._listed:
            self._listed = listed
            self.pieces.clear()
            for piece, name in listed:
                self.pieces.addItem(name, piece)
        at = self.pieces.findData(self._piece)
        if own:
            self._piece = self._piece if at >= 0 else own[0]
            self.pieces.setCurrentIndex(max(0, at))
        else:
            self._piece = ""
        self._fill_targets()

    def _fill_targets(self) -> None:
        self.targets.clear()
        self.go.setEnabled(False)
        if not self._piece or not self.isVisible():
            return
        self._find_moves(self._piece, self._take_targets)

    def _find_moves(self, piece: str, take: Callable[[tuple[Move, ...]], None]) -> None:
        """Try all places of a piece aside from the window."""
        rig, catalog = self._session.rig, self._session.catalog
        self._session.tasks.run_task(
            "moves", lambda _: moves(rig, catalog, piece), take, wait_ms=PAINTED_MS
        )

    def _take_targets(self, found: tuple[Move, ...]) -> None:
        self.targets.clear()
        for move in found:
            self.targets.addItem(_target_words(move), move)
        free = next((n for n, move in enumerate(found) if not move.here and not move.problems), 0)
        self.targets.setCurrentIndex(free)
        self.go.setEnabled(bool(found))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refresh()
            return
        self._draw()
        self._fill_targets()
        if self._session.assessment is not None:
            self.better.ask(self._session.assessment)

    def _point(self, piece: str) -> None:
        self._session.point_at(piece)

    def _show_piece(self, subject: str) -> None:
        """Mark a piece, or what stands in a place, in the picture and in the table of places."""
        if self._stale and self.isVisible():
            self._refresh()
        for n in range(self.places.rowCount()):
            item = self.places.item(n, 0)
            if item is None:
                continue
            held = item.data(Qt.ItemDataRole.UserRole)
            if subject in (item.text(), held):
                subject = held or subject
                self.places.setCurrentCell(n, 0)
                self.places.scrollToItem(item)
        self.drawing.select(subject)
        at = self.pieces.findData(subject)
        if at >= 0:
            self._piece = subject
            self.pieces.setCurrentIndex(at)
            self._fill_targets()

    def _row_chosen(self) -> None:
        item = self.places.item(self.places.currentRow(), 0)
        piece = item.data(Qt.ItemDataRole.UserRole) if item else ""
        if piece and self.places.hasFocus():
            self._session.point_at(piece)

    def _offer(self, piece: str) -> None:
        self._find_moves(piece, self._take_offer)

    def _take_offer(self, found: tuple[Move, ...]) -> None:
        self._moves = {move.place: move for move in found}
        self.drawing.show_targets(self._moves)
        if not found:
            self.hint.setText(tr("This piece is built in and stays where it is."))

    def _explain(self, place: str) -> None:
        move = self._moves.get(place)
        self.hint.setText(_target_words(move) if move else "")

    def _move_chosen(self) -> None:
        move = self.targets.currentData()
        if isinstance(move, Move):
            self._make(move)

    def _drop(self, _: str, place: str) -> None:
        if (move := self._moves.get(place)) is not None:
            self._make(move)

    def _make(self, move: Move) -> None:
        """Put the piece into its new place, if the machine allows it."""
        if move.problems:
            self._session.tell(f"{move.place}: {problem_words(move.problems[0])}.", "warning")
        elif not move.here:
            self._session.edit(
                tr("Move {part} to {place}", part=self.pieces.currentText(), place=move.place),
                *move.edits,
            )


def _called(
    own: list[str], names: dict[str, str], numbers: dict[str, str]
) -> list[tuple[str, str]]:
    """Return each piece with what it is called: by the system's number, else by the rig's where
    there are several."""
    found = []
    for piece in own:
        uid, index = split_piece(piece) or ("", 0)
        several = sum(other.startswith(f"{uid}.") for other in own) > 1
        number = f" {index + 1}" if several and piece not in numbers else ""
        found.append((piece, f"{numbers.get(piece, '')}{names[piece]}{number}"))
    return found


def _target_words(move: Move) -> str:
    if move.here:
        return tr("{place} (current)", place=move.place)
    if move.problems:
        return tr(
            "{place}, not possible: {reason}",
            place=move.place,
            reason=problem_words(move.problems[0]),
        )
    return f"{move.place}, {link_text(move.width, move.gen)}"


def origin_text(origin: str | None) -> str:
    """Return on what a place hangs: "CPU0", "Chipset", else the name of a switch."""
    if origin is None:
        return tr("unknown")
    return tr("Chipset") if origin == "chipset" else origin.replace("cpu", "CPU")


def _slot_row(use: SlotUse, names: dict[str, str]) -> tuple[str, str, str, str, str]:
    """Place, origin, link, what it holds, and the piece."""
    width, gen = (use.width, use.gen) if use.piece else (use.available_width, use.available_gen)
    holds = names.get(use.piece or "", "") or (
        tr("covered by {covered_by}", covered_by=names.get(use.covered_by, use.covered_by))
        if use.covered_by
        else tr("free")
    )
    return (
        use.slot.id,
        origin_text(use.slot.origin),
        _slot_link(width, gen, use.disabled_by),
        holds,
        use.piece or "",
    )


def _drive_row(use: DriveUse, names: dict[str, str]) -> tuple[str, str, str, str, str]:
    link = (
        "SATA"
        if use.port.kind == "sata"
        else _slot_link(use.width or use.port.width, use.gen or use.port.gen, use.disabled_by)
    )
    holds = ", ".join(names.get(piece, piece) for piece in use.pieces) or tr("free")
    return (
        use.port.id,
        origin_text(use.port.origin),
        link,
        holds,
        use.pieces[0] if use.pieces else "",
    )


def _slot_link(width: int | None, gen: int | None, disabled_by: tuple[str, ...]) -> str:
    return (
        tr("off ({disabled_by})", disabled_by=", ".join(disabled_by))
        if disabled_by
        else link_text(width, gen)
    )
