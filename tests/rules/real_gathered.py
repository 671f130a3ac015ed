"""Failures and machines of manuals, forums, blogs and trackers of which none stands in the other lists; each verdict was written
down before the rules were run on it. Where the owner's part is not in the catalog, one alike stands for it."""

from real_builds import FRAME, RDIMM4, RDIMM5, RTX3090, RTX4090, Build
from real_failures import P40, RTX2080TI, Failure
from real_failures_hosts import cpu, served, trained
from real_newcomers import J3455

from rigplanner.catalog.parts import GPU, Layout, Motherboard, Slot
from rigplanner.rig.task import Parallelism, Workload

UNIFY, XTREME, ACE = "msi.meg.x570-unify", "gigabyte.aorus.x570-aorus-xtreme", "msi.meg.x570s-ace-max"
R3400G, R2700X, R5950X, R7950X = "amd.ryzen.5-3400g", "amd.ryzen.7-2700x", "amd.ryzen.9-5950x", "amd.ryzen.9-7950x"
A4000, I210, SSD = "nvidia.rtx.a4000", "intel.ethernet.i210-t1", "samsung.ssd-980-pro.2-tb"
A750, A770, A580 = "intel.arc.a750", "intel.arc.a770-16gb", "intel.arc.a580"
M40, PRO6000, A6000 = "nvidia.tesla.m40-24gb", "nvidia.rtx-pro.6000-blackwell-workstation", "nvidia.rtx.a6000"
A100_40, A100, A800 = "nvidia.datacenter.a100-pcie-40gb", "nvidia.datacenter.a100-sxm4-80gb", "nvidia.datacenter.a800-sxm4-80gb"
TITANX, TITANRTX, TITANXP = "nvidia.titan.x-maxwell", "nvidia.titan.rtx", "nvidia.titan.xp"
V100, T1000, K40 = "nvidia.tesla.v100-pcie-16gb", "nvidia.quadro.t1000-8gb", "nvidia.tesla.k40m"
M330 = cpu("i3-M330", "PGA988", 2)
E52689 = cpu("E5-2689", "LGA2011", 3)
KIT_2X8, RISER = "g-skill.ripjaws-v.f4-3200c16d-16gvkb", "linkup.ultra.ultra-pcie-4-0-riser-20-cm"
MANUAL = "{} manual, page {} (slots and sockets that share lanes)"
SEVEN = Workload(model="llama-2-7b", task="train", precision="mixed", optimizer="adamw", batch_per_gpu=1, seq_len=2048,
                 gradient_checkpointing=True)  # fmt: skip


def own(
    name: str, socket: str, *slots: tuple[str, int, int], chipset: str | None = None, rebar: bool | None = None, released: str = ""
) -> Motherboard:
    """Return a board of sixteen-lane slots (origin, generation, lanes), two columns apart."""
    places = tuple(
        Slot(id=f"PCIE{n + 1}", position=1 + 2 * n, mechanical=16, origin=origin, gen=gen, width=width)
        for n, (origin, gen, width) in enumerate(slots)
    )
    layout = Layout(sockets=(socket,), chipset=chipset, memory_slots=4, slots=places, above_4g=True, resizable_bar=rebar)
    return Motherboard(id=f"own.board.{name.lower()}", name=name, vendor="owner", released=released or None, layout=layout)


AB350 = own("AB350-Gaming-3", "AM4", ("cpu0", 3, 16), chipset="B350", released="2017")
Z390U = own("Z390-Aorus-Ultra", "LGA1151", ("cpu0", 3, 16), ("cpu0", 3, 8), ("chipset", 3, 4), chipset="Z390")
Z97I = own("Z97I-Plus", "LGA1150", ("cpu0", 3, 16), chipset="Z97", rebar=False)
X79 = own("X79-Server", "LGA2011", ("cpu0", 3, 16), chipset="X79", rebar=False)
Z77 = own("Z77-board", "LGA1155", ("cpu0", 3, 16), chipset="Z77")
BTC37 = own("BTC-37", "LGA1155", *((("chipset", 3, 1),) * 8))
K2200 = GPU(id="own.gpu.k2200", name="Quadro K2200", vendor="NVIDIA", form_factor="pcie", compute_capability="5.0")
GATHERED_PARTS = (M330, E52689, AB350, Z390U, Z97I, X79, Z77, BTC37, K2200)

