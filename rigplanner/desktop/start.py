"""Start the window, or say clearly why there can be none."""

import ctypes
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rigplanner.desktop.document.session import Session

NO_WINDOW = 2
LONGEST_ASIDE = 300
"""Characters of a sentence on a file that was left aside."""
SWITCH_S = 0.0005
"""How long a worker may keep the interpreter while the window waits; Python's own 5 ms shows as
jerks when much is painted."""
GIVEN_BACK = ((-1, 2**20), (-3, 2**18), (-8, 2))
"""What glibc's mallopt is told (malloc.h): M_TRIM_THRESHOLD, from how many free bytes on the end of
the heap goes back; M_MMAP_THRESHOLD, from how many bytes on a piece has pages of its own, which go
back when it is freed; M_ARENA_MAX, how many heaps threads share. Left alone it keeps what it once
had: after ten thousand deeds 58 MiB of freed pictures and pages."""
XCB_LIBRARIES = (
    "libX11-xcb.so.1",
    "libxcb-cursor.so.0",
    "libxkbcommon-x11.so.0",
    "libxcb-icccm.so.4",
    "libxcb-keysyms.so.1",
    "libxcb-image.so.0",
    "libxcb-render-util.so.0",
    "libxcb-shape.so.0",
)
BASE_LIBRARIES = (
    "libEGL.so.1",
    "libGL.so.1",
    "libxkbcommon.so.0",
    "libfontconfig.so.1",
    "libglib-2.0.so.0",
    "libdbus-1.so.3",
    "libgssapi_krb5.so.2",
    "libzstd.so.1",
)
PACKAGES = {
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libEGL.so.1": ("libegl1", "mesa-libEGL"),
    "libGL.so.1": ("libgl1", "mesa-libGL"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libgssapi_krb5.so.2": ("libgssapi-krb5-2", "krb5-libs"),
    "libzstd.so.1": ("libzstd1", "libzstd"),
}
"""System library to its package on Debian and on Fedora."""


def why_no_window(platform: str, environment: Mapping[str, str]) -> str:
    """Return why no window can be shown on this platform with this environment, "" when one can."""
    wished = environment.get("QT_QPA_PLATFORM", "")
    if platform != "linux" or wished not in ("", "xcb"):
        return ""
    by_wayland = not wished and environment.get("WAYLAND_DISPLAY")
    if not environment.get("DISPLAY") and not by_wayland:
        return (
            "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set. Start RigPlanner on a"
            " desktop, or use its commands (rigplanner --help), which need no display."
        )
    wanted = BASE_LIBRARIES + (() if by_wayland else XCB_LIBRARIES)
    missing = [name for name in wanted if not _loads(name)]
    if not missing:
        return ""
    debian, fedora = (" ".join(sorted({PACKAGES[name][n] for name in missing})) for n in (0, 1))
    return (
        f"Qt needs system libraries that are missing here: {', '.join(missing)}.\n  Debian, Ubuntu:"
        f"  sudo apt-get install {debian}\n  Fedora:          sudo dnf install {fedora}"
    )


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def open_window(rig_path: str | None) -> int:
    """Show the window, with a rig file if one is named, until it is closed. Return 0, or 2 when
    there can be no window."""
    reason = why_no_window(sys.platform, os.environ)
    if reason:
        print(f"rigplanner: {reason}", file=sys.stderr)  # noqa: T201
        return NO_WINDOW
    try:
        application = make_application()  # type: ignore[no-untyped-call]
    except ImportError as fault:
        print(  # noqa: T201
            f"rigplanner: Qt cannot be loaded ({fault}). Install the missing library, or PySide6"
            " again.",
            file=sys.stderr,
        )
        return NO_WINDOW
    from rigplanner.desktop.window import held

    held[:] = [make_window(Path(rig_path) if rig_path else None)]
    held[0].show()
    return int(application.exec())


def make_application():  # type: ignore[no-untyped-def]
    """Return the application in the Fusion style. Asked for by a word of the command line, the
    style is not handed to Python, where all its enumerations would be made, which takes a fortieth
    of the start."""
    from PySide6.QtWidgets import QApplication

    _give_memory_back()
    return QApplication([*sys.argv[:1], "-style", "Fusion"])


def _give_memory_back() -> None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is not None and hasattr(library, "mallopt"):
        for option, value in GIVEN_BACK:
            library.mallopt(option, value)


def make_window(path: Path | None = None):  # type: ignore[no-untyped-def]
    """Return a window on the user's preferences and journals, not yet shown."""
    from rigplanner.garbage import collector_paused

    _leave_sources_unread()
    with collector_paused():
        return _made(path)


def _made(path: Path | None):  # type: ignore[no-untyped-def]
    from PySide6.QtWidgets import QApplication

    from rigplanner import __version__
    from rigplanner.catalog.imports.user_catalog import full_catalog
    from rigplanner.desktop import faults
    from rigplanner.desktop.document.preferences import (
        BROKEN,
        PreferenceStore,
        folder_of,
        preferences_file,
    )
    from rigplanner.desktop.document.session import Session
    from rigplanner.desktop.documents import open_file
    from rigplanner.desktop.locale import speak
    from rigplanner.desktop.look.theme import look
    from rigplanner.desktop.window import Window
    from rigplanner.garbage import spare_the_living
    from rigplanner.rig.journal import journal_folder

    QApplication.setApplicationName("RigPlanner")
    QApplication.setApplicationVersion(__version__)
    QApplication.setDesktopFileName("rigplanner")
    preferences = PreferenceStore(preferences_file())
    speak(preferences.now.language)
    look.use_text(preferences.now.text_percent)
    look.use(preferences.now.theme)
    QApplication.styleHints().colorSchemeChanged.connect(lambda _: look.follow_system())
    try:
        journals: Path | None = journal_folder()
    except OSError:
        journals = None
    folder = folder_of(preferences.now.catalog_folder)
    full = full_catalog(folder)
    spare_the_living()
    sys.setswitchinterval(SWITCH_S)
    session = Session(full.catalog, preferences, journals)
    window = Window(session, journals)
    session.shelf.follow(folder)
    faults.show_in(window)
    asides = [fault[:LONGEST_ASIDE] for fault in full.faults]
    if preferences.fault:
        asides.insert(0, _broken_settings(preferences.fault, BROKEN))
    _tell_left_aside(session, asides)
    if path is not None:
        open_file(window, path)
    return window


def _broken_settings(reason: str, name: str) -> str:
    from rigplanner.report.language import tr

    return tr(
        "Settings that cannot be read have their usual values now ({reason}); the old file is"
        " kept as {name}.",
        reason=reason[:LONGEST_ASIDE],
        name=name,
    )


def _tell_left_aside(session: "Session", asides: list[str]) -> None:
    """Say which files cannot be used, and why; when it is known, which kept measurements too."""
    from rigplanner.catalog.imports.user_catalog import user_folder

    def read(_: object) -> tuple[str, ...]:
        from rigplanner.performance.anchors.own import left_aside

        return left_aside()

    def tell(more: tuple[str, ...]) -> None:
        if more:
            session.tell("\n".join([*asides, *(each[:LONGEST_ASIDE] for each in more)]), "warning")

    if asides:
        session.tell("\n".join(asides), "warning")
    if (user_folder().parent / "measurements").is_dir():
        session.tasks.run_task("measurements", read, tell)


def _leave_sources_unread() -> None:
    """PySide reads the source of each module that is imported after it, to find whether it names
    PySide and so might want names in snake_case; none here does, and a twentieth of the start goes
    into that. Only where that search stands as it is known."""
    search = sys.modules.get("shibokensupport.feature")
    if hasattr(search, "_mod_uses_pyside"):
        search._mod_uses_pyside = lambda module: False  # type: ignore[union-attr]
