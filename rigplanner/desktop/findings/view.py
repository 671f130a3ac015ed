"""The right panel: what is wrong, needed against actual, with the ways out."""

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from rigplanner.desktop.controls.widgets import (
    button,
    clear,
    column,
    icon_button,
    label,
    panel,
    row,
    scrolled,
    stretchy,
    strip,
)
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.exports import copy_findings
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.findings.own_figures import OwnFigures
from rigplanner.desktop.look.fade import Figure
from rigplanner.desktop.look.theme import look, row_px
from rigplanner.report.language import tr, trn
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.finding import Finding

if TYPE_CHECKING:
    from rigplanner.desktop.findings.card import FindingCard


MOST_CARDS = 60
"""Findings that have a card at first, errors before all others; a card takes some three
milliseconds to make."""


class FindingsView(QWidget):
    """Counts on top, then cards, then what was waived and what was not checked."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._cards: dict[str, FindingCard] = {}
        self.setMinimumWidth(row_px() * 10)
        self.verdict = Figure("strong")
        self.verdict.setWordWrap(True)
        self.counts = label("", "small", wrap=True)
        self._list = QVBoxLayout()
        self._list.setContentsMargins(8, 0, 8, 8)
        self._list.setSpacing(6)
        self._most = MOST_CARDS
        self.more = button("", self._show_more, role="link")
        self.more.hide()
        self._rests = label("", "small", wrap=True)
        self._rests.setContentsMargins(12, 0, 8, 0)
        self._unchecked = label("", "small", wrap=True)
        self._ignored = column(spacing=4)
        self.own = OwnFigures(session)
        body = panel(
            column(
                self._list,
                self.more,
                self._rests,
                self.own,
                self._ignored,
                self._unchecked,
                1,
                margins=(0, 4, 4, 8),
            )
        )
        self._unchecked.setContentsMargins(12, 0, 8, 0)
        self.copy = icon_button("copy", tr("Copy the findings"), lambda: copy_findings(session))
        self.copy.hide()
        said = panel(column(self.verdict, self.counts, spacing=0))
        said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setLayout(
            column(
                strip(row(said, self.copy, margins=(12, 6, 8, 4), spacing=0)),
                scrolled(body, tr("Findings")),
                spacing=0,
            )
        )
        session.rig_changed.connect(self._rig_changed)
        look.look_changed.connect(self._repaint)
        self.refresh()

    def cards(self) -> "list[FindingCard]":
        """Return the cards from top to bottom."""
        return sorted(self._cards.values(), key=self._list.indexOf)

    def _rig_changed(self, change: Change) -> None:
        if change.another:
            self._most = MOST_CARDS
        self.refresh()

    def _show_more(self) -> None:
        self._most += MOST_CARDS
        self.refresh()

    def refresh(self) -> None:
        """Show the findings of the rig as it stands; cards of findings that did not change are
        kept."""
        assessment = self._session.assessment
        if assessment is None:
            self.copy.hide()
            self._rests.setText("")
            if self._session.pending:
                self.counts.setText(tr("Checking…"))
                return
            fault = self._session.fault
            self.verdict.show_text(tr("Not checked"))
            self.counts.setText(
                tr("The rig could not be assessed: {fault}", fault=fault)
                if fault
                else tr("Open or start a rig.")
            )
            self.own.refresh()
            self._show_cards([])
            return
        from rigplanner.report.words.findings import counts_text, rests_text, verdict_text

        report = assessment.report
        if not assessment.rig.items:
            self.verdict.show_text(tr("Nothing to check yet"))
            self.counts.setText(tr("Add parts; findings appear here with ways to fix them."))
        else:
            self.verdict.show_text(verdict_text(report))
            counts = counts_text(report)
            ran = trn("{count} rule checked", "{count} rules checked", len(report.ran))
            rests = rests_text(report, assessment.rig, self._session.catalog, most=0)
            self.counts.setText("\n".join(filter(None, (counts or ran, rests))))
        self._rests.setText(rests_text(report, assessment.rig, self._session.catalog))
        self.copy.setVisible(bool(assessment.rig.items))
        self.own.refresh()
        self._show_cards([(f, False) for f in report.findings] + [(f, True) for f in report.waived])
        self._show_unchecked()

    def _show_cards(self, wanted: list[tuple[Finding, bool]]) -> None:
        hidden = len(wanted) - self._most
        self.more.setVisible(hidden > 0)
        self.more.setText(
            trn("Show {count} more finding", "Show {count} more findings", min(hidden, MOST_CARDS))
        )
        self.more.setAccessibleName(self.more.text())
        wanted = wanted[: self._most]
        alike: Counter[str] = Counter()
        keys = []
        for f, waived in wanted:
            key = f"{f.code} {f.severity} {f.subjects} {waived}"
            alike[key] += 1
            keys.append(f"{key} {alike[key]}")
        kept = {}
        for n, (key, (finding, waived)) in enumerate(zip(keys, wanted, strict=True)):
            card = self._cards.pop(key, None)
            if card is not None and card.finding != finding:
                _discard(self._list, card)
                card = None
            if card is None:
                card = _card(self._session, finding, waived)
            if self._list.indexOf(card) != n:
                self._list.insertWidget(n, card)
            kept[key] = card
        for card in self._cards.values():
            _discard(self._list, card)
        self._cards = kept

    def _show_unchecked(self) -> None:
        assessment = self._session.assessment
        from rigplanner.report.words.findings import rule_title
        from rigplanner.report.words.machine import absent_texts

        clear(self._ignored)
        if assessment is None or not assessment.rig.items:
            self._unchecked.setText("")
            return
        report = assessment.report
        for code in report.ignored:
            undo = button(
                tr("Check again"),
                lambda code=code: self._session.edit(  # type: ignore[misc]
                    tr("Check {code}", code=code),
                    Edit("set_ignored", {"code": code, "ignored": False}),
                ),
                role="link",
                name=tr("Check {code}", code=code),
            )
            text = stretchy(
                label(
                    tr("Ignored: {title} ({code})", title=rule_title(code), code=code),
                    "small",
                    wrap=True,
                )
            )
            self._ignored.addLayout(row(text, undo, margins=(12, 0, 8, 0)))
        ran = trn("{count} rule checked.", "{count} rules checked.", len(report.ran))
        idle = (
            trn(
                "{count} rule did not apply.",
                "{count} rules did not apply.",
                len(report.idle),
            )
            if report.idle
            else ""
        )
        never = tr(
            "Not checked at all: cable lengths, noise, clearance between memory and CPU cooler,"
            " local wiring rules."
        )
        self._unchecked.setText(
            " ".join(part for part in (ran, idle, *absent_texts(assessment.machine), never) if part)
        )

    def _repaint(self) -> None:
        for card in self._cards.values():
            card.paint_sign()


def _card(session: Session, finding: Finding, waived: bool) -> "FindingCard":
    """Return a new card; loading its words takes a third of a start."""
    from rigplanner.desktop.findings.card import FindingCard

    return FindingCard(session, finding, waived)


def _discard(layout: QVBoxLayout, card: "FindingCard") -> None:
    layout.removeWidget(card)
    card.hide()
    card.deleteLater()
