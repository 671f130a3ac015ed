"""The journal: the last unsaved state of each open rig, kept where a crash cannot reach it.

Beside each journal lies a lock that the program holds for as long as it lives; the system lets go
of it however the program ends. So a journal is offered exactly when nobody holds its lock: after a
crash, a kill, a power cut, and in a container too, where each program has the same process id."""

import os
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
    process that wrote it, which `locked` the file beside it where the file system knows locks;
    `steps` are the last ones of its history, oldest first, `edits` how many there were."""

    rig: Rig
    document: str | None
    process: int
    journal: Path
    locked: bool = False
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
    never the rig."""

    document: str | None
    process: int
    locked: bool = False
    steps: tuple[_KeptStep, ...] = ()
    edits: int = 0


_locks: dict[Path, int] = {}
"""The locks of this program's own journals."""


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
    if journal not in _locks and (lock := hold(_lock_of(journal))) is not None:
        _locks[journal] = lock
    name = text_of(document) if document else None
    header = _Header(
        document=name,
        process=os.getpid(),
        locked=journal in _locks,
        steps=_kept(steps),
        edits=max(0, len(steps) - 1),
    )
    write_whole(journal, msgspec.json.encode(header) + b"\n" + encode_rig(rig), PRIVATE)


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
    lock, path = _locks.pop(journal, None), _lock_of(journal)
    if lock is not None:
        let_go(path, lock)
    elif holder(path) is None:
        path.unlink(missing_ok=True)


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
            locked=header.locked,
            steps=steps,
            edits=header.edits,
        )
        if not _alive(left):
            found.append(left)
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


def _lock_of(journal: Path) -> Path:
    return journal.with_suffix(".lock")


def _alive(left: Unsaved) -> bool:
    """Whether the program that wrote a journal still runs: it holds the lock beside it."""
    return left.locked and holder(_lock_of(left.journal)) in (left.process, 0)
