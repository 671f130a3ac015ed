"""Binary copies: what their signature follows."""

import os
import sys
from pathlib import Path

import pytest

from rigplanner.catalog import binary
from rigplanner.catalog.load import read_catalog, share_equal
from rigplanner.catalog.schema import parts as schema
from rigplanner.data import data_path


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


def test_what_is_equal_is_held_once_and_says_the_same() -> None:
    there, held = (read_catalog(data_path("catalog")) for _ in range(2))
    assert share_equal(held).parts == there.parts
    doubts = [each for part in held.parts.values() for each in part.doubts.values()]
    fields = [each for part in held.parts.values() for each in part.sources.values()]
    for told in (doubts, fields):
        assert len({id(each) for each in told}) == len(set(told)) < len(told) / 10
