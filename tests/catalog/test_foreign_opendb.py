"""Import of OpenDB: lower trust, zeros unknown, lanes not believed, hostile files refused by name
while good ones come in."""

import json
import os
import stat
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import foreign_bench as bench
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.foreign import Cancelled, Import, Record
from rigplanner.catalog.imports import foreign_files
from rigplanner.catalog.imports.foreign_files import ForeignFault
from rigplanner.catalog.imports.foreign_opendb import read_opendb
from rigplanner.catalog.imports.foreign_shapes import SHAPES, edge, socket_name
from rigplanner.catalog.lint.lint import lint
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Chassis,
    Cooler,
    Doubt,
    MemoryKit,
    Motherboard,
    Plug,
    PowerSupply,
    Rating,
    Storage,
)

DAY = "2026-11-21"


def _read(folder: Path) -> Import:
    return read_opendb(folder, DAY)


def _one(folder: Path, category: str, **changes: Any) -> Any:
    bench.write_opendb(folder, category, {**deepcopy(bench.RECORDS[category]), **changes})
    (part,) = _read(folder).parts
    return part


def _reasons(made: Import) -> list[tuple[str, str, bool]]:
    return [(refusal.field, refusal.reason, refusal.lost) for refusal in made.refused]


def test_parts_are_of_lower_trust_and_sound(tmp_path: Path) -> None:
    for category, record in bench.RECORDS.items():
        bench.write_opendb(tmp_path, category, record)
    made = _read(tmp_path)
    assert (made.seen, len(made.parts), made.refused) == (8, 8, ())
    assert all(part.id.startswith("opendb.") for part in made.parts)
    assert {source.trust for source in made.sources.values()} == {"community"}
    assert {source.read for source in made.sources.values()} == {DAY}
    assert all(set(part.sources) <= set(made.sources) for part in made.parts)
    assert lint(Catalog({part.id: part for part in made.parts}, made.sources)) == []


def test_a_card(tmp_path: Path) -> None:
    card = _one(tmp_path, "GPU")
    assert isinstance(card, GPU)
    assert card.id == "opendb.gpu.acme-storm-geforce-rtx-4090-oc-3f2a9c10"
    assert (card.vendor, card.aliases, card.released) == (
        "ACME",
        ("AC-4090-OC", "GeForce RTX 4090"),
        "2023",
    )
    assert (card.edge_gen, card.edge_width, card.slots, card.length_mm) == (4, 16, 3.5, 348.2)
    assert (card.memory_gib, card.memory_rate_gbps, card.display_outputs) == (24, 21, 5)
    assert card.connectors == (Plug("12vhpwr", 1),)
    assert (card.bandwidth_gbs, card.nvlink, card.has_nvlink) == (None, None, None)


def test_notes_beside_counts_are_no_outputs(tmp_path: Path) -> None:
    outputs = {"hdmi_2_1": 1, "displayport_2_1": 3, "_note": "DisplayPort runs at UHBR 13.5"}
    bench.write_opendb(
        tmp_path, "GPU", {**deepcopy(bench.RECORDS["GPU"]), "video_outputs": outputs}
    )
    made = _read(tmp_path)
    assert (made.parts[0].display_outputs, made.refused) == (4, ())


def test_a_supply_for_atx_and_eps_boards_is_an_atx_one(tmp_path: Path) -> None:
    assert _one(tmp_path, "PSU", form_factor="ATX/EPS").form_factor == "ATX"


def test_no_connector_at_all_is_unknown(tmp_path: Path) -> None:
    assert (
        _one(
            tmp_path, "GPU", power_connectors={"pcie_6_pin": 0, "pcie_8_pin": 0, "pcie_12VHPWR": 0}
        ).connectors
        is None
    )


def test_the_size_of_a_slot_is_not_its_lanes(tmp_path: Path) -> None:
    board = _one(tmp_path, "Motherboard")
    assert isinstance(board, Motherboard)
    assert [slot.mechanical for slot in board.layout.slots] == [16, 16, 16]
    assert all(
        (slot.width, slot.gen, slot.origin, slot.position) == (None, None, None, None)
        for slot in board.layout.slots
    )
    assert board.doubts["layout"].values == ("3 x16 PCIe 4.0",)
    assert [
        (port.kind, port.width, port.gen, port.lengths_mm, port.count)
        for port in board.layout.drives
    ] == [
        ("m2", None, None, (80, 110), 1),
        ("sata", None, None, (), 4),
    ]
    assert (board.layout.chipset, board.layout.sockets, board.layout.eps8) == ("X670E", ("AM5",), 2)
    assert board.layout.memory_modules == ()


