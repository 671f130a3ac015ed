"""The parts, makers and tales that the lists of real machines and failures are written in: ids of
the catalog by their common names, boards and processors of owners that the catalog does not have,
and the usual jobs."""

from typing import Any

from msgspec import Struct, field

from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Cooler,
    Layout,
    Motherboard,
    Plug,
    PowerSupply,
    Rating,
    Riser,
    Slot,
    Supply,
)
from rigplanner.rig.document import Settings, Site
from rigplanner.rig.workload import Parallelism, Workload

A10 = "nvidia.datacenter.a10"
A100 = "nvidia.datacenter.a100-sxm4-80gb"
A100_PCIE_40 = "nvidia.datacenter.a100-pcie-40gb"
A100_SXM_40 = "nvidia.datacenter.a100-sxm4-40gb"
A380 = "intel.arc.a380"
A4000 = "nvidia.rtx.a4000"
A580 = "intel.arc.a580"
A6000 = "nvidia.rtx.a6000"
A750 = "intel.arc.a750"
A770 = "intel.arc.a770-16gb"
A800 = "nvidia.datacenter.a800-sxm4-80gb"
GB10 = "nvidia.gb10.dgx-spark"
GTX1050 = "nvidia.geforce.gtx-1050"
GTX1070 = "nvidia.geforce.gtx-1070"
GTX1080 = "nvidia.geforce.gtx-1080"
GTX1080TI = "nvidia.geforce.gtx-1080-ti"
H100 = "nvidia.datacenter.h100-sxm5-80gb"
K40 = "nvidia.tesla.k40m"
K80 = "nvidia.tesla.k80"
L40S = "nvidia.datacenter.l40s"
M40 = "nvidia.tesla.m40-24gb"
MI50 = "amd.instinct.mi50-32gb"
P100 = "nvidia.tesla.p100-pcie-16gb"
P40 = "nvidia.tesla.p40"
PRO6000 = "nvidia.rtx-pro.6000-blackwell-workstation"
PRO6000Q = "nvidia.rtx-pro.6000-blackwell-max-q"
R9700 = "amd.radeon-ai-pro.r9700"
RTX2080TI = "nvidia.geforce.rtx-2080-ti"
RTX3060 = "nvidia.geforce.rtx-3060"
RTX3080 = "nvidia.geforce.rtx-3080-10gb"
RTX3090 = "nvidia.geforce.rtx-3090"
RTX4090 = "nvidia.geforce.rtx-4090"
RTX5070 = "nvidia.geforce.rtx-5070"
RTX5090 = "nvidia.geforce.rtx-5090"
RVII = "amd.radeon.vii"
RX5700 = "amd.radeon.rx-5700"
RX5700XT = "amd.radeon.rx-5700-xt"
RX580 = "amd.radeon.rx-580-8gb"
RX6700XT = "amd.radeon.rx-6700-xt"
RX6750XT = "amd.radeon.rx-6750-xt"
T1000 = "nvidia.quadro.t1000-8gb"
T4 = "nvidia.tesla.t4"
THOR = "nvidia.jetson.agx-thor-t5000"
TI3090 = "nvidia.geforce.rtx-3090-ti"
TITANRTX = "nvidia.titan.rtx"
TITANX = "nvidia.titan.x-maxwell"
TITANXP = "nvidia.titan.xp"
TURBO2080 = "asus.turbo.rtx-2080-ti"
TURBO3090 = "gigabyte.turbo.rtx-3090"
V100S = "nvidia.tesla.v100s-pcie-32gb"
V100_PCIE = "nvidia.tesla.v100-pcie-16gb"
V100_SXM = "nvidia.tesla.v100-sxm2-16gb"
V100_SXM_32 = "nvidia.tesla.v100-sxm2-32gb"
XTX = "amd.radeon.rx-7900-xtx"

TRX40 = "gigabyte.trx40.aorus-xtreme"

R2700X = "amd.ryzen.7-2700x"
R3400G = "amd.ryzen.5-3400g"
R5950X = "amd.ryzen.9-5950x"
R7950X = "amd.ryzen.9-7950x"
R9950X = "amd.ryzen.9-9950x"

FRAME = "veddha.open-frame.v3c-8-gpu"

