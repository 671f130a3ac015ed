"""Networks on microcontrollers: what one needs of flash and SRAM against what a board has."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QTableWidget,
)

from rigplanner.desktop.controls.tables import fill, fit_height, plain_table
from rigplanner.desktop.controls.widgets import button, column, indented, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import row_px
from rigplanner.errors import WorkloadFault
from rigplanner.memory.tiny import TinyNetwork, find_board, find_network, tiny_file
from rigplanner.report.language import tr
from rigplanner.report.words.tiny import (
    board_heads,
    board_rows,
    board_text,
    figure_heads,
    figure_rows,
    nearest_text,
    need_text,
)

MOST_KB = 1_000_000


class TinyDialog(QDialog):
    """Network and board above, the verdict under them, then the figures and the other boards."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Networks on microcontrollers"))
        self._session = desk.session
        known = tiny_file()
        self.network = _choice(
            tr("Network for a microcontroller"), [each.name for each in known.networks.values()]
        )
        self.board = _choice(
            tr("Microcontroller board"), [each.name for each in known.boards.values()]
        )
        self.board.setCurrentText(known.boards["nano-33-ble-sense"].name)
        self.own = QCheckBox(tr("Figures of your own network"))
        self.flash = _kilobytes(tr("Flash of your network in KB"), 100)
        self.sram = _kilobytes(tr("SRAM of your network in KB"), 50)
        self.head = label("", "large", wrap=True)
        self.note = label("", "small", wrap=True)
        self.figures = plain_table(tr("Flash and SRAM"), figure_heads())
        self.figures.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.boards = plain_table(tr("Boards for the network"), board_heads())
        for box in (self.network, self.board):
            box.currentTextChanged.connect(lambda _: self.show_found())
        for spin in (self.flash, self.sram):
            spin.valueChanged.connect(lambda _: self.show_found())
        self.own.toggled.connect(lambda _: self.show_found())
        close = button(tr("Close"), self.close, role="primary")
        form = QFormLayout()
        form.addRow(tr("Network"), self.network)
        form.addRow(self.own, row(self.flash, self.sram, 1, spacing=8))
        form.addRow(tr("Microcontroller board"), self.board)
        keys = row(1, button(tr("Copy"), self.copy), close)
        self.setLayout(
            column(
                form,
                self.head,
                self.note,
                self.figures,
                self.boards,
                keys,
                margins=(20, 16, 20, 16),
                spacing=12,
            )
        )
        self.resize(row_px() * 34, row_px() * 27)
        self.show_found()

    def show_found(self) -> None:
        """Show what the words and figures come to; say what is not known."""
        own = self.own.isChecked()
        self.network.setEnabled(not own)
        self.flash.setEnabled(own)
        self.sram.setEnabled(own)
        try:
            network = self._asked()
            board = find_board(self.board.currentText())
        except WorkloadFault as fault:
            self.head.setText(tr("Not known"))
            self.note.setText(str(fault))
            fill(self.figures, [])
            fill(self.boards, [])
            return
        self.head.setText(board_text(network, board))
        self.note.setText(
            " ".join(filter(None, (f"{need_text(network)}.", nearest_text(network, board))))
        )
        figures = figure_rows(network, board)
        fill(self.figures, figures, (1, 2), [line[-1] for line in figures])
        fill(self.boards, board_rows(network), (1, 2))
        for table in (self.figures, self.boards):
            for at in range(table.columnCount() - 1):
                table.resizeColumnToContents(at)
                table.setColumnWidth(at, table.columnWidth(at) + row_px() // 2)
        fit_height(self.figures, len(figures))

    def copy(self) -> None:
        """Put the verdict and both tables onto the clipboard, cells parted by tabs."""
        parts = (self.head.text(), self.note.text(), _text(self.figures), _text(self.boards))
        QGuiApplication.clipboard().setText("\n\n".join(filter(None, parts)))
        self._session.tell(tr("Copied {name}.", name=tr("Flash and SRAM")))

    def _asked(self) -> TinyNetwork:
        if not self.own.isChecked():
            return find_network(self.network.currentText())
        return TinyNetwork(
            name=tr("own network"),
            aliases=(),
            flash_kb=self.flash.value(),
            sram_kb=self.sram.value(),
            source="",
        )


def _choice(name: str, words: list[str]) -> QComboBox:
    """A list in which other words can be typed."""
    box = QComboBox()
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.setAccessibleName(name)
    if (edit := box.lineEdit()) is not None:
        edit.setAccessibleName(name)
    box.addItems(words)
    return box


def _kilobytes(name: str, value: float) -> QDoubleSpinBox:
    box = QDoubleSpinBox(minimum=0, maximum=MOST_KB, decimals=1, singleStep=1, value=value)
    box.setSuffix(" KB")
    box.setAccessibleName(name)
    indented(box)
    return box


def _text(table: QTableWidget) -> str:
    """Return a table with its heads, cells parted by tabs, "" for an empty one."""
    if not table.rowCount():
        return ""
    columns = range(table.columnCount())
    model, across = table.model(), Qt.Orientation.Horizontal
    lines = [[str(model.headerData(at, across)) for at in columns]]
    lines += [[str(model.index(n, at).data()) for at in columns] for n in range(table.rowCount())]
    return "\n".join("\t".join(line) for line in lines)


def tiny_dialog(desk: Desk) -> TinyDialog:
    """Show networks on microcontrollers."""
    dialog = TinyDialog(desk)
    give_hints(dialog)
    dialog.open()
    return dialog
