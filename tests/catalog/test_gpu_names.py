"""GPU names as drivers, tools, submissions and papers print them: each means one card."""

import pytest

from rigplanner.catalog.find.gpu_names import gpu_words, shipped_gpu_names, shipped_pci_ids
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU

DRIVER = {
    "NVIDIA A100-SXM4-40GB": "nvidia.datacenter.a100-sxm4-40gb",
    "NVIDIA A100-SXM4-80GB": "nvidia.datacenter.a100-sxm4-80gb",
    "A100-SXM4-40GB": "nvidia.datacenter.a100-sxm4-40gb",
    "A100-SXM4-80GB": "nvidia.datacenter.a100-sxm4-80gb",
    "NVIDIA A100-SXM-80GB": "nvidia.datacenter.a100-sxm4-80gb",
    "NVIDIA A100-PCIE-40GB": "nvidia.datacenter.a100-pcie-40gb",
    "A100-PCIE-40GB": "nvidia.datacenter.a100-pcie-40gb",
    "NVIDIA A100 80GB PCIe": "nvidia.datacenter.a100-pcie-80gb",
    "NVIDIA A800-SXM4-80GB": "nvidia.datacenter.a800-sxm4-80gb",
    "NVIDIA A800 80GB PCIe": "nvidia.datacenter.a800-pcie-80gb",
    "NVIDIA A30": "nvidia.datacenter.a30",
    "NVIDIA A40": "nvidia.datacenter.a40",
    "NVIDIA A10": "nvidia.datacenter.a10",
    "NVIDIA A10G": "nvidia.datacenter.a10g",
    "NVIDIA A16": "nvidia.datacenter.a16",
    "NVIDIA A2": "nvidia.datacenter.a2",
    "NVIDIA H100 80GB HBM3": "nvidia.datacenter.h100-sxm5-80gb",
    "NVIDIA H100 PCIe": "nvidia.datacenter.h100-pcie-80gb",
    "NVIDIA H100 NVL": "nvidia.datacenter.h100-nvl-94gb",
    "NVIDIA H200": "nvidia.datacenter.h200-sxm5-141gb",
    "NVIDIA H200 NVL": "nvidia.datacenter.h200-nvl-141gb",
    "NVIDIA H800": "nvidia.datacenter.h800-sxm5-80gb",
    "NVIDIA H20": "nvidia.datacenter.h20-sxm5-96gb",
    "NVIDIA GH200 480GB": "nvidia.datacenter.gh200-96gb",
    "NVIDIA GH200 120GB": "nvidia.datacenter.gh200-96gb",
    "NVIDIA GH200 144G HBM3e": "nvidia.datacenter.gh200-144gb",
    "NVIDIA B200": "nvidia.datacenter.b200-sxm6-180gb",
    "NVIDIA GB200": "nvidia.datacenter.gb200",
    "NVIDIA B300 SXM6 AC": "nvidia.datacenter.b300-sxm6-270gb",
    "NVIDIA GB300": "nvidia.datacenter.gb300",
    "NVIDIA GB10": "nvidia.gb10.dgx-spark",
    "NVIDIA L4": "nvidia.datacenter.l4",
    "NVIDIA L40": "nvidia.datacenter.l40",
    "NVIDIA L40S": "nvidia.datacenter.l40s",
    "NVIDIA L20": "nvidia.datacenter.l20",
    "Tesla K40m": "nvidia.tesla.k40m",
    "Tesla K80": "nvidia.tesla.k80",
    "Tesla M40 24GB": "nvidia.tesla.m40-24gb",
    "Tesla M60": "nvidia.tesla.m60",
    "Tesla P4": "nvidia.tesla.p4",
    "Tesla P40": "nvidia.tesla.p40",
    "Tesla P100-PCIE-12GB": "nvidia.tesla.p100-pcie-12gb",
    "Tesla P100-PCIE-16GB": "nvidia.tesla.p100-pcie-16gb",
    "Tesla P100-SXM2-16GB": "nvidia.tesla.p100-sxm2-16gb",
    "Tesla V100-PCIE-16GB": "nvidia.tesla.v100-pcie-16gb",
    "Tesla V100-PCIE-32GB": "nvidia.tesla.v100-pcie-32gb",
    "Tesla V100-SXM2-16GB": "nvidia.tesla.v100-sxm2-16gb",
    "Tesla V100-SXM2-32GB": "nvidia.tesla.v100-sxm2-32gb",
    "Tesla V100-SXM3-32GB": "nvidia.tesla.v100-sxm3-32gb",
    "Tesla V100-SXM3-32GB-H": "nvidia.tesla.v100-sxm3-32gb-450w",
    "Tesla V100S-PCIE-32GB": "nvidia.tesla.v100s-pcie-32gb",
    "Tesla T4": "nvidia.tesla.t4",
    "GRID K520": "nvidia.grid.k520",
    "P102-100": "nvidia.mining.p102-100",
    "P106-100": "nvidia.mining.p106-100",
    "GeForce GTX 970": "nvidia.geforce.gtx-970",
    "GeForce GTX 980": "nvidia.geforce.gtx-980",
    "GeForce GTX 980 Ti": "nvidia.geforce.gtx-980-ti",
    "GeForce GTX TITAN Black": "nvidia.titan.black",
    "GeForce GTX TITAN X": "nvidia.titan.x-maxwell",
    "NVIDIA GeForce GTX TITAN X": "nvidia.titan.x-maxwell",
    "TITAN X (Pascal)": "nvidia.titan.x-pascal",
    "NVIDIA TITAN X (Pascal)": "nvidia.titan.x-pascal",
    "TITAN Xp": "nvidia.titan.xp",
    "NVIDIA TITAN Xp": "nvidia.titan.xp",
    "TITAN V": "nvidia.titan.v",
    "NVIDIA TITAN V": "nvidia.titan.v",
    "TITAN RTX": "nvidia.titan.rtx",
    "NVIDIA TITAN RTX": "nvidia.titan.rtx",
    "GeForce GTX 1050 Ti": "nvidia.geforce.gtx-1050-ti",
    "GeForce GTX 1060 3GB": "nvidia.geforce.gtx-1060-3gb",
    "GeForce GTX 1060 6GB": "nvidia.geforce.gtx-1060-6gb",
    "GeForce GTX 1070": "nvidia.geforce.gtx-1070",
    "GeForce GTX 1070 Ti": "nvidia.geforce.gtx-1070-ti",
    "GeForce GTX 1080": "nvidia.geforce.gtx-1080",
    "GeForce GTX 1080 Ti": "nvidia.geforce.gtx-1080-ti",
    "NVIDIA GeForce GTX 1080 Ti": "nvidia.geforce.gtx-1080-ti",
    "GeForce GTX 1650": "nvidia.geforce.gtx-1650",
    "GeForce GTX 1650 SUPER": "nvidia.geforce.gtx-1650-super",
    "NVIDIA GeForce GTX 1660": "nvidia.geforce.gtx-1660",
    "GeForce GTX 1660 SUPER": "nvidia.geforce.gtx-1660-super",
    "GeForce GTX 1660 Ti": "nvidia.geforce.gtx-1660-ti",
    "GeForce RTX 2060": "nvidia.geforce.rtx-2060",
    "GeForce RTX 2060 SUPER": "nvidia.geforce.rtx-2060-super",
    "GeForce RTX 2070": "nvidia.geforce.rtx-2070",
    "GeForce RTX 2070 SUPER": "nvidia.geforce.rtx-2070-super",
    "NVIDIA GeForce RTX 2070 with Max-Q Design": "nvidia.geforce.rtx-2070-max-q",
    "GeForce RTX 2080": "nvidia.geforce.rtx-2080",
    "GeForce RTX 2080 SUPER": "nvidia.geforce.rtx-2080-super",
    "NVIDIA GeForce RTX 2080 with Max-Q Design": "nvidia.geforce.rtx-2080-max-q",
    "NVIDIA GeForce RTX 2080 Super with Max-Q Design": "nvidia.geforce.rtx-2080-super-max-q",
    "GeForce RTX 2080 Ti": "nvidia.geforce.rtx-2080-ti",
    "NVIDIA GeForce RTX 2080 Ti": "nvidia.geforce.rtx-2080-ti",
    "NVIDIA GeForce RTX 3050": "nvidia.geforce.rtx-3050",
    "NVIDIA GeForce RTX 3060": "nvidia.geforce.rtx-3060",
    "NVIDIA GeForce RTX 3060 Ti": "nvidia.geforce.rtx-3060-ti",
    "GeForce RTX 3070": "nvidia.geforce.rtx-3070",
    "NVIDIA GeForce RTX 3070 Ti": "nvidia.geforce.rtx-3070-ti",
    "NVIDIA GeForce RTX 3080 Ti": "nvidia.geforce.rtx-3080-ti",
    "GeForce RTX 3090": "nvidia.geforce.rtx-3090",
    "NVIDIA GeForce RTX 3090": "nvidia.geforce.rtx-3090",
    "NVIDIA GeForce RTX 3090 Ti": "nvidia.geforce.rtx-3090-ti",
    "GeForce RTX 3090 Ti": "nvidia.geforce.rtx-3090-ti",
    "NVIDIA GeForce RTX 4060": "nvidia.geforce.rtx-4060",
    "NVIDIA GeForce RTX 4070": "nvidia.geforce.rtx-4070",
    "NVIDIA GeForce RTX 4070 SUPER": "nvidia.geforce.rtx-4070-super",
    "NVIDIA GeForce RTX 4070 Ti": "nvidia.geforce.rtx-4070-ti",
    "NVIDIA GeForce RTX 4070 Ti SUPER": "nvidia.geforce.rtx-4070-ti-super",
    "NVIDIA GeForce RTX 4080": "nvidia.geforce.rtx-4080",
    "NVIDIA GeForce RTX 4080 SUPER": "nvidia.geforce.rtx-4080-super",
    "NVIDIA GeForce RTX 4090": "nvidia.geforce.rtx-4090",
    "NVIDIA GeForce RTX 4090 D": "nvidia.geforce.rtx-4090-d",
    "NVIDIA GeForce RTX 5050": "nvidia.geforce.rtx-5050",
    "NVIDIA GeForce RTX 5060": "nvidia.geforce.rtx-5060",
    "NVIDIA GeForce RTX 5070": "nvidia.geforce.rtx-5070",
    "NVIDIA GeForce RTX 5070 Ti": "nvidia.geforce.rtx-5070-ti",
    "NVIDIA GeForce RTX 5080": "nvidia.geforce.rtx-5080",
    "NVIDIA GeForce RTX 5090": "nvidia.geforce.rtx-5090",
    "NVIDIA GeForce RTX 5090 D": "nvidia.geforce.rtx-5090-d",
    "NVIDIA GeForce RTX 5090 D v2": "nvidia.geforce.rtx-5090-d-v2",
    "NVIDIA GeForce RTX 3060 Laptop GPU": "nvidia.geforce.rtx-3060-laptop",
    "NVIDIA GeForce RTX 3070 Ti Laptop GPU": "nvidia.geforce.rtx-3070-ti-laptop",
    "NVIDIA GeForce RTX 3080 Ti Laptop GPU": "nvidia.geforce.rtx-3080-ti-laptop",
    "NVIDIA GeForce RTX 4060 Laptop GPU": "nvidia.geforce.rtx-4060-laptop",
    "NVIDIA GeForce RTX 4070 Laptop GPU": "nvidia.geforce.rtx-4070-laptop",
    "NVIDIA GeForce RTX 4090 Laptop GPU": "nvidia.geforce.rtx-4090-laptop",
    "NVIDIA GeForce RTX 5080 Laptop GPU": "nvidia.geforce.rtx-5080-laptop",
    "NVIDIA GeForce RTX 5090 Laptop GPU": "nvidia.geforce.rtx-5090-laptop",
    "Quadro M4000": "nvidia.quadro.m4000",
    "Quadro M6000 24GB": "nvidia.quadro.m6000-24gb",
    "Quadro P400": "nvidia.quadro.p400",
    "Quadro P2000": "nvidia.quadro.p2000",
    "Quadro P2200": "nvidia.quadro.p2200",
    "Quadro P4000": "nvidia.quadro.p4000",
    "Quadro P5000": "nvidia.quadro.p5000",
    "Quadro P6000": "nvidia.quadro.p6000",
    "Quadro GP100": "nvidia.quadro.gp100",
    "Quadro GV100": "nvidia.quadro.gv100",
    "Quadro RTX 4000": "nvidia.quadro.rtx-4000",
    "Quadro RTX 5000": "nvidia.quadro.rtx-5000",
    "Quadro RTX 6000": "nvidia.quadro.rtx-6000",
    "Quadro RTX 8000": "nvidia.quadro.rtx-8000",
    "NVIDIA T1000 8GB": "nvidia.quadro.t1000-8gb",
    "NVIDIA RTX A400": "nvidia.rtx.a400",
    "NVIDIA RTX A1000": "nvidia.rtx.a1000",
    "NVIDIA RTX A2000": "nvidia.rtx.a2000-6gb",
    "NVIDIA RTX A2000 12GB": "nvidia.rtx.a2000-12gb",
    "NVIDIA RTX A4000": "nvidia.rtx.a4000",
    "NVIDIA RTX A4500": "nvidia.rtx.a4500",
    "NVIDIA RTX A5000": "nvidia.rtx.a5000",
    "NVIDIA RTX A5500": "nvidia.rtx.a5500",
    "RTX A6000": "nvidia.rtx.a6000",
    "NVIDIA RTX A6000": "nvidia.rtx.a6000",
    "NVIDIA RTX 2000 Ada Generation": "nvidia.rtx.2000-ada",
    "NVIDIA RTX 2000E Ada Generation": "nvidia.rtx.2000e-ada",
    "NVIDIA RTX 4000 SFF Ada Generation": "nvidia.rtx.4000-sff-ada",
    "NVIDIA RTX 4000 Ada Generation": "nvidia.rtx.4000-ada",
    "NVIDIA RTX 4500 Ada Generation": "nvidia.rtx.4500-ada",
    "NVIDIA RTX 5000 Ada Generation": "nvidia.rtx.5000-ada",
    "NVIDIA RTX 5880 Ada Generation": "nvidia.rtx.5880-ada",
    "NVIDIA RTX 6000 Ada Generation": "nvidia.rtx.6000-ada",
    "NVIDIA RTX 6000D": "nvidia.rtx-pro.6000d",
    "NVIDIA RTX PRO 2000 Blackwell": "nvidia.rtx-pro.2000-blackwell",
    "NVIDIA RTX PRO 4000 Blackwell": "nvidia.rtx-pro.4000-blackwell",
    "NVIDIA RTX PRO 4000 Blackwell SFF Edition": "nvidia.rtx-pro.4000-sff-blackwell",
    "NVIDIA RTX PRO 4500 Blackwell": "nvidia.rtx-pro.4500-blackwell",
    "NVIDIA RTX PRO 4500 Blackwell Server Edition": "nvidia.rtx-pro.4500-blackwell-server",
    "NVIDIA RTX PRO 5000 Blackwell": "nvidia.rtx-pro.5000-blackwell-48gb",
    "NVIDIA RTX PRO 5000 72GB Blackwell": "nvidia.rtx-pro.5000-blackwell-72gb",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": (
        "nvidia.rtx-pro.6000-blackwell-workstation"
    ),
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": (
        "nvidia.rtx-pro.6000-blackwell-max-q"
    ),
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": "nvidia.rtx-pro.6000-blackwell-server",
    "NVIDIA_H100_80GB_HBM3": "nvidia.datacenter.h100-sxm5-80gb",
    "NVIDIA_A100_80GB_PCIe": "nvidia.datacenter.a100-pcie-80gb",
    "NVIDIA_GeForce_RTX_2080_Ti": "nvidia.geforce.rtx-2080-ti",
    "NVIDIA_RTX_PRO_6000_Blackwell_Server_Edition": "nvidia.rtx-pro.6000-blackwell-server",
}
"""nvidia-smi and torch.cuda.get_device_name: names of NVIDIA's table of supported devices and of
older drivers."""

