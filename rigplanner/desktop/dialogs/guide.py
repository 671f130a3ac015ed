"""The guide: a few questions on the left, the answer with its reasons on the right, opened as a rig
by one button."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QGridLayout,
    QLayout,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    busy_bar,
    button,
    clear,
    column,
    indented,
    label,
    panel,
    row,
    rule,
    scrolled,
    stretchy,
)
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.preferences import begin, rates_of
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.documents import take_rig
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.planning.aims import AIMS, USUAL_AIM, Purpose
from rigplanner.report.format import money
from rigplanner.report.language import tr
from rigplanner.rig.countries import USUAL
from rigplanner.rig.document import Site

if TYPE_CHECKING:
    from rigplanner.planning.guide import Ability, Advice, Proposal

TOPIC = "guide"
CURRENCIES = ("USD", "EUR")
"""Money that prices of the catalog are in; beside it stands that of the settings."""
ASK_DELAY_MS = 350
RUNS_ICONS = {
    "yes": ("tick", "fits"),
    "tight": ("warn", "warns"),
    "no": ("cross", "fails"),
    "unknown": ("question", "unknown"),
}
USUAL_BUDGETS: dict[Purpose, float] = {
    "little-money": 1200,
    "kaggle": 2000,
    "vision": 4500,
    "language": 4500,
    "serve": 6000,
    "trying": 1200,
}


class GuideDialog(QDialog):
    """Answers are worked out aside, each time a question changes; a stale answer never shows."""

    def __init__(self, desk: Desk) -> None:
        from rigplanner.report.words import guide as words_guide

        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Guide"))
        self.resize(row_px() * 46, row_px() * 29)
        self._desk, self._session, self._words = desk, desk.session, words_guide
        self.advice: Advice | None = None
        self._shown: Proposal | None = None
        self._delay = QTimer(self, singleShot=True, interval=ASK_DELAY_MS)
        self._delay.timeout.connect(self.ask)
        self.head = label("", "large", wrap=True)
        self.note = label("", "small", wrap=True)
        self.progress = busy_bar()
        self.stop = button(tr("Stop"), self.cancel)
        self._answer = QVBoxLayout()
        self._answer.setSpacing(6)
        self.take = button(tr("Open this rig"), lambda: self._open(self._best()), "new", "primary")
        self.take_cheapest = button(
            tr("Open the cheapest rig"),
            lambda: self._open(self.advice.cheapest if self.advice else None),
        )
        right = column(
            panel(column(self.head, self.note, spacing=2)),
            row(self.progress, self.stop),
            scrolled(panel(column(self._answer, 1, margins=(0, 0, 12, 0))), tr("Answer")),
            row(1, self.take_cheapest, self.take, button(tr("Close"), self.close)),
            spacing=10,
        )
        questions = panel(self._make_questions())
        questions.setFixedWidth(row_px() * 14)
        self.setLayout(row(questions, panel(right), margins=(20, 16, 20, 16), spacing=24))
        self._rest()
        self._choose(self.purpose)

    def _make_questions(self) -> QVBoxLayout:
        self._purposes = QButtonGroup(self)
        lines = column(label(tr("Purpose").upper(), "section"), spacing=2)
        for n, purpose in enumerate(self._words.PURPOSES):
            choice = QRadioButton(self._words.purpose_title(purpose).replace("&", "&&"))
            choice.setAccessibleDescription(self._words.purpose_note(purpose))
            choice.setChecked(n == 0)
            self._purposes.addButton(choice, n)
            note = label(self._words.purpose_note(purpose), "small", wrap=True)
            note.setContentsMargins(22, 0, 0, 6)
            lines.addWidget(choice)
            lines.addWidget(note)
        self._purposes.idToggled.connect(self._toggled)
        form = QFormLayout()
        form.setVerticalSpacing(8)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        self.aim = QComboBox()
        self.aim.setAccessibleName(tr("Task"))
        self.aim.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.aim.setMinimumContentsLength(10)
        self.aim.activated.connect(self._delay.start)
        form.addRow(tr("Task"), self.aim)
        self.currency = QComboBox()
        self.currency.setAccessibleName(tr("Currency"))
        self.currency.addItems(
            list(dict.fromkeys((self._session.preferences.now.currency, *CURRENCIES)))
        )
        self.currency.activated.connect(self._delay.start)
        self.budget = QDoubleSpinBox(minimum=0, maximum=1e8, decimals=0, singleStep=100)
        self.budget.setAccessibleName(tr("Budget"))
        self.budget.setSpecialValueText(tr("no limit"))
        indented(self.budget)
        self.budget.valueChanged.connect(self._delay.start)
        form.addRow(tr("Budget"), row(stretchy(self.budget), self.currency))
        self.country = QComboBox()
        self.country.setAccessibleName(tr("Country (sets the wall outlet)"))
        self.country.addItem(tr("not set"), "")
        for code, (volts, amperes) in sorted(USUAL.items()):
            self.country.addItem(f"{code}, {volts:.0f}\u202fV {amperes:.0f}\u202fA", code)
        self.country.setCurrentIndex(
            max(0, self.country.findData(self._session.preferences.now.site.country or ""))
        )
        self.country.activated.connect(self._delay.start)
        form.addRow(tr("Country (sets the wall outlet)"), self.country)
        self.quiet = QCheckBox(tr("Quiet: it stands next to my desk"))
        self.quiet.setToolTip(
            plain(
                tr(
                    "Leaves out blower and passive cards, open frames, and more than two cards."
                    " There are no noise figures."
                )
            )
        )
        self.quiet.toggled.connect(self._delay.start)
        form.addRow(self.quiet)
        lines.addLayout(form)
        lines.addStretch(1)
        return lines

    @property
    def purpose(self) -> Purpose:
        """The purpose that is chosen."""
        return list(self._words.PURPOSES)[self._purposes.checkedId()]

    def _toggled(self, number: int, on: bool) -> None:
        if on:
            self._choose(list(self._words.PURPOSES)[number])

    def _choose(self, purpose: Purpose) -> None:
        self.aim.clear()
        for aim in AIMS[purpose]:
            self.aim.addItem(self._words.aim_title(aim.code), aim.code)
        self.aim.setCurrentIndex(self.aim.findData(USUAL_AIM[purpose]))
        self.budget.blockSignals(True)
        self.budget.setValue(USUAL_BUDGETS[purpose])
        self.budget.blockSignals(False)
        self._delay.start()

    def ask(self) -> None:
        """Work the answer out aside."""
        from rigplanner.planning.guide import Answers, advising

        self._delay.stop()
        session = self._session
        rates = rates_of(session.preferences.now)
        answers = Answers(
            purpose=self.purpose,
            aim=self.aim.currentData(),
            budget=self.budget.value() or None,
            currency=self.currency.currentText(),
            site=self._site(),
            quiet=self.quiet.isChecked(),
            rates=rates,
        )
        catalog, today = session.catalog, session.today

        def work(ticket: Ticket) -> "Iterator[Advice]":
            return advising(answers, catalog, today, lambda: not ticket.cancelled)

        self.advice = None
        self.head.setText(tr("Looking for a rig…"))
        self.note.setText("")
        self.progress.setMaximum(0)
        session.tasks.run_task(TOPIC, work, lambda _: self._rest(), self._fail, self.show_advice)
        self._rest()

    def _site(self) -> Site:
        kept, code = self._session.preferences.now.site, self.country.currentData()
        if code == (kept.country or ""):
            return kept
        volts, amperes = USUAL.get(code, (None, None))
        return replace(kept, country=code or None, volts=volts, breaker_a=amperes)

    def cancel(self) -> None:
        """Stop looking."""
        self._session.tasks.cancel(TOPIC)
        if self.advice is None:
            self.head.setText(tr("Stopped. Change an answer to search again."))
        self._rest()

    def _fail(self, fault: Exception) -> None:
        self.head.setText(tr("The guide stopped: {fault}", fault=str(fault)))
        self._rest()

    def _rest(self) -> None:
        busy = self._session.tasks.is_busy(TOPIC)
        self.progress.setVisible(busy)
        self.stop.setVisible(busy)
        self.take.setVisible(self._best() is not None)
        self.take_cheapest.setVisible(bool(self.advice and self.advice.cheapest))
        if self.advice is None and not busy:
            clear(self._answer)

    def _best(self) -> "Proposal | None":
        return self.advice.best if self.advice else None

    def show_advice(self, advice: "Advice") -> None:
        """Show an answer."""
        self.advice = advice
        clear(self._answer)
        self.head.setText(self._words.headline(advice))
        chosen = advice.best or advice.cheapest
        said = (
            (self._words.checked_text(chosen), self._words.age_text(chosen, self._session.today))
            if chosen
            else ()
        )
        self.note.setText(
            " ".join(filter(None, said))
            or tr("Raise the budget, choose a smaller task, or rent a machine.")
        )
        if chosen is not None:
            self._add(
                label(
                    (tr("The rig") if advice.best else tr("Cheapest rig for this task")).upper(),
                    "section",
                )
            )
            self._add(self._items(chosen))
            self._add(label(tr("What it can run").upper(), "section"))
            self._add(self._abilities(chosen.abilities))
        if advice.best is not None and advice.cheapest is not None:
            price = money(advice.cheapest.total, advice.answers.currency)
            self._add(
                label(
                    tr("The least expensive rig that does it costs {price}.", price=price),
                    "small",
                    wrap=True,
                )
            )
        if advice.rented:
            self._add(label(tr("Rent instead").upper(), "section"))
            for machine in advice.rented:
                text = self._words.rented_text(machine, chosen, advice.aim)
                self._add(label(text, "", wrap=True))
        if advice.passed_over:
            self._add(label(tr("Why other parts were not chosen").upper(), "section"))
        for text in self._words.passed_over_texts(advice):
            self._add(label(text, "small", wrap=True))
        self._rest()

    def _add(self, thing: QWidget | QLayout) -> None:
        if isinstance(thing, QLayout):
            self._answer.addLayout(thing)
        else:
            if thing.property("role") == "section":
                thing.setContentsMargins(0, 8, 0, 0)
            self._answer.addWidget(thing)

    def _items(self, proposal: "Proposal") -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 1)
        for n, (name, price, reason) in enumerate(
            self._words.item_rows(proposal, self._session.catalog)
        ):
            amount = label(price, "small")
            amount.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(stretchy(label(name, "strong", wrap=True)), 3 * n, 0)
            grid.addWidget(amount, 3 * n, 1)
            grid.addWidget(stretchy(label(reason, "small", wrap=True)), 3 * n + 1, 0, 1, 2)
            line = rule()
            line.setContentsMargins(0, 4, 0, 4)
            grid.addWidget(line, 3 * n + 2, 0, 1, 2)
            grid.setRowMinimumHeight(3 * n + 2, 9)
        return grid

    def _abilities(self, abilities: "tuple[Ability, ...]") -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for n, ability in enumerate(abilities):
            icon, token = RUNS_ICONS[ability.runs]
            sign = label()
            sign.setPixmap(icons.pixmap(icon, token, self.devicePixelRatioF()))
            sign.setAccessibleName(tr(self._words.RUNS_WORDS[ability.runs]))
            figures = label(self._words.ability_text(ability), "small")
            figures.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(sign, 2 * n, 0)
            grid.addWidget(
                stretchy(label(self._words.aim_title(ability.aim.code), wrap=True)), 2 * n, 1
            )
            grid.addWidget(figures, 2 * n, 2)
            if doubt := self._words.doubt_text(ability):
                grid.addWidget(stretchy(label(doubt, "small", wrap=True)), 2 * n + 1, 1, 1, 2)
        return grid

    def _open(self, proposal: "Proposal | None") -> None:
        """Show a proposal as an unsaved rig with the seller of new ones, and close."""
        if proposal is None:
            return
        session = self._session
        quote = begin(session.preferences.now).quote
        rig = replace(proposal.rig, name=self._words.purpose_title(self.purpose), quote=quote)
        take_rig(session, rig, tr("Take the guide's rig"))
        self._desk.show_first_item()
        self.close()

    def done(self, result: int) -> None:
        self._delay.stop()
        self._session.tasks.cancel(TOPIC)
        super().done(result)


def guide_dialog(desk: Desk) -> GuideDialog:
    """Show the guide over the window."""
    dialog = GuideDialog(desk)
    look.look_changed.connect(dialog.update)
    give_hints(dialog)
    dialog.open()
    return dialog
