"""What a finding's card says beside its text."""

import pytest

from rigplanner.desktop.findings import card as cards
from rigplanner.desktop.findings.card import FindingCard, first_sentence, needed_actual
from rigplanner.rules.core.finding import Finding


def test_needed_and_actual_are_told_only_where_both_are_known() -> None:
    both = Finding(code="PWR012", severity="error", needed=2170.0, actual=1440.0, unit="W")
    assert needed_actual(both) == "Needed 2,170\u202fW, actual 1,440\u202fW"
    assert needed_actual(Finding(code="SLT001", severity="error", actual="8")) == ""
    assert needed_actual(Finding(code="SLT001", severity="error", needed=2.0)) == ""


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Short: it stands whole. All of it.", "Short: it stands whole. All of it."),
        ("A" * 40 + ". " + "B" * 120, "A" * 40 + "."),
        ("A" * 40 + ": " + "B" * 120, "A" * 40 + "."),
        ("A" * 40 + "3.5 mm " + "B" * 120, "A" * 40 + "3.5 mm " + "B" * 120),
        ("甲" * 40 + "；" + "乙" * 120, "甲" * 40 + "。"),
        ("PCIe 4.0 x8: " + "A" * 40 + "; " + "B" * 120, "PCIe 4.0 x8: " + "A" * 40 + "."),
    ],
)
def test_a_long_text_is_one_sentence_at_first(text: str, first: str) -> None:
    assert first_sentence(text) == first


def test_more_shows_the_whole_text(session, qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = (
        "The card waits for its link over a narrow slot: " + "a long reason, " * 20 + "and more."
    )
    monkeypatch.setattr(cards, "finding_text", lambda *_: whole)
    finding = Finding(code="PCI004", severity="info", subjects=("gpu.0",))
    card = FindingCard(session, finding, waived=False)
    qtbot.addWidget(card)
    assert whole in card.accessibleName()
    assert card._text_label.text() == "The card waits for its link over a narrow slot."
    card._whole.click()
    assert card._text_label.text() == whole
