"""Binary copies of what takes long to read: kept in the user's cache folder, thrown away and made
anew as soon as anything that they were made from has changed."""

import contextlib
import hashlib
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import msgspec

from rigplanner import __version__
from rigplanner.catalog import schema
from rigplanner.decoding import JsonFault, read_msgpack
from rigplanner.garbage import collector_paused
from rigplanner.whole_file import read_within, write_whole

T = TypeVar("T")

MAGIC = b"RigPlanner binary 1\n"
KEY_BYTES = 32
SUM_BYTES = 4
LARGEST_BYTES = 512 * 2**20


def signature(files: Iterable[Path]) -> bytes:
    """Return what changes when a file changes in name, size or time, or when the program or the
    form of a part does (32 bytes). Raises OSError."""
    digest = hashlib.sha256(f"{__version__} {msgspec.__version__}\n".encode())
    # A packaged program has no source files: its executable stands for the form of a part then.
    packaged = getattr(sys, "frozen", False)
    forms = [Path(sys.executable)] if packaged else sorted(Path(schema.__path__[0]).glob("*.py"))
    for path in (*forms, *files):
        status = path.stat()
        digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.digest()


def place(name: str) -> Path:
    """Return where the binary copy of that name is kept; it need not exist."""
    import platformdirs

    return platformdirs.user_cache_path("rigplanner", appauthor=False) / "catalog" / f"{name}.bin"


def read_copy(path: Path, key: bytes) -> memoryview | None:
    """Return the content of a copy made from what `key` stands for; None when there is none, it is
    of something else, or it is not whole."""
    head = len(MAGIC) + KEY_BYTES + SUM_BYTES
    try:
        stored = read_within(path, LARGEST_BYTES)
    except OSError:
        return None
    if len(stored) < head or not stored.startswith(MAGIC + key):
        return None
    content = memoryview(stored)[head:]
    said = int.from_bytes(stored[head - SUM_BYTES : head], "little")
    return content if zlib.crc32(content) == said else None


def keep_copy(path: Path, key: bytes, content: bytes) -> None:
    """Keep a copy for the next start; where it cannot be written the next start reads the files."""
    head = MAGIC + key + zlib.crc32(content).to_bytes(SUM_BYTES, "little")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, head + content)


def read_struct(path: Path, key: bytes, shape: type[T]) -> T | None:
    """Return a struct from its binary copy, None when there is no copy of that key."""
    content = read_copy(path, key)
    if content is None:
        return None
    try:
        with collector_paused():
            return read_msgpack(content, shape)
    except JsonFault:
        return None


def keep_struct(path: Path, key: bytes, value: msgspec.Struct) -> None:
    """Keep a struct as `read_struct` reads it."""
    keep_copy(path, key, msgspec.msgpack.encode(value))
