"""Failures and machines published on trackers and in blogs, of which none stands in the other lists; each verdict was written down
before the rules were run on it. Where the owner's part is not in the catalog, one alike stands for it."""

from real_builds import FRAME, RDIMM4, RDIMM5, RTX3090, RTX4090, RTX5090, Build
from real_failures import RTX2080TI, T4, Failure, heads
from real_failures_hosts import cpu, served

from rigplanner.catalog.parts import Layout, Motherboard, Plug, PowerSupply, Rating, Slot, Supply
from rigplanner.rig.task import Parallelism, Workload

H100, A100_40, A100 = "nvidia.datacenter.h100-sxm5-80gb", "nvidia.datacenter.a100-sxm4-40gb", "nvidia.datacenter.a100-sxm4-80gb"
THOR, SPARK, V100 = "nvidia.jetson.agx-thor-t5000", "nvidia.dgx.dgx-spark", "nvidia.tesla.v100-pcie-16gb"
GTX1080TI, TITANXP = "nvidia.geforce.gtx-1080-ti", "nvidia.titan.xp"
RTX3080, RTX3060 = "nvidia.geforce.rtx-3080-10gb", "nvidia.geforce.rtx-3060"
A770, A380, RX580 = "intel.arc.a770-16gb", "intel.arc.a380", "amd.radeon.rx-580-8gb"


def layout(socket: str, second: Slot, rebar: bool | None = None) -> Layout:
    first = Slot(id="PCIE1", position=1, mechanical=16, origin="cpu0", gen=3, width=16)
    return Layout(sockets=(socket,), memory_slots=4, slots=(first, second), above_4g=True, resizable_bar=rebar)


def own(name: str, socket: str, second: Slot, rebar: bool | None = None) -> Motherboard:
    return Motherboard(id=f"own.board.{name.lower()}", name=name, vendor="owner", layout=layout(socket, second, rebar))


Z170C = own("Z170-Classified", "LGA1151", Slot(id="PCIE2", position=3, mechanical=16, origin="chipset", gen=1, width=1))
B150M = own("B150M-Night-Elf", "LGA1151", Slot(id="PCIE2", position=4, mechanical=16, origin="chipset", gen=3, width=4))
Z77A = own("Z77A-G41", "LGA1155", Slot(id="PCIE2", position=4, mechanical=16, origin="chipset", gen=2, width=4))
HP83EE = own("HP-83EE", "LGA1151", Slot(id="PCIE2", position=4, mechanical=16, origin="chipset", gen=3, width=4), False)
J3455 = cpu("J3455", "BGA1296")
SERVER700 = PowerSupply(
    id="own.psu.700", name="DPS-700", vendor="Delta", form_factor="ATX",
    supply=Supply(ratings=(Rating(min_volts=100.0, watts=700.0),), plugs=(Plug(type="eps8", count=2),)),
)  # fmt: skip


def atx2(watts: int) -> PowerSupply:
    supply = Supply(
        ratings=(Rating(min_volts=100.0, watts=float(watts)),), plugs=(Plug(type="pcie8", count=4), Plug(type="eps8", count=2))
    )
    return PowerSupply(id=f"own.psu.{watts}", name=f"{watts} W", vendor="maker", form_factor="ATX", supply=supply)


X370 = own("X370-Prime-Pro", "AM4", Slot(id="PCIE2", position=3, mechanical=16, origin="cpu0", gen=3, width=8))
NEW_PARTS = (X370, atx2(650), atx2(750), Z170C, B150M, Z77A, HP83EE, J3455, SERVER700)
DESK = ("asus.prime.z690-p", "intel.core.i9-12900k")


def lora(model: str, precision: str = "nf4", batch: int = 1, seq: int = 2048, **more: object) -> Workload:
    return Workload(model=model, task="train_lora" if precision != "nf4" else "train_qlora", precision=precision,
                    batch_per_gpu=batch, seq_len=seq, gradient_checkpointing="full", **more)  # fmt: skip


