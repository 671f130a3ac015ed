"""What the words of each language come to: money, counts, units, findings, exports that are read
again, quotes without a hole."""

from datetime import date
from pathlib import Path

import pytest

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import Catalog
from rigplanner.report import format as fmt
from rigplanner.report.language import LANGUAGES, THIN, tr, trn, use_language
from rigplanner.report.quote.content import quote_content
from rigplanner.report.quote.export import export
from rigplanner.report.words.findings import finding_text, fix_text, rule_title
from rigplanner.rig.files import read_rig
from rigplanner.rig.from_text.parts_list import OWN_HEADS, read_parts_list
from rigplanner.rules.assess import Assessment, assess
from rigplanner.rules.topics import RULES_BY_CODE

DAY = date(2026, 11, 21)
TODAY = DAY.isoformat()
OTHERS = [code for code in LANGUAGES if code != "en"]


@pytest.fixture(autouse=True)
def english_again():
    yield
    use_language("en")


@pytest.fixture(scope="module")
def assessment(catalog: Catalog, samples: list[Path]) -> Assessment:
    path = next(path for path in samples if path.stem == "quad-rtx-4090")
    return assess(read_rig(path), catalog, TODAY)


@pytest.mark.parametrize(
    ("code", "currency", "text"),
    [
        ("en", "CZK", f"12,345.50{THIN}CZK"),
        ("en", "USD", "$12,345.50"),
        ("cs", "USD", f"12{THIN}345,50{THIN}USD"),
        ("cs", "CZK", f"12{THIN}345,50{THIN}Kč"),
        ("cs", "EUR", f"12{THIN}345,50{THIN}€"),
        ("zh_TW", "TWD", "NT$12,346"),
        ("zh_TW", "USD", "US$12,345.50"),
    ],
)
def test_money_is_written_as_at_home(code: str, currency: str, text: str) -> None:
    use_language(code)
    assert fmt.money(12345.5 if currency != "TWD" else 12346, currency) == text


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("en", 1, f"1{THIN}lane"),
        ("en", 16, f"16{THIN}lanes"),
        ("en", 2.5, f"2.5{THIN}lanes"),
        ("en", 2.75, f"2.75{THIN}lanes"),
        ("cs", 1, f"1{THIN}linka"),
        ("cs", 4, f"4{THIN}linky"),
        ("cs", 16, f"16{THIN}linek"),
        ("zh_TW", 16, f"16{THIN}條通道"),
    ],
)
def test_things_are_counted_in_their_plural(code: str, value: float, text: str) -> None:
    use_language(code)
    assert fmt.quantity(value, "lanes") == text


def test_units_with_words_are_translated_and_symbols_are_not() -> None:
    use_language("cs")
    assert fmt.quantity(120, "tokens/s") == f"120{THIN}tokenů/s"
    assert fmt.quantity(120, "tokens/s per kW") == f"120{THIN}tokenů/s na kW"
    assert fmt.quantity(120, "GB/s") == f"120{THIN}GB/s"
    assert fmt.unit_text("ms_per_batch") == "ms na dávku"


@pytest.mark.release
@pytest.mark.parametrize("code", OTHERS)
def test_every_rule_has_its_title_in_the_language(code: str) -> None:
    english = {rule: rule_title(rule) for rule in RULES_BY_CODE}
    use_language(code)
    assert [rule for rule in RULES_BY_CODE if rule_title(rule) == english[rule]] == []


@pytest.mark.parametrize("code", OTHERS)
def test_findings_of_a_rig_are_whole_sentences(
    code: str, assessment: Assessment, catalog: Catalog
) -> None:
    use_language(code)
    for finding in assessment.report.findings:
        assert "{" not in finding_text(finding, assessment.rig, catalog)
        assert all("{" not in fix_text(fix, assessment.rig, catalog) for fix in finding.fixes)


@pytest.mark.parametrize("form", ["markdown", "bbcode", "plain", "csv"])
@pytest.mark.parametrize("code", LANGUAGES)
def test_our_own_exports_are_read_again_in_every_language(
    code: str, form: str, assessment: Assessment, catalog: Catalog
) -> None:
    use_language(code)
    text = export(quote_content(assessment, catalog, DAY), form)
    use_language("en")
    entries = read_parts_list(text, index_of(catalog), TODAY)
    assert [entry.wish.quantity for entry in entries] == [
        item.quantity for item in assessment.rig.items
    ]
    asked = [line.unit.amount if line.unit else None for line in assessment.totals.lines]
    assert [entry.price.amount if entry.price else None for entry in entries] == asked


@pytest.mark.parametrize(
    ("code", "heads"), [("en", OWN_HEADS[0]), ("cs", OWN_HEADS[1]), ("zh_TW", OWN_HEADS[2])]
)
def test_heads_that_are_looked_for_are_those_that_are_written(
    code: str, heads: tuple[str, ...]
) -> None:
    use_language(code)
    assert tuple(map(tr, OWN_HEADS[0])) == heads


@pytest.mark.parametrize("code", OTHERS)
def test_the_quote_has_all_its_characters(
    code: str, assessment: Assessment, catalog: Catalog
) -> None:
    """A character that no embedded font has would be drawn as an empty box."""
    from io import BytesIO

    from pypdf import PdfReader

    from rigplanner.report.quote.pdf import quote_pdf

    use_language(code)
    text = "".join(
        page.extract_text()
        for page in PdfReader(BytesIO(quote_pdf(assessment, catalog, DAY))).pages
    )
    squeezed = "".join(text.split())
    for word in ("Quote", "Parts", "Findings", "What was not checked"):
        assert "".join(tr(word).split()) in squeezed, word
    assert "\ufffd" not in text


def test_the_english_quote_is_the_same_after_another_language(
    assessment: Assessment, catalog: Catalog
) -> None:
    before = export(quote_content(assessment, catalog, DAY), "markdown")
    use_language("cs")
    assert export(quote_content(assessment, catalog, DAY), "markdown") != before
    use_language("en")
    assert export(quote_content(assessment, catalog, DAY), "markdown") == before


def test_a_value_of_its_own_is_not_taken_for_the_count() -> None:
    use_language("cs")
    assert trn("{count}\u202fslot", "{count}\u202fslots", 5, count="2,5") == "2,5\u202fslotů"


def test_tables_of_text_line_up_with_wide_characters() -> None:
    assert fmt.columns_of("記憶體 GiB") == 10
    assert [fmt.columns_of(fmt.padded(text, 12)) for text in ("記憶體", "Paměť", "")] == [
        12,
        12,
        12,
    ]
