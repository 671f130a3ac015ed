"""Colours, icons and sizes."""

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from rigplanner.catalog.schema.parts import KINDS
from rigplanner.data import data_path
from rigplanner.desktop.actions import COMMANDS
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.style import style_sheet
from rigplanner.desktop.look.theme import small_font
from rigplanner.desktop.look.tokens import DARK, LIGHT, SMALLEST_TEXT_PX, TEXT_TOKENS, luminance
from rigplanner.desktop.words import VERDICT_ICONS

ICONS = sorted((data_path("resources") / "icons").glob("*.svg"))


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours, 1..21 (WCAG 2.2, 1.4.3)."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_the_themes_differ_in_colours_alone() -> None:
    """So that what has room in one has room in the other: sizes are tested in one."""
    colour = re.compile(r"#[0-9a-fA-F]{3,8}|rgba?\([^)]*\)|-on-(?:light|dark)\.svg")
    light, dark = (colour.sub("colour", style_sheet(each, 13)) for each in (LIGHT, DARK))
    assert "padding" in light and light == dark


def test_contrast_of_black_on_white_is_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("back", ["window", "surface", "selection"])
@pytest.mark.parametrize("text", TEXT_TOKENS)
def test_text_reaches_contrast(tokens, back, text):
    assert contrast(getattr(tokens, back), getattr(tokens, text)) >= 4.5


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_primary_buttons_reach_contrast(tokens):
    assert contrast(tokens.accent, tokens.on_accent) >= 4.5


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_chart_hues_stand_out_from_the_surface(tokens):
    for hue in ("weights", "gradients", "optimizer", "activations", "kv_cache", "other"):
        assert contrast(getattr(tokens, hue), tokens.surface) >= 2.5, hue


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_fields_boxes_and_scroll_bars_stand_out_by_three_to_one(tokens):
    """WCAG 2.2, 1.4.11: the lower line of a field, the edge of a box and the handle of a scroll
    bar."""
    sheet = style_sheet(tokens, 12)
    field = re.search(
        r"QLineEdit, QComboBox, QSpinBox[^{]*\{[^}]*border-bottom-color: (#\w+)", sheet
    )
    box = re.search(r"QCheckBox::indicator \{[^}]*border: 1px solid (#\w+)", sheet)
    handle = re.search(r"QScrollBar::handle \{ background: (#\w+)", sheet)
    for found in (field, box, handle):
        for back in (tokens.window, tokens.surface):
            assert contrast(found[1], back) >= 3


@pytest.mark.parametrize("path", ICONS, ids=lambda path: path.stem)
def test_icons_are_of_one_set(path: Path):
    text = path.read_text("utf-8")
    assert 'viewBox="0 0 24 24"' in text
    assert set(re.findall(r'stroke-width="([^"]+)"', text)) == {"1.75"}


def test_every_icon_that_is_named_exists():
    names = {path.stem for path in ICONS}
    wanted = (
        {command.icon for command in COMMANDS if command.icon}
        | set(KINDS)
        | set(VERDICT_ICONS.values())
    )
    assert wanted <= names


def test_icon_licence_is_named():
    assert "icons" in (data_path("resources") / "LICENSES.md").read_text("utf-8").casefold()


def test_icons_take_the_colour_of_a_token(qapp: QApplication):
    image = icons.pixmap("plus", "fails", px=24).toImage()
    colours = {
        image.pixelColor(x, y).name()
        for x in range(24)
        for y in range(24)
        if image.pixelColor(x, y).alpha() == 255
    }
    assert colours == {LIGHT.fails} or colours == {DARK.fails}


def test_no_text_is_smaller_than_eleven_pixels(qapp: QApplication):
    assert small_font().pixelSize() >= SMALLEST_TEXT_PX == 11
    assert min(int(size) for size in re.findall(r"font-size: (\d+)px", style_sheet(LIGHT, 9))) >= 11
