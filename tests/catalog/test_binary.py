"""Binary copies: what their signature follows."""

import os
import sys
from pathlib import Path

import pytest

from rigplanner.catalog import binary
from rigplanner.catalog.schema import parts as schema


def test_a_signature_follows_its_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    before = binary.signature([path])
    assert binary.signature([path]) == before
    path.write_text("{} ")
    assert binary.signature([path]) != before


def test_a_packaged_program_has_signatures_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no source files; another executable means another form of a part."""
    program = tmp_path / "rigplanner"
    program.write_bytes(b"one")
    monkeypatch.setattr(schema, "__file__", str(tmp_path / "not" / "there.py"))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    first = binary.signature([])
    assert binary.signature([]) == first
    os.utime(program, ns=(1, 1))
    assert binary.signature([]) != first