NEW_FAILURES = (
    Failure("vLLM 0.21 on a V100", "vLLM documentation of 0.21: 7.5 or higher", (V100,), ("SW020",), {"vllm": "0.21.0"},
            job=served(stack="vllm", precision="fp16")),
    Failure("faster-whisper on a Titan X", "OpenNMT/CTranslate2 issue 1765", ("nvidia.titan.x-maxwell",), ("SW020",),
            {"ctranslate2": "4.4.0"}),
    Failure("ONNX Runtime 1.23.0 on a 5090", "microsoft/onnxruntime issue 26221", (RTX5090,), ("SW020",),
            {"onnxruntime-gpu": "1.23.0"}),
    Failure("ExLlamaV3 on an MI210", "theroyallab/tabbyAPI wiki, ROCm: Instinct is not covered", ("amd.instinct.mi210",),
            ("SW021",), job=served(stack="exllamav3", precision="int4")),
    Failure("MinerU's SGLang on a V100", "opendatalab/MinerU issue 3416", (V100,), ("SW013",),
            job=served(stack="sglang", precision="fp16")),
    Failure("SGLang 0.5 on four T4", "sgl-project/sglang issue 24224, without its release", ((T4, 4),), ("SW020",),
            {"sglang": "0.5.9"}, job=served(stack="sglang", precision="fp16")),
    Failure("MI100 under Windows", "AMD HIP SDK on Windows: no Instinct is listed", ("amd.instinct.mi100",), ("SW009",),
            {"rocm": "6.2", "os": "windows"}),
    Failure("RX 6800 XT and the HIP SDK 7.2", "AMD HIP SDK on Windows, system requirements of 7.2", ("amd.radeon.rx-6800-xt",),
            ("SW009",), {"rocm": "7.2", "os": "windows"}),
    Failure("TensorRT 10.0 on a 1080 Ti", "NVIDIA/TensorRT issue 3826", (GTX1080TI,), ("SW020",), {"tensorrt": "10.0.1"}),
    Failure("TensorRT 7.0 on an A6000", "NVIDIA/TensorRT issue 2332", ("nvidia.rtx.a6000",), ("SW020",), {"tensorrt": "7.0.0"}),
    Failure("TensorRT 7.1 on a 3060 Ti", "NVIDIA/TensorRT issue 975", ("nvidia.geforce.rtx-3060-ti",), ("SW020",),
            {"tensorrt": "7.1.3"}),
    Failure("TensorRT 8.4 on an RTX 4080", "NVIDIA/TensorRT issue 2727", ("nvidia.geforce.rtx-4080",), ("SW020",),
            {"tensorrt": "8.4.1"}),
    Failure("TensorRT 7.0 and CUDA 10.2 on a 3080", "wang-xinyu/tensorrtx issue 819", (RTX3080,), ("SW003", "SW020"),
            {"tensorrt": "7.0", "cuda": "10.2"}),
    Failure("PyTorch 2.9 of CUDA 12.8 on a Thor", "OpenRAL/openral pull request 167", (THOR,), ("SW002", "SW023"),
            {"pytorch": "2.9", "cuda": "12.8"}),
    Failure("Compiled code on a Thor with PyTorch 2.10", "vllm-project/vllm issue 34470", (THOR,), ("SW018",),
            {"pytorch": "2.10", "cuda": "13.0"}, job=served(flags=["compile"])),
    Failure("RX 9070 XT and the HIP SDK 6.2", "githubcto/FramePack-ZLUDA issue 4", ("amd.radeon.rx-9070-xt",), ("SW009",),
            {"rocm": "6.2", "os": "windows"}),
    Failure("RX 5700 XT and RCCL of ROCm 3.8", "ROCm/rccl issue 289", (("amd.radeon.rx-5700-xt", 2),), ("SW009",), {"rocm": "3.8"}),
    Failure("RX 7800 XT and ROCm 5.7", "ROCm/rocBLAS issue 1339, comment", ("amd.radeon.rx-7800-xt",), ("SW009",), {"rocm": "5.7"}),
    Failure("SGLang 0.2.10 on a T4", "sgl-project/sglang issue 931", (T4,), ("SW013", "SW020"),
            {"sglang": "0.2.10", "flashinfer": "0.1.3"}, job=served(stack="sglang", precision="fp16")),
    Failure("FlashInfer 0.1.1 on a 2080 Ti", "flashinfer-ai/flashinfer issue 402", (RTX2080TI,), ("SW020",),
            {"flashinfer": "0.1.1"}),
    Failure("SGLang 0.2.12 on a T4", "sgl-project/sglang issue 1058", (T4,), ("SW013", "SW020"), {"sglang": "0.2.12"},
            job=served(stack="sglang", precision="fp16")),
    Failure("vLLM 0.9.1 on a 1080 Ti", "vllm-project/vllm issue 19542", (GTX1080TI,), ("SW013",), {"vllm": "0.9.1"},
            job=served(stack="vllm", precision="fp16")),
    Failure("vLLM 0.9 on four Titan V", "vllm-project/vllm issue 18818", (("nvidia.titan.v", 4),), ("SW002",),
            {"pytorch": "2.7", "cuda": "12.8"}, job=served(stack="vllm", precision="fp16")),
    Failure("CUDA 13 libraries on a driver of 575", "ollama/ollama pull request 11999", (RTX3090,), ("SW004",),
            {"cuda": "13.0", "driver": "575.64"}),
    Failure("bf16 on a V100 in a gaming PC", "groundy.com: a datacenter V100 in a gaming PC", (V100,), ("SW007",),
            job=served(precision="bf16")),
    Failure("FlashAttention on a V100 in a gaming PC", "groundy.com: a datacenter V100 in a gaming PC", (V100,), ("SW006",),
            job=served(attention="flash")),
    Failure("privateGPT on a Celeron J3455", "zylon-ai/private-gpt issue 203", (J3455.id,), ("SW001",),
            job=served(stack="llama.cpp")),
    Failure("A380 in an HP of the eighth generation", "ggml-org/llama.cpp issue 9106", (HP83EE.id, "intel.core.i7-8700", A380),
            ("PCI007",)),
    Failure("LoRA of a 70B model on A100 of 40 GB", "hiyouga/LlamaFactory issue 747", ((A100_40, 8),), ("VRM001",),
            job=lora("llama-2-70b", "bf16")),
    Failure("QLoRA of a 70B model on four A10G", "hiyouga/LlamaFactory issue 4559", (("nvidia.datacenter.a10g", 4),), ("VRM001",),
            job=lora("llama-3-70b")),
    Failure("QLoRA of CodeLlama 70B on two 4090", "meta-llama/codellama issue 208", ((RTX4090, 2),), ("VRM001",),
            job=lora("llama-2-70b", seq=1024)),
    Failure("Full fine-tuning of a 7B model on one A100", "meta-llama/llama-cookbook issue 413", (A100,), ("VRM001",),
            job=Workload(model="llama-2-7b", task="train_full", precision="fp32", optimizer="adamw", batch_per_gpu=4,
                         seq_len=4096)),
    Failure("QLoRA of 70B in AWQ on 48 GB", "hiyouga/LlamaFactory issue 6827", (("nvidia.datacenter.l40s", 2),),
            ("VRM001", "VRM002"), job=lora("llama-3-70b")),
    Failure("LoRA of LLaMA-7B on two A4000", "OptimalScale/LMFlow issue 213", (("nvidia.rtx.a4000", 2),), ("VRM001", "VRM002"),
            job=Workload(model="llama-2-7b", task="train_lora", precision="fp16", batch_per_gpu=1, seq_len=2048)),
    Failure("A 7B model in fp16 on a 3080 of 10 GB", "manavkhanvilkar.substack.com: hardware", (RTX3080,), ("VRM001",),
            job=Workload(model="qwen2.5-7b", task="inference", precision="fp16")),
    Failure("28 heads of Qwen2-7B over eight H100", "vllm-project/vllm issue 11797", ((H100, 8),), ("WRK001",), job=heads(28, 8)),
    Failure("Two Titan Xp and a Xeon of 145 W on 850 W", "tensorflow/tensorflow issue 8858", ("asus.x99.x99-e-ws",
            "intel.xeon.e5-2699-v4", (TITANXP, 2), "evga.supernova.850-g3"), ("PWR002", "PWR003", "PWR004")),
    Failure("A 3080 on 650 W", "blog.silverpc.hu: RTX 3080 with 650 W", (*DESK, RTX3080, "own.psu.650"),
            ("PWR002", "PWR003", "PWR004")),
    Failure("Four 3090 on 1600 W, uncapped", "runlocalai.co: quad 3090 workstation", ("asus.pro-ws.wrx80e-sage-se-wifi",
            "amd.threadripper-pro.3975wx", (RTX3090, 4), FRAME, "evga.supernova.1600-p2"), ("PWR002", "PWR003")),
    Failure("A 5090 on a supply of ATX 2", "slashgear.com: how much power can a 5090 pull", (*DESK, RTX5090,
            "corsair.rmx.rm1000x-2021"), ("PWR003", "PWR004")),
    Failure("A supply with EPS plugs only", "hackaday.io project 14774", (*DESK, "nvidia.geforce.gtx-1080", SERVER700.id),
            ("PWR005", "PWR006")),
    Failure("A GTX 1060 in a slot of PCIe 1.0 x1", "kreier.github.io: homelab hardware", (Z170C.id, "intel.core.i3-7100",
            ("nvidia.geforce.rtx-3060-ti", 1, ("PCIE1",)), ("nvidia.geforce.gtx-1060-6gb", 1, ("PCIE2",))), ("PCI003", "PCI004")),
    Failure("A third 1070 on an x1 riser", "ethereum-mining/ethminer issue 1078", (X370.id, "amd.ryzen.7-2700x",
            ("nvidia.geforce.gtx-1070", 3), "generic.mining.usb-riser-x1-ver-009s"), ("PCI004", "RIS001")),
    Failure("An RX card in the second slot of B150M", "ROCm/legacy-rocm-build issue 125", (B150M.id, "intel.core.i5-7500",
            (RX580, 2, ("PCIE1", "PCIE2"))), ("PCI011",), {"rocm": "1.6"}),
    Failure("The second slot of Z77A-G41", "Lolliedieb/lolMiner-releases issue 228", (Z77A.id, ("nvidia.geforce.gtx-1070", 2,
            ("PCIE1", "PCIE2"))), ("PCI003", "PCI004")),
)  # fmt: skip

