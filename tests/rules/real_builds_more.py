"""More machines that people run, in the parts of the catalog: desktops of two and three cards, open frames, servers, and jobs
that run on cards of old. None of them may get an error. Where a part of the original is not in the catalog, the nearest one stands
for it; a part that its owner did not name is left out.
"""

from msgspec.structs import replace
from real_builds import CLUB, FRAME, NVME, RDIMM4, RTX3090, RTX4090, RTX5090, SATA, TRPRO_AIR, Build
from real_failures import P40, R5950X, ROME, T4, US, Failure, llama

from rigplanner.rig.task import Parallelism, Workload

R9700, PRO6000Q = "amd.radeon-ai-pro.r9700", "nvidia.rtx-pro.6000-blackwell-max-q"
TI3090, RTX2080TI = "nvidia.geforce.rtx-3090-ti", "nvidia.geforce.rtx-2080-ti"
UDIMM4, UDIMM5 = "corsair.vengeance-lpx.cmk64gx4m2d3600c18", "corsair.vengeance.cmk96gx5m2b6000c30"
GPT2_SERVED = Workload(model="gpt2", task="inference", stack="ollama", precision="fp16")
TR_AIR = "noctua.nh-u14s.nh-u14s-tr4-sp3"

MORE_BUILDS = (
    Build("Two 3080 and a 5090 on X570", CLUB.format(707),
          ("asus.prime.x570-pro", R5950X, ("nvidia.geforce.rtx-3080-20gb", 2), RTX5090, UDIMM4, NVME)),
    Build("Two 3090 of 290 W at x8", CLUB.format(642),
          ("asus.rog.crosshair-viii-dark-hero", "amd.ryzen.7-5800x", (RTX3090, 2, (), 290.0), UDIMM4, "corsair.hxi.hx1500i-2022")),
    Build("Four 3090 of 250 W on EPYC 7302P", CLUB.format(688),
          (ROME, "amd.epyc.7302p", (RTX3090, 4, ("PCIE1", "PCIE3", "PCIE5", "PCIE7"), 250.0),
           ("linkup.ultra.ultra-pcie-4-0-riser-40-cm", 4), (RDIMM4, 8), "evga.supernova.1600-t2", FRAME)),
    Build("Two 3090 on a Ryzen 5 5600", CLUB.format(294), ("asus.tuf-gaming.b550-plus", "amd.ryzen.5-5600", (RTX3090, 2), UDIMM4)),
    Build("Four 3090 of 300 W on a 2950X", "noonghunna/club-3090 pull request 44: rig report",
          ("asrock.taichi.x399-taichi", "amd.threadripper.2950x", (RTX3090, 4, (), 300.0),
           ("linkup.ultra.ultra-pcie-4-0-riser-40-cm", 4), FRAME, "super-flower.leadex-titanium.1600w")),
    Build("A 5090 of 400 W and a 3090 Ti on B850", CLUB.format(769),
          ("gigabyte.ai-top.b850-ai-top", "amd.ryzen.9-9950x3d", (RTX5090, 1, (), 400.0), TI3090, UDIMM5,
           "seasonic.prime.tx-1600-atx-3-1")),
    Build("Four open 3090 on TRX40-PRO S", CLUB.format(1028),
          ("asus.prime.trx40-pro-s", "amd.threadripper.3970x", (RTX3090, 3), UDIMM4, FRAME,
           ("linkup.ultra.ultra-pcie-4-0-riser-40-cm", 3))),
    Build("Two 5090 on a 9950X3D2", CLUB.format(474),
          ("asus.proart.x870e-creator-wifi", "amd.ryzen.9-9950x3d2", (RTX5090, 2), "corsair.vengeance.cmk192gx5m4b5200c38",
           "seasonic.prime.px-2200")),
    Build("A second 3090 behind the chipset of X570", CLUB.format(126),
          ("msi.meg.x570-unify", R5950X, (RTX3090, 1, ("PCI_E1",)), (RTX3090, 1, ("PCI_E5",)), UDIMM4)),
    Build("Two 5090 at x16 on WRX80", CLUB.format(1140),
          ("asus.pro-ws.wrx80e-sage-se-wifi", "amd.threadripper-pro.3975wx", (RTX5090, 2), (RDIMM4, 8), TRPRO_AIR)),
    Build("Two R9700 on X870", "Kaden-Schutt/hipfire pull request 534",
          ("asrock.taichi.x870e-taichi", "amd.ryzen.9-9950x", (R9700, 2), UDIMM5)),
    Build("Two R9700 on X99", "grosan.co.uk: two R9700 on ASUS X99-E WS/USB 3.1 (modified firmware)",
          ("asus.x99.x99-e-ws-usb-3-1", "intel.core.i7-6900k", (R9700, 2))),
    Build("Four PRO 6000 Max-Q on a 7995WX", "convergence.ninja: workstation of four RTX PRO 6000",
          ("asus.pro-ws.wrx90e-sage-se", "amd.threadripper-pro.7995wx", (PRO6000Q, 4), "seasonic.prime.px-2200",
           ("micron.server.mtc40f2046s1rc64bb1r", 8))),
    Build("Two 3090 on X570 of a home lab", "poctoprod.com: two RTX 3090 and a Ryzen 9 5950X",
          ("gigabyte.aorus.x570s-aorus-master", R5950X, (RTX3090, 2), UDIMM4, "corsair.axi.ax1600i")),
    Build("A 3090 Ti in a Precision 5820", "codcompass.com: RTX 3090 Ti in a Dell Precision 5820",
          ("dell.precision.5820-tower", "intel.xeon-w.w-2295", (RTX3090, 1, (), 300.0))),
    Build("Two bridged 3090 on TRX40", "jonready.com: a Threadripper 3970X with two bridged RTX 3090",
          ("msi.trx40.trx40-pro-10g", "amd.threadripper.3970x", ("gigabyte.turbo.rtx-3090", 2, ("x16-3", "x16-4")),
           "nvidia.nvlink-bridge.rtx-ampere-2-slot", ("corsair.vengeance-lpx.cmk128gx4m4d3600c18", 2), TR_AIR)),
    Build("Two 5090 on 200 V", "hotchpotch.dev: two RTX 5090, supply of 1650 W on a Japanese 200 V outlet",
          ("asus.proart.x870e-creator-wifi", "amd.ryzen.9-9950x", (RTX5090, 2), UDIMM5, "seasonic.prime.tx-1600-atx-3-1")),
    Build("Three 2080 Ti on X299", "Curtis Northcutt: first build, three RTX 2080 Ti (January 2019)",
          ("asus.ws.x299-sage", "intel.core.i9-9820x", ("asus.turbo.rtx-2080-ti", 3), "corsair.vengeance-lpx.cmk64gx4m4b3000c15",
           "evga.supernova.1600-g2", "samsung.ssd-970-evo-plus.1-tb")),
    Build("A GTX 1080 on Z170", "deeplearningathome.com: parts of a machine of 2016",
          ("asus.sabertooth.z170-s", "intel.core.i7-6700k", "nvidia.geforce.gtx-1080", "corsair.vengeance-lpx.cmk32gx4m2b3200c16",
           "cooler-master.hyper.212-evo", "corsair.rmx.rm850x-2021", "samsung.ssd-850-evo.500-gb")),
    Build("Two 3090 in a small tower", "hav4ik.github.io: Iva, two RTX 3090",
          ("asus.proart.x570-creator-wifi", R5950X, (RTX3090, 2), UDIMM4, "corsair.hxi.hx1500i-2022")),
    Build("Eight P40 in a 4028GR", "ggml-org/llama.cpp discussions: eight Tesla P40 in a Supermicro 4028GR-TRT",
          ("supermicro.superserver.sys-4028gr-tr", ("intel.xeon.e5-2680-v4", 2), (P40, 8), ("samsung.server.m393a2k43bb1-crc", 16),
           SATA)),
    Build("Four 4090 of 300 W on ROMED8-2T", "voipmonitor and level1techs: four RTX 4090 on an open frame with risers",
          (ROME, "amd.epyc.7443p", (RTX4090, 4, ("PCIE1", "PCIE3", "PCIE5", "PCIE7"), 300.0), (RDIMM4, 8),
           ("linkup.ultra.ultra-pcie-4-0-riser-40-cm", 4), FRAME, "super-flower.leadex-titanium.1600w")),
    Build("DGX Spark", "NVIDIA: the system as sold", ("nvidia.gb10.dgx-spark",)),
)  # fmt: skip

