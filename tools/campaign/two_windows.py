"""Two windows, each a process of its own, on one file: one of them holds it, under whatever name,
until it closes or dies."""

import os
import random
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.campaign.figures import Failure, Figures

SILENT_S = 60


class _Other:
    """A window in a process of its own; each call is one deed and its answer."""

    def __init__(self, place: Path) -> None:
        asked, self._ask = os.pipe()
        self._told, tell = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.close(self._ask)
            os.close(self._told)
            try:
                _obey(place, asked, tell)
            finally:
                os._exit(1)
        os.close(asked)
        os.close(tell)

    def __call__(self, deed: str, path: Path) -> bool:
        os.write(self._ask, f"{deed} {path}\n".encode())
        answer = os.read(self._told, 1)
        if not answer:
            raise AssertionError(f"the window died at: {deed}")
        return answer == b"1"

    def end(self, kill: bool) -> None:
        """Let the window close, or kill it."""
        if kill:
            os.kill(self.process, signal.SIGKILL)
        else:
            os.write(self._ask, b"quit .\n")
        os.waitpid(self.process, 0)
        os.close(self._ask)
        os.close(self._told)


def _obey(place: Path, asked: int, tell: int) -> None:
    """Do what comes through a pipe, one line a deed."""
    from PySide6.QtCore import QCoreApplication

    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.desktop.document.preferences import PreferenceStore
    from rigplanner.desktop.document.session import Session
    from rigplanner.rig.edits import Edit

    signal.alarm(SILENT_S)
    application = QCoreApplication(["two windows"])
    session = Session(shipped_catalog(), PreferenceStore(None), place)
    session.assess_ms = 1e9
    for count, line in enumerate(os.fdopen(asked, "r")):
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
        os.write(tell, b"1" if done else b"0")


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
        os.kill(made.process, signal.SIGKILL)
        raise


def two_windows(count: int, seed: int, kept: Path | None) -> Figures:
    """Open one file in two windows `count` times."""
    from rigplanner.catalog.load import shipped_catalog

    shipped_catalog()  # here, so that no window that is forked reads it again
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
            if second("open", other):
                came.append("both windows opened the file")
            if second("save", other):
                came.append("the second window wrote over the file of the first")
            if not first("save", one):
                came.append("the first window cannot save its own file")
            first("edit", one)
        if not first("save", one):
            came.append("the first window cannot save its own file")
        held = read_rig(one).notes
        if not held.startswith(str(first.process)):
            came.append(f"the file holds {held!r}")
        end = dice.choice(("killed", "closed"))
        first.end(kill=end == "killed")
        if not second("open", one):
            came.append(f"the file stays locked when its window was {end}")
        second("edit", one)
        if not second("save", one) or not read_rig(one).notes.startswith(str(second.process)):
            came.append("the second window cannot save the file that is free")
        second.end(kill=False)
    return came
