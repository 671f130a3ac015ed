"""Find the best rig: from a question to the proven answer, the front, the open rig and Compare."""

import pytest
from desktop_waiting import settled_session
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from shiboken6 import isValid

from rigplanner.catalog.schema.parts import GPU
from rigplanner.desktop.dialogs.best import OWN, best_dialog, save_proof
from rigplanner.planning.best.proof import proof_of
from rigplanner.planning.best.question import on_any_cards
from rigplanner.planning.best.verify import read_certificate, verify
from rigplanner.report.words.purposes import PURPOSES
from rigplanner.rig.document import Site
from rigplanner.rig.workload import Parallelism, Workload

SHORT = (
    "nvidia.geforce.rtx-5070-ti",
    "nvidia.geforce.rtx-5080",
    "nvidia.geforce.rtx-3090",
    "nvidia.geforce.rtx-4090",
)
"""Cards enough to choose from, so that a search takes little."""
HOSTS = (
    "msi.pro.b550m-pro-vdh-wifi",
    "amd.ryzen.5-5600g",
    "corsair.vengeance-lpx.cmk32gx4m2b3200c16",
    "teamgroup.mp44l.1-tb",
    "cooler-master.masterbox.q300l",
    "antec.c8.c8",
    "cooler-master.mwe-gold.850-v2",
    "thermalright.peerless-assassin.peerless-assassin-120-se",
)


@pytest.fixture
def page(qtbot, window, catalog):
    few = {i: p for i, p in catalog.parts.items() if i in SHORT or i in HOSTS}
    assert sum(isinstance(part, GPU) for part in few.values()) == len(SHORT)
    window.session.shelf.use(replace(catalog, parts=few))
    window.session.preferences.change(site=Site(country="DE", volts=230.0, breaker_a=16.0))
    dialog = best_dialog(window)
    yield dialog
    if isValid(dialog):
        dialog.close()


def _answered(qtbot, window, dialog) -> None:
    dialog.ask()
    settled_session(qtbot, window.session)


def _choose(dialog, purpose: str) -> None:
    dialog.purpose.setCurrentIndex(dialog.purpose.findData(purpose))
    dialog._choose()


def test_an_answer_is_proven_has_reasons_and_opens_as_a_rig(qtbot, window, page, tmp_path):
    _choose(page, "kaggle")
    page.budget.setValue(4500)
    page.used.setChecked(True)
    _answered(qtbot, window, page)
    found = page.found
    assert found is not None and found.whole and found.answer.best is not None
    assert found.answer.gap is None
    assert "Proven best of" in page.note.text()
    said = {each.text() for each in page.findChildren(QLabel)}
    for words in ("Cheapest power supply", "Rent ", "sequences/s", "Not looked at"):
        assert any(words in text for text in said), words
    assert len(found.points) > 1 and page.picture.isVisible()
    assert page.keep.isVisible()
    save_proof(window.session, found.answer, tmp_path / "proof.json")
    proof = read_certificate((tmp_path / "proof.json").read_bytes())
    assert verify(proof, window.session.catalog).holds
    qtbot.mouseClick(page.take, Qt.MouseButton.LeftButton)
    settled_session(qtbot, window.session)
    rig = window.session.rig
    assert rig.items == found.answer.best.rig.items
    assert window.session.unsaved
    assert window.session.assessment.report.count("error") == 0
    assert proof_of(rig) is not None


def test_a_budget_that_does_not_reach_names_what_does(qtbot, window, page):
    _choose(page, "kaggle")
    page.budget.setValue(100)
    _answered(qtbot, window, page)
    assert page.found.answer.best is None
    assert not page.take.isVisible()
    said = {each.text() for each in page.findChildren(QLabel)}
    assert any("With a larger budget it is possible from" in text for text in said)


def test_the_best_three_stand_beside_each_other(qtbot, window, page):
    _choose(page, "kaggle")
    page.budget.setValue(4500)
    page.used.setChecked(True)
    _answered(qtbot, window, page)
    assert page.compare.isVisible()
    qtbot.mouseClick(page.compare, Qt.MouseButton.LeftButton)
    settled_session(qtbot, window.session)
    made = [one for one in window.view("Compare")._swapped if one.made is not None]
    assert len(made) >= 2


def test_another_question_takes_the_old_answer_away_and_money_keeps_its_worth(qtbot, window, page):
    _choose(page, "kaggle")
    page.used.setChecked(True)
    page.budget.setValue(4500)
    _answered(qtbot, window, page)
    assert page._answer.count()
    page.currency.setCurrentText("CZK")
    page._change_currency()
    assert page.budget.value() > 10 * 4500
    page.ask()
    assert page.found is None and not page._answer.count()
    page.cancel()


def test_a_search_can_be_stopped(qtbot, window, page):
    page.ask()
    page.cancel()
    assert page.found is None
    assert "Stopped" in page.head.text()
    settled_session(qtbot, window.session)


def test_each_purpose_asks_for_what_it_can_do(page):
    assert page.purpose.findData(OWN) == (0 if page._session.rig.workloads else -1)
    for purpose in PURPOSES:
        _choose(page, purpose)
        assert page.aim.count() >= 2
        assert page.budget.value() > 0
    page._delay.stop()


def test_each_limit_of_the_page_is_one_of_the_question(page):
    _choose(page, "kaggle")
    limits = page.limits
    assert not limits.owned.isVisible()
    limits.more.setChecked(True)
    assert limits.owned.isVisible()
    plain = page._question()
    limits.owned.setText("2x RTX 3090")
    limits.pinned.setText("RTX 4090; MWE Gold 850")
    limits.makers[0].setChecked(False)
    limits.circuit.setText("120 V 20 A")
    ((weight, least),) = limits.wants
    weight.setValue(2.0)
    least.setValue(7.5)
    limits.abroad.setChecked(True)
    for field, value in ((limits.cards, 3), (limits.cores, 8), (limits.ram, 64),
                         (limits.drive, 1900), (limits.age, 400)):  # fmt: skip
        field.setValue(value)
    asked = page._question()
    assert [(each.part, each.quantity) for each in asked.owned] == [(SHORT[2], 2)]
    assert asked.pinned == (SHORT[3], "cooler-master.mwe-gold.850-v2") and asked.least_cards == 1
    assert asked.not_makers == (limits.makers[0].text(),) and asked.abroad
    assert (asked.site.volts, asked.site.breaker_a) == (120.0, 20.0)
    assert (asked.wants[0].weight, asked.wants[0].at_least) == (2.0, 7.5)
    assert (asked.most_cards, asked.cores, asked.ram_gib) == (3, 8, 64.0)
    assert (asked.storage_gb, asked.price_age_days) == (1900.0, 400)
    assert plain.wants[0].at_least is None and not plain.owned and not plain.not_makers
    page._delay.stop()


@pytest.mark.parametrize(
    ("field", "words", "told"),
    [("owned", "a thing that nobody makes", "No part is called"), ("circuit", "much", "230V16A")],
)
def test_what_cannot_be_asked_is_told_and_nothing_is_searched(page, field, words, told):
    getattr(page.limits, field).setText(words)
    page.ask()
    assert told in page.head.text() and page.found is None
    assert not page.progress.isVisibleTo(page)


def test_works_of_a_rig_are_asked_without_the_degrees_of_its_cards() -> None:
    work = Workload(model="llama-3.1-70b", parallelism=Parallelism(tensor=4))
    assert on_any_cards(work).parallelism is None
    kept = replace(work, parallelism=Parallelism(zero=3, offload="cpu"))
    assert on_any_cards(kept) == kept