EPYC_AIR = "noctua.nh-u14s.nh-u14s-tr4-sp3"

KIT_2X8 = "g-skill.ripjaws-v.f4-3200c16d-16gvkb"
RDIMM4 = "samsung.server.m393a4k40db3-cwe"
RDIMM5 = "samsung.server.m321r8ga0bb0-cqk"
UDIMM4 = "corsair.vengeance-lpx.cmk64gx4m2d3600c18"
UDIMM5 = "corsair.vengeance.cmk96gx5m2b6000c30"

ACE = "msi.meg.x570s-ace-max"
FORMULA = "asus.rog-maximus.z790-formula"
PRO870 = "msi.pro.x870-p-wifi"
PROART = "asus.proart.x870e-creator-wifi"
ROME = "asrock-rack.romed8.romed8-2t"
WRX90 = "asus.pro-ws.wrx90e-sage-se"
X570 = "msi.meg.x570-unify"
X570PRO = "asus.prime.x570-pro"
X870E = "asus.rog-strix.x870e-e-gaming-wifi"
XTREME = "gigabyte.aorus.x570-aorus-xtreme"

I210 = "intel.ethernet.i210-t1"

EGPU = "generic.egpu.thunderbolt-usb4-enclosure"
LINKUP = "linkup.ultra.ultra-pcie-4-0-riser-40-cm"
RISER = "linkup.ultra.ultra-pcie-4-0-riser-20-cm"

NVME = "samsung.ssd-980-pro.2-tb"
SATA = "samsung.ssd-870-evo.4-tb"
U2 = "samsung.pm9a3.3-84-tb-u-2"

AGX_ORIN = "nvidia.jetson.agx-orin-64gb-developer-kit"
MAX395 = "framework.desktop.max-plus-395-128gb"
ORIN = "nvidia.jetson.orin-nano-super-developer-kit"
SPARK = "nvidia.dgx.dgx-spark"

ASUS = "ASUS: qualified configuration"
CLUB = "noonghunna/club-3090 issue {}: rig report of a running machine"
COMFY = "Comfy-Org/ComfyUI issue {}"
DELL = "Dell: GPU options of the server"
MANUAL = "{} manual, page {} (slots and sockets that share lanes)"
PUGET = "Puget Systems: NVLink bridge compatibility charts (articles 1330 and 2074)"
REBAR = "xCuri0/ReBarUEFI issue {}"
ROCM = "ROCm/legacy-rocm-build issue {}"
SMC = "Supermicro: supported GPUs of the system"
VLLM = "vllm-project/vllm issue {}"

Pick = str | tuple[Any, ...]


class Build(Struct, frozen=True):
    """A name, where it was published, and its parts: ids, or (id, quantity, places, power cap in
    W)."""

    name: str
    source: str
    parts: tuple[Pick, ...]


def server(
    name: str, source: str, system: str, cpu: str, gpu: str, count: int, memory: Pick, *more: Pick
) -> Build:
    return Build(name, source, (system, (cpu, 2), (gpu, count), memory, *more))


class Failure(Struct, frozen=True):
    """What went wrong, who told it, the parts, the codes that must speak, and what else belongs to
    the story. `remark`: a setting of the owner decides, so a remark is enough."""

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
    config = {
        "num_attention_heads": count,
        "num_key_value_heads": count,
        "hidden_size": count * 128,
        "num_hidden_layers": 40,
        "intermediate_size": 13824,
        "vocab_size": 32000,
    }
    return Workload(
        task="inference",
        precision=precision,
        parallelism=Parallelism(tensor=degree),
        params_m=13000.0,
        config=config,
    )


US = Site(country="US", volts=120.0, breaker_a=15.0)


def old_board(chipset: str, socket: str) -> Motherboard:
    """Return a board of one x16 slot, as far as the story tells: its firmware offers 'Above 4G
    decoding', or was made to."""
    slot = Slot(id="PCIE1", position=1, mechanical=16, origin="cpu0", gen=3, width=16)
    layout = Layout(
        sockets=(socket,),
        chipset=chipset,
        memory_type="DDR3",
        memory_slots=4,
        slots=(slot,),
        above_4g=True,
    )
    return Motherboard(
        id=f"own.board.{chipset.lower()}", name=chipset, vendor="owner", layout=layout
    )


