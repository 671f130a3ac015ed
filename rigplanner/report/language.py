"""The language of all words that a person reads. English texts are the keys;
`resources/translations/<code>.po` has the others.

Texts are looked up when they are shown, never when a module is loaded, so that a change of language
holds at once."""

import gettext
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from rigplanner.data import data_path, read_shipped

THIN = "\u202f"
MARKS = {"en": (",", "."), "cs": (THIN, ","), "zh_TW": (",", ".")}
"""Language code to what parts thousands and what stands before decimals."""
LANGUAGES = {"en": "English", "zh_TW": "繁體中文", "cs": "čeština"}
"""Language code to what its speakers call it."""
JOINTS = {"zh_TW": {", ": "、", "; ": "；", ". ": "。"}}
"""Language code to what stands between texts side by side, where it differs."""

Table = Mapping[str, str | tuple[str, ...]]
"""English text to its translation, or for texts that count to the plural forms in the order of the
file's rule."""


def _english(count: int) -> int:
    return int(count != 1)


class _Language:
    """What is in use: its code, its texts and which plural form a count takes."""

    code = "en"
    texts: Table = MappingProxyType({})
    form: Callable[[int], int] = staticmethod(_english)


_now = _Language()


def language() -> str:
    """Return the code of the language in use."""
    return _now.code


def language_of_system(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language that the system's settings name, English when it is none of ours."""
    named = next(
        (value for key in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(key))), ""
    )
    return next((code for code in LANGUAGES if named.split(".")[0].startswith(code)), "en")


def use_language(code: str) -> None:
    """Take another language of `LANGUAGES`; ValueError for any other."""
    if code not in LANGUAGES:
        raise ValueError(f"No language {code!r}; there are {', '.join(LANGUAGES)}.")
    if code == "en":
        use_texts("en", {})
        return
    import polib

    content = read_shipped(data_path("resources") / "translations" / f"{code}.po")
    file = polib.pofile(content.decode("utf-8"))
    texts = {
        entry.msgid: tuple(entry.msgstr_plural[n] for n in sorted(entry.msgstr_plural))
        if entry.msgid_plural
        else entry.msgstr
        for entry in file.translated_entries()
    }
    rule = file.metadata["Plural-Forms"].partition("plural=")[2].rstrip(" ;")
    use_texts(code, texts, gettext.c2py(rule))


def use_texts(code: str, texts: Table, form: Callable[[int], int] = _english) -> None:
    """Take these texts as the language `code`; what they lack stays English."""
    _now.code, _now.texts, _now.form = code, texts, form


def tr(text: str, /, **values: object) -> str:
    """Return a text in the language in use, with its {names} filled; a name without value stays as
    it is."""
    found = _now.texts.get(text)
    return _filled(found if isinstance(found, str) else text, values)


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """Return the text for a count in the language in use, `one` for a count of 1 in English;
    {count} and {names} are filled."""
    forms = _now.texts.get(one)
    text = forms[_now.form(count)] if isinstance(forms, tuple) else one if count == 1 else many
    return _filled(text, {"count": digits(f"{count:,}"), **values})


def digits(text: str) -> str:
    """Return a figure as Python writes it ("1,234.5") with the marks of the language in use."""
    thousands, decimals = MARKS.get(_now.code, MARKS["en"])
    return text.replace(",", "\0").replace(".", decimals).replace("\0", thousands)


def listed(words: Iterable[str], joint: str = ", ") -> str:
    """Return texts side by side, with the marks that the language in use has for ", ", "; " and ".
    "."""
    return JOINTS.get(_now.code, {}).get(joint, joint).join(words)


class Words(Mapping[str, str]):
    """English words by code; what is read is in the language in use."""

    def __init__(self, english: Mapping[str, str]) -> None:
        self.english = english

    def __getitem__(self, code: str) -> str:
        return tr(self.english[code])

    def __iter__(self) -> Iterator[str]:
        return iter(self.english)

    def __len__(self) -> int:
        return len(self.english)


def _filled(text: str, values: Mapping[str, object]) -> str:
    return text.format_map(_Given(values)) if values else text


class _Given(dict[str, object]):
    """Values of a text; what is not given stays readable."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"
