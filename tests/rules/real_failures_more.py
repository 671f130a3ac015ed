"""More machines and jobs that failed as published: software against generations, windows of memory, drivers, shared lanes. Where
the owner's card or board is not in the catalog, one of the same generation or of the same layout stands for it."""

from real_builds import RTX4090, RTX5090
from real_failures import K80, P40, P100, R5950X, ROME, RTX2080TI, T4, V100, X570, Failure, heads, llama

from rigplanner.catalog.parts import Layout, Motherboard, Slot
from rigplanner.rig.task import Parallelism, Workload

GTX1050, GTX1070, GTX1080 = "nvidia.geforce.gtx-1050", "nvidia.geforce.gtx-1070", "nvidia.geforce.gtx-1080"
GTX1080TI, PRO6000 = "nvidia.geforce.gtx-1080-ti", "nvidia.rtx-pro.6000-blackwell-workstation"
RTX5070, TURBO3090 = "nvidia.geforce.rtx-5070", "gigabyte.turbo.rtx-3090"
RX6700XT, RX6750XT, RX5700XT = "amd.radeon.rx-6700-xt", "amd.radeon.rx-6750-xt", "amd.radeon.rx-5700-xt"
REBAR = "xCuri0/ReBarUEFI issue {}"


def old_board(chipset: str, socket: str) -> Motherboard:
    """Return a board of one x16 slot, as far as the story tells: its firmware offers 'Above 4G decoding', or was made to."""
    slot = Slot(id="PCIE1", position=1, mechanical=16, origin="cpu0", gen=3, width=16)
    layout = Layout(sockets=(socket,), chipset=chipset, memory_type="DDR3", memory_slots=4, slots=(slot,), above_4g=True)
    return Motherboard(id=f"own.board.{chipset.lower()}", name=chipset, vendor="owner", layout=layout)


Z77, Z97, H67 = old_board("Z77", "LGA1155"), old_board("Z97", "LGA1150"), old_board("H67", "LGA1155")
OLD_BOARDS = (Z77, Z97, H67)
M40 = "nvidia.tesla.m40-24gb"


def serving(quant: str) -> Workload:
    return llama(task="inference", precision="fp16", quant=quant, stack="vllm")


def compiled() -> Workload:
    return llama(task="train", flags=["compile"])


