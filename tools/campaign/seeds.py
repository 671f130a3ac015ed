"""Good files of every kind that RigPlanner reads, small, and the commands that read them."""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from rigplanner.data import data_path


class Seed(Struct, frozen=True):
    """One good file: `name` gives its ending; FILE in `commands` stands for it, OUT for a file to
    write. `reads`, where there is no command, is called with the path."""

    name: str
    content: bytes
    commands: tuple[tuple[str, ...], ...] = ()
    reads: Callable[[Path], object] | None = None


RIG = (
    ("check", "FILE"),
    ("check", "FILE", "--format", "json"),
    ("export", "FILE", "--format", "markdown"),
    ("export", "FILE", "--format", "csv"),
    ("export", "FILE", "--format", "json"),
    ("topology", "FILE"),
    ("quote", "FILE", "-o", "OUT.pdf"),
    ("compare", "FILE", "FILE"),
    ("performance", "FILE"),
    ("memory", "FILE"),
)
MODEL = (("memory", "FILE", "--gpu", "RTX 4090"), ("performance", "FILE", "--gpu", "RTX 4090"))
CASES = (("memory", "FILE"), ("performance", "FILE"), ("validate", "FILE"))
ROWS = (
    ("validate", "FILE"),
    ("performance", "resnet-50", "--gpu", "RTX 3090", "--measurements", "FILE"),
)
LINKS = "--gpu", "RTX 3090"
IMPORT = "catalog", "import"
GOOD: dict[str, tuple[tuple[str, ...], ...]] = {
    "llama-config.json": MODEL,
    "bert-config.json": MODEL,
    "vit-config.json": MODEL,
    "unet-config.json": MODEL,
    "mixtral-config.json": MODEL,
    "cases.jsonl": CASES,
    "measured.jsonl": CASES[2:],
    "traced.jsonl": CASES[2:],
    "speeds.jsonl": ROWS,
    "speeds.csv": ROWS,
    "prices.csv": ((*IMPORT, "csv", "FILE", "--dry-run"),),
    "list.txt": ((*IMPORT, "list", "FILE", "-o", "OUT.rig"),),
    "coolpc.html": ((*IMPORT, "coolpc", "FILE", "--dry-run"),),
    "cpu.json": ((*IMPORT, "pc-part-dataset", "FILE", "--dry-run"),),
    "topo.txt": (("topology", "--nvidia-smi", "FILE", *LINKS),),
    "lspci.txt": (
        ("topology", "--lspci", "FILE", *LINKS),
        ("new", "--lspci", "FILE", "-o", "OUT.rig"),
    ),
    "hwloc.xml": (
        ("topology", "--hwloc", "FILE", *LINKS),
        ("new", "--hwloc", "FILE", "-o", "OUT.rig"),
    ),
    "query.txt": (("new", "--query", "FILE", "-o", "OUT.rig"),),
}
"""Files of the folder `good` and the commands that read them."""


def _zipped(names: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in names.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content)
    return made.getvalue()


