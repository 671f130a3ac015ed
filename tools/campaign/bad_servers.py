"""Servers on this machine that drip, lie, never end, send bombs or lead astray: the file that is
there stays, the fetch ends by its limit, and what is said is in our words."""

import gzip
import random
import resource
import socket
import tempfile
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from tools.campaign.figures import Failure, Figures

TOTAL_S, READ_S = 1.0, 0.6
SLACK_S = 1.5
"""What closing and a busy machine may take beyond the limit."""
MOST_GROWTH_MIB = 300.0
GOOD = b'{"good": 1}'
OK = b"HTTP/1.1 200 OK\r\n"
Deed = Callable[[socket.socket, random.Random, threading.Event], None]


def _drip(piece: bytes, head: bytes = b"") -> Deed:
    def deed(line: socket.socket, dice: random.Random, ended: threading.Event) -> None:
        line.sendall(head)
        wait_s = dice.choice((0.001, 0.02, 0.2))
        while not ended.wait(wait_s):
            line.sendall(piece)

    return deed


def _say(text: bytes) -> Deed:
    return lambda line, dice, ended: line.sendall(text)


def _hold(text: bytes) -> Deed:
    def deed(line: socket.socket, dice: random.Random, ended: threading.Event) -> None:
        line.sendall(text)
        ended.wait(30)

    return deed


def _noise(line: socket.socket, dice: random.Random, ended: threading.Event) -> None:
    line.sendall(dice.randbytes(dice.randrange(2000)))


def _half(line: socket.socket, dice: random.Random, ended: threading.Event) -> None:
    whole = OK + b"Content-Length: 5000\r\n\r\n" + b"x" * 5000
    line.sendall(whole[: dice.randrange(len(whole))])


def _flood(line: socket.socket, dice: random.Random, ended: threading.Event) -> None:
    line.sendall(OK + b"\r\n")
    while not ended.is_set():
        line.sendall(b"x" * 2**20)


def _packed_zeros(mib: int) -> bytes:
    """A gzip file of so many MiB of zeros: each block is that of the first, for a full flush
    forgets what came before."""
    packer, zeros, sum32 = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(2**20), 0
    block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(mib):
        sum32 = zlib.crc32(zeros, sum32)
    ends = sum32.to_bytes(4, "little") + (mib * 2**20).to_bytes(4, "little")
    return bytes.fromhex("1f8b0800000000000003") + block * mib + packer.flush() + ends