RUNS = (
    Failure("Ollama on a GTX 970", "Ollama: list of supported GPUs", ("nvidia.geforce.gtx-970",), (),
            job=GPT2_SERVED),
    Failure("TensorRT-LLM on a T4", "NVIDIA/TensorRT-LLM release notes: Turing until 0.20", (T4,), (),
            job=replace(GPT2_SERVED, stack="tensorrt-llm")),
    Failure("FlashAttention 2 on a 4090", "Dao-AILab/flash-attention: cards of the second version", (RTX4090,), (),
            job=Workload(model="gpt2", task="train", attention="flash", precision="bf16")),
    Failure("vLLM of an AWQ model on two 2080 Ti", "vllm-project/vllm: table of quantisations by card", ((RTX2080TI, 2),), (),
            job=llama(task="inference", stack="vllm", precision="fp16", parallelism=Parallelism(tensor=2))),
    Failure("TensorFlow 2.10 on Windows", "TensorFlow: the last release with GPUs on Windows", (RTX3090,), (),
            {"os": "windows", "tensorflow": "2.10", "cuda": "11.2"}),
    Failure("PyTorch 2.7 on a 5090", "PyTorch: wheels of CUDA 12.8", (RTX5090,), (), {"pytorch": "2.7", "cuda": "12.8"}),
    Failure("PyTorch 1.13 on a K80", "PyTorch: wheels of CUDA 11.6 and 11.7 hold sm_37", ("nvidia.tesla.k80",), (),
            {"pytorch": "1.12", "cuda": "11.3"}),
    Failure("PyTorch 2.6 on a GTX 1080 Ti", "PyTorch: wheels of CUDA 11.8 to 12.6 hold sm_60", ("nvidia.geforce.gtx-1080-ti",), (),
            {"pytorch": "2.6", "cuda": "12.4"}),
    Failure("ROCm 6.3 on a 7900 XTX", "ROCm: supported GPUs", ("amd.radeon.rx-7900-xtx",), (), {"rocm": "6.3", "pytorch": "2.7"}),
    Failure("vLLM on two R9700", "vLLM documentation: RX 9000 series", ((R9700, 2),), (),
            job=llama(task="inference", stack="vllm", precision="bf16", parallelism=Parallelism(tensor=2))),
    Failure("FlashAttention on an MI100", "ROCm/flash-attention issue 29", ("amd.instinct.mi100",), (),
            job=Workload(model="gpt2", task="train", attention="flash", precision="fp16")),
    Failure("vLLM on an Arc Pro B60", "vLLM documentation: Intel Arc GPUs", ("intel.arc.pro-b60",), (),
            job=llama(task="inference", stack="vllm", precision="fp16")),
    Failure("llama.cpp on a P40", "ggml-org/llama.cpp: compute capability 6.1", (P40,), (),
            job=llama(task="inference", stack="llama.cpp")),
    Failure("Two capped 3090 on a US outlet", "jbarrow.ai: power limits on one circuit of 15 A",
            ("asus.pro-ws.x570-ace", R5950X, (TI3090, 2, (), 300.0), "corsair.axi.ax1600i"), (), site=US),
)  # fmt: skip
"""Jobs and software that run on the card named."""
