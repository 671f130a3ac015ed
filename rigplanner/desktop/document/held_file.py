"""The rig's file: locked against a second window, watched for other programs."""

import contextlib
import os
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal

from rigplanner.desktop.document.watch import Watch
from rigplanner.file_lock import hold, holder, let_go
from rigplanner.whole_file import beside

Stamp = tuple[int, int]


class HeldFile(QObject):
    """`changed` when another program wrote the file, `gone` when it is no longer there; each change
    is told once."""

    changed = Signal()
    gone = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path: Path | None = None
        self._known: Stamp | None = None
        self._told: Stamp | None = None
        self._lock: QLockFile | None = None
        self._locked: Path | None = None
        self._number: tuple[Path, int] | None = None
        self._watch = Watch(self)
        self._watch.changed.connect(self._look)

    def lock(self, path: Path) -> bool:
        """Lock a file in place of the former one; False when another window holds it. A folder that
        cannot be written to has no locks."""
        real = real_path(path)
        if real == self._locked:
            return self._lock_number(real)
        lock = QLockFile(str(beside(real, ".lock", ".")))
        lock.setStaleLockTime(0)
        if not lock.tryLock(0) and lock.error() == QLockFile.LockError.LockFailedError:
            return False
        if not self._lock_number(real):
            lock.unlock()
            return False
        if self._lock is not None:
            self._lock.unlock()
        self._lock, self._locked = lock, real
        return True

    def _lock_number(self, real: Path) -> bool:
        """Lock the number that the disk gives a file, which all its names share; each writing makes
        it a file of another number. False when another window holds it."""
        place = _place_of_number(real)
        if place == (self._number[0] if self._number else None):
            return True
        if place is not None and holder(place) is not None:
            return False
        self._release_number()
        held = hold(place) if place is not None else None
        self._number = (place, held) if place is not None and held is not None else None
        return True

    def _release_number(self) -> None:
        if self._number is not None:
            let_go(*self._number)
            self._number = None

    def follow(self, path: Path | None) -> None:
        """Take a file as it stands now for known, lock it if nobody else does, and watch it; None
        gives the former one back."""
        if path is None:
            self.release()
        else:
            self.lock(path)
        self.path = path
        self._known = self._told = stamp_of(path)
        self._watch.watch([path, path.parent] if path else [])

    def is_changed(self) -> bool:
        """Whether the file is there and not as it was known."""
        return self._known is not None and stamp_of(self.path) not in (None, self._known)

    def _look(self) -> None:
        now = stamp_of(self.path)
        if self.path is not None:
            self._watch.watch([self.path, self.path.parent])
        if now == self._told:
            return
        self._told = now
        if now is None:
            self.gone.emit()
        elif now != self._known:
            self.changed.emit()

    def release(self) -> None:
        """Give the lock back."""
        self._release_number()
        if self._lock is not None:
            self._lock.unlock()
            self._lock = self._locked = None

    def close(self) -> None:
        """Give the lock back and watch nothing."""
        self._watch.close()
        self.release()


def real_path(path: Path) -> Path:
    """Return a path without links, itself where they lead in circles."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _place_of_number(real: Path) -> Path | None:
    try:
        status = real.stat()
    except OSError:
        return None
    if not status.st_ino:
        return None
    return lock_folder() / f"{status.st_dev:x}-{status.st_ino:x}.lock"


def lock_folder() -> Path:
    """Return the folder of the locks on numbers of files, made if need be."""
    import platformdirs

    folder = platformdirs.user_state_path("rigplanner", appauthor=False) / "locks"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def stamp_of(path: Path | None) -> Stamp | None:
    """Return time and size of a file, None when it is not there."""
    try:
        stat = os.stat(path) if path else None  # noqa: PTH116
    except OSError:
        return None
    return (stat.st_mtime_ns, stat.st_size) if stat else None
