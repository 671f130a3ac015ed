"""What the computer at hand says of itself, as far as Linux tells it without special rights; and
the rig of the parts that facts name."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.find.gpu_names import GpuNames, shipped_pci_ids
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Part
from rigplanner.machine.formats.facts import Fact, counted, facts_of_query
from rigplanner.machine.formats.smi_query import QueryFault
from rigplanner.rig.document import Item, Rig

LARGEST_FILE = 2**22
PATIENCE_S = 20.0
PLAIN_WORDS = re.compile(
    r"\((?:r|tm)\)|\bcpu\b|\bprocessor\b|\d+-core\b|@.*$|\bcorporation\b|\binc\.?\b|\bco\.,?"
    r" ltd\.?|\bcomputer\b",
    re.IGNORECASE,
)
"""Words in firmware and driver names that no catalog has."""


class Recognised(Struct, frozen=True):
    """The rig of the parts that the catalog knows, and the facts that it does not."""

    rig: Rig
    unmatched: tuple[Fact, ...]


def read_this_machine(
    root: Path = Path("/"), query: Callable[[], str] | None = None
) -> tuple[Fact, ...]:
    """Return what is found under /proc and /sys, and by nvidia-smi where it is installed; nothing
    is found on other systems. `root` and `query` (the text of `nvidia-smi -q`) stand in for the
    machine in tests."""
    return counted(
        [
            *_boards(root),
            *_cpus(root),
            *_memory(root),
            *_gpus(root, query or _ask_nvidia_smi),
            *_drives(root),
        ]
    )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _boards(root: Path) -> list[Fact]:
    folder = root / "sys/class/dmi/id"
    facts: list[Fact] = []
    for kind, vendor, name in (
        ("system", "sys_vendor", "product_name"),
        ("motherboard", "board_vendor", "board_name"),
    ):
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
        return list(facts_of_query(query()))
    except QueryFault:
        pass
    folders = sorted((root / "proc/driver/nvidia/gpus").glob("*/information"))
    models = [re.search(r"^Model:\s*(.+)$", _text(path), flags=re.MULTILINE) for path in folders]
    return [Fact("gpu", match[1].strip()) for match in models if match]


def _ask_nvidia_smi() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "-q"], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _drives(root: Path) -> list[Fact]:
    facts: list[Fact] = []
    for device in sorted((root / "sys/block").glob("*")):
        model, sectors = _text(device / "device/model"), _text(device / "size")
        if (
            model
            and sectors.isdigit()
            and int(sectors)
            and not device.name.startswith(("loop", "ram", "sr", "zram"))
        ):
            facts.append(Fact("storage", model, 1, f"{round(int(sectors) * 512 / 1e9)} GB"))
    return facts


def recognise(facts: tuple[Fact, ...], catalog: Catalog, name: str = "This machine") -> Recognised:
    """Return the rig of the facts that the catalog knows by name. A system takes the place of its
    board; memory has no model, so it stays unmatched."""
    items: list[Item] = []
    unmatched: list[Fact] = []
    index = index_of(catalog)
    names = GpuNames(
        (part for part in catalog.of_kind("gpu") if isinstance(part, GPU)), shipped_pci_ids()
    )
    for fact in facts:
        part = (
            names.meaning(fact.name).gpu
            if fact.kind == "gpu"
            else None
            if fact.kind == "memory"
            else _match(index, fact)
        )
        if part is None:
            unmatched.append(fact)
            continue
        stem = {"motherboard": "board"}.get(fact.kind, fact.kind)
        uid = stem + str(sum(item.uid.startswith(stem) for item in items) or "")
        items.append(
            Item(
                uid=uid,
                part=part.id,
                quantity=fact.count,
                note=fact.detail,
                power_cap_w=_cap(part, fact),
            )
        )
    whole = next((item for item in items if item.uid.startswith("system")), None)
    kept = [item for item in items if whole is None or not item.uid.startswith("board")]
    return Recognised(Rig(name=name, items=tuple(kept)), tuple(unmatched))


def _cap(part: Part, fact: Fact) -> float | None:
    """Return a GPU's limit where its owner set it below the maker's, else None."""
    lowered = (
        isinstance(part, GPU)
        and fact.limit_w is not None
        and part.tdp_w is not None
        and fact.limit_w < part.tdp_w
    )
    return fact.limit_w if lowered else None


def _match(index: PartIndex, fact: Fact) -> Part | None:
    """Return the part whose name holds all words, or all but the first ones; words without a
    number of two signs name no model: "DRIVE 1" is any drive of 1 TB."""
    words = PLAIN_WORDS.sub(" ", fact.name).split()
    for skip in range(min(3, len(words))):
        named = any(len(word) > 1 and re.search(r"\d", word) for word in words[skip:])
        if named and (found := index.find(" ".join(words[skip:]), fact.kind, 1)):
            return found[0]
    return None