def _safetensors() -> bytes:
    tensors = {"model.embed.weight": {"dtype": "F16", "shape": [8, 4], "data_offsets": [0, 64]}}
    header = json.dumps({"__metadata__": {"format": "pt"}, **tensors}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(64)


GGUF_KEYS = {
    "block_count": 4,
    "embedding_length": 256,
    "feed_forward_length": 512,
    "attention.head_count": 4,
    "context_length": 2048,
}


def _gguf() -> bytes:
    def text(word: str) -> bytes:
        return struct.pack("<Q", len(word)) + word.encode()

    keys = text("general.architecture") + struct.pack("<I", 8) + text("llama")
    for name, value in GGUF_KEYS.items():
        keys += text(f"llama.{name}") + struct.pack("<II", 4, value)
    tensor = text("token_embd.weight") + struct.pack("<IQQIQ", 2, 256, 1000, 1, 0)
    return b"GGUF" + struct.pack("<IQQ", 3, 1, 6) + keys + tensor + bytes(64)


def _opendb() -> bytes:
    record = {
        "opendb_id": "0b7c8f5e-0000-4000-8000-000000000001",
        "metadata": {"name": "GeForce RTX 3090", "manufacturer": "NVIDIA"},
        "chipset": "GeForce RTX 3090",
        "memory": 24,
        "tdp": 350,
        "length": 313,
    }
    return _zipped({"open-db/GPU/a.json": json.dumps(record).encode()})


def _workbook() -> bytes:
    from openpyxl import Workbook

    book, made = Workbook(), io.BytesIO()
    for line in (["Part", "Quantity", "Price"], ["RTX 3090", 2, 800], ["Ryzen 9 5950X", 1, 450]):
        book.active.append(line)
    book.save(made)
    return made.getvalue()


def _own_part() -> bytes:
    """Two parts of a family of the catalog."""
    family = json.loads((data_path("catalog") / "gpu" / "geforce-10.json").read_bytes())
    family["parts"] = family["parts"][:2]
    return json.dumps(family).encode()


def _saved(path: Path) -> bytes:
    """A rig as it is saved: with a snapshot of its parts."""
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.rig.files import encode_rig, read_rig, with_snapshot

    return encode_rig(with_snapshot(read_rig(path), shipped_catalog()))


def _nccl(path: Path) -> bytes:
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.machine.formats.nccl_xml import nccl_xml
    from rigplanner.rig.files import read_rig
    from rigplanner.rules.assess import machine_of

    return nccl_xml(machine_of(read_rig(path), shipped_catalog())).encode()


def _preferences(path: Path) -> object:
    from rigplanner.desktop.document.preferences import PreferenceStore, begin

    return begin(PreferenceStore(path).now)


def _journal(path: Path) -> object:
    from rigplanner.rig.journal import left_behind

    return left_behind(path.parent)


def _workbook_list(path: Path) -> object:
    from rigplanner.rig.from_text.workbook_list import parts_list_of_workbook

    try:
        return parts_list_of_workbook(path.read_bytes())
    except ValueError as fault:
        return fault


def _own(place: str) -> Callable[[Path], object]:
    """Read a file as one of the user's catalog."""
    from rigplanner.catalog.imports.user_catalog import full_catalog, newest_rates, user_folder

    def read(path: Path) -> object:
        target = user_folder() / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
        try:
            return full_catalog().faults, newest_rates()
        finally:
            target.unlink()

    return read


def seeds() -> list[Seed]:
    """Return all seeds."""
    good = Path(__file__).parent / "good"
    rigs = sorted((data_path("resources") / "samples").glob("*.rig"))
    pair = next(path for path in rigs if path.stem == "dual-rtx-3090")
    head = b'{"document":"/a/b.rig","process":1}\n'
    return [
        *(Seed(path.name, path.read_bytes(), RIG) for path in rigs),
        *(Seed(f"saved-{path.name}", _saved(path), RIG) for path in rigs[2:5]),
        *(Seed(name, (good / name).read_bytes(), commands) for name, commands in GOOD.items()),
        Seed("nccl.xml", _nccl(pair), (("topology", "--nccl", "FILE", *LINKS),)),
        Seed(
            "nccl.log",
            (good / "nccl.log").read_bytes(),
            (("topology", str(pair), "--read", "FILE"),),
        ),
        Seed("opendb.zip", _opendb(), ((*IMPORT, "opendb", "FILE", "--dry-run"),)),
        Seed("parts.json", _own_part(), ((*IMPORT, "parts", "FILE", "--dry-run"),)),
        Seed("model.safetensors", _safetensors(), MODEL),
        Seed("model.gguf", _gguf(), MODEL),
        Seed("list.xlsx", _workbook(), reads=_workbook_list),
        Seed("a.journal", head + pair.read_bytes(), reads=_journal),
        Seed("preferences.json", (good / "preferences.json").read_bytes(), reads=_preferences),
        Seed("own.json", _own_part(), reads=_own("own.json")),
        Seed("shop.json", (good / "shop.json").read_bytes(), reads=_own("prices/shop.json")),
        Seed("rates.xml", (good / "rates.xml").read_bytes(), reads=_own("rates.xml")),
    ]
