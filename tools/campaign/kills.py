"""Kills at random moments: while files are saved and journals written, and in the window while
somebody types."""

import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from tools.campaign.figures import Failure, Figures

LONGEST_LOST_S = 0.8
"""How old the first edit may be that a kill loses: half a second until it is written, and what a
busy machine takes to write it."""
IN_ENGINE, IN_SESSION = 2 / 3, 1 / 4
"""Shares of the kills while files are written and while a session is edited; the rest strike the
whole window."""


def kills(count: int, seed: int, kept: Path | None) -> Figures:
    """Kill a program that saves `count` times; the file and the journal hold the old or the new."""
    found = Figures("kills")
    dice = random.Random(seed)
    for number in range(count):
        found.deeds += 1
        share = number / count
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            if share < IN_ENGINE:
                came, lost_s = _while(place, _saving, dice.uniform(0.0, 0.08), _saved_is_whole)
            else:
                whole_window = share >= IN_ENGINE + IN_SESSION
                deed = _window if whole_window else _typing
                came, lost_s = _while(place, deed, dice.uniform(0.1, 1.6), _typed_is_kept)
            found.failures += [Failure(f"kill {number} of seed {seed}", each) for each in came]
            found.notes["oldest_lost_s"] = max(found.notes.get("oldest_lost_s", 0.0), lost_s)
    return found


Judge = Callable[[Path, list[tuple[str, int, float]], float], tuple[list[str], float]]


def _while(
    place: Path, deed: Callable[[Path, int], None], wait_s: float, judge: Judge
) -> tuple[list[str], float]:
    """Start a deed in a process of its own, kill it `wait_s` after it began, and judge what it
    left: what is broken, and the age of the oldest edit that is lost."""
    told, tell = os.pipe()
    process = os.fork()
    if not process:
        os.close(told)
        try:
            deed(place, tell)
        finally:
            os._exit(1)
    os.close(tell)
    first = os.read(told, 1)
    time.sleep(wait_s)
    os.kill(process, signal.SIGKILL)
    killed = time.monotonic()
    os.waitpid(process, 0)
    text = first
    while piece := os.read(told, 65536):
        text += piece
    os.close(told)
    events = []
    for line in text.split(b"\n")[:-1]:
        word, number, at = line.split()
        events.append((word.decode(), int(number), float(at)))
    if not first:
        return ["the program did not begin"], 0.0
    return judge(place, events, killed)


def _say(tell: int, word: str, number: int) -> None:
    os.write(tell, f"{word} {number} {time.monotonic()}\n".encode())


def _saving(place: Path, tell: int) -> None:
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.data import data_path
    from rigplanner.rig.files import read_rig, write_rig
    from rigplanner.rig.journal import record

    catalog = shipped_catalog()
    rig = read_rig(data_path("resources") / "samples" / "dual-rtx-3090.rig")
    number = 0
    while True:
        number += 1
        changed = replace(rig, name=str(number), notes="n" * (number * 977 % 50_000))
        _say(tell, "begin", number)
        write_rig(changed, place / "a.rig", catalog)
        record(place / "a.journal", changed, place / "a.rig")
        _say(tell, "end", number)


def _saved_is_whole(
    place: Path, events: list[tuple[str, int, float]], _: float
) -> tuple[list[str], float]:
    from rigplanner.rig.files import RigFault, read_rig
    from rigplanner.rig.journal import left_behind

    begun = max((number for word, number, _ in events if word == "begin"), default=0)
    ended = max((number for word, number, _ in events if word == "end"), default=0)
    came = []
    for name in ("a.rig", "a.rig.bak"):
        if (place / name).exists():
            try:
                number = int(read_rig(place / name).name)
            except RigFault as fault:
                came.append(str(fault))
                continue
            least = ended if name == "a.rig" else ended - 1
            if not least <= number <= begun:
                came.append(f"{name} holds {number}, saved were {ended} to {begun}")
        elif name == "a.rig" and ended:
            came.append("the file is gone")
    left, broken = left_behind(place)
    came += [f"a broken journal: {each.reason}" for each in broken]
    if ended and not left:
        came.append("the journal is not offered")
    came += [
        f"the journal holds {each.rig.name}, written were {ended} to {begun}"
        for each in left
        if not ended <= int(each.rig.name) <= begun
    ]
    return came, 0.0


def _typing(place: Path, tell: int) -> None:
    from PySide6.QtCore import QCoreApplication, QTimer

    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.data import data_path
    from rigplanner.desktop.document.preferences import PreferenceStore
    from rigplanner.desktop.document.session import Session

    application = QCoreApplication(sys.argv[:1])
    session = Session(shipped_catalog(), PreferenceStore(None), place)
    session.assess_ms = 1e9
    session.open(data_path("resources") / "samples" / "dual-rtx-3090.rig", sample=True)
    _type(session, tell, QTimer)
    application.exec()


def _window(place: Path, tell: int) -> None:
    from PySide6.QtCore import QTimer

    from rigplanner.data import data_path
    from rigplanner.desktop.start import make_application, make_window

    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(place)
    application = make_application()
    window = make_window()
    window.show()
    window.session.open(data_path("resources") / "samples" / "dual-rtx-3090.rig", sample=True)
    _type(window.session, tell, QTimer)
    application.exec()


def _type(session, tell, timer) -> None:  # type: ignore[no-untyped-def]
    """Write remarks key by key, in bursts; every second number is undone and made again."""
    from rigplanner.rig.edits import Edit

    count = [0]

    def key() -> None:
        count[0] += 1
        session.edit("Notes", Edit("set_notes", {"notes": str(count[0])}), merge="notes")
        _say(tell, "edit", count[0])
        timer.singleShot(15 if count[0] % 40 else 250, key)

    timer.singleShot(0, key)


def _typed_is_kept(
    place: Path, events: list[tuple[str, int, float]], killed: float
) -> tuple[list[str], float]:
    from rigplanner.rig.journal import left_behind

    folders = [place, place / "rigplanner" / "journal"]
    left, broken = [], []
    for folder in folders:
        with contextlib.suppress(OSError):
            found, bad = left_behind(folder)
            left += found
            broken += bad
    came = [f"a broken journal: {each.reason}" for each in broken]
    made = {number: at for word, number, at in events if word == "edit"}
    kept = max((int(each.rig.notes) for each in left if each.rig.notes.isdigit()), default=0)
    oldest = made.get(kept + 1)
    lost_s = killed - oldest if oldest is not None else 0.0
    if lost_s > LONGEST_LOST_S:
        came.append(f"an edit of {lost_s:.2f} s ago is lost ({kept} of {max(made)} kept)")
    return came, lost_s
