"""Failures and machines of strangers, published on trackers, in blogs and by sellers,
          of which none stands in the other lists; each
verdict was written down before the rules were run on it. Where the owner's part is not in the catalog, one alike stands for it."""

from real_builds import FRAME, RDIMM4, RTX3090, RTX4090, RTX5090, Build
from real_failures import P40, T4, Failure
from real_failures_hosts import board, served, trained

from rigplanner.rig.document import Site
from rigplanner.rig.task import Parallelism, Workload

MI50, RVII = "amd.instinct.mi50-32gb", "amd.radeon.vii"
V100, H100, L40S = "nvidia.tesla.v100s-pcie-32gb", "nvidia.datacenter.h100-sxm5-80gb", "nvidia.datacenter.l40s"
SPARK, ORIN = "nvidia.dgx.dgx-spark", "nvidia.jetson.orin-nano-super-developer-kit"
AGX_ORIN, MAX395 = "nvidia.jetson.agx-orin-64gb-developer-kit", "framework.desktop.max-plus-395-128gb"
R5950X, R9950X = "amd.ryzen.9-5950x", "amd.ryzen.9-9950x"
X570PRO, PRO870 = "asus.prime.x570-pro", "msi.pro.x870-p-wifi"
JAPAN = Site(country="JP", volts=100.0, breaker_a=15.0)
JAPAN_200 = Site(country="JP", volts=200.0, breaker_a=20.0)
X99F8 = board("X99-F8", "LGA2011-3", False, 4)
STRANGE_PARTS = (X99F8,)
VLLM = "vllm-project/vllm issue {}"


def sliced(degree: int, quant: str, inner: int, heads: int = 32, experts: int | None = None, **more: object) -> Workload:
    """Return serving in vLLM of quantised weights whose MLPs are `inner` wide, cut in `degree` parts."""
    config = {"num_attention_heads": heads, "num_key_value_heads": 8, "hidden_size": 4096, "num_hidden_layers": 48,
              "vocab_size": 151936, "intermediate_size": 6144 if experts else inner, **more}  # fmt: skip
    if experts:
        config |= {"num_experts": experts, "num_experts_per_tok": 8, "moe_intermediate_size": inner}
    if quant == "fp8":
        config["quantization_config"] = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    return Workload(task="inference", stack="vllm", quant=quant, precision="fp16" if quant != "fp8" else "bf16", config=config,
                    params_m=30000.0, parallelism=Parallelism(tensor=degree))  # fmt: skip


