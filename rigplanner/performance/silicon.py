"""What the speed model reads of a GPU: its generation, and its rates by precision as trainers and
servers get them."""

from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.workload.limits import unknown_precision
from rigplanner.workload.quant import BITS, GGUF

GENERATIONS = {
    "kepler": 0.0,
    "maxwell": 1.0,
    "pascal": 2.0,
    "volta": 3.0,
    "turing": 3.6,
    "ampere": 4.6,
    "ada": 5.6,
    "hopper": 6.0,
    "blackwell-rtx": 6.6,
    "blackwell": 7.0,
    "gcn": 2.0,
    "vega": 3.0,
    "rdna": 3.6,
    "rdna2": 4.6,
    "rdna3": 5.6,
    "rdna4": 7.0,
    "cdna": 4.3,
    "cdna2": 5.0,
    "cdna3": 6.0,
    "cdna4": 7.0,
    "apple": 5.0,
    "xe": 5.0,
    "alchemist": 5.0,
    "battlemage": 6.5,
}
"""Architectures in the order of their age; the figure is a coordinate for the distance between two,
not a rate."""
_APPLE_ERAS = {"m1": 4.3, "m2": 5.0, "m3": 5.6, "m4": 6.5, "m5": 7.2}

_BY_CAPABILITY = {
    "3": "kepler",
    "5": "maxwell",
    "6": "pascal",
    "9": "hopper",
    "10": "blackwell",
    "12": "blackwell-rtx",
}
_BY_EXACT_CAPABILITY = {"7.5": "turing", "8.9": "ada"}
_BY_TARGET = {
    "gfx908": "cdna",
    "gfx90a": "cdna2",
    "gfx942": "cdna3",
    "gfx950": "cdna4",
    "gfx1100": "rdna3",
    "gfx1200": "rdna4",
}

RTX_BLACKWELL = "12."
"""Compute capability of GeForce RTX 50 and RTX PRO Blackwell. Their multiprocessors do as much
matrix work per clock as Ada's (165.2 and 209.5 TFLOPS over 128 and 170 of them), half as much as
those of the B200."""

BF16_ERA = 4.3

MATRIX_PRECISIONS = {
    "fp32": "fp32",
    "tf32": "tf32",
    "amp_fp16": "half",
    "fp16": "half",
    "f16": "half",
    "mixed": "half",
    "amp": "half",
    "bf16": "half",
    "amp_bf16": "half",
    "int8": "int8",
    "fp8": "fp8",
    "fp4": "fp4",
    "nvfp4": "fp4",
    "mxfp4": "fp4",
    "amp_fp8": "fp8",
    "mxfp8": "fp8",
    "amp_mxfp8": "fp8",
    "amp_nvfp4": "fp4",
    "f32": "fp32",
    "int4": "half",
    "nf4": "half",
} | dict.fromkeys(GGUF, "half")
"""Precision word of a workload -> the matrix rate that does its arithmetic (4-bit weights are
widened to 16 bits first)."""

WEIGHT_BITS = BITS | {"fp4": 4.5, "int4": 4.5, "nf4": 4.5}
"""Bits per stored weight, those of 4 bits with the scales of their blocks; words of training not
listed here store 16."""


SHARED = {"blackwell-rtx": "ada", "cdna4": "cdna3", "rdna4": "rdna3"}
"""Generation -> the one whose learned shares stand for it."""

MATRIX_AT_LEAST = {"ampere": 2.0, "ada": 2.0, "blackwell-rtx": 2.0}
"""Matrix rate in half precision over FP32 of the shaders, accumulated in FP32: that of GeForce
cards, professional ones have twice as much."""

USUAL_L2_MIB = {
    "kepler": 1.5,
    "maxwell": 2.0,
    "pascal": 3.0,
    "ada": 48.0,
    "hopper": 50.0,
    "blackwell-rtx": 64.0,
    "blackwell": 96.0,
    "apple": 16.0,
}
"""Level-2 cache where the catalog does not tell: the middle of each generation's cards."""


USUAL_CLOCK_GHZ, FASTEST_CLOCK_GHZ = 1.9, 3.3
"""Clock where neither the catalog nor rate and cores tell it, and above which what these two tell
is two operations a cycle."""
USUAL_SUSTAINED = 0.85
"""Base over boost clock where the catalog does not tell (GeForce cards 0.82 to 0.94; 0.37 to 0.55
on T4, L4, A10)."""


