"""The page that compares the plan with the delivered machine."""

import time
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMenu

from rigplanner.desktop import documents
from rigplanner.desktop.dialogs.acceptance import acceptance_dialog
from rigplanner.performance.anchors.own import own_folder

LSPCI = """01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1
		LnkSta:	Speed 16GT/s, Width x{0}
02:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1
		LnkSta:	Speed 16GT/s, Width x8
"""


@pytest.fixture
def page(qtbot, window, sample_folder, tmp_path):
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settle(window)
    (tmp_path / "capture").mkdir()
    return acceptance_dialog(window)


def settle(window) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        QApplication.processEvents()
        if not window.session.pending and not window.session.tasks.is_busy():
            return
    pytest.fail("the page did not settle")


def read(window, page, folder: Path, width: int = 4) -> None:
    (folder / "lspci.txt").write_text(LSPCI.format(width))
    page.read_folder(folder)
    settle(window)


def test_the_worst_line_comes_first_and_says_what_to_do(window, page, tmp_path):
    assert not page.save.isEnabled()
    read(window, page, tmp_path / "capture")
    assert page.head.text() == "The machine does not keep the promise of its plan"
    cells = [page.table.item(0, n).text() for n in range(4)]
    assert cells[0] == "not kept" and "RTX 3090" in cells[1] and cells[2:] == ["x8", "x4"]
    assert "seat the card again" in page.detail.text() and not page.table.item(0, 0).icon().isNull()
    assert page.save.isEnabled() and not page.keep.isEnabled()


def test_protocol_plan_and_script_are_written(window, page, tmp_path):
    read(window, page, tmp_path / "capture")
    assert page.save_protocol(tmp_path / "a.pdf", "pdf") and page.save_plan(
        tmp_path / "b.html", "html"
    )
    assert page.save_script(tmp_path / "collect.sh")
    starts = [(tmp_path / name).read_bytes()[:5] for name in ("a.pdf", "b.html", "collect.sh")]
    assert starts == [b"%PDF-", b"<!doc", b"#!/bi"]
    page.save.click()
    entries = [entry.text() for entry in page.save.findChild(QMenu).actions()]
    assert entries == ["Plain text", "JSON", "PDF", "Web page"]


def test_the_second_day_tells_what_changed(window, page, tmp_path):
    read(window, page, tmp_path / "capture", width=8)
    assert page.head.text().startswith("The machine keeps the promise")
    page.save_protocol(tmp_path / "first.json", "json")
    read(window, page, tmp_path / "capture")
    page.compare_with(tmp_path / "first.json")
    assert "x8 → x4 (worse)" in page.note.text()
    page.compare_with(tmp_path / "capture" / "lspci.txt")
    assert "expected an acceptance" in page.note.text()


def test_measured_speeds_are_kept_with_one_click(window, page, tmp_path):
    text = "# Avg bus bandwidth    : 41.5\n# Collective test starting: all_reduce_perf\n"
    (tmp_path / "capture" / "nccl.txt").write_text(text)
    read(window, page, tmp_path / "capture")
    page.keep.click()
    assert str(own_folder()) in page.note.text()
    assert "41.5" in next(own_folder().glob("accepted-*.jsonl")).read_text()


def test_what_cannot_be_read_is_one_sentence(window, page, tmp_path):
    page.read_folder(tmp_path / "none")
    settle(window)
    assert page.head.text() == "Nothing was read" and str(tmp_path / "none") in page.note.text()
    assert page.here.isEnabled() and not page.save.isEnabled()