GATHERED_FAILURES = (
    Failure("An APU takes the second slot of MEG X570 Unify away", MANUAL.format("MSI MEG X570 UNIFY", 31), (UNIFY, R3400G,
            (A4000, 2, ("PCI_E1", "PCI_E3"))), ("SLT005",)),
    Failure("Two x1 cards on MEG X570 Unify", MANUAL.format("MSI MEG X570 UNIFY", 31), (UNIFY, R5950X, (I210, 2, ("PCI_E2",
            "PCI_E4"))), ("SLT005",)),
    Failure("An APU takes the second slot of X570 Aorus Xtreme away", "Gigabyte's specification of the X570 AORUS XTREME (Newegg)",
            (XTREME, R3400G, (A4000, 2, ("PCIEX16", "PCIEX8"))), ("SLT005",)),
    Failure("An APU takes the second slot of MEG X570S ACE MAX away", MANUAL.format("MSI MEG X570S ACE MAX", 36), (ACE, R3400G,
            (A4000, 2, ("PCI_E1", "PCI_E2"))), ("SLT005",)),
    Failure("Two drives and a card on the chipset's lanes of X570S ACE MAX", MANUAL.format("MSI MEG X570S ACE MAX", 36), (ACE,
            R5950X, (A4000, 2, ("PCI_E1", "PCI_E4")), (SSD, 2, ("M2_3", "M2_4"))), ("SLT005", "M2004", "PCI001")),
    Failure("A card of sixteen lanes behind a Ryzen 5 8500G", "hothardware.com: lanes of Ryzen 8000G and AI 400",
            ("asus.rog-strix.b650e-e-gaming-wifi", "amd.ryzen.5-8500g", (RTX4090, 1, ("PCIEX16(G5)",))), ("PCI004",)),
    Failure("Third and fourth M.2 of X670E AORUS Master", "forum.worldofplayers.de 1608246",
            ("gigabyte.aorus.x670e-aorus-master", R7950X, (RTX4090, 1, ("PCIEX16",)), (SSD, 2, ("M2C_CPU", "M2D_CPU"))),
            ("PCI001",)),
    Failure("PCI_E4 and M2_4 of B550 Unify", "computerbase.de 2018380, after the manual", ("msi.meg.b550-unify", R5950X, (A4000, 2,
            ("PCI_E1", "PCI_E4")), (SSD, 1, ("M2_4",))), ("SLT005", "M2004")),
    Failure("PCI_E2 and M2_2 of B550 Unify-X", "computerbase.de 2018380, after the manual", ("msi.meg.b550-unify-x", R5950X,
            (A4000, 1, ("PCI_E1",)), (I210, 1, ("PCI_E2",)), (SSD, 1, ("M2_2",))), ("SLT005", "M2004", "PCI001", "PCI009")),
    Failure("Two kits on X570 Tomahawk", "forum-en.msi.com 374429", ("msi.mag.x570-tomahawk-wifi", "amd.ryzen.5-5600x", KIT_2X8,
            "corsair.vengeance-lpx.cmk32gx4m2b3200c16"), ("MEM006", "MEM007")),
    Failure("An APU on a B350 board of the first day", "Tech Report on AB350-Gaming 3 and Ryzen APUs", (AB350.id, R3400G),
            ("CPU007",)),
    Failure("The third card of a Z390 Aorus Ultra", "forums.tomshardware.com 3484235", (Z390U.id, "intel.core.i9-9900k",
            (A4000, 3)), ("PCI003",)),
    Failure("One CPU of two is seen", "forums.overclockers.co.uk 18991536", ("asus.z10.z10pe-d16-ws", "intel.xeon.e5-2680-v4",
            (A4000, 4), (RDIMM4, 16)), ("CPU004", "SLT001", "MEM003")),
    Failure("Arc A750 on Z97I-Plus", "xCuri0/ReBarUEFI issue 10", (Z97I.id, A750), ("PCI007",)),
    Failure("Arc A580 on an X79 server board", "miyconst/Mi899 issue 199", (X79.id, E52689.id, A580), ("PCI007",)),
    Failure("Arc A770 beside a Ryzen 7 2700X", "IGCIT/Intel-GPU-Community-Issue-Tracker-IGCIT issue 315", (UNIFY, R2700X, A770),
            ("PCI007",)),
    Failure("Arc A750 beside a Ryzen 5 3400G", "elchapuzasinformatico.com: what Arc asks for", (UNIFY, R3400G, A750),
            ("PCI007",)),
    Failure("M40 on a Z77 board with 16 GB", "xCuri0/ReBarUEFI issue 395", (Z77.id, M40), ("PCI010",)),
    Failure("RDIMM and LRDIMM in a 4029GP", "Supermicro SYS-4029GP-TRT manual, page 38", ("supermicro.superserver.sys-4029gp-trt",
            ("intel.xeon.gold-6248", 2), ("samsung.server.m393a4k40cb2-cvf", 12), ("samsung.server.m386a8k40bm1-crc", 12)),
            ("MEM002", "MEM007")),
    Failure("Capacities mixed in an R7525", "Dell EMC XC7525 installation manual, memory guidelines", ("dell.poweredge.r7525",
            ("amd.epyc.7542", 2), (RDIMM4, 16), ("samsung.server.m393a2k43bb1-crc", 16)), ("MEM007",)),
    Failure("Slots of sixteen lanes' size on BTC-37", "Lolliedieb/lolMiner-releases issue 322", (BTC37.id,
            ("amd.radeon.rx-580-8gb", 2)), ("PCI004", "PCI003")),
    Failure("A GTX 1060 on a USB riser", "Cyclenerd/ethereum_nvidia_miner issue 40", ("asrock.btc.h510-pro-btc-plus",
            "intel.celeron.g5905", "nvidia.geforce.gtx-1060-6gb", "generic.mining.usb-riser-x1-ver-009s"), ("RIS001", "PCI004")),
    Failure("16-pin card on an adapter of three plugs", "m.ru24.pro: an RX 9070 XT Taichi's plug melted", (
            "msi.mag.x570-tomahawk-wifi", R5950X, "nvidia.geforce.rtx-5080", "seasonic.focus.gx-850"), ("PWR007",)),
    Failure("TensorFlow 1.10 on a Core i3 M330", "tensorflow/tensorflow issue 17411", (M330.id,), ("SW001",),
            {"tensorflow": "1.10"}),
    Failure("TensorFlow 2.1 on a Celeron J3455", "tensorflow/tensorflow issue 36503", (J3455.id,), ("SW001",),
            {"tensorflow": "2.1"}),
    Failure("CTranslate2 of CUDA 12 on a Quadro K2200", "OpenNMT/CTranslate2 issue 1666", (K2200.id,), ("SW020",),
            {"ctranslate2": "4.1"}),
    Failure("Open modules and a Quadro M2200", "beclab/Olares issue 2482", ("nvidia.geforce.gtx-970",), ("SW014",),
            {"driver": "580.82-open"}),
    Failure("Open modules and a Quadro K2100M", "NVIDIA/open-gpu-kernel-modules issue 76", (K40,), ("SW014",),
            {"driver": "515.43-open"}),
    Failure("Driver 367.35 and CUDA 8.0", "NVIDIA/nvidia-docker issue 399", (("nvidia.geforce.gtx-1080", 2),), ("SW004",),
            {"driver": "367.35", "cuda": "8.0"}),
    Failure("Driver 418.87 and CUDA 10.2", "NVIDIA/hpc-container-maker issue 239", (V100,), ("SW004",), {"driver": "418.87",
            "cuda": "10.2"}),
    Failure("Driver 387.26 and CUDA 9.2", "NVIDIA/nvidia-docker issue 781", ((TITANXP, 4),), ("SW004",), {"driver": "387.26",
            "cuda": "9.2"}),
    Failure("Qwen 3.5 in bf16 on four 2080 Ti", "vllm-project/vllm issue 35414", (("nvidia.geforce.rtx-2080-ti-22gb", 4),),
            ("SW007",), job=served(stack="vllm", precision="bf16", parallelism=Parallelism(tensor=2, pipeline=2))),
    Failure("A microservice in bf16 on a Titan RTX", "NVIDIA/nim-anywhere issue 5", (TITANRTX,), ("SW007",),
            job=served(stack="vllm", precision="bf16")),
    Failure("LMFlow in bf16 on a 2080 Ti", "OptimalScale/LMFlow issue 88", (RTX2080TI,), ("SW007",),
            job=Workload(model="gpt2", task="train", precision="bf16")),
    Failure("FlashAttention 2 on a T1000", "Dao-AILab/flash-attention issue 1230", (T1000,), ("SW006",),
            job=served(attention="flash2")),
    Failure("FlashAttention on a P40", "Dao-AILab/flash-attention issue 27", (P40,), ("SW006",), job=served(attention="flash")),
    Failure("Four 4090 in pairs below switches", "NVIDIA/nccl issue 1309", ("supermicro.superserver.sys-4029gp-trt",
            ("intel.xeon.gold-6248", 2), ("nvidia.geforce.rtx-4090", 4)), ("P2P001",), job=trained()),
    Failure("Two 4090 train Qwen-VL", "QwenLM/Qwen-VL issue 447", ((RTX4090, 2),), ("P2P001",), job=trained()),
    Failure("rocALUTION on an RX 6700 XT", "ROCm/rocALUTION issue 197", ("amd.radeon.rx-6700-xt",), ("SW009",), {"rocm": "5.7"}),
    Failure("RX 5700 XT since ROCm 5.3", "ROCm/legacy-rocm-build issue 2527", ("amd.radeon.rx-5700-xt",), ("SW009",),
            {"rocm": "5.3"}),
    Failure("Vicuna 7B whole on one card", "lm-sys/FastChat issue 1110", (A100,), ("VRM001",), job=SEVEN),
    Failure("Llama 2 13B whole on two A800", "Alpha-VLLM/LLaMA2-Accessory issue 26", ((A800, 2),), ("VRM001",),
            job=Workload(model="llama-2-13b", task="train", precision="mixed", optimizer="adamw", batch_per_gpu=1, seq_len=512,
                         gradient_checkpointing=True, parallelism=Parallelism(tensor=2))),
    Failure("LLaVA 7B whole on 48 GB", "haotian-liu/LLaVA issue 266", (A6000,), ("VRM001",), job=SEVEN),
    Failure("A 7B model whole on 24 GB", "thu-coai/BPO issue 1", (RTX3090,), ("VRM001",), job=SEVEN),
)  # fmt: skip

