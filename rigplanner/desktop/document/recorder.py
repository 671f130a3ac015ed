"""The journal's clock: a thread that waits for nothing else. A window that is held up, by painting
or by a busy machine, must not hold up what a crash would lose."""

import logging
import threading
from pathlib import Path

from msgspec import Struct

from rigplanner.desktop.document.change import State
from rigplanner.rig import journal
from rigplanner.rig.document import Rig

log = logging.getLogger(__name__)

DELAY_S = 0.2
"""From the first edit that no file holds to its journal. The rest of half a second is for a busy
machine to come to it and write it: 1 ms of work, 10 to 20 ms of a disk."""


class Unwritten(Struct, frozen=True):
    """What a journal is to hold: a rig, its file, and the states that led to it."""

    target: Path
    rig: Rig
    document: Path | None
    states: tuple[State, ...]


def write(wanted: Unwritten) -> bool:
    """Write a journal; False when the disk refuses."""
    steps = tuple(journal.Step(state.name, state.rig) for state in wanted.states)
    try:
        journal.record(wanted.target, wanted.rig, wanted.document, steps)
    except OSError as fault:
        log.warning("The journal was not written: %s", fault)
        return False
    return True


class Recorder:
    """Writes the newest of what is handed in, `DELAY_S` after the first: a burst of edits does not
    put it off."""

    def __init__(self) -> None:
        self._now = threading.Lock()
        self._writing = threading.Lock()
        self._wanted: Unwritten | None = None
        self._clock: threading.Timer | None = None

    def soon(self, wanted: Unwritten) -> None:
        """Write this, or what is handed in until then, before long."""
        with self._now:
            self._wanted = wanted
            if self._clock is None:
                self._clock = threading.Timer(DELAY_S, self._write)
                self._clock.daemon = True
                self._clock.start()

    def stop(self) -> None:
        """Write nothing of what was handed in; what is being written ends first."""
        with self._now:
            if self._clock is not None:
                self._clock.cancel()
            self._wanted = self._clock = None
        with self._writing:
            pass

    def _write(self) -> None:
        with self._writing:
            with self._now:
                wanted, self._wanted, self._clock = self._wanted, None, None
            if wanted is not None:
                write(wanted)