MORE_FAILURES = (
    Failure("AWQ on a V100", "vllm-project/vllm issue 4202", (V100,), ("SW017",), job=serving("awq")),
    Failure("AWQ on a V100 of 2023", "vllm-project/vllm issue 1488", (V100,), ("SW017",), job=serving("awq")),
    Failure("4-bit compressed tensors on a V100", "vllm-project/llm-compressor issue 1258", (V100,), ("SW017",),
            job=serving("w4a16")),
    Failure("4-bit compressed tensors on Turing", "vllm-project/vllm issue 25022", (T4,), ("SW017",),
            job=serving("compressed-tensors")),
    Failure("nanoGPT compiled on a GTX 1080", "karpathy/nanoGPT issue 157", (GTX1080,), ("SW018",), job=compiled()),
    Failure("nnU-Net compiled on a GTX 1080 Ti", "MIC-DKFZ/nnUNet issue 2188", (GTX1080TI,), ("SW018",), job=compiled()),
    Failure("nnU-Net training on a GTX 1080 Ti", "MIC-DKFZ/nnUNet issue 2349", (GTX1080TI,), ("SW018",), job=compiled()),
    Failure("A compiled loss on a GTX 1070", "apple/ml-cross-entropy issue 41", (GTX1070,), ("SW018",), job=compiled()),
    Failure("ChatTTS compiled on a GTX 1080 Ti", "2noise/ChatTTS issue 341", (GTX1080TI,), ("SW018",), job=compiled()),
    Failure("vLLM compiled on a P100", "vllm-project/vllm issue 14547", (P100,), ("SW018", "SW013"),
            job=llama(task="inference", stack="vllm", flags=["compile"])),
    Failure("Driver 595 and a GTX 1050", "NixOS/nixos-hardware issue 1880", (GTX1050,), ("SW014",), {"driver": "595.71"}),
    Failure("Driver 595 in a laptop of 2016", "NixOS/nixos-hardware issue 1828", (GTX1050,), ("SW014",), {"driver": "595.58"}),
    Failure("Driver 495 and Kepler", "NixOS/nixpkgs pull request 142565", (K80,), ("SW014",), {"driver": "495.44"}),
    Failure("A K80 beside an RTX 4090", "endoflife-date/endoflife.date pull request 464: R495 does not serve Kepler",
            ("asus.x99.x99-e-ws", "intel.core.i7-5960x", K80, RTX4090), ("SW015",)),
    Failure("A P40 beside an RTX 5090", "PyTorch RELEASE.md: wheels of CUDA 12.8 begin with Volta, older ones end with Hopper",
            ("asus.x99.x99-e-ws", "intel.core.i7-5960x", P40, RTX5090), ("SW016",)),
    Failure("RTX 5090 and wheels up to sm_90 in a trainer", "FlyMyAI/flymyai-lora-trainer issue 47", (RTX5090,), ("SW002",),
            {"pytorch": "2.6", "cuda": "12.4"}),
    Failure("RTX 5090 and a mesh generator", "DreamTechAI/Direct3D-S2 issue 32", (RTX5090,), ("SW002",),
            {"pytorch": "2.5", "cuda": "12.1"}),
    Failure("RTX 5090 and legged robots", "Hellod035/LeggedLab issue 26", (RTX5090,), ("SW002",),
            {"pytorch": "2.5", "cuda": "12.4"}),
    Failure("RTX PRO 6000 and Xinference", "xorbitsai/inference issue 3866", (PRO6000,), ("SW002",),
            {"pytorch": "2.6", "cuda": "12.4"}),
    Failure("RTX 5090 and Xinference's image", "xorbitsai/inference issue 3603", (RTX5090,), ("SW002",),
            {"pytorch": "2.6", "cuda": "12.4"}),
    Failure("RTX 5070 before wheels had sm_120", "pytorch/pytorch issue 151376", (RTX5070,), ("SW002",),
            {"pytorch": "2.6", "cuda": "12.6"}),
    Failure("RX 6700 XT and rocBLAS", "ROCm issue 2720", (RX6700XT,), ("SW009",), {"rocm": "6.0"}),
    Failure("RX 6750 XT and rocBLAS", "ROCm/rocBLAS issue 1339", (RX6750XT,), ("SW009",), {"rocm": "5.5"}),
    Failure("A card of gfx1031 without a library", "ROCm/rocBLAS issue 1299", (RX6700XT,), ("SW009",), {"rocm": "5.3"}),
    Failure("RX 5700 XT and rocBLAS", "ROCm/rocBLAS pull request 1251", (RX5700XT,), ("SW009",), {"rocm": "6.0"}),
    Failure("A fourth RTX 3090 on the chipset of an X399 board", "r/LocalLLaMA: four RTX 3090 and a hidden PCIe 2.0 x4 slot",
            ("gigabyte.ga.x399-designare-ex", "amd.threadripper.1950x", (TURBO3090, 4, ("PCIE1", "PCIE3", "PCIE5", "PCIE6"))),
            ("PCI003", "PCI004", "SLT006")),
    Failure("Eight RTX 4090 without peer access", "NVIDIA/nccl-tests issue 307",
            ("supermicro.superserver.sys-421ge-tnrt", ("intel.xeon.gold-6430", 2), (RTX4090, 8)), ("P2P001",),
            job=llama(task="train", parallelism=Parallelism(tensor=8))),
    Failure("Two RTX 4090 apart under tensor parallelism", "NVIDIA/go-gpuallocator issue 17; vllm-project/vllm issue 1838",
            (ROME, "amd.epyc.7443p", (RTX4090, 2)), ("P2P001",),
            job=llama(task="inference", stack="vllm", parallelism=Parallelism(tensor=2))),
    Failure("V100 SXM2 module for a desktop", "r/homelab: SXM2 modules need an adapter board", (X570, R5950X,
            "nvidia.tesla.v100-sxm2-16gb"), ("GPU001",)),
    Failure("FlashAttention on two Quadro RTX 5000", "komikndr/raylight issue 68", (("nvidia.quadro.rtx-5000", 2),), ("SW006",),
            job=llama(task="inference", attention="flash")),
    Failure("FlashAttention on Turing in vLLM", "vllm-project/vllm issue 8189", (RTX2080TI,), ("SW006",),
            job=llama(task="inference", stack="vllm", precision="fp16", attention="flash")),
    Failure("FlashAttention on a V100 in PLLaVA", "magic-research/PLLaVA pull request 62", (V100,), ("SW006",),
            job=llama(task="train", attention="flash")),
    Failure("FlashAttention on a T4", "Dao-AILab/flash-attention issue 762, comment", (T4,), ("SW006",),
            job=llama(task="inference", attention="flash")),
    Failure("52 heads on eight GPUs", "vllm-project/vllm issue 2652", ((RTX4090, 8),), ("WRK001",), job=heads(52, 8)),
    Failure("12 heads on eight GPUs", "MIV-XJTU/FSDrive issue 21", ((RTX4090, 8),), ("WRK001",), job=heads(12, 8)),
    Failure("25 heads on two GPUs", "vllm-project/vllm issue 1705", ((RTX4090, 2),), ("WRK001",), job=heads(25, 2)),
    Failure("64 heads on six A6000", "vllm-project/vllm issue 11147", (("nvidia.rtx.a6000", 6),), ("WRK001",), job=heads(64, 6)),
    Failure("32 heads on three GPUs", "containers/ai-lab-recipes issue 514", ((RTX4090, 3),), ("WRK001",), job=heads(32, 3)),
    Failure("32 heads on five GPUs", "dylanyunlon/Neuron_SP issue 4", (("nvidia.rtx.a6000", 5),), ("WRK001",), job=heads(32, 5)),
    Failure("64 heads on five V100", "vllm-project/vllm issue 596, comment", ((V100, 5),), ("WRK001",), job=heads(64, 5)),
    Failure("Three GPUs for a model of 32 heads", "gpustack/gpustack issue 2259", ((TURBO3090, 3),), ("WRK001",), job=heads(32, 3)),
    Failure("A serving engine without a build for Windows", "vLLM documentation: Linux only", (RTX4090,), ("SW013",),
            {"os": "Windows 11"}, job=llama(task="inference", stack="vllm")),
    Failure("M40 on a Z77 Extreme4", REBAR.format(212), (Z77.id, M40), ("PCI010",)),
    Failure("M40 on a P8Z77-V Deluxe", REBAR.format(45), (Z77.id, M40), ("PCI010",)),
    Failure("M40 on a Z97S", REBAR.format(82), (Z97.id, M40), ("PCI010",)),
    Failure("P40 on a P8H67", REBAR.format(86), (H67.id, P40), ("PCI010",)),
    Failure("M40 on a Z77E-ITX", REBAR.format(383), (Z77.id, M40), ("PCI010",)),
    Failure("V100 of 32 GiB on a Z77X", REBAR.format(381), (Z77.id, "nvidia.tesla.v100-pcie-32gb"), ("PCI010",)),
    Failure("P40 on a Z97P", REBAR.format(354), (Z97.id, P40), ("PCI010",)),
    Failure("M40 on Z77 with 16 GiB", REBAR.format(395), (Z77.id, M40), ("PCI010",)),
)  # fmt: skip
