"""What a card's memory is worth: what the driver shows of it, and what CUDA hands to a process that
asks for all."""

from __future__ import annotations

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.displays import taken_of

ECC_SHARE = 1 / 16
"""Share of a card's memory that holds its check bits: nvidia-smi shows 23,034 MiB of an L4, 46,068
of an L40S or A40, 15,360 of a T4, 22,919 of a P40, 45,556 of a Quadro RTX 8000 without a fan and
48,601 with one."""
RESERVE_GIB = 0.3
"""What the driver and a small page table keep of the shown memory, whatever runs: 23.7 of 24 GiB
are left on an RTX 3090."""
SYSTEM_GIB = 4.0
"""GiB of RAM that the system and an engine's buffers keep (estimate)."""
CUDA_SHARE = 0.985
"""Share of the shown memory that a process finds when it starts: 79.1 to 79.2 GiB of 80 on H100 and
A100, 23.55 to 23.65 of 24 on RTX 3090 and 4090, 44.4 of 45 on L40S (start-up logs of vLLM)."""


def unified(gpu: GPU) -> bool:
    """Return whether a GPU shares its memory with the CPUs: Apple's chips, and AMD's and NVIDIA's
    with a GPU beside the cores, but neither a laptop's GPU with graphics memory of its own nor
    Grace whose GPU has HBM."""
    kind = (gpu.memory_type or "").upper()
    if gpu.form_factor == "superchip":
        return "LPDDR" in kind
    return gpu.form_factor == "embedded" and not kind.startswith(("GDDR", "HBM"))


def on_module(gpu: GPU) -> bool:
    """Return whether a GPU comes on a module or in a small machine with a system image of its own
    (Jetson and kin): not in a laptop, which runs what desktops run."""
    return gpu.form_factor == "embedded" and unified(gpu)


class SharedLimit(Struct, frozen=True, kw_only=True):
    """What of a unified memory the GPU gets: `usual_gib` as the system is set up, `most_gib` with
    its setting raised; `setting` names it, "" where none is needed."""

    usual_gib: float
    most_gib: float
    setting: str


SMALL_MAC_GIB, SMALL_SHARE, LARGE_SHARE = 36.0, 2 / 3, 3 / 4
"""macOS gives the GPU two thirds of memories up to 36 GB and three quarters of larger ones
(recommendedMaxWorkingSetSize: llama.cpp pull request 1870, ollama issue 434; what 36 and 48 GB get
was not read)."""
RAISED_SHARE = 7 / 8
"""Of a unified memory that owners give the GPU at most: 448 of 512 GB for DeepSeek-R1 on an M3
Ultra (wccftech, March 2025), 120 of 128 GB on Strix Halo (lhl/strix-halo-testing)."""
SHARED_HALF = 0.5
"""Of the RAM that Linux lets an AMD GPU map beside its own part, unless ttm.pages_limit says more
(ROCm documentation, RDNA 3.5 system optimization)."""
SPARK_SYSTEM_GIB = 8.0
"""GiB of a DGX Spark that its system keeps, an eighth of smaller boards (estimate)."""


def shared_limit(gpu: GPU) -> SharedLimit | None:
    """Return the limits of a GPU with unified memory; None for every other one."""
    if not unified(gpu) or gpu.memory_gib is None:
        return None
    whole = gpu.memory_gib
    if gpu.vendor == "Apple":
        share = SMALL_SHARE if whole <= SMALL_MAC_GIB else LARGE_SHARE
        setting = "iogpu.wired_limit_mb"
    elif gpu.vendor == "AMD":
        share, setting = SHARED_HALF, "ttm.pages_limit"
    else:
        left = whole - min(SPARK_SYSTEM_GIB, whole / 8)
        return SharedLimit(usual_gib=left, most_gib=left, setting="")
    return SharedLimit(usual_gib=share * whole, most_gib=RAISED_SHARE * whole, setting=setting)


def visible_gib(gpu: GPU) -> float | None:
    """GiB of a card's memory that the driver shows with the settings it is shipped with; None where
    its memory is not known."""
    if gpu.memory_gib is None:
        return None
    return gpu.memory_gib * (1 - ECC_SHARE) if gpu.keeps_check_bits else gpu.memory_gib


def usable_gib(gpu: GPU) -> float | None:
    """GiB of a card's memory that jobs can fill, as nvidia-smi counts their use: what every verdict
    on a need is measured against, less what monitors on it take; None where its memory is not
    known."""
    taken = taken_of(gpu)
    if limit := shared_limit(gpu):
        return max(0.0, limit.most_gib - taken)
    seen = visible_gib(gpu)
    return None if seen is None else max(0.0, seen - RESERVE_GIB - taken)


def process_gib(gpu: GPU) -> float | None:
    """GiB that a process finds on an empty card; None where its memory is not known."""
    seen = visible_gib(gpu)
    return None if seen is None else CUDA_SHARE * seen
