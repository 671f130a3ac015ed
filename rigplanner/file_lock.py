"""Locks that the system lets go of however a program ends: killed, crashed, or with the power."""

import contextlib
import os
import sys
from pathlib import Path

OWNER_BYTES = 20
"""Room for the number of a process; on Windows the byte behind it is locked, so that others may
read the number."""

NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def hold(path: Path) -> int | None:
    """Lock a file for this program and write its process number into it. Return the open file to be
    handed to `let_go`; None when another holds it, or where the file system knows no locks."""
    file = -1
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        _lock(file)
        os.truncate(file, 0)
        os.write(file, str(os.getpid()).encode())
    except OSError:
        if file >= 0:
            os.close(file)
        return None
    return file


def let_go(path: Path, file: int) -> None:
    """Give a lock back and delete its file."""
    with contextlib.suppress(OSError):
        os.close(file)
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def holder(path: Path) -> int | None:
    """Return the process that holds the lock of a file: 0 when somebody does who has not written
    who, None when nobody does."""
    try:
        file = os.open(path, os.O_RDWR | NO_LINK)
    except OSError:
        return None
    try:
        _lock(file)
    except OSError:
        told = os.read(file, OWNER_BYTES)
        return int(told) if told.isdigit() else 0
    else:
        return None
    finally:
        os.close(file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, OWNER_BYTES, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(file, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
