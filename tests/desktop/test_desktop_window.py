"""Whole sessions in the window, by mouse and keyboard."""

import time

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import QEvent, QEventLoop, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QLabel,
    QMenu,
    QMessageBox,
    QPushButton,
    QWidget,
)

from rigplanner.cli.main import main
from rigplanner.desktop import documents
from rigplanner.desktop.actions import COMMANDS, MENUS
from rigplanner.desktop.document import exports
from rigplanner.desktop.findings.card import FindingCard
from rigplanner.desktop.findings.view import MOST_CARDS
from rigplanner.desktop.panels.palette import hits
from rigplanner.desktop.parts.model import NAME
from rigplanner.desktop.window import TABS
from rigplanner.planning.limits import limits
from rigplanner.report.quote.content import verdict_text
from rigplanner.rig.document import Site
from rigplanner.rig.edits import Edit
from rigplanner.rig.files import read_rig
from rigplanner.rules.core.finding import Finding

LAYOUT_ROUNDS = 5
"""Layouts settle in rounds: a label is shortened for its room, then the room is shared anew."""


def open_sample(window, sample_folder, name: str) -> None:
    documents.open_file(window, sample_folder / f"{name}.rig", sample=True)
    end = time.monotonic() + 60
    while window.session.pending and time.monotonic() < end:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
    assert window.session.assessment is not None


def choose(qtbot, window, kind: str, words: str) -> str:
    """Pick the first match of some words by keyboard, as a person would."""
    window.parts.show_kind(kind, "")
    window.show_tab("Parts")
    window.parts.words.clear()
    qtbot.keyClicks(window.parts.words, words)
    window.parts.apply_filter()
    table = window.parts.table
    table.setFocus()
    table.setCurrentIndex(window.parts.model.index(0, NAME))
    name = window.parts.model.index(0, NAME).data()
    qtbot.keyClick(table, Qt.Key.Key_Return)
    return name


def test_a_rig_from_nothing_to_a_saved_file(qtbot, window, tmp_path):
    window.actions_by_id["new"].trigger()
    chosen = [
        choose(qtbot, window, kind, words)
        for kind, words in (
            ("cpu", "7443p"),
            ("motherboard", "romed8-2t"),
            ("gpu", "rtx 3090"),
            ("memory", "rdimm 32"),
            ("psu", "1600"),
        )
    ]
    window.build.view.setCurrentIndex(window.build.model.index(window.build.model.row_of("gpu")))
    window.build._quantity.setValue(2)
    settled_session(qtbot, window.session)
    assert window.session.rig.item("gpu").quantity == 2
    assert len(window.session.assessment.machine.gpus) == 2
    path = tmp_path / "mine.rig"
    assert window.session.save(path)
    assert [item.uid for item in read_rig(path).items] == [
        "cpu",
        "motherboard",
        "gpu",
        "memory",
        "psu",
    ]
    assert window.session.undo_name() == f"Set {chosen[2]} to 2"
    pdf = tmp_path / "mine.pdf"
    assert exports.save_quote(window.session, pdf)
    assert pdf.read_bytes().startswith(b"%PDF")


def test_typing_filters_the_table(qtbot, window):
    window.show_tab("Parts")
    qtbot.keyClicks(window.parts.words, "4090 suprim")
    qtbot.waitUntil(lambda: 0 < window.parts.model.rowCount() < 10)
    assert all(
        "4090" in part.name and "suprim" in part.name.casefold()
        for part in window.parts.model.parts
    )
    assert " of " in window.parts.count.text()


