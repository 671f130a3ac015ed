"""CPUs as calculators: peak rates from cores, clock and vector units, and the rate of their
memory."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.performance.offload import ram_gbs
from rigplanner.performance.silicon import speed_unknown

AVX512_ONE_UNIT = ("silver", "bronze", "gold 51", "gold 52")
"""Xeons of the first two Scalable generations with one unit of 512 bits a core instead of two
(Intel's product pages; the 5122 has two and is told too slow)."""
SECOND_SCALABLE = 2020
"""Last year of those two generations."""
ZEN2, ZEN5 = 2019, 2024
"""Years from which AMD's cores multiply 256 and 512 bits a cycle with two units; before Zen 2
instructions of 256 bits take two turns, as those of 512 bits do on Zen 4."""
SIMULTANEOUS = {"fp64": 0.5, "fp32": 1.0}
AMX = {"bf16": 16.0, "int8": 32.0}
"""Rates over FP32 of two AVX-512 units: 1,024 and 2,048 multiply-adds a cycle and core (Intel,
optimisation manual, section on AMX)."""
BF16_GAIN, VNNI_GAIN = 2.0, 4.0
"""Rates over FP32 of AVX512_BF16 and of the VNNI instructions: two and four products a lane."""
BYTES = {"fp64": 8.0, "fp32": 4.0, "bf16": 2.0, "int8": 1.0}
FEW_CORES = 2.0
"""A core draws no more than this times its share of the socket's memory rate (estimate)."""


class Processors(Struct, frozen=True, kw_only=True):
    """The CPUs of one computer: `cores` and `tflops` (dense FP32 peak) of all sockets, `ram_gbs` of
    all channels, `isa` of the first. `told`: whether the modules of memory were named; else every
    channel is taken to be populated at the fastest rate that the CPU guarantees."""

    name: str
    sockets: int
    cores: int
    tflops: float
    ram_gbs: float
    isa: tuple[str, ...]
    part: str = ""
    told: bool = True


def flops_per_cycle(cpu: CPU) -> int:
    """Return the FP32 operations of one core in one cycle: 2 (multiply and add) x values of a
    vector x fused units; 8 where only SSE is known (four products and four sums)."""
    words, year = set(cpu.isa or ()), cpu.released or ""
    released = int(str(year)[:4]) if str(year)[:4].isdigit() else None
    amd = cpu.vendor == "AMD"
    if "avx512f" in words:
        name = cpu.name.casefold()
        early = released is None or released <= SECOND_SCALABLE
        single = early and any(word in name for word in AVX512_ONE_UNIT)
        halved = amd and (released is None or released < ZEN5)
        return 32 if single or halved else 64
    if "avx2" in words or "fma" in words:
        return 16 if amd and released is not None and released < ZEN2 else 32
    if "avx" in words:
        return 16
    return 16 if {"neon", "sve2", "vsx3"} & words else 8


def peak_tflops(cpu: CPU) -> float:
    """Return the dense FP32 peak of one CPU at its base clock: cores x clock x operations a cycle.
    Raises WorkloadFault naming the field that the catalog lacks."""
    clock = cpu.base_ghz or cpu.boost_ghz
    for field, value in (("cores", cpu.cores), ("base_ghz", clock)):
        if not value:
            raise speed_unknown(cpu.name, field)
    assert cpu.cores and clock
    return cpu.cores * clock * flops_per_cycle(cpu) / 1e3


def populated_gbs(cpu: CPU) -> float:
    """Return the rate of a CPU's memory in GB/s with a module in every channel: channels x 8 bytes
    x transfers. Raises WorkloadFault where the catalog does not tell it."""
    memory = cpu.memory
    if memory is None or not memory.channels or not memory.speeds_mts:
        raise speed_unknown(cpu.name, "memory.channels")
    return memory.channels * 8 * max(memory.speeds_mts.values()) / 1e3


def processors_named(cpus: Sequence[CPU], memory_gbs: float | None = None) -> Processors:
    """Return CPUs as calculators; `memory_gbs` of the modules beside them, if known."""
    first = cpus[0]
    return Processors(
        name=first.name,
        sockets=len(cpus),
        cores=sum(cpu.cores or 0 for cpu in cpus),
        tflops=sum(peak_tflops(cpu) for cpu in cpus),
        ram_gbs=memory_gbs or sum(populated_gbs(cpu) for cpu in cpus),
        isa=tuple(first.isa or ()),
        part=first.id,
        told=memory_gbs is not None,
    )


def processors_of(machine: Machine) -> Processors | None:
    """Return the CPUs of a machine as calculators; None where it has none."""
    cpus = [node.cpu for node in machine.cpus]
    return processors_named(cpus, ram_gbs(machine)) if cpus else None


def gain_over_fp32(found: Processors, precision: str) -> float:
    """Return the peak in a format over that in FP32. Raises WorkloadFault for a format that these
    CPUs do not compute in, with those that they do."""
    words = set(found.isa)
    tiles = any(word.startswith("amx") for word in words)
    gains = dict(SIMULTANEOUS)
    if tiles:
        gains |= AMX
    elif "avx512_bf16" in words or "bf16" in words:
        gains["bf16"] = BF16_GAIN
    if not tiles:
        dots = {"avx512_vnni", "avx_vnni", "i8mm"} & words
        gains["int8"] = VNNI_GAIN if dots else 1.0
    if precision not in gains:
        raise WorkloadFault(
            f"precision: {found.name} has no {precision} arithmetic; use one of {', '.join(gains)}."
        )
    return gains[precision]