STRANGE_FAILURES = (
    Failure("Radeon VII and ROCm 6.4", "ROCm/legacy-rocm-build issue 4625", (RVII,), ("SW009",), {"rocm": "6.4"}),
    Failure("MI50 and ROCm 7.1", "iacopPBK/llama.cpp-gfx906 issue 12", (MI50,), ("SW009",), {"rocm": "7.1"}),
    Failure("MI50 in vLLM", "vllm-project/vllm issue 6565 and pull request 33811", (MI50,), ("SW021",), job=served(stack="vllm")),
    Failure("Ryzen AI MAX+ 395 and PyTorch of ROCm 7.0", "pytorch/pytorch issue 164346", (MAX395,), ("SW009",),
            {"rocm": "7.0", "pytorch": "2.10"}),
    Failure("RX 7600 XT and PyTorch of ROCm 6.2", "pytorch/pytorch issue 147626", ("amd.radeon.rx-7600-xt",), ("SW009",),
            {"rocm": "6.2", "pytorch": "2.6"}),
    Failure("Compiled code on a DGX Spark with PyTorch 2.9",
            "vllm-project/vllm pull request 32704; GeeeekExplorer/nano-vllm issue 130", (SPARK,), ("SW018",), {"pytorch": "2.9",
            "cuda": "13.0"}, job=served(flags=["compile"])),
    Failure("FlashAttention 3 on an RTX 5090", "huggingface/kernels-community issue 240", (RTX5090,), ("SW006",),
            job=served(attention="flash3")),
    Failure("FlashAttention 3 in vLLM on L40S", VLLM.format(12429), (L40S,), ("SW006",), job=served(stack="vllm",
            attention="flash3")),
    Failure("bitsandbytes on a Jetson Orin Nano", "bitsandbytes-foundation/bitsandbytes issue 1930", (ORIN,), ("SW023",),
            {"bitsandbytes": "0.46.1"}),
    Failure("vLLM's wheel on a Jetson AGX Orin", "vllm-project/vllm pull request 19328", (AGX_ORIN,), ("SW023",),
            job=served(stack="vllm")),
    Failure("PyTorch from PyPI on a GH200 class machine", "pytorch/pytorch issues 160162 and 168065", ("nvidia.gb200.nvl2",),
            ("SW023",), {"pytorch": "2.9", "cuda": "12.8"}, remark=True),
    Failure("PyTorch 2.4 on an Arm server", "pytorch/pytorch issue 134790", ("nvidia.gb200.nvl2",), ("SW023", "SW002"),
            {"pytorch": "2.4", "cuda": "12.4"}),
    Failure("TensorFlow 2.20 on an RTX 5080", "tensorflow/tensorflow issue 99592", ("nvidia.geforce.rtx-5080",), ("SW020",),
            {"tensorflow": "2.20"}),
    Failure("TensorFlow 2.18 on an RTX 5070 Ti", "tensorflow/tensorflow issue 90291", ("nvidia.geforce.rtx-5070-ti",), ("SW020",),
            {"tensorflow": "2.18"}),
    Failure("GPUDirect Storage on a 3090", "NVIDIA/gds-nvidia-fs issue 14", (RTX3090, "samsung.ssd-980-pro.2-tb"), ("DSK007",),
            job=trained(flags=["gds"])),
    Failure("GPUDirect Storage on a 4090", "tinygrad/open-gpu-kernel-modules issue 51", (RTX4090, "samsung.ssd-980-pro.2-tb"),
            ("DSK007",), job=trained(flags=["gds"])),
    Failure("Qwen3-30B-A3B-FP8 over four GPUs", VLLM.format(25292), ((L40S, 4),), ("WRK006",), job=sliced(4, "fp8", 768,
            experts=128)),
    Failure("MiniMax-M2.7 over eight GPUs", "vllm-project/vllm pull request 48173", ((H100, 8),), ("WRK006",),
            job=sliced(8, "fp8", 1536, 48, 256)),
    Failure("Qwen3.8-Flash-Next-FP8 over eight L40S", VLLM.format(54178), ((L40S, 8),), ("WRK006",),
            job=sliced(8, "fp8", 320, experts=512)),
    Failure("Qwen2.5-VL-72B-AWQ over two GPUs", "QwenLM/Qwen3-VL issue 831", ((L40S, 2),), ("WRK006",), job=sliced(2, "awq",
            29568, 64)),
    Failure("InternVL3-78B-AWQ over two GPUs", VLLM.format(21695), ((L40S, 2),), ("WRK006",), job=sliced(2, "awq", 29568, 64)),
    Failure("Fine-tuned Qwen-72B in GPTQ over four GPUs", "QwenLM/Qwen3 issue 698", ((L40S, 4),), ("WRK006",),
            job=sliced(4, "gptq", 29568, 64)),
    Failure("Qwen-14B-AWQ over two GPUs", VLLM.format("1816, which does not name the size"), ((RTX3090, 2),), ("WRK006",),
            job=sliced(2, "awq", 13696, 40)),
    Failure("An RTX 5090 over OCuLink", "NVIDIA/open-gpu-kernel-modules issue 900", ("asus.proart.x870e-creator-wifi", R9950X,
            "generic.adapter.m-2-to-oculink-adapter", "minisforum.deg.deg1", RTX5090), ("PCI004",)),
    Failure("A 3080 in the last slot of PRIME X570-PRO", "noonghunna/club-3090 issue 707", (X570PRO, R5950X, (RTX5090, 1,
            ("PCIEX16_1",)), ("nvidia.geforce.rtx-3080-20gb", 2, ("PCIEX16_2", "PCIEX16_3"))), ("PCI003", "PCI004")),
    Failure("The second of two 3090 on a 5600X's board", "noonghunna/club-3090 pull request 594", ("asus.tuf-gaming.b550-plus",
            "amd.ryzen.5-5600x", (RTX3090, 2)), ("PCI003",)),
    Failure("Second slot of MAG X570 Tomahawk", "poctoprod.org: X570, Ryzen 9 5950X, dual RTX 3090", ("msi.mag.x570-tomahawk-wifi",
            R5950X, (RTX3090, 2, ("PCI_E1", "PCI_E3"))), ("PCI003",)),
    Failure("Four slots of x16 size on PRO X870-P", "sweclockers.com post 20720520", (PRO870, R9950X, (RTX3090, 1, ("PCI_E2",))),
            ("PCI003", "PCI004")),
    Failure("A drive halves PCI_E4 of PRO X870-P", "sweclockers.com post 20720520", (PRO870, R9950X, (RTX3090, 2, ("PCI_E1",
            "PCI_E4")), ("samsung.ssd-990-pro.2-tb", 1, ("M2_3",))), ("PCI001", "PCI003")),
    Failure("Two 5090 on X870 AORUS Elite", "arsenalpc.com: MES2X against ES620", ("gigabyte.aorus.x870-aorus-elite-wifi7", R9950X,
            (RTX5090, 2)), ("PCI003", "PCI004")),
    Failure("Four cards on an X99-F8 without its 4G option", "miyconst/Mi899 issue 39", (X99F8.id, "intel.xeon.e5-2680-v4", (P40,
            4)),
            ("PCI006",)),
    Failure("A K40m in an HP workstation", "forums.developer.nvidia.com 64917", ("hp.z.z840", ("intel.xeon.e5-2680-v4", 2),
            "nvidia.tesla.k40m"), ("CLG001",)),
    Failure("A P40 in a Precision 5820", "cupano.com: a sovereign AI server", ("dell.precision.5820-tower", "intel.xeon-w.w-2245",
            P40),
            ("CLG001", "PWR005", "PWR006")),
    Failure("Six 3090 on a mining board", "thinksmart.life: budget against pro", ("asrock.btc.h510-pro-btc-plus",
            "intel.celeron.g5905", (RTX3090, 4), ("generic.mining.usb-riser-x1-ver-009s", 4)), ("PCI004", "RIS001")),
    Failure("A Celeron G5905 under PyTorch", "thinksmart.life: budget against pro", ("asrock.btc.h510-pro-btc-plus",
            "intel.celeron.g5905", RTX3090), ("SW001",), {"pytorch": "2.8"}),
    Failure("Two 5090 at 100 V", "hotchpotch.dev: a PC with two RTX 5090", ("asus.proart.x870e-creator-wifi", R9950X, (RTX5090, 2),
            "asrock.taichi.tc-1650t"), ("PWR012", "PWR011"), site=JAPAN),
    Failure("Two 5090 on a supply of 1300 W", "hotchpotch.dev: a PC with two RTX 5090", ("asus.proart.x870e-creator-wifi", R9950X,
            (RTX5090, 2), "asrock.taichi.tc-1300t"), ("PWR002", "PWR003")),
    Failure("Two 5090 on one 1600 W supply", "peerip.com: dual HX1600i", ("asus.pro-ws.trx50-sage-wifi", "amd.threadripper.9970x",
            (RTX5090, 2), "corsair.axi.ax1600i"), ("PWR002", "PWR003", "PWR004")),
    Failure("A 5090 on 850 W", "evezone.evetech.co.za: what PSU for a high-VRAM rig", ("asus.proart.x870e-creator-wifi", R9950X,
            RTX5090, "corsair.rmx.rm850x-2021"), ("PWR003", "PWR004")),
    Failure("Two 3090 behind a UPS of 1000 W", "localrig.pages.dev: UPS for a home AI server", ("asus.proart.x870e-creator-wifi",
            R9950X, (RTX3090, 2), "corsair.rmx.rm1000x-2021", "cyberpower.pfc-sinewave.cp1500pfclcd-ups-1500-va-1000-w"),
            ("PWR016",)),
    Failure("A UPS with stepped wave", "localrig.pages.dev: UPS for a home AI server", ("asus.proart.x870e-creator-wifi", R9950X,
            RTX3090, "corsair.rmx.rm850x-2021", "apc.back-ups-pro.bx1500m-ups-1500-va-900-w"), ("PWR021",)),
    Failure("A network card of eight lanes in x1", "geerlingguy/raspberry-pi-pcie-devices issue 143", (PRO870, R9950X,
            ("intel.ethernet.x540-t2", 1, ("PCI_E2",))), ("PCI008",)),
    Failure("Two 5090 of four slots in Meshify 2 XL", "arsenalpc.com: the fourth slot of every 5090",
            ("asus.proart.x870e-creator-wifi", R9950X, ("gigabyte.aorus-master.rtx-5090", 2, ("PCIEX16(G5)_1", "PCIEX16(G4)")),
            "fractal-design.meshify-2-xl.meshify-2-xl"),
            ("SPC003", "SLT004", "PCI003")),
    Failure("8 GB modules on a quarter of an EPYC 7252", "thinksmart.life: pro tier", ("asrock-rack.romed8.romed8-2t",
            "amd.epyc.7252", (RTX3090, 4), ("samsung.server.m393a2k43bb1-crc", 2)), ("MEM005", "MEM008")),
)  # fmt: skip

