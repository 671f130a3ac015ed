"""BuildCores OpenDB in the state whose licence is open: fetched once, proven, converted, apart.

The archive of a commit that a server makes need not be the same bytes tomorrow; what is in it must
be. So the checksum is one over the contents: SHA-256 of the lines "name NUL SHA-256 of the content"
of all files of the database and its licence, sorted by name. It was computed from that commit's own
objects, each of which was hashed anew up to the commit's id."""

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from rigplanner.catalog.binary import place
from rigplanner.catalog.foreign import Cancelled, Import
from rigplanner.catalog.imports import fetch, user_catalog
from rigplanner.catalog.imports.foreign_files import ForeignFault, ForeignFile, foreign_files
from rigplanner.catalog.imports.foreign_opendb import read_files
from rigplanner.catalog.imports.importing import with_inferred_lanes
from rigplanner.catalog.load import CatalogFault
from rigplanner.decoding import JsonFault, read_json
from rigplanner.whole_file import read_within, write_whole

NAME = "opendb"
COMMIT = "136a77aec16a30ba81a7cc6b448a8bace9a25359"
DAY = "2026-08-17"
"""Day of the commit, the last one whose files say ODC-By 1.0."""
HOME = "https://github.com/buildcores/buildcores-open-db"
URL = f"{HOME}/archive/{COMMIT}.zip"
SHA256 = "0b92cac4955574db12326fa72355e81a54edfea788159bdbeb7bc49483dd342f"
LICENCE = "ODC Attribution License (ODC-By) 1.0"
LICENCE_URL = "https://opendatacommons.org/licenses/by/1-0/"
NOTICE = (
    f"Contains information from BuildCores OpenDB ({HOME}, commit {COMMIT[:7]} of 17 August 2026),"
    f" which is made available under the ODC Attribution License ({LICENCE_URL})."
)
"""What section 4.3 of the licence asks to be said."""
DATABASE = "open-db/"
LICENCE_FILE = "LICENSE.txt"
PROVEN = (LICENCE_FILE, "README.md")
"""Files beside the database that the checksum covers."""
LEFT_OUT = ("Monitor",)
"""Folders that hold nothing of which a rig is made."""
LIMITS = fetch.Limits(total_s=3600.0, largest_bytes=128 * 2**20)
"""The archive holds about 36 MB."""
Progress = Callable[[str, int, int | None], bool]
"""Told "fetch", "read" or "convert", how much is done and of how much; False stops."""


class Stamp(Struct, frozen=True, kw_only=True):
    """What is remembered of the database: where from, when (UTC), and how many parts it gave."""

    url: str
    commit: str
    sha256: str
    fetched: str
    parts: int
    refused: int


class Got(Struct, frozen=True):
    """The stamp of what was fetched, and what was made of it."""

    stamp: Stamp
    made: Import


def get(
    folder: Path | None = None,
    progress: Progress = lambda _stage, _done, _all: True,
    url: str = URL,
    sha256: str = SHA256,
    limits: fetch.Limits = LIMITS,
) -> Got:
    """Fetch the database, prove it, convert it and keep it in the user's catalog `folder`.

    Raises FetchFault with one sentence; then what was there before stands as it was."""
    folder = folder or user_catalog.user_folder()
    archive = place(f"{NAME}-archive").with_suffix(".zip")
    try:
        fetch.fetch(url, archive, _is_zip, limits, go_on=lambda a, b: progress("fetch", a, b))
        files = list(_proven(archive, url, sha256, progress))
        licence = next(file.content for file in files if file.name == LICENCE_FILE)
        made = with_inferred_lanes(read_files(_of_rigs(files, progress), date.today().isoformat()))
        stamp = Stamp(
            url=url,
            commit=COMMIT,
            sha256=sha256,
            fetched=datetime.now(UTC).isoformat(timespec="seconds"),
            parts=len(made.parts),
            refused=len(made.refused),
        )
        user_catalog.keep_import(NAME, made, folder)
        write_whole(_licence_path(folder), licence)
        write_whole(_stamp_path(folder), msgspec.json.encode(stamp))
    except Cancelled as fault:
        raise fetch.Stopped(f"{fetch.shown(url)}: stopped.") from fault
    except ForeignFault as fault:
        raise fetch.Refused(str(fault)) from fault
    except OSError as fault:
        raise fetch.Refused(f"{folder}: not written ({fault.strerror or fault}).") from fault
    finally:
        for path in (archive, fetch.stamp_path(archive)):
            with suppress(OSError):
                path.unlink(missing_ok=True)
    return Got(stamp, made)


def status(folder: Path | None = None) -> Stamp | None:
    """Return the stamp of the database in the user's catalog, None when it is not there."""
    folder = folder or user_catalog.user_folder()
    if not _family_path(folder).is_file():
        return None
    try:
        return read_json(read_within(_stamp_path(folder), 2**16), Stamp)
    except (OSError, JsonFault):
        return None


def remove(folder: Path | None = None) -> bool:
    """Take the database out of the user's catalog; say whether it was there. Raises OSError."""
    folder = folder or user_catalog.user_folder()
    was_there = _family_path(folder).is_file()
    user_catalog.drop_import(NAME, folder)
    for path in (_licence_path(folder), _stamp_path(folder)):
        path.unlink(missing_ok=True)
    return was_there


def contents_sha256(files: Iterable[ForeignFile]) -> str:
    """Return the checksum over names and contents of the files that are proven."""
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name.encode()):
        inner = hashlib.sha256(file.content).hexdigest()
        digest.update(f"{file.name}\0{inner}\n".encode())
    return digest.hexdigest()


def _is_zip(content: bytes) -> None:
    if not zipfile.is_zipfile(BytesIO(content)):
        raise CatalogFault("it is no zip.")


def _proven(archive: Path, url: str, sha256: str, progress: Progress) -> Iterator[ForeignFile]:
    """Yield the files of the database and its licence, named as in the repository, once all of them
    are known to be those of the commit."""
    found = []
    for file in foreign_files(archive, lambda a, b: progress("read", a, b)):
        name = file.name.partition("/")[2]
        if name.startswith(DATABASE) or name in PROVEN:
            found.append(ForeignFile(name, file.content, file.refused, file.found))
    if any(file.refused for file in found) or contents_sha256(found) != sha256:
        raise fetch.Refused(
            f"{fetch.shown(url)}: what is in it is not the database of commit {COMMIT[:7]}"
            " (the checksum does not fit)."
        )
    yield from found


def _of_rigs(files: list[ForeignFile], progress: Progress) -> Iterator[ForeignFile]:
    """Yield the files of the database that may be of use."""
    for done, file in enumerate(files):
        if done % 500 == 0 and not progress("convert", done, len(files)):
            raise Cancelled
        if file.name.startswith(DATABASE) and PurePosixPath(file.name).parts[1] not in LEFT_OUT:
            yield file


def _family_path(folder: Path) -> Path:
    return folder / user_catalog.IMPORTED / f"{NAME}.json"


def _stamp_path(folder: Path) -> Path:
    return folder / user_catalog.IMPORTED / f"{NAME}.stamp"


def _licence_path(folder: Path) -> Path:
    return folder / user_catalog.IMPORTED / f"{NAME}-LICENSE.txt"
