"""Numbers, units, money, days; text made printable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.report import format as fmt
from rigplanner.report.paper.type import REPLACEMENT, STRONG, face_of, markup, printable
from rigplanner.report.words.best import proof_text

S = fmt.THIN


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1440.0, "1,440"),
        (0.5, "0.500"),
        (7.0, "7"),
        (9.876, "9.88"),
        (82.58, "82.6"),
        (None, "unknown"),
        (float("inf"), "unknown"),
        (-3.25, "-3.25"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert fmt.number(value) == text


def test_quantities_money_and_days() -> None:
    assert fmt.quantity(1440, "W") == f"1,440{S}W"
    assert fmt.money(1749, "EUR") == "€1,749.00"
    assert fmt.money(13900, "TWD") == "NT$13,900"
    assert fmt.money(None, "EUR") == "no price"
    assert fmt.day("2026-11-20") == "20 Nov 2026"
    assert fmt.day("soon") == "soon"
    assert fmt.interval(9.96, 12.04, "GiB") == f"10.0 to 12.0{S}GiB"
    assert fmt.percent(1.364) == f"136{S}%"


def test_markup_in_names_is_harmless() -> None:
    assert "<b>" not in markup("<b>bold</b> & <font color=red>")
    assert "&lt;b&gt;" in markup("<b>")


def test_each_script_gets_a_face_that_has_it() -> None:
    text = markup("Kč 繁體 é")
    assert 'name="RigSans-TC">繁體<' in text
    assert 'name="RigSans">Kč <' in text


def test_what_no_font_has_is_shown_as_missing() -> None:
    assert REPLACEMENT in markup("🚀")


def test_direction_and_control_characters_are_dropped_and_length_is_bounded() -> None:
    assert printable("a\u202eb\x00c\nd") == "abc d"
    assert len(printable("x" * 10_000)) == 400


@given(st.text())
def test_any_text_becomes_markup(text: str) -> None:
    markup(text)


def test_strong_chinese_is_strong_and_what_it_lacks_is_still_printed() -> None:
    assert 'name="RigSans-TC-SemiBold">報價單<' in markup("報價單", strong=True)
    rare = markup("報價單龘", strong=True)
    assert 'name="RigSans-TC-SemiBold">報價單<' in rare
    assert 'name="RigSans-TC">龘<' in rare
    assert [face_of(text, STRONG) for text in ("Quote", "報價單 A", "龘")] == [
        STRONG,
        "RigSans-TC-SemiBold",
        "RigSans-TC",
    ]


def test_small_numbers_keep_two_figures() -> None:
    assert (
        fmt.number(0.0021) == "0.0021"
        and fmt.number(0.06) == "0.060"
        and fmt.number(0.5) == "0.500"
        and fmt.number(0.0) == "0"
    )
    assert (
        fmt.interval(0.00154, 0.0025) == "0.0015 to 0.0025"
        and fmt.interval(0.0, 0.0) == "0.00 to 0.00"
    )


def test_counts_of_rigs_are_written_as_other_figures_are() -> None:
    assert "2,109,444,591,290,406 rigs" in proof_text(2_109_444_591_290_406, 0.0)