def test_badges_come_from_the_worker(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    window.parts.show_kind("gpu", "")
    qtbot.waitUntil(
        lambda: window.parts.model.fit_of(window.parts.model.parts[0].id) is not None,
        timeout=20_000,
    )
    window.parts.show_kind("gpu", "gpu")
    assert window.parts.model.judged() == frozenset(), (
        "what fits instead of a card is another question than what fits beside it"
    )
    settled_session(qtbot, window.session)
    assert window.parts.model.index(0, 0).data() in ("fits", "warns", "does not fit", "unknown")


def test_a_fix_button_applies_its_edits_and_undo_takes_them_back(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    card = next(card for card in window.findings.cards() if card.finding.code == "PWR012")
    buttons = [
        button
        for button in card.findChildren(QAbstractButton)
        if button.accessibleName().startswith("Limit")
    ]
    qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)
    assert window.session.rig.item("gpu").power_cap_w is not None
    assert "PWR012" not in [card.finding.code for card in window.findings.cards()]
    window.session.undo()
    assert "PWR012" in [card.finding.code for card in window.findings.cards()]


def test_a_click_packs_the_data_set(qtbot, window, tmp_path):
    parts = ["Titan X Pascal", "Core i7-7700K", "ASUS Z270-WS", "WD1003FZEX", "2x 8GB DDR4-2400"]
    work = "alexnet task=train precision=fp32 batch_per_gpu=64 dataset_gb=250"
    work += " dataset_samples=14000000 dataset_format=files"
    assert main(["new", *parts, "--workload", work, "-o", str(tmp_path / "files.rig")]) == 0
    documents.open_file(window, tmp_path / "files.rig")
    settled_session(qtbot, window.session)
    card = next(card for card in window.findings.cards() if card.finding.code == "DSK009")
    pack = next(
        button
        for button in card.findChildren(QAbstractButton)
        if button.accessibleName().startswith("Pack the data set")
    )
    qtbot.mouseClick(pack, Qt.MouseButton.LeftButton)
    settled_session(qtbot, window.session)
    assert window.session.rig.workloads[0].dataset_format == "packed"
    assert "DSK009" not in [card.finding.code for card in window.findings.cards()]
    window.session.undo()
    assert window.session.rig.workloads[0].dataset_format == "files"


def test_waive_ignore_and_severity(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    card = window.findings.cards()[0]
    code = card.finding.code
    card.ask_reason()
    card._text.setText("The lab has its own circuit")
    card._by.setText("K. N.")
    qtbot.keyClick(card._by, Qt.Key.Key_Return)
    assert [finding.code for finding in window.session.assessment.report.waived] == [code]
    assert "1 finding accepted" in window.findings.counts.text()
    assert window.session.preferences.now.name == "K. N."
    other = window.findings.cards()[0]
    titles = [action.text() for action in other.make_menu().actions()]
    assert any(title.startswith("Ignore") for title in titles)
    other._ignore()
    assert other.finding.code in window.session.assessment.report.ignored
    third = window.findings.cards()[0]
    assert third.finding.code not in (code, other.finding.code)
    third._set_severity("error")
    assert window.session.rig.severities == {third.finding.code: "error"}


def _mouse(widget: QWidget, kind: QEvent.Type, at: QPointF) -> None:
    button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else Qt.MouseButton.LeftButton
    held = (
        Qt.MouseButton.NoButton
        if kind == QEvent.Type.MouseButtonRelease
        else Qt.MouseButton.LeftButton
    )
    none = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(
        widget, QMouseEvent(kind, at, widget.mapToGlobal(at), button, held, none)
    )


def test_a_card_moves_by_drag_and_by_the_fields(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    window.show_tab("Machine")
    drawing = window.view("Machine").drawing
    QApplication.processEvents()
    settled_session(qtbot, window.session)
    device = next(
        box for box in drawing._drawing.boxes if box.role == "device" and box.piece == "gpu.0"
    )
    free = next(
        box
        for box in drawing._drawing.boxes
        if box.role == "device" and box.empty and box.place.startswith("PCIE")
    )
    start, end = (QPointF(box.x + 5, box.y + 5) for box in (device, free))
    _mouse(drawing, QEvent.Type.MouseButtonPress, start)
    _mouse(drawing, QEvent.Type.MouseMove, end)
    qtbot.waitUntil(lambda: bool(window.view("Machine")._moves), timeout=20_000)
    _mouse(drawing, QEvent.Type.MouseMove, end)
    targets = window.view("Machine")._moves
    _mouse(drawing, QEvent.Type.MouseButtonRelease, end)
    assert targets[device.place].here
    assert window.session.rig.item("gpu").place_of(0) == free.place
    settled_session(qtbot, window.session)
    back = window.view("Machine").targets.findText(device.place, Qt.MatchFlag.MatchStartsWith)
    window.view("Machine").targets.setCurrentIndex(back)
    qtbot.mouseClick(window.view("Machine").go, Qt.MouseButton.LeftButton)
    assert window.session.rig.item("gpu").place_of(0) == device.place


def test_slots_and_cards_are_drawn_as_the_report_draws_them(window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    window.show_tab("Machine")
    picture = window.view("Machine").slots
    assert "4090" in picture.accessibleDescription()
    assert picture.minimumHeight() > 100
    open_sample(window, sample_folder, "jetson-agx-orin")
    assert "not known" in picture.accessibleDescription()
    picture.grab()


def test_the_matrix_is_that_of_the_machine(window, sample_folder):
    open_sample(window, sample_folder, "dgx-1-v100")
    matrix = window.view("Machine").matrix
    shown = [
        [matrix.item(r, c).text() for c in range(matrix.columnCount())]
        for r in range(matrix.rowCount())
    ]
    assert shown == [
        [cell or "?" for cell in line] for line in window.session.assessment.machine.matrix
    ]


def test_a_workload_is_added_edited_and_removed(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    window.show_tab("Workloads")
    before = len(window.session.rig.workloads)
    qtbot.keyClicks(window.view("Workloads").zoo, "resnet50")
    qtbot.keyClick(window.view("Workloads").zoo, Qt.Key.Key_Return)
    assert window.session.rig.workloads[-1].model == "resnet50"
    window.view("Workloads").form._fields["batch_per_gpu"].field.setValue(48)
    qtbot.waitUntil(lambda: window.session.rig.workloads[-1].batch_per_gpu == 48)
    assert window.session.rig.workloads[-1].batch_per_gpu == 48
    assert window.session.assessment.jobs[-1].memory
    window.view("Workloads").results.remove.click()
    assert len(window.session.rig.workloads) == before
    window.session.undo()
    assert len(window.session.rig.workloads) == before + 1


def test_a_model_that_is_not_there_is_told(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    qtbot.keyClicks(window.view("Workloads").zoo, "no such network")
    qtbot.keyClick(window.view("Workloads").zoo, Qt.Key.Key_Return)
    assert "no such network" in window.messages.text.text()


def test_a_config_that_is_none_is_told(window, sample_folder, tmp_path):
    open_sample(window, sample_folder, "dual-rtx-3090")
    before = window.session.rig
    for n, content in enumerate((b"{", b"[1]", b"\xff\xfe", b'{"a": ' + b"[" * 100_000)):
        path = tmp_path / f"config{n}.json"
        path.write_bytes(content)
        window.view("Workloads").add.add_file(path)
        assert window.session.rig is before, content[:9]
        assert path.name in window.messages.text.text(), content[:9]


def test_gauges_show_the_limits_and_open_their_steps(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    expected = limits(window.session.assessment)
    assert [gauge.limit for gauge in window.gauges.gauges] == list(expected)
    circuit = window.gauges.gauges[2]
    assert circuit.limit.share > 1 and "does not fit" in circuit.accessibleName()
    qtbot.keyClick(circuit, Qt.Key.Key_Return)
    dialog = window.findChildren(QDialog)[-1]
    assert dialog.windowTitle() == "Circuit"
    dialog.close()


def test_comparison_has_a_column_per_rig(qtbot, window, sample_folder, tmp_path):
    open_sample(window, sample_folder, "dual-rtx-3090")
    window.show_tab("Compare")
    assert window.view("Compare").add_file(sample_folder / "rtx-5090.rig")
    qtbot.waitUntil(lambda: window.view("Compare").model.columnCount() == 3, timeout=20_000)
    everything = window.view("Compare").model.rowCount()
    window.view("Compare").differences.setChecked(True)
    assert 0 < window.view("Compare").model.rowCount() < everything
    window.view("Compare").baseline.setCurrentIndex(1)
    window.view("Compare")._show()
    assert window.view("Compare").model.baseline == 1
    window.view("Compare").save(tmp_path / "comparison.pdf", "pdf")
    assert (tmp_path / "comparison.pdf").read_bytes().startswith(b"%PDF")
    settled_session(qtbot, window.session)


def test_the_preview_shows_the_bytes_that_are_saved(qtbot, window, sample_folder, tmp_path):
    open_sample(window, sample_folder, "dual-rtx-3090")
    window.show_tab("Quote")
    qtbot.waitUntil(lambda: window.view("Quote").content is not None, timeout=30_000)
    exports.save_quote(window.session, tmp_path / "q.pdf")
    assert (tmp_path / "q.pdf").read_bytes() == window.view("Quote").content
    assert window.view("Quote")._document.pageCount() >= 1


def test_quote_fields_are_edits(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    field = next(
        w
        for w in window.view("Quote").findChildren(QWidget)
        if w.accessibleName() == "Customer Name"
    )
    field.setFocus()
    field.clear()
    field.setText("Ada & Söhne <b>")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert window.session.rig.quote.customer.name == "Ada & Söhne <b>"
    date = next(
        w for w in window.view("Quote").findChildren(QWidget) if w.accessibleName() == "Date"
    )
    date.setText("yesterday")
    qtbot.keyClick(date, Qt.Key.Key_Return)
    assert "yesterday" in window.messages.text.text()


def test_a_pasted_list_becomes_a_rig_and_keeps_what_did_not_match(window):
    window.view("Start").paste.setPlainText("2x RTX 3090\nRyzen 9 5950X\nan unheard-of thing")
    window.view("Start").make_from_list()
    assert [item.quantity for item in window.session.rig.items] == [2, 1]
    assert window.view("Start").paste.toPlainText() == "an unheard-of thing"
    assert "an unheard-of thing" in window.session.rig.notes
    assert "an unheard-of thing" in window.messages.text.text()
    assert window.tabs.currentIndex() == TABS.index("Parts")


def test_a_pasted_list_tells_that_memory_of_another_maker_was_taken(window):
    start = window.view("Start")
    start.paste.setPlainText("RTX 3090\nNoName Value 32GB (2x16GB) DDR4-3200")
    start.make_from_list()
    assert "NoName" in window.messages.text.text()
    assert "the same size or figures" in window.session.rig.notes
    start.paste.setPlainText("Corsair Vengeance LPX 2x16GB DDR4-3200")
    start.make_from_list()
    assert window.session.rig.notes == ""
    assert window.tabs.currentIndex() == TABS.index("Parts")


def test_leaving_edits_behind_offers_them_back(window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    window.session.edit("Name", Edit("rename", {"name": "Mine"}))
    documents.new_rig(window)
    assert window.session.rig.items == ()
    assert window.messages.action.isVisible()
    window.messages.action.click()
    assert window.session.rig.name == "Mine" and window.session.unsaved


def test_hostile_names_show_as_text(window):
    nasty = "<b>x</b> \u202e\U0001f600 " + "y" * 10_000
    window.session.edit("Name", Edit("rename", {"name": nasty}))
    window.session.edit("Add", Edit("add_part", {"part": nasty, "stem": "gpu"}))
    for title in TABS:
        window.show_tab(title)
    assert any(
        "<b>" in window.build.model.index(row).data()
        for row in range(window.build.model.rowCount())
    )
    assert window.minimumSizeHint().width() <= 1366


def test_palette_finds_commands_and_parts(qtbot, window):
    window.palette_box.open_at_top()
    assert [hit.text for hit in hits(window, "dark colours")] == ["Dark colours"]
    assert any("4090" in hit.text for hit in hits(window, "4090"))
    sample = hits(window, "two rtx 3090")[0]
    assert (sample.text, sample.note) == ("Two RTX 3090 with NVLink", "Sample")
    model = next(hit for hit in hits(window, "resnet50") if hit.icon == "workload")
    model.run()
    assert window.view("Workloads").zoo.text() == model.text
    window.view("Workloads").zoo.clear()
    qtbot.keyClicks(window.palette_box.field, "rtx 4090")
    qtbot.keyClick(window.palette_box.field, Qt.Key.Key_Return)
    assert window.tabs.currentIndex() == TABS.index("Parts")
    assert window.parts.details._part.name.endswith("4090")


def test_actions_are_one_registry(window):
    keys = [command.keys for command in COMMANDS if command.keys]
    assert len(keys) == len(set(keys))
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)
    assert {command.menu for command in COMMANDS} == set(MENUS)
    in_menus = {action for menu in window.menuBar().actions() for action in menu.menu().actions()}
    assert {window.actions_by_id[command.id] for command in COMMANDS} <= in_menus


def test_undo_words_follow_the_history(window):
    assert not window.actions_by_id["undo"].isEnabled()
    window.session.edit("Name it", Edit("rename", {"name": "A"}))
    assert window.actions_by_id["undo"].text() == "Undo Name it"
    window.actions_by_id["undo"].trigger()
    assert window.session.rig.name == "Untitled rig"


def test_every_widget_with_focus_has_a_name(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    for title in TABS:
        window.show_tab(title)
    window.show_shortcuts()
    window.gauges.gauges[0].clicked.emit(window.gauges.gauges[0].limit)
    nameless = [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for top in (window, *window.findChildren(QDialog))
        for widget in top.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not _spoken(widget)
    ]
    assert nameless == []
    for dialog in window.findChildren(QDialog):
        dialog.close()
    settled_session(qtbot, window.session)


def _spoken(widget: QWidget) -> bool:
    """Widgets inside a field or a list (editors, viewports, scroll bars) are named by it; a tab bar
    or button by its text."""
    if widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text()):
        return True
    owner = widget.parentWidget()
    if owner is not None and owner.metaObject().className() == "QComboBoxPrivateContainer":
        return True
    inner = widget.objectName().startswith("qt_") or isinstance(owner, QAbstractScrollArea)
    return bool(
        inner
        and owner is not None
        and (owner.accessibleName() or not owner.focusPolicy() & Qt.FocusPolicy.TabFocus)
    )


def test_views_fit_a_small_screen_and_cut_no_word(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    window.resize(1366, 768)
    for title in TABS:
        window.show_tab(title)
        settled_session(qtbot, window.session)
        for _ in range(LAYOUT_ROUNDS):
            QApplication.processEvents()
        assert window.width() <= 1366 and window.height() <= 768, title
        assert (
            window.minimumSizeHint().width() <= 1366 and window.minimumSizeHint().height() <= 768
        ), title
        shown = [each for each in window.findChildren(QLabel) if each.isVisible() and each.text()]
        cut = [
            each.text()
            for each in shown
            if not each.wordWrap() and each.width() < each.sizeHint().width() - 1
        ]
        assert cut == [], title
        assert [each.text() for each in shown if each.fontInfo().pixelSize() < 11] == [], title


def test_twenty_rows_and_all_gauges_are_in_sight(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    window.resize(1366, 768)
    window.show_tab("Parts")
    qtbot.waitUntil(lambda: window.parts.table.viewport().height() > 100)
    rows = (
        window.parts.table.viewport().height()
        / window.parts.table.verticalHeader().defaultSectionSize()
    )
    assert rows >= 19
    qtbot.waitUntil(
        lambda: all(not gauge.visibleRegion().isEmpty() for gauge in window.gauges.gauges)
    )


def test_no_question_is_ever_asked(qtbot, window, sample_folder, monkeypatch):
    monkeypatch.setattr(QMessageBox, "exec", lambda *_: pytest.fail("a modal question"))
    open_sample(window, sample_folder, "dual-rtx-3090")
    window.build.view.setCurrentIndex(window.build.model.index(0))
    window.build.remove_current()
    assert window.messages.action.text() == "Undo"
    window.messages.action.click()
    assert window.session.rig.items == read_rig(sample_folder / "dual-rtx-3090.rig").items


def test_panels_hide_and_come_back(window):
    for name in ("build", "findings", "gauges"):
        window.toggle_panel(name)
        assert not window.panels[name].isVisible()
        window.toggle_panel(name)
        assert window.panels[name].isVisible()


def test_the_tour_can_be_dismissed_for_good(window):
    window.view("Start")._dismiss_tour()
    assert window.session.preferences.now.tour_seen


def test_every_sample_opens_in_every_view(qtbot, window, sample_folder):
    for path in sorted(sample_folder.glob("*.rig")):
        open_sample(window, sample_folder, path.stem)
        for title in TABS[1:]:
            window.show_tab(title)
            window.grab()
        assert window.session.assessment.rig.name == read_rig(path).name
    settled_session(qtbot, window.session)


def test_every_command_runs(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    window.build.view.setCurrentIndex(window.build.model.index(0))
    for command in COMMANDS:
        if command.id in ("quit", "add-part", "larger-text", "smaller-text", "usual-text"):
            continue
        open_dialogs = window.findChildren(QDialog)
        window.actions_by_id[command.id].trigger()
        QApplication.processEvents()
        for dialog in window.findChildren(QDialog):
            if dialog not in open_dialogs:
                dialog.close()
    assert window.session.assessment is not None
    settled_session(qtbot, window.session)


def test_the_rig_can_be_copied(window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    copied = set()
    for form in ("markdown", "bbcode", "csv", "json"):
        exports.copy_as(window.session, form)
        assert "RTX 3090" in QApplication.clipboard().text(), form
        copied.add(QApplication.clipboard().text())
    assert len(copied) == 4


def test_names_have_room_before_all_figures_do(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    table = window.parts.table
    window.parts.show_kind("gpu", "")
    window.resize(1366, 768)
    QApplication.processEvents()
    narrow = [n for n in range(window.parts.model.columnCount()) if table.isColumnHidden(n)]
    assert (
        narrow
        and 0 not in narrow
        and NAME not in narrow
        and window.parts.model.columnCount() - 1 not in narrow
    )
    window.resize(2400, 900)
    QApplication.processEvents()
    assert not any(table.isColumnHidden(n) for n in range(window.parts.model.columnCount()))


def test_the_filter_leads_down_to_the_table(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    window.parts.show_kind("gpu", "")
    window.parts.words.setFocus()
    window.parts.words.setText("rtx 3090")
    qtbot.keyClick(window.parts.words, Qt.Key.Key_Down)
    assert "3090" in window.parts.details._part.name
    assert window.parts.table.hasFocus()


def test_facets_are_filled_when_they_are_opened(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    window.parts.show_kind("gpu", "")
    window.parts.narrow.click()
    assert all(box.count() > 1 for box in window.parts.filters._facets.values())


def test_an_unknown_site_is_said_by_one_choice(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    window.session.edit("Nowhere", Edit("set_site", {"site": Site()}))
    settled_session(qtbot, window.session)
    say = next(
        each
        for each in window.findings.findChildren(QPushButton)
        if each.text().startswith("Set the wall outlet")
    )
    say.click()
    menu = next(each for each in window.findings.findChildren(QMenu) if each.isVisible())
    next(each for each in menu.actions() if each.text().startswith("Czechia")).trigger()
    menu.close()
    site = window.session.rig.site
    assert (site.country, site.volts, site.breaker_a) == ("CZ", 230.0, 16.0)
    window.session.undo()
    assert window.session.rig.site == Site()


def test_a_new_rig_has_no_findings_and_no_verdict(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    window.show_tab("Machine")
    twins = [
        finding
        for finding in window.session.assessment.report.findings
        if finding.severity != "unknown"
    ]
    documents.new_rig(window)
    settled_session(qtbot, window.session)
    assert twins
    assert [card for card in window.findings.findChildren(FindingCard) if not card.isHidden()] == []
    assert (
        not window.parts.table.currentIndex().isValid()
        and window.parts.details.title.text() == "No part selected"
    )
    window.show_tab("Machine")
    assert "Choose a motherboard" in window.view("Machine").drawing.empty
    assert (
        verdict_text(window.session.assessment, window.session.catalog)
        == "No parts are chosen yet, so nothing was checked."
    )


def test_findings_that_are_alike_each_have_a_card_that_goes(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    two = [
        Finding(code="RIG003", severity="info", subjects=("board.0",), values={"n": n})
        for n in range(2)
    ]
    window.findings._show_cards([(finding, False) for finding in two])
    assert len(window.findings.cards()) == 2
    window.findings._show_cards([])
    assert [card for card in window.findings.findChildren(FindingCard) if not card.isHidden()] == []


def test_ten_thousand_findings_show_a_page_at_a_time(qtbot, window, sample_folder):
    open_sample(window, sample_folder, "quad-rtx-4090")
    view = window.findings
    assert view.more.isHidden()
    many = [
        (Finding(code="RIG003", severity="info", subjects=(f"gpu.{n}",)), False)
        for n in range(10_000)
    ]
    view._show_cards(many)
    assert (
        len(view.cards()) == MOST_CARDS
        and not view.more.isHidden()
        and view.more.text() == "Show 60 more findings"
    )
    view._show_cards(many[:MOST_CARDS])
    assert len(view.cards()) == MOST_CARDS and view.more.isHidden()
    view._show_cards(many[: MOST_CARDS + 1])
    assert view.more.text() == "Show 1 more finding"
    view._most += MOST_CARDS
    view._show_cards(many[: MOST_CARDS + 1])
    assert len(view.cards()) == MOST_CARDS + 1 and view.more.isHidden()
    documents.new_rig(window)
    assert view._most == MOST_CARDS


def test_the_head_of_the_catalog_says_whether_a_row_adds_or_replaces(
    qtbot, window, sample_folder
) -> None:
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    parts = window.parts
    parts.browse("gpu")  # all slots are taken: one more has no place
    assert parts.target.currentText() == "Replace GeForce RTX 3090"
    assert parts.target.currentData() == "gpu"
    parts.target.setCurrentIndex(0)
    parts.target.activated.emit(0)
    assert parts._uid == ""
    parts.browse("storage")
    assert parts.target.currentData() == ""
    parts.browse("psu")
    assert parts.target.currentData() == "psu"
    parts.browse("nic")
    assert parts.target.isHidden(), "nothing of this kind is in the rig"
