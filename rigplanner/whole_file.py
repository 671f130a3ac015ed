"""Files that people own are written whole or not at all; files that are handed in are read within a
limit."""

import contextlib
import errno
import hashlib
import os
import stat
import time
from pathlib import Path
from uuid import uuid4

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


LONGEST_NAME_BYTES = 255


def beside(path: Path, suffix: str, prefix: str = "") -> Path:
    """Return the name of a file that goes with another, in its folder; of a name that would be
    longer than file systems hold, the end gives way to a digest of the whole."""
    name = os.fsencode(path.name)
    room = LONGEST_NAME_BYTES - len(os.fsencode(prefix + suffix))
    if len(name) > room:
        digest = b"~" + hashlib.sha256(name).hexdigest()[:8].encode()
        name = name[: room - len(digest)].decode("utf-8", "ignore").encode() + digest
    return path.with_name(prefix + os.fsdecode(name) + suffix)


def write_whole(
    path: Path, content: bytes, mode: int | None = None, follow_link: bool = True
) -> None:
    """Write a file so that at every moment either the old or the new content stands under its name;
    into a device or pipe, which must not be replaced, straight. What killed programs left of
    earlier attempts goes.

    The file keeps the mode of the one that stood there; a new one has what the umask allows. `mode`
    gives another. A link is followed unless `follow_link` is false: then the link itself gives way.
    Raises OSError."""
    if path.is_dir() and (follow_link or not path.is_symlink()):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if follow_link and path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    try:
        target = path.resolve() if follow_link and path.is_symlink() else path
    except RuntimeError as fault:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from fault
    clear_parts(target.parent, target.name)
    if mode is None and target.exists() and not target.is_symlink():
        mode = stat.S_IMODE(target.stat().st_mode)
    part = target.parent / f"{_part_prefix(target.name)}{uuid4().hex[:12]}{PART}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(part, flags, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            part.chmod(mode)
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    _keep_name(target.parent)


def _keep_name(folder: Path) -> None:
    """Have the new name of a file survive a power cut, where folders can be written through."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
