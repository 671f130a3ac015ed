"""Files over HTTPS: limits of time, size and redirects; ETag cache with its age; checksums;
replaced whole or not at all."""

import hashlib
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import Struct

from rigplanner import __version__
from rigplanner.catalog.load import CatalogFault
from rigplanner.decoding import read_json
from rigplanner.whole_file import write_whole

if TYPE_CHECKING:
    from rigplanner.catalog.imports.request import Head, Request

LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")
"""Machines that may be asked without TLS: this one."""
GoOn = Callable[[int, int | None], bool]
"""Told the bytes that came and how many were announced (None: not said); False stops the fetching.
"""
SHA256 = re.compile(r"[0-9a-f]{64}")
LONGEST_SHOWN = 300
REDIRECTS = (301, 302, 303, 307, 308)
NOT_MODIFIED = 304
NAMES = {each.value: each.phrase for each in HTTPStatus}
"""What a status means, in our words: those of a server may steer a terminal."""
LARGEST_CHECKSUM_BYTES = 64 * 1024


class Limits(Struct, frozen=True, kw_only=True):
    """How long and how much: seconds to connect, between two pieces, and in all; bytes after
    unpacking; redirects."""

    connect_s: float = 10.0
    read_s: float = 20.0
    total_s: float = 300.0
    largest_bytes: int = 256 * 2**20
    redirects: int = 4


STANDARD_LIMITS = Limits()


class Stamp(Struct, frozen=True, kw_only=True):
    """What is remembered of a fetched file: where from, when it was last known to be current (UTC),
    its tag and SHA-256."""

    url: str
    read: str
    sha256: str
    etag: str = ""
    modified: str = ""


class Fetched(Struct, frozen=True, kw_only=True):
    """The file as it stands now. `changed`: new content was written. `fault`: why it could not be
    asked for and is as old as `stamp` says."""

    path: Path
    stamp: Stamp
    changed: bool
    fault: str = ""

    def age_days(self, now: datetime) -> float:
        """Return the days since the file was last known to be current."""
        return (now - datetime.fromisoformat(self.stamp.read)).total_seconds() / 86_400


class FetchFault(Exception):
    """A file could not be fetched and none is there; the text is one sentence."""


class NotThere(FetchFault):
    """The server says that there is no such file."""


class Stopped(FetchFault):
    """The person stopped the fetching; the file is as it was."""


class Refused(FetchFault):
    """The answer must not be used: it breaks a limit, a rule or its checksum."""


def fetch(
    url: str,
    path: Path,
    check: Callable[[bytes], object],
    limits: Limits = STANDARD_LIMITS,
    checksum: str = "",
    go_on: GoOn = lambda _done, _all: True,
) -> Fetched:
    """Bring the file at `path` up to date from `url` and return how it stands.

    `check` raises CatalogFault for content that is not what was wanted; then, as when the checksum
    (64 hexadecimal digits, or the URL of a file of them) does not fit, the file stays as it was and
    Refused is raised. A server that cannot be reached leaves the file as it was too, with the fault
    told; FetchFault when there is none. `go_on` is asked between pieces: Stopped for no."""
    old = _old(path)
    try:
        answer = _get(url, limits, old if old and old.url == url else None, go_on)
        wanted = _wanted_sha256(checksum, urlsplit(url).path.rpartition("/")[2], limits)
    except (Refused, Stopped):
        raise
    except FetchFault as fault:
        if old is None:
            raise
        return Fetched(path=path, stamp=old, changed=False, fault=str(fault))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if answer is None:
        assert old is not None
        return _keep(path, msgspec.structs.replace(old, read=now), None)
    content, etag, modified = answer
    digest = hashlib.sha256(content).hexdigest()
    if wanted and digest != wanted:
        raise Refused(
            f"{url}: the checksum does not fit (expected {wanted[:12]}..., found {digest[:12]}...)."
        )
    try:
        check(content)
    except CatalogFault as fault:
        raise Refused(f"{url}: {fault}") from fault
    stamp = Stamp(url=url, read=now, sha256=digest, etag=etag, modified=modified)
    return _keep(path, stamp, content)


def _old(path: Path) -> Stamp | None:
    """Return the stamp of a file that is still what was fetched."""
    stamp = read_stamp(path)
    try:
        whole = stamp is not None and hashlib.sha256(path.read_bytes()).hexdigest() == stamp.sha256
    except OSError:
        return None
    return stamp if whole else None


def stamp_path(path: Path) -> Path:
    """Return where the stamp of a fetched file is kept."""
    return path.with_name(f"{path.name}.stamp")


def read_stamp(path: Path) -> Stamp | None:
    """Return what is remembered of a fetched file, None when nothing readable is."""
    try:
        stamp = read_json(stamp_path(path).read_bytes(), Stamp)
        datetime.fromisoformat(stamp.read)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None
    return stamp


def _keep(path: Path, stamp: Stamp, content: bytes | None) -> Fetched:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            stamp_path(path).unlink(missing_ok=True)
            write_whole(path, content)
        write_whole(stamp_path(path), msgspec.json.encode(stamp))
    except OSError as fault:
        raise Refused(f"{path}: not written ({fault.strerror or fault}).") from fault
    return Fetched(path=path, stamp=stamp, changed=content is not None)