GATHERED_BUILDS = (
    Build("4090 and two Titan Xp on WRX80E in an E-ATX case", "train.sh: upgrade of March 2023", (
          "asus.pro-ws.wrx80e-sage-se-wifi-ii", "amd.threadripper-pro.5975wx", "msi.suprim.rtx-4090-liquid-x", (TITANXP, 2),
          "asus.rog-thor.1600t", "asus.rog.rog-hyperion-gr701")),
    Build("Six 3090 at 270 W on ROMED8-2T", "banandre.com: six 3090 push tinygrad", ("asrock-rack.romed8.romed8-2t",
          "amd.epyc.7502", (RTX3090, 6, (), 270.0), (RDIMM4, 8), FRAME, (RISER, 6))),
    Build("One kit on X570 Tomahawk", "forum-en.msi.com 374429: one kit runs", ("msi.mag.x570-tomahawk-wifi",
          "amd.ryzen.5-5600x", KIT_2X8)),
    Build("First and second M.2 of X670E AORUS Master", "forum.worldofplayers.de 1608246", ("gigabyte.aorus.x670e-aorus-master",
          R7950X, (RTX4090, 1, ("PCIEX16",)), (SSD, 2, ("M2A_CPU", "M2B_CPU")))),
    Build("Three cards on MEG X570 Unify", MANUAL.format("MSI MEG X570 UNIFY", 31), (UNIFY, R5950X, (A4000, 3, ("PCI_E1",
          "PCI_E3", "PCI_E5")))),
    Build("One x1 card on MEG X570 Unify", MANUAL.format("MSI MEG X570 UNIFY", 31), (UNIFY, R5950X, (A4000, 1, ("PCI_E1",)),
          (I210, 1, ("PCI_E2",)))),
    Build("Two RTX PRO 6000 at 450 W on WRX90E", "notes on DeepSeek over two cards", ("asus.pro-ws.wrx90e-sage-se",
          "amd.threadripper-pro.9955wx", (PRO6000, 2, (), 450.0), (RDIMM5, 8))),
    Build("Two bridged 3090 beside a Ryzen 9 5900X", "notes on vLLM over two bridged 3090", ("asus.rog.crosshair-viii-dark-hero",
          "amd.ryzen.9-5900x", (RTX3090, 2), "nvidia.nvlink-bridge.geforce-rtx-3090-4-slot")),
    Build("Two RTX PRO 6000 beside an i9-7920X", "notes of 2026 on vLLM over two cards", ("asus.ws.x299-sage",
          "intel.core.i9-7920x", (PRO6000, 2))),
    Build("Two RTX PRO 5000 of 72 GB beside an EPYC", "notes of 2026 on vLLM restores", ("supermicro.h13.h13ssl-n",
          "amd.epyc.9554", ("nvidia.rtx-pro.5000-blackwell-72gb", 2), (RDIMM5, 12))),
    Build("Arc A770 beside a Ryzen 9 5950X", "elchapuzasinformatico.com: what Arc asks for", (UNIFY, R5950X, A770)),
    Build("An RX 590 on a Z77 board", "xCuri0/ReBarUEFI issue 45", (Z77.id, "amd.radeon.rx-590")),
    Build("Four A40 of two sockets", "inferscope: four A40 in pairs", ("supermicro.superserver.sys-4029gp-trt",
          ("intel.xeon.gold-6248r", 2), ("nvidia.datacenter.a40", 4), (RDIMM4, 12))),
)  # fmt: skip

