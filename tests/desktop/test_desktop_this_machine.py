"""The reading of this machine: from the computer to an open rig."""

from desktop_waiting import settled_session
from PySide6.QtCore import Qt

from rigplanner.desktop.dialogs.this_machine import machine_dialog
from rigplanner.machine.formats.facts import Fact


def test_this_machine_says_what_was_not_recognised_and_why(qtbot, window, monkeypatch):
    facts = (
        Fact("cpu", "AMD Ryzen 9 5950X 16-Core Processor"),
        Fact("memory", "64 GiB"),
        Fact("gpu", "NVIDIA GeForce RTX 3090", 2, "PCIe 4 x16"),
        Fact("storage", "AN UNHEARD-OF DRIVE 1", 1, "1000 GB"),
    )
    monkeypatch.setattr("rigplanner.desktop.dialogs.this_machine.read_this_machine", lambda: facts)
    dialog = machine_dialog(window)
    settled_session(qtbot, window.session)
    shown = [
        [dialog.table.item(r, c).text() for c in range(3)] for r in range(dialog.table.rowCount())
    ]
    assert shown[0][2] == "AMD Ryzen 9 5950X"
    assert "not added" in shown[1][2]
    assert shown[2][1].startswith("2 × ") and shown[2][2] == "GeForce RTX 3090"
    assert "not in the catalog" in shown[3][2]
    qtbot.mouseClick(dialog.take, Qt.MouseButton.LeftButton)
    settled_session(qtbot, window.session)
    assert [item.quantity for item in window.session.rig.items] == [1, 2]
    assert "AN UNHEARD-OF DRIVE" in window.session.rig.notes


def test_a_machine_that_says_nothing_is_said(qtbot, window, monkeypatch):
    monkeypatch.setattr("rigplanner.desktop.dialogs.this_machine.read_this_machine", lambda: ())
    dialog = machine_dialog(window)
    settled_session(qtbot, window.session)
    assert not dialog.take.isEnabled()
    assert "No hardware" in dialog.head.text()
    dialog.close()


def test_a_text_captured_on_another_machine_is_read_too(qtbot, window, tmp_path, monkeypatch):
    monkeypatch.setattr("rigplanner.desktop.dialogs.this_machine.read_this_machine", lambda: ())
    dialog = machine_dialog(window)
    settled_session(qtbot, window.session)
    (tmp_path / "smi.txt").write_text(
        "==============NVSMI LOG==============\n\nAttached GPUs : 1\nGPU 00000000:01:00.0\n"
        "    Product Name                          : NVIDIA GeForce RTX 3090\n",
        "utf-8",
    )
    dialog.read_text(tmp_path / "smi.txt")
    settled_session(qtbot, window.session)
    assert dialog.table.item(0, 2).text() == "GeForce RTX 3090"
    log = "h:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1000 - Init START\n"
    log += "".join(
        f"h:1:2 [{a}] NCCL INFO Channel 00 : {a}[{a}] -> {1 - a}[{1 - a}] via SHM/direct/direct\n"
        for a in (0, 1)
    )
    (tmp_path / "nccl.log").write_text(log, "utf-8")
    dialog.read_text(tmp_path / "nccl.log")
    settled_session(qtbot, window.session)
    assert "NCCL" in dialog.head.text()
    assert "2" in dialog.note.text()
    assert not dialog.take.isEnabled()
    (tmp_path / "poem.txt").write_text("Roses are red\n", "utf-8")
    dialog.read_text(tmp_path / "poem.txt")
    settled_session(qtbot, window.session)
    assert "poem.txt" in dialog.note.text()
    assert not dialog.take.isEnabled()
    dialog.close()
