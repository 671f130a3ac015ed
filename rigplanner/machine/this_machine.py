"""What a computer says of itself: the one at hand, as far as Linux tells it without special rights, or another by captured text;
and the rig of the parts that it names."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.find import PartIndex
from rigplanner.catalog.gpu_names import GpuNames, shipped_pci_ids
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU, Part
from rigplanner.machine.formats.hwloc_xml import read_hwloc
from rigplanner.machine.formats.lspci_tree import parse_lspci
from rigplanner.machine.formats.pci_paths import PciDevice, nvidia_gpus
from rigplanner.machine.formats.smi_query import QueryFault, parse_query
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
    """Something found: its kind, its name as the machine says it, how many, and details (bus address, link, size). A GPU may run
    under a power limit in watts."""

    kind: Kind
    name: str
    count: int = 1
    detail: str = ""
    limit_w: float | None = None


class Recognised(Struct, frozen=True):
    """The rig of the parts that the catalog knows, and the facts that it does not."""

    rig: Rig
    unmatched: tuple[Fact, ...]


def read_this_machine(root: Path = Path("/"), query: Callable[[], str] | None = None) -> tuple[Fact, ...]:
    """Return what is found under /proc and /sys, and by nvidia-smi where it is installed; nothing is found on other systems.
    `root` and `query` (the text of `nvidia-smi -q`) stand in for the machine in tests."""
    return _counted([*_boards(root), *_cpus(root), *_memory(root), *_gpus(root, query or _ask_nvidia_smi), *_drives(root)])


def _counted(facts: list[Fact]) -> tuple[Fact, ...]:
    """Return equal facts once, with their number."""
    counts: dict[tuple[Kind, str, str, float | None], int] = {}
    for fact in facts:
        key = (fact.kind, fact.name, fact.detail, fact.limit_w)
        counts[key] = counts.get(key, 0) + fact.count
    return tuple(Fact(kind, name, count, detail, limit) for (kind, name, detail, limit), count in counts.items())


def facts_of_query(text: str) -> tuple[Fact, ...]:
    """Return the GPUs that `nvidia-smi -q` text names; raise QueryFault for other text."""
    found = [gpu for gpu in parse_query(text) if gpu.name]
    return _counted([Fact("gpu", gpu.name, 1, _link(*gpu.link), gpu.power_limit_w) for gpu in found])


def facts_of_hwloc(text: str) -> tuple[Fact, ...]:
    """Return CPUs, memory, GPUs and NVMe drives that an hwloc XML file names; raise XmlFault for other text."""
    found = read_hwloc(text)
    facts = [Fact("cpu", name) for name in found.cpus if name]
    if found.memory_bytes:
        facts.append(Fact("memory", f"{round(sum(found.memory_bytes) / 2**30)} GiB"))
    return _counted([*facts, *_of_pci(list(found.devices))])


def facts_of_lspci(text: str) -> tuple[Fact, ...]:
    """Return the GPUs and NVMe drives that `lspci -tv` text names; raise TreeFault for other text."""
    return _counted(_of_pci(parse_lspci(text)))


def _of_pci(devices: list[PciDevice]) -> list[Fact]:
    gpus = [Fact("gpu", _model(device.name)) for device in nvidia_gpus(devices)]
    drives = [Fact("storage", device.name) for device in devices if re.search(r"NVMe SSD|Non-Volatile memory", device.name)]
    return gpus + drives


def _model(name: str) -> str:
    """Return the model that pci.ids writes in brackets behind the chip: "GA102 [GeForce RTX 3090]"."""
    bracketed = re.findall(r"\[([^]]+)\]", name)
    return bracketed[-1] if bracketed else name


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
        return list(facts_of_query(query()))
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
    names = GpuNames((part for part in catalog.of_kind("gpu") if isinstance(part, GPU)), shipped_pci_ids())
    for fact in facts:
        part = names.meaning(fact.name).gpu if fact.kind == "gpu" else None if fact.kind == "memory" else _match(index, fact)
        if part is None:
            unmatched.append(fact)
            continue
        stem = {"motherboard": "board"}.get(fact.kind, fact.kind)
        uid = stem + str(sum(item.uid.startswith(stem) for item in items) or "")
        items.append(Item(uid=uid, part=part.id, quantity=fact.count, note=fact.detail, power_cap_w=_cap(part, fact)))
    whole = next((item for item in items if item.uid.startswith("system")), None)
    kept = [item for item in items if whole is None or not item.uid.startswith("board")]
    return Recognised(Rig(name=name, items=tuple(kept)), tuple(unmatched))


def _cap(part: Part, fact: Fact) -> float | None:
    """Return a GPU's limit where its owner set it below the maker's, else None."""
    lowered = isinstance(part, GPU) and fact.limit_w is not None and part.tdp_w is not None and fact.limit_w < part.tdp_w
    return fact.limit_w if lowered else None


def _match(index: PartIndex, fact: Fact) -> Part | None:
    """Return the part whose name holds all words, or all but the first ones; words without a number name no model."""
    words = PLAIN_WORDS.sub(" ", fact.name).split()
    for skip in range(min(3, len(words))):
        query = " ".join(words[skip:])
        found = index.find(query, fact.kind, 1) if any(letter.isdigit() for letter in query) else []
        if found:
            return found[0]
    return None
