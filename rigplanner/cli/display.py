"""Whether the display that the environment names answers: Qt would end the whole program where it
does not."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

WITHOUT_SCREEN = ("offscreen", "minimal")
PROBE = "from PySide6.QtGui import QGuiApplication; QGuiApplication([])"
PATIENCE_S = 20


def why_no_display(platform: str, environment: Mapping[str, str]) -> str:
    """Return why no window can be shown on the display that is named, "" when one can or none is
    named."""
    if platform != "linux":
        return ""
    wished = environment.get("QT_QPA_PLATFORM", "")
    if wished and wished != "xcb":
        if wished.partition(":")[0] in WITHOUT_SCREEN or _qt_starts(environment):
            return ""
        return (
            f"Qt cannot show windows by QT_QPA_PLATFORM={wished[:60]!r}; unset it, or set it to xcb"
            " or wayland."
        )
    display = environment.get("DISPLAY")
    wayland = environment.get("WAYLAND_DISPLAY") if not wished else None
    if wayland and Path(environment.get("XDG_RUNTIME_DIR", ""), wayland).is_socket():
        return ""
    if display:
        named = "" if _x_answers(display) else f"{display[:60]!r} (DISPLAY)"
    else:
        named = f"{wayland[:60]!r} (WAYLAND_DISPLAY)" if wayland else ""
    return named and (
        f"The display {named} does not answer. Start RigPlanner on a desktop, log in with 'ssh -X',"
        " or use its commands (rigplanner --help), which need no display."
    )


def _qt_starts(environment: Mapping[str, str]) -> bool:
    try:
        ended = subprocess.run(
            [sys.executable, "-c", PROBE],
            env=dict(environment),
            capture_output=True,
            timeout=PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _x_answers(display: str) -> bool:
    """Whether an X server accepts us; without the library Qt's own check says what is missing."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(os.fsencode(display), None)
    refused = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not refused