RUNTIMES = {
    "AMD Instinct MI100": "amd.instinct.mi100",
    "AMD Instinct MI210": "amd.instinct.mi210",
    "AMD Instinct MI250": "amd.instinct.mi250",
    "AMD Instinct MI250X": "amd.instinct.mi250x",
    "AMD Instinct MI300A": "amd.instinct.mi300a",
    "AMD Instinct MI300X": "amd.instinct.mi300x",
    "AMD_Instinct_MI325X": "amd.instinct.mi325x",
    "AMD Instinct MI355X": "amd.instinct.mi355x",
    "gfx908": "amd.instinct.mi100",
    "AMD Radeon VII": "amd.radeon.vii",
    "AMD Radeon RX 6800 XT": "amd.radeon.rx-6800-xt",
    "AMD Radeon RX 6900 XT": "amd.radeon.rx-6900-xt",
    "AMD Radeon RX 7900 XT": "amd.radeon.rx-7900-xt",
    "AMD Radeon RX 7900 XTX": "amd.radeon.rx-7900-xtx",
    "Radeon RX 7900 GRE": "amd.radeon.rx-7900-gre",
    "AMD Radeon PRO W7900": "amd.radeon-pro.w7900",
    "AMD Radeon RX 9070 XT": "amd.radeon.rx-9070-xt",
    "AMD Radeon AI PRO R9700": "amd.radeon-ai-pro.r9700",
    "AMD_Radeon_R9700": "amd.radeon-ai-pro.r9700",
    "Intel(R) Arc(TM) A770 Graphics": "intel.arc.a770-16gb",
    "Intel(R) Arc(TM) A750 Graphics": "intel.arc.a750",
    "Intel(R) Arc(TM) B580 Graphics": "intel.arc.b580",
    "Intel(R) Arc(TM) Pro B60 Graphics": "intel.arc.pro-b60",
    "Intel(R) Arc(TM) Pro B70 Graphics": "intel.arc.pro-b70",
    "AMD Instinct MI350P": "amd.instinct.mi350p",
    "AMD Radeon PRO V620": "amd.radeon-pro.v620",
    "Radeon 8060S Graphics": "amd.ryzen-ai.max-plus-395",
    "gfx1151": "amd.ryzen-ai.max-plus-395",
    "Intel(R) Data Center GPU Max 1100": "intel.datacenter-max.1100",
    "Intel(R) Data Center GPU Max 1550": "intel.datacenter-max.1550",
}
"""rocm-smi, HIP and SYCL device names."""