STRANGE_BUILDS = (
    Build("5090 and two 3080 of 20 GB on X570-PRO", "noonghunna/club-3090 issue 707", (X570PRO, R5950X, (RTX5090, 1,
          ("PCIEX16_2",)),
          ("nvidia.geforce.rtx-3080-20gb", 2, ("PCIEX16_1", "PCIEX16_3")), ("crucial.ddr4.ct2k32g4dfd832a", 2))),
    Build("Two 5090 on WRX80 Creator", "noonghunna/club-3090 issue 1098", ("asrock.creator.wrx80-creator-r2-0",
          "amd.threadripper-pro.3975wx", (RTX5090, 2, ("PCIE1", "PCIE5")), (RDIMM4, 8))),
    Build("Four 3090 of 250 W on WRX80D8-2T", "noonghunna/club-3090 issue 1106", ("asrock-rack.wrx80.wrx80d8-2t",
          "amd.threadripper-pro.3975wx", (RTX3090, 4, (), 250.0), ("adt-link.k33.k33sf-tl-pcie-4-0-riser", 4), (RDIMM4, 8),
          FRAME)),
    Build("Four 3090 on TRX40-PRO S, one by M.2", "noonghunna/club-3090 issue 1028, which does not name the slots",
          ("asus.prime.trx40-pro-s", "amd.threadripper.3970x", (RTX3090, 4), ("adt-link.k33.k33sf-tl-pcie-4-0-riser", 3),
          "generic.adapter.m-2-to-oculink-adapter", "minisforum.deg.deg1", ("crucial.ddr4.ct2k32g4dfd832a", 4), FRAME)),
    Build("Two 3090 on X570 AORUS MASTER", "noonghunna/club-3090 issue 1095", ("gigabyte.aorus.x570-aorus-master",
          "amd.ryzen.9-5900x", (RTX3090, 2), ("crucial.ddr4.ct2k16g4dfd824a", 2))),
    Build("Four 3090 of 300 W and a 2950X", "noonghunna/club-3090 pull request 44", ("asrock.taichi.x399-taichi",
          "amd.threadripper.2950x", (RTX3090, 4, (), 300.0), ("adt-link.k33.k33sf-tl-pcie-4-0-riser", 4), FRAME)),
    Build("Two 3090 of 250 W and a 5600X", "noonghunna/club-3090 pull request 594", ("asus.tuf-gaming.b550-plus",
          "amd.ryzen.5-5600x", (RTX3090, 2, (), 250.0), "crucial.ddr4.ct2k16g4dfd824a")),
    Build("Two 3090 of 290 W and a 5800X", "noonghunna/club-3090 issue 642", (X570PRO, "amd.ryzen.7-5800x", (RTX3090, 2, (),
          290.0),
          "crucial.ddr4.ct2k32g4dfd832a")),
    Build("Two 5090 at 200 V", "hotchpotch.dev: a PC with two RTX 5090", ("asus.proart.x870e-creator-wifi", R9950X, (RTX5090, 2),
          "asrock.taichi.tc-1650t")),
    Build("Two bridged 3090 on TRX40 PRO 10G", "jonready.com: a local LLM rig", ("msi.trx40.trx40-pro-10g",
          "amd.threadripper.3970x", (RTX3090, 2), ("crucial.ddr4.ct2k32g4dfd832a", 4))),
    Build("Two 3090 on MAG X570 Tomahawk", "poctoprod.org: dual RTX 3090", ("msi.mag.x570-tomahawk-wifi", R5950X, (RTX3090, 2,
          ("PCI_E1", "PCI_E3")), "crucial.ddr4.ct2k32g4dfd832a", ("samsung.ssd-980-pro.2-tb", 2),
          ("seagate.barracuda.st2000dm008-2-tb", 5))),
    Build("Three 2080 Ti with blowers", "curtisnorthcutt.com: pro deep learning workstation", ("asus.ws.x299-sage",
          "intel.core.i9-9820x", ("asus.turbo.rtx-2080-ti", 3), "corsair.vengeance-lpx.cmk64gx4m4b3000c15",
          "evga.supernova.1600-p2", "corsair.hydro.h100i-v2", "lian-li.o11.o11-dynamic-evo-xl", "samsung.ssd-970-evo-plus.1-tb")),
    Build("A GTX 1080 at home", "deeplearningathome.com: building a PC", ("asus.sabertooth.z170-s", "intel.core.i7-6700k",
          "nvidia.geforce.gtx-1080", "corsair.vengeance-lpx.cmk32gx4m2b3200c16", "samsung.ssd-850-evo.500-gb",
          "corsair.rmx.rm850x-2021")),
    Build("Two 980 Ti of 2016", "tongfamily.com: machine learning machines", ("asus.x99.x99-e-ws", "intel.xeon.e5-1620-v3",
          ("nvidia.geforce.gtx-980-ti", 2), "corsair.vengeance-lpx.cmk64gx4m4b3000c15", "evga.supernova.1600-g2")),
    Build("MI50 on EPYC", "iacopPBK/llama.cpp-gfx906 issue 12", ("asrock-rack.romed8.romed8-2t", "amd.epyc.7713", MI50,
          "generic.cooling.tesla-blower-shroud", (RDIMM4, 8))),
    Build("Four 3090 on ROMED8-2T, pro tier", "thinksmart.life: budget against pro", ("asrock-rack.romed8.romed8-2t",
          "amd.epyc.7252", (RTX3090, 4, (), 300.0), ("adt-link.k33.k33sf-tl-pcie-4-0-riser", 4), (RDIMM4, 2),
          "super-flower.leadex-platinum.2000w", FRAME)),
    Build("Two 5090 in a big case", "arsenalpc.com: ES620 with Crosshair X870E", ("asus.rog.crosshair-x870e-hero", R9950X,
          (RTX5090, 2), "asrock.taichi.tc-1650t", "crucial.ddr5.ct2k32g56c46u5")),
    Build("Four L40S", "hire machine of vLLM issue 54178, halved", ("supermicro.a-plus.as-4125gs-tnrt", ("amd.epyc.9354", 2),
          (L40S, 8), ("samsung.server.m321r8ga0bb0-cqk", 24))),
    Build("A P40 with a blower in a Precision 5820", "cupano.com, after the mend", ("dell.precision.5820-tower",
          "intel.xeon-w.w-2245", P40, "generic.cooling.tesla-blower-shroud")),
    Build("A DGX Spark", "GeeeekExplorer/nano-vllm issue 130: runs after patches", (SPARK,)),
)  # fmt: skip

