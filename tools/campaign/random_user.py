"""Somebody who clicks, types and edits at random in the window: no exception, no growth."""

import gc
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tools.campaign.figures import Failure, Figures

WARM = 1000
"""Actions after which memory has to stay."""
MOST_GROWTH = 0.10
SETTLE_S = 20.0
HOSTILE = (
    '<img src="x.png"><b>bold</b>',
    "\u202egnp.exe\x00\x1b[31m",
    "a" * 5000,
    "=cmd|' /C calc'!A0",
    "繁體 Žluťoučký 🚀",
    "",
)
PASTED = "2x RTX 3090\nASUS Dual 4070\nRyzen 9 5950X\n32GB DDR4-3200\nsomething else 5000\n"
MODELS = ("llama-3.1-8b", "resnet-50", "bert-large")
LEFT_ALONE = {"quit", "close"}


def random_user(count: int, seed: int, kept: Path | None) -> Figures:
    """Do `count` things in a window, in a process of its own."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    told, tell = os.pipe()
    process = os.fork()
    if not process:
        os.close(told)
        with tempfile.TemporaryDirectory() as folder:
            import msgspec

            made = _User(Path(folder), random.Random(seed)).act(count)
            os.write(tell, msgspec.json.encode(msgspec.to_builtins(made)))
        os._exit(0)
    os.close(tell)
    text = b""
    while piece := os.read(told, 65536):
        text += piece
    os.close(told)
    status = os.waitpid(process, 0)[1]
    if not text:
        return Figures("window", 0, [Failure(f"seed {seed}", f"the window died ({status})")])
    import msgspec

    return msgspec.json.decode(text, type=Figures)


class _User:
    """One person before one window."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.dice, self.folder = dice, folder
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            os.environ[name] = str(folder / name)
        from PySide6.QtCore import QTimer
        from PySide6.QtGui import QDesktopServices

        from rigplanner.data import data_path
        from rigplanner.desktop.start import make_application, make_window

        QDesktopServices.openUrl = lambda *_: True  # type: ignore[method-assign,assignment]
        self.application = make_application()
        self.newest = make_window()
        self.caught: list[str] = []
        sys.excepthook = lambda kind, fault, trace: self.caught.append(_told(fault))
        self.answerer = QTimer(interval=200)
        self.answerer.timeout.connect(_decline)
        self.answerer.start()
        self.samples = sorted((data_path("resources") / "samples").glob("*.rig"))
        self.window.resize(1400, 900)
        self.window.show()
        self.deeds: list[Callable[[], Any]] = [
            *(self.edit,) * 6,
            *(self.step,) * 3,
            *(self.tab,) * 2,
            *(self.key,) * 4,
            *(self.click,) * 4,
            self.command,
            self.file,
        ]

    def act(self, count: int) -> Figures:
        """Do `count` things and return what broke."""
        found = Figures("window")
        warm = most = 0.0
        self.window.session.open(self.samples[0], sample=True)
        everything = self.tour() if count > WARM else []
        for number in range(count):
            deed = everything.pop() if everything else self.dice.choice(self.deeds)
            name = getattr(deed, "__name__", "tour")
            try:
                name = f"{name} {deed() or ''}"
                self.pause()
                self.dismiss()
            except Exception as fault:
                self.caught.append(_told(fault))
            found.deeds += 1
            found.failures += [
                Failure(f"action {number}: {name[:80]}", each) for each in self.caught
            ]
            self.caught.clear()
            if number % 100 == 99:
                self.settle()
            if (number + 1) % min(WARM, count // 2) == 0:
                now = self.memory()
                found.notes[f"mib_at_{number + 1}"] = now
                warm, most = warm or now, max(most, now)
        grown = most / warm - 1
        found.notes["grown_percent"] = 100 * grown
        if grown > MOST_GROWTH:
            found.failures.append(Failure("memory", f"grew by {grown:.0%}"))
        return found

    def tour(self) -> list[Callable[[], Any]]:
        """Deeds that show every tab and give every command once, so that what is read when it is
        first wanted (fonts of a quote, tables of speeds) is there before memory is measured."""
        tabs = [partial(self.tab, n) for n in range(self.window.tabs.count())]
        names = [each for each in sorted(self.window.actions_by_id) if each not in LEFT_ALONE]
        commands = (partial(self.command, name) for name in names)
        return [*commands, *tabs, self.chinese_name, self.pasted_list]

    def chinese_name(self) -> str:
        """Name the rig in Chinese, so that the quote of the next tab wants the font with those
        signs: 15 MiB, kept from then on."""
        from rigplanner.rig.edits import Edit

        self.window.session.edit("rename", Edit("rename", {"name": HOSTILE[4]}))
        return HOSTILE[4]

    def pasted_list(self) -> None:
        """Read a list of parts as if it were pasted: names, makers and series are put in order for
        that when the first one comes, 10 MiB."""
        from rigplanner.rig.from_text.parts_list import read_parts_list

        session = self.window.session
        read_parts_list(PASTED, session.index, session.today)

    @property
    def window(self) -> Any:
        """The window there is: another language or size of text makes a new one."""
        from PySide6.QtWidgets import QApplication

        from rigplanner.desktop.window import Window

        there = [
            each
            for each in QApplication.topLevelWidgets()
            if isinstance(each, Window) and each.isVisible()
        ]
        if there:
            self.newest = there[-1]
        return self.newest

    def pause(self) -> None:
        """Let the window do what it has put off, deleting included: that waits for an event loop
        that ends, which here none does."""
        from PySide6.QtCore import QEvent

        self.application.processEvents()
        self.application.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def settle(self) -> None:
        """Wait until nothing is worked out aside."""
        until = time.monotonic() + SETTLE_S
        while self.window.session.tasks.is_busy() and time.monotonic() < until:
            self.pause()
            time.sleep(0.002)

    def memory(self) -> float:
        """MiB that the process holds when it rests."""
        self.settle()
        gc.collect()
        self.pause()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 2**20

    def dismiss(self) -> None:
        """Close dialogs and menus that came up, now and then after a key or a click in them."""
        from PySide6.QtWidgets import QApplication, QDialog, QMenu, QPushButton
        from shiboken6 import isValid

        for widget in QApplication.topLevelWidgets():
            if not isValid(widget):
                continue
            if isinstance(widget, QMenu) and widget.isVisible():
                widget.close()
            elif isinstance(widget, QDialog) and widget.isVisible():
                buttons = [each for each in widget.findChildren(QPushButton) if each.isEnabled()]
                if buttons and self.dice.random() < 0.3:
                    self.dice.choice(buttons).click()
                    self.pause()
                if isValid(widget):
                    widget.reject()

    def edit(self) -> str:
        """Edit the rig."""
        from rigplanner.catalog.schema.parts import kind_of
        from rigplanner.rig.edits import Edit
        from rigplanner.rig.workload import Workload

        session, dice = self.window.session, self.dice
        rig, parts = session.rig, list(session.catalog.parts.values())
        part = dice.choice(parts)
        item = dice.choice(rig.items).uid if rig.items else "nobody"
        work = Workload(
            model=dice.choice(("llama-3.1-8b", "resnet-50", "bert-large")), task="train"
        )
        edits = (
            Edit("rename", {"name": dice.choice(HOSTILE)}),
            Edit("set_notes", {"notes": dice.choice(HOSTILE)}),
            Edit("add_part", {"part": part.id, "stem": kind_of(part)}),
            Edit("remove_item", {"uid": item}),
            Edit("set_quantity", {"uid": item, "quantity": dice.choice((1, 2, 3, 8))}),
            Edit("replace_part", {"uid": item, "part": dice.choice(parts).id}),
            Edit("set_power_cap", {"uid": item, "watts": dice.choice((None, 100.0, 300.0))}),
            Edit("add_workload", {"workload": work}),
            Edit("remove_workload", {"index": 0}),
            Edit("change_site", {"volts": dice.choice((None, 115, 230))}),
        )
        chosen = dice.choice(edits)
        if len(rig.items) > 12:
            chosen = edits[3]
        session.edit(chosen.name, chosen)
        return f"{chosen.name} {str(chosen)[:60]}"

    def step(self) -> None:
        """Go through the history."""
        session = self.window.session
        self.dice.choice((session.undo, session.redo, lambda: session.go_to(0)))()

    def tab(self, index: int = -1) -> str:
        """Show another tab, any unless one is named."""
        tabs = self.window.tabs
        tabs.setCurrentIndex(index if index >= 0 else self.dice.randrange(tabs.count()))
        return str(tabs.tabText(tabs.currentIndex()))

    def key(self) -> str:
        """Press a key where the focus is."""
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest
        from PySide6.QtWidgets import QApplication

        keys = Qt.Key
        chosen = self.dice.choice(
            (keys.Key_Tab, keys.Key_Tab, keys.Key_Down, keys.Key_Up, keys.Key_Return,
             keys.Key_Escape, keys.Key_Space, keys.Key_Delete, keys.Key_A, keys.Key_3)
        )  # fmt: skip
        widget = QApplication.focusWidget() or self.window
        QTest.keyClick(widget, chosen)
        return f"{chosen.name} in {type(widget).__name__}"

    def click(self) -> str:
        """Click any button that is seen. All widgets are looked through: `findChildren` of a window
        that lives on keeps a wrapper of each button for ever, long after the button has gone."""
        from PySide6.QtWidgets import QAbstractButton, QApplication

        window = self.window
        buttons = [
            each
            for each in QApplication.allWidgets()
            if isinstance(each, QAbstractButton)
            and each.window() is window
            and each.isVisible()
            and each.isEnabled()
        ]
        if not buttons:
            return ""
        chosen = self.dice.choice(buttons)
        name = f"{type(chosen).__name__} {chosen.text() or chosen.accessibleName()}"
        chosen.click()
        return name

    def command(self, name: str = "") -> str:
        """Give a command of the menus, any unless one is named."""
        actions = self.window.actions_by_id
        name = name or self.dice.choice(
            [each for each in sorted(actions) if each not in LEFT_ALONE]
        )
        if actions[name].isEnabled():
            actions[name].trigger()
        return str(name)

    def file(self) -> str:
        """Open a sample, or save and open again."""
        session = self.window.session
        path = self.folder / f"{self.dice.randrange(5)}.rig"
        if self.dice.random() < 0.5:
            session.open(self.dice.choice(self.samples), sample=True)
            return "open a sample"
        session.save(path)
        session.open(path)
        return "save and open"


def _decline() -> None:
    """Decline the question that a file dialog of Qt asks and waits for, in a loop of its own."""
    from PySide6.QtWidgets import QApplication, QMessageBox

    asked = QApplication.activeModalWidget()
    if isinstance(asked, QMessageBox):
        asked.reject()


def _told(fault: BaseException) -> str:
    import traceback

    last = traceback.extract_tb(fault.__traceback__)[-3:]
    where = " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in reversed(last))
    return f"{type(fault).__name__}: {str(fault)[:200]} at {where}"
