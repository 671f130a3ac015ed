"""The open document without its widgets: the rig, its history, its file, what is known of it, and
what changed. A little over 400 lines: what is unsaved, judged and journalled hangs on one history.
"""

import logging
import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.desktop.document.catalog_store import Shelf
from rigplanner.desktop.document.change import Change, Mark, Message, State
from rigplanner.desktop.document.held_file import HeldFile
from rigplanner.desktop.document.preferences import PreferenceStore
from rigplanner.desktop.document.recorder import Recorder, Unwritten, write
from rigplanner.desktop.document.tasks import Tasks
from rigplanner.errors import TooLarge
from rigplanner.report.language import tr
from rigplanner.rig import journal
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, EditFault, apply, with_known_facts
from rigplanner.rig.files import RigFault, read_rig, write_rig
from rigplanner.rig.variants import states

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment

log = logging.getLogger(__name__)

MOST_STATES = 1000
FIRST_DELAY_MS = 40
"""The first assessment loads the engine; the window is painted before that."""
QUICK_MS = 8.0
"""An assessment that took longer last time is worked out aside, for an edit is painted within 16 ms
and half of that is the painting's; the first one loads the engine and always is. It costs a second
look: the change shows first, the verdict after it."""


class Session(QObject):
    """One open rig. Everything that changes it comes through here, everything that shows it listens
    here."""

    rig_changed = Signal(object)
    document_changed = Signal()
    message_given = Signal(object)
    subject_pointed = Signal(str)
    finding_asked = Signal(object)
    catalog_changed = Signal()

    def __init__(
        self,
        catalog: Catalog,
        preferences: PreferenceStore,
        journals: Path | None = None,
        today: str = "",
    ) -> None:
        super().__init__()
        self.preferences = preferences
        self.today = today or datetime.now(UTC).astimezone().date().isoformat()
        self.tasks = Tasks(self)
        self.shelf = Shelf(catalog, self.tasks, self)
        self.shelf.in_use = lambda: {
            item.part for state in self._states for rig in states(state.rig) for item in rig.items
        }
        self.shelf.exchanged.connect(self._take_catalog)
        self.held = HeldFile(self)
        self.is_open = False
        self.fault: str | None = None
        self.assess_ms = math.inf
        self._states = [State(tr("Open"), Rig())]
        self._position = 0
        self._saved: Rig = self._states[0].rig
        self._judged: Rig = self._states[0].rig
        self._another = False
        self._assessments: dict[int, tuple[Rig, Assessment]] = {}
        self._journal = journal.new_journal(journals) if journals else None
        self._journals = journals
        self._recorder = Recorder()

    @property
    def catalog(self) -> Catalog:
        """The parts in use."""
        return self.shelf.catalog

    @property
    def index(self) -> PartIndex:
        """All parts by their words."""
        return self.shelf.index

    def find(self, words: str, kind: str) -> list[AnyPart]:
        """Return the parts of a kind that hold all words, for none all of them, new ones first."""
        return self.shelf.find(words, kind)

    @property
    def path(self) -> Path | None:
        """The file of the rig, None when it has none yet."""
        return self.held.path

    @property
    def folder(self) -> Path | None:
        """The folder of the rig's file, None without one."""
        return self.path.parent if self.path else None

    def _take_catalog(self) -> None:
        """Judge the rig by another catalog: nothing that was known by the former one holds."""
        self._assessments.clear()
        self.catalog_changed.emit()
        self.refresh()

    def refresh(self) -> None:
        """Show everything anew, as after a change of the catalog or of what is marked."""
        if self.is_open:
            self._show(Change("", self.rig, self.rig, another=True))

    @property
    def rig(self) -> Rig:
        """The rig as it stands."""
        return self._states[self._position].rig

    @property
    def assessment(self) -> "Assessment | None":
        """What the engine knows of the rig; None while it is being worked out, or when it stopped
        with the `fault`."""
        kept = self._assessments.get(id(self.rig))
        return kept[1] if kept else None

    def assess_now(self, rig: Rig) -> "Assessment | None":
        """Return the assessment of a state of this rig, worked out on the spot; the last few are
        remembered."""
        kept = self._assessments.get(id(rig))
        if kept is not None:
            return kept[1]
        try:
            made, seconds = _assessed(rig, self.catalog, self.today)
        except Exception as fault:
            self._take_fault(fault)
            return None
        self._keep(rig, made, seconds)
        return made

    def _keep(self, rig: Rig, made: "Assessment", seconds: float) -> None:
        self.fault = None
        self.assess_ms = seconds * 1000
        while len(self._assessments) >= 8:
            del self._assessments[next(iter(self._assessments))]
        self._assessments[id(rig)] = (rig, made)

    def _take_fault(self, fault: Exception) -> None:
        if isinstance(fault, TooLarge):
            self.fault = str(fault)
            return
        log.error("The rig could not be assessed.", exc_info=fault)
        self.fault = f"{type(fault).__name__}: {fault}"

    @property
    def pending(self) -> bool:
        """Whether the assessment is being worked out; views keep what they show meanwhile."""
        return self.is_open and self.assessment is None and self.fault is None

    def _show(self, change: Change) -> None:
        """Tell the views of a change: with its assessment at once if that is quick, else first
        without and then again with it."""
        self.fault = None
        self._another |= change.another
        rig, catalog, today = change.after, self.catalog, self.today
        if self.assess_ms <= QUICK_MS or id(rig) in self._assessments:
            self.tasks.cancel("assess")
            self.assess_now(rig)
            self._tell_judged(change.name)
            self.document_changed.emit()
            return
        self.rig_changed.emit(change)
        self.document_changed.emit()

        def done(answer: "tuple[Assessment, float]") -> None:
            self._keep(rig, *answer)
            self._tell_judged(change.name)

        def failed(fault: Exception) -> None:
            self._take_fault(fault)
            self._tell_judged(change.name)

        def start() -> None:
            if rig is self.rig:
                self.tasks.run_task(
                    "assess", lambda _: _assessed(rig, catalog, today), done, failed
                )

        if self.assess_ms == math.inf:
            QTimer.singleShot(0, self, lambda: QTimer.singleShot(FIRST_DELAY_MS, self, start))
        else:
            start()

    def _tell_judged(self, name: str) -> None:
        """Emit the change since the last state whose assessment the views have seen."""
        change = Change(name, self._judged, self.rig, self._another)
        self._judged, self._another = self.rig, False
        self.rig_changed.emit(change)

    @property
    def unsaved(self) -> bool:
        """Whether the rig differs from its file."""
        return self.rig is not self._saved

    @property
    def history(self) -> tuple[str, ...]:
        """The names of all steps, the first being the opening."""
        return tuple(state.name for state in self._states)

    @property
    def position(self) -> int:
        """The index in `history` of the state that is shown."""
        return self._position

    def undo_name(self) -> str:
        """Return the name of the step that undo takes back, "" for none."""
        return self._states[self._position].name if self._position else ""

    def redo_name(self) -> str:
        """Return the name of the step that redo makes again, "" for none."""
        return (
            self._states[self._position + 1].name if self._position + 1 < len(self._states) else ""
        )

    def edit(self, name: str, *edits: Edit, merge: str = "") -> bool:
        """Make edits as one named step; steps with the same `merge` key in a row become one. False
        when they cannot be made."""
        rig = self.rig
        try:
            for edit in edits:
                rig = apply(rig, edit)
        except EditFault as fault:
            self.tell(str(fault), "warning")
            return False
        rig = with_known_facts(rig, self.rig, self.preferences.now.facts)
        if rig is self.rig or rig == self.rig:
            return True
        before, last = self.rig, self._states[self._position]
        del self._states[self._position + 1 :]
        if merge and last.merge == merge and self._position:
            self._states[self._position] = State(name, rig, merge)
        else:
            self._states.append(State(name, rig, merge))
        if len(self._states) > MOST_STATES:
            del self._states[1]
        self._position = len(self._states) - 1
        self.is_open = True
        self._after(Change(name, before, rig))
        return True

    def undo(self) -> None:
        """Take the last step back."""
        self.go_to(self._position - 1)

    def redo(self) -> None:
        """Make the next step again."""
        self.go_to(self._position + 1)

    def go_to(self, position: int) -> None:
        """Show another state of the history."""
        if 0 <= position < len(self._states) and position != self._position:
            before, name = self.rig, self._states[max(position, self._position)].name
            self._position = position
            self._after(Change(name, before, self.rig))

    def _after(self, change: Change) -> None:
        self._record_soon()
        self._show(change)

    def tell(
        self,
        text: str,
        level: str = "info",
        action: str = "",
        deed: Callable[[], object] | None = None,
    ) -> None:
        """Show one line above the tabs."""
        self.message_given.emit(Message(text, level, action, deed))

    def start_rig(self, rig: Rig, name: str = "", path: Path | None = None) -> None:
        """Show another rig with a fresh history; `path` is the file it was read from."""
        before, name = self.rig, name or tr("New")
        self._set_aside()
        if self._journals:
            self._journal = journal.new_journal(self._journals)
        self._states = [State(name, rig)]
        self._position = 0
        self._saved = rig
        self.held.follow(path)
        self.is_open = True
        self._show(Change(name, before, rig, another=True))

    def _set_aside(self) -> None:
        """Leave unsaved edits of the present rig in a journal, to be offered at the next start."""
        self._recorder.stop()
        if self.is_open and (wanted := self._unwritten()):
            write(wanted)
        elif self._journal is not None:
            journal.forget(self._journal)

    def mark(self) -> Mark:
        """Return the open rig with its history, to `come_back` to."""
        return Mark(tuple(self._states), self._position, self._saved, self.path, self._journal)

    def come_back(self, mark: Mark) -> None:
        """Show a rig again as it was left, with its history, its file and its journal."""
        before = self.rig
        self._set_aside()
        self._journal = mark.journal
        self._states, self._position, self._saved = list(mark.states), mark.position, mark.saved
        self.held.follow(mark.path if mark.path is None or self._take(mark.path) else None)
        self.is_open = True
        self._record_soon()
        self._show(Change(tr("Restore"), before, self.rig, another=True))

    def _unwritten(self) -> Unwritten | None:
        """What the journal is to hold, None when a file holds it or there is no journal."""
        if self._journal is None or not self.unsaved:
            return None
        shown = tuple(self._states[: self._position + 1])
        return Unwritten(self._journal, self.rig, self.path, shown)

    def _record_soon(self) -> None:
        if wanted := self._unwritten():
            self._recorder.soon(wanted)
        else:
            self._recorder.stop()

    def record_now(self) -> bool:
        """Write the journal before something that may end the program, when there are edits that no
        file holds; False when it cannot be written."""
        self._recorder.stop()
        if not (self.is_open and self.unsaved):
            return True
        wanted = self._unwritten()
        return wanted is not None and write(wanted)

    def open(self, path: Path, sample: bool = False) -> bool:
        """Open a rig file; say what is wrong with it and keep the present rig when it cannot be
        read."""
        try:
            rig = read_rig(path)
        except RigFault as fault:
            self.tell(str(fault), "error")
            return False
        if sample:
            self.start_rig(rig, tr("Open sample"))
            return True
        if path != self.path and not self._take(path):
            return False
        self.start_rig(rig, tr("Open"), path)
        self.preferences.remember_file(path.resolve())
        return True

    def save(self, path: Path) -> bool:
        """Write the rig; say what is wrong when the disk refuses, and keep the edits."""
        if path == self.path and self.held.is_changed():
            self.tell(
                tr(
                    "{name} was changed by another program. Saving overwrites those changes.",
                    name=path.name,
                ),
                "warning",
                tr("Save anyway"),
                lambda: self._save_over(path),
            )
            return False
        return self._save_over(path)

    def _save_over(self, path: Path) -> bool:
        if path != self.path and not self._take(path):
            return False
        try:
            write_rig(self.rig, path, self.catalog)
        except RigFault as fault:
            self.tell(str(fault), "error", tr("Try again"), lambda: self._save_over(path))
            return False
        self.held.follow(path)
        self._saved = self.rig
        self.preferences.remember_file(path.resolve())
        self.forget_journal()
        self.document_changed.emit()
        self.tell(tr("Saved {name}.", name=path.name))
        return True

    def _take(self, path: Path) -> bool:
        if self.held.lock(path):
            return True
        self.tell(
            tr(
                "{name} is already open in another window.",
                name=path.name,
            ),
            "warning",
        )
        return False

    def forget_journal(self) -> None:
        """Drop the journal: its rig is in a file, or was given up."""
        self._recorder.stop()
        if self._journal is not None:
            journal.forget(self._journal)

    def restore(self, found: journal.Unsaved) -> None:
        """Show what a crashed window left with its history, as an unsaved change of its file; its
        journal goes when its content stands in ours."""
        path = Path(found.document) if found.document else None
        self.start_rig(found.rig, tr("Restore"), path if path and self._take(path) else None)
        former = [State(step.name, step.rig) for step in found.steps[:-1]]
        if former:
            last = found.steps[-1]
            self._states = [*former, State(last.name, self.rig)]
            self._position = len(self._states) - 1
        self.mark_unsaved()
        if self.record_now():
            journal.forget(found.journal)

    def mark_unsaved(self) -> None:
        """Treat the rig as one that no file holds."""
        self._saved = Rig()
        self._record_soon()
        self.document_changed.emit()

    def hand_over(self) -> "Session":
        """Return a session with this one's rig, history, file and journal, and end this one."""
        fresh = Session(self.catalog, self.preferences, None, self.today)
        fresh._states, fresh._position, fresh._saved = self._states, self._position, self._saved
        fresh._journal, fresh._journals = self._journal, self._journals
        fresh.is_open = self.is_open
        fresh.shelf.take_over(self.shelf)
        self._journal, path = None, self.path
        self.close()
        fresh.held.follow(path)
        fresh._record_soon()
        return fresh

    def point_at(self, subject: str) -> None:
        """Tell all views which piece, place or workload is meant."""
        self.subject_pointed.emit(subject)

    def close(self, keep_journal: bool = False) -> None:
        """End the session: stop the work aside, release the file. Unsaved edits stay in the journal
        if wished."""
        self._recorder.stop()
        self.tasks.close()
        if keep_journal and self.is_open and (wanted := self._unwritten()):
            write(wanted)
        elif self._journal is not None:
            journal.forget(self._journal)
        self.held.close()
        self.shelf.close()


def _assessed(rig: Rig, catalog: Catalog, today: str) -> "tuple[Assessment, float]":
    """Return the assessment and the seconds that it took."""
    from rigplanner.rules.assess import assess

    start = time.perf_counter()
    return assess(rig, catalog, today), time.perf_counter() - start
