"""Every rule, fix and missing fact has words, and the book of rules is up to date."""

import re
from pathlib import Path

import cases_board
import cases_data
import cases_links
import cases_power
import cases_software
import cases_space
import pytest
from rule_bench import bench_catalog, bench_rig
from test_rule_cases import found, judge

from rigplanner.report.language import use_language, use_texts
from rigplanner.report.rule_book import rule_book
from rigplanner.report.words import findings as words
from rigplanner.report.words.finding_texts import FINDING_TEXTS, FIX_TEXTS
from rigplanner.rules.core.finding import Finding, Fix
from rigplanner.rules.topics import RULES_BY_CODE

ROOT = Path(__file__).resolve().parents[2]
CASES = (
    *cases_board.CASES,
    *cases_space.CASES,
    *cases_power.CASES,
    *cases_links.CASES,
    *cases_software.CASES,
    *cases_data.CASES,
)


def test_every_code_has_a_text_and_no_text_is_left_over() -> None:
    assert set(FINDING_TEXTS) | {"PWR008"} == set(RULES_BY_CODE)
    assert all("" in texts for texts in FINDING_TEXTS.values())


def test_every_fix_has_a_text() -> None:
    source = "".join(
        path.read_text("utf-8") for path in (ROOT / "rigplanner" / "rules").rglob("*.py")
    )
    codes = set(re.findall(r'(?:fix|swap)\(\s*context,\s*"([a-z-]+)"', source))
    codes |= set(re.findall(r'_change\(context, case, "([a-z-]+)"', source))
    assert codes == set(FIX_TEXTS)


def test_the_book_of_rules_is_what_the_registry_says() -> None:
    assert (ROOT / "docs" / "rules.md").read_text("utf-8") == rule_book(), (
        "make rules writes it anew"
    )


def test_codes_are_stable_words() -> None:
    assert all(re.fullmatch(r"(?:[A-Z]{2,3}|P2P|M2)\d{3}", code) for code in RULES_BY_CODE)
    assert all(rule.title and rule.reason and rule.source for rule in RULES_BY_CODE.values())


def test_numbers_and_units_stand_in_the_sentence() -> None:
    catalog = bench_catalog(
        {"gpu.card": {"length_mm": 390.5}, "case.tower": {"enclosure.gpu_length_mm": 322}}
    )
    (finding,) = found(judge(bench_rig(), catalog), "SPC001")
    assert (
        words.finding_text(finding, bench_rig(), catalog)
        == "gpu.card is 390.5\u202fmm long; case.tower takes 322\u202fmm."
    )


def test_a_missing_fact_is_named_with_its_part() -> None:
    catalog = bench_catalog({"case.tower": {"enclosure.cooler_height_mm": None}})
    (finding,) = found(judge(bench_rig(), catalog), "SPC007")
    assert finding.missing == ("case.tower:cooler_height_mm",)
    assert "room for the cooler's height of case.tower" in words.finding_text(
        finding, bench_rig(), catalog
    )


def test_markup_and_braces_in_names_do_no_harm() -> None:
    catalog = bench_catalog({"gpu.card": {"name": "<b>{evil}</b> {0}", "length_mm": 500}})
    (finding,) = found(judge(bench_rig(), catalog), "SPC001")
    assert "<b>{evil}</b> {0}" in words.finding_text(finding, bench_rig(), catalog)


def test_an_unknown_code_still_gets_a_sentence() -> None:
    finding = Finding(code="OLD001", severity="warning", subjects=("gpu.0",))
    assert words.finding_text(finding, bench_rig(), bench_catalog()) == "OLD001"
    assert words.fix_text(Fix(code="old-fix"), bench_rig(), bench_catalog()) == "old-fix"


@pytest.fixture
def czech():
    title, sentence = (
        "GPU is longer than the case allows",
        "{a} is {needed} long; {b} takes {actual}.",
    )
    use_texts(
        "cs", {title: "Karta je delší, než skříň dovolí", sentence: "{a}: {needed}, {b}: {actual}."}
    )
    yield
    use_language("en")


@pytest.mark.usefixtures("czech")
def test_another_language_is_one_table() -> None:
    catalog = bench_catalog({"gpu.card": {"length_mm": 500}})
    (finding,) = found(judge(bench_rig(), catalog), "SPC001")
    assert words.rule_title("SPC001") == "Karta je delší, než skříň dovolí"
    assert (
        words.finding_text(finding, bench_rig(), catalog)
        == "gpu.card: 500\u202fmm, case.tower: 400\u202fmm."
    )
