"""One door for JSON: threads may come through it together, and whatever is wrong with a file is one
fault."""

import ast
import contextlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.load import Family
from rigplanner.decoding import JsonFault, convert, read_json
from rigplanner.rig.document import Rig

PACKAGE = Path(__file__).parents[1] / "rigplanner"
TYPED = (
    "msgspec.convert",
    "msgspec.json.Decoder",
    "msgspec.msgpack.Decoder",
    "msgspec.msgpack.decode",
)
FRESH = """
import os, sys, threading
sys.setswitchinterval(1e-6)
{setup}
died = 0
for number in range({times}):
    if not (process := os.fork()):
        gate = threading.Barrier(4)
        def read():
            gate.wait()
            {deed}
        threads = [threading.Thread(target=read) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        os._exit(0)
    died += os.waitpid(process, 0)[1] != 0
print(died)
"""


def _died(setup: str, deed: str, times: int) -> int:
    program = FRESH.format(setup=setup, deed=deed, times=times)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
def test_threads_that_read_a_type_for_the_first_time_together_all_read_it() -> None:
    setup = "from rigplanner.decoding import read_json; from rigplanner.catalog.load import Family"
    assert (
        _died(setup, """read_json('{"family": "x", "sources": {}, "parts": []}', Family)""", 60)
        == 0
    )


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
@pytest.mark.usefixtures("warm_cache")
def test_first_assessments_may_come_together() -> None:
    setup = """from pathlib import Path
from rigplanner.catalog.load import shipped_catalog
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
catalog, rig = shipped_catalog(), read_rig(Path("resources/samples/dual-rtx-3090.rig"))"""
    assert _died(setup, 'assess(rig, catalog, "2026-11-23")', 3) == 0


def test_nothing_else_makes_decoders_or_converts() -> None:
    """Each other place would look into types without the lock."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        code = path.read_text("utf-8")
        if path.name == "decoding.py" or not re.search(r"convert|[Dd]ecode", code):
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                typed = called.endswith("json.decode") and any(
                    word.arg == "type" for word in node.keywords
                )
                if typed or called in (
                    "msgspec.convert",
                    "msgspec.json.Decoder",
                    "msgspec.msgpack.Decoder",
                    "msgspec.msgpack.decode",
                ):
                    found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert found == []


HOSTILE = (
    b"",
    b"\xff\xfe",
    b'{"name": "\xff"}',
    b'{"name": ' + b"[" * 9000,
    b"[" * 90_000,
    b"\x00",
    b'{"name": "\\ud800"}',
    b'{"family": 99999999999999999999999}',
    b"nul",
    b"\xef\xbb\xbf{}",
    b'{"a": 1e999}',
)


@pytest.mark.parametrize("content", HOSTILE)
def test_whatever_is_wrong_is_one_fault(content: bytes) -> None:
    with pytest.raises(JsonFault, match=r"\S"):
        read_json(content, Family)


def test_faults_say_what_is_wrong() -> None:
    with pytest.raises(JsonFault, match=r"not UTF-8 \(byte 10\)"):
        read_json(b'{"name": "\xff"}', Rig)
    with pytest.raises(JsonFault, match="nested too deeply"):
        read_json(b'{"a": ' + b"[" * 90_000, dict[str, object])
    with pytest.raises(JsonFault, match=r"Expected `str`, got `int` - at `\$\.name`"):
        convert({"name": 1}, Rig)


@given(st.binary(max_size=200))
def test_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(JsonFault):
        read_json(content, Rig)
