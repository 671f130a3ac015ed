"""No text reaches a widget untranslated: words given to what shows them pass `tr`, `trn` or a
`Words` table."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rigplanner.desktop

FOLDER = Path(rigplanner.desktop.__file__).parent
SHOWS = {
    "QCheckBox",
    "QLabel",
    "QPushButton",
    "QRadioButton",
    "addAction",
    "addItem",
    "addMenu",
    "addRow",
    "addTab",
    "button",
    "edit",
    "icon_button",
    "label",
    "plain_table",
    "say_context",
    "scrolled",
    "setAccessibleDescription",
    "setAccessibleName",
    "setHtml",
    "setPlaceholderText",
    "setPrefix",
    "setSpecialValueText",
    "setStatusTip",
    "setSuffix",
    "setText",
    "setTitle",
    "setToolTip",
    "setWindowTitle",
    "tell",
}
ROLES = {
    "section",
    "small",
    "strong",
    "large",
    "soft",
    "info",
    "warning",
    "error",
    "fits",
    "warns",
    "fails",
    "unknown",
}
NAMES = ("RigPlanner",)
BESIDE = ("screenshots.py", "start.py")
"""Modules whose words no window shows."""


def plain_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and words of texts given bare to what shows them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in SHOWS:
            for given in [
                *node.args,
                *(
                    each.value
                    for each in node.keywords
                    if each.arg in ("name", "text", "title", "tip")
                ),
            ]:
                for text in _bare(given):
                    if _is_words(text) or (
                        _name(node.func).startswith("set") and text.isalpha() and text.islower()
                    ):
                        yield given.lineno, text


def _name(function: ast.expr) -> str:
    return (
        function.attr
        if isinstance(function, ast.Attribute)
        else function.id
        if isinstance(function, ast.Name)
        else ""
    )


def _bare(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield " ".join(each.value for each in node.values if isinstance(each, ast.Constant))
    elif isinstance(node, ast.IfExp):
        yield from _bare(node.body)
        yield from _bare(node.orelse)
    elif isinstance(node, ast.Tuple | ast.List):
        for each in node.elts:
            yield from _bare(each)
    elif isinstance(node, ast.BinOp):
        yield from _bare(node.left)
        yield from _bare(node.right)


def _is_words(text: str) -> bool:
    """Say whether a text has words: letters in a row, and no abbreviation, code of one small word,
    markup or file name."""
    words = [
        word
        for word in text.replace("<", " <").split()
        if word.strip("().,:…").isalpha() and len(word) > 1 and not word.isupper()
    ]
    return (
        bool(words)
        and text not in ROLES
        and text.strip() not in NAMES
        and not (text.isidentifier() and text.islower())
    )


@pytest.mark.parametrize(
    "path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER))
)
def test_texts_pass_the_language_in_use(path: Path) -> None:
    found = [] if path.name in BESIDE else list(plain_texts(ast.parse(path.read_text("utf-8"))))
    assert found == []


def test_a_bare_text_is_found() -> None:
    source = (
        'label("Two words", "small"); box.setText(f"{n} parts left"); button(tr("Fine"), go);'
        ' label("x" if a else "No rig")'
    )
    assert [text for _, text in plain_texts(ast.parse(source))] == [
        "Two words",
        " parts left",
        "No rig",
    ]
