"""Each program's words, as its users print them in public threads: what is read, and what is not
taken for a pass."""

from typing import Any

import pytest

from rigplanner.asbuilt.captures import read_text
from rigplanner.asbuilt.seen import PcieLink, whole_address

CASES: list[tuple[str, str, str, dict[str, Any]]] = [
    (  # ROCm/rocm_smi_lib issue 77
        "rocm-smi",
        "Driver version: 5.6.19\nGPU[0]          : GPU ID: 0x731f\n"
        "GPU[0]          : Temperature (Sensor junction) (C): 76.0\n"
        "GPU[0]          : pcie clock level: 1 (16.0GT/s, x16 619Mhz)\n",
        "SeenGpu",
        {"index": 0, "temperature_c": 76.0, "running": PcieLink(4, 16), "driver": "5.6.19"},
    ),
    (  # joular/powerjoular issue 67
        "amd-smi",
        "GPU: 0\n    USAGE:\n        GFX_ACTIVITY: 0 %\n    POWER:\n        SOCKET_POWER: 20 W\n",
        "SeenGpu",
        {"index": 0, "power_draw_w": 20.0},
    ),
    (  # ROCm/rocm-systems pull request 3654
        "amd-smi",
        "GPU: 0\n"
        "    BDF: 0000:23:00.0\n"
        "    ASIC:\n"
        "        MARKET_NAME: AMD Instinct MI210\n"
        "        VENDOR_ID: 0x1002\n",
        "SeenGpu",
        {"name": "AMD Instinct MI210", "address": "0000:23:00.0"},
    ),
    (  # intel/xpumanager issue 69, sgl-project/sglang pull request 38873
        "xpu-smi discovery",
        "| Device ID | Device Information        |\n"
        "| 0         | Device Name: Intel(R) Arc(TM) Pro B60 Graphics   |\n"
        "|           | PCI BDF Address: 0000:17:00.0   |\n|           | PCIe Generation: -1   |\n"
        "|           | PCIe Max Link Width: -1   |\n",
        "SeenGpu",
        {"name": "Intel(R) Arc(TM) Pro B60 Graphics", "address": "0000:17:00.0", "reachable": PcieLink()},
    ),
    (  # NVIDIA/nvbandwidth issue 15
        "nvbandwidth",
        "nvbandwidth Version: v0.2\n"
        "Running host_to_device_memcpy_ce.\n"
        "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
        "          0         1\n0     25.50     24.26\n\nSUM host_to_device_memcpy_ce 205.04\n",
        "SeenRate",
        {"metric": "host-to-gpu", "value": 25.50, "gpus": (0,), "unit": "GB/s"},
    ),
    (  # NVIDIA/nvbandwidth issue 50
        "nvbandwidth",
        "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
        "           0         1\n"
        " 0       N/A     26.34\n"
        " 1     26.34       N/A\n",
        "SeenRate",
        {"metric": "copy-peer", "value": 26.34, "gpus": (0, 1)},
    ),
    (  # wilicc/gpu-burn issue 124
        "gpu-burn",
        "100.0%  proc'd: 30 (3519 Gflop/s)   errors: 0   temps: 53 C\n"
        "Tested 1 GPUs:\n"
        "        GPU 0: OK\n",
        "SeenTest",
        {"subject": "gpu0", "passed": True},
    ),
    (  # wilicc/gpu-burn issue 123: it could not start, computed nothing, and says OK
        "gpu-burn",
        "Couldn't init a GPU test: Error: CUDA_ERROR_UNKNOWN\n"
        "100.0%  proc'd: 0 (0 Gflop/s) - 0 (0 Gflop/s)   errors: 0 - 0"
        "   temps: 41 C - 40 C\nTested 2 GPUs:\n        GPU 0: OK\n        GPU 1: OK\n",
        "SeenTest",
        {"subject": "gpu0", "passed": False},
    ),
    (  # wilicc/gpu-burn issue 12
        "gpu-burn",
        "100.0%  proc'd: 18000 (6311 Gflop/s)   errors: -524288000  (WARNING!)   temps: 51 C\n"
        "Tested 1 GPUs:\n"
        "        GPU 0: FAULTY\n",
        "SeenTest",
        {"subject": "gpu0", "passed": False},
    ),
    (  # SoftRoCE/rxe-dev issue 52
        "ethtool",
        "Settings for eth0:\n"
        "        Supported link modes:   10baseT/Half 10baseT/Full\n"
        "                                1000baseT/Full\n"
        "        Supported pause frame use: No\n"
        "        Speed: 1000Mb/s\n"
        "        Link detected: yes\n",
        "SeenPort",
        {"device": "eth0", "gbps": 1.0, "most_gbps": 1.0, "up": True},
    ),
    (
        "nccl-tests",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
        "  8589934592    2147483648     float     sum      -1   37034  231.94  405.90      0   37065  231.75  405.57      0\n"
        "# Avg bus bandwidth    : 310.1\n# Collective test starting: all_reduce_perf\n",
        "SeenRate",
        {"metric": "allreduce-busbw", "value": 405.57, "details": {"bytes": "8589934592"}},
    ),
    (
        "fio",
        "Run status group 0 (all jobs):\n"
        "   READ: bw=6543MiB/s (6861MB/s), 6543MiB/s-6543MiB/s (6861MB/s-6861MB/s), io=32.0GiB\n",
        "SeenRate",
        {"metric": "drive-read", "value": pytest.approx(6.861)},
    ),
    (
        "llama-bench",
        "| model                          |       size |     params | backend    | ngl |          test |                  t/s |\n"
        "| llama 8B Q4_0                  |   4.33 GiB |     8.03 B | CUDA       |  99 |         tg128 |        123.45 ± 0.12 |\n",
        "SeenRate",
        {"metric": "generation-rate", "value": 123.45, "model": "llama 8B Q4_0"},
    ),
    (
        "vllm bench",
        "Throughput: 7.21 requests/s, 3456.78 total tokens/s, 1234.56 output tokens/s\n",
        "SeenRate",
        {"metric": "total-rate", "value": 3456.78},
    ),
    (
        "mlperf",
        "MLPerf Results Summary\nSamples per second: 812.5\nResult is : VALID\n",
        "SeenRate",
        {"metric": "samples-rate", "value": 812.5},
    ),
    (
        "mlperf",
        ':::MLLOG {"key": "run_start", "time_ms": 1000}\n'
        ':::MLLOG {"key": "run_stop", "time_ms": 601000}\n',
        "SeenRate",
        {"metric": "time-to-train", "value": 10.0, "unit": "min"},
    ),
    (
        "stress-ng",
        "stress-ng: info:  [42] successful run completed in 60.02s\n",
        "SeenTest",
        {"program": "stress-ng", "passed": True},
    ),
    (
        "stress-ng",
        "stress-ng: fail:  [42] vm: detected 3 bit errors\n"
        "stress-ng: info:  [42] unsuccessful run completed in 60.02s\n",
        "SeenTest",
        {"passed": False},
    ),
    (
        "smartctl",
        "smartctl 7.2\n"
        "=== START OF INFORMATION SECTION ===\n"
        "Model Number:                       Samsung SSD 980 PRO 2TB\n"
        "SMART overall-health self-assessment test result: PASSED\n"
        "Percentage Used:                    3%\n"
        "Power On Hours:                     1,234\nMedia and Data Integrity Errors:    0\n",
        "SeenDrive",
        {"model": "Samsung SSD 980 PRO 2TB", "passed": True, "worn_percent": 3.0, "hours": 1234, "media_errors": 0},
    ),
    (
        "sensors",
        "k10temp-pci-00c3\n"
        "Adapter: PCI adapter\n"
        "Tctl:         +95.2°C  (high = +95.0°C, crit = +105.0°C)\n",
        "SeenHeat",
        {"chip": "k10temp-pci-00c3", "celsius": 95.2, "limit_c": 95.0},
    ),
    (
        "/proc/cmdline",
        "BOOT_IMAGE=/vmlinuz-6.8 root=/dev/sda1 amd_iommu=on iommu=pt\n",
        "SeenKernel",
        {"iommu": "pt"},
    ),
    (
        "numactl -H",
        "available: 2 nodes (0-1)\n"
        "node 0 cpus: 0 1\n"
        "node 0 size: 64000 MB\n"
        "node 1 cpus: 2 3\n"
        "node 1 size: 64500 MB\n",
        "SeenNuma",
        {"index": 0, "memory_mib": 64000},
    ),
    (
        "lscpu",
        "CPU(s):                  48\n"
        "Model name:              AMD EPYC 7443P 24-Core Processor\n"
        "Thread(s) per core:  2\n"
        "Core(s) per socket:  24\nSocket(s):           1\nNUMA node(s):        1\n",
        "SeenCpu",
        {"model": "AMD EPYC 7443P 24-Core Processor", "sockets": 1, "cores": 24, "logical": 48},
    ),
    (
        "hwloc",
        '<topology version="2.0"><object type="Machine"><object type="Package"><info name="CPUModel" value="Any CPU"/>'
        '<object type="NUMANode" local_memory="68719476736"/></object></object></topology>',
        "SeenMemory",
        {"mib": 65536},
    ),
    (
        "nvidia-smi",
        "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
        "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |\n"
        "| N/A   29C    P0              56W / 400W |      4MiB / 81920MiB |      0%      Default |\n",
        "SeenGpu",
        {
            "name": "NVIDIA A100-SXM4-80GB", "address": "0000:07:00.0", "power_limit_w": 400.0,
            "memory_mib": 81920.0, "driver": "550.54.15", "temperature_c": 29.0,
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("program", "text", "kind", "fields"), CASES)
def test_each_program_is_known_by_its_words_and_read(
    program: str, text: str, kind: str, fields: dict[str, Any]
) -> None:
    captured, facts = read_text("any.txt", text)
    assert captured.programs == (program,) and not captured.problem
    fact = next(fact for fact in facts if type(fact).__name__ == kind)
    assert {name: getattr(fact, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("01:00.0", "0000:01:00.0"),
        ("00000000:9B:00.0", "0000:9b:00.0"),
        ("0000:9b:00", "0000:9b:00.0"),
        ("0001:01:00.0", "0001:01:00.0"),
        ("10000:e1:00.0", "10000:e1:00.0"),
        ("fff:00.0", ""),
        ("01:20.0", ""),
        ("", ""),
        ("words", ""),
    ],
)
def test_addresses_have_the_form_of_the_kernel(text: str, address: str) -> None:
    assert whole_address(text) == address