Z77, Z97, H67 = (
    old_board("Z77", "LGA1155"),
    old_board("Z97", "LGA1150"),
    old_board("H67", "LGA1155"),
)


def serving(quant: str) -> Workload:
    return llama(task="inference", precision="fp16", quant=quant, stack="vllm")


def compiled() -> Workload:
    return llama(task="train", flags=["compile"])


def board(
    name: str, socket: str, above_4g: bool | None, slots: int = 1, gen: int = 3
) -> Motherboard:
    """Return a board of slots of the CPU, as far as the story tells."""
    places = tuple(
        Slot(
            id=f"PCIE{n + 1}",
            position=1 + 2 * n,
            mechanical=16,
            origin="cpu0",
            gen=gen,
            width=16 if n == 0 else 8,
        )
        for n in range(slots)
    )
    layout = Layout(sockets=(socket,), memory_slots=4, slots=places, above_4g=above_4g)
    return Motherboard(id=f"own.board.{name.lower()}", name=name, vendor="owner", layout=layout)


def cpu(name: str, socket: str, pcie_gen: int = 3) -> CPU:
    """Return a CPU without AVX."""
    return CPU(
        id=f"own.cpu.{name.lower()}",
        name=name,
        vendor="Intel",
        socket=socket,
        isa=("sse4_2",),
        pcie_gen=pcie_gen,
    )


X99, Q77, Z97P = (
    board("X99-UD4P", "LGA2011-3", False, 4),
    board("Q77", "LGA1155", True),
    board("Z97P-D3", "LGA1150", False, 2),
)

X58 = board("X58-Pro", "LGA1366", None, 1, 2)

X5650, X5675 = cpu("X5650", "LGA1366", 2), cpu("X5675", "LGA1366", 2)

J4125, G4930, G5905, U3955 = (
    cpu("J4125", "BGA1090"),
    cpu("G4930", "LGA1151"),
    cpu("G5905", "LGA1200"),
    cpu("U3955", "BGA1356"),
)


def trained(**fields: object) -> Workload:
    return llama(task="train", **fields)


def served(**fields: object) -> Workload:
    return llama(task="inference", **fields)


def split(degree: int) -> Workload:
    return served(stack="vllm", precision="fp16", parallelism=Parallelism(tensor=degree))


def two_slot_board(
    name: str, socket: str, second: Slot, above_4g: bool | None = None
) -> Motherboard:
    """Return a board of two slots: the first of the CPU, and another."""
    first = Slot(id="PCIEX16_1", position=2, mechanical=16, origin="cpu0", gen=3, width=16)
    layout = Layout(sockets=(socket,), memory_slots=4, slots=(first, second), above_4g=above_4g)
    return Motherboard(id=f"own.board.{name}", name=name.upper(), vendor="owner", layout=layout)


Z77_CHIPSET = two_slot_board(
    "z77",
    "LGA1155",
    Slot(id="PCIEX16_2", position=5, mechanical=16, origin="chipset", gen=2, width=4),
)

P9X79 = two_slot_board(
    "p9x79",
    "LGA2011",
    Slot(id="PCIEX16_2", position=4, mechanical=16, origin="cpu0", gen=3, width=16),
    above_4g=False,
)

I7 = CPU(
    id="own.cpu.i7-3770k",
    name="i7-3770K",
    vendor="Intel",
    socket="LGA1155",
    isa=("sse4_2", "avx"),
    pcie_gen=3,
)

GR450 = PowerSupply(
    id="own.psu.gr450",
    name="GR450",
    vendor="Balam Rush",
    form_factor="ATX",
    supply=Supply(
        ratings=(Rating(min_volts=100.0, watts=450.0),),
        plugs=(Plug(type="pcie8", count=2), Plug(type="eps8", count=1)),
    ),
)

ALEXNET = Workload(
    model="alexnet",
    task="train",
    precision="fp32",
    batch_per_gpu=128,
    dataset_gb=147.0,
    dataset_samples=1_281_167,
)


def images(**fields: object) -> Workload:
    return Workload(
        model="resnet50",
        task="train",
        precision="mixed",
        dataset_gb=147.0,
        dataset_samples=1_281_167,
        **fields,
    )


