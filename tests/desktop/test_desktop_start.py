"""Starting: a clear message where there can be no window."""

import ctypes
import os
import shutil
import subprocess
import sys

import pytest

from rigplanner.desktop import start
from rigplanner.desktop.start import NO_WINDOW, PACKAGES, open_window, why_no_window
from rigplanner.desktop.start_page.view import StartView


def test_no_display_is_said_and_nothing_crashes(monkeypatch, capsys):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert open_window(None) == NO_WINDOW == 2
    said = capsys.readouterr().err
    assert "no display" in said and "DISPLAY" in said and said.count("\n") == 1


def test_the_command_says_it_too():
    gone = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in gone}
    done = subprocess.run(
        [sys.executable, "-m", "rigplanner"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert "no display" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, False),
        ({"QT_QPA_PLATFORM": "offscreen"}, False),
        ({"QT_QPA_PLATFORM": "xcb", "DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, True),
    ],
)
def test_missing_libraries_are_named_with_their_packages(monkeypatch, environment, asked):
    monkeypatch.setattr(start, "_loads", lambda name: name != "libxcb-cursor.so.0")
    reason = why_no_window("linux", environment)
    assert bool(reason) is asked
    if asked:
        assert (
            "libxcb-cursor0" in reason
            and "xcb-util-cursor" in reason
            and "apt-get" in reason
            and "dnf" in reason
        )


def test_other_systems_have_their_own_displays():
    assert why_no_window("darwin", {}) == ""
    assert why_no_window("win32", {}) == ""


def test_every_library_has_its_packages():
    assert set(start.XCB_LIBRARIES + start.BASE_LIBRARIES) == set(PACKAGES)


@pytest.mark.skipif(
    shutil.which("Xvfb") is None or shutil.which("xvfb-run") is None,
    reason="Xvfb is not installed here",
)
@pytest.mark.usefixtures("warm_cache")
def test_a_window_under_a_real_x_server(tmp_path):
    program = (
        "import sys; from pathlib import Path\nfrom PySide6.QtWidgets import QApplication\nfrom"
        " PySide6.QtCore import QTimer\napp = QApplication(sys.argv[:1])\nfrom"
        " rigplanner.desktop.start import make_window, why_no_window\nimport os; assert"
        " why_no_window(sys.platform, os.environ) == '', why_no_window(sys.platform,"
        " os.environ)\nfrom rigplanner.data import data_path\nwindow ="
        " make_window(data_path('resources') / 'samples' /"
        " 'dual-rtx-3090.rig')\nwindow.show()\nQTimer.singleShot(1500, lambda:"
        f" (window.grab().save({str(tmp_path / 'x.png')!r}), window.close()))\ncode = app.exec();"
        " print(app.platformName(), window.session.rig.name, code)\n"
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY")
    }
    command = ["xvfb-run", "-a", "-s", "-screen 0 1366x768x24", sys.executable, "-c", program]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=90, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "xcb"
    assert (tmp_path / "x.png").stat().st_size > 20_000


@pytest.mark.usefixtures("warm_cache")
def test_an_empty_window_loads_no_rules_and_no_view_of_the_catalog():
    """They are two fifths of a start, and nobody has asked for them yet."""
    program = (
        "import sys\nfrom rigplanner.desktop.start import make_application, make_window\n"
        "make_application()\nmake_window().show()\n"
        "print(*(name for name in ('rigplanner.rules.topics', 'rigplanner.desktop.parts.view')"
        " if name in sys.modules))"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split() == []


def test_a_long_list_is_read_aside_and_may_be_cancelled(window, qtbot):
    window.show_tab("Start")
    start = window.findChild(StartView)
    start.paste.setPlainText("2x RTX 3090\n" + "\n" * 2_000 + "Ryzen 9 5950X\n" * 30)
    start.make_from_list()
    assert window.session.tasks.is_busy("list") and start.unmatched.text() == "Reading the list…"
    start.cancel_list()
    assert not window.session.tasks.is_busy("list") and start.unmatched.text() == "Stopped."
    assert window.session.rig.items == ()
    start.make_from_list()
    qtbot.waitUntil(lambda: not window.session.tasks.is_busy("list"), timeout=60_000)
    assert {item.quantity for item in window.session.rig.items} >= {2}


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="only glibc's heap is told to give memory back",
)
def test_freed_pictures_give_their_memory_back():
    """Left alone, glibc puts pieces of 300 kB on its heap once a larger one was freed."""
    program = (
        "import ctypes\nfrom rigplanner.desktop.start import make_application\nmake_application()\n"
        "class Heap(ctypes.Structure): _fields_ = [(n, ctypes.c_size_t) for n in 'abcdefghij']\n"
        "told = ctypes.CDLL(None).mallinfo2; told.restype = Heap\ndel [bytearray(2**23)][:]\n"
        "before = told().d\nheld = [bytearray(300_000) for _ in range(50)]\n"
        "print(told().d - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert int(done.stdout) == 50
