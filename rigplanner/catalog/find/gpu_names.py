"""Which GPU does a name mean, as drivers, tools and papers print it? Never a wrong card: rather
none, and the nearest."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from msgspec import Struct

from rigplanner.catalog.find.likeness import likest, part_names
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import CHIP_MAKERS, GPU
from rigplanner.data import data_path
from rigplanner.decoding import read_json

NEAREST = 4
LONGEST_NAME = 200
ECC_SHARE = 0.92
"""Least part of a card's memory that drivers report in MiB: GDDR cards with ECC on lose a
sixteenth, firmware takes some more."""

NOISE = {
    "nvidia",
    "amd",
    "intel",
    "apple",
    "google",
    "corporation",
    "corp",
    "inc",
    "geforce",
    "graphics",
    "card",
    "gpu",
    "accelerator",
    "generation",
    "video",
    "controller",
    "vga",
    "3d",
    "compatible",
    "with",
    "design",
    "the",
    "core",
    "tensor",
    "developer",
    "kit",
    "module",
    "ac",
}
"""Words that name a maker or a kind of thing, never a model."""
FAMILIES = {"tesla", "instinct", "radeon", "jetson", "arc", "rtx", "gtx", "rx", "quadro"}
"""Words of a card's name that people leave out."""
SERIES = {"rtx", "gtx", "rx"}
"""Words before a number that people leave out: a name that lacks no other word counts before names
of variants."""
ADDED = {"tesla", "instinct", "radeon", "jetson", "arc", "quadro"}
"""Family words that people add where the maker does not: "Tesla A100", "Quadro RTX A6000"."""
LEFT_OUT = {"jetson"}
"""Family words that people leave out of declared names: "AGX Orin", "Xavier NX"."""
SAME_WORDS = {"mobile": "laptop", "notebook": "laptop", "fe": "founders", "sxm2.0": "sxm2"}
FORMS = {
    "pcie": {"pcie"},
    "sxm": {"sxm2", "sxm3", "sxm4", "sxm5", "sxm6"},
    "sxm2": {"sxm2"},
    "sxm3": {"sxm3"},
    "sxm4": {"sxm4"},
    "sxm5": {"sxm5"},
    "sxm6": {"sxm6"},
    "oam": {"oam"},
}
MEMORIES = {"hbm2", "hbm2e", "hbm3", "hbm3e", "gddr5", "gddr5x", "gddr6", "gddr6x", "gddr7"}
ARCHITECTURES = {"maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell"}
MAKERS = {
    "nvidia": "NVIDIA",
    "geforce": "NVIDIA",
    "gtx": "NVIDIA",
    "rtx": "NVIDIA",
    "quadro": "NVIDIA",
    "tesla": "NVIDIA",
    "jetson": "NVIDIA",
    "10de": "NVIDIA",
    "amd": "AMD",
    "radeon": "AMD",
    "instinct": "AMD",
    "rx": "AMD",
    "1002": "AMD",
    "intel": "Intel",
    "arc": "Intel",
    "8086": "Intel",
    "apple": "Apple",
    "mac": "Apple",
    "macbook": "Apple",
    "imac": "Apple",
}
"""Words and PCI vendor ids that tell who made the chip."""

_PCI_ID = re.compile(r"\b(10de|1002|8086):([0-9a-f]{4})\b")
_IN_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©]|\(rev [0-9a-f]+\)|\brev\. ?[0-9a-z]\b")
_MIB = re.compile(r"\b(\d{4,6}) ?mi?b\b")
_GIB = re.compile(r"\b(\d{1,3}) ?(?:gib|gb|g)\b")
_PIECE = re.compile(r"[a-z0-9]+")
_GLUED_FRONT = re.compile(
    r"^(rtx|gtx|rx|titan|tesla|quadro|radeon|geforce|jetson|instinct|pro)(?=.)(.+)$"
)
_GLUED_BACK = re.compile(
    r"^([a-z]?\d{2,4}[a-z]?|\d{4}(?:ti|xt)?)(sxm\d?|pcie|nvl|ti|super|xtx|xt|gre|d|ada)$"
)
_MAC = re.compile(r"\b(?:mac ?(?:book ?(?:pro|air)?|mini|studio|pro)|imac)\b")
_APPLE_CHIP = re.compile(r"\bm[1-9]\b")
"""Machines of Apple, whose name a chip stands beside."""
_CAPABILITY = re.compile(r"gfx[0-9a-f]{3,4}")


