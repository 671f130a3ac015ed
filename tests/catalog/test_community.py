"""Imported databases: kept apart, behind the shipped parts, from binary copies; and the fetched one,
against a server on this machine."""

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.binary import place
from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.find.words import words_of
from rigplanner.catalog.foreign import Import
from rigplanner.catalog.imports import community, fetch, user_catalog
from rigplanner.catalog.imports.lanes import _key, _of_size, _wires, patterns, with_lanes
from rigplanner.catalog.imports.layer_writing import layer_bytes
from rigplanner.catalog.layer import Layer, Layers
from rigplanner.catalog.load import Catalog, read_catalog, shipped_catalog
from rigplanner.catalog.prices.prices import PartPrice, PriceFile
from rigplanner.catalog.schema.parts import (
    CPU,
    Accessory,
    Layout,
    Motherboard,
    Price,
    Slot,
    kind_of,
)
from rigplanner.data import data_path
from rigplanner.decoding import JsonFault
from rigplanner.evidence import Source

SOURCES = {"acme": Source(title="ACME list", read="2026-11-21", trust="community")}


def _layers(*parts: Accessory | CPU | Motherboard) -> Layers:
    return Layers([Layer(layer_bytes("acme", parts, SOURCES))])


def _cable(name: str, part_id: str, *aliases: str) -> Accessory:
    return Accessory(
        id=f"opendb.accessory.{part_id}", name=name, vendor="ACME", type="cable", aliases=aliases
    )


def test_no_shipped_part_is_shadowed_by_an_imported_twin(catalog: Catalog) -> None:
    def bare(name: str, vendor: str) -> str:
        words, maker = words_of(name), words_of(vendor)
        begins = words[: len(maker)] == maker and len(words) > len(maker)
        return " ".join(words[len(maker) :]) if begins else name

    shipped = tuple(catalog.parts.values())[::6]  # of each family some: all take 14 s
    twins = [
        replace(part, id=f"opendb.{kind_of(part)}.twin-{n}", name=bare(part.name, part.vendor))
        for n, part in enumerate(shipped)
    ]
    index = PartIndex(catalog.parts.values(), _layers(*twins))
    asked = {
        text
        for part in shipped
        for text in (part.name, bare(part.name, part.vendor), *part.aliases)
    }
    first = {text: index.find(text, limit=1) for text in asked}
    assert [
        text for text, found in first.items() if not found or found[0].id[:7] == "opendb."
    ] == []
    named = {text: index.named_in(text).part for text in asked}
    alone = index_of(catalog)
    for text, part in named.items():
        if part is not None and part.id.startswith("opendb."):
            assert alone.named_in(text).confidence == "none"


def test_words_find_own_parts_first_level_by_level() -> None:
    own = [_cable("ACME Link 3", "x"), _cable("ACME Linkage 7", "y", "LK7")]
    own = [replace(part, id=part.id.replace("opendb", "acme")) for part in own]
    layers = _layers(
        _cable("ACME Link 9", "far"), _cable("ACME Linkage 7", "twin"), _cable("Other", "o", "ZZ9")
    )
    index = PartIndex(own, layers)
    ids = [part.id.rpartition(".")[2] for part in index.find("link")]
    assert ids == ["x", "far", "y"]  # whole words, own and imported, then beginnings; no twin
    assert index.find("", "accessory") == own
    assert [part.name for part in index.find("zz9")] == ["Other"]
    assert index.find("link", "gpu") == []
    assert [part.name for part in index.find("link", limit=2)] == ["ACME Link 3", "ACME Link 9"]
    assert index.named_in("1x ACME Link 9, boxed").part == layers.get("opendb.accessory.far")
    assert index.named_in("ACME Linkage 7").part == own[1]
    assert index.find("14") == []


def test_a_number_is_not_found_as_the_end_of_a_longer_one() -> None:
    index = PartIndex([], _layers(_cable("ACME Disk 24tbx", "a"), _cable("ACME Disk x4tbx", "b")))
    assert [part.name for part in index.find("4tb")] == ["ACME Disk x4tbx"]


def test_a_part_comes_back_as_it_was_and_prices_of_files_are_on_it(catalog: Catalog) -> None:
    parts = list(catalog.parts.values())[::7]
    layers = Layers([Layer(layer_bytes("all", parts, catalog.sources))])
    assert [layers.get(part.id) for part in parts] == parts
    assert sorted(part.id for part in layers.all_parts()) == sorted(part.id for part in parts)
    assert layers.get("opendb.none.such") is None and layers.sources == catalog.sources
    price = Price(amount=5, currency="EUR", day="2026-11-01", source="shop")
    priced = layers.with_priced({parts[0].id: (price,)})
    assert (found := priced.get(parts[0].id)) and found.prices[-1] == price
    assert priced != layers


def _read_all(content: bytes) -> None:
    layer = Layer(content)
    layer.with_id("opendb.accessory.x")
    list(layer.holding([" link "]))
    layer.part(0)


