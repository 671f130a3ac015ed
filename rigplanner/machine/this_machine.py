"""The computer this program runs on, as far as Linux tells it without special rights, and the rig of the parts it names."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.find import PartIndex
from rigplanner.catalog.load import Catalog
from rigplanner.machine.smi_query import QueryFault, parse_query
from rigplanner.rig.document import Item, Rig

LARGEST_FILE = 2**22
PATIENCE_S = 20.0
PLAIN_WORDS = re.compile(
    r"\((?:r|tm)\)|\bcpu\b|\bprocessor\b|\d+-core\b|@.*$|\bcorporation\b|\binc\.?\b|\bco\.,? ltd\.?|\bcomputer\b",
    re.IGNORECASE,
)
"""Words in firmware and driver names that no catalog has."""

Kind = Literal["system", "motherboard", "cpu", "gpu", "storage", "memory"]


class Fact(Struct, frozen=True):
    """Something found: its kind, its name as the machine says it, how many, and details (bus address, link, size)."""

    kind: Kind
    name: str
    count: int = 1
    detail: str = ""


class Recognised(Struct, frozen=True):
    """The rig of the parts that the catalog knows, and the facts that it does not."""

    rig: Rig
    unmatched: tuple[Fact, ...]


def read_this_machine(root: Path = Path("/"), query: Callable[[], str] | None = None) -> tuple[Fact, ...]:
    """Return what is found under /proc and /sys, and by nvidia-smi where it is installed; nothing is found on other systems.
    `root` and `query` (the text of `nvidia-smi -q`) stand in for the machine in tests."""
    facts = [*_boards(root), *_cpus(root), *_memory(root), *_gpus(root, query or _ask_nvidia_smi), *_drives(root)]
    counts: dict[tuple[Kind, str, str], int] = {}
    for fact in facts:
        key = (fact.kind, fact.name, fact.detail)
        counts[key] = counts.get(key, 0) + fact.count
    return tuple(Fact(kind, name, count, detail) for (kind, name, detail), count in counts.items())


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _boards(root: Path) -> list[Fact]:
    folder = root / "sys/class/dmi/id"
    facts: list[Fact] = []
    for kind, vendor, name in (("system", "sys_vendor", "product_name"), ("motherboard", "board_vendor", "board_name")):
        words = f"{_text(folder / vendor)} {_text(folder / name)}".strip()
        if _text(folder / name):
            facts.append(Fact("system" if kind == "system" else "motherboard", words))
    return facts


def _cpus(root: Path) -> list[Fact]:
    models: dict[str, str] = {}
    for block in _text(root / "proc/cpuinfo").split("\n\n"):
        fields = dict(re.findall(r"^([^\t:]+)\t*: ?(.*)$", block, flags=re.MULTILINE))
        if "model name" in fields:
            models[fields.get("physical id", "0")] = fields["model name"]
    return [Fact("cpu", name) for name in models.values()]


def _memory(root: Path) -> list[Fact]:
    match = re.search(r"MemTotal:\s+(\d+) kB", _text(root / "proc/meminfo"))
    return [Fact("memory", f"{round(int(match[1]) / 2**20)} GiB")] if match else []


def _gpus(root: Path, query: Callable[[], str]) -> list[Fact]:
    try:
        found = parse_query(query())
        return [Fact("gpu", gpu.name, 1, _link(*gpu.link_max)) for gpu in found if gpu.name]
    except QueryFault:
        pass
    folders = sorted((root / "proc/driver/nvidia/gpus").glob("*/information"))
    models = [re.search(r"^Model:\s*(.+)$", _text(path), flags=re.MULTILINE) for path in folders]
    return [Fact("gpu", match[1].strip()) for match in models if match]


def _link(gen: int | None, width: int | None) -> str:
    return f"PCIe {gen} x{width}" if gen is not None and width is not None else ""


def _ask_nvidia_smi() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    try:
        done = subprocess.run([program, "-q"], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _drives(root: Path) -> list[Fact]:
    facts: list[Fact] = []
    for device in sorted((root / "sys/block").glob("*")):
        model, sectors = _text(device / "device/model"), _text(device / "size")
        if model and sectors.isdigit() and int(sectors) and not device.name.startswith(("loop", "ram", "sr", "zram")):
            facts.append(Fact("storage", model, 1, f"{round(int(sectors) * 512 / 1e9)} GB"))
    return facts


def recognise(facts: tuple[Fact, ...], catalog: Catalog, name: str = "This machine") -> Recognised:
    """Return the rig of the facts that the catalog knows by name. A system takes the place of its board; memory has no model, so
    it stays unmatched."""
    items: list[Item] = []
    unmatched: list[Fact] = []
    index = PartIndex(catalog.parts.values())
    for fact in facts:
        part = None if fact.kind == "memory" else _match(index, fact)
        if part is None:
            unmatched.append(fact)
            continue
        stem = {"motherboard": "board"}.get(fact.kind, fact.kind)
        uid = stem + str(sum(item.uid.startswith(stem) for item in items) or "")
        items.append(Item(uid=uid, part=part, quantity=fact.count, note=fact.detail))
    whole = next((item for item in items if item.uid.startswith("system")), None)
    kept = [item for item in items if whole is None or not item.uid.startswith("board")]
    return Recognised(Rig(name=name, items=tuple(kept)), tuple(unmatched))


def _match(index: PartIndex, fact: Fact) -> str | None:
    """Return the id of the part whose name holds all words, or all but the first ones; words without a number name no model."""
    words = PLAIN_WORDS.sub(" ", fact.name).split()
    for skip in range(min(3, len(words))):
        query = " ".join(words[skip:])
        found = index.find(query, fact.kind, 1) if any(letter.isdigit() for letter in query) else []
        if found:
            return found[0].id
    return None