STRANGE_RUNS = (
    Failure("Radeon VII and ROCm 6.3", "ROCm/legacy-rocm-build issue 4625: 6.3 worked", (RVII,), (), {"rocm": "6.3"}),
    Failure("FlashAttention 3 on a 3090, from source", "Dao-AILab/flash-attention issue 1049, 2026", (RTX3090,), (),
            job=served(attention="flash3")),
    Failure("Compiled code on a DGX Spark with PyTorch 2.10", "vllm-project/vllm pull request 30525", (SPARK,), (),
            {"pytorch": "2.10", "cuda": "13.0"}, job=served(flags=["compile"])),
    Failure("MiniMax-M2.7 over four GPUs", "vllm-project/vllm pull request 48173: TP 4 works", ((H100, 4),), (),
            job=sliced(4, "fp8", 1536, 48, 256)),
    Failure("A padded AWQ checkpoint over two GPUs", "QwenLM documentation: pad to 29696", ((L40S, 2),), (),
            job=sliced(2, "awq", 29696, 64)),
    Failure("Qwen2.5-32B-AWQ over two GPUs", "its MLP of 27648 is 216 groups", ((L40S, 2),), (), job=sliced(2, "awq", 27648, 40)),
    Failure("TensorFlow 2.20 on a T4", "control of tensorflow/tensorflow issue 99592", (T4,), (), {"tensorflow": "2.20"}),
    Failure("PyTorch 2.9 of CUDA 13.0 on a DGX Spark", "vllm-project/vllm pull request 32704: eager code runs", (SPARK,), (),
            {"pytorch": "2.9", "cuda": "13.0"}),
    Failure("GPUDirect Storage on an H100", "control of NVIDIA/gds-nvidia-fs issue 14", ("nvidia.datacenter.h100-pcie-80gb",
            "samsung.ssd-980-pro.2-tb"), (), job=trained(flags=["gds"])),
    Failure("Two 5090 on 200 V", "hotchpotch.dev: outlet of 20 A and 250 V", ("asus.proart.x870e-creator-wifi", R9950X, (RTX5090,
            2),
            "asrock.taichi.tc-1650t"), (), site=JAPAN_200),
)  # fmt: skip
