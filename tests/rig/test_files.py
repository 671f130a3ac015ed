"""Rig files: whole or not at all, refused kindly, never changed by reading."""

import json
import os
import stat
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Price
from rigplanner.rig import files
from rigplanner.rig.document import FORMAT_VERSION, Item, Rig, Site
from rigplanner.rig.files import RigFault, decode_rig, encode_rig, read_rig, write_rig

EMPTY = Catalog({}, {})
RIG = Rig(
    name="four cards",
    items=(
        Item(
            uid="gpu",
            part="a.b.c",
            quantity=4,
            places=("PCIE1", "", "PCIE5"),
            price=Price(amount=1749.5, currency="EUR", day="2026-11-20", source="shop"),
        ),
    ),
    site=Site(volts=120, breaker_a=15),
)


def test_a_saved_rig_reads_back_equal(tmp_path: Path) -> None:
    write_rig(RIG, tmp_path / "a.rig", EMPTY)
    assert read_rig(tmp_path / "a.rig") == RIG
    assert json.loads((tmp_path / "a.rig").read_text())["format_version"] == FORMAT_VERSION


def test_the_file_before_stays_as_bak(tmp_path: Path) -> None:
    path = tmp_path / "a.rig"
    write_rig(RIG, path, EMPTY)
    write_rig(msgspec.structs.replace(RIG, name="second"), path, EMPTY)
    assert read_rig(path).name == "second"
    assert read_rig(tmp_path / "a.rig.bak").name == "four cards"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.rig", "a.rig.bak"]


def test_the_snapshot_holds_the_parts_used_and_those_built_in(catalog: Catalog) -> None:
    system = next(part for part in catalog.of_kind("system") if getattr(part, "includes", ()))
    rig = files.with_snapshot(Rig(items=(Item(uid="system", part=system.id),)), catalog)
    assert system.id in rig.snapshot
    assert {inclusion.part for inclusion in system.includes} <= set(rig.snapshot)
    assert set(rig.snapshot_sources) >= set(system.sources)
    assert decode_rig(encode_rig(rig), "x") == rig


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not JSON"),
        (b"\x00\xff\xfe", "not JSON"),
        (b'{"format_version": 1, "items": [', "not JSON"),
        (b"[]", "'format_version' is missing"),
        (b'{"name": "x"}', "'format_version' is missing"),
        (b'{"format_version": "1"}', "whole number"),
        (b'{"format_version": true}', "whole number"),
        (b'{"format_version": 99}', "newer RigPlanner"),
        (b'{"format_version": 1, "items": [{"uid": "gpu"}]}', "missing required field `part`"),
        (
            b'{"format_version": 1, "items": [{"uid": "gpu", "part": "a", "quantity": "2"}]}',
            "$.items[0].quantity",
        ),
        (
            b'{"format_version": 1, "items": [{"uid": "gpu", "part": "a", "quantity": 0}]}',
            "items[0].quantity",
        ),
        (
            (
                b'{"format_version": 1, "waivers": [{"code": "A1", "reason": "x", "by": "Ada",'
                b' "until": "31.12.2027"}]}'
            ),
            "waivers[0].until",
        ),
        (
            b'{"format_version": 1, "waivers": [{"code": "A1", "reason": "x", "by": " "}]}',
            "needs a reason and a name",
        ),
        (
            b'{"format_version": 1, "items": [{"uid": "gpu", "part": "a", "quantity": 99999999}]}',
            "items[0].quantity",
        ),
        (
            (
                b'{"format_version": 1, "items": [{"uid": "g", "part": "a"}, {"uid": "g", "part":'
                b' "b"}]}'
            ),
            "used twice",
        ),
        (
            b'{"format_version": 1, "items": [{"uid": "g", "part": "a", "places": ["1", "2"]}]}',
            "2 places for 1",
        ),
        (b'{"format_version": 1, "site": {"volts": -5}}', "site.volts"),
        (b'{"format_version": 1, "budget": 1e400}', "a.rig"),
        (b'{"format_version": 1, "quote": {"tax_percent": 200}}', "quote.tax_percent"),
        (b'{"format_version": 1, "x": ' + b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_not_a_rig_is_one_sentence_and_stays_untouched(
    tmp_path: Path, content: bytes, says: str
) -> None:
    path = tmp_path / "a.rig"
    path.write_bytes(content)
    with pytest.raises(RigFault, match="a\\.rig") as caught:
        read_rig(path)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.rig"
    with path.open("wb") as file:
        file.truncate(files.LARGEST_FILE_BYTES + 1)
    with pytest.raises(RigFault, match="larger than 32 MiB"):
        read_rig(path)


def test_a_missing_file_and_a_folder_are_sentences(tmp_path: Path) -> None:
    for path in (tmp_path / "none.rig", tmp_path):
        with pytest.raises(RigFault, match="cannot be read"):
            read_rig(path)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.rig"
    write_rig(RIG, path, EMPTY)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RigFault, match="No space left"):
        write_rig(msgspec.structs.replace(RIG, name="second"), path, EMPTY)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.rig"]


