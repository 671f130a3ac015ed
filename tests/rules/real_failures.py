"""Machines and jobs that failed as published, with the codes of which at least one must speak as a warning or an error."""

from typing import Any

from msgspec import Struct, field
from real_builds import RTX3090, RTX4090, RTX5090, Pick

from rigplanner.rig.document import Settings, Site
from rigplanner.rig.task import Parallelism, Workload


class Failure(Struct, frozen=True):
    """What went wrong, who told it, the parts, the codes that must speak, and what else belongs to the story. `remark`: a
    setting of the owner decides, so a remark is enough."""

    name: str
    source: str
    parts: tuple[Pick, ...]
    codes: tuple[str, ...]
    software: dict[str, str] = field(default_factory=dict)
    job: Workload | None = None
    site: Site = Site()
    remark: bool = False

    def settings(self) -> Settings:
        return Settings(software=self.software)


def llama(**fields: Any) -> Workload:
    return Workload(model="llama-3.1-8b", **fields)


def heads(count: int, degree: int, precision: str = "fp16") -> Workload:
    """Return tensor-parallel serving of a model with so many attention heads."""
    config = {"num_attention_heads": count, "num_key_value_heads": count, "hidden_size": count * 128, "num_hidden_layers": 40,
              "intermediate_size": 13824, "vocab_size": 32000}  # fmt: skip
    return Workload(task="inference", precision=precision, parallelism=Parallelism(tensor=degree), params_m=13000.0, config=config)


X570, R5950X, R9950X = "msi.meg.x570-unify", "amd.ryzen.9-5950x", "amd.ryzen.9-9950x"
X870E, ROME, TRX40 = "asus.rog-strix.x870e-e-gaming-wifi", "asrock-rack.romed8.romed8-2t", "gigabyte.trx40.aorus-xtreme"
US = Site(country="US", volts=120.0, breaker_a=15.0)
RTX2080TI, T4, P40 = "nvidia.geforce.rtx-2080-ti", "nvidia.tesla.t4", "nvidia.tesla.p40"
P100, K80, V100 = "nvidia.tesla.p100-pcie-16gb", "nvidia.tesla.k80", "nvidia.tesla.v100s-pcie-32gb"
PUGET = "Puget Systems: NVLink bridge compatibility charts (articles 1330 and 2074)"

