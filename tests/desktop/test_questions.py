"""A figure that nobody published is asked for in the window, with a picture; the answer is the
owner's own figure: used, seen, changed, removed, and there again in the next rig."""

from msgspec.structs import replace
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QDoubleSpinBox, QPushButton, QSpinBox

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import Motherboard
from rigplanner.desktop.findings.card import FindingCard
from rigplanner.desktop.findings.question_form import QuestionForm
from rigplanner.desktop.findings.view import FindingsView
from rigplanner.desktop.parts.details import Details
from rigplanner.desktop.window import Window
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rig.edits import Edit

BOARD, CASE = "own.board.bare", "own.case.bare"


def _rig() -> Rig:
    """Two thick cards on a board whose second slot nobody measured, a long supply in a case of
    which nobody knows the room for it."""
    catalog = shipped_catalog()
    board = catalog.parts["asus.rog.crosshair-viii-dark-hero"]
    case = catalog.parts["corsair.carbide.air-540"]
    assert isinstance(board, Motherboard)
    columns = {"PCIEX16_2": None, "PCIEX16_3": 7}
    slots = tuple(
        replace(slot, position=columns.get(slot.id, slot.position)) for slot in board.layout.slots
    )
    own = {
        BOARD: replace(board, id=BOARD, layout=replace(board.layout, slots=slots)),
        CASE: replace(case, id=CASE, enclosure=replace(case.enclosure, psu_length_mm=None)),
    }
    picks = (
        (BOARD, 1),
        ("amd.ryzen.9-5950x", 1),
        ("nvidia.geforce.rtx-3090", 2),
        (CASE, 1),
        ("evga.supernova.1600-t2", 1),
    )
    items = tuple(Item(uid=f"p{n}", part=p, quantity=q) for n, (p, q) in enumerate(picks))
    return Rig(items=items, site=Site(volts=230.0, breaker_a=16.0), snapshot=own)


def _card(window: Window, code: str) -> FindingCard:
    view = window.findChild(FindingsView)
    return next(card for card in view.cards() if card.finding.code == code)


def _form(window: Window, code: str) -> QuestionForm:
    form = _card(window, code).question
    assert form is not None
    return form


def _codes(window: Window) -> dict[str, str]:
    assessment = window.session.assessment
    assert assessment is not None
    return {f.code: f.severity for f in assessment.report.findings}


def test_openings_between_two_cards_are_counted_in_a_picture(window: Window) -> None:
    window.session.start_rig(_rig())
    form = _form(window, "CLG002")
    assert (form.question.kind, form.question.anchor) == ("between", "PCIEX16_1")
    box = form.fields[""]
    assert isinstance(box, QSpinBox) and form.picture is not None
    assert not form.keep.isEnabled()
    box.setValue(0)
    near = form.picture.grab().toImage()
    box.setValue(3)
    assert form.picture.grab().toImage() != near
    form.keep.click()
    column = form.question.anchor_column + 4
    assert window.session.rig.facts == {BOARD: {"PCIEX16_2.position": column}}
    assert "CLG002" not in _codes(window)
    window.session.undo()
    assert _codes(window)["CLG002"] == "unknown"


def test_an_own_figure_is_seen_changed_and_removed(window: Window) -> None:
    window.session.start_rig(_rig())
    form = _form(window, "SPC006")
    box = form.fields[""]
    assert isinstance(box, QDoubleSpinBox)
    box.setValue(250)
    form.keep.click()
    assert "SPC006" not in _codes(window)
    own = window.findChild(FindingsView).own
    assert not own.isHidden()
    keys = {key.text(): key for key in own.findChildren(QPushButton)}
    keys["Change"].click()
    changed = own.findChild(QuestionForm)
    field = changed.fields[""]
    assert isinstance(field, QDoubleSpinBox) and field.value() == 250
    field.setValue(180)
    changed.keep.click()
    assert _codes(window)["SPC006"] == "error"
    own.remove(CASE, "psu_length_mm")
    assert (window.session.rig.facts, _codes(window)["SPC006"]) == ({}, "unknown")
    assert window.session.preferences.now.facts == {}


def test_what_was_measured_once_is_known_in_the_next_rig(window: Window) -> None:
    window.session.start_rig(_rig())
    form = _form(window, "SPC006")
    box = form.fields[""]
    assert isinstance(box, QDoubleSpinBox)
    box.setValue(250)
    form.answer()
    bare = replace(_rig(), items=_rig().items[:3])
    window.session.start_rig(bare)
    add = Edit("add_part", {"part": CASE, "stem": "case"})
    assert window.session.edit("Add", add)
    assert window.session.rig.facts == {CASE: {"psu_length_mm": 250.0}}
    window.session.undo()
    assert window.session.rig.facts == {}


def test_a_figure_that_contradicts_the_part_is_refused_by_name(window: Window) -> None:
    told: list[str] = []
    window.session.message_given.connect(lambda message: told.append(message.text))
    window.session.start_rig(_rig())
    form = _form(window, "CLG002")
    box = form.fields[""]
    assert isinstance(box, QSpinBox)
    box.setValue(7 - form.question.anchor_column - 1)
    form.keep.click()
    assert window.session.rig.facts == {}
    assert "PCIEX16_3" in told[-1] and "PCIEX16_2" in told[-1]


def test_the_pane_of_a_part_tells_ones_own_figure(window: Window, qtbot) -> None:
    window.session.start_rig(_rig())
    fact = {"part": CASE, "name": "psu_length_mm", "value": 251.0}
    assert window.session.edit("Mine", Edit("set_fact", fact))
    details = window.findChild(Details)
    details.show_part(window.session.rig.snapshot[CASE], "")
    qtbot.waitUntil(lambda: "251" in details.facts.toPlainText())
    assert "My figures" in details.facts.toPlainText()


def test_of_two_unknown_slots_the_nearer_is_asked_for_first(window: Window) -> None:
    rig = _rig()
    board = rig.snapshot[BOARD]
    assert isinstance(board, Motherboard)
    slots = tuple(replace(slot, position=None) for slot in board.layout.slots)
    bare = replace(board, layout=replace(board.layout, slots=slots))
    window.session.start_rig(replace(rig, snapshot={**rig.snapshot, BOARD: bare}))
    form = _form(window, "CLG002")
    assert (form.question.kind, form.question.place) == ("column", "PCIEX16_1")
    box = form.fields[""]
    assert isinstance(box, QSpinBox)
    box.setValue(1)
    form.keep.click()
    then = _form(window, "CLG002").question
    assert (then.kind, then.anchor, then.place) == ("between", "PCIEX16_1", "PCIEX16_2")


def test_every_picture_draws_something(window: Window) -> None:
    """Each drawing differs from an empty one, in both schemes."""
    from rigplanner.desktop.findings.question_picture import MEASURED, QuestionPicture
    from rigplanner.desktop.look.theme import look
    from rigplanner.rules.questions import Question

    questions = [
        Question(fact=f"x:{field}", part="x", name=field, kind="length") for field in MEASURED
    ]
    questions += [
        Question(fact="x:A.position", part="x", name="A.position", kind="column", place="A"),
        Question(fact="x:plugs", part="x", name="plugs", kind="plugs"),
    ]
    for scheme in ("light", "dark"):
        look.use(scheme)  # type: ignore[arg-type]
        images: list[QImage] = []
        for question in questions:
            picture = QuestionPicture(question, "a picture")
            picture.resize(300, 140)
            images.append(picture.grab().toImage())
        assert all(image != QImage(image.size(), image.format()) for image in images)
        assert len({image.pixel(150, 70) for image in images}) > 1
    look.use("light")
