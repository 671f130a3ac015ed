"""Damaged files of every kind through the commands that read them: an answer or one sentence, no
traceback, no hang, no growth, and the file as it was."""

import contextlib
import io
import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

from tools.campaign.damage import damaged
from tools.campaign.figures import Failure, Figures, keep
from tools.campaign.seeds import Seed, seeds

BATCH = 40
"""Inputs that one process reads, so that growth of memory is seen and a crash costs little."""
LONGEST_S = 5.0
LONGEST_MESSAGE = 1500
MOST_GROWTH_MIB = 300.0
OWN_FAULT = "a fault of RigPlanner"


def bad_inputs(count: int, seed: int, kept: Path | None) -> Figures:
    """Give `count` damaged files to the commands."""
    found = Figures("bad inputs")
    sources, slowest, most = seeds(), 0.0, 0.0
    warm(sources)
    begun = 0
    while begun < count:
        numbers = list(range(begun, min(begun + BATCH, count)))
        done, seconds, growth, failures = _batch(numbers, seed, sources, kept)
        begun += done
        found.deeds += done
        found.failures += failures
        slowest, most = max(slowest, seconds), max(most, growth)
    found.notes = {"slowest_s": slowest, "growth_mib": most}
    return found


def warm(sources: list[Seed]) -> None:
    """Read the tables that all commands share once, in the process that others are forked from."""
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            for command in source.commands[:2]:
                path = Path(folder) / source.name
                path.write_bytes(source.content)
                _run(command, path)


def case_of(number: int, seed: int, sources: list[Seed]) -> tuple[Seed, bytes, tuple[str, ...]]:
    """Return seed, damaged content and command of one input."""
    dice = random.Random(f"{seed} {number}")
    source = sources[number % len(sources)]
    command = dice.choice(source.commands) if source.commands else ()
    return source, damaged(source.content, dice), command


def _batch(
    numbers: list[int], seed: int, sources: list[Seed], kept: Path | None
) -> tuple[int, float, float, list[Failure]]:
    """Read inputs in a process of their own: how many were read, the slowest, the growth in MiB,
    and what failed. A crash or a hang ends the batch behind the input that made it."""
    told, tell = os.pipe()
    process = os.fork()
    if not process:
        os.close(told)
        _child(numbers, seed, sources, tell)
    os.close(tell)
    lines, ended = _heard(told, process)
    slowest = growth = 0.0
    failures = []
    read = 0
    for line in lines:
        slowest, growth = max(slowest, line["s"]), max(growth, line["mib"])
        read += 1
        number = numbers[read - 1]
        failures += [_failure(number, seed, sources, came, kept) for came in line["came"]]
    if growth > MOST_GROWTH_MIB:
        failures.append(Failure(f"inputs {numbers[0]} to {numbers[-1]}", f"grew {growth:.0f} MiB"))
    if read < len(numbers):
        failures.append(_failure(numbers[read], seed, sources, ended, kept))
        read += 1
    return read, slowest, growth, failures


def _heard(told: int, process: int) -> tuple[list[dict], str]:  # type: ignore[type-arg]
    """The lines of a child, and how it ended; one that is silent too long is ended."""
    text, ended = b"", ""
    while True:
        ready, _, _ = select.select([told], [], [], 4 * LONGEST_S)
        piece = os.read(told, 65536) if ready else b""
        if not piece:
            if not ready:
                os.kill(process, signal.SIGKILL)
                ended = "hangs"
            break
        text += piece
    os.close(told)
    status = os.waitpid(process, 0)[1]
    return [json.loads(line) for line in text.split(b"\n") if line], ended or f"died ({status})"


def _failure(number: int, seed: int, sources: list[Seed], came: str, kept: Path | None) -> Failure:
    source, content, command = case_of(number, seed, sources)
    place = keep(kept, f"input-{seed}-{number}-{source.name}", content)
    return Failure(f"input {number}: {source.name} {' '.join(command)}", came, place)


def _child(numbers: list[int], seed: int, sources: list[Seed], tell: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            os.environ[name] = str(Path(folder) / name)
        os.chdir(folder)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for number in numbers:
            source, content, command = case_of(number, seed, sources)
            path = Path(folder) / source.name
            path.write_bytes(content)
            begun = time.process_time()
            came = _deed(source, command, path)
            seconds = time.process_time() - begun
            if seconds > LONGEST_S:
                came.append(f"took {seconds:.1f} s")
            if path.exists() and path.read_bytes() != content:
                came.append("changed its input")
            path.unlink(missing_ok=True)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            os.write(tell, json.dumps({"s": seconds, "mib": grown, "came": came}).encode() + b"\n")
    os._exit(0)


def _deed(source: Seed, command: tuple[str, ...], path: Path) -> list[str]:
    if not command:
        assert source.reads is not None
        try:
            source.reads(path)
        except Exception as fault:
            return [f"{type(fault).__name__}: {str(fault)[:200]}"]
        return []
    code, answer, said = _run(command, path)
    return wrong(code, answer, said)


def wrong(code: object, answer: str, said: str) -> list[str]:
    """Return what is wrong with an exit code and what was printed."""
    came = [f"exit code {code}"] if code not in (0, 1, 2) else []
    for stream, text in (("stdout", answer), ("stderr", said)):
        if "Traceback (most recent call last)" in text or "Exception ignored" in text:
            came.append(f"a traceback on {stream}: {text[-300:]}")
        if OWN_FAULT in text:
            at = text.index(OWN_FAULT)
            came.append(f"{stream}: {text[at : at + 250]}")
    if any(not c.isprintable() and c not in "\n" for c in said):
        came.append(f"control characters on stderr: {said[:200]!a}")
    longest = max(map(len, said.split("\n")), default=0)
    if longest > LONGEST_MESSAGE:
        came.append(f"a message of {longest} characters")
    if code == 2 and not said.strip() and not answer.strip():
        came.append("refused without a word")
    if said.count("\n") > 40:
        came.append(f"{said.count(chr(10))} lines on stderr")
    return came


def _run(command: tuple[str, ...], path: Path) -> tuple[object, str, str]:
    from rigplanner.cli.main import main

    words = [
        str(path) if word == "FILE" else str(path.parent / word) if word.startswith("OUT") else word
        for word in command
    ]
    answer = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    code: object
    with contextlib.redirect_stdout(answer), contextlib.redirect_stderr(said):
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code
        except BaseException as fault:
            code = f"raised {type(fault).__name__}: {fault}"
        sys.stdout.flush()
        sys.stderr.flush()
    for out in path.parent.glob("OUT*"):
        out.unlink()
    return code, _text(answer), _text(said)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
