"""Fetching, against a server on this machine that is slow, cut, huge, redirecting or lying."""

import gzip
import hashlib
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rigplanner.catalog.imports.fetch import (
    Fetched,
    FetchFault,
    Limits,
    Refused,
    Stopped,
    allowed,
    fetch,
    read_stamp,
    stamp_path,
)
from rigplanner.catalog.load import CatalogFault

CONTENT = b'{"good": "content"}'
SHA256 = hashlib.sha256(CONTENT).hexdigest()
TINY = Limits(connect_s=5, read_s=0.05, total_s=5, largest_bytes=10_000, redirects=2)
PATIENT = Limits(connect_s=5, read_s=5, total_s=5, largest_bytes=10_000, redirects=2)


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))  # type: ignore[attr-defined]
        getattr(self, self.path.strip("/").partition("/")[0].replace("-", "_").partition(".")[0])()

    def _send(
        self, content: bytes, status: int = 200, length: int | None = None, **headers: str
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def good(self) -> None:
        if self.headers.get("If-None-Match") == '"1"':
            self.send_response(304)
            self.end_headers()
        else:
            self._send(CONTENT, ETag='"1"')

    def dated(self) -> None:
        if self.headers.get("If-Modified-Since") == "Sat, 21 Nov 2026 00:00:00 GMT":
            self.send_response(304)
            self.end_headers()
        else:
            self._send(CONTENT, Last_Modified="Sat, 21 Nov 2026 00:00:00 GMT")

    def bad(self) -> None:
        self._send(b"<html>sign in to the hotel's network</html>")

    def silent(self) -> None:
        self.server.closing.wait()  # type: ignore[attr-defined]

    def stalling(self) -> None:
        self._send(CONTENT[:5], length=len(CONTENT))
        self.server.closing.wait()  # type: ignore[attr-defined]

    def cut(self) -> None:
        self._send(CONTENT, length=len(CONTENT) + 100)

    def short(self) -> None:
        self._send(CONTENT, length=len(CONTENT) - 5)

    def announced(self) -> None:
        self._send(b"", length=10**12)

    def endless(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while not self.server.closing.is_set():  # type: ignore[attr-defined]
                self.wfile.write(b"x" * 4096)
        except OSError:
            pass

    def bomb(self) -> None:
        self._send(gzip.compress(b"0" * 5_000_000), Content_Encoding="gzip")

    def packed(self) -> None:
        self._send(gzip.compress(CONTENT), Content_Encoding="gzip")

    def not_packed(self) -> None:
        self._send(CONTENT, Content_Encoding="gzip")

    def hop(self) -> None:
        left = int(self.path.rpartition("/")[2])
        self._send(b"", 302, Location=f"/hop/{left - 1}" if left else "/good.json")

    def to_http(self) -> None:
        self._send(b"", 302, Location="http://catalog.example/file.json")

    def to_file(self) -> None:
        self._send(b"", 302, Location="file:///etc/passwd")

    def to_nowhere(self) -> None:
        self._send(b"", 302, Location="http://[")

    def broken(self) -> None:
        self._send(b"no", 500)

    def _drip(self, head: bytes, piece: bytes) -> None:
        """Write without an end, never silent for long."""
        try:
            self.wfile.write(head)
            while not self.server.closing.wait(0.01):  # type: ignore[attr-defined]
                self.wfile.write(piece)
        except OSError:
            pass

    def dripping(self) -> None:
        self._drip(b"HTTP/1.1 200 OK\r\nX-A: ", b"y")

    def go_on(self) -> None:
        self._drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n")

    def empty_blocks(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
        self._drip(head + bytes.fromhex("1f8b0800000000000003"), bytes.fromhex("000000ffff"))

    def half_packed(self) -> None:
        self._send(gzip.compress(CONTENT)[:-9], Content_Encoding="gzip")

    def br(self) -> None:
        self._send(CONTENT, Content_Encoding="br")

    def owned(self) -> None:
        self.wfile.write(b"HTTP/1.1 503 \x1b[2J\x1b[31mowned\r\n\r\n")

    def no_http(self) -> None:
        self.wfile.write(b"\x16\x03\x01\x1b[31m nonsense\r\n\r\n")

    def sums(self) -> None:
        self._send(f"{'0' * 64}  other.json\n{SHA256} *good.json\n".encode())

    def sum_of_nothing(self) -> None:
        self._send(b"hello\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.closing = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    before = threading.active_count()
    made = _Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.closing.set()
    made.shutdown()
    made.server_close()
    thread.join()
    assert threading.active_count() == before


def _check(content: bytes) -> None:
    if not content.startswith(b'{"good"') or not content.endswith(b"}"):
        raise CatalogFault("not what was wanted.")


def _fetch(
    server: _Server, path: str, target: Path, limits: Limits = PATIENT, checksum: str = ""
) -> Fetched:
    return fetch(server.url(path), target, _check, limits, checksum)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "updates" / "file.json"


def test_a_file_is_fetched_with_its_stamp(server: _Server, target: Path) -> None:
    fetched = _fetch(server, "good.json", target)
    assert fetched.changed
    assert target.read_bytes() == CONTENT
    assert (fetched.stamp.etag, fetched.stamp.sha256, fetched.fault) == ('"1"', SHA256, "")
    assert read_stamp(target) == fetched.stamp


@pytest.mark.parametrize("path", ["good.json", "dated.json"])
def test_a_second_time_only_the_tag_is_asked(server: _Server, target: Path, path: str) -> None:
    _fetch(server, path, target)
    before = target.stat().st_mtime_ns
    again = _fetch(server, path, target)
    assert not again.changed
    assert target.stat().st_mtime_ns == before
    assert {"If-None-Match", "If-Modified-Since"} & set(server.asked[1][1])


def test_a_file_that_was_changed_here_is_fetched_anew(server: _Server, target: Path) -> None:
    _fetch(server, "good.json", target)
    target.write_bytes(b"spoiled")
    assert _fetch(server, "good.json", target).changed
    assert target.read_bytes() == CONTENT


def test_the_tag_of_another_address_is_not_sent(server: _Server, target: Path) -> None:
    _fetch(server, "good.json", target)
    _fetch(server, "good.json?other", target)
    assert "If-None-Match" not in server.asked[1][1]


@pytest.mark.parametrize(
    ("path", "limits"),
    [
        ("silent", TINY),
        ("stalling", TINY),
        ("cut", PATIENT),
        ("broken", PATIENT),
        ("to-nowhere", PATIENT),
        ("not-packed", PATIENT),
        ("endless", Limits(total_s=0, largest_bytes=10**9)),
    ],
)
def test_a_failing_server_leaves_what_is_there_and_says_so(
    server: _Server, target: Path, path: str, limits: Limits
) -> None:
    with pytest.raises(FetchFault, match=path):
        _fetch(server, path, target, limits)
    assert not target.exists()
    _fetch(server, "good.json", target)
    fetched = _fetch(server, path, target, limits)
    assert path in fetched.fault
    assert not fetched.changed
    assert target.read_bytes() == CONTENT


ENDLESS = ("dripping", "go-on", "empty-blocks", "silent", "stalling")


@pytest.mark.parametrize("path", ENDLESS)
def test_the_deadline_holds_for_headers_body_and_unpacking(
    server: _Server, target: Path, path: str
) -> None:
    with pytest.raises(FetchFault, match=r"not complete within 0\.3 s"):
        _fetch(server, path, target, Limits(total_s=0.3))
    assert not target.exists()


@pytest.mark.parametrize("path", ENDLESS)
def test_stop_works_at_every_moment(server: _Server, target: Path, path: str) -> None:
    asked: list[int] = []

    def go_on(done: int, announced: int | None) -> bool:
        asked.append(done)
        return len(asked) < 4

    with pytest.raises(Stopped):
        fetch(server.url(path), target, _check, Limits(), go_on=go_on)
    assert len(asked) == 4


@pytest.mark.parametrize("path", ["owned", "no-http", "half-packed", "br", "cut", "broken"])
def test_what_a_server_says_is_put_in_our_words(server: _Server, target: Path, path: str) -> None:
    with pytest.raises(FetchFault) as told:
        _fetch(server, path, target)
    said = str(told.value)
    assert said.isprintable() and "owned" not in said.partition(path)[2]
    assert not re.search(r"[a-z](Error|Exception)|<class", said)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("announced", "bytes"),
        ("endless", "bytes"),
        ("bomb", "bytes"),
        ("bad", "not what was wanted"),
        ("short", "not what was wanted"),
        ("hop/3", "redirects"),
        ("to-http", "only https"),
        ("to-file", "only https"),
    ],
)
def test_a_lying_server_is_refused_and_nothing_changes(
    server: _Server, target: Path, path: str, why: str
) -> None:
    _fetch(server, "good.json", target)
    stamp = read_stamp(target)
    with pytest.raises(Refused, match=why):
        _fetch(server, path, target)
    assert target.read_bytes() == CONTENT
    assert read_stamp(target) == stamp
    assert sorted(path.name for path in target.parent.iterdir()) == ["file.json", "file.json.stamp"]


def test_redirects_within_the_limit_are_followed(server: _Server, target: Path) -> None:
    assert _fetch(server, "hop/1", target).changed
    assert [path for path, _ in server.asked] == ["/hop/1", "/hop/0", "/good.json"]


def test_a_packed_answer_is_unpacked(server: _Server, target: Path) -> None:
    _fetch(server, "packed", target)
    assert target.read_bytes() == CONTENT


def test_checksums(server: _Server, target: Path) -> None:
    assert _fetch(server, "good.json", target, checksum=SHA256.upper()).changed
    target.unlink()
    assert _fetch(server, "good.json", target, checksum=server.url("sums")).changed
    target.unlink()
    with pytest.raises(Refused, match="checksum"):
        _fetch(server, "good.json", target, checksum="0" * 64)
    with pytest.raises(Refused, match="no SHA-256"):
        _fetch(server, "good.json", target, checksum=server.url("sum-of-nothing"))
    assert not target.exists()


def test_offline_the_file_keeps_its_age(server: _Server, target: Path) -> None:
    stamp = _fetch(server, "good.json", target).stamp
    server.closing.set()
    server.shutdown()
    server.socket.close()
    fetched = _fetch(server, "good.json", target)
    assert fetched.fault
    assert fetched.stamp == stamp
    later = datetime.fromisoformat(stamp.read) + timedelta(days=3)
    assert fetched.age_days(later) == pytest.approx(3)
    assert later.tzinfo == UTC


def test_a_stamp_that_cannot_be_read_is_no_stamp(server: _Server, target: Path) -> None:
    _fetch(server, "good.json", target)
    stamp_path(target).write_bytes(b"{}")
    assert read_stamp(target) is None
    assert _fetch(server, "good.json", target).changed


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://catalog.example/a.json", True),
        ("http://localhost:1/a", True),
        ("http://catalog.example/a.json", False),
        ("http://127.0.0.1.evil.example/", False),
        ("ftp://localhost/a", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https://[::1", False),
        ("", False),
    ],
)
def test_only_https_or_this_machine_is_asked(url: str, may: bool) -> None:
    assert allowed(url) is may


def test_no_server_leads_to_this_machine() -> None:
    assert allowed("http://localhost:8080/", "http://localhost/")
    assert not allowed("http://localhost:8080/", "https://catalog.example/")