def test_content_of_another_kind_is_a_fault() -> None:
    whole = layer_bytes("acme", [_cable("ACME Link", "x")], SOURCES)
    _read_all(whole)
    for content in (b"", b"abcdefgh", whole[:20], whole[:-4]):
        with pytest.raises((JsonFault, LookupError, ValueError)):
            _read_all(content)


def test_imports_are_read_from_their_binary_copy_until_the_file_changes() -> None:
    made = Import(seen=1, parts=(_cable("ACME Link", "x"),), sources=SOURCES, refused=())
    path = user_catalog.keep_import("acme", made)
    price = PriceFile(
        title="mine",
        prices=(
            PartPrice(
                part="opendb.accessory.x",
                price=Price(amount=5, currency="EUR", day="2026-11-01", source="shop"),
            ),
        ),
    )
    user_catalog.keep_prices("mine", price)
    copies = list(place("x").parent.glob("acme-*.bin"))
    assert len(copies) == 1
    for spoil in (
        lambda: None,
        lambda: copies[0].write_bytes(copies[0].read_bytes()[:-3] + b"xyz"),
    ):
        spoil()
        full = user_catalog.full_catalog()
        part = full.catalog.get("opendb.accessory.x")
        assert part is not None and part.name == "ACME Link" and part.prices[0].amount == 5
        assert "opendb.accessory.x" not in full.catalog.parts and full.faults == ()
        assert full.catalog.sources["acme"] == SOURCES["acme"]
    path.write_text(path.read_text().replace("ACME Link", "ACME Rope"))
    part = user_catalog.full_catalog().catalog.get("opendb.accessory.x")
    assert part is not None and part.name == "ACME Rope"
    path.write_text("{")
    full = user_catalog.full_catalog()
    assert not full.catalog.community and len(full.faults) == 1


def test_the_shipped_catalog_is_the_same_from_its_binary_copy() -> None:
    read = read_catalog(data_path("catalog"))
    for spoil in (None, None, b"RigPlanner binary 1\n", b""):
        if spoil is not None:
            place("shipped").write_bytes(spoil)
        assert shipped_catalog.__wrapped__() == read
    assert place("shipped").stat().st_size > 2**20


def _boards(catalog: Catalog) -> list[Motherboard]:
    return [b for b in catalog.of_kind("motherboard") if isinstance(b, Motherboard)]


def test_patterns_of_lanes_hold_for_each_shipped_board_left_out(catalog: Catalog) -> None:
    alike: dict[tuple[str, str], list[Motherboard]] = {}
    for board in _boards(catalog):
        if (key := _key(board)) is not None:
            alike.setdefault(key, []).append(board)
    told, wrong = 0, []
    for key, board in [(key, board) for key, boards in alike.items() for board in boards]:
        others = [each for each in alike[key] if each is not board]
        pattern = patterns(others).shared.get(key)
        if pattern is None:
            continue
        first = _wires(next(_of_size(board.layout, 16), None))
        small = [_wires(slot) for slot in _of_size(board.layout, 1)]
        for said, is_so in [(pattern.first, first), *((pattern.small, each) for each in small)]:
            if said is not None and is_so is not None:
                told += 1
                wrong += [board.id] if said != is_so else []
    assert told > 60 and len(wrong) <= told * 0.03, wrong


def test_lanes_are_inferred_only_where_shipped_boards_prove_them(catalog: Catalog) -> None:
    def board(vendor: str, name: str, socket: str, chipset: str, *sizes: int) -> Motherboard:
        slots = tuple(Slot(id=f"s{n}", mechanical=size) for n, size in enumerate(sizes))
        layout = Layout(sockets=(socket,), chipset=chipset, slots=slots)
        return Motherboard(id="opendb.motherboard.x", name=name, vendor=vendor, layout=layout)

    known = patterns(_boards(catalog))
    wired = with_lanes(board("X", "X B550 Thing", "AM4", "B550", 16, 16), known)
    assert isinstance(wired, Motherboard)
    assert _wires(wired.layout.slots[0]) == ("cpu0", 4, 16)
    assert wired.layout.slots[1].origin is None
    assert wired.doubts["layout.slots"].state == "inferred"
    for other in (
        board("X", "X B550 Thing Gen3", "AM4", "B550", 16),
        board("X", "X Thing", "AM4", "Nothing", 16),
        board("X", "X WS B550", "AM4", "B550", 16),
        board("X", "X Thing", "", "", 16),
    ):
        assert with_lanes(other, known) == other