BOMB = _packed_zeros(256)
GZIP = OK + b"Content-Encoding: gzip\r\n\r\n"
GZIP_HEAD, EMPTY_BLOCK = bytes.fromhex("1f8b0800000000000003"), bytes.fromhex("000000ffff")
DEEDS: dict[str, Deed] = {
    "header without an end": _drip(b"y", OK + b"X-A: "),
    "headers without an end": _drip(b"X-A: b\r\n", OK),
    "status line without an end": _drip(b"H"),
    "100 for ever": _drip(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body in drops": _drip(b"z", OK + b"\r\n"),
    "empty blocks of gzip": _drip(
        bytes.fromhex("000000ffff"), GZIP + bytes.fromhex("1f8b0800000000000003")
    ),
    "chunks of one byte": _drip(b"1\r\nx\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"),
    "silence": _hold(b""),
    "silence after the head": _hold(OK + b"Content-Length: 10\r\n\r\n"),
    "noise": _noise,
    "half an answer": _half,
    "a flood": _flood,
    "a bomb": _say(GZIP + BOMB),
    "a bomb in a bomb": _say(GZIP + gzip.compress(BOMB * 200, 1)),
    "broken gzip": _say(GZIP + gzip.compress(GOOD)[:-6]),
    "no gzip": _say(GZIP + GOOD),
    "brotli": _say(OK + b"Content-Encoding: br\r\n\r\n" + GOOD),
    "terabytes announced": _say(OK + b"Content-Length: 1000000000000\r\n\r\n"),
    "a length that is none": _say(OK + b"Content-Length: -5\r\n\r\n" + GOOD),
    "two lengths": _say(OK + b"Content-Length: 5\r\nContent-Length: 9\r\n\r\n" + GOOD),
    "escapes": _say(b"HTTP/1.1 503 \x1b[2J\x1b[31mowned\r\nX: \x1b]0;x\x07\r\n\r\n"),
    "a file": _say(b"HTTP/1.1 302 x\r\nLocation: file:///etc/passwd\r\n\r\n"),
    "another scheme": _say(b"HTTP/1.1 301 x\r\nLocation: ftp://127.0.0.1/a\r\n\r\n"),
    "plain http elsewhere": _say(b"HTTP/1.1 307 x\r\nLocation: http://example.org/\r\n\r\n"),
    "itself": _say(b"HTTP/1.1 302 x\r\nLocation: /\x1b[31m\r\n\r\n"),
    "nowhere": _say(b"HTTP/1.1 302 x\r\nLocation: http://[\r\n\r\n"),
    "nothing changed, though": _say(b"HTTP/1.1 304 x\r\n\r\n"),
    "not what was wanted": _say(OK + b"Content-Length: 5\r\n\r\nhello"),
    "status 99999": _say(b"HTTP/1.1 99999 x\r\n\r\n"),
    "HTTP/9": _say(b"HTTP/9.9 200 OK\r\n\r\n" + GOOD),
}


def bad_servers(count: int, seed: int, kept: Path | None) -> Figures:
    """Ask `count` bad servers for a file that is there already."""
    found = Figures("bad servers")
    names = list(DEEDS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(count):
        name = names[number % len(names)]
        dice = random.Random(f"{seed} {number}")
        came, seconds = _asked(DEEDS[name], dice, stop=number >= len(names))
        found.deeds += 1
        found.notes["longest_s"] = max(found.notes.get("longest_s", 0.0), seconds)
        found.failures += [Failure(f"server {number}: {name}", each) for each in came]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    found.notes["growth_mib"] = grown
    if grown > MOST_GROWTH_MIB:
        found.failures.append(Failure("all servers", f"grew {grown:.0f} MiB"))
    return found


def _asked(deed: Deed, dice: random.Random, stop: bool) -> tuple[list[str], float]:
    """Ask one bad server, after a good one wrote the file; `stop` presses Stop on the way."""
    from rigplanner.catalog.imports.fetch import FetchFault, Limits, fetch

    limits = Limits(connect_s=1, read_s=READ_S, total_s=TOTAL_S, largest_bytes=64 * 2**20)
    came: list[str] = []
    ended = threading.Event()
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        path = Path(folder) / "file.json"
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        serving = threading.Thread(target=_serve, args=(server, deed, dice, ended), daemon=True)
        serving.start()
        fetch(url, path, _check, Limits())  # a busy machine may take its time for it
        left = [dice.randrange(30) if stop else 10**9]

        def go_on(done: int, announced: int | None) -> bool:
            left[0] -= 1
            return left[0] > 0

        begun = time.monotonic()
        try:
            fetched = fetch(url, path, _check, limits, go_on=go_on)
            said = fetched.fault
        except FetchFault as fault:
            said = str(fault)
        except Exception as fault:
            said = ""
            came.append(f"raised {type(fault).__name__}: {fault}")
        seconds = time.monotonic() - begun
        ended.set()
        if seconds > TOTAL_S + SLACK_S:
            came.append(f"took {seconds:.1f} s")
        if path.read_bytes() != GOOD:
            came.append("the file that was there is not")
        if not said.isprintable() or "owned" in said or "Error(" in said:
            came.append(f"said {said!a}")
        server.close()
        serving.join(2)
    return came, seconds


def _check(content: bytes) -> None:
    from rigplanner.catalog.load import CatalogFault

    if content != GOOD:
        raise CatalogFault("not what was wanted.")


def _serve(server: socket.socket, deed: Deed, dice: random.Random, ended: threading.Event) -> None:
    """Answer the first request well and all later ones badly."""
    good = True
    while not ended.is_set():
        try:
            line, _ = server.accept()
        except OSError:
            return
        with line:
            try:
                line.recv(65536)
                if good:
                    length = f"Content-Length: {len(GOOD)}\r\nETag: 1\r\n\r\n".encode()
                    line.sendall(OK + b"Connection: close\r\n" + length + GOOD)
                else:
                    deed(line, dice, ended)
            except OSError:
                pass
        good = False
