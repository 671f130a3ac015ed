"""The owner's own figures of the rig's parts: seen, changed and taken away."""

from typing import Any

from PySide6.QtWidgets import QWidget

from rigplanner.desktop.controls.flow_row import FlowRow
from rigplanner.desktop.controls.widgets import button, clear, column, label, panel
from rigplanner.desktop.document.session import Session
from rigplanner.report.language import tr
from rigplanner.rig.edits import Edit


class OwnFigures(QWidget):
    """A line for each figure with Change and Remove; hidden where the rig has none."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shown: dict[str, Any] | None = None
        self._lines = column(spacing=4)
        self._title = label(tr("My figures"), "section")
        self.setLayout(column(self._title, self._lines, margins=(12, 4, 8, 4), spacing=4))
        self.hide()

    def refresh(self) -> None:
        """Show the figures of the rig as it stands."""
        from rigplanner.rules.questions import own_facts

        session = self._session
        facts = dict(own_facts(session.rig))
        if facts == self._shown:
            return
        self._shown = facts
        clear(self._lines)
        self.setVisible(bool(facts))
        for fact, value in facts.items():
            self._add_line(fact, value)

    def _add_line(self, fact: str, value: Any) -> None:
        from rigplanner.report.words.questions import own_fact_text

        session = self._session
        text = own_fact_text(fact, value, session.rig, session.catalog)
        part, _, name = fact.partition(":")
        change = button(
            tr("Change"),
            lambda: self._ask(fact),
            role="link",
            name=tr("Change {figure}", figure=text),
        )
        change.setEnabled(any(item.part == part for item in session.rig.items))
        remove = button(
            tr("Remove"),
            lambda: self.remove(part, name),
            role="link",
            name=tr("Remove {figure}", figure=text),
        )
        keys = (change, remove)
        line = column(label(text, "small", wrap=True), FlowRow(*keys), spacing=0)
        self._lines.addWidget(panel(line))

    def _ask(self, fact: str) -> None:
        """Open the question of a figure under its line."""
        from rigplanner.desktop.findings.question_form import QuestionForm
        from rigplanner.rules.questions import question_of

        session = self._session
        if session.assessment is None:
            return
        machine = session.assessment.machine
        question = question_of(fact, session.rig, session.catalog, machine)
        if question is not None:
            form = QuestionForm(session, question, self.refresh)
            self._lines.addWidget(form)
            self._shown = None
            form.setFocus()

    def remove(self, part: str, name: str) -> None:
        """Forget a figure, in this rig and for those to come."""
        session = self._session
        args = {"part": part, "name": name, "value": None}
        if session.edit(tr("Remove my figure"), Edit("set_fact", args)):
            session.preferences.remember_fact(part, name, None)
            session.tell(tr("The figure is removed."), "info", tr("Undo"), session.undo)
