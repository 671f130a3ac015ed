"""The journal: the last unsaved state of each open rig, kept where a crash cannot reach it.

Beside the journals of a program lies one lock that it holds for as long as it lives; the system
lets go of it however the program ends. So a journal is offered exactly when nobody holds the lock
that it names: after a crash, a kill, a power cut, and in a container too, where each program has
the same process id."""

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.decoding import JsonFault, read_json
from rigplanner.file_lock import hold, holder, let_go
from rigplanner.path_text import path_of, text_of
from rigplanner.rig.document import FORMAT_VERSION, Rig
from rigplanner.rig.files import LARGEST_FILE_BYTES, RigFault, decode_rig, encode_rig
from rigplanner.whole_file import clear_parts, read_within, write_whole

MOST_STEPS = 40
"""Steps of the history that a journal keeps."""
DISCARDED = ".discarded"
LOCK = ".lock"
KEPT_DAYS = 30
"""How long a journal that somebody discarded can be had back."""
PRIVATE = 0o600
"""Mode of a journal: a rig names customers and prices."""


class Step(Struct, frozen=True):
    """A state of the history: the rig after the edit of that name."""

    name: str
    rig: Rig


class Unsaved(Struct, frozen=True, kw_only=True):
    """What a journal file holds: the rig, the file it belongs to (None: never saved) and the
    process that wrote it, which held `lock`, None where the file system knows no locks; `steps` are
    the last ones of its history, oldest first, `edits` how many there were."""

    rig: Rig
    document: str | None
    process: int
    journal: Path
    lock: Path | None = None
    steps: tuple[Step, ...] = ()
    edits: int = 0


class Broken(Struct, frozen=True, kw_only=True):
    """A journal that could not be read: what it is called now, and why."""

    kept: Path
    reason: str


class _KeptStep(Struct, frozen=True):
    name: str
    rig: dict[str, Any]


class _Header(Struct, frozen=True, kw_only=True):
    """The first line of a journal. Steps are read apart: one that cannot be read costs the history,
    never the rig. `lock` is the name of a file beside it."""

    document: str | None
    process: int
    lock: str = ""
    steps: tuple[_KeptStep, ...] = ()
    edits: int = 0


class _Lock(Struct):
    """The lock of this program in a folder, an open file, and the journals that name it: one file
    stays open, however many rigs were left unsaved."""

    path: Path
    file: int
    journals: set[Path]


_locks: dict[Path, _Lock] = {}
_locking = threading.Lock()


def journal_folder() -> Path:
    """Return the folder of the journals, made if need be."""
    import platformdirs

    folder = platformdirs.user_state_path("rigplanner", appauthor=False) / "journal"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def new_journal(folder: Path) -> Path:
    """Return a fresh journal name in `folder`; nothing is written yet."""
    return folder / f"{uuid4().hex}.journal"


def record(
    journal: Path,
    rig: Rig,
    document: Path | None,
    steps: Sequence[Step] = (),
) -> None:
    """Write the present state of a rig and the last steps that led to it. Raises OSError when the
    disk refuses."""
    name = text_of(document) if document else None
    header = _Header(
        document=name,
        process=os.getpid(),
        lock=_lock_for(journal),
        steps=_kept(steps),
        edits=max(0, len(steps) - 1),
    )
    write_whole(journal, msgspec.json.encode(header) + b"\n" + encode_rig(rig), PRIVATE)


def _lock_for(journal: Path) -> str:
    """Return the name of this program's lock in the folder of a journal, "" where there are none;
    it is held from now on."""
    with _locking:
        lock = _locks.get(journal.parent)
        if lock is None:
            path = journal.parent / f"{uuid4().hex}{LOCK}"
            file = hold(path)
            if file is None:
                return ""
            lock = _locks[journal.parent] = _Lock(path, file, set())
        lock.journals.add(journal)
        return lock.path.name


def _kept(steps: Sequence[Step]) -> tuple[_KeptStep, ...]:
    """Return the last steps without the parts that the journal's own rig carries."""
    bare = [
        (step.name, replace(step.rig, snapshot={}, snapshot_sources={}))
        for step in steps[-MOST_STEPS:]
    ]
    return tuple(_KeptStep(name, msgspec.to_builtins(rig)) for name, rig in bare)


def _steps(header: _Header, rig: Rig) -> tuple[Step, ...]:
    """Return the steps of a journal; none when one of them is no rig."""
    try:
        states = [
            decode_rig(msgspec.json.encode({"format_version": FORMAT_VERSION, **step.rig}), "step")
            for step in header.steps
        ]
    except RigFault:
        return ()
    kept = {"snapshot": rig.snapshot, "snapshot_sources": rig.snapshot_sources}
    return tuple(
        Step(step.name, replace(state, **kept))
        for step, state in zip(header.steps, states, strict=True)
    )


def set_aside(journal: Path) -> Path | None:
    """Offer a journal no more, but keep it for a while; return where, None when it is gone."""
    kept = journal.with_suffix(DISCARDED)
    try:
        journal.replace(kept)
    except OSError:
        return None
    forget(journal)
    return kept


def bring_back(kept: Path) -> Path:
    """Offer a journal again that was set aside. Raises OSError when it is gone."""
    journal = kept.with_suffix(".journal")
    kept.replace(journal)
    return journal


def forget(journal: Path) -> None:
    """Delete a journal: its rig was saved or given up."""
    journal.unlink(missing_ok=True)
    with _locking:
        lock = _locks.get(journal.parent)
        if lock is None or journal not in lock.journals:
            return
        lock.journals.remove(journal)
        if not lock.journals:
            let_go(lock.path, lock.file)
            del _locks[journal.parent]


def unsaved(folder: Path) -> list[Unsaved]:
    """Return what crashed programs left, newest first."""
    return left_behind(folder)[0]


def left_behind(folder: Path) -> tuple[list[Unsaved], list[Broken]]:
    """Return what crashed programs left, newest first, and the journals that cannot be read: they
    are set aside as `.broken`, never deleted."""
    clear_parts(folder)
    _forget_old(folder)
    found, broken = [], []
    for journal in sorted(folder.glob("*.journal"), key=_written, reverse=True):
        try:
            head, _, body = read_within(journal, LARGEST_FILE_BYTES).partition(b"\n")
            header = read_json(head, _Header)
            rig = decode_rig(body, journal.name)
            steps = _steps(header, rig)
            document = str(path_of(header.document)) if header.document else None
        except (OSError, ValueError, JsonFault, RigFault) as fault:
            broken += _set_aside(journal, str(fault))
            continue
        left = Unsaved(
            rig=rig,
            document=document,
            process=header.process,
            journal=journal,
            lock=folder / Path(header.lock).with_suffix(LOCK).name if header.lock else None,
            steps=steps,
            edits=header.edits,
        )
        if _alive(left):
            continue
        found.append(left)
        if left.lock is not None:
            with contextlib.suppress(OSError):
                left.lock.unlink()
    return found, broken


def _forget_old(folder: Path) -> None:
    """Delete what was discarded long ago."""
    limit = time.time() - KEPT_DAYS * 86_400
    for kept in folder.glob(f"*{DISCARDED}"):
        if _written(kept) < limit:
            kept.unlink(missing_ok=True)


def _set_aside(journal: Path, reason: str) -> list[Broken]:
    kept = journal.with_suffix(".broken")
    try:
        journal.replace(kept)
    except OSError:
        return []
    return [Broken(kept=kept, reason=reason)]


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _alive(left: Unsaved) -> bool:
    """Whether the program that wrote a journal still runs: it holds the lock beside it."""
    return left.lock is not None and holder(left.lock) in (left.process, 0)
