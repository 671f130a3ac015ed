"""What we patch or work round in libraries is still needed: a test here fails when it is not, and
then the patch goes, with its test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def _said(program: str) -> str:
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True
    )
    return made.stdout.strip()


def test_pyside_still_reads_the_source_of_each_module() -> None:
    """`desktop/start.py` turns the search off."""
    program = """
import sys
import PySide6.QtCore
search = sys.modules["shibokensupport.feature"]
real, seen = search._mod_uses_pyside, []
search._mod_uses_pyside = lambda module: seen.append(module.__name__) or real(module)
import colorsys
print("colorsys" in seen)
"""
    assert _said(program) == "True"


def test_reportlab_still_parts_numbers_at_narrow_spaces() -> None:
    """`report/paper/tagging.py` puts its own function there."""
    program = """
from reportlab.platypus import paragraph
print(len(paragraph.split("1\\u202f024")))
"""
    assert _said(program) == "2"


@pytest.mark.release
@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
def test_msgspec_still_dies_when_two_threads_read_a_type_first() -> None:
    """`decoding.py` holds a lock for it. About one process of twenty dies, of two hundred."""
    told = (ROOT / "docs" / "upstream" / "msgspec-threads.md").read_text("utf-8")
    found = re.search(r"```python\n(.*?)```", told, re.DOTALL)
    assert found is not None
    died = re.match(r"(\d+) of 200", _said(found[1]))
    assert died is not None and int(died[1])
