"""Published machines that ran slow, hot or not at all: slots of the chipset, docks and enclosures, empty memory channels, power.
Where the owner's board or CPU is not in the catalog, one made of what the story tells stands for it.
"""

from real_builds import RDIMM4, RDIMM5, RTX3090, RTX5090
from real_failures import K80, R5950X, ROME, Failure, llama
from real_failures_hosts import MI50, RX580

from rigplanner.catalog.parts import CPU, Layout, Motherboard, Plug, PowerSupply, Rating, Slot, Supply


def board(name: str, socket: str, second: Slot, above_4g: bool | None = None) -> Motherboard:
    """Return a board of two slots: the first of the CPU, and another."""
    first = Slot(id="PCIEX16_1", position=2, mechanical=16, origin="cpu0", gen=3, width=16)
    layout = Layout(sockets=(socket,), memory_slots=4, slots=(first, second), above_4g=above_4g)
    return Motherboard(id=f"own.board.{name}", name=name.upper(), vendor="owner", layout=layout)


Z77 = board("z77", "LGA1155", Slot(id="PCIEX16_2", position=5, mechanical=16, origin="chipset", gen=2, width=4))
P9X79 = board("p9x79", "LGA2011", Slot(id="PCIEX16_2", position=4, mechanical=16, origin="cpu0", gen=3, width=16), above_4g=False)
I7 = CPU(id="own.cpu.i7-3770k", name="i7-3770K", vendor="Intel", socket="LGA1155", isa=("sse4_2", "avx"), pcie_gen=3)
GR450 = PowerSupply(
    id="own.psu.gr450", name="GR450", vendor="Balam Rush", form_factor="ATX",
    supply=Supply(ratings=(Rating(min_volts=100.0, watts=450.0),), plugs=(Plug(type="pcie8", count=2), Plug(type="eps8", count=1))),
)  # fmt: skip
BESIDE_PARTS = (Z77, P9X79, I7, GR450)
EGPU, R9950X = "generic.egpu.thunderbolt-usb4-enclosure", "amd.ryzen.9-9950x"
PROART = "asus.proart.x870e-creator-wifi"

BESIDE_FAILURES = (
    Failure("A second 3090 at PCIe 2.0 x4 of Z77", "noonghunna/club-3090 issue 178",
            (Z77.id, I7.id, (RTX3090, 2, ("PCIEX16_1", "PCIEX16_2"))), ("PCI003", "PCI004")),
    Failure("Two 3090 one upon the other throttle", "noonghunna/club-3090 issue 178, thermal test",
            (Z77.id, I7.id, (RTX3090, 2, ("PCIEX16_1", "PCIEX16_2"))), ("CLG002",)),
    Failure("Two 2080 Ti without a blower throttle", "system76/thelio issue 40",
            ("msi.creator.trx40", "amd.threadripper.3970x", ("nvidia.geforce.rtx-2080-ti", 2, ("PCI_E1", "PCI_E3"))), ("CLG002",)),
    Failure("Of three 3090 the one of the chipset has half the rate", "noonghunna/club-3090 pull request 895",
            ("msi.meg.x570-unify", R5950X, (RTX3090, 3)), ("PCI003",)),
    Failure("An RTX 5090 on OCuLink falls off the bus", "NVIDIA/open-gpu-kernel-modules issue 900",
            ("msi.pro.x870-p-wifi", R9950X, "generic.adapter.m-2-to-oculink-adapter", "riitop.oculink.oculink-to-pcie-x16-slot",
             RTX5090), ("PCI004",)),
    Failure("An RTX 5090 in a Thunderbolt box", "NVIDIA/open-gpu-kernel-modules issues 979 and 1229",
            (PROART, R9950X, EGPU, RTX5090), ("PCI004",)),
    Failure("An RTX 5060 Ti in a Thunderbolt dock", "NVIDIA/open-gpu-kernel-modules issue 974",
            (PROART, R9950X, EGPU, "nvidia.geforce.rtx-5060-ti-16gb"), ("PCI004",)),
    Failure("Of five RX 470 only the one at x16 is seen", "ROCm/tensorflow-upstream issue 162",
            ("asus.b250.b250-mining-expert", "intel.core.i7-6700k", (RX580, 5), ("generic.mining.usb-riser-x1-ver-009s", 5)),
            ("PCI011",), {"rocm": "1.9"}),
    Failure("K80 on a P9X79 Pro", "xCuri0/ReBarUEFI issue 221", (P9X79.id, K80), ("PCI006",)),
    Failure("The fourth slot of PRO X870-P falls to x2", "sweclockers.com post 20720520, after MSI's page",
            ("msi.pro.x870-p-wifi", R9950X, (RTX5090, 1, ("PCI_E1",)), (RTX3090, 1, ("PCI_E4",)),
             ("samsung.ssd-980-pro.2-tb", 1, ("M2_3",))), ("PCI001",)),
    Failure("Two V100 in a tower reach 78 C at 175 W", "bradrlaw/ai-server pull request 15",
            ("asus.x99.x99-e-ws", "intel.core.i7-6850k", ("nvidia.tesla.v100-pcie-16gb", 2),
             "fractal-design.define-7-xl.define-7-xl"), ("CLG001",)),
    Failure("Seven of eight channels filled", "noonghunna/club-3090 pull request 919", (ROME, "amd.epyc.7302p", (RDIMM4, 7)),
            ("MEM005",)),
    Failure("Four modules for two sockets", "JustVugg/colibri issue 537",
            ("supermicro.superserver.sys-421ge-tnrt", ("intel.xeon.gold-6430", 2), (RDIMM5, 4)), ("MEM005",)),
    Failure("Seven modules for two Xeons", "kvcache-ai/ktransformers issue 219",
            ("supermicro.superserver.sys-4029gp-trt", ("intel.xeon.gold-6148", 2), ("samsung.server.m393a8g40ab2-cwe", 7)),
            ("MEM005",)),
    Failure("A 3090 for a supply of 450 W", "L4rralde/cimat_thesis issue 1",
            ("msi.pro.b550m-pro-vdh-wifi", "amd.ryzen.5-5600", RTX3090, GR450.id), ("PWR002",)),
)  # fmt: skip

