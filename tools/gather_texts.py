"""`make translations`: every English text of the package into `rigplanner.pot`, and each .po file
brought up to date with it.

Texts are the constants given to `tr` and `trn`, the values of `Words` tables, and the tables named
in TABLES, which the code passes through `tr` where it shows them."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

import polib

from rigplanner.data import data_path
from rigplanner.report.language import LANGUAGES, Words
from rigplanner.rules.hardware.known_issues import known_pairs

PACKAGE = Path(__file__).parent.parent / "rigplanner"
TABLES = {
    "rigplanner.performance.silicon": ("UNSAID",),
    "rigplanner.cli.catalog_verbs.catalog_ratios": ("HEADS",),
    "rigplanner.report.words.machine": ("TIME_HEADS",),
    "rigplanner.desktop.actions": ("COMMANDS:text", "MENUS"),
    "rigplanner.desktop.parts.columns": ("COLUMNS:title", "COMMON:title", "FACETS:title"),
    "rigplanner.desktop.documents": ("RIG_FILES",),
    "rigplanner.desktop.quote.form": ("PARTY_FIELDS:1", "FORMS:1"),
    "rigplanner.desktop.quote.goods_fields": ("CONDITIONS:1",),
    "rigplanner.desktop.dialogs.settings": ("THEMES:1", "SELLER_FIELDS:1"),
    "rigplanner.desktop.help.hint_texts": ("FIELD_HINTS", "COLUMN_HINTS", "LETTER_HINTS"),
    "rigplanner.desktop.panels.pages": ("PAGES:1",),
    "rigplanner.desktop.panels.tour": ("STEPS:1", "STEPS:2"),
    "rigplanner.desktop.start_page.view": ("TILES:1", "TILES:2"),
    "rigplanner.desktop.window": ("TABS",),
    "rigplanner.desktop.workloads.form": ("TASKS:1",),
    "rigplanner.report.comparison.pdf": ("NOTE",),
    "rigplanner.report.map.table": ("TEXT_HEADS",),
    "rigplanner.report.map.models": ("HEADS",),
    "rigplanner.report.quote.export": ("PART_COLUMNS", "JOB_COLUMNS"),
    "rigplanner.report.quote.jobs": ("PART_WORDS:1",),
    "rigplanner.report.quote.parts_table": ("OFFERED:0", "CALCULATED:0"),
    "rigplanner.report.quote.pdf": ("RENTING_COLUMNS",),
    "rigplanner.report.quote.frames": ("PART_COLUMNS",),
    "rigplanner.report.quote.workbook": ("JOB_HEADS", "FINDING_HEADS", "SETUP_HEADS"),
    "rigplanner.report.quote.setup_sheet": ("OWN_SOFTWARE",),
    "rigplanner.report.words.causes": ("CAUSE_TEXTS",),
    "rigplanner.report.words.faults": ("FAULTS",),
    "rigplanner.report.words.fields": ("VALUE_WORDS", "FIELD_WORDS"),
    "rigplanner.report.words.finding_texts": ("FINDING_TEXTS", "FACT_FAULTS", "FIX_TEXTS"),
    "rigplanner.report.words.best": (
        "INSTEAD",
        "OBJECTIVES",
        "WHY",
        "STRICTNESS",
        "PRICED",
        "UNPROVEN",
        "CHANGES",
        "REASONS",
        "EXCLUDED",
        "GIVEN_UP",
        "SIZES",
    ),
    "rigplanner.report.words.purposes": ("PURPOSES", "AIM_WORDS"),
    "rigplanner.rig.countries": ("COUNTRY_NAMES",),
    "rigplanner.report.words.hire": ("HIRE_COLUMNS",),
    "rigplanner.report.words.importing": ("REASON_WORDS",),
    "rigplanner.rules.topics": ("RULES_BY_CODE:title", "RULES_BY_CODE:reason"),
    "rigplanner.memory.capacity.users": ("POOLS",),
}
"""Module to its tables of English texts; after a colon the field or position that holds the text.
"""

PLURAL_TABLES = {
    "rigplanner.report.words.best": ("CAUSES",),
    "rigplanner.report.format": ("COUNTED",),
}
"""Module to its tables of pairs for `trn`."""

CODES = (
    "fits",
    "tight",
    "does not fit",
    "unknown",
    "error",
    "warning",
    "info",
    "held in reserve",
    "ok",
    "placement",
    "firmware",
    "power",
    "software",
)
"""Codes that are their own English words."""

Text = tuple[str, str]
"""A text and its form for many ("" for a text that does not count)."""


def texts() -> dict[Text, str]:
    """Return every text of the package, with where it stands."""
    found: dict[Text, str] = {(code, ""): "codes" for code in CODES}
    for module, tables in TABLES.items():
        for table in tables:
            name, _, field = table.partition(":")
            for text in _strings(getattr(import_module(module), name), field):
                found.setdefault((text, ""), module)
    for module, names in PLURAL_TABLES.items():
        for name in names:
            found |= dict.fromkeys(getattr(import_module(module), name).values(), module)
    found |= {(pair.text, ""): "resources/rules/known_pairs.json" for pair in known_pairs()}
    for path in sorted(PACKAGE.rglob("*.py")):
        for text in _called(ast.parse(path.read_text("utf-8"))):
            found.setdefault(text, path.relative_to(PACKAGE.parent).as_posix())
    return {text: place for text, place in found.items() if any(char.isalpha() for char in text[0])}


def _strings(value: object, field: str) -> Iterator[str]:
    """Yield the texts of a table, at `field` of its entries where one is named."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each, field)
    elif field.isdigit() and isinstance(value, tuple) and value and isinstance(value[0], str):
        yield value[int(field)]
    elif isinstance(value, Iterable):
        for each in value:
            yield from _strings(each, field)
    elif hasattr(value, field):
        yield getattr(value, field)


