"""The dialog of networks on microcontrollers tells what the command tells."""

import pytest
from PySide6.QtGui import QGuiApplication

from rigplanner.cli.main import main
from rigplanner.desktop.dialogs.tiny import TinyDialog, tiny_dialog


@pytest.fixture
def dialog(window) -> TinyDialog:
    return tiny_dialog(window)


ASKED: tuple[tuple[str, tuple[float, float] | None, str, str], ...] = (
    ("kws", None, "Arduino Nano 33 BLE Sense", "): fits"),
    ("DS-CNN, keyword spotting", None, "uno", "too little SRAM"),
    ("own network", (100, 246), "nano 33", "tight"),
    ("own network", (100, 246.1), "nano 33", "too little SRAM"),
    ("own network", (964.1, 23), "nano 33", "too little flash"),
    ("own network", (9e5, 23), "nano 33", "too little flash"),
    ("vww", None, "esp32", "no flash of its own"),
    ("vww", None, "toaster", "is not known"),
    ("resnet-50", None, "pico", "is no network for microcontrollers"),
)


def test_the_dialog_tells_what_the_command_tells(
    dialog: TinyDialog, capsys: pytest.CaptureFixture[str]
) -> None:
    for network, own, board, told in ASKED:
        given = ["--flash-kb", str(own[0]), "--sram-kb", str(own[1])] if own else []
        code = main(["tiny", network, "--board", board, *given])
        printed = capsys.readouterr()
        dialog.own.setChecked(own is not None)
        if own:
            dialog.flash.setValue(own[0])
            dialog.sram.setValue(own[1])
        else:
            dialog.network.setCurrentText(network)
        dialog.board.setCurrentText(board)
        shown = f"{dialog.head.text()}\n{dialog.note.text()}"
        assert told in shown and told in printed.out + printed.err, (network, board)
        if code:
            assert dialog.note.text() in printed.err and dialog.figures.rowCount() == 0
            continue
        lines = [line.strip() for line in printed.out.splitlines()]
        assert dialog.head.text() == lines[1]
        assert dialog.note.text() == " ".join((f"{lines[0]}.", *lines[2:]))


def test_each_figure_has_its_trust_and_all_is_copied(dialog: TinyDialog) -> None:
    dialog.network.setCurrentText("kws")
    dialog.board.setCurrentText("uno")
    rows = [[dialog.figures.item(n, m).text() for m in range(4)] for n in range(6)]
    assert [line[3] for line in rows] == ["press", "recalled", "estimate", "", "recalled", ""]
    assert rows[3][1:3] == ["113 KB", "33 KB"] and rows[4][1:3] == ["32 KB", "2 KB"]
    assert rows[5][1:3] == ["-81 KB", "-31 KB"]
    assert dialog.boards.item(0, 0).text() == "Arduino Nano 33 BLE Sense"
    assert [dialog.boards.item(n, 3).text() for n in range(5)] == ["fits"] * 5
    assert dialog.boards.item(5, 3).text() != "fits"
    dialog.copy()
    text = QGuiApplication.clipboard().text()
    assert "Arena of activations\t\t23 KB\trecalled\t" in text
    assert dialog.head.text() in text and "Raspberry Pi Pico\t2,048 KB\t264 KB\tfits" in text
