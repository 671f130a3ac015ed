"""A question after a figure that nobody published, with its picture and the field for the answer;
what is answered becomes the owner's own figure of that part."""

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.desktop.controls.flow_row import FlowRow
from rigplanner.desktop.controls.widgets import button, column, indented, label, row
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.findings.question_picture import QuestionPicture, is_drawn
from rigplanner.report.language import tr
from rigplanner.report.words.findings import fact_fault_text
from rigplanner.report.words.questions import PLUG_WORDS, own_fact_text, question_text, unit_of
from rigplanner.rig.document import part_of
from rigplanner.rig.edits import Edit
from rigplanner.rig.facts import FactFault, checked_value
from rigplanner.rules.questions import PLUGS_ASKED, Question

MOST_PLUGS = 40


class QuestionForm(QWidget):
    """One question; `answered` hears that its answer is kept."""

    def __init__(
        self, session: Session, question: Question, answered: Callable[[], object] | None = None
    ) -> None:
        super().__init__()
        self._session, self.question = session, question
        self._answered = answered
        text = question_text(question, session.rig, session.catalog)
        self.picture = QuestionPicture(question, text) if is_drawn(question) else None
        self.fields: dict[str, QWidget] = {}
        lines = column(label(text, wrap=True), spacing=4)
        if self.picture is not None:
            lines.addWidget(self.picture)
        self.keep = button(tr("Keep as my figure"), self.answer)
        if question.kind == "plugs":
            lines.addLayout(self._make_counts(text))
            lines.addLayout(row(self.keep, 1))
        else:
            lines.addLayout(FlowRow(self._make_field(text), self.keep))
        self.setLayout(lines)
        self._fill(self._known())

    def _make_counts(self, text: str) -> QVBoxLayout:
        boxes = column(spacing=4)
        for kind in PLUGS_ASKED:
            box = QSpinBox(minimum=0, maximum=MOST_PLUGS)
            indented(box)
            box.setAccessibleName(f"{text} {tr(PLUG_WORDS[kind])}")
            box.valueChanged.connect(self._draw)
            self.fields[kind] = box
            boxes.addLayout(row(box, label(tr(PLUG_WORDS[kind])), 1))
        return boxes

    def _make_field(self, text: str) -> QWidget:
        question = self.question
        made: QCheckBox | QLineEdit | QSpinBox | QDoubleSpinBox
        if question.kind == "yes-no":
            made = QCheckBox(tr("yes"))
        elif question.kind == "words":
            made = QLineEdit()
            made.textChanged.connect(self._draw)
        elif question.kind in ("between", "column", "count"):
            made = QSpinBox(minimum=int(question.least) - 1, maximum=int(question.most))
        else:
            made = QDoubleSpinBox(decimals=1, minimum=question.least - 1, maximum=question.most)
            unit = unit_of(question.name)
            made.setSuffix(f"\u202f{unit}" if unit else "")
        if isinstance(made, QSpinBox | QDoubleSpinBox):
            indented(made)
            made.setSpecialValueText("?")
            made.setValue(int(made.minimum()))
            made.valueChanged.connect(self._draw)
        made.setAccessibleName(text)
        self.fields[""] = made
        return made

    def _part(self) -> AnyPart | None:
        return part_of(self._session.rig, self._session.catalog, self.question.part)

    def _known(self) -> Any:
        """What the owner said of this part before, in this rig or in another, else what the
        catalog says; None for nothing."""
        question, session = self.question, self._session
        here = session.rig.facts.get(question.part, {})
        said = session.preferences.now.facts.get(question.part, {})
        listed = getattr(getattr(self._part(), "enclosure", self._part()), question.name, None)
        value = here.get(question.name, said.get(question.name, listed))
        try:
            return None if value is None else question.answer_of(value)
        except (TypeError, ValueError, KeyError):
            return None

    def _fill(self, answer: Any) -> None:
        for kind, field in self.fields.items():
            value = answer.get(kind, 0) if isinstance(answer, dict) else answer
            if isinstance(field, QCheckBox):
                field.setChecked(value is True)
            elif isinstance(field, QLineEdit) and value is not None:
                field.setText(str(value))
            elif isinstance(field, QSpinBox) and isinstance(value, int):
                field.setValue(value)
            elif isinstance(field, QDoubleSpinBox) and isinstance(value, int | float):
                field.setValue(float(value))
        self._draw()

    def _draw(self) -> None:
        """Let the picture follow the answer; there is nothing to keep before there is one."""
        self.keep.setEnabled(self._is_answered())
        field = self.fields.get("")
        if self.picture is not None and isinstance(field, QSpinBox | QDoubleSpinBox):
            self.picture.show_answer(field.value())

    def _is_answered(self) -> bool:
        field = self.fields.get("")
        if isinstance(field, QLineEdit):
            return bool(field.text().strip())
        if isinstance(field, QSpinBox | QDoubleSpinBox):
            return field.value() > field.minimum()
        return any(box.value() for box in self.fields.values() if isinstance(box, QSpinBox)) or (
            isinstance(field, QCheckBox)
        )

    def said(self) -> Any:
        """Return the answer as it stands in the fields."""
        if self.question.kind == "plugs":
            boxes = {kind: box for kind, box in self.fields.items() if isinstance(box, QSpinBox)}
            return {kind: box.value() for kind, box in boxes.items()}
        field = self.fields[""]
        if isinstance(field, QCheckBox):
            return field.isChecked()
        if isinstance(field, QSpinBox | QDoubleSpinBox):
            return field.value()
        return field.text().strip() if isinstance(field, QLineEdit) else None

    def answer(self) -> None:
        """Keep the answer as the owner's figure of the part; say by name what is wrong with it
        where the part cannot have it."""
        question, session, part = self.question, self._session, self._part()
        value = question.value_of(self.said())
        if part is None:
            session.tell(tr("The rig has no part {part}.", part=question.part), "warning")
            return
        try:
            checked_value(part, question.name, value)
        except FactFault as fault:
            told = fact_fault_text(
                fault.code, fault.values, question.fact, session.rig, session.catalog
            )
            session.tell(told, "warning")
            return
        args = {"part": question.part, "name": question.name, "value": value}
        words = own_fact_text(question.fact, value, session.rig, session.catalog)
        if session.edit(tr("My figure: {words}", words=words), Edit("set_fact", args)):
            session.preferences.remember_fact(question.part, question.name, value)
            session.tell(tr("Kept: {words}.", words=words), "info", tr("Undo"), session.undo)
            if self._answered is not None:
                self._answered()