def _wanted_sha256(checksum: str, name: str, limits: Limits) -> str:
    """Return the SHA-256 that a checksum names: itself, or the line for `name` (or the only one) of
    a checksum file."""
    if not checksum or SHA256.fullmatch(checksum.casefold()):
        return checksum.casefold()
    small = msgspec.structs.replace(limits, largest_bytes=LARGEST_CHECKSUM_BYTES)
    answer = _get(checksum, small, None)
    assert answer is not None
    lines = [line.split() for line in answer[0].decode("ascii", "replace").casefold().splitlines()]
    sums = [words for words in lines if words and SHA256.fullmatch(words[0])]
    named = [
        words[0]
        for words in sums
        if len(words) > 1 and words[-1].lstrip("*").rpartition("/")[2] == name.casefold()
    ]
    found = named or ([sums[0][0]] if len(sums) == 1 else [])
    if not found:
        raise Refused(f"{checksum}: no SHA-256 for {name} in it.")
    return found[0]


def allowed(url: str, first: str = "") -> bool:
    """Say whether a URL may be asked: HTTPS anywhere, plain HTTP on this machine only, and there
    (with `first`, the URL that led to it by redirects) only when the way began on this machine."""
    try:
        parts, begin = urlsplit(url), urlsplit(first or url)
        local = (
            parts.scheme == "http"
            and parts.hostname in LOCAL_HOSTS
            and begin.hostname in LOCAL_HOSTS
        )
        return bool(parts.hostname) and (parts.scheme == "https" or local)
    except ValueError:
        return False


Answer = tuple[bytes, str, str] | None
"""Content, ETag and Last-Modified; None where what is there is current."""


def _get(
    url: str, limits: Limits, old: Stamp | None, go_on: GoOn = lambda _done, _all: True
) -> Answer:
    """Return the answer to a URL, in at most so many redirects; None when the server says that
    `old` is current."""
    begin, deadline = url, time.monotonic() + limits.total_s
    headers = {"User-Agent": f"RigPlanner/{__version__}", "Accept-Encoding": "gzip, identity"}
    if old is not None and old.etag:
        headers["If-None-Match"] = old.etag
    elif old is not None and old.modified:
        headers["If-Modified-Since"] = old.modified
    for _ in range(limits.redirects + 1):
        if not allowed(url, begin):
            raise Refused(f"{shown(url)}: only https is fetched.")
        found = _asked(url, headers, limits, deadline, go_on, old is not None)
        if not isinstance(found, str):
            return found
        url = found
    raise Refused(f"{shown(url)}: more than {limits.redirects} redirects.")


def _asked(
    url: str,
    headers: dict[str, str],
    limits: Limits,
    deadline: float,
    go_on: GoOn,
    holds: bool,
) -> Answer | str:
    """Return the answer of one request, or the URL that it leads to. `holds`: a file is there that
    may be current."""
    from rigplanner.catalog.imports.request import Broken, Packed, Request

    request = Request(url, headers, limits.connect_s, limits.read_s)
    try:
        return _heard(request, url, limits, deadline, go_on, holds)
    except Broken as fault:
        raise FetchFault(f"{shown(url)}: {fault}.") from fault
    except Packed as fault:
        raise FetchFault(f"{shown(url)}: cannot be fetched ({fault}).") from fault
    finally:
        request.leave()


def _heard(
    request: "Request",
    url: str,
    limits: Limits,
    deadline: float,
    go_on: GoOn,
    holds: bool,
) -> Answer | str:
    from rigplanner.catalog.imports.request import Head, unpacker

    pieces, size, announced = list[bytes](), 0, None
    head, unpacked = Head(0, {}), unpacker("")
    for came in request.events():
        if time.monotonic() > deadline:
            raise FetchFault(f"{shown(url)}: not complete within {limits.total_s:g} s.")
        if isinstance(came, Head):
            head, announced = came, _announced(came)
            if head.status in REDIRECTS and "location" in head.headers:
                return urljoin(url, head.headers["location"])
            if head.status == NOT_MODIFIED and holds:
                return None
            _refuse(head, announced, url, limits)
            unpacked = unpacker(head.headers.get("content-encoding", ""))
        elif came is not None:
            for piece in unpacked.feed(came):
                size += len(piece)
                pieces.append(piece)
                if size > limits.largest_bytes:
                    raise Refused(f"{shown(url)}: more than {limits.largest_bytes:,} bytes.")
        if not go_on(size, announced):
            raise Stopped(f"{shown(url)}: stopped.")
    if not unpacked.ended():
        raise FetchFault(f"{shown(url)}: cannot be fetched (it ends in the middle).")
    return b"".join(pieces), head.headers.get("etag", ""), head.headers.get("last-modified", "")


def _announced(head: "Head") -> int | None:
    told = head.headers.get("content-length", "")
    return int(told) if told.isascii() and told.isdigit() and len(told) < 19 else None


def _refuse(head: "Head", announced: int | None, url: str, limits: Limits) -> None:
    if head.status != HTTPStatus.OK:
        name = NAMES.get(head.status, "")
        said = f"{head.status} ({name})" if name else f"{head.status}"
        gone = head.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
        raise (NotThere if gone else FetchFault)(f"{shown(url)}: the server answered {said}.")
    if announced is not None and announced > limits.largest_bytes:
        raise Refused(f"{shown(url)}: {announced:,} bytes are more than {limits.largest_bytes:,}.")


def shown(url: str) -> str:
    """Return a URL as a message shows it: printable, and not too long."""
    return "".join(c if c.isprintable() else "?" for c in url[:LONGEST_SHOWN])