def test_a_kill_before_the_rename_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.rig"
    write_rig(RIG, path, EMPTY)

    def killed(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_rig(msgspec.structs.replace(RIG, name="second"), path, EMPTY)
    assert read_rig(path) == RIG


def test_what_a_killed_program_left_goes_with_the_next_save(tmp_path: Path) -> None:
    old, young, other = (
        tmp_path / name
        for name in (".a.rig.abcdefgh.part", ".a.rig.ijklmnop.part", ".b.rig.abcdefgh.part")
    )
    for path in (old, young, other):
        path.write_bytes(b"half")
    for path in (old, other):
        os.utime(path, (0, 0))
    write_rig(Rig(name="A"), tmp_path / "a.rig", EMPTY)
    assert (old.exists(), young.exists(), other.exists()) == (False, True, True)


def test_a_link_keeps_being_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.rig", tmp_path / "link.rig"
    write_rig(RIG, real, EMPTY)
    link.symlink_to(real)
    write_rig(msgspec.structs.replace(RIG, name="through the link"), link, EMPTY)
    assert link.is_symlink()
    assert read_rig(real).name == "through the link"


@given(st.text(), st.integers(1, files.LARGEST_QUANTITY), st.text(min_size=1))
def test_any_text_survives(name: str, quantity: int, note: str) -> None:
    rig = Rig(name=name, items=(Item(uid="gpu", part="a", quantity=quantity, note=note),))
    try:
        content = encode_rig(rig)
    except UnicodeEncodeError:
        return
    assert decode_rig(content, "x") == rig


def test_all_samples_read_back_equal(samples: list[Path]) -> None:
    assert samples
    for path in samples:
        rig = read_rig(path)
        assert decode_rig(encode_rig(rig), path.name) == rig


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_a_private_rig_and_its_backup_stay_private(tmp_path: Path, catalog: Catalog) -> None:
    path = tmp_path / "a.rig"
    before = os.umask(0o077)
    try:
        write_rig(Rig(name="first"), path, catalog)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    write_rig(Rig(name="second"), path, catalog)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "a.rig.bak").stat().st_mode) == 0o600
    write_rig(Rig(name="open"), tmp_path / "b.rig", catalog)
    assert stat.S_IMODE((tmp_path / "b.rig").stat().st_mode) == 0o666 & ~before


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_a_backup_does_not_follow_a_link(tmp_path: Path, catalog: Catalog) -> None:
    other, path = tmp_path / "other", tmp_path / "a.rig"
    other.write_text("somebody's")
    (tmp_path / "a.rig.bak").symlink_to(other)
    for name in ("first", "second"):
        write_rig(Rig(name=name), path, catalog)
    assert other.read_text() == "somebody's"
    assert not (tmp_path / "a.rig.bak").is_symlink()
    assert read_rig(tmp_path / "a.rig.bak").name == "first"


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_a_rig_behind_a_link_is_written_where_it_lies(tmp_path: Path, catalog: Catalog) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "a.rig"
    link.symlink_to(tmp_path / "there" / "b.rig")
    for name in ("first", "second"):
        write_rig(Rig(name=name), link, catalog)
    assert link.is_symlink() and read_rig(tmp_path / "there" / "b.rig").name == "second"


@pytest.mark.parametrize("name", ["x" * 251, "é" * 125, "顯" * 83])
def test_a_long_name_can_be_saved_again(tmp_path: Path, catalog: Catalog, name: str) -> None:
    path = tmp_path / f"{name}.rig"
    for text in ("first", "second", "third"):
        write_rig(Rig(name=text), path, catalog)
    (kept,) = (each for each in tmp_path.iterdir() if each != path)
    assert (read_rig(path).name, read_rig(kept).name) == ("third", "second")
    assert kept.name.endswith(".bak")
