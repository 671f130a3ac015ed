"""The files of a foreign folder or zip, held to be hostile: nothing is unpacked to disk, links are
not followed."""

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from rigplanner.catalog.foreign import Cancelled, Progress, Reason

MOST_FILES = 200_000
LARGEST_FILE_BYTES = 2**20
LARGEST_TOTAL_BYTES = 2**30
LARGEST_RATIO = 100
"""Unpacked over packed size. JSON of a part packs about 3 to 10 times; deflate cannot exceed 1,032.
"""
SMALL_BYTES = 64 * 1024
"""Below this a high ratio does no harm."""
DEEPEST_FOLDER = 12
PROGRESS_EVERY = 200


class ForeignFile(Struct, frozen=True):
    """One file: its name within folder or zip, and its content, or the reason why it was not
    read."""

    name: str
    content: bytes = b""
    refused: Reason | None = None
    found: str = ""


class ForeignFault(Exception):
    """A folder or file cannot be read at all; the text says which and why."""


def foreign_files(place: Path, progress: Progress) -> Iterator[ForeignFile]:
    """Yield the files of a folder, or the members of a zip, in order of name, within limits of
    number and size.

    Raises ForeignFault when `place` is neither, Cancelled when `progress` says so."""
    try:
        if place.is_dir():
            yield from _of_folder(place, progress)
        elif zipfile.is_zipfile(place):
            yield from _of_zip(place, progress)
        elif place.exists():
            raise ForeignFault(f"{place}: neither a folder nor a zip.")
        else:
            raise ForeignFault(f"{place}: there is no such file or folder.")
    except OSError as fault:
        raise ForeignFault(f"{place}: cannot be read ({fault.strerror or fault}).") from fault
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as fault:
        raise ForeignFault(f"{place}: the zip is damaged ({fault}).") from fault


def _of_folder(folder: Path, progress: Progress) -> Iterator[ForeignFile]:
    listed: list[tuple[str, Reason | None]] = []
    _list(str(folder), "", listed, 0)
    listed.sort()
    total_bytes = 0
    for done, (name, reason) in enumerate(listed[:MOST_FILES]):
        _tell(progress, done, len(listed))
        if reason is not None:
            yield ForeignFile(name, refused=reason)
            continue
        try:
            with open(folder / name, "rb") as file:  # noqa: PTH123
                content = file.read(LARGEST_FILE_BYTES + 1)
        except OSError as fault:
            yield ForeignFile(name, refused="unreadable", found=fault.strerror or "")
            continue
        total_bytes += len(content)
        if total_bytes > LARGEST_TOTAL_BYTES:
            yield ForeignFile(
                name, refused="total-size", found=f"{len(listed) - done} files left out"
            )
            return
        yield _held(name, content)
    if len(listed) > MOST_FILES:
        yield ForeignFile(folder.name, refused="too-many", found=str(len(listed)))
    progress(len(listed), len(listed))


def _list(folder: str, inside: str, listed: list[tuple[str, Reason | None]], depth: int) -> None:
    """Collect what lies under a folder; hidden folders (a version control's store) are not data and
    are passed by."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{inside}{entry.name}"
            if len(listed) > MOST_FILES:
                return
            if entry.is_symlink():
                listed.append((name, "symlink"))
            elif entry.is_dir(follow_symlinks=False):
                if depth >= DEEPEST_FOLDER:
                    listed.append((name, "path"))
                elif not entry.name.startswith("."):
                    _list(entry.path, f"{name}/", listed, depth + 1)
            else:
                listed.append(
                    (name, None if entry.is_file(follow_symlinks=False) else "special-file")
                )


def _held(name: str, content: bytes) -> ForeignFile:
    return (
        ForeignFile(name, refused="too-large")
        if len(content) > LARGEST_FILE_BYTES
        else ForeignFile(name, content)
    )


def _of_zip(place: Path, progress: Progress) -> Iterator[ForeignFile]:
    with zipfile.ZipFile(place) as archive:
        members = sorted(
            (
                member
                for member in archive.infolist()
                if not member.filename.endswith("/") or _names_nothing(member)
            ),
            key=lambda member: member.filename,
        )
        total_bytes = 0
        for done, member in enumerate(members[:MOST_FILES]):
            _tell(progress, done, len(members))
            name = member.filename.encode("utf-8", "replace").decode()
            reason = _member_fault(member)
            if reason is not None:
                yield ForeignFile(name, refused=reason)
                continue
            file = _unpacked(archive, member, name)
            total_bytes += len(file.content)
            if total_bytes > LARGEST_TOTAL_BYTES:
                yield ForeignFile(
                    name, refused="total-size", found=f"{len(members) - done} files left out"
                )
                return
            yield file
        if len(members) > MOST_FILES:
            yield ForeignFile(place.name, refused="too-many", found=str(len(members)))
        progress(len(members), len(members))


def _names_nothing(member: zipfile.ZipInfo) -> bool:
    return not set(member.filename) - set("./")


def _member_fault(member: zipfile.ZipInfo) -> Reason | None:
    path = PurePosixPath(member.filename)
    if (
        _names_nothing(member)
        or path.is_absolute()
        or ".." in path.parts
        or "\\" in member.filename
        or ":" in path.parts[0]
    ):
        return "path"
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "symlink"
    if member.flag_bits & 0x1:
        return "encrypted"
    if member.file_size > LARGEST_FILE_BYTES:
        return (
            "zip-ratio"
            if member.file_size > LARGEST_RATIO * max(1, member.compress_size)
            else "too-large"
        )
    if member.file_size > SMALL_BYTES and member.file_size > LARGEST_RATIO * max(
        1, member.compress_size
    ):
        return "zip-ratio"
    return None


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> ForeignFile:
    try:
        with archive.open(member) as file:
            return _held(name, file.read(LARGEST_FILE_BYTES + 1))
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        OSError,
    ) as fault:
        return ForeignFile(name, refused="damaged", found=str(fault)[:60])


def _tell(progress: Progress, done: int, total: int) -> None:
    if done % PROGRESS_EVERY == 0 and not progress(done, total):
        raise Cancelled