GPT2_SERVED = Workload(model="gpt2", task="inference", stack="ollama", precision="fp16")

H97 = board("H97M-PLUS", "LGA1150", False)

E52670V2, E52690V2 = cpu("E5-2670V2", "LGA2011", 3), cpu("E5-2690V2", "LGA2011", 3)

LONG_RISER = Riser(
    id="own.riser.900",
    name="PW-PCI-4-90",
    vendor="Lian Li",
    gen=4,
    width=16,
    length_mm=900.0,
    retimer=False,
)

JAPAN = Site(country="JP", volts=100.0, breaker_a=15.0)

JAPAN_200 = Site(country="JP", volts=200.0, breaker_a=20.0)

X99F8 = board("X99-F8", "LGA2011-3", False, 4)


def sliced(
    degree: int, quant: str, inner: int, heads: int = 32, experts: int | None = None, **more: object
) -> Workload:
    """Return serving in vLLM of quantised weights whose MLPs are `inner` wide, cut in `degree`
    parts."""
    config = {
        "num_attention_heads": heads,
        "num_key_value_heads": 8,
        "hidden_size": 4096,
        "num_hidden_layers": 48,
        "vocab_size": 151936,
        "intermediate_size": 6144 if experts else inner,
        **more,
    }
    if experts:
        config |= {"num_experts": experts, "num_experts_per_tok": 8, "moe_intermediate_size": inner}
    if quant == "fp8":
        config["quantization_config"] = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    return Workload(
        task="inference",
        stack="vllm",
        quant=quant,
        precision="fp16" if quant != "fp8" else "bf16",
        config=config,
        params_m=30000.0,
        parallelism=Parallelism(tensor=degree),
    )


def layout_of_two(socket: str, second: Slot, rebar: bool | None = None) -> Layout:
    first = Slot(id="PCIE1", position=1, mechanical=16, origin="cpu0", gen=3, width=16)
    return Layout(
        sockets=(socket,), memory_slots=4, slots=(first, second), above_4g=True, resizable_bar=rebar
    )


def wide_and_other(name: str, socket: str, second: Slot, rebar: bool | None = None) -> Motherboard:
    return Motherboard(
        id=f"own.board.{name.lower()}",
        name=name,
        vendor="owner",
        layout=layout_of_two(socket, second, rebar),
    )


Z170C = wide_and_other(
    "Z170-Classified",
    "LGA1151",
    Slot(id="PCIE2", position=3, mechanical=16, origin="chipset", gen=1, width=1),
)

B150M = wide_and_other(
    "B150M-Night-Elf",
    "LGA1151",
    Slot(id="PCIE2", position=4, mechanical=16, origin="chipset", gen=3, width=4),
)

Z77A = wide_and_other(
    "Z77A-G41",
    "LGA1155",
    Slot(id="PCIE2", position=4, mechanical=16, origin="chipset", gen=2, width=4),
)

HP83EE = wide_and_other(
    "HP-83EE",
    "LGA1151",
    Slot(id="PCIE2", position=4, mechanical=16, origin="chipset", gen=3, width=4),
    False,
)

J3455 = cpu("J3455", "BGA1296")

SERVER700 = PowerSupply(
    id="own.psu.700",
    name="DPS-700",
    vendor="Delta",
    form_factor="ATX",
    supply=Supply(
        ratings=(Rating(min_volts=100.0, watts=700.0),), plugs=(Plug(type="eps8", count=2),)
    ),
)


def atx2(watts: int) -> PowerSupply:
    supply = Supply(
        ratings=(Rating(min_volts=100.0, watts=float(watts)),),
        plugs=(Plug(type="pcie8", count=4), Plug(type="eps8", count=2)),
    )
    return PowerSupply(
        id=f"own.psu.{watts}", name=f"{watts} W", vendor="maker", form_factor="ATX", supply=supply
    )


X370 = wide_and_other(
    "X370-Prime-Pro",
    "AM4",
    Slot(id="PCIE2", position=3, mechanical=16, origin="cpu0", gen=3, width=8),
)

DESK = ("asus.prime.z690-p", "intel.core.i9-12900k")


