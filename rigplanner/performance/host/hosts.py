"""The computer around the GPUs as a worker: cores, instruction set, rate of its memory, drives."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU, MemoryKit
from rigplanner.machine.model import Machine
from rigplanner.performance.host.constants import HostFacts
from rigplanner.performance.host.processors import populated_gbs
from rigplanner.performance.limits.host import fastest_drives
from rigplanner.performance.offload import ram_gbs

FULL_GHZ = 5.2
"""Boost clock at which the constants of a core hold."""
USUAL_PACE = 0.7
"""Clock of a CPU over `FULL_GHZ` where none is known: servers boost to 3.4 to 4.4 GHz."""
DESKTOP_RAM_GBS, DESKTOP_CORES = 83.2, 8
SERVER_RAM_GBS, SERVER_CORES = 307.2, 32
DESKTOP_CHANNELS, SERVER_CHANNELS = 2, 8
"""What is assumed of a host that nobody names: eight channels of DDR5-4800 and 32 cores around
cards that a server's fans cool or that lie on a carrier, two channels of DDR5-5200 and eight cores
around cards with fans of their own: any desktop takes an RTX A400 or a Quadro P600."""
OLDER_RAM_GBS, SINCE_DDR5 = 51.2, "2022-10"
"""Two channels of DDR4-3200, assumed beside a card for desktops that was sold before the first
platform with DDR5 alone (AMD's AM5, September 2022)."""
MOST_OF_DESKTOP_GIB = 192.0
"""Memory that desktops hold in four modules of 48 GB: weights beyond it lie in a server's."""
USUAL_DRIVE_GBS = 3.0


class Host(Struct, frozen=True, kw_only=True):
    """`ram_gbs`: rate of all populated channels in GB/s; `dies`: core dies that draw it, None where
    they do not bind; `pace`: clock over 5.2 GHz, `sustained` the same while all cores work (`pace`
    where None); `wide_cores`: cores of which those that save power count as far as they multiply
    (`cores` where None); `drive_gbs` of the fastest drives together;
    `ram_gib` of modules. `told`: whether the rig said it;
    `labelled`: the rate of the modules' label over the one that the CPU guarantees for so many."""

    ram_gbs: float
    cores: int
    sockets: int = 1
    isa: str = "avx2"
    pace: float = USUAL_PACE
    sustained: float | None = None
    wide_cores: float | None = None
    dies: int | None = None
    ddr4: bool = False
    ram_gib: float | None = None
    drive_gbs: float = USUAL_DRIVE_GBS
    told: bool = True
    labelled: float = 1.0
    name: str = ""
    channels: int | None = None


def host_of(machine: Machine | None, gpu: GPU | None, held_gib: float = 0.0) -> Host:
    """Return the host of a machine; without one, or where its memory is not known, the usual one
    for such a GPU that holds so many GiB of weights, which says that it was not told."""
    found = machine and _read(machine)
    if found:
        return found
    desktop = not (gpu and _in_a_server(gpu)) and held_gib <= MOST_OF_DESKTOP_GIB
    older = desktop and gpu is not None and (gpu.released or SINCE_DDR5) < SINCE_DDR5
    return Host(
        ram_gbs=SERVER_RAM_GBS if not desktop else OLDER_RAM_GBS if older else DESKTOP_RAM_GBS,
        cores=DESKTOP_CORES if desktop else SERVER_CORES,
        isa="avx2",
        pace=0.95 if desktop else USUAL_PACE,
        ram_gib=memory_gib(machine) if machine else None,
        told=False,
        channels=DESKTOP_CHANNELS if desktop else SERVER_CHANNELS,
        ddr4=older,
    )


def _in_a_server(gpu: GPU) -> bool:
    if gpu.form_factor == "pcie":
        return gpu.cooling == "passive"
    return (gpu.form_factor or "").startswith(("sxm", "oam", "superchip", "chip"))


def _read(machine: Machine) -> Host | None:
    rate = ram_gbs(machine)
    if rate is None or not machine.cpus or not all(node.cpu.cores for node in machine.cpus):
        return None
    kits, cpus = _kits(machine), [node.cpu for node in machine.cpus]
    labelled = ram_gbs(machine, as_labelled=True) or rate
    drives = fastest_drives(machine)
    first = cpus[0]
    return Host(
        ram_gbs=rate,
        cores=sum(cpu.cores or 0 for cpu in cpus),
        sockets=len(cpus),
        isa=instruction_set(first),
        pace=pace_of(first.boost_ghz),
        sustained=_sustained(first),
        wide_cores=_wide(cpus),
        dies=core_dies(first.name, first.cores or 0),
        ddr4=any("DDR4" in (kit.type or "") for kit in kits),
        ram_gib=memory_gib(machine),
        drive_gbs=drives.sequential_mbs * drives.count / 1e3 if drives else USUAL_DRIVE_GBS,
        labelled=max(1.0, labelled / rate),
        name=first.name,
        channels=sum(cpu.memory.channels or 0 for cpu in cpus if cpu.memory) or None,
    )


def host_of_cpus(cpus: Sequence[CPU]) -> Host:
    """Return the host of CPUs without a rig: a module in every channel at the fastest rate that
    the CPU guarantees, which nobody told. Raises WorkloadFault where the catalog lacks it."""
    first = cpus[0]
    return Host(
        ram_gbs=sum(populated_gbs(cpu) for cpu in cpus),
        cores=sum(cpu.cores or 0 for cpu in cpus),
        sockets=len(cpus),
        isa=instruction_set(first),
        pace=pace_of(first.boost_ghz),
        sustained=_sustained(first),
        wide_cores=_wide(cpus),
        dies=core_dies(first.name, first.cores or 0),
        ddr4="DDR4" in (first.memory.types if first.memory else ()),
        told=False,
        name=first.name,
        channels=sum(cpu.memory.channels or 0 for cpu in cpus if cpu.memory) or None,
    )


def _sustained(cpu: CPU) -> float | None:
    return sustained_of(cpu.base_ghz, cpu.boost_ghz, cpu.memory.channels if cpu.memory else None)


def _wide(cpus: Sequence[CPU]) -> float:
    return sum(wide_cores_of(cpu.cores or 0, cpu.threads) for cpu in cpus)


def memory_gib(machine: Machine) -> float | None:
    """Return the GiB of a machine's memory modules; None where it has none."""
    return sum(kit.modules * kit.module_gib for kit in _kits(machine)) or None


def _kits(machine: Machine) -> list[MemoryKit]:
    return [piece.part for piece in machine.pieces if isinstance(piece.part, MemoryKit)]


def instruction_set(cpu: CPU) -> str:
    """Return the widest instruction set that engines multiply packed weights with: of AVX-512 the
    one with dot products of bytes (VNNI), without which it is no faster than AVX2."""
    words = {word.casefold() for word in cpu.isa or ()}
    if any(word.startswith("amx") for word in words):
        return "amx"
    if "avx512_vnni" in words:
        return "avx512"
    return "neon" if any("neon" in word or "sve" in word for word in words) else "avx2"


def pace_of(boost_ghz: float | None) -> float:
    """Return the clock of a core over that of the constants."""
    return min(1.15, boost_ghz / FULL_GHZ) if boost_ghz else USUAL_PACE


def sustained_of(
    base_ghz: float | None, boost_ghz: float | None, channels: float | None
) -> float | None:
    """Return the clock over that of the constants while all cores multiply: of CPUs with more
    channels than desktops have the mean of base and boost (geometric; a Xeon Gold 6138 of 2.0 to
    3.7 GHz), of desktops None, which hold their boost or nearly so."""
    if not base_ghz or not boost_ghz or (channels or 2) <= DESKTOP_CHANNELS:
        return None
    return pace_of((base_ghz * boost_ghz) ** 0.5)


SAVING_SHARE = 0.4
"""What a core that saves power multiplies of what one with two threads does: half the width at
three quarters of the clock (Intel, 12th to 14th generation)."""


def wide_cores_of(cores: int, threads: int | None) -> float:
    """Return how many cores a CPU has whose smaller ones, which have one thread, count less."""
    wide = (threads or cores) - cores
    return wide + SAVING_SHARE * (cores - wide) if 0 < wide < cores else float(cores)


def core_dies(name: str, cores: int) -> int | None:
    """Return how many core dies a Ryzen or Threadripper has, each with one narrow link to the
    memory: eight cores on each but in the largest. None for CPUs whose dies do not bind: Intel's,
    and EPYC, whose small models have wide links (one socket of two dies read 285 GB/s: Tencent
    Xuanwu Lab, EPYC 9135)."""
    if "ryzen" not in name.casefold() and "threadripper" not in name.casefold():
        return None
    return next((dies for most, dies in ((8, 1), (16, 2), (32, 4), (64, 8)) if cores <= most), 12)


def host_of_facts(facts: HostFacts) -> Host:
    """Return the host that a measured row names."""
    return Host(
        ram_gbs=facts.channels * 8 * facts.rate_mts / 1e3,
        cores=facts.cores,
        sockets=facts.sockets,
        isa=facts.isa,
        pace=pace_of(facts.boost_ghz),
        sustained=sustained_of(facts.base_ghz, facts.boost_ghz, facts.channels / facts.sockets),
        wide_cores=facts.sockets * wide_cores_of(facts.cores // facts.sockets, facts.threads),
        dies=core_dies(facts.cpu, facts.cores // facts.sockets),
        ddr4=facts.ram == "ddr4",
        name=facts.cpu,
        channels=round(facts.channels),
    )
