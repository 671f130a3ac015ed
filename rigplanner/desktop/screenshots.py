"""`python -m rigplanner.desktop.screenshots FOLDER`: every view, light and dark, as PNG without a
display."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QWidget

    from rigplanner.desktop.window import Window

WIDTH, HEIGHT = 1366, 768
SAMPLE = "quad-rtx-4090.rig"
OTHERS = ("dual-rtx-3090.rig", "rtx-5090.rig")


def render_all(folder: Path, sample: Path | None = None) -> list[Path]:
    """Render every view in both schemes into `folder`; return the files. Needs no display."""
    application = _application()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as state:
        window = _window(Path(state), sample or samples() / SAMPLE)
        files = []
        for scheme in ("light", "dark"):
            window.use_theme(scheme)
            for name, show in VIEWS.items():
                shown = show(window) or window
                settle(application, window)
                files.append(_save(shown, folder / f"{name}-{scheme}.png"))
                if shown is not window:
                    shown.close()
        window.close()
    return files


def render_window(path: Path, rig: Path) -> Path:
    """Render the window with a rig open into one PNG."""
    application = _application()
    with tempfile.TemporaryDirectory() as state:
        window = _window(Path(state), rig)
        window.use_theme("light")
        window.show_tab("Parts")
        settle(application, window)
        _save(window, path)
        window.close()
    return path


def samples() -> Path:
    """Return the folder of the samples."""
    from rigplanner.data import data_path

    return data_path("resources") / "samples"


def _application() -> "QApplication":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtGui import QFont, QFontDatabase
    from PySide6.QtWidgets import QApplication

    from rigplanner.data import data_path

    running = QApplication.instance()
    if isinstance(running, QApplication):
        return running
    application = QApplication(sys.argv[:1])
    QApplication.setStyle("Fusion")
    for name in ("NotoSans-Regular.ttf", "NotoSans-SemiBold.ttf"):
        QFontDatabase.addApplicationFont(str(data_path("resources") / "fonts" / name))
    font = QFont("Noto Sans")
    font.setPixelSize(12)
    QApplication.setFont(font)
    return application


def _window(state: Path, rig: Path) -> "Window":
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.desktop.document.preferences import PreferenceStore
    from rigplanner.desktop.document.session import Session
    from rigplanner.desktop.documents import open_file
    from rigplanner.desktop.window import Window

    session = Session(shipped_catalog(), PreferenceStore(state / "preferences.json"))
    window = Window(session)
    window.resize(WIDTH, HEIGHT)
    window.show()
    open_file(window, rig, sample=True)
    for other in OTHERS:
        window.view("Compare").add_file(samples() / other)
    return window


def settle(application: "QApplication", window: "Window", seconds: float = 120.0) -> None:
    """Let timers run and the work aside come to an end. Sleeping lets other threads run Python;
    `QTest.qWait` holds them up."""
    import time

    def wait(least_s: float) -> None:
        until = time.monotonic() + least_s
        while time.monotonic() < until:
            application.processEvents()
            time.sleep(0.01)

    end = time.monotonic() + seconds
    for pause_s in (0.4, 0.7, 0.5):
        wait(pause_s)
        while (window.session.pending or window.session.tasks.is_busy()) and time.monotonic() < end:
            wait(0.02)


def _save(widget: "QWidget", path: Path) -> Path:
    if not widget.grab().save(str(path)):
        raise OSError(f"{path}: the picture was not written.")
    return path


def _tab(title: str) -> Callable[["Window"], None]:
    return lambda window: window.show_tab(title)


def _parts(window: "Window") -> None:
    window.show_tab("Parts")
    window.show_first_item()
    window.parts.table.selectRow(window.parts.table.currentIndex().row() + 3)


def _palette(window: "Window") -> None:
    window.show_tab("Parts")
    window.palette_box.open_at_top()
    window.palette_box.field.setText("4090")


def _slots(window: "Window") -> None:
    from PySide6.QtWidgets import QTabWidget

    window.show_tab("Machine")
    window.view("Machine").findChild(QTabWidget).setCurrentIndex(1)


def _machine(window: "Window") -> None:
    from PySide6.QtWidgets import QTabWidget

    window.show_tab("Machine")
    window.view("Machine").findChild(QTabWidget).setCurrentIndex(0)


def _breakdown(window: "Window") -> "QWidget":
    from PySide6.QtWidgets import QDialog

    window.palette_box.hide()
    window.show_tab("Parts")
    window.gauges.gauges[1].clicked.emit(window.gauges.gauges[1].limit)
    return window.findChildren(QDialog)[-1]


def _shortcuts(window: "Window") -> "QWidget":
    from PySide6.QtWidgets import QDialog

    window.show_shortcuts()
    return window.findChildren(QDialog)[-1]


def _best(window: "Window") -> "QWidget":
    from rigplanner.desktop.dialogs.best import best_dialog

    dialog = best_dialog(window)
    dialog.ask_for("language", used=True)
    return dialog


def _rig_settings(window: "Window") -> "QWidget":
    from rigplanner.desktop.dialogs.rig_settings import RigSettings

    dialog = RigSettings(window)
    dialog.open()
    return dialog


def _settings(window: "Window") -> "QWidget":
    from rigplanner.desktop.dialogs.settings import SettingsDialog

    dialog = SettingsDialog(window)
    dialog.tabs.setCurrentIndex(1)
    dialog.open()
    return dialog


def _map(window: "Window") -> None:
    window.show_tab("Map")
    window.view("Map").cards.views.setCurrentIndex(2)


VIEWS: dict[str, "Callable[[Window], QWidget | None]"] = {
    "start": _tab("Start"),
    "parts": _parts,
    "machine": _machine,
    "slots": _slots,
    "workloads": _tab("Workloads"),
    "map": _map,
    "compare": _tab("Compare"),
    "quote": _tab("Quote"),
    "palette": _palette,
    "breakdown": _breakdown,
    "shortcuts": _shortcuts,
    "best": _best,
    "settings": _settings,
    "rig-settings": _rig_settings,
}


def main(arguments: list[str]) -> int:
    """Render all views into a folder, or with --one a picture of the window."""
    parser = argparse.ArgumentParser(
        prog="python -m rigplanner.desktop.screenshots", description=main.__doc__
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/pictures"))
    parser.add_argument("--rig", type=Path, help="the rig that is shown (else a sample)")
    parser.add_argument(
        "--one", type=Path, metavar="FILE.png", help="write one picture of the window only"
    )
    args = parser.parse_args(arguments)
    rig = args.rig or samples() / SAMPLE
    for path in [render_window(args.one, rig)] if args.one else render_all(args.folder, rig):
        print(path)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
