"""Which program a text comes from, told by its own words; one table of all readers."""

import re
from collections.abc import Callable

from msgspec import Struct

from rigplanner.asbuilt.readers import (
    benchmarks,
    drives,
    firmware,
    kernel_log,
    link_files,
    lspci,
    nvidia,
    other_makers,
    system,
)
from rigplanner.asbuilt.seen import Fact


class Reader(Struct, frozen=True):
    """A program whose text is understood: its code, what its text holds, and the reader."""

    program: str
    sign: re.Pattern[str]
    read: Callable[[str], list[Fact]]


READERS: tuple[Reader, ...] = (
    Reader("nvidia-smi -q", nvidia.QUERY, nvidia.read_query),
    Reader("nvidia-smi topo -m", nvidia.MATRIX, nvidia.read_topology),
    Reader("nvidia-smi nvlink -s", nvidia.STATUS, nvidia.read_nvlinks),
    Reader("nvidia-smi", nvidia.TABLE, nvidia.read_table),
    Reader("lspci -vvv", lspci.SIGN, lspci.read_lspci),
    Reader("sysfs links", link_files.SIGN, link_files.read_link_files),
    Reader("dmidecode", firmware.SIGN, firmware.read_dmidecode),
    Reader("rocm-smi", other_makers.ROCM, other_makers.read_rocm_smi),
    Reader("rocm-smi --showtopo", other_makers.TOPOLOGY, other_makers.read_rocm_smi),
    Reader("amd-smi", other_makers.AMD, other_makers.read_amd_smi),
    Reader("xpu-smi discovery", other_makers.XPU, other_makers.read_xpu_smi),
    Reader("lscpu", system.LSCPU, system.read_lscpu),
    Reader("numactl -H", system.NUMACTL, system.read_numactl),
    Reader("/proc/meminfo", system.MEMINFO, system.read_meminfo),
    Reader("/proc/cmdline", system.CMDLINE, system.read_kernel),
    Reader("/proc/version", system.RELEASE, system.read_kernel),
    Reader("hwloc", system.HWLOC, system.read_hwloc_file),
    Reader("sensors", system.SENSORS, system.read_sensors),
    Reader("nvme list", drives.NVME, drives.read_nvme_list),
    Reader("lsblk", drives.LSBLK, drives.read_lsblk),
    Reader("smartctl", drives.SMART, drives.read_smartctl),
    Reader("ethtool", drives.ETHTOOL, drives.read_ethtool),
    Reader("ibstat", drives.IBSTAT, drives.read_ibstat),
    Reader("ip -br link", drives.LINKS, drives.read_links),
    Reader("nccl-tests", benchmarks.NCCL, benchmarks.read_nccl_tests),
    Reader("p2pBandwidthLatencyTest", benchmarks.P2P, benchmarks.read_p2p_test),
    Reader("nvbandwidth", benchmarks.NVBANDWIDTH, benchmarks.read_nvbandwidth),
    Reader("fio", benchmarks.FIO, benchmarks.read_fio),
    Reader("llama-bench", benchmarks.LLAMA, benchmarks.read_llama_bench),
    Reader("vllm bench", benchmarks.VLLM, benchmarks.read_vllm_bench),
    Reader("mlperf", benchmarks.MLPERF, benchmarks.read_mlperf),
    Reader("gpu-burn", benchmarks.GPU_BURN, benchmarks.read_gpu_burn),
    Reader("stress-ng", benchmarks.STRESS, benchmarks.read_stress_ng),
    Reader("dmesg", kernel_log.SIGN, kernel_log.read_dmesg),
)
"""In the order in which a text is tried; several may find something in a text of several
programs."""
