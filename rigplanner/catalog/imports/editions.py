"""Editions of the shipped data, apart from the program: an index that its signature makes believed,
one archive that the index vouches for, tried in a process of its own before it is used.

The index is JSON; beside it lies its Ed25519 signature (RFC 8032) in hexadecimal digits, under the
same address with ".sig". The public half of the key comes with the program, in
`resources/updates.json`."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.parse import urljoin

from msgspec import Struct

from rigplanner import __version__
from rigplanner.catalog.imports import fetch
from rigplanner.catalog.load import CatalogFault
from rigplanner.data import TRIED, data_path, edition, edition_of, editions_folder
from rigplanner.decoding import JsonFault, read_json
from rigplanner.whole_file import write_whole

LARGEST_BYTES = 256 * 2**20
"""Bytes of an edition unpacked; the shipped one has 7 million."""
MOST_FILES = 20_000
TRIAL_S = 180.0
"""Seconds that the trial may take; it takes about two."""
SIGNATURE_DIGITS = 128


class Place(Struct, frozen=True, kw_only=True):
    """Where editions come from and the key (64 hexadecimal digits) that makes them believed."""

    index: str | None
    public_key: str | None


class Index(Struct, frozen=True, kw_only=True):
    """What there is: the data's edition ("2026.12.01"), its archive's address (may be relative),
    SHA-256, the least program that reads it, and the newest program."""

    edition: str
    archive: str
    sha256: str
    least_program: str
    program: str


class EditionFault(Exception):
    """An edition was not taken; the text is one sentence, and what was there is still used."""


def shipped_place() -> Place:
    """Return where this program looks for editions, as `resources/updates.json` says."""
    return read_json((data_path("resources") / "updates.json").read_bytes(), Place)


def look(place: Place, cache: Path, go_on: fetch.GoOn = lambda _done, _all: True) -> Index:
    """Return what there is at a place, read into the folder `cache`. Raises EditionFault where the
    place is not known, cannot be reached, or its index is not signed by the key."""
    if not place.index:
        raise EditionFault("This program names no address of newer data; give one.")
    if not place.public_key:
        raise EditionFault("This program carries no key, so that newer data cannot be believed.")
    try:
        index = fetch.fetch(place.index, cache / "index.json", _an_index, go_on=go_on)
        signed = fetch.fetch(place.index + ".sig", cache / "index.sig", _digits, go_on=go_on)
    except fetch.FetchFault as fault:
        raise EditionFault(str(fault)) from fault
    if unreached := index.fault or signed.fault:
        raise EditionFault(unreached)
    content = index.path.read_bytes()
    if not believed(content, signed.path.read_text("ascii"), place.public_key):
        raise EditionFault(f"{place.index}: the signature is not of RigPlanner's key.")
    return read_json(content, Index)


def believed(content: bytes, signature: str, public_key: str) -> bool:
    """Whether a signature of 128 hexadecimal digits is that of the content by the key."""
    from nacl.exceptions import CryptoError
    from nacl.signing import VerifyKey

    try:
        VerifyKey(bytes.fromhex(public_key)).verify(content, bytes.fromhex(signature.strip()))
    except (CryptoError, ValueError, TypeError):
        return False
    return True


def _an_index(content: bytes) -> None:
    try:
        edition_of(read_json(content, Index).edition)
    except (JsonFault, ValueError) as fault:
        raise CatalogFault(f"not an index of editions: {fault}.") from fault


def _digits(content: bytes) -> None:
    if len(content.strip()) != SIGNATURE_DIGITS:
        raise CatalogFault(f"expected {SIGNATURE_DIGITS} digits of a signature.")


def newer(index: Index) -> bool:
    """Whether the edition is newer than the one in use."""
    return edition_of(index.edition) > edition(data_path("catalog"))


def newer_program(index: Index) -> bool:
    """Whether there is a newer program than this one."""
    return edition_of(index.program) > edition_of(__version__)


def take(
    index: Index,
    address: str,
    go_on: fetch.GoOn = lambda _done, _all: True,
    tries: Callable[[Path], str] | None = None,
) -> Path:
    """Fetch the edition of a believed index, try it, and use it from the next start on; return its
    folder. `tries` says why a folder does not work, "" when it does (default: in a process of its
    own). Raises EditionFault; then nothing has changed."""
    if edition_of(index.least_program) > edition_of(__version__):
        raise EditionFault(
            f"The data of {index.edition} need RigPlanner {index.least_program} or later; this is"
            f" {__version__}."
        )
    if not newer(index):
        raise EditionFault(f"The data of {index.edition} are not newer than those in use.")
    folder = editions_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix="new-") as made:
            whole = Path(made) / index.edition
            archive = fetch.fetch(
                urljoin(address, index.archive),
                Path(made) / "archive.zip",
                lambda content: unpack(content, whole),
                checksum=index.sha256,
                go_on=go_on,
            )
            archive.path.unlink()
            if why := (tries or trial)(whole):
                raise EditionFault(f"The data of {index.edition} were not taken: {why}")
            target = folder / index.edition
            shutil.rmtree(target, ignore_errors=True)
            whole.rename(target)
        write_whole(folder / "current", index.edition.encode("ascii"))
    except fetch.FetchFault as fault:
        raise EditionFault(str(fault)) from fault
    except OSError as fault:
        raise EditionFault(f"{folder}: cannot be written ({fault.strerror or fault}).") from fault
    return target


def unpack(content: bytes, folder: Path) -> None:
    """Unpack an archive of `catalog/` into the folder. Raises CatalogFault for what is no such
    archive: other names, links, too many files or too many bytes."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            _refuse_hostile(entries)
            for entry in entries:
                target = folder / entry.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(entry))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as fault:
        raise CatalogFault(f"not an archive of data: {fault}.") from fault


def _refuse_hostile(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_FILES or sum(one.file_size for one in entries) > LARGEST_BYTES:
        raise CatalogFault("the archive is larger than any edition.")
    for entry in entries:
        parts = PurePosixPath(entry.filename).parts
        link = (entry.external_attr >> 16) & 0o170000 == 0o120000
        if parts[:1] != ("catalog",) or ".." in parts or "\\" in entry.filename or link:
            raise CatalogFault(f"the archive holds '{entry.filename[:60]}', which is no data.")


def trial(folder: Path) -> str:
    """Return why the program's own test fails on the data in a folder, "" when it passes."""
    program = (
        [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "rigplanner"]
    )
    try:
        done = subprocess.run(
            [*program, "self-test"],
            env={**os.environ, TRIED: str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, timeout=TRIAL_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the trial took longer than {TRIAL_S:.0f} s."
    told = (done.stdout + done.stderr).strip().splitlines()
    return "" if done.returncode == 0 else (told[-1][:200] if told else "the trial ended.")


def take_back() -> bool:
    """Use the data that came with the program again; return whether others were in use."""
    pointer = editions_folder() / "current"
    used = pointer.exists()
    pointer.unlink(missing_ok=True)
    return used