class Silicon(Struct, frozen=True, cache_hash=True):
    """Rates in TFLOPS, bandwidth in GB/s, memory in GiB, power in W; `era` is the coordinate of the
    generation.

    `fast_memory` is HBM; `half_rate_tensor` marks cards whose matrix rate halves when it
    accumulates in FP32; `sustained` is the share of the boost clock, `clock_ghz`, to which the
    rates are given, that the maker guarantees within the power limit."""

    generation: str
    era: float
    fp32: float
    half: float
    tf32: float
    int8: float
    fp8: float | None
    fp4: float | None
    bandwidth_gbs: float
    memory_gib: float
    tdp_w: float
    l2_mib: float
    fast_memory: bool
    half_rate_tensor: bool
    vendor: str = ""
    sustained: float = USUAL_SUSTAINED
    clock_ghz: float = USUAL_CLOCK_GHZ


def generation_of(gpu: GPU) -> str:
    """Return the generation word of a GPU from its architecture, else from its compute capability;
    "unknown" if neither tells."""
    capability = (gpu.compute_capability or "").casefold()
    words = (gpu.architecture or "").casefold().replace("-", " ").split()
    joined = "".join(words)
    for name in sorted(GENERATIONS, key=len, reverse=True):
        if name in words or joined.startswith(name):
            return (
                "blackwell-rtx"
                if name == "blackwell" and capability.startswith(RTX_BLACKWELL)
                else name
            )
    if capability in _BY_TARGET:
        return _BY_TARGET[capability]
    if capability in _BY_EXACT_CAPABILITY:
        return _BY_EXACT_CAPABILITY[capability]
    major = capability.split(".")[0]
    return {"7": "volta", "8": "ampere"}.get(major) or _BY_CAPABILITY.get(
        major, "apple" if gpu.vendor.casefold() == "apple" else "unknown"
    )


def shares_of(generation: str) -> str:
    """Return the generation whose learned shares of the peak hold for this one, which has few rows
    of its own or none."""
    return SHARED.get(generation, generation)


REMEMBERED = 500
_read: dict[int, tuple[GPU, Silicon]] = {}
"""What was read of GPUs, by the identity of each: the entry holds it, so no other takes it over."""


UNSAID = {
    "dense_tflops.fp32": "how fast it computes",
    "bandwidth_gbs": "how fast its memory is",
    "memory_gib": "how much memory it has",
    "cores": "how many cores it has",
    "base_ghz": "at which clock it runs",
    "memory.channels": "which memory it takes",
}
"""The fields without which no speed can be told, in words."""


def speed_unknown(name: str, field: str) -> WorkloadFault:
    """Return the fault of a part without a field that its speed rests on."""
    return WorkloadFault(
        f"The speed of {name} cannot be told: the catalog does not say {UNSAID[field]} ({field})."
    )


def silicon_of(gpu: GPU) -> Silicon:
    """Return the rates of a GPU; raise WorkloadFault naming the field without which no speed can be
    said."""
    entry = _read.get(id(gpu))
    if entry is None:
        if len(_read) >= REMEMBERED:
            _read.clear()
        entry = _read[id(gpu)] = (gpu, _silicon(gpu))
    return entry[1]


def _silicon(gpu: GPU) -> Silicon:
    gpu = _with_rates(gpu)
    rates, generation = gpu.dense_tflops, generation_of(gpu)
    fp32 = _fp32(gpu)
    for field, value in (
        ("dense_tflops.fp32", fp32),
        ("bandwidth_gbs", gpu.bandwidth_gbs),
        ("memory_gib", gpu.memory_gib),
    ):
        if not value:
            raise speed_unknown(gpu.name, field)
    assert fp32 and gpu.bandwidth_gbs and gpu.memory_gib
    half = max(
        filter(
            None,
            (rates.fp16, rates.bf16, rates.fp16_vector, fp32 * _matrix_at_least(gpu, generation)),
        )
    )
    narrow = rates.fp8 or (2 * half if rates.fp4 else None)
    memory = (gpu.memory_type or "").casefold()
    return Silicon(
        generation,
        _APPLE_ERAS.get(
            gpu.name.casefold().removeprefix("apple ").split(" ")[0],
            GENERATIONS.get(generation, 4.6),
        ),
        fp32,
        half,
        rates.tf32 or fp32,
        rates.int8 or (narrow if rates.fp4 and narrow else half),
        narrow,
        rates.fp4,
        gpu.bandwidth_gbs,
        gpu.memory_gib,
        (gpu.tdp_w or _usual_power(fp32)) / max(1, gpu.dies),
        gpu.l2_mib or USUAL_L2_MIB.get(generation, 6.0),
        memory.startswith("hbm")
        or (not memory and gpu.bandwidth_gbs > 1200 and generation != "ada"),
        bool(rates.fp16 and rates.fp16_acc16 and rates.fp16_acc16 > 1.5 * rates.fp16),
        gpu.chip_maker.casefold(),
        (
            min(1.0, gpu.base_mhz / gpu.boost_mhz)
            if gpu.base_mhz and gpu.boost_mhz
            else USUAL_SUSTAINED
        ),
        _clock_ghz(gpu, fp32),
    )