def test_a_supply_with_all_its_plugs(tmp_path: Path) -> None:
    supply = _one(tmp_path, "PSU")
    assert isinstance(supply, PowerSupply)
    assert supply.supply.ratings == (Rating(200.0, 1600.0),)
    assert supply.supply.plugs is not None
    assert {plug.type: plug.count for plug in supply.supply.plugs} == {
        "eps8": 2,
        "pcie8": 8,
        "12vhpwr": 2,
        "sata": 12,
        "molex": 4,
    }


@pytest.mark.parametrize("missing", ["eps_8_pin", "pcie_6_plus_2_pin", "pcie_12vhpwr"])
@pytest.mark.parametrize("nothing", [0, None])
def test_plugs_that_are_not_whole_are_unknown(
    tmp_path: Path, missing: str, nothing: int | None
) -> None:
    part = _one(tmp_path, "PSU", connectors={**bench.PSU["connectors"], missing: nothing})
    assert part.supply.plugs is None
    assert isinstance(part.doubts["supply.plugs"], Doubt)
    assert len(part.doubts["supply.plugs"].values) == 4


def test_an_old_supply_has_no_new_plug(tmp_path: Path) -> None:
    connectors = {**bench.PSU["connectors"], "pcie_12vhpwr": 0}  # type: ignore[dict-item]
    part = _one(
        tmp_path,
        "PSU",
        connectors=connectors,
        metadata={**bench.PSU["metadata"], "releaseYear": 2019},
    )  # type: ignore[dict-item]
    assert "12vhpwr" not in {plug.type for plug in part.supply.plugs}


def test_the_other_kinds(tmp_path: Path) -> None:
    for category in ("CPU", "RAM", "Storage", "PCCase", "CPUCooler"):
        bench.write_opendb(tmp_path, category, bench.RECORDS[category])
    parts = {type(part): part for part in _read(tmp_path).parts}
    cpu, kit, drive, case, cooler = (
        parts[CPU],
        parts[MemoryKit],
        parts[Storage],
        parts[Chassis],
        parts[Cooler],
    )
    assert isinstance(cpu, CPU)
    assert (cpu.socket, cpu.cores, cpu.max_power_w, cpu.lanes, cpu.has_graphics) == (
        "LGA1700",
        24,
        253,
        None,
        True,
    )
    assert isinstance(kit, MemoryKit)
    assert (kit.type, kit.module, kit.modules, kit.module_gib, kit.ecc) == (
        "DDR5",
        "rdimm",
        2,
        16,
        True,
    )
    assert isinstance(drive, Storage)
    assert (drive.form_factor, drive.interface, drive.gen, drive.width, drive.m2_length_mm) == (
        "m2",
        "nvme",
        4,
        4,
        80,
    )
    assert isinstance(case, Chassis)
    assert case.enclosure.board_form_factors == ("E-ATX", "SSI-EEB", "ATX")
    assert (case.enclosure.slot_columns, case.enclosure.psu_length_mm) == (9, None)
    assert isinstance(cooler, Cooler)
    assert (cooler.type, cooler.sockets) == ("air", ("AM5", "LGA1700", "LGA2011"))


def test_words_of_sockets_and_edges() -> None:
    assert socket_name("2 x LGA 2011-3 Narrow") == ("LGA2011-3", "LGA2011-3")
    assert socket_name("Integrated Atom") == ()
    assert (edge("PCIe x16"), edge("PCIe 5.0 x8"), edge(None)) == ((None, 16), (5, 8), (None, None))


def _bytes(record: dict[str, Any], **changes: object) -> bytes:
    return json.dumps({**record, **changes}).encode()


