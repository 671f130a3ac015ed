"""The one way to ask for a file or folder: a dialog that waits for nothing and calls back."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

Wanted = Literal["file", "folder", "new file"]
MODES = {
    "file": QFileDialog.FileMode.ExistingFile,
    "folder": QFileDialog.FileMode.Directory,
    "new file": QFileDialog.FileMode.AnyFile,
}


def ask_file(
    parent: QWidget,
    title: str,
    chosen: Callable[[Path], object],
    filters: str = "",
    wanted: Wanted = "file",
    folder: Path | None = None,
    name: str = "",
    suffix: str = "",
) -> QFileDialog:
    """Ask for something in `folder` (None: the person's own) and call `chosen` with it; a new file
    is called `name` at first and gets the ending `suffix` where none is typed."""
    start = folder if folder is not None and folder.is_dir() else Path.home()
    dialog = QFileDialog(parent, title, str(start), filters)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(MODES[wanted])
    if wanted == "new file":
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    if name:
        dialog.selectFile(name)
    if suffix:
        dialog.setDefaultSuffix(suffix)
    dialog.fileSelected.connect(lambda text: chosen(Path(text)))
    dialog.open()
    return dialog