class GpuNaming(Struct, frozen=True):
    """The GPU that a name means, or None with the ids of those it may mean (`several`) or those
    that are nearest to it."""

    gpu: GPU | None
    near: tuple[str, ...] = ()
    several: bool = False


class GpuNames:
    """The names of GPUs, cut into words; build it once for a catalog. `pci_ids` maps "10de:2204" to
    the id of a part."""

    def __init__(self, gpus: Iterable[GPU], pci_ids: Mapping[str, str] | None = None) -> None:
        self._gpus = {gpu.id: gpu for gpu in gpus}
        self._pci_ids = pci_ids or {}
        self._exact: dict[frozenset[str], GPU] = {}
        self._named: list[tuple[frozenset[str], frozenset[str], GPU]] = []
        for gpu in self._gpus.values():
            for name in (gpu.id, gpu.name, *gpu.aliases):
                words = gpu_words(name)
                self._exact.setdefault(words, gpu)
                self._named.append((words, _without_facts(words), gpu))

    def meaning(self, text: str, *, with_nearest: bool = True) -> GpuNaming:
        """Return what `text` means. A declared name or alias counts as it stands; of other names
        every word must fit one card. Looking for the nearest of thousands of names takes time:
        who does not show them leaves it out."""
        text = text[:LONGEST_NAME].casefold()
        for found in _PCI_ID.finditer(text):
            if (part_id := self._pci_ids.get(found.group())) in self._gpus:
                return GpuNaming(self._gpus[part_id])
        words, makers = (
            gpu_words(text),
            {MAKERS[word] for word in _PIECE.findall(text) if word in MAKERS},
        )
        declared = self._exact.get(words) or self._exact.get(words - ADDED)
        if declared is None and len(words) > 1:
            declared = self._exact.get(words | LEFT_OUT)
        if declared and _made_by(makers, declared):
            return GpuNaming(declared)
        if capability := _CAPABILITY.search(text):
            alike = tuple(
                gpu.id
                for gpu in self._gpus.values()
                if gpu.compute_capability == capability.group()
            )
            return GpuNaming(None, alike[:NEAREST], several=bool(alike))
        given = _without_facts(words)
        fits = [
            (named, gpu)
            for named, own, gpu in self._named
            if _fits(words, given, own, gpu) and _made_by(makers, gpu)
        ]
        fitting = {gpu.id: gpu for _, gpu in fits}
        plain = {
            gpu.id: gpu
            for named, gpu in fits
            if named - words <= SERIES and any(word.isdigit() for word in words)
        }
        for only in (fitting, plain):
            if len(only) == 1:
                return GpuNaming(next(iter(only.values())))
        if fitting or not with_nearest:
            return GpuNaming(None, tuple(fitting)[:NEAREST], several=bool(fitting))
        names = part_names(self._gpus.values())
        return GpuNaming(None, tuple(likest(_marketing_name(text), names, NEAREST)))