LSPCI = {
    "VGA compatible controller [0300]: NVIDIA Corporation GA102 [GeForce RTX 3090] [10de:2204] (rev a1)": (
        "nvidia.geforce.rtx-3090"
    ),
    "3D controller [0302]: NVIDIA Corporation GA100 [A100 PCIe 40GB] [10de:20f1] (rev a1)": (
        "nvidia.datacenter.a100-pcie-40gb"
    ),
    "3D controller [0302]: NVIDIA Corporation GA100 [A100 SXM4 80GB] [10de:20b2] (rev a1)": (
        "nvidia.datacenter.a100-sxm4-80gb"
    ),
    "3D controller: NVIDIA Corporation GV100GL [Tesla V100 SXM2 32GB] (rev a1)": (
        "nvidia.tesla.v100-sxm2-32gb"
    ),
    "3D controller: NVIDIA Corporation GK210GL [Tesla K80] (rev a1)": "nvidia.tesla.k80",
    "3D controller: NVIDIA Corporation GP100GL [Tesla P100 PCIe 16GB] (rev a1)": (
        "nvidia.tesla.p100-pcie-16gb"
    ),
    "VGA compatible controller: NVIDIA Corporation TU102 [GeForce RTX 2080 Ti Rev. A] (rev a1)": (
        "nvidia.geforce.rtx-2080-ti"
    ),
    "VGA compatible controller: NVIDIA Corporation GA102GL [RTX A6000] (rev a1)": (
        "nvidia.rtx.a6000"
    ),
    "VGA controller [0300]: NVIDIA Corporation Device [10de:2b85] (rev a1)": (
        "nvidia.geforce.rtx-5090"
    ),
    "VGA controller [0300]: NVIDIA Corporation Device [10de:2bb1] (rev a1)": (
        "nvidia.rtx-pro.6000-blackwell-workstation"
    ),
    "3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)": (
        "nvidia.datacenter.h100-sxm5-80gb"
    ),
    "3D controller: NVIDIA Corporation Device 10de:2901": "nvidia.datacenter.b200-sxm6-180gb",
    "VGA compatible controller: AMD/ATI Navi 21 [Radeon RX 6900 XT] (rev c0)": (
        "amd.radeon.rx-6900-xt"
    ),
    "Display controller: Advanced Micro Devices, Inc. [AMD/ATI] Arcturus GL-XL [Instinct MI100] (rev 01)": (
        "amd.instinct.mi100"
    ),
    "Display controller: Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran/MI200 [Instinct MI210] (rev 02)": (
        "amd.instinct.mi210"
    ),
    "VGA compatible controller [0300]: Intel Corporation DG2 [Arc A750] [8086:56a1] (rev 08)": (
        "intel.arc.a750"
    ),
    "VGA compatible controller: Intel Corporation Battlemage G31 [Intel Graphics] [8086:e222]": (
        "intel.arc.pro-b65"
    ),
    "VGA compatible controller [0300]: Intel Corporation Battlemage G31 [Arc Pro B70] [8086:e223]": (
        "intel.arc.pro-b70"
    ),
    "VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]": (
        "intel.arc.b580"
    ),
}
"""Lines of lspci, with and without numbers."""

