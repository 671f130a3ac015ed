"""Find the best rig: the question on the left, the front in the middle, the best three below; live
while it searches."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QGridLayout,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from rigplanner.catalog.prices.exchange import convert
from rigplanner.desktop.controls.widgets import (
    busy_bar,
    button,
    clear,
    column,
    indented,
    label,
    panel,
    row,
    scrolled,
    stretchy,
)
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.dialogs.best_limits import LimitFault, MoreLimits
from rigplanner.desktop.dialogs.settings import CURRENCIES
from rigplanner.desktop.document.exports import ask_export, write
from rigplanner.desktop.document.preferences import begin, rates_of
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import Ticket
from rigplanner.desktop.documents import take_rig
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.desktop.map.scene_view import SceneView
from rigplanner.desktop.words import outlets
from rigplanner.planning.aims import AIMS, USUAL_AIM, Aim, Purpose
from rigplanner.report.format import money
from rigplanner.report.language import tr
from rigplanner.rig.countries import USUAL
from rigplanner.rig.document import Site
from rigplanner.rig.workload import Workload

if TYPE_CHECKING:
    from rigplanner.desktop.dialogs.best_search import Found
    from rigplanner.planning.best.answer import Answer, Seeker
    from rigplanner.planning.best.question import Question
    from rigplanner.planning.best.search import Candidate

TOPIC = "best"
ASK_DELAY_MS = 350
MOST_SHOWN = 3
MOST_GROWTH = 4
OWN = "own"
"""The purpose that stands for the open rig's workloads."""
USUAL_BUDGETS: dict[str, float] = {
    "little-money": 1500,
    "trying": 1200,
    "kaggle": 2500,
    "vision": 4500,
    "language": 4500,
    "serve": 6000,
    "nlp": 3000,
    "data": 4500,
    OWN: 4500,
}