def gpu_words(text: str) -> frozenset[str]:
    """Return the words of a name that tell cards apart, in one spelling: "GeForce RTX3080Ti 12G"
    gives rtx, 3080, ti, 12gb."""
    text = _marketing_name(text.casefold().replace("\u2011", "-"))
    text = _MARKS.sub(" ", text).replace("max-q", "maxq")
    text = _MAC.sub(" ", text) if _APPLE_CHIP.search(text) else text
    sizes = [f"{round(int(found) / 1024, 1)}mib" for found in _MIB.findall(text)]
    text = _MIB.sub(" ", text)
    sizes += [f"{int(found)}gb" for found in _GIB.findall(text.replace("_", " "))]
    text = _GIB.sub(" ", text.replace("_", " "))
    pieces = [word for piece in _PIECE.findall(text) for word in _unglued(piece)]
    return frozenset(SAME_WORDS.get(word, word) for word in (*pieces, *sizes) if word not in NOISE)


def _marketing_name(text: str) -> str:
    """Return the name in the last brackets of a line of lspci ("GA102 [GeForce RTX 3090]
    [10de:2204]"), other text as it is."""
    inside = [
        found
        for found in _IN_BRACKETS.findall(text)
        if found != "amd/ati" and not _PCI_ID.fullmatch(found) and len(found) > 4
    ]
    return inside[-1] if inside else _PCI_ID.sub(" ", text).replace("[amd/ati]", " ")


def _unglued(piece: str) -> Iterator[str]:
    if found := _GLUED_FRONT.match(piece):
        yield from (found.group(1), *_unglued(found.group(2)))
    elif found := _GLUED_BACK.match(piece):
        yield from (*_unglued(found.group(1)), found.group(2))
    else:
        yield piece


def _without_facts(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if not _is_fact(word))


def _fits(words: frozenset[str], given: frozenset[str], own: frozenset[str], gpu: GPU) -> bool:
    """Say whether the words mean this card: its model's words, family words apart, and facts that
    are the card's. `given` and `own` are the words and those of the card's name, without facts."""
    left_out, added = own - given, given - own
    if gpu.chip_maker == "Apple":
        left_out = frozenset(word for word in left_out if not word.isdigit())
    if not given or not left_out <= FAMILIES or not added <= ADDED or (left_out and added):
        return False
    if "rtx" in left_out and "quadro" in own:
        return False
    only_a_number = all(word.isdigit() for word in words)
    return all(_holds(word, gpu) for word in words - given) and not (
        only_a_number and ".rtx." in gpu.id
    )


def _made_by(makers: set[str], gpu: GPU) -> bool:
    """Say whether the makers that a name tells may have made the chip."""
    maker = gpu.chip_maker
    return makers <= {maker} or (maker not in CHIP_MAKERS and gpu.chip is not None)


def _is_fact(word: str) -> bool:
    return (
        word in FORMS
        or word in MEMORIES
        or word in ARCHITECTURES
        or bool(re.fullmatch(r"[\d.]+(?:gb|mib)", word))
    )


def _holds(word: str, gpu: GPU) -> bool:
    if word in FORMS:
        return gpu.form_factor in FORMS[word]
    if word in MEMORIES:
        return (gpu.memory_type or "").casefold() == word
    if word in ARCHITECTURES:
        return word in (gpu.architecture or "").casefold()
    memory = gpu.memory_gib or 0.0
    if word.endswith("mib"):
        return ECC_SHARE * memory <= float(word.removesuffix("mib")) <= 1.01 * memory
    return float(word.removesuffix("gb")) == memory


class PciIds(Struct, frozen=True, forbid_unknown_fields=True):
    """PCI vendor and device ids ("10de:2204") that name one part, and where they were read."""

    sources: dict[str, str]
    ids: dict[str, str]


@cache
def shipped_pci_ids() -> dict[str, str]:
    """Return part ids by PCI id, as shipped."""
    return read_json(
        (data_path("catalog") / "architectures" / "pci_ids.json").read_bytes(), PciIds
    ).ids


@cache
def shipped_gpu_names() -> GpuNames:
    """Return the names of the shipped GPUs, cut into words once."""
    return GpuNames(
        (part for part in shipped_catalog().of_kind("gpu") if isinstance(part, GPU)),
        shipped_pci_ids(),
    )