FAILURES = (
    Failure("RTX 3090 and a wheel of CUDA 10.2", "pytorch/pytorch issue 53838", (RTX3090,), ("SW002", "SW003", "SW005"),
            {"pytorch": "1.8", "cuda": "10.2"}),
    Failure("RTX 5090 and PyTorch 2.6", "pytorch/pytorch issue 150733", (RTX5090,), ("SW002",), {"pytorch": "2.6", "cuda": "12.6"}),
    Failure("RTX 5090 and PyTorch 2.0.1", "pBFSLab/DeepPrep issue 233", (RTX5090,), ("SW002",), {"pytorch": "2.0", "cuda": "11.8"}),
    Failure("K40m and PyTorch 1.3", "pytorch/pytorch issue 30532", ("nvidia.tesla.k40m",), ("SW002",),
            {"pytorch": "1.3", "cuda": "10.1"}),
    Failure("K80 and PyTorch 2.7 of CUDA 11.8", "nelson-liu/pytorch-manylinux-binaries issue 13", (K80,), ("SW002",),
            {"pytorch": "2.7", "cuda": "11.8"}),
    Failure("P100 and a wheel of CUDA 12.8", "Kaggle/kaggle-cli issue 1151", (P100,), ("SW002",),
            {"pytorch": "2.10", "cuda": "12.8"}),
    Failure("P100 and NVIDIA's container 25.02", "boson-ai/higgs-audio issue 36", (P100,), ("SW010",), {"ngc-pytorch": "25.02"}),
    Failure("P100 and vLLM", "vllm-project/vllm issue 1284", (P100,), ("SW013",),
            job=llama(task="inference", stack="vllm")),
    Failure("TensorFlow on a CPU without AVX", "tensorflow/tensorflow issue 46496", ("intel.pentium.g4560",), ("SW001",),
            {"tensorflow": "1.15"}),
    Failure("FlashAttention on an RTX 2080 Ti", "Dao-AILab/flash-attention issue 1514", (RTX2080TI,), ("SW006",),
            job=llama(task="train", attention="flash")),
    Failure("FlashAttention on a V100S", "microsoft/MInference issue 51", (V100,), ("SW006",),
            job=llama(task="train", attention="flash")),
    Failure("FlashAttention on a Quadro RTX 5000", "Dao-AILab/flash-attention issue 762", ("nvidia.quadro.rtx-5000",), ("SW006",),
            job=llama(task="train", attention="flash")),
    Failure("bf16 on a T4", "vllm-project/vllm issue 1157", (T4,), ("SW007",), job=llama(task="inference", precision="bf16")),
    Failure("bf16 on a V100", "vllm-project/vllm issue 946", ("nvidia.tesla.v100-sxm2-32gb",), ("SW007",),
            job=llama(task="inference", precision="bf16")),
    Failure("52 heads on three V100", "vllm-project/vllm issue 414", ((V100, 3),), ("WRK001",), job=heads(52, 3)),
    Failure("40 heads on three RTX 3090", "vllm-project/vllm issue 596", ((RTX3090, 3),), ("WRK001",), job=heads(40, 3)),
    Failure("40 heads on six T4", "vllm-project/vllm issue 4232", ((T4, 6),), ("WRK001",), job=heads(40, 6)),
    Failure("28 heads on eight GPUs", "THU-KEG/AdaptThink issue 1", ((RTX4090, 8),), ("WRK001",), job=heads(28, 8)),
    Failure("Passive P40 at home", "ariezlabs.com: Cooling a Tesla P40 in the living room",
            (X570, R5950X, P40, "fractal-design.meshify-2.meshify-2", "corsair.rmx.rm850x-2021"), ("CLG001",)),
    Failure("Passive K80 at home", "hackster.io: cooler for a GPU that doesn't have one",
            (X570, R5950X, K80, "fractal-design.meshify-2.meshify-2", "corsair.rmx.rm850x-2021"), ("CLG001",)),
    Failure("Turing's bridge on two RTX 3090", PUGET,
            (ROME, "amd.epyc.7443p", (RTX3090, 2), "nvidia.nvlink-bridge.geforce-rtx-4-slot"), ("NVL002",)),
    Failure("Bridge of the RTX 6000 on two RTX 5000", PUGET,
            (ROME, "amd.epyc.7443p", ("nvidia.quadro.rtx-5000", 2), "nvidia.nvlink-bridge.quadro-rtx-6000-8000-2-slot"),
            ("NVL002", "NVL006")),
    Failure("A GeForce bridge on two GP100", PUGET,
            (ROME, "amd.epyc.7443p", ("nvidia.quadro.gp100", 2), "nvidia.nvlink-bridge.geforce-rtx-3-slot"), ("NVL002",)),
    Failure("A bridge on two RTX 4090", "meterpreter.org: no NVLink on the RTX 4090",
            (ROME, "amd.epyc.7443p", (RTX4090, 2), "nvidia.nvlink-bridge.geforce-rtx-3090-4-slot"), ("NVL001",)),
    Failure("Four RTX 3090 at full power on one supply", "Tim Dettmers: Which GPUs to get for deep learning (power limits)",
            (ROME, "amd.epyc.7443p", ("gigabyte.turbo.rtx-3090", 4), "corsair.axi.ax1600i"), ("PWR002", "PWR003"), site=US),
    Failure("A 9900K on a board of the 200 series", "Intel: processors of the ninth generation need a 300-series chipset",
            ("asus.prime.z270-a", "intel.core.i9-9900k"), ("CPU001", "CPU002")),
    Failure("Registered memory on AM5", "AMD: AM5 processors take unbuffered modules only",
            (X870E, R9950X, "samsung.server.m321r8ga0bb0-cqk"), ("MEM002",)),
    Failure("DDR4 on AM5", "AMD: AM5 takes DDR5 only", (X870E, R9950X, "g-skill.trident-z-neo.f4-3600c16q-64gtzn"), ("MEM001",)),
    Failure("P40 without a CPU plug to spare", "NVIDIA Tesla P40 product brief: one 8-pin CPU power connector",
            (X570, R5950X, P40, "corsair.rmx.rm650x-2018"), ("PWR005", "PWR006")),
)  # fmt: skip
