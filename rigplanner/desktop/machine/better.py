"""Better places: moves of cards and drives to free places, with the links that each changes, made
with one click."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from rigplanner.desktop.controls.widgets import button, clear, label, row
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import PAINTED_MS
from rigplanner.machine.alternatives import Alternative, Change, alternatives
from rigplanner.machine.model import Machine
from rigplanner.report.language import tr
from rigplanner.report.quote.machine import link_text
from rigplanner.report.words.findings import subject_name

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment

MOST_SHOWN = 3
MOST_CHANGES = 3


class BetterPlaces(QWidget):
    """Hidden while no move gives a GPU a faster link."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._asked: Machine | None = None
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(12, 4, 12, 4)
        self._lines.setSpacing(0)
        self.hide()

    def ask(self, assessment: "Assessment") -> None:
        """Try the moves of a machine aside; the same machine is tried once."""
        if assessment.machine is self._asked:
            return
        rig, catalog, machine = assessment.rig, self._session.catalog, assessment.machine
        self._asked = machine

        def take(found: tuple[Alternative, ...]) -> None:
            if self._asked is machine:
                self.show_moves(found)

        self._session.tasks.run_task(
            "better places", lambda _: alternatives(rig, catalog, machine), take, wait_ms=PAINTED_MS
        )

    def show_moves(self, found: tuple[Alternative, ...]) -> None:
        """Show the moves after which GPUs have faster links."""
        clear(self._lines)
        gaining = [move for move in found if move.gain_gbs > 0][:MOST_SHOWN]
        for move in gaining:
            words = tr("Move {piece} to {place}", piece=self._name(move.piece), place=move.place)
            use = button(
                words, partial(self._session.edit, words, *move.edits), role="link", name=words
            )
            self._lines.addLayout(
                row(
                    use,
                    label(", ".join(map(self._change, move.changes[:MOST_CHANGES])), "small"),
                    1,
                )
            )
        self.setVisible(bool(gaining))

    def _name(self, piece: str) -> str:
        return subject_name(piece, self._session.rig, self._session.catalog)

    def _change(self, change: Change) -> str:
        before, after = (
            link_text(*link) if link[0] else tr("no link") for link in (change.before, change.after)
        )
        return tr(
            "{piece} {before} → {after}", piece=self._name(change.piece), before=before, after=after
        )
