"""Still more machines and jobs that failed as published: firmware, host ports, PCIe atomics, Windows, serving engines, drivers.
Where the owner's board or CPU is not in the catalog, one of the same generation stands for it, or one made of what the story tells.
"""

from real_builds import RTX3090, RTX4090, RTX5090
from real_failures import K80, P40, R5950X, ROME, US, X870E, Failure, llama
from real_failures_more import M40, PRO6000

from rigplanner.catalog.parts import CPU, Layout, Motherboard, Slot
from rigplanner.rig.task import Parallelism, Workload

RX580, MI50 = "amd.radeon.rx-580-8gb", "amd.instinct.mi50-32gb"


def board(name: str, socket: str, above_4g: bool | None, slots: int = 1, gen: int = 3) -> Motherboard:
    """Return a board of slots of the CPU, as far as the story tells."""
    places = tuple(
        Slot(id=f"PCIE{n + 1}", position=1 + 2 * n, mechanical=16, origin="cpu0", gen=gen, width=16 if n == 0 else 8)
        for n in range(slots)
    )
    layout = Layout(sockets=(socket,), memory_slots=4, slots=places, above_4g=above_4g)
    return Motherboard(id=f"own.board.{name.lower()}", name=name, vendor="owner", layout=layout)


def cpu(name: str, socket: str, pcie_gen: int = 3) -> CPU:
    """Return a CPU without AVX."""
    return CPU(id=f"own.cpu.{name.lower()}", name=name, vendor="Intel", socket=socket, isa=("sse4_2",), pcie_gen=pcie_gen)


X99, Q77, Z97P = board("X99-UD4P", "LGA2011-3", False, 4), board("Q77", "LGA1155", True), board("Z97P-D3", "LGA1150", False, 2)
X58 = board("X58-Pro", "LGA1366", None, 1, 2)
X5650, X5675 = cpu("X5650", "LGA1366", 2), cpu("X5675", "LGA1366", 2)
J4125, G4930, G5905, U3955 = cpu("J4125", "BGA1090"), cpu("G4930", "LGA1151"), cpu("G5905", "LGA1200"), cpu("U3955", "BGA1356")
OWN_PARTS = (X99, Q77, Z97P, X58, X5650, X5675, J4125, G4930, G5905, U3955)


def trained(**fields: object) -> Workload:
    return llama(task="train", **fields)


def served(**fields: object) -> Workload:
    return llama(task="inference", **fields)


def split(degree: int) -> Workload:
    return served(stack="vllm", precision="fp16", parallelism=Parallelism(tensor=degree))


