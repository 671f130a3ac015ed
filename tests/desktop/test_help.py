"""Help where the eye is: the guide and the glossary without a network, the tour, what a finding
speaks of."""

from pathlib import Path

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import Qt

from rigplanner.data import data_path
from rigplanner.desktop import documents
from rigplanner.desktop.findings.shown import sight_of
from rigplanner.desktop.panels.pages import PAGES, guide_to_the_window
from rigplanner.desktop.panels.tour import STEPS, Tour
from rigplanner.desktop.window import TABS, Window
from rigplanner.rules.core.finding import Finding


@pytest.fixture
def dual(qtbot, window: Window, sample_folder: Path) -> Window:
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    return window


def test_the_guide_opens_at_the_tab_that_is_shown(dual: Window) -> None:
    for title in TABS:
        dual.show_tab(title)
        dialog = guide_to_the_window(dual)
        heads = dict(dialog.browser.heads())
        assert title in heads, "every tab has a head in the guide"
        assert dialog.browser.textCursor().position() == heads[title]
        assert not dialog.isModal()
        dialog.close()


def test_every_page_is_there_and_its_links_lead_on(dual: Window) -> None:
    dialog = guide_to_the_window(dual)
    for name, _ in PAGES:
        assert (data_path("docs") / f"{name}.md").is_file(), name
        dialog.open_page(name)
        assert dialog._page == name
        assert len(dialog.browser.toPlainText()) > 1000
        assert dialog.missing.isHidden()
    dialog.close()


def test_the_glossary_has_the_letters_of_the_matrix_and_words_of_the_window() -> None:
    text = (data_path("docs") / "glossary.md").read_text("utf-8")
    for word in ("PHB", "KV cache", "ZeRO", "Variant", "Power limit", "Bifurcation", "Tight"):
        assert word in text


def test_the_tour_goes_round_by_keys_and_can_be_left(qtbot, dual: Window) -> None:
    tour = dual.start_tour()
    seen = []
    for _ in STEPS:
        place = tour._frame.geometry()
        assert dual.rect().contains(tour.geometry()), tour.title.text()
        assert not place.isEmpty()
        seen.append((tour.title.text(), place.topLeft().toTuple()))
        qtbot.keyClick(tour, Qt.Key.Key_Right)
    assert len(set(seen)) == len(STEPS) == 5
    assert dual.session.preferences.now.tour_seen
    tour = dual.start_tour()
    qtbot.keyClick(tour.next, Qt.Key.Key_Right)
    assert tour.title.text() == "Parts", "an arrow on a button goes on too"
    qtbot.keyClick(tour.next, Qt.Key.Key_Tab)
    assert dual.focusWidget() in tour._buttons()
    qtbot.keyClick(tour.back, Qt.Key.Key_Escape)
    assert not [each for each in dual.findChildren(Tour) if each.isVisible()]


def test_the_first_start_offers_the_tour_once(window: Window) -> None:
    window.show_tab("Start")
    start = window.view("Start")
    assert start._tour.count() == 1
    window.actions_by_id["tour"].trigger()
    assert window.session.is_open, "a sample is shown where nothing is open"
    (tour,) = [each for each in window.findChildren(Tour) if each.isVisible()]
    tour.end()
    window.show_tab("Start")
    assert start._tour.count() == 0


def test_a_click_on_a_finding_shows_what_it_speaks_of(dual: Window) -> None:
    assessment = dual.session.assessment
    assert assessment is not None
    for subjects, tab in (
        (("gpu.0", "PCIEX16"), "Machine"),
        (("PCIEX16",), "Machine"),
        (("workload.1", "gpu.0"), "Workloads"),
        (("psu.0",), "Parts"),
        (("cooler.0", "memory.0"), "Parts"),
    ):
        finding = Finding(code="PCI004", severity="warning", subjects=subjects)
        sight = sight_of(finding, assessment)
        assert sight is not None
        assert sight.tab == tab, subjects
        dual.show_tab("Compare")
        if tab == "Machine":
            dual.view("Machine").places.setCurrentCell(-1, -1)
        dual.session.finding_asked.emit(finding)
        assert dual.tab_title() == tab, subjects
        if tab == "Machine":
            machine = dual.view("Machine")
            assert machine.places.item(machine.places.currentRow(), 0).text() == "PCIEX16"
        if tab == "Parts":
            assert dual.parts.model.kind == sight.kind
            assert dual.parts.model.replaced == dual.session.rig.item(sight.uid).part


def test_a_finding_on_nothing_in_particular_stays_where_it_is(dual: Window) -> None:
    dual.show_tab("Quote")
    dual.session.finding_asked.emit(Finding(code="RIG002", severity="unknown"))
    assert dual.tab_title() == "Quote"