def _called(tree: ast.AST) -> Iterator[Text]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        first = node.args[0]
        if node.func.id == "tr":
            for text in _constants(first):
                yield text, ""
        elif node.func.id == "trn" and not isinstance(first, ast.Starred):
            yield ast.literal_eval(first), ast.literal_eval(node.args[1])
        elif node.func.id == "Step":
            for text in (text for given in node.args[:2] for text in _constants(given)):
                yield text, ""
        elif node.func.id == Words.__name__ and isinstance(first, ast.Dict):
            for value in first.values:
                yield ast.literal_eval(value), ""


def _constants(node: ast.expr) -> Iterator[str]:
    """Yield the text of an argument, or both of `a if x else b`; names and fields are texts of
    tables."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _constants(node.body)
        yield from _constants(node.orelse)


def template() -> polib.POFile:
    """Return all texts as a gettext template, in the order of the alphabet."""
    made = polib.POFile(wrapwidth=110)
    made.metadata = {
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    for (one, many), place in sorted(texts().items()):
        entry = polib.POEntry(msgid=one, occurrences=[(place, "")])
        if many:
            entry.msgid_plural, entry.msgstr_plural = many, {0: "", 1: ""}
        made.append(entry)
    return made


def missing() -> None:
    """Print how many texts each language lacks, and the first of them: English holds meanwhile,
    `make release` asks for all."""
    wanted = {entry.msgid for entry in template()}
    for code in LANGUAGES:
        path = data_path("resources") / "translations" / f"{code}.po"
        if path.exists():
            done = {entry.msgid for entry in polib.pofile(str(path)).translated_entries()}
            if lacking := sorted(wanted - done):
                print(f"warning: {code} lacks {len(lacking)} texts, the first {lacking[0][:60]!r}")


def main() -> int:
    """Write the template and bring the languages up to date; say what is left to translate."""
    if "--missing" in sys.argv[1:]:
        missing()
        return 0
    folder = data_path("resources") / "translations"
    made = template()
    made.save(str(folder / "rigplanner.pot"))
    open_texts = 0
    for code in LANGUAGES:
        path = folder / f"{code}.po"
        if path.exists():
            file = polib.pofile(str(path), wrapwidth=110)
            file.merge(made)
            for entry in file.obsolete_entries():
                file.remove(entry)
            forms = int(file.metadata["Plural-Forms"].partition("nplurals=")[2].partition(";")[0])
            for entry in file:
                if entry.msgid_plural:
                    entry.msgstr_plural = {n: entry.msgstr_plural.get(n, "") for n in range(forms)}
            file.sort(key=lambda entry: entry.msgid)
            file.save(str(path))
            left = len(file.untranslated_entries()) + len(file.fuzzy_entries())
            print(f"{code}: {len(file)} texts, {left} to translate")
            open_texts += left
    return int(open_texts > 0)


if __name__ == "__main__":
    sys.exit(main())
