"""Binary copies: what their signature follows."""

import gzip
import os
import re
import sys
from pathlib import Path

import msgspec
import pytest

from rigplanner.catalog import binary, load, schema
from rigplanner.catalog.load import Stored
from rigplanner.data import data_path


def test_a_signature_follows_its_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    before = binary.signature([path])
    assert binary.signature([path]) == before
    path.write_text("{} ")
    assert binary.signature([path]) != before


def test_another_form_of_any_kind_of_part_is_another_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = tmp_path / "boards.py", tmp_path / "systems.py"
    first.touch()
    last.touch()
    monkeypatch.setattr(schema, "__path__", [str(tmp_path)])
    seen = {binary.signature([])}
    for changed in (first, last):
        changed.write_text("slots: int")
        seen.add(binary.signature([]))
    assert len(seen) == 3


def test_a_packaged_program_has_signatures_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no source files; another executable means another form of a part."""
    program = tmp_path / "rigplanner"
    program.write_bytes(b"one")
    monkeypatch.setattr(schema, "__path__", [str(tmp_path / "not" / "there")])
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    first = binary.signature([])
    assert binary.signature([]) == first
    os.utime(program, ns=(1, 1))
    assert binary.signature([]) != first


def test_the_stored_catalog_is_the_read_one() -> None:
    """Grounds that many parts share stand once in the copy, and come back to each of them."""
    read = load.read_catalog(data_path("catalog"))
    stored = load._to_store(read)
    assert len(stored.grounds) < len(stored.parts) / 2
    again = load._from_store(msgspec.msgpack.decode(msgspec.msgpack.encode(stored), type=Stored))
    assert again == read


def test_a_packed_family_is_the_plain_one(tmp_path: Path) -> None:
    plain = next(iter(load.family_files(data_path("catalog"))))
    folder = tmp_path / plain.parent.name
    folder.mkdir()
    packed = folder / f"{plain.name}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert load.family_files(tmp_path) == [packed]
    assert load.read_family(packed) == load.read_family(plain)
    for broken in (b"", b"no archive", packed.read_bytes()[:-20]):
        packed.write_bytes(broken)
        with pytest.raises(load.CatalogFault, match=re.escape(str(packed))):
            load.read_family(packed)