HOSTILE: dict[str, tuple[bytes, str, str]] = {
    "wrong-encoding": (_bytes(bench.GPU).decode().encode("utf-16"), "", "encoding"),
    "latin": ('{"metadata": {"name": "Kühler"}}'.encode("latin-1"), "", "encoding"),
    "nested": (b"[" * 100_000 + b"]" * 100_000, "", "nested"),
    "nested-object": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "", "nested"),
    "cut": (_bytes(bench.GPU)[:-20], "", "not-json"),
    "empty": (b"", "", "not-json"),
    "list": (b"[]", "", "not-object"),
    "number": (b"12", "", "not-object"),
    "null": (b"null", "", "not-object"),
    "digits": (b'{"tdp": ' + b"9" * 10_000 + b"}", "", "number"),
    "pickle": (b"\x80\x04\x95\x00.", "", "pickle"),
    "no-name": (_bytes(bench.GPU, metadata={"manufacturer": "ACME"}), "metadata.name", "missing"),
    "no-metadata": (_bytes(bench.GPU, metadata=None), "metadata.name", "missing"),
    "list-metadata": (_bytes(bench.GPU, metadata=["x"]), "metadata.name", "missing"),
    "script": (
        _bytes(bench.GPU, metadata={"name": "<script>alert(1)</script>"}),
        "metadata.name",
        "markup",
    ),
    "entities": (
        _bytes(bench.GPU, metadata={"name": "&lt;img src=x&gt; card"}),
        "metadata.name",
        "markup",
    ),
    "control": (
        _bytes(bench.GPU, metadata={"name": "Card\x1b[31m"}),
        "metadata.name",
        "characters",
    ),
    "direction": (
        _bytes(bench.GPU, metadata={"name": "Card \u202egnp.exe"}),
        "metadata.name",
        "characters",
    ),
    "surrogate": (b'{"metadata": {"name": "Card \\ud800"}}', "metadata.name", "characters"),
    "long-name": (_bytes(bench.GPU, metadata={"name": "x" * 10_000}), "metadata.name", "too-long"),
    "number-name": (_bytes(bench.GPU, metadata={"name": 7}), "metadata.name", "type"),
    "huge": (b" " * (foreign_files.LARGEST_FILE_BYTES + 1), "", "too-large"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_named_and_the_good_one_comes_in(tmp_path: Path, case: str) -> None:
    content, field, reason = HOSTILE[case]
    bench.write_opendb(tmp_path, "GPU", bench.GPU, "good")
    hostile = bench.write_opendb(tmp_path, "GPU", content, case)
    made = _read(tmp_path)
    assert len(made.parts) == 1
    refusals = [
        refusal
        for refusal in made.refused
        if refusal.file == hostile.relative_to(tmp_path).as_posix()
    ]
    assert (field, reason) in [(refusal.field, refusal.reason) for refusal in refusals]
    assert any(refusal.lost for refusal in refusals)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1e400", "number"),
        ("-1e400", "number"),
        ("NaN", "number"),
        ("-5", "range"),
        ("77000", "range"),
        ('"450 W"', "type"),
        ("true", "type"),
        ("[450]", "type"),
        ("{}", "type"),
    ],
)
def test_a_strange_value_costs_the_field_only(tmp_path: Path, text: str, reason: str) -> None:
    bench.write_opendb(
        tmp_path, "GPU", _bytes(bench.GPU, tdp="TDP").replace(b'"TDP"', text.encode())
    )
    made = _read(tmp_path)
    (card,) = made.parts
    assert isinstance(card, GPU)
    assert (card.tdp_w, card.length_mm) == (None, 348.2)
    assert _reasons(made) == [("tdp", reason, False)]


def test_files_of_other_kinds_are_counted(tmp_path: Path) -> None:
    bench.write_opendb(tmp_path, "Keyboard", bench.GPU)
    bench.write_opendb(tmp_path, "GPU", bench.GPU, "good")
    (tmp_path / "open-db" / "GPU" / "readme.txt").write_text("no part")
    (tmp_path / "data.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config.json").write_text("{}")
    made = _read(tmp_path)
    assert (made.seen, len(made.parts)) == (4, 1)
    assert sorted(reason for _, reason, _ in _reasons(made)) == ["kind", "kind", "pickle"]


def test_the_same_part_twice_is_told(tmp_path: Path) -> None:
    bench.write_opendb(tmp_path, "GPU", bench.GPU, "one")
    bench.write_opendb(tmp_path, "GPU", bench.GPU, "two")
    made = _read(tmp_path)
    assert (len(made.parts), _reasons(made)) == (1, [("opendb_id", "duplicate", True)])


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes(_bytes(bench.GPU))
    folder = tmp_path / "data"
    bench.write_opendb(folder, "GPU", bench.GPU, "good")
    (folder / "open-db" / "GPU" / "link.json").symlink_to(secret)
    (folder / "open-db" / "PSU").symlink_to(folder / "open-db")
    os.mkfifo(folder / "open-db" / "GPU" / "pipe.json")
    made = _read(folder)
    assert len(made.parts) == 1
    assert sorted(reason for _, reason, _ in _reasons(made)) == [
        "special-file",
        "symlink",
        "symlink",
    ]


