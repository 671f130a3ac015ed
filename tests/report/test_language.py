"""Languages: every text of the package is translated with its values; plural forms, numbers and
days follow the language."""

import string

import polib
import pytest

from rigplanner.data import data_path
from rigplanner.report import format as fmt
from rigplanner.report.language import (
    LANGUAGES,
    Words,
    language_of_system,
    tr,
    trn,
    use_language,
    use_texts,
)
from tools.gather_texts import template

OTHERS = [code for code in LANGUAGES if code != "en"]


@pytest.fixture(autouse=True)
def english_again():
    yield
    use_language("en")


def _file(code: str) -> polib.POFile:
    return polib.pofile(str(data_path("resources") / "translations" / f"{code}.po"))


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.fixture(scope="module")
def wanted() -> dict[str, polib.POEntry]:
    return {entry.msgid: entry for entry in template()}


@pytest.mark.release
@pytest.mark.parametrize("code", OTHERS)
def test_every_text_is_translated(code: str, wanted: dict[str, polib.POEntry]) -> None:
    done = {entry.msgid for entry in _file(code).translated_entries()}
    assert sorted(set(wanted) - done) == []


@pytest.mark.release
@pytest.mark.parametrize("code", OTHERS)
def test_nothing_is_kept_that_the_program_no_longer_says(
    code: str, wanted: dict[str, polib.POEntry]
) -> None:
    assert sorted({entry.msgid for entry in _file(code)} - set(wanted)) == []


@pytest.mark.parametrize("code", OTHERS)
def test_translations_name_the_same_values(code: str) -> None:
    for entry in _file(code).translated_entries():
        for text in entry.msgstr_plural.values() if entry.msgid_plural else (entry.msgstr,):
            named = _names(entry.msgid_plural or entry.msgid)
            assert _names(text) <= named, entry.msgid
            assert named - {"count"} <= _names(text), entry.msgid


@pytest.mark.parametrize(("code", "forms"), [("cs", 3), ("zh_TW", 1)])
def test_texts_that_count_have_every_form(code: str, forms: int) -> None:
    for entry in _file(code).translated_entries():
        if entry.msgid_plural:
            assert len(entry.msgstr_plural) == forms and all(entry.msgstr_plural.values()), (
                entry.msgid
            )


@pytest.mark.parametrize("code", OTHERS)
def test_translations_begin_and_end_as_the_text_does(code: str) -> None:
    """Sentences stay sentences, and spaces at the ends, by which texts are joined, are kept."""
    for entry in _file(code).translated_entries():
        for text in entry.msgstr_plural.values() if entry.msgid_plural else (entry.msgstr,):
            assert (text[0] == " ") == (entry.msgid[0] == " "), entry.msgid
            assert text.endswith(("…", ":", "：", " ")) or entry.msgid[-1] not in "…: ", entry.msgid


def test_another_language_holds_at_once() -> None:
    table = Words({"psu": "Power supply"})
    use_texts("cs", {"Power supply": "Zdroj", "{a} of {b}": "{a} z {b}"})
    assert table["psu"] == "Zdroj"
    assert dict(table.items()) == {"psu": "Zdroj"}
    assert tr("{a} of {b}", a=1, b=2) == "1 z 2"
    use_language("en")
    assert table["psu"] == "Power supply"


def test_a_text_without_translation_stays_english() -> None:
    use_texts("cs", {})
    assert tr("Nobody translated {this}", this="it") == "Nobody translated it"


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1 soubor"), (3, "3 soubory"), (5, "5 souborů"), (1200, "1\u202f200 souborů")],
)
def test_czech_has_three_plural_forms(count: int, text: str) -> None:
    use_language("cs")
    use_texts(
        "cs",
        {"{count} file": ("{count} soubor", "{count} soubory", "{count} souborů")},
        _form("cs"),
    )
    assert trn("{count} file", "{count} files", count) == text


def _form(code: str):
    import gettext

    return gettext.c2py(_file(code).metadata["Plural-Forms"].partition("plural=")[2].rstrip(" ;"))


@pytest.mark.parametrize(
    ("code", "number", "day"),
    [
        ("en", "1,234.50", "20 Nov 2026"),
        ("cs", "1\u202f234,50", "20.\u202f11.\u202f2026"),
        ("zh_TW", "1,234.50", "2026年11月20日"),
    ],
)
def test_numbers_and_days_are_written_as_the_language_does(
    code: str, number: str, day: str
) -> None:
    use_texts(code, {})
    assert fmt.number(1234.5, 2) == number
    assert fmt.day("2026-11-20") == day


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="No language 'xx'"):
        use_language("xx")


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"LANG": "cs_CZ.UTF-8"}, "cs"),
        ({"LANG": "zh_TW.UTF-8"}, "zh_TW"),
        ({"LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "C", "LANG": "cs_CZ.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_the_language_of_the_system_is_taken_where_there_is_one(
    environment: dict[str, str], code: str
) -> None:
    assert language_of_system(environment) == code