NEW_BUILDS = (
    Build("Three 3090 on H12SSL-i", "nodehome.pages.dev: sovereign node", ("supermicro.h12.h12ssl-i", "amd.epyc.7302",
          (RTX3090, 3), (RDIMM4, 8), FRAME)),
    Build("Four 3090 of 250 W on an EPYC 9575F", "r/LocalLLaMA: EPYC 9575F and four 3090", ("supermicro.h13.h13ssl-n",
          "amd.epyc.9575f", (RTX3090, 4, (), 250.0), ("adt-link.k33.k33sf-tl-pcie-4-0-riser", 4), (RDIMM5, 12),
          "super-flower.leadex-titanium.2200w", FRAME)),
    Build("Four RTX PRO 6000 on GENOAD8X", "TTA: MLPerf Inference v6.1 on a DeepGadget dg5W",
          ("asrock-rack.genoad8x.genoad8x-2t-bcm", "amd.epyc.9124", ("nvidia.rtx-pro.6000-blackwell-server", 4), (RDIMM5, 8))),
    Build("Eight 4090 D on GENOA2D24G", "r/LocalAIServers: on-prem inference rig", ("asrock-rack.genoa2d24g.genoa2d24g-2l-plus",
          ("amd.epyc.9354", 2), ("c-payne.mcio.mcio-x16-device-adapter-with-retimer", 8), ("nvidia.geforce.rtx-4090-d", 8),
          (RDIMM5, 24))),
    Build("Eight H100 PCIe with bridges", "a project's plan on a host of two Gold 6430", ("supermicro.superserver.sys-421ge-tnrt",
          ("intel.xeon.gold-6430", 2), ("nvidia.datacenter.h100-pcie-80gb", 8),
          ("nvidia.nvlink-bridge.h100-pcie-2-slot", 12), (RDIMM5, 16))),
    Build("Four 3090 on two supplies", "runlocalai.co: quad 3090 workstation, the other way", ("asus.pro-ws.wrx80e-sage-se-wifi",
          "amd.threadripper-pro.3975wx", (RTX3090, 4), ("linkup.ultra.ultra-pcie-4-0-riser-40-cm", 4), FRAME,
          ("corsair.rmx.rm1000x-2021", 2), "generic.power.dual-psu-starter-add2psu", (RDIMM4, 8))),
    Build("One card of 250 W on 850 W", "tensorflow/tensorflow issue 8858", ("asus.x99.x99-e-ws", "intel.xeon.e5-2699-v4", TITANXP,
          "seasonic.prime.tx-850")),
    Build("Two cards of 250 W on 1300 W", "tensorflow/tensorflow issue 8858", ("asus.x99.x99-e-ws", "intel.xeon.e5-2699-v4",
          (TITANXP, 2), "seasonic.prime.px-1300")),
    Build("A 4080 on 750 W", "visualfoodie.com after NVIDIA's minimum", (*DESK, "nvidia.geforce.rtx-4080", "own.psu.750")),
    Build("A 3070 on 650 W", "heatedbattery.com after NVIDIA's minimum", (*DESK, "nvidia.geforce.rtx-3070", "own.psu.650")),
    Build("A 2080 on 650 W", "eatsip365.com after NVIDIA's minimum", ("asus.prime.z270-a", "intel.core.i7-7700k",
          "nvidia.geforce.rtx-2080", "own.psu.650")),
    Build("A 3080 on 850 W", "club of owners: NVIDIA's minimum is 750 W", (*DESK, RTX3080, "corsair.rmx.rm850x-2021")),
    Build("An A770 on B550 with its BAR", "intel/ipex-llm issue 13029, after the mend", ("asus.tuf-gaming.b550-plus",
          "amd.ryzen.5-5600", A770)),
    Build("Four A770 in a workstation", "intel/ipex-llm issue 13214", ("asus.pro-ws.w790e-sage-se", "intel.xeon-w.w5-3425",
          (A770, 4))),
    Build("A770 on MZ32-AR0", "xCuri0/ReBarUEFI issue 11", ("gigabyte.mz.mz32-ar0", "amd.epyc.7302p", A770)),
    Build("Four RTX 5000 Ada in a rack server", "geerlingguy/raspberry-pi-pcie-devices issue 791 (R750xa)",
          ("supermicro.superserver.sys-740gp-tnrt", ("intel.xeon.gold-6348", 2), ("nvidia.rtx.5000-ada", 4), (RDIMM4, 16))),
)  # fmt: skip

