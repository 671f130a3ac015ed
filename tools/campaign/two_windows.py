"""Two windows, each a process of its own, on one file: one of them holds it, under whatever name,
until it closes or dies."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.campaign.figures import Failure, Figures

SILENT_S = 60
ROOT = Path(__file__).parents[2]


class _Other:
    """A window in a process of its own; each call is one deed and its answer."""

    def __init__(self, place: Path) -> None:
        # A fresh process, not a fork: a fork would inherit the application and the threads of Qt
        # of whoever runs this.
        command = [sys.executable, "-m", "tools.campaign.two_windows", str(place)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
        )
        assert self.process.stdin and self.process.stdout
        self._ask, self._told = self.process.stdin, self.process.stdout

    def __call__(self, deed: str, path: Path) -> bool:
        self._ask.write(f"{deed} {path}\n".encode())
        self._ask.flush()
        answer = self._told.read(1)
        if not answer:
            raise AssertionError(f"the window died at: {deed}")
        return answer == b"1"

    def end(self, kill: bool) -> None:
        """Let the window close, or kill it."""
        if kill:
            self.process.kill()
        else:
            self._ask.write(b"quit .\n")
        self._ask.close()
        self.process.wait()
        self._told.close()


def _obey(place: Path) -> None:
    """Do what comes by standard input, one line a deed; answer each by one byte."""
    from PySide6.QtCore import QCoreApplication

    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.desktop.document.preferences import PreferenceStore
    from rigplanner.desktop.document.session import Session
    from rigplanner.rig.edits import Edit

    signal.alarm(SILENT_S)
    application = QCoreApplication(["two windows"])
    session = Session(shipped_catalog(), PreferenceStore(None), place)
    session.assess_ms = 1e9
    for count, line in enumerate(sys.stdin):
        deed, _, name = line.rstrip("\n").partition(" ")
        done = True
        if deed == "quit":
            session.close()
            os._exit(0)
        elif deed == "open":
            session.open(Path(name))
            done = session.path == Path(name)
        elif deed == "edit":
            session.edit("Notes", Edit("set_notes", {"notes": f"{os.getpid()} {count}"}))
        elif deed == "save":
            done = session.save(Path(name))
        application.processEvents()
        os.write(1, b"1" if done else b"0")


def _names(place: Path, dice: random.Random) -> tuple[Path, Path]:
    """Return one file under two names, made by links of any kind."""
    from rigplanner.data import data_path

    sample = data_path("resources") / "samples" / "dual-rtx-3090.rig"
    first = place / "a.rig"
    first.write_bytes(sample.read_bytes())
    inner = place / "inner"
    inner.mkdir()
    second = place / "b.rig"
    makers: tuple[Callable[[], Path], ...] = (
        lambda: first,
        lambda: inner / ".." / "a.rig",
        lambda: _linked(second, lambda: second.symlink_to(first)),
        lambda: _linked(second, lambda: second.symlink_to("a.rig")),
        lambda: _linked(second, lambda: os.link(first, second)),
        lambda: _linked(place / "folder", lambda: (place / "folder").symlink_to(place)) / "a.rig",
    )
    return first, dice.choice(makers)()


def _linked(path: Path, make: Callable[[], object]) -> Path:
    make()
    return path


@contextmanager
def _window(place: Path) -> Iterator[_Other]:
    place.mkdir()
    made = _Other(place)
    try:
        yield made
    except BaseException:
        made.process.kill()
        made.process.wait()
        raise


def two_windows(count: int, seed: int, kept: Path | None) -> Figures:
    """Open one file in two windows `count` times."""
    found, dice = Figures("two windows"), random.Random(seed)
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder).resolve()
            one, other = _names(place, dice)
            found.deeds += 1
            came = _together(place, one, other, dice)
            found.failures += [
                Failure(f"pair {number} of seed {seed}: {one.name}, {other}", each) for each in came
            ]
    return found


def _together(place: Path, one: Path, other: Path, dice: random.Random) -> list[str]:
    from rigplanner.rig.files import read_rig

    came = []
    with _window(place / "first") as first, _window(place / "second") as second:
        if not first("open", one):
            came.append("the first window cannot open the file")
        first("edit", one)
        for _ in range(dice.randrange(3)):
            # Saving replaces a file, so a hard link is a file of its own from then on.
            same = other.exists() and one.samefile(other)
            if second("open", other) and same:
                came.append("both windows opened the file")
            if same and second("save", other):
                came.append("the second window wrote over the file of the first")
            if not first("save", one):
                came.append("the first window cannot save its own file")
            first("edit", one)
        if not first("save", one):
            came.append("the first window cannot save its own file")
        held = read_rig(one).notes
        if not held.startswith(str(first.process.pid)):
            came.append(f"the file holds {held!r}")
        end = dice.choice(("killed", "closed"))
        first.end(kill=end == "killed")
        if not second("open", one):
            came.append(f"the file stays locked when its window was {end}")
        second("edit", one)
        if not second("save", one) or not read_rig(one).notes.startswith(str(second.process.pid)):
            came.append("the second window cannot save the file that is free")
        second.end(kill=False)
    return came


if __name__ == "__main__":
    _obey(Path(sys.argv[1]))