class BestDialog(QDialog):
    """Answers are worked out aside, each time the question changes; a stale one never shows."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Find the best rig"))
        self.resize(row_px() * 46, row_px() * 30)
        self._desk, self._session = desk, desk.session
        self.found: Found | None = None
        self._delay = QTimer(self, singleShot=True, interval=ASK_DELAY_MS)
        self._delay.timeout.connect(self.ask)
        self.head = label("", "large", wrap=True)
        self.note = label("", "small", wrap=True)
        self.progress = busy_bar()
        self.stop = button(tr("Stop"), self.cancel)
        kept = self.stop.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.stop.setSizePolicy(kept)
        self.picture = SceneView(tr("Price and speed of the best rigs"))
        self.picture.asked.connect(self._show_point)
        self._answer = QVBoxLayout()
        self._answer.setSpacing(6)
        self.take = button(tr("Open this rig"), self._open, "new", "primary")
        self.compare = button(tr("Compare the best three"), self._compare)
        self.keep = button(tr("Save the proof"), self._ask_proof)
        right = column(
            panel(column(self.head, self.note, spacing=2)),
            row(self.progress, self.stop),
            self.picture,
            scrolled(panel(column(self._answer, 1, margins=(0, 0, 12, 0))), tr("Answer")),
            row(self.keep, 1, self.compare, self.take, button(tr("Close"), self.close)),
            spacing=10,
        )
        questions = scrolled(panel(self._questions()), tr("Question"))
        questions.setFixedWidth(row_px() * 14)
        self.setLayout(row(questions, panel(right), margins=(20, 16, 20, 16), spacing=24))
        self._choose()

    def _questions(self) -> QVBoxLayout:
        self.purpose, self.aim, self.objective = QComboBox(), QComboBox(), QComboBox()
        self._fill_purposes()
        self._fill_objectives()
        form = QFormLayout()
        form.setVerticalSpacing(8)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        for title, box in (
            (tr("Purpose"), self.purpose),
            (tr("Task"), self.aim),
            (tr("Look for"), self.objective),
        ):
            box.setAccessibleName(title)
            box.setSizeAdjustPolicy(
                QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
            box.setMinimumContentsLength(10)
            form.addRow(title, box)
        self.purpose.activated.connect(lambda _: self._choose())
        self.aim.activated.connect(lambda _: self._choose_task())
        self.objective.activated.connect(lambda _: self._delay.start())
        self._add_money(form)
        self._add_limits(form)
        self.limits = MoreLimits(self._session.catalog, self._delay.start)
        form.addRow(self.limits)
        lines = column(label(tr("Question").upper(), "section"), spacing=6)
        lines.addLayout(form)
        lines.addStretch(1)
        return lines

    def _fill_purposes(self) -> None:
        from rigplanner.report.words import purposes

        if self._session.rig.workloads:
            self.purpose.addItem(tr("The workloads of this rig"), OWN)
        for purpose in purposes.PURPOSES:
            self.purpose.addItem(purposes.purpose_title(purpose), purpose)

    def _fill_objectives(self) -> None:
        from rigplanner.report.words.best import OBJECTIVES

        for objective, title in OBJECTIVES.items():
            self.objective.addItem(tr(title), objective)

    def _add_money(self, form: QFormLayout) -> None:
        self.currency = QComboBox()
        self.currency.setAccessibleName(tr("Currency"))
        own = self._session.preferences.now.currency
        self.currency.addItems(list(dict.fromkeys((own, *CURRENCIES))))
        self.currency.activated.connect(lambda _: self._change_currency())
        self._shown = own
        self.budget = QDoubleSpinBox(minimum=0, maximum=1e8, decimals=0, singleStep=100)
        self.budget.setAccessibleName(tr("Budget"))
        self.budget.setSpecialValueText(tr("no limit"))
        indented(self.budget)
        self.budget.valueChanged.connect(self._delay.start)
        form.addRow(tr("Budget"), row(stretchy(self.budget), self.currency))
        self.country = QComboBox()
        self.country.setAccessibleName(tr("Country (sets the wall outlet)"))
        self.country.addItem(tr("not set"), "")
        for code, words in outlets():
            self.country.addItem(words, code)
        kept = self._session.preferences.now.site.country or ""
        self.country.setCurrentIndex(max(0, self.country.findData(kept)))
        self.country.activated.connect(lambda _: self._delay.start())
        form.addRow(tr("Country (sets the wall outlet)"), self.country)

    def _add_limits(self, form: QFormLayout) -> None:
        from rigplanner.report.words.best import SIZES

        self.used = QCheckBox(tr("Used parts too"))
        self.tight = QCheckBox(tr("Memory may be tight"))
        self.quiet = QCheckBox(tr("Quiet: it stands next to my desk"))
        self.upgrade = QCheckBox(tr("Next step from the open rig"))
        for box in (self.used, self.tight, self.quiet, self.upgrade):
            box.toggled.connect(lambda _: self._delay.start())
            form.addRow(box)
        self.upgrade.setVisible(bool(self._session.rig.items))
        self.board_size = QComboBox()
        self.board_size.setAccessibleName(tr("Largest board"))
        for size, title in SIZES.items():
            self.board_size.addItem(tr(title), size)
        self.board_size.activated.connect(lambda _: self._delay.start())
        form.addRow(tr("Largest board"), self.board_size)
        self.growth = QSpinBox(minimum=0, maximum=MOST_GROWTH)
        self.growth.setAccessibleName(tr("Slots for cards to come"))
        indented(self.growth)
        self.growth.valueChanged.connect(self._delay.start)
        form.addRow(tr("Slots for cards to come"), self.growth)

    def _choose(self) -> None:
        from rigplanner.report.words.purposes import aim_title

        purpose = self.purpose.currentData()
        self.aim.clear()
        for aim in AIMS.get(purpose, ()):
            self.aim.addItem(aim_title(aim.code), aim.code)
        if purpose != OWN:
            self.aim.setCurrentIndex(self.aim.findData(USUAL_AIM[purpose]))
        self.aim.setEnabled(purpose != OWN)
        self.budget.blockSignals(True)
        self.budget.setValue(self._in_currency(USUAL_BUDGETS[purpose], "USD"))
        self.budget.blockSignals(False)
        self._choose_task()

    def _change_currency(self) -> None:
        """Keep the budget's worth: it becomes about as much in the other currency."""
        before, self._shown = self._shown, self.currency.currentText()
        self.budget.setValue(self._in_currency(self.budget.value(), before))
        self._delay.start()

    def _in_currency(self, amount: float, currency: str) -> float:
        """An amount in the currency that is chosen, in two figures; as it is without a rate."""
        to = self.currency.currentText()
        made = convert(amount, currency, to, rates_of(self._session.preferences.now))
        return amount if made is None or to == currency else float(f"{made:.1e}")

    def _choose_task(self) -> None:
        self.limits.show_works(self._works())
        self._delay.start()

    def _works(self) -> tuple[Workload, ...]:
        from rigplanner.planning.best.question import on_any_cards

        purpose = self.purpose.currentData()
        if purpose == OWN:
            return tuple(map(on_any_cards, self._session.rig.workloads))
        return (_aim(purpose, self.aim.currentData()).workload,)

    def ask_for(self, purpose: Purpose, used: bool = False) -> None:
        """Choose a purpose with its usual task and budget."""
        self.purpose.setCurrentIndex(self.purpose.findData(purpose))
        self.used.setChecked(used)
        self._choose()

    def _question(self) -> "Question":
        from rigplanner.planning.best.question import Question
        from rigplanner.planning.best.upgrade import from_rig

        session = self._session
        question = Question(
            wants=self.limits.wanted(self._works()),
            objective=self.objective.currentData(),
            budget=self.budget.value() or None,
            currency=self.currency.currentText(),
            site=self._site(),
            rates=rates_of(session.preferences.now),
            used=self.used.isChecked(),
            tight=self.tight.isChecked(),
            quiet=self.quiet.isChecked(),
            size=self.board_size.currentData(),
            growth=self.growth.value(),
        )
        question = self.limits.limited(question, session.catalog, session.index)
        if self.upgrade.isChecked():
            resale = self.limits.resale.value() / 100
            return from_rig(question, session.rig, session.catalog, session.today, resale)
        return question

    def _site(self) -> Site:
        kept, code = self._session.preferences.now.site, self.country.currentData()
        if code == (kept.country or ""):
            return kept
        volts, amperes = USUAL.get(code, (None, None))
        return replace(kept, country=code or None, volts=volts, breaker_a=amperes)

    def ask(self) -> None:
        """Work the answer out aside."""
        self._delay.stop()
        session = self._session
        try:
            question = self._question()
        except LimitFault as fault:
            session.tasks.cancel(TOPIC)
            self.found = None
            self.head.setText(str(fault))
            self.note.setText("")
            self._rest()
            return
        catalog, today = session.catalog, session.today
        aims = AIMS.get(self.purpose.currentData(), ())

        def work(ticket: Ticket) -> "Iterator[Found]":
            from rigplanner.desktop.dialogs.best_search import finding

            return finding(question, aims, catalog, today, lambda: not ticket.cancelled)

        self.found = None
        self.head.setText(tr("Looking for a rig…"))
        self.note.setText("")
        self.progress.setMaximum(0)
        session.tasks.run_task(TOPIC, work, lambda _: self._rest(), self._fail, self.show_found)
        self._rest()

    def cancel(self) -> None:
        """Stop looking; what was found stays."""
        self._session.tasks.cancel(TOPIC)
        if self.found is None:
            self.head.setText(tr("Stopped. Change an answer to search again."))
        self._rest()

    def _fail(self, fault: Exception) -> None:
        self.head.setText(tr("The search stopped: {fault}", fault=str(fault)))
        self._rest()

    def _rest(self) -> None:
        busy = self._session.tasks.is_busy(TOPIC)
        self.progress.setVisible(busy)
        self.stop.setVisible(busy)
        best = self.found.answer.best if self.found else None
        self.take.setVisible(best is not None)
        self.keep.setVisible(bool(self.found and self.found.answer.certificate))
        self.compare.setVisible(bool(self.found and len(self.found.points) > 1))
        self.picture.setVisible(bool(self.found and len(self.found.points) > 1))
        if self.found is None:
            clear(self._answer)

    def show_found(self, found: "Found") -> None:
        """Show what was found by now."""
        from rigplanner.report.words import best as words

        self.found = found
        answer = found.answer
        clear(self._answer)
        self.head.setText(words.headline(answer))
        said = [words.proof_text(answer.total, answer.gap)] if answer.best is not None else []
        if answer.gap is None and answer.best is not None:
            said.append(words.sound_text(answer))
        self.note.setText(" ".join(said))
        if answer.best is not None:
            self._section(tr("The rig"))
            self._answer.addLayout(self._items(answer.best, found.seeker))
            for line in (
                *words.beside_texts(answer),
                *words.doubt_texts(answer.best, found.seeker.market),
                words.price_text(answer.best, found.seeker.market),
            ):
                if line:
                    self._answer.addWidget(label(line, "small", wrap=True))
        self._draw(found)
        if found.also:
            self._section(tr("What it can run"))
        for line in found.also:
            self._answer.addWidget(label(line, "small", wrap=True))
        if found.why:
            self._section(tr("Why not the others") if answer.best else tr("What makes it possible"))
        for line in found.why:
            self._answer.addWidget(label(line, "small", wrap=True))
        if found.whole:
            self._section(tr("Not in the search"))
            counted = [words.counts_text(answer)] if answer.counts else []
            for line in (*counted, *words.left_out_texts(answer), words.outside_text()):
                self._answer.addWidget(label(line, "small", wrap=True))
        self._rest()

    def _section(self, text: str) -> None:
        title = label(text.upper(), "section")
        title.setContentsMargins(0, 8, 0, 0)
        self._answer.addWidget(title)

    def _items(self, best: "Candidate", seeker: "Seeker") -> QGridLayout:
        from rigplanner.report.words import best as words

        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        rows = words.item_rows(best, seeker)
        reasons = words.reason_texts(best, seeker)
        for n, (item, (name, price)) in enumerate(zip(best.rig.items, rows, strict=True)):
            amount = label(price, "small")
            amount.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(stretchy(label(name, "strong", wrap=True)), 2 * n, 0)
            grid.addWidget(amount, 2 * n, 1)
            reason = stretchy(label(reasons.get(item.uid, ""), "small", wrap=True))
            grid.addWidget(reason, 2 * n + 1, 0, 1, 2)
        return grid

    def _draw(self, found: "Found") -> None:
        from rigplanner.planning.best.choices import knee
        from rigplanner.report.map.best_front import front_scene
        from rigplanner.report.words.best import cards_text

        points, catalog = list(found.points), self._session.catalog
        if len(points) < 2:
            self.picture.show_scene(None)
            return
        bend = knee(points)
        self.picture.show_scene(
            lambda width, height, measure: front_scene(
                points, bend, catalog, width, min(height, 300.0), measure
            )
        )
        self._section(tr("The best three"))
        for best in points[:MOST_SHOWN]:
            text = f"{money(best.price, best.rig.currency)}: {cards_text(best, catalog)}"
            take = button(tr("Open"), partial(self._take, best))
            take.setAccessibleName(tr("Open {name}", name=text))
            line = QWidget()
            line.setLayout(row(stretchy(label(text, "", wrap=True)), take))
            self._answer.addWidget(line)

    def _show_point(self, n: int) -> None:
        if self.found is not None and n < len(self.found.points):
            self._take(self.found.points[n])

    def _open(self) -> None:
        if self.found is not None and self.found.answer.best is not None:
            self._take(self.found.answer.best)

    def _take(self, best: "Candidate") -> None:
        """Show a rig as an unsaved one with the seller of new ones, and close."""
        from rigplanner.planning.best.proof import with_proof

        assert self.found is not None
        session, answer = self._session, self.found.answer
        rig = with_proof(best.rig, answer) if best == answer.best else best.rig
        quote = begin(session.preferences.now).quote
        rig = replace(rig, name=self.purpose.currentText(), quote=quote)
        take_rig(session, rig, tr("Take the best rig"))
        self._desk.show_first_item()
        self.close()

    def _ask_proof(self) -> None:
        """Ask where to write the certificate of the answer that is shown."""
        if self.found is None or self.found.answer.certificate is None:
            return
        answer = self.found.answer
        name = tr("Proof of {purpose}", purpose=self.purpose.currentText()[:60])
        ask_export(
            self,
            self._session,
            tr("Save the proof"),
            name,
            "json",
            lambda path: save_proof(self._session, answer, path),
        )

    def _compare(self) -> None:
        from rigplanner.report.words.best import cards_text

        if self.found is None:
            return
        named = [
            (cards_text(best, self._session.catalog), best.rig)
            for best in self.found.points[:MOST_SHOWN]
        ]
        self._desk.show_tab("Compare")
        self._desk.view("Compare").add_rigs(named)
        self.close()

    def done(self, result: int) -> None:
        self._delay.stop()
        self._session.tasks.cancel(TOPIC)
        super().done(result)


def save_proof(session: Session, answer: "Answer", path: Path) -> None:
    """Write the certificate of an answer, which `rigplanner best --verify` checks."""
    from rigplanner.planning.best.certificate import as_json

    certificate = answer.certificate
    write(session, path, lambda: None if certificate is None else as_json(certificate))


def _aim(purpose: Purpose, code: str) -> Aim:
    from rigplanner.planning.aims import aim_of

    return aim_of(purpose, code)


def best_dialog(desk: Desk) -> BestDialog:
    """Show the page over the window."""
    dialog = BestDialog(desk)
    give_hints(dialog)
    look.look_changed.connect(dialog.update)
    dialog.open()
    return dialog