HOST_FAILURES = (
    Failure("P40 on X99-UD4P without the 4G option", "JingShing/How-to-use-tesla-p40 issue 2",
            (X99.id, "intel.xeon.e5-2620-v4", P40), ("PCI006",)),
    Failure("V100 on X99-UD4 F23", "xCuri0/ReBarUEFI issue 303",
            (X99.id, "intel.xeon.e5-2680-v4", "nvidia.tesla.v100-pcie-16gb"), ("PCI006",)),
    Failure("M40 in a Dell 7010", "xCuri0/ReBarUEFI issue 77", (Q77.id, M40), ("PCI010",)),
    Failure("P40 on Z97P-D3", "xCuri0/ReBarUEFI issue 63", (Z97P.id, P40), ("PCI006", "PCI010")),
    Failure("Six RTX PRO 6000 on WRX90E-SAGE with USB4 on", "local-inference-lab/rtx6kpro pull request 5; Level1Techs forum 212695",
            ("asus.pro-ws.wrx90e-sage-se", "amd.threadripper-pro.7975wx", ("nvidia.rtx-pro.6000-blackwell-max-q", 6)), ("KNO001",)),
    Failure("APU gives the slot eight lanes", "dartraiden/NVIDIA-patcher issue 106",
            ("asus.prime.x570-p", "amd.ryzen.5-3400g", ("nvidia.geforce.gtx-1080-ti", 1, ("PCIEX16_1",))), ("PCI004", "PCI002")),
    Failure("RX 580 on X58 and a Xeon X5650", "ROCm/legacy-rocm-build issue 1214",
            (X58.id, X5650.id, RX580), ("PCI011",), {"rocm": "3.7"}),
    Failure("RX 560 in X570's chipset slot", "ROCm/legacy-rocm-build issue 910",
            ("asus.prime.x570-p", "amd.ryzen.7-3700x", (RX580, 1, ("PCIEX16_2",))), ("PCI011",), {"rocm": "2.9"}),
    Failure("RX 570 in the second slot of a Z270", "ROCm/legacy-rocm-build issue 622",
            ("asus.prime.z270-a", "intel.core.i3-7100", (RX580, 1, ("PCIEX16_3",))), ("PCI011",), {"rocm": "1.9"}),
    Failure("Second RX 570 on H270", "ROCm/legacy-rocm-build issue 364",
            ("gigabyte.ga.b250-hd3", "intel.core.i5-7500", (RX580, 2)), ("PCI011",), {"rocm": "1.7"}),
    Failure("Seven of eight RX 580 on risers", "ROCm/legacy-rocm-build issue 755",
            ("asus.b250.b250-mining-expert", "intel.core.i7-6700k", (RX580, 8), ("generic.mining.usb-riser-x1-ver-009s", 8)),
            ("PCI011",), {"rocm": "2.2"}),
    Failure("All-reduce hangs on two RTX 5880 Ada, ACS", "NVIDIA/nccl issue 2079",
            (ROME, "amd.epyc.7443p", ("nvidia.rtx.5880-ada", 2)), ("P2P002",), job=trained(), remark=True),
    Failure("1080 Ti hang with the IOMMU on", "NVIDIA/nccl issue 257",
            ("supermicro.superserver.sys-7048gr-tr", ("intel.xeon.e5-2680-v4", 2), ("nvidia.geforce.gtx-1080-ti", 4)),
            ("P2P002",), job=trained(), remark=True),
    Failure("NCCL hangs behind a switch, ACS", "NVIDIA/nccl issue 606",
            ("asus.esc.esc8000-g4", ("intel.xeon.gold-6248", 2), ("nvidia.datacenter.a100-pcie-40gb", 4)), ("P2P002",),
            job=trained(), remark=True),
    Failure("PXB and PIX pairs hang until VT-d is off", "NVIDIA/nccl issue 667",
            ("supermicro.superserver.sys-4029gp-trt", ("intel.xeon.gold-6248", 2), ("nvidia.datacenter.a100-pcie-40gb", 4)),
            ("P2P002",), job=trained(), remark=True),
    Failure("AlexNet on four GPUs slower than one: ACS", "soumith/imagenet-multiGPU.torch issue 59",
            ("supermicro.superserver.sys-7048gr-tr", ("intel.xeon.e5-2680-v4", 2), ("nvidia.titan.x-maxwell", 4)), ("P2P002",),
            job=trained(), remark=True),
    Failure("Two RTX PRO 6000 hang in P2P", "local-inference-lab/rtx6kpro issue 15",
            ("asus.pro-ws.wrx90e-sage-se", "amd.threadripper-pro.7975wx", (PRO6000, 2)), ("P2P002",), job=split(2), remark=True),
    Failure("Four 4090 hang on ROMED8-2T", "NVIDIA/nccl-tests issue 117",
            (ROME, "amd.epyc.7402p", (RTX4090, 4)), ("P2P001",), job=trained()),
    Failure("Eight 4090 hang in all_reduce", "tinygrad/open-gpu-kernel-modules issue 45",
            ("supermicro.superserver.sys-421ge-tnrt", ("intel.xeon.gold-6430", 2), (RTX4090, 8)), ("P2P001",), job=trained()),
    Failure("V100 and images of CUDA 13", "mudler/LocalAI issue 9948",
            ("nvidia.tesla.v100-pcie-32gb",), ("SW003",), {"cuda": "13.0"}),
    Failure("V100 and a wheel of CUDA 13", "unslothai/unsloth pull request 5876",
            ("nvidia.tesla.v100-pcie-16gb",), ("SW002", "SW003"), {"pytorch": "2.10+cu130"}),
    Failure("Four DDR4-3200 DIMMs on Ryzen 3000", "heise.de 6057463",
            ("asus.prime.x570-pro", "amd.ryzen.9-3900x", ("crucial.ddr4.ct2k32g4dfd832a", 2)), ("MEM006",)),
    Failure("Four fast DIMMs on X870E", "tomshardware forum 3871822",
            (X870E, "amd.ryzen.7-9800x3d", ("g-skill.trident-z5-neo.f5-6000j3038f16gx2-tz5n", 2)), ("MEM006",)),
    Failure("Kits of two makers on X570-Pro", "blog.madbrain.com, December 2022",
            ("asus.prime.x570-pro", "amd.ryzen.9-5950x", "kingston.fury-beast.kf436c18bbk2-64",
            "corsair.vengeance-lpx.cmk64gx4m2d3600c18"), ("MEM006", "MEM007")),
    Failure("No AVX on a Celeron J4125", "intel/ipex-llm issue 12739", (J4125.id,), ("SW001",), job=served(stack="ipex-llm")),
    Failure("TensorFlow on a Xeon X5675", "determined-ai/determined issue 3610", (X5675.id,), ("SW001",), {"tensorflow": "2.4"}),
    Failure("ollama on a Xeon X5660", "ollama/ollama issue 1435", (X5650.id,), ("SW001",), job=served(stack="ollama")),
    Failure("PyTorch for ROCm on a Celeron G4930", "ROCm/pytorch issue 1216",
            (G4930.id, "amd.radeon.rx-6800"), ("SW001",), {"rocm": "5.4", "pytorch": "2.0"}),
    Failure("ollama on a Celeron 3955U", "ollama/ollama issue 644", (U3955.id,), ("SW001",), job=served(stack="llama.cpp")),
    Failure("FlashAttention 3 on an RTX 5090", "Dao-AILab/flash-attention pull request 2593",
            (RTX5090,), ("SW006",), job=served(attention="flash3")),
    Failure("FlashAttention on a V100 in Qwen", "QwenLM/Qwen issue 103",
            ("nvidia.tesla.v100-sxm2-32gb",), ("SW006",), job=served(attention="flash")),
    Failure("fp8 on a 3090 Ti", "kijai/ComfyUI-HunyuanVideoWrapper issue 98",
            ("nvidia.geforce.rtx-3090-ti",), ("SW008",), job=served(precision="fp8")),
    Failure("fp8 on an RTX 3050", "kijai/ComfyUI-PyramidFlowWrapper issue 43",
            ("nvidia.geforce.rtx-3050",), ("SW008",), job=served(precision="fp8")),
    Failure("fp8 on an RTX A6000", "aredden/flux-fp8-api issue 30", ("nvidia.rtx.a6000",), ("SW008",), job=served(precision="fp8")),
    Failure("fp8 on an A100", "pytorch pull request 164251",
            ("nvidia.datacenter.a100-sxm4-80gb",), ("SW008",), job=trained(precision="fp8")),
    Failure("Evo 2 on a 3080 Ti", "ArcInstitute/evo2 issue 38",
            ("nvidia.geforce.rtx-3080-ti",), ("SW008",), job=served(precision="fp8")),
    Failure("vLLM on a Tesla P4", "vllm-project/vllm issue 1431", ("nvidia.tesla.p4",), ("SW013",), job=served(stack="vllm")),
    Failure("vLLM on a Tesla M60", "vllm-project/vllm issue 4500", ("nvidia.tesla.m60",), ("SW013",), job=served(stack="vllm")),
    Failure("ollama on a K80", "ollama/ollama issues 9124 and 1756", (K80,), ("SW013",), job=served(stack="ollama")),
    Failure("4-bit AWQ on two Quadro RTX 5000", "vllm-project/vllm issue 29707",
            (("nvidia.quadro.rtx-5000", 2),), ("SW017",), job=served(quant="compressed-tensors", stack="vllm", precision="fp16")),
    Failure("RTX 5080 and the CUDA 11.8 toolkit", "xsuite/xsuite issue 716",
            ("nvidia.geforce.rtx-5080",), ("SW003",), {"cuda": "11.8"}),
    Failure("Driver 470 and CUDA 12.1", "lllyasviel/Fooocus issue 1313",
            ("nvidia.geforce.rtx-3060-laptop",), ("SW004",), {"driver": "470.86", "cuda": "12.1"}),
    Failure("Driver 450 and CUDA 12.1", "IEIT-Yuan/Yuan-2.0 issue 65",
            ("nvidia.datacenter.a100-sxm4-80gb",), ("SW004",), {"driver": "450.80.02", "cuda": "12.1"}),
    Failure("Driver 590 and a P100", "NVIDIA/yum-packaging-precompiled-kmod issue 68",
            ("nvidia.tesla.p100-pcie-16gb",), ("SW014",), {"driver": "590.48"}),
    Failure("PTX of CUDA 12.8 and driver 550", "NVIDIA/numba-cuda issue 192",
            ("nvidia.geforce.rtx-3060-laptop",), ("SW004",), {"driver": "550.54", "cuda": "12.8"}, remark=True),
    Failure("NCCL on Windows, LLaMA2-Accessory", "Alpha-VLLM/LLaMA2-Accessory issue 166",
            ((RTX4090, 2),), ("SW019",), {"os": "Windows 11"}, job=trained()),
    Failure("NCCL on Windows, D-FINE", "Peterande/D-FINE issue 41",
            ((RTX3090, 2),), ("SW019",), {"os": "Windows 10"}, job=trained()),
    Failure("NCCL on Windows, finetrainers", "huggingface/finetrainers issue 326",
            ((RTX4090, 2),), ("SW019",), {"os": "Windows 11"}, job=trained()),
    Failure("3090 with a 3070 of 8 GB in tensor parallel", "vllm-project/vllm issue 2317",
            (RTX3090, "nvidia.geforce.rtx-3070"), ("VRM001", "VRM002"), job=split(2)),
    Failure("RX 580 after ROCm 4", "ROCm/legacy-rocm-build issue 1471", (RX580,), ("SW009",), {"rocm": "4.0"}),
    Failure("RX 580 and ROCm 4.5", "ROCm/legacy-rocm-build issue 1695", (RX580,), ("SW009",), {"rocm": "4.5"}),
    Failure("MI50 and ROCm 7", "ROCm/legacy-rocm-build issue 5215", (MI50,), ("SW009",), {"rocm": "7.0"}),
    Failure("Six 3090 on five supplies and passive risers", "level1techs 190742",
            ("asus.pro-ws.wrx80e-sage-se-wifi", "amd.threadripper-pro.3975wx", (RTX3090, 6),
            ("ezdiy-fab.pcie.pcie-4-0-riser-300-mm", 6), "corsair.hxi.hx1000i-2022", "seasonic.prime.tx-1300",
            "corsair.rmx.rm850x-2021", "evga.supernova.750-g3", "evga.supernova.850-g3"), ("PWR013",)),
    Failure("Second card of an X870 board at chipset x4", "arsenalpc.com MES2X vs ES620",
            ("asus.tuf-gaming.x870-plus-wifi", "amd.ryzen.9-9950x", (RTX5090, 2)), ("PCI003", "PCI004")),
    Failure("Four 3090 Ti uncapped on one 15 A outlet", "jbarrow.ai 2026-05-18",
            (ROME, "amd.epyc.7443p", ("nvidia.geforce.rtx-3090-ti", 4), "super-flower.leadex-platinum.2800w"), ("PWR012",),
            site=US),
    Failure("Second 3090 of an X570 Tomahawk at chipset x4", "poctoprod.org x570-5950x-rtx3090",
            ("asus.prime.x570-p", R5950X, ("gigabyte.turbo.rtx-3090", 2)), ("PCI003", "PCI004")),
    Failure("1080 Ti on x1 risers of an H110 Pro BTC+", "AlexeyAB/darknet issue 2807",
            ("asus.b250.b250-mining-expert", "intel.core.i5-7500", ("nvidia.geforce.gtx-1080-ti", 4),
            ("generic.mining.usb-riser-x1-ver-009s", 3)), ("PCI004", "RIS001")),
    Failure("RTX 4080 through a pigtail on an old 720 W supply", "bmitch87/DLSS5VKLayer issue 21",
            ("asus.prime.z690-p", "intel.core.i7-12700", "nvidia.geforce.rtx-4080", "evga.supernova.750-g3",
            "generic.power.pcie-8-pin-daisy-chain-cable"), ("PWR009", "PWR007")),
    Failure("Celeron G5905 in a 3090 mining frame", "thinksmart.life: budget tier",
            (G5905.id, RTX3090), ("SW001",), {"tensorflow": "2.15"}),
)  # fmt: skip
