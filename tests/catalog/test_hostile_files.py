"""Files made to do harm: each is refused or counted by name, and what is good in it still
arrives."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.foreign import Import
from rigplanner.catalog.imports.foreign_files import ForeignFault
from rigplanner.catalog.imports.importing import Options, read_source
from rigplanner.catalog.imports.user_catalog import read_own_family
from rigplanner.catalog.load import CatalogFault, read_family, shipped_catalog
from rigplanner.catalog.prices.prices import Offers

DAY = "2026-11-21"
RECORD: dict[str, Any] = {
    "opendb_id": "00000000-0000-0000-0000-000000000001",
    "metadata": {"name": "Acme GPU", "manufacturer": "Acme", "part_numbers": ["P"]},
    "chipset": "GeForce RTX 4090", "memory": 24, "length": 300, "tdp": 450,
}  # fmt: skip
PART: dict[str, Any] = {
    "kind": "cpu",
    "id": "acme.x.one",
    "name": "One",
    "vendor": "Acme",
    "socket": "AM5",
}


@pytest.fixture(scope="module")
def index() -> PartIndex:
    return index_of(shipped_catalog())


def _family(path: Path, *parts: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"family": "x", "sources": {}, "parts": parts}), "utf-8")
    return path


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((PART, PART), "used twice"),
        (({**PART, "id": "\u202eacme.x.one"},), "vendor.family.variant"),
        (({**PART, "id": "../../etc.x.one"},), "vendor.family.variant"),
        (({**PART, "name": "<b>One</b>"},), "plain text"),
        (({**PART, "aliases": ["One\u202e"]},), "plain text"),
        (({**PART, "vendor": "A\x00"},), "plain text"),
    ],
)
def test_own_parts_that_pose_as_others_are_refused(
    parts: tuple[dict[str, Any], ...], said: str, tmp_path: Path
) -> None:
    with pytest.raises(CatalogFault, match=said):
        read_own_family(_family(tmp_path / "own.json", *parts))


def test_own_parts_of_good_form_are_read(tmp_path: Path) -> None:
    assert [part.id for part in read_own_family(_family(tmp_path / "own.json", PART)).parts] == [
        "acme.x.one"
    ]


def _zip(path: Path, damage: tuple[bytes, int, int] | None = None, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"open-db/GPU/{name}.json", text)
    if damage:
        content = bytearray(path.read_bytes())
        mark, offset, value = damage
        content[content.find(mark) + offset] = value
        path.write_bytes(content)
    return path


DIRECTORY = b"PK\x01\x02"


@pytest.mark.parametrize(
    "damage",
    [(b"GeForce", 0, ord("g")), (DIRECTORY, 8, 1), (DIRECTORY, 10, 99)],
    ids=["checksum", "encrypted", "unknown method"],
)
def test_an_archive_with_one_bad_entry_gives_the_others(
    damage: tuple[bytes, int, int], tmp_path: Path, index: PartIndex
) -> None:
    other = {
        **RECORD,
        "opendb_id": "00000000-0000-0000-0000-000000000002",
        "metadata": {**RECORD["metadata"], "name": "Beta GPU"},
    }
    path = _zip(tmp_path / "db.zip", damage, a=json.dumps(RECORD), b=json.dumps(other))
    made = read_source("opendb", path, DAY, index, Options())
    assert isinstance(made, Import)
    assert len(made.parts) == 1
    assert len(made.refused) == 1


@pytest.mark.parametrize(
    ("content", "good", "refused"),
    [
        (b"name,price\nRTX 5090\x00,2000\nRTX 4090,1500\n", 1, 1),
        (
            "name,price,currency\nRTX 5090,∞,USD\nRTX 4090,NaN,USD\nRTX 3090,=1+1,USD\nRTX"
            " 4070,599,USD\n".encode(),
            1,
            3,
        ),
        (b'name,price\n"' + b"A" * 200_000 + b"\n", 0, 1),
        ("name,price\n\u202eRTX 5090\u202c<script>x</script>,2000\nRTX 4090,1500\n".encode(), 1, 1),
    ],
    ids=["zero bytes", "prices that are none", "field without end", "markup and direction"],
)
def test_a_hostile_price_list_gives_its_good_lines(
    content: bytes, good: int, refused: int, tmp_path: Path, index: PartIndex
) -> None:
    path = tmp_path / "prices.csv"
    path.write_bytes(content)
    made = read_source("csv", path, DAY, index, Options())
    assert isinstance(made, Offers)
    assert len([offer for offer in made.offers if offer.part]) == good
    assert len(made.refused) == refused


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_file(tmp_path: Path, index: PartIndex) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    with pytest.raises(ForeignFault, match="device or pipe"):
        read_source("csv", path, DAY, index, Options())


def test_a_wrong_trust_names_the_source_and_the_words(tmp_path: Path) -> None:
    source = {"title": "A page", "url": "https://a.b/c", "read": "2026-11-23", "trust": "maker"}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"family": "x", "sources": {"the-page": source}, "parts": []}))
    with pytest.raises(CatalogFault) as fault:
        read_family(path)
    assert "the-page: trust is one of vendor, manual" in str(fault.value)
    assert "'maker'" in str(fault.value)
