"""Every view in every language and scheme, and in a made-up one whose texts are longer: no word is cut at 1366 x 768."""

from collections.abc import Iterator

import pytest
from desktop_waiting import settled_session
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QScrollArea, QToolButton, QWidget

from rigplanner.desktop import documents
from rigplanner.desktop.session import Session
from rigplanner.desktop.theme import look
from rigplanner.desktop.window import TABS, Window
from rigplanner.report.language import LANGUAGES, use_language, use_texts


class Longer(dict[str, str]):
    """Texts of a language that takes four tenths more room."""

    def get(self, text: str, default: object = None) -> str:  # type: ignore[override]
        more = round(0.4 * len(text))
        tail = "x" * more if more < 5 else " wider" * (more // 6 + 1)
        return text + tail if any(char.isalpha() for char in text) else text


@pytest.fixture(params=[*(code for code in LANGUAGES if code != "en"), "longer"])
def spoken(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "longer":
        use_texts("en", Longer())
    else:
        use_language(request.param)
    yield request.param
    use_language("en")


@pytest.fixture
def other_window(spoken: str, request: pytest.FixtureRequest) -> Window:
    return request.getfixturevalue("window")


def _cut(widget: QWidget) -> str:
    """Return the text that a widget shows cut off, "" for none; what wraps, or is shortened with a tip, is not."""
    if isinstance(widget, QLabel):
        text = "" if widget.wordWrap() or widget.toolTip() else widget.text()
    elif isinstance(widget, QAbstractButton) and not isinstance(widget, QToolButton):
        text = widget.text()
    else:
        text = ""
    return text if text and widget.isVisible() and widget.width() < widget.sizeHint().width() - 1 else ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_cuts_a_word(qtbot, other_window: Window, session: Session, sample_folder, scheme: str) -> None:
    window = other_window
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    settled_session(qtbot, session)
    look.use(scheme)
    window.resize(1366, 768)
    for title in TABS:
        window.show_tab(title)
        settled_session(qtbot, session)
        assert window.minimumSizeHint().width() <= 1366 and window.minimumSizeHint().height() <= 768, title
        assert [text for each in window.findChildren(QWidget) if (text := _cut(each))] == [], title
        aside = [each.accessibleName() for each in window.findChildren(QScrollArea) if each.horizontalScrollBar().isVisible()]
        assert aside == [], title


def test_lists_of_choices_show_the_language(other_window: Window, spoken: str) -> None:
    kinds = next(box for box in other_window.parts.findChildren(QComboBox) if box.findData("psu") >= 0)
    assert kinds.itemText(kinds.findData("psu")) != "Power supply"
