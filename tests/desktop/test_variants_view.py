"""Variants in the window: keeping, switching, comparing."""

import pytest
from desktop_waiting import settled_session

from rigplanner.desktop import documents
from rigplanner.desktop.variants import ask_variant, drop, fill_variants, switch_to
from rigplanner.desktop.window import Window
from rigplanner.rig.edits import Edit
from rigplanner.rig.files import read_rig
from rigplanner.rig.variants import variant_names


@pytest.fixture
def quad(qtbot, window: Window, sample_folder) -> Window:
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    settled_session(qtbot, window.session)
    return window


def test_keep_change_compare(qtbot, quad: Window) -> None:
    session = quad.session
    dialog = ask_variant(quad)
    dialog.name.setText(session.rig.name.upper())
    assert not dialog.keep.isEnabled()
    dialog.name.setText("before")
    dialog.keep.click()
    assert variant_names(session.rig) == ("before",)
    assert session.edit("cap", Edit("set_power_cap", {"uid": "gpu", "watts": 260.0}))
    quad.show_tab("Compare")
    compare = quad.view("Compare")
    qtbot.waitUntil(lambda: len(compare.model.names) == 2)
    assert compare.model.names[1] == "before"
    assert "260" in compare.said.text()
    compare.differences.setChecked(True)
    assert compare.model.rows[0].attribute.code == "caps"
    assert "260" in compare.content("markdown").decode().splitlines()[0]
    switch_to(session, "before")
    assert session.rig.name == "before"
    session.undo()
    drop(session, "before")
    assert session.rig.variants == ()
    qtbot.waitUntil(lambda: compare.model.names == ())


def test_the_menu_offers_each_variant(quad: Window) -> None:
    session = quad.session
    session.edit("keep", Edit("keep_variant", {"name": "A & B"}))
    menu = quad._variants
    fill_variants(session, menu)
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts == ["Switch to A && B", "Remove A && B"]
    menu.actions()[0].trigger()
    assert session.rig.name == "A & B"


def test_save_as_offers_the_name_of_the_file(qtbot, quad: Window, tmp_path) -> None:
    session = quad.session
    messages = []
    session.message_given.connect(messages.append)
    documents.save_as(session, tmp_path / "first.rig")
    documents.save_as(session, tmp_path / "variant-b.rig")
    assert "variant-b" in messages[-1].action
    messages[-1].deed()
    assert session.rig.name == "variant-b"
    quad.show_tab("Compare")
    compare = quad.view("Compare")
    assert compare.add_file(tmp_path / "first.rig")
    qtbot.waitUntil(lambda: len(compare.model.names) == 2)
    assert len(set(compare.model.names)) == 2
    assert read_rig(tmp_path / "first.rig").name != session.rig.name
