"""One request, made in a thread of its own: whoever waits for it can leave at any moment, and the
deadline holds for names, connection, headers, body and unpacking alike."""

import contextlib
import queue
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    import requests

CHUNK_BYTES = 64 * 1024
WAIT_S = 0.05
"""How long the one who waits is kept at a time before it looks at clock and Stop."""

LEAVING_S = 0.3
"""How long a request that is given up may take to end; one that looks up a name takes longer and
ends unseen."""


class Head(Struct, frozen=True):
    """Status and headers of an answer, names in small letters."""

    status: int
    headers: dict[str, str]


class Broken(Exception):
    """A request that failed; the text says how, in words of this house."""


class Packed(Exception):
    """An answer whose packing cannot be undone."""


class Request:
    """A request under way. `events` yields None now and then while nothing comes, once the Head,
    then pieces of the body as they came; raises Broken. `leave` gives it up."""

    def __init__(self, url: str, headers: dict[str, str], connect_s: float, read_s: float) -> None:
        self._url, self._headers, self._waits = url, headers, (connect_s, read_s)
        self._came: queue.Queue[Head | bytes | Exception | None] = queue.Queue(8)
        self._left = threading.Event()
        self._sockets: list[socket.socket] = []
        self._thread = threading.Thread(target=self._run, name="request", daemon=True)
        self._thread.start()

    def events(self) -> Iterator[Head | bytes | None]:
        """Yield what comes until the body ends."""
        while True:
            try:
                came = self._came.get(timeout=WAIT_S)
            except queue.Empty:
                yield None
                continue
            if isinstance(came, Exception):
                raise Broken(why(came, self._waits[1])) from came
            if came is None:
                return
            yield came

    def leave(self) -> None:
        """Give the request up: its connection is closed, and its thread ends."""
        self._left.set()
        for each in tuple(self._sockets):
            _shut(each)
        self._thread.join(LEAVING_S)

    def _opened(self, line: socket.socket | None) -> None:
        """Remember a connection; one that opens after the request was given up is closed."""
        if line is not None:
            self._sockets.append(line)
            if self._left.is_set():
                _shut(line)

    def _run(self) -> None:
        try:
            with watched(self._opened) as session:
                self._ask(session)
        except Exception as fault:  # whatever libraries raise is told to the one who waits
            self._put(fault)
        else:
            self._put(None)

    def _ask(self, session: "requests.Session") -> None:
        with contextlib.closing(
            session.get(
                self._url,
                headers=self._headers,
                stream=True,
                allow_redirects=False,
                timeout=self._waits,
            )
        ) as reply:
            told = {name.lower(): value for name, value in reply.headers.items()}
            self._put(Head(reply.status_code, told))
            while not self._left.is_set():
                piece = reply.raw.read1(CHUNK_BYTES, decode_content=False)
                if not piece:
                    break
                self._put(piece)

    def _put(self, came: Head | bytes | Exception | None) -> None:
        while not self._left.is_set():
            with contextlib.suppress(queue.Full):
                self._came.put(came, timeout=WAIT_S)
                return


def _shut(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def watched(
    opened: Callable[[socket.socket | None], None],
) -> Iterator["requests.Session"]:
    """Yield a session that tells each socket it opens, so that it can be closed from outside while
    the library waits on it."""
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
    from urllib3.connection import HTTPConnection, HTTPSConnection

    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            opened(self.sock)

    class Safe(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            opened(self.sock)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SafePool(HTTPSConnectionPool):
        ConnectionCls = Safe

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *args: Any, **named: Any) -> None:
            super().init_poolmanager(*args, **named)
            self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SafePool}

    with requests.Session() as session:
        session.mount("http://", Adapter())
        session.mount("https://", Adapter())
        yield session


def why(fault: Exception, read_s: float) -> str:
    """Return what went wrong, in words that name no class of a library."""
    from requests import exceptions
    from urllib3 import exceptions as below

    if isinstance(fault, exceptions.Timeout | below.TimeoutError | TimeoutError):
        return f"no answer within {read_s:g} s"
    if isinstance(fault, exceptions.SSLError | below.SSLError):
        return "cannot be fetched (its certificate is not trusted, or the line is not encrypted)"
    if isinstance(fault, exceptions.ProxyError | below.ProxyError):
        return "cannot be fetched (the proxy refused)"
    if isinstance(fault, exceptions.InvalidURL | UnicodeError | below.LocationParseError):
        return "cannot be fetched (not an address)"
    text = str(fault)
    if "NameResolution" in text or "getaddrinfo" in text or "Name or service" in text:
        return "cannot be fetched (the name of the server is not known)"
    if "refused" in text:
        return "cannot be fetched (the connection was refused)"
    return "cannot be fetched (the connection broke off, or the answer is not HTTP)"


def unpacker(coding: str) -> "Unpacked":
    """Return what undoes a Content-Encoding. Raises Packed for one that is not known."""
    coding = coding.strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip"):
        raise Packed("its packing is not known")
    return Unpacked(packed=coding.endswith("gzip"))


class Unpacked:
    """Undoes gzip piece by piece, never more than it is asked for at a time."""

    def __init__(self, packed: bool) -> None:
        self._unzip = zlib.decompressobj(wbits=31) if packed else None

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield what a piece holds, at most CHUNK_BYTES at a time. Raises Packed."""
        if self._unzip is None:
            yield piece
            return
        try:
            while piece:
                if self._unzip.eof:
                    return
                made = self._unzip.decompress(piece, CHUNK_BYTES)
                piece = self._unzip.unconsumed_tail
                yield made
        except zlib.error as fault:
            raise Packed("its packing is broken") from fault

    def ended(self) -> bool:
        """Whether the packing came to its end."""
        return self._unzip is None or self._unzip.eof
