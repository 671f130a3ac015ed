"""Disks that are full, read-only, slow or gone, at every step of writing a file."""

import contextlib
import errno
import os
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from tools.campaign.figures import Failure, Figures

FAULTS = (errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT, errno.EACCES, errno.ENOENT)
STEPS = ("open", "fsync", "chmod", "replace", "write", "folder gone", "slow")
SLOW_S = 0.05
"""How long each call of a slow disk takes."""


def bad_disks(count: int, seed: int, kept: Path | None) -> Figures:
    """Save rigs and journals onto disks that fail: a sentence, the old file, no litter."""
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.data import data_path
    from rigplanner.rig.files import read_rig, write_rig

    found, dice = Figures("bad disks"), random.Random(seed)
    catalog = shipped_catalog()
    rig = read_rig(data_path("resources") / "samples" / "rtx-5090.rig")
    for number in range(count):
        step, fault, at = STEPS[number % len(STEPS)], dice.choice(FAULTS), dice.randrange(3)
        found.deeds += 1
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "here" / "a.rig"
            path.parent.mkdir()
            write_rig(rig, path, catalog)
            before = path.read_bytes()
            came = _save(rig, path, catalog, step, fault, at)
            if step != "folder gone":
                came += _left(path, before)
        deed = f"{step} fails with {errno.errorcode[fault]} at call {at}"
        found.failures += [Failure(f"disk {number}: {deed}", each) for each in came]
    return found


def _save(rig, path, catalog, step, fault, at) -> list[str]:  # type: ignore[no-untyped-def]
    from msgspec.structs import replace

    from rigplanner.rig.files import RigFault, write_rig

    changed = replace(rig, name="changed")
    try:
        with _failing(step, fault, at, path.parent):
            write_rig(changed, path, catalog)
    except RigFault as said:
        return [] if "\n" not in str(said) else [f"says {said}"]
    except Exception as other:
        return [f"raised {type(other).__name__}: {other}"]
    return []


def _failing(step: str, fault: int, at: int, folder: Path):  # type: ignore[no-untyped-def]
    if step == "slow":
        return _slow(folder)
    calls = [0]

    def failing(real):  # type: ignore[no-untyped-def]
        def call(*args, **named):  # type: ignore[no-untyped-def]
            calls[0] += 1
            if calls[0] == at + 1:
                if step == "folder gone":
                    shutil.rmtree(folder)
                else:
                    raise OSError(fault, os.strerror(fault))
            return real(*args, **named)

        return call

    if step in ("chmod", "replace"):
        return mock.patch.object(Path, step, failing(getattr(Path, step)))
    if step == "write":
        return mock.patch.object(os, "fdopen", failing(os.fdopen))
    name = "fsync" if step == "folder gone" else step
    return mock.patch.object(os, name, failing(getattr(os, name)))


@contextlib.contextmanager
def _slow(folder: Path) -> Iterator[None]:
    """Let each call take long, and read the file all the while: it is whole at every moment."""
    from rigplanner.rig.files import RigFault, read_rig

    path, over, broken = folder / "a.rig", threading.Event(), []

    def late(real):  # type: ignore[no-untyped-def]
        def call(*args, **named):  # type: ignore[no-untyped-def]
            time.sleep(SLOW_S)
            return real(*args, **named)

        return call

    def look() -> None:
        while not over.is_set():
            try:
                read_rig(path)
            except RigFault as fault:
                broken.append(str(fault))
            time.sleep(SLOW_S / 5)

    reader = threading.Thread(target=look)
    reader.start()
    try:
        with (
            mock.patch.object(os, "fsync", late(os.fsync)),
            mock.patch.object(Path, "replace", late(Path.replace)),
        ):
            yield
    finally:
        over.set()
        reader.join()
    if broken:
        raise AssertionError(f"read meanwhile: {broken[0]}")


def _left(path: Path, before: bytes) -> list[str]:
    from rigplanner.rig.files import read_rig

    came = []
    now = path.read_bytes() if path.exists() else b""
    if now != before and read_rig(path).name != "changed":
        came.append("the file is neither old nor new")
    litter = [each.name for each in path.parent.iterdir() if each.name.endswith(".part")]
    return came + ([f"left {litter}"] if litter else [])