def _clock_ghz(gpu: GPU, fp32: float) -> float:
    """The boost clock as listed, else what FP32 and cores come to."""
    if gpu.boost_mhz:
        return gpu.boost_mhz / 1e3
    reckoned = fp32 * 1e3 / (2 * gpu.cores) if gpu.cores else 0.0
    return reckoned if 0 < reckoned < FASTEST_CLOCK_GHZ else USUAL_CLOCK_GHZ


def _matrix_at_least(gpu: GPU, generation: str) -> float:
    """The half-precision rate over that of FP32 which a GPU of this generation has even where the
    catalog lists none."""
    return (
        1.0
        if gpu.dense_tflops.fp16 or gpu.dense_tflops.bf16
        else MATRIX_AT_LEAST.get(generation, 1.0)
    )


def _with_rates(gpu: GPU) -> GPU:
    """The GPU itself, or with the rates of the catalog's card of the same chip that is nearest in
    multiprocessors, where it lists none; the power limit then tells what they come to."""
    if _fp32(gpu) or not gpu.chip:
        return gpu
    kin = [part for part in _by_chip().get(gpu.chip, ()) if part.dense_tflops.fp32]
    if not kin:
        return gpu
    nearest = min(
        kin,
        key=lambda part: (
            abs((part.sms or 0) - (gpu.sms or part.sms or 0)),
            part.form_factor != gpu.form_factor,
            part.id,
        ),
    )
    return replace(gpu, dense_tflops=nearest.dense_tflops)


@cache
def _by_chip() -> dict[str, tuple[GPU, ...]]:
    found: dict[str, tuple[GPU, ...]] = {}
    for part in shipped_catalog().of_kind("gpu"):
        if isinstance(part, GPU) and part.chip:
            found[part.chip] = (*found.get(part.chip, ()), part)
    return found


def _fp32(gpu: GPU) -> float | None:
    """FP32 of the shaders in TFLOPS: as listed, else 2 FLOPs per core and clock, else a sixteenth
    of the matrix rate (Hopper)."""
    rates = gpu.dense_tflops
    if rates.fp32:
        return rates.fp32
    if gpu.cores and gpu.boost_mhz:
        return 2 * gpu.cores * gpu.boost_mhz / 1e6
    matrix = rates.fp16 or rates.bf16
    return matrix / 16 if matrix else None


def _usual_power(fp32: float) -> float:
    """A card whose power is unknown is taken to draw 15 W per TFLOPS of FP32 within 15 to 350 W
    (median of the catalog's cards)."""
    return min(350.0, max(15.0, 15.0 * fp32))


def matrix_tflops(silicon: Silicon, precision: str, name: str) -> float:
    """Return the dense peak in TFLOPS that does the arithmetic of `precision`; raise WorkloadFault
    where the silicon cannot."""
    path = MATRIX_PRECISIONS.get(precision)
    if path is None:
        raise unknown_precision(precision, MATRIX_PRECISIONS)
    rate: float | None = getattr(silicon, path)
    if rate is None:
        usable = ", ".join(usable_precisions(silicon))
        emulated = "" if silicon.era >= BF16_ERA else "; bf16 is emulated, slowly"
        raise WorkloadFault(
            f"precision: {name} ({silicon.generation}) has no {precision} arithmetic; use one of"
            f" {usable}{emulated}; weights alone may be stored in int8, nf4 or int4."
        )
    return rate


def usable_precisions(silicon: Silicon) -> list[str]:
    """Return the precisions whose arithmetic a GPU has: bf16 and tf32 came with Ampere and CDNA,
    the narrow floats where listed."""
    words = ["fp32", "fp16"]
    if silicon.era >= BF16_ERA:
        words += ["tf32", "bf16"]
    if silicon.int8 > silicon.half:
        words.append("int8")
    return words + [word for word, rate in (("fp8", silicon.fp8), ("fp4", silicon.fp4)) if rate]


def arithmetic_path(precision: str, tflops: float, silicon: Silicon) -> str:
    """Return which units do the work: vector (shaders), half, tf32, int8 or low (8-bit floats and
    below)."""
    if precision == "fp32" or (tflops <= silicon.fp32 * 2.3 and silicon.era < 3.0):
        return "vector"
    path = MATRIX_PRECISIONS[precision]
    return "low" if path == "fp8" else path


def weight_bits(precision: str) -> float:
    """Return the bits that one weight occupies when a net is served in `precision`."""
    return WEIGHT_BITS.get(precision, 16.0)