SUBMISSIONS = {
    "NVIDIA H100-SXM5-80GB": "nvidia.datacenter.h100-sxm5-80gb",
    "NVIDIA H100-PCIe-80GB": "nvidia.datacenter.h100-pcie-80gb",
    "NVIDIA H100-NVL-94GB": "nvidia.datacenter.h100-nvl-94gb",
    "NVIDIA H200-SXM-141GB": "nvidia.datacenter.h200-sxm5-141gb",
    "NVIDIA H200-NVL-141GB": "nvidia.datacenter.h200-nvl-141gb",
    "NVIDIA B200-SXM-180GB": "nvidia.datacenter.b200-sxm6-180gb",
    "NVIDIA Jetson AGX Orin 64GB": "nvidia.jetson.agx-orin-64gb",
    "NVIDIA Jetson AGX Orin Developer Kit": "nvidia.jetson.agx-orin-64gb",
    "NVIDIA Jetson Orin NX 16GB": "nvidia.jetson.orin-nx-16gb",
    "AGX Orin": "nvidia.jetson.agx-orin-64gb",
    "Orin NX": "nvidia.jetson.orin-nx-16gb",
    "Xavier NX": "nvidia.jetson.xavier-nx-8gb",
    "NVIDIA Jetson Xavier NX": "nvidia.jetson.xavier-nx-8gb",
    "NVIDIA Jetson AGX Xavier 32GB": "nvidia.jetson.agx-xavier-32gb",
    "AMD Instinct MI300X 192GB HBM3": "amd.instinct.mi300x",
    "AMD Instinct MI325X 256GB HBM3e": "amd.instinct.mi325x",
    "AMD MI300X": "amd.instinct.mi300x",
    "AMD MI355X": "amd.instinct.mi355x",
    "Tesla T4 16GB": "nvidia.tesla.t4",
    "Google TPU v4": "google.tpu.v4",
    "TPU v5e": "google.tpu.v5e",
    "TPU v5p": "google.tpu.v5p",
    "Intel Gaudi 2": "intel.gaudi.gaudi2",
    "Gaudi2": "intel.gaudi.gaudi2",
}
"""MLPerf submissions and system files."""