def lora(
    model: str, precision: str = "nf4", batch: int = 1, seq: int = 2048, **more: object
) -> Workload:
    return Workload(
        model=model,
        task="train_lora" if precision != "nf4" else "train_qlora",
        precision=precision,
        batch_per_gpu=batch,
        seq_len=seq,
        gradient_checkpointing="full",
        **more,
    )


M330 = cpu("i3-M330", "PGA988", 2)

E52689 = cpu("E5-2689", "LGA2011", 3)

SEVEN = Workload(
    model="llama-2-7b",
    task="train",
    precision="mixed",
    optimizer="adamw",
    batch_per_gpu=1,
    seq_len=2048,
    gradient_checkpointing=True,
)


def board_of_slots(
    name: str,
    socket: str,
    *slots: tuple[str, int, int],
    chipset: str | None = None,
    rebar: bool | None = None,
    released: str = "",
) -> Motherboard:
    """Return a board of sixteen-lane slots (origin, generation, lanes), two columns apart."""
    places = tuple(
        Slot(
            id=f"PCIE{n + 1}",
            position=1 + 2 * n,
            mechanical=16,
            origin=origin,
            gen=gen,
            width=width,
        )
        for n, (origin, gen, width) in enumerate(slots)
    )
    layout = Layout(
        sockets=(socket,),
        chipset=chipset,
        memory_slots=4,
        slots=places,
        above_4g=True,
        resizable_bar=rebar,
    )
    return Motherboard(
        id=f"own.board.{name.lower()}",
        name=name,
        vendor="owner",
        released=released or None,
        layout=layout,
    )


AB350 = board_of_slots("AB350-Gaming-3", "AM4", ("cpu0", 3, 16), chipset="B350", released="2017")

Z390U = board_of_slots(
    "Z390-Aorus-Ultra",
    "LGA1151",
    ("cpu0", 3, 16),
    ("cpu0", 3, 8),
    ("chipset", 3, 4),
    chipset="Z390",
)

Z97I = board_of_slots("Z97I-Plus", "LGA1150", ("cpu0", 3, 16), chipset="Z97", rebar=False)

X79 = board_of_slots("X79-Server", "LGA2011", ("cpu0", 3, 16), chipset="X79", rebar=False)

Z77_CPU = board_of_slots("Z77-board", "LGA1155", ("cpu0", 3, 16), chipset="Z77")

BTC37 = board_of_slots("BTC-37", "LGA1155", *((("chipset", 3, 1),) * 8))

K2200 = GPU(
    id="own.gpu.k2200",
    name="Quadro K2200",
    vendor="NVIDIA",
    form_factor="pcie",
    compute_capability="5.0",
)

FIRST_COLUMN = Motherboard(
    id="own.board.first-column",
    name="Z77",
    vendor="owner",
    layout=Layout(
        sockets=("LGA1155",),
        memory_slots=4,
        slots=(Slot(id="PCIEX16_1", position=1, mechanical=16, origin="cpu0", gen=3, width=16),),
    ),
)
"""A board whose first slot lies next to the CPU."""
NH_D14 = Cooler(
    id="own.cooler.nh-d14",
    name="NH-D14",
    vendor="Noctua",
    type="air",
    sockets=("LGA1155",),
    height_mm=160,
    reach_mm=70,
)

OWN_PARTS = (
    FIRST_COLUMN,
    NH_D14,
    Z77,
    Z97,
    H67,
    X99,
    Q77,
    Z97P,
    X58,
    X5650,
    X5675,
    J4125,
    G4930,
    G5905,
    U3955,
    Z77_CHIPSET,
    P9X79,
    I7,
    GR450,
    H97,
    E52670V2,
    E52690V2,
    LONG_RISER,
    X99F8,
    X370,
    atx2(650),
    atx2(750),
    Z170C,
    B150M,
    Z77A,
    HP83EE,
    J3455,
    SERVER700,
    M330,
    E52689,
    AB350,
    Z390U,
    Z97I,
    X79,
    Z77_CPU,
    BTC37,
    K2200,
)
"""Parts of owners that the catalog does not have: where the catalog lacks a board or card, one of
the same layout, made of what the story tells, stands for it."""
