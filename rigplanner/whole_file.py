"""Files that people own are written whole or not at all; files that are handed in are read within a
limit."""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

LEFT_AFTER_S = 3600.0
"""Nobody takes so long to write a file: a part of one that is older was left by a program that was
killed."""


def read_within(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file of at most `most_bytes`.

    Raises OSError for any other: a device never ends, and a pipe without a writer never begins.
    """
    try:
        status = path.stat()
    except ValueError as fault:
        raise OSError(errno.EINVAL, "no name of a file") from fault
    if not stat.S_ISREG(status.st_mode):
        raise OSError(
            errno.EINVAL,
            "a folder" if stat.S_ISDIR(status.st_mode) else "a device or pipe, not a file",
        )
    content = b""
    if status.st_size <= most_bytes:
        with path.open("rb") as file:
            content = file.read(status.st_size + 1)
            if len(content) > status.st_size:
                content += file.read(most_bytes)
    if max(status.st_size, len(content)) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes / 2**20:g} MiB")
    return content


PART = ".part"


def _part_prefix(name: str) -> str:
    return f".{name[:40]}."


def clear_parts(folder: Path, name: str = "") -> None:
    """Delete what killed programs left of writing the file `name`, or of any file when none is
    named."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            ours = entry.name.startswith(
                _part_prefix(name) if name else "."
            ) and entry.name.endswith(PART)
            if ours and time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFT_AFTER_S:
                Path(entry).unlink()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that at every moment either the old or the new content stands under its name;
    into a device or pipe, which must not be replaced, straight. What killed programs left of
    earlier attempts goes. Raises OSError."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    try:
        target = path.resolve() if path.is_symlink() else path
    except RuntimeError as fault:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from fault
    clear_parts(target.parent, target.name)
    handle, name = tempfile.mkstemp(
        prefix=_part_prefix(target.name), suffix=PART, dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, name)
        else:
            Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
