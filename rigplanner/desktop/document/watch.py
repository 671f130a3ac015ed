"""Files and folders under watch: one signal when any of them changed, after things have settled."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

SETTLE_MS = 300


class Watch(QObject):
    """`changed` comes once for a burst of changes, also when a file is replaced, appears or
    goes."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._watcher = QFileSystemWatcher(self)
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.changed)
        self._watcher.fileChanged.connect(lambda _: self._settle.start())
        self._watcher.directoryChanged.connect(lambda _: self._settle.start())

    def watch(self, paths: Iterable[Path]) -> None:
        """Watch these paths and no others; those that do not exist are left out."""
        wanted = {str(path) for path in paths if path.exists()}
        known = {*self._watcher.files(), *self._watcher.directories()}
        if known - wanted:
            self._watcher.removePaths(sorted(known - wanted))
        if wanted - known:
            self._watcher.addPaths(sorted(wanted - known))

    def close(self) -> None:
        """Watch nothing, tell nothing."""
        self._settle.stop()
        self.watch([])