GATHERED_RUNS = (
    Failure("A Titan RTX in fp16", "NVIDIA/nim-anywhere issue 5: float16 goes", (TITANRTX,), (), job=served(stack="vllm",
            precision="fp16")),
    Failure("LMFlow in fp16 on a 2080 Ti", "OptimalScale/LMFlow issue 88, the mend", (RTX2080TI,), (),
            job=Workload(model="gpt2", task="train", precision="fp16")),
    Failure("Driver 440.33 and CUDA 10.2", "NVIDIA/hpc-container-maker issue 239", (V100,), (), {"driver": "440.33",
            "cuda": "10.2"}),
    Failure("Driver 384.111 and CUDA 9.0", "NVIDIA/nvidia-docker issue 1066", ("nvidia.geforce.gtx-1050-ti",), (),
            {"driver": "384.111", "cuda": "9.0"}),
    Failure("Proprietary modules and a Maxwell card", "beclab/Olares issue 2482: driver 580", ("nvidia.geforce.gtx-970",), (),
            {"driver": "580.82"}),
    Failure("Vicuna 7B whole on four A100 of 40 GB", "lm-sys/FastChat issue 1110, answer", ((A100_40, 4),), (),
            job=Workload(model="llama-2-7b", task="train", precision="mixed", optimizer="adamw", batch_per_gpu=1, seq_len=2048,
                         gradient_checkpointing=True, parallelism=Parallelism(zero=3))),
    Failure("LoRA of 7B on two A100 of 40 GB", "allenai/open-instruct issue 12", ((A100_40, 2),), (),
            job=Workload(model="llama-7b", task="train_lora", precision="bf16", batch_per_gpu=1, seq_len=2048,
                         parallelism=Parallelism(zero=3))),
    Failure("LLaVA 7B on three cards of 48 GB", "haotian-liu/LLaVA issue 266", ((A6000, 3),), (),
            job=Workload(model="llama-2-7b", task="train", precision="mixed", optimizer="adamw", batch_per_gpu=1, seq_len=2048,
                         gradient_checkpointing=True, parallelism=Parallelism(zero=3))),
    Failure("Bridged 3090 exchange directly", "huggingface/accelerate issue 2328", ("asrock-rack.romed8.romed8-2t",
            "amd.epyc.7443p", (RTX3090, 2), "nvidia.nvlink-bridge.geforce-rtx-3090-4-slot"), (),
            job=Workload(model="gpt2", task="train", precision="mixed")),
    Failure("Two V100 and a Titan X on driver 580", "bradrlaw/ai-server pull request 27", ((V100, 2), TITANX), (),
            {"driver": "580.173.02"}),
    Failure("DGX Spark with driver 580", "probe of an AI TOP ATOM", ("nvidia.dgx.dgx-spark",), (), {"driver": "580.142",
            "cuda": "13.0"}),
)  # fmt: skip
