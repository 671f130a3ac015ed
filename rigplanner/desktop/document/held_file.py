"""The rig's file: locked against a second window, watched for other programs."""

import os
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal

from rigplanner.desktop.document.watch import Watch

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
        self._watch = Watch(self)
        self._watch.changed.connect(self._look)

    def lock(self, path: Path) -> bool:
        """Lock a file in place of the former one; False when another window holds it. A folder that
        cannot be written to has no locks."""
        if path == self._locked:
            return True
        lock = QLockFile(str(path.with_name(f".{path.name}.lock")))
        lock.setStaleLockTime(0)
        if not lock.tryLock(0) and lock.error() == QLockFile.LockError.LockFailedError:
            return False
        self.release()
        self._lock, self._locked = lock, path
        return True

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
        if self._lock is not None:
            self._lock.unlock()
            self._lock = self._locked = None

    def close(self) -> None:
        """Give the lock back and watch nothing."""
        self._watch.close()
        self.release()


def stamp_of(path: Path | None) -> Stamp | None:
    """Return time and size of a file, None when it is not there."""
    try:
        stat = os.stat(path) if path else None  # noqa: PTH116
    except OSError:
        return None
    return (stat.st_mtime_ns, stat.st_size) if stat else None
