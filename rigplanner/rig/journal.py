"""The journal: the last unsaved state of each open rig, kept where a crash cannot reach it."""

import contextlib
import os
from pathlib import Path
from uuid import uuid4

import msgspec
from msgspec import Struct

from rigplanner.decoding import read_json
from rigplanner.rig.document import Rig
from rigplanner.rig.files import RigFault, decode_rig, encode_rig
from rigplanner.whole_file import clear_parts, write_whole


class Unsaved(Struct, frozen=True, kw_only=True):
    """What a journal file holds: the rig, the file it belongs to (None: never saved) and the
    process that wrote it."""

    rig: Rig
    document: str | None
    process: int
    journal: Path


class _Header(Struct, frozen=True, kw_only=True):
    document: str | None
    process: int


def journal_folder() -> Path:
    """Return the folder of the journals, made if need be."""
    import platformdirs

    folder = platformdirs.user_state_path("rigplanner", appauthor=False) / "journal"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def new_journal(folder: Path) -> Path:
    """Return a fresh journal name in `folder`; nothing is written yet."""
    return folder / f"{uuid4().hex}.journal"


def record(journal: Path, rig: Rig, document: Path | None) -> None:
    """Write the present state of a rig. Raises OSError when the disk refuses."""
    header = _Header(document=str(document) if document else None, process=os.getpid())
    write_whole(journal, msgspec.json.encode(header) + b"\n" + encode_rig(rig))


def forget(journal: Path) -> None:
    """Delete a journal: its rig was saved or given up."""
    journal.unlink(missing_ok=True)


def unsaved(folder: Path) -> list[Unsaved]:
    """Return what crashed programs left, newest first. Unreadable journals are set aside as
    `.broken`, never deleted."""
    clear_parts(folder)
    found = []
    for journal in sorted(folder.glob("*.journal"), key=_written, reverse=True):
        try:
            head, _, body = journal.read_bytes().partition(b"\n")
            header = read_json(head, _Header)
            rig = decode_rig(body, str(journal))
        except (OSError, msgspec.MsgspecError, RigFault):
            with contextlib.suppress(OSError):
                journal.replace(journal.with_suffix(".broken"))
            continue
        if not _alive(header.process):
            found.append(
                Unsaved(rig=rig, document=header.document, process=header.process, journal=journal)
            )
    return found


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _alive(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