def test_a_slot_of_unknown_wires_proves_nothing_and_one_of_others_denies() -> None:
    def board(n: int, origin: str | None, gen: int | None) -> Motherboard:
        slot = Slot(id="s", mechanical=16, origin=origin, gen=gen, width=16)
        layout = Layout(sockets=("AM4",), chipset="B550", slots=(slot,))
        return Motherboard(id=f"x.{n}", name=f"X B550 {n}", vendor="X", layout=layout)

    three = [board(n, "cpu0", 4) for n in range(3)]
    for more, first in (
        ([], ("cpu0", 4, 16)),
        ([board(3, None, 4), board(4, None, None)], ("cpu0", 4, 16)),
        ([board(3, None, 3)], None),
        ([board(3, "chipset", None)], None),
    ):
        assert patterns([*three, *more]).shared["AM4", "b550"].first == first
    unknown = board(3, None, 4)
    assert patterns([*three[:2], unknown]).shared["AM4", "b550"].first is None


FILES = {
    "LICENSE.txt": b"terms",
    "README.md": b"what it is",
    "open-db/CPUCooler/a.json": json.dumps(
        {"opendb_id": "aaaaaaaa", "metadata": {"name": "ACME Fan"}, "water_cooled": False}
    ).encode(),
    "open-db/Monitor/b.json": b'{"metadata": {"name": "ACME Screen"}}',
    "scripts/run.sh": b"#!/bin/sh",
}
PROVEN = {name: c for name, c in FILES.items() if name.startswith(("open-db", "L", "R"))}
SHA256 = hashlib.sha256(
    "".join(f"{n}\0{hashlib.sha256(c).hexdigest()}\n" for n, c in sorted(PROVEN.items())).encode()
).hexdigest()


def _zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"top/{name}", content)
    return packed.getvalue()


ANSWERS = {
    "/good.zip": _zip(FILES),
    "/other.zip": _zip({**FILES, "LICENSE.txt": b"other terms"}),
    "/more.zip": _zip({**FILES, "open-db/CPU/c.json": b"{}"}),
    "/bomb.zip": _zip({**FILES, "open-db/CPU/c.json": b" " * 2**21}),
    "/cut.zip": _zip(FILES)[:-40],
    "/page.zip": b"<html>",
    "/huge.zip": b"PK" + bytes(300_000),
}


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        content = ANSWERS.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")


@pytest.fixture
def server() -> Iterator[str]:
    """A server on this machine; its address."""
    served = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_address[1]}"
    served.shutdown()
    thread.join()
    served.server_close()


def test_the_database_is_fetched_proven_and_kept(server: str) -> None:
    stages = set()

    def told(stage: str, done: int, total: int | None) -> bool:
        stages.add(stage)
        return True

    assert community.status() is None and not community.remove()
    got = community.get(progress=told, url=f"{server}/good.zip", sha256=SHA256)
    assert [part.name for part in got.made.parts] == ["ACME Fan"]
    assert stages == {"fetch", "read", "convert"} and community.status() == got.stamp
    kept = user_catalog.user_folder() / "imported"
    assert (kept / "opendb-LICENSE.txt").read_bytes() == b"terms"
    catalog = user_catalog.full_catalog().catalog
    assert [part.name for part in catalog.community.all_parts()] == ["ACME Fan"]
    assert list(place("x").parent.glob("*.zip*")) == []
    assert community.remove() and community.status() is None
    assert not user_catalog.full_catalog().catalog.community


@pytest.mark.parametrize(
    "page", ["other.zip", "more.zip", "bomb.zip", "cut.zip", "page.zip", "huge.zip", "none.zip"]
)
def test_what_is_not_the_database_changes_nothing(server: str, page: str) -> None:
    community.get(url=f"{server}/good.zip", sha256=SHA256)
    stamp = community.status()
    limits = fetch.Limits(largest_bytes=200_000)
    with pytest.raises(fetch.FetchFault) as raised:
        community.get(url=f"{server}/{page}", sha256=SHA256, limits=limits)
    assert str(raised.value).count("\n") == 0 and page in str(raised.value)
    assert community.status() == stamp
    layers = user_catalog.full_catalog().catalog.community
    assert [part.name for part in layers.all_parts()] == ["ACME Fan"]
    assert list(place("x").parent.glob("*.zip*")) == []


@pytest.mark.parametrize("stage", ["fetch", "read", "convert"])
def test_stop_changes_nothing(server: str, stage: str) -> None:
    with pytest.raises(fetch.Stopped):
        community.get(
            progress=lambda now, _done, _all: now != stage,
            url=f"{server}/good.zip",
            sha256=SHA256,
        )
    assert community.status() is None and not user_catalog.full_catalog().catalog.community


def test_an_import_from_a_file_takes_the_place_of_what_was_fetched(
    server: str, tmp_path: Path
) -> None:
    community.get(url=f"{server}/good.zip", sha256=SHA256)
    made = Import(seen=1, parts=(_cable("ACME Link", "x"),), sources=SOURCES, refused=())
    user_catalog.keep_import("opendb", made)
    assert community.status() is None
    layers = user_catalog.full_catalog().catalog.community
    assert [part.name for part in layers.all_parts()] == ["ACME Link"]
