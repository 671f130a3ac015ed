"""What happens to the open rig, as values that views and history share."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from rigplanner.rig.document import Rig


class Change(Struct, frozen=True):
    """What happened to the rig. Views look at the parts of it that concern them; states are shared,
    so identity tells."""

    name: str
    before: Rig
    after: Rig
    another: bool = False

    @property
    def machine(self) -> bool:
        """Parts, places, settings or site changed."""
        a, b = self.before, self.after
        return (
            self.another
            or a.items is not b.items
            or a.settings is not b.settings
            or a.site is not b.site
        )

    @property
    def workloads(self) -> bool:
        """The workloads changed."""
        return self.another or self.before.workloads is not self.after.workloads


class Message(Struct, frozen=True):
    """A line above the tabs: `level` info, warning or error, and a way out by one button."""

    text: str
    level: str = "info"
    action: str = ""
    deed: Callable[[], object] | None = None


class Mark(Struct, frozen=True):
    """A rig as it was left: its history, the state that was shown, the one that its file holds, its
    file and its journal."""

    states: tuple["State", ...]
    position: int
    saved: Rig
    path: Path | None
    journal: Path | None


class State(Struct, frozen=True):
    """One step of the history: the rig after the edit `name`. Edits with the same `merge` key
    become one step."""

    name: str
    rig: Rig
    merge: str = ""
