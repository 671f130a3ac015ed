"""The guide and the reading of this machine: from questions, or from the computer, to an open
rig."""

import pytest
from desktop_waiting import settled_session
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from shiboken6 import isValid

from rigplanner.catalog.schema.parts import GPU
from rigplanner.desktop.dialogs.guide import guide_dialog
from rigplanner.desktop.dialogs.this_machine import machine_dialog
from rigplanner.machine.formats.facts import Fact
from rigplanner.rig.document import Site

SHORT = (
    "nvidia.geforce.rtx-5050",
    "nvidia.geforce.rtx-5060-ti-16gb",
    "nvidia.tesla.t4",
    "nvidia.geforce.rtx-3090",
)
"""Cards enough to choose from, so that a search takes little."""


@pytest.fixture
def guide(qtbot, window, catalog):
    few = {i: p for i, p in catalog.parts.items() if not isinstance(p, GPU) or i in SHORT}
    window.session.shelf.use(replace(catalog, parts=few))
    window.session.preferences.change(site=Site(country="DE", volts=230.0, breaker_a=16.0))
    dialog = guide_dialog(window)
    yield dialog
    if isValid(dialog):
        dialog.close()


def _answered(qtbot, window, dialog) -> None:
    dialog.ask()
    settled_session(qtbot, window.session)


def test_an_answer_has_reasons_and_opens_as_a_rig(qtbot, window, guide):
    guide.budget.setValue(3000)
    _answered(qtbot, window, guide)
    best = guide.advice.best
    assert best is not None
    said = {each.text() for each in guide.findChildren(QLabel)}
    assert all(
        any(word in text for text in said)
        for word in ("The cheapest supply", "images/s", "an hour")
    )
    qtbot.mouseClick(guide.take, Qt.MouseButton.LeftButton)
    settled_session(qtbot, window.session)
    rig = window.session.rig
    assert rig.items == best.rig.items
    assert rig.site.volts == 230
    assert rig.budget == 3000
    assert window.session.unsaved
    assert window.session.assessment.report.count("error") == 0


def test_a_budget_that_does_not_reach_offers_the_least_expensive_rig(qtbot, window, guide):
    guide._purposes.button(1).click()
    guide.budget.setValue(100)
    _answered(qtbot, window, guide)
    assert guide.advice.best is None
    assert not guide.take.isVisible()
    assert guide.take_cheapest.isVisible()
    assert "above your budget" in guide.head.text()


def test_the_money_of_the_answer_is_chosen(qtbot, window, guide):
    guide.close()
    window.session.preferences.change(currency="TWD")
    dialog = guide_dialog(window)
    assert dialog.currency.currentText() == "TWD"
    dialog.currency.setCurrentText("USD")
    dialog.budget.setValue(3000)
    _answered(qtbot, window, dialog)
    assert dialog.advice.answers.currency == "USD"
    assert dialog.advice.best.rig.currency == "USD"
    dialog.close()


def test_a_search_can_be_stopped(qtbot, window, guide):
    guide.ask()
    guide.cancel()
    assert guide.advice is None
    assert "Stopped" in guide.head.text()
    settled_session(qtbot, window.session)
    assert guide.advice is None


def test_each_purpose_asks_for_what_it_can_do(guide):
    for n, purpose in enumerate(guide._words.PURPOSES):
        guide._purposes.button(n).click()
        assert guide.purpose == purpose
        assert guide.aim.count() >= 4
        assert guide.budget.value() > 0


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