def _zip(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


GOOD = ("open-db/GPU/good.json", _bytes(bench.GPU))


def test_a_zip_reads_as_the_folder_does(tmp_path: Path) -> None:
    bench.write_opendb(tmp_path / "data", "GPU", bench.GPU, "good")
    assert _read(_zip(tmp_path / "data.zip", GOOD)) == _read(tmp_path / "data")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("../open-db/GPU/out.json", GOOD[1], "path"),
        ("/open-db/GPU/out.json", GOOD[1], "path"),
        ("open-db\\GPU\\..\\out.json", GOOD[1], "path"),
        ("C:/open-db/GPU/out.json", GOOD[1], "path"),
        ("open-db/GPU/bomb.json", b" " * 900_000, "zip-ratio"),
        ("open-db/GPU/huge-bomb.json", b" " * 50_000_000, "zip-ratio"),
        ("open-db/GPU/inner.zip", b"PK\x03\x04", "kind"),
    ],
)
def test_a_hostile_member_is_named_and_the_good_one_comes_in(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    made = _read(_zip(tmp_path / "data.zip", GOOD, (name, content)))
    assert len(made.parts) == 1
    assert [(refusal.file, refusal.reason) for refusal in made.refused] == [(name, reason)]


def test_a_link_in_a_zip_is_not_followed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("open-db/GPU/link.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    made = _read(_zip(tmp_path / "data.zip", GOOD, (link, b"/etc/passwd")))
    assert _reasons(made) == [("", "symlink", True)]


def test_a_member_that_lies_about_its_size_is_damaged(tmp_path: Path) -> None:
    path = _zip(tmp_path / "data.zip", GOOD, ("open-db/GPU/liar.json", b" " * 60_000))
    content = bytearray(path.read_bytes())
    header = content.rindex(b"PK\x01\x02")
    content[header + 24 : header + 28] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    made = _read(path)
    assert len(made.parts) == 1
    assert [refusal.reason for refusal in made.refused] in (["damaged"], ["not-json"])


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    noise = _bytes(bench.PSU)
    path = _zip(tmp_path / "data.zip", GOOD, ("open-db/PSU/torn.json", noise))
    content = bytearray(path.read_bytes())
    place = content.index(b"torn.json") + len("torn.json") + 10
    content[place : place + 20] = b"\xff" * 20
    path.write_bytes(content)
    made = _read(path)
    assert [(refusal.file, refusal.reason) for refusal in made.refused] == [
        ("open-db/PSU/torn.json", "damaged")
    ]


def test_limits_of_number_and_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        bench.write_opendb(
            tmp_path, "GPU", {**bench.GPU, "opendb_id": f"{number}aaaaaaa"}, str(number)
        )
    size = len(_bytes(bench.GPU))
    monkeypatch.setattr(foreign_files, "LARGEST_TOTAL_BYTES", int(2.5 * size))
    made = _read(tmp_path)
    assert (len(made.parts), _reasons(made)) == (2, [("", "total-size", True)])
    monkeypatch.setattr(foreign_files, "LARGEST_TOTAL_BYTES", 10**9)
    monkeypatch.setattr(foreign_files, "MOST_FILES", 3)
    made = _read(tmp_path)
    assert (len(made.parts), _reasons(made)) == (3, [("", "too-many", True)])


@pytest.mark.parametrize("zipped", [False, True])
def test_progress_and_cancel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zipped: bool) -> None:
    monkeypatch.setattr(foreign_files, "PROGRESS_EVERY", 2)
    for number in range(6):
        bench.write_opendb(
            tmp_path / "data", "GPU", {**bench.GPU, "opendb_id": f"{number}aaaaaaa"}, str(number)
        )
    members = [
        (path.relative_to(tmp_path / "data").as_posix(), path.read_bytes())
        for path in (tmp_path / "data").rglob("*.json")
    ]
    place = _zip(tmp_path / "data.zip", *members) if zipped else tmp_path / "data"
    told: list[tuple[int, int]] = []
    read_opendb(place, DAY, lambda done, total: told.append((done, total)) is None)
    assert told == [(0, 6), (2, 6), (4, 6), (6, 6)]
    with pytest.raises(Cancelled):
        read_opendb(place, DAY, lambda done, total: done < 4)


def test_a_place_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ForeignFault, match="no such"):
        _read(tmp_path / "nowhere")
    (tmp_path / "file.json").write_bytes(b"{}")
    with pytest.raises(ForeignFault, match="neither a folder nor a zip"):
        _read(tmp_path / "file.json")
    (tmp_path / "cut.zip").write_bytes(
        _zip(tmp_path / "data.zip", GOOD).read_bytes().replace(b"PK\x01\x02", b"PK!!")
    )
    with pytest.raises(ForeignFault, match="damaged"):
        _read(tmp_path / "cut.zip")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(category=st.sampled_from(sorted(bench.RECORDS)), data=st.data())
def test_whatever_stands_in_a_field_the_part_is_made_or_refused_by_name(
    category: str, data: st.DataObject
) -> None:
    record = deepcopy(bench.RECORDS[category])
    field = data.draw(st.sampled_from(sorted(set(record) - {"metadata"})))
    record[field] = data.draw(JUNK)
    reader = Record("file", record)
    fields = SHAPES[category].read(reader)
    assert fields is not None or any(refusal.lost for refusal in reader.refused)