FRAMEWORK_FAILURES = (
    Failure("RTX 5090 and TensorFlow 2.19", "tensorflow/tensorflow issue 97387", (RTX5090,), ("SW020",), {"tensorflow": "2.19"}),
    Failure("RTX 5080 of a laptop and TensorFlow 2.20", "tensorflow/tensorflow issue 101746", ("nvidia.geforce.rtx-5080-laptop",),
            ("SW020",), {"tensorflow": "2.20"}),
    Failure("RTX 5060 Ti and nightly TensorFlow", "tensorflow/tensorflow issue 111958", ("nvidia.geforce.rtx-5060-ti-16gb",),
            ("SW020",), {"tensorflow": "2.22.0.dev20260308"}),
    Failure("K80 and JAX 0.4.9", "jax-ml/jax issue 15961", (K80,), ("SW020",), {"jax": "0.4.9"}),
    Failure("K80 and cuGraph", "rapidsai/cugraph issue 1130", (K80,), ("SW020",), {"rapids": "0.15"}),
    Failure("K80 and NVIDIA's TensorFlow 19.09", "tlkh/ai-lab issue 30", (K80,), ("SW010",), {"ngc-tensorflow": "19.09"}),
    Failure("P40 after RAPIDS 23.12", "RAPIDS support notice 34", ("nvidia.tesla.p40",), ("SW020",), {"rapids": "24.02"}),
    Failure("GTX 980 Ti after TensorFlow 2.16", "TensorFlow 2.17.0 release notes", ("nvidia.geforce.gtx-980-ti",), ("SW020",),
            {"tensorflow": "2.17"}),
    Failure("vLLM on an MI50", "vllm-project/vllm issues 6565 and 22458, pull request 33811", (MI50,), ("SW021",),
            job=llama(task="inference", stack="vllm", precision="fp16")),
    Failure("FlashAttention on an MI50", "ROCm/flash-attention issue 29; ROCm/composable_kernel issue 1140", (MI50,), ("SW021",),
            job=llama(task="train", attention="flash")),
    Failure("FlashAttention on RDNA 2", "ROCm/composable_kernel issue 886", ("amd.radeon.rx-6800-xt",), ("SW021",),
            job=llama(task="train", attention="flash")),
)  # fmt: skip