PEOPLE = {
    "A100 40GB SXM": "nvidia.datacenter.a100-sxm4-40gb",
    "A100 80GB SXM4": "nvidia.datacenter.a100-sxm4-80gb",
    "A100 PCIe 40 GB": "nvidia.datacenter.a100-pcie-40gb",
    "NVIDIA A100 (80GB, SXM)": "nvidia.datacenter.a100-sxm4-80gb",
    "A100-40G-PCIe": "nvidia.datacenter.a100-pcie-40gb",
    "V100 32GB PCIe": "nvidia.tesla.v100-pcie-32gb",
    "V100-32GB-SXM2": "nvidia.tesla.v100-sxm2-32gb",
    "P100 PCIe 16GB": "nvidia.tesla.p100-pcie-16gb",
    "H100 SXM": "nvidia.datacenter.h100-sxm5-80gb",
    "h100-sxm5": "nvidia.datacenter.h100-sxm5-80gb",
    "h100 pcie": "nvidia.datacenter.h100-pcie-80gb",
    "H100-NVL": "nvidia.datacenter.h100-nvl-94gb",
    "H200 SXM 141 GB": "nvidia.datacenter.h200-sxm5-141gb",
    "l40s": "nvidia.datacenter.l40s",
    "Nvidia L40S 48GB": "nvidia.datacenter.l40s",
    "A10 24GB": "nvidia.datacenter.a10",
    "T4": "nvidia.tesla.t4",
    "K80": "nvidia.tesla.k80",
    "rtx3080ti laptop": "nvidia.geforce.rtx-3080-ti-laptop",
    "RTX 4090 Mobile": "nvidia.geforce.rtx-4090-laptop",
    "rtx3090": "nvidia.geforce.rtx-3090",
    "RTX3090Ti": "nvidia.geforce.rtx-3090-ti",
    "rtx 4090 24gb": "nvidia.geforce.rtx-4090",
    "RTX4070TiSuper": "nvidia.geforce.rtx-4070-ti-super",
    "4090": "nvidia.geforce.rtx-4090",
    "3060 12GB": "nvidia.geforce.rtx-3060",
    "2080ti": "nvidia.geforce.rtx-2080-ti",
    "GTX1080Ti 11GB": "nvidia.geforce.gtx-1080-ti",
    "4060 Ti 16GB": "nvidia.geforce.rtx-4060-ti-16gb",
    "5060 Ti 16G": "nvidia.geforce.rtx-5060-ti-16gb",
    "RTX 3080 12GB": "nvidia.geforce.rtx-3080-12gb",
    "RTX 3080 10GB": "nvidia.geforce.rtx-3080-10gb",
    "7900xtx": "amd.radeon.rx-7900-xtx",
    "rx 9070 xt 16gb": "amd.radeon.rx-9070-xt",
    "MI50 32GB": "amd.instinct.mi50-32gb",
    "Radeon Instinct MI60": "amd.instinct.mi60",
    "A6000": "nvidia.rtx.a6000",
    "Quadro RTX A6000": "nvidia.rtx.a6000",
    "RTX 6000 Ada": "nvidia.rtx.6000-ada",
    "rtx6000ada": "nvidia.rtx.6000-ada",
    "6000 Ada 48GB": "nvidia.rtx.6000-ada",
    "RTX 8000": "nvidia.quadro.rtx-8000",
    "RTX PRO 6000 Blackwell 96GB": "nvidia.rtx-pro.6000-blackwell-workstation",
    "RTX Pro 4500": "nvidia.rtx-pro.4500-blackwell",
    "TitanV": "nvidia.titan.v",
    "titan rtx 24 GB": "nvidia.titan.rtx",
    "GTX Titan X (Maxwell)": "nvidia.titan.x-maxwell",
    "Titan X Pascal": "nvidia.titan.x-pascal",
    "NVIDIA GeForce RTX 4090, 24564 MiB": "nvidia.geforce.rtx-4090",
    "NVIDIA A40, 46068 MiB": "nvidia.datacenter.a40",
    "DGX Spark GPU": "nvidia.gb10.dgx-spark",
    "Jetson Nano": "nvidia.jetson.nano",
    "jetson orin nano 8gb": "nvidia.jetson.orin-nano-8gb",
}
"""Papers, shops, forums."""