NEW_RUNS = (
    Failure("ExLlamaV3 on a 7900 XTX", "theroyallab/tabbyAPI wiki, ROCm: run on RDNA 3", ("amd.radeon.rx-7900-xtx",), (),
            job=served(stack="exllamav3", precision="int4")),
    Failure("vLLM 0.19 on a V100", "vLLM documentation of 0.14: 7.0 or higher", (V100,), (), {"vllm": "0.19.0"},
            job=served(stack="vllm", precision="fp16")),
    Failure("ONNX Runtime 1.22 on a 5090", "microsoft/onnxruntime issue 26221: 1.22.0 works", (RTX5090,), (),
            {"onnxruntime-gpu": "1.22.0"}),
    Failure("faster-whisper in int8 on a GTX 1080", "ObscureAintSecure/TalkTrack pull request 48", ("nvidia.geforce.gtx-1080",),
            (), {"ctranslate2": "4.8.1"}),
    Failure("RX 6800 XT and the HIP SDK 6.2", "AMD HIP SDK on Windows, requirements of 6.2.4", ("amd.radeon.rx-6800-xt",), (),
            {"rocm": "6.2", "os": "windows"}),
    Failure("RX 7800 XT and the HIP SDK 6.0", "AMD HIP SDK on Windows, requirements of 6.0.2", ("amd.radeon.rx-7800-xt",), (),
            {"rocm": "6.0", "os": "windows"}),
    Failure("RX 6800 XT and ROCm 5.5", "ROCm/ROCm issue 2353: packages of 5.5 hold gfx1030", ("amd.radeon.rx-6800-xt",), (),
            {"rocm": "5.5"}),
    Failure("TensorRT 8.5 on an RTX 4080", "NVIDIA/TensorRT issue 2727: 8.5.1.7 serves it", ("nvidia.geforce.rtx-4080",), (),
            {"tensorrt": "8.5.1"}),
    Failure("TensorRT 10.5 on a T4", "NVIDIA/TensorRT-LLM issue 2400: the same works on a T4", (T4,), (), {"tensorrt": "10.5"}),
    Failure("TensorRT 8.6 on a 1080 Ti", "NVIDIA/TensorRT issue 3826: go back to 9.1 or 8.5", (GTX1080TI,), (),
            {"tensorrt": "8.6"}),
    Failure("TensorRT 7.2 on a 3060 Ti", "NVIDIA/TensorRT issue 975: 7.2.1 and newer", ("nvidia.geforce.rtx-3060-ti",), (),
            {"tensorrt": "7.2.2"}),
    Failure("PyTorch 2.9 of CUDA 12.8 on a DGX Spark", "OpenRAL/openral pull request 167: code for sm_120 runs", (SPARK,), (),
            {"pytorch": "2.9", "cuda": "12.8"}),
    Failure("PyTorch 2.9 of CUDA 13.0 on a Thor", "pollen-robotics/microduck_rl pull request 39", (THOR,), (),
            {"pytorch": "2.9", "cuda": "13.0"}),
    Failure("RX 9070 XT and ROCm 6.4", "ROCm/rocm-install-on-linux issue 447", ("amd.radeon.rx-9070-xt",), (), {"rocm": "6.4"}),
    Failure("SGLang 0.3 on a T4", "sgl-project/sglang pull request 1233", (T4,), (), {"sglang": "0.3.0", "flashinfer": "0.1.6"},
            job=Workload(model="qwen2-1.5b", task="inference", stack="sglang", precision="fp16")),
    Failure("Four 2080 Ti of 22 GB in SGLang", "sgl-project/sglang issue 6006", (("nvidia.geforce.rtx-2080-ti-22gb", 4),), (),
            {"sglang": "0.4.6"}, job=served(stack="sglang", precision="fp16", parallelism=Parallelism(tensor=4))),
    Failure("vLLM on V100 SXM2 in fp16", "the V100 SXM2 homelab bible", (("nvidia.tesla.v100-sxm2-16gb", 4),), (),
            job=served(stack="vllm", precision="fp16", parallelism=Parallelism(tensor=4))),
    Failure("V100 on driver 580 and CUDA 12.6", "pico.scorpiox.net: what runs", (V100,), (), {"driver": "580.95", "cuda": "12.6"}),
    Failure("QLoRA of Llama 2 7B on a 3090", "Lightning-AI/litgpt issue 553", (RTX3090,), (), job=lora("llama-2-7b", seq=512)),
    Failure("QLoRA of a 70B model on one card of 48 GB", "hiyouga/LlamaFactory issue 4559: 48 GB on one card",
            ("nvidia.rtx.a6000",), (), job=lora("llama-3-70b", seq=256)),
    Failure("A 32B model in 4 bits on two T4", "vllm-project/vllm issue 4232: 32b int4 on two GPUs", ((T4, 2),), (),
            job=Workload(model="qwen1.5-32b", task="inference", stack="vllm", precision="int4", quant="gptq", batch_per_gpu=1,
                         input_tokens=1024, output_tokens=256, parallelism=Parallelism(tensor=2))),
)  # fmt: skip