NAMES = {**DRIVER, **RUNTIMES, **LSPCI, **SUBMISSIONS, **PEOPLE}


def test_there_are_enough_names() -> None:
    assert len(NAMES) >= 250


@pytest.mark.parametrize(("name", "part_id"), NAMES.items())
def test_a_name_means_its_card(name: str, part_id: str) -> None:
    gpu = shipped_gpu_names().meaning(name).gpu
    assert gpu is not None
    assert gpu.id == part_id


def test_every_name_of_the_catalog_means_its_own_part() -> None:
    gpus = [part for part in shipped_catalog().of_kind("gpu") if isinstance(part, GPU)]
    meanings = {
        name: (gpu.id, shipped_gpu_names().meaning(name).gpu)
        for gpu in gpus
        for name in (gpu.id, gpu.name, *gpu.aliases)
    }
    assert {
        name: found and found.id
        for name, (part_id, found) in meanings.items()
        if found is None or found.id != part_id
    } == {}


def test_pci_ids_name_parts_of_their_vendor() -> None:
    parts = shipped_catalog().parts
    vendors = {"10de": "NVIDIA", "1002": "AMD", "8086": "Intel"}
    assert {
        number: part
        for number, part in shipped_pci_ids().items()
        if parts[part].vendor != vendors[number[:4]]
    } == {}


def test_the_words_of_a_name_have_one_spelling() -> None:
    assert (
        gpu_words("NVIDIA GeForce RTX3080Ti 12G")
        == gpu_words("rtx 3080 ti (12 GB)")
        == {"rtx", "3080", "ti", "12gb"}
    )
    assert gpu_words("GA102 [GeForce RTX 3090] [10de:2204] (rev a1)") == {"rtx", "3090"}
