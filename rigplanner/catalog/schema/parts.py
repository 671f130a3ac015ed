"""The kinds of part: frozen structs, one per kind, units in the field names.

Unknown is None, never 0. A precision that the silicon lacks is None too, and stands in
`GPU.unsupported`. Lengths are millimetres, power watts, `_gib` is 2**30 bytes, `_gb` and `_gbs` are
1e9 bytes (per second, one way). Over 400 lines because it is one declaration after another, and
they are read together."""

import math
import re
from typing import Literal

from msgspec import Struct

Status = Literal["current", "classic", "legacy", "reference"]
"""current: sold new in the year of the catalog; classic: no longer, but met in at least two
published machines of different owners (a build for deep learning or a workstation, a pasted list of
parts, a captured machine, a sample); legacy: met less often; reference: comparable, not for a rig.
How much is known has no say, nor have shops' lists and probes that show no such use."""


Condition = Literal["new", "used", "refurbished", "launch"]
"""Of what a price is: a new, used or refurbished piece, or what the maker announced at the start,
list prices and prices at a thousand units with it."""


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a `shop` asked or a maker announced on `day` (ISO), tax as shown there; `source` tells
    which. Where only the month is known, `day` is its first."""

    amount: float
    currency: str
    day: str
    source: str
    region: str | None = None
    condition: Condition = "new"
    shop: str | None = None

    @property
    def used(self) -> bool:
        """Whether it is of a piece that somebody had before."""
        return self.condition in ("used", "refurbished")


class Doubt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A field that is less certain than the rest: not verified, inferred from parts alike (of
    imported parts only), or sources disagree (`values` holds what each says)."""

    state: Literal["unverified", "inferred", "conflict"]
    values: tuple[str, ...] = ()
    note: str = ""


class Part(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="kind",
):
    """What every part has. `sources` maps a source key of the catalog to the fields it settled
    ("*": all others); `unpublished` maps the source key of a maker's page that was read to the
    fields which that page leaves out."""

    id: str
    name: str
    vendor: str
    aliases: tuple[str, ...] = ()
    status: Status = "current"
    released: str | None = None
    sources: dict[str, tuple[str, ...]] = {}
    doubts: dict[str, Doubt] = {}
    unpublished: dict[str, tuple[str, ...]] = {}
    prices: tuple[Price, ...] = ()
    notes: str = ""


class MemoryChannels(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Memory controller of a CPU: `speeds_mts` maps DIMMs per channel ("1", "2") to transfers per
    second in MT/s."""

    channels: int | None = None
    types: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    speeds_mts: dict[str, int] = {}
    max_gib: int | None = None


class CPU(Part, frozen=True, kw_only=True, tag="cpu"):
    """`lanes` counts PCIe lanes usable for slots and M.2 (without the chipset link), `lanes_by_gen`
    splits them where not all are of `pcie_gen` ("5": 48, "4": 32); `peg_width` is the widest slot
    that it feeds."""

    socket: str | None
    cores: int | None = None
    threads: int | None = None
    base_ghz: float | None = None
    boost_ghz: float | None = None
    tdp_w: float | None = None
    max_power_w: float | None = None
    lanes: int | None = None
    pcie_gen: int | None = None
    lanes_by_gen: dict[str, int] = {}
    lane_class: str | None = None
    peg_width: int | None = None
    chipsets: tuple[str, ...] = ()
    sockets_max: int = 1
    memory: MemoryChannels | None = None
    isa: tuple[str, ...] | None = None
    graphics: str | None = None
    has_graphics: bool | None = None
    numa_nodes: int = 1


class Rates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Dense peak rates in TFLOPS (TOPS for integers) at the boost clock.

    `fp16`, `bf16` and `fp8` are matrix-unit rates with FP32 accumulation (what training gets,
    halved on most GeForce cards); `fp16_acc16` is the rate with FP16 accumulation; `fp16_vector`
    and `fp32` are shader rates; `fp64_tensor` the FP64 matrix rate."""

    fp64: float | None = None
    fp64_tensor: float | None = None
    fp32: float | None = None
    tf32: float | None = None
    fp16_vector: float | None = None
    fp16: float | None = None
    fp16_acc16: float | None = None
    bf16: float | None = None
    fp8: float | None = None
    fp4: float | None = None
    int8: float | None = None
    int4: float | None = None


class NvlinkPort(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """NVLink (or xGMI) of one GPU: `link_gbs` is per link and direction; `connector` names what a
    bridge must fit."""

    generation: float
    links: int
    link_gbs: float
    connector: str | None = None
    fabric: Literal["nvlink", "xgmi"] = "nvlink"


class Plug(Struct, frozen=True, forbid_unknown_fields=True):
    """`count` power connectors of one type: pcie8, pcie6, 12vhpwr, 12v-2x6, eps8, eps4, sata,
    molex."""

    type: str
    count: int


CHIP_MAKERS = frozenset(("NVIDIA", "AMD", "Intel", "Apple"))
PEAK_RATIOS = {"Blackwell": 1.6, "Ampere": 1.6, "Turing": 1.5}
"""Peak over sustained power of a GPU for less than a millisecond, by architecture: an RTX 5090 of
575 W peaks at 901 W (Igor's Lab). Turing and Ampere are set from builders' reports; the PCI-SIG
allows cards with a 16-pin plug up to 3."""
PLAIN_PEAK_RATIO = 1.4


class GPU(Part, frozen=True, kw_only=True, tag="gpu"):
    """A card, a module or an embedded GPU. `slots` is the thickness in expansion slots of 20.32 mm;
    `dies` is above 1 for boards that the driver shows as several GPUs (K80: 2), and then memory,
    rates and bandwidth are per die, power per board."""

    chip: str | None = None
    architecture: str | None = None
    compute_capability: str | None = None
    form_factor: Literal[
        "pcie",
        "sxm2",
        "sxm3",
        "sxm4",
        "sxm5",
        "sxm6",
        "oam",
        "mxm",
        "embedded",
        "usb",
        "m2",
        "chip",
        "superchip",
    ]
    dies: int = 1
    edge_gen: int | None = None
    edge_width: int | None = None
    memory_gib: float | None = None
    memory_type: str | None = None
    memory_bus_bits: int | None = None
    memory_rate_gbps: float | None = None
    bandwidth_gbs: float | None = None
    l2_mib: float | None = None
    sms: int | None = None
    cores: int | None = None
    base_mhz: float | None = None
    boost_mhz: float | None = None
    dense_tflops: Rates = Rates()
    unsupported: tuple[str, ...] = ()
    ecc: bool | None = None
    tdp_w: float | None = None
    power_min_w: float | None = None
    power_max_w: float | None = None
    connectors: tuple[Plug, ...] | None = None
    slots: float | None = None
    length_mm: float | None = None
    height_mm: float | None = None
    cooling: Literal["open", "blower", "passive", "liquid", "none"] | None = None
    nvlink: NvlinkPort | None = None
    has_nvlink: bool | None = None
    display_outputs: int | None = None
    mig_slices: int | None = None
    p2p: Literal["yes", "nvlink-only", "no"] | None = None

    @property
    def chip_maker(self) -> str:
        """Its vendor, or who names compute capabilities ("8.6", "gfx1201") or architectures so;
        where nothing tells, its vendor."""
        if self.vendor in CHIP_MAKERS:
            return self.vendor
        capability = (self.compute_capability or "").casefold()
        if capability[:1].isdigit():
            return "NVIDIA"
        if capability.startswith("gfx"):
            return "AMD"
        return "Intel" if (self.architecture or "").startswith("Xe") else self.vendor

    @property
    def columns(self) -> int | None:
        """Whole expansion slots that it covers."""
        return None if self.slots is None else math.ceil(self.slots)

    @property
    def keeps_check_bits(self) -> bool:
        """Whether it is shipped with check bits among the data of its memory: cards of servers
        (without a fan of their own) are, workstation cards that can are not, GDDR7 and HBM have
        room of their own for them."""
        return (
            self.cooling == "passive"
            and self.vendor == "NVIDIA"
            and bool(self.ecc)
            and self.memory_type in ("GDDR5", "GDDR6")
        )

    @property
    def plays(self) -> bool:
        """Whether its name is of a line made for games: GeForce, TITAN, GTX."""
        words = self.name.casefold()
        return "geforce" in words or "titan" in words or "gtx" in words

    @property
    def is_a100(self) -> bool:
        """Whether its name says A100."""
        return "a100" in self.name.casefold()

    @property
    def peak_ratio(self) -> float:
        """Peak over sustained power for less than a millisecond."""
        return PEAK_RATIOS.get((self.architecture or "").split(" ")[0], PLAIN_PEAK_RATIO)


COLUMN_MM = 20.32
"""Pitch of expansion slots, 0.8 inch (ATX specification 2.2)."""


class Slot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A place for a card or module. `position` counts expansion columns from the CPU (1 = nearest),
    20.32 mm each; `mechanical` is the size of the connector, `width` its widest electrical use;
    `origin` is cpu0, cpu1, chipset or a switch id; `root` names the host bridge of the CPU it hangs
    on where the CPU has several (EPYC quadrants, Xeon stacks)."""

    id: str
    kind: Literal["pcie", "mxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "oam", "embedded"] = "pcie"
    position: int | None = None
    mechanical: int | None = None
    origin: str | None = None
    gen: int | None = None
    width: int | None = None
    open_ended: bool = False
    bifurcation: tuple[str, ...] = ()
    root: str | None = None


class DrivePort(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A place for drives: one M.2, U.2, OCuLink, SlimSAS or MCIO connector, or a block of `count`
    SATA ports; also an M.2 socket of key E ("m2e": radio modules, small accelerators) and a USB4 or
    Thunderbolt port, which carries a card in its own box."""

    id: str
    kind: Literal["m2", "u2", "u3", "oculink", "slimsas", "mcio", "sata", "sas", "m2e", "usb4"]
    origin: str | None = None
    gen: int | None = None
    width: int | None = None
    protocols: tuple[Literal["nvme", "sata", "sas"], ...] = ()
    lengths_mm: tuple[int, ...] = ()
    count: int = 1


class Switch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A PCIe switch on a board: what hangs under it shares the uplink; `root` as in a slot."""

    id: str
    model: str
    origin: str
    gen: int
    width: int
    root: str | None = None


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """All that is given must hold: lane class (one of), places occupied, places empty, protocol of
    the drive, BIOS choice."""

    cpu_class: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    protocol: Literal["nvme", "sata"] | None = None
    bios: str | None = None


class LaneMode(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A consequence of how the board is used. Every mode whose `when` holds applies; the narrowest
    width and lowest generation win, and a place in `disabled` is dead."""

    when: When
    widths: dict[str, int] = {}
    gens: dict[str, int] = {}
    disabled: tuple[str, ...] = ()
    note: str = ""


class Link(Struct, frozen=True, forbid_unknown_fields=True):
    """`links` bonded NVLink or xGMI links between the GPUs in places `a` and `b`."""

    a: str
    b: str
    links: int


class Fabric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """GPU links wired on a baseboard: direct `links`, or a `switch` (an NVSwitch generation) that
    gives every pair all links."""

    kind: Literal["nvlink", "xgmi"] = "nvlink"
    links: tuple[Link, ...] = ()
    switch: str | None = None
    switches: int = 0
    cpu_links: dict[str, int] = {}


class Layout(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The electrical layout of a board: sockets, memory slots, card slots, drive ports, switches
    and lane modes.

    `bios_default` names the choices of `When.bios` that hold until the owner makes another."""

    sockets: tuple[str, ...] = ()
    chipset: str | None = None
    chipset_link: str | None = None
    memory_type: str | None = None
    memory_modules: tuple[str, ...] = ()
    memory_slots: int | None = None
    memory_max_gib: int | None = None
    memory_channels: int | None = None
    memory_speed_mts: int | None = None
    slots: tuple[Slot, ...] = ()
    drives: tuple[DrivePort, ...] = ()
    switches: tuple[Switch, ...] = ()
    lane_modes: tuple[LaneMode, ...] = ()
    fabric: Fabric | None = None
    eps8: int | None = None
    eps4: int | None = None
    above_4g: bool | None = None
    resizable_bar: bool | None = None
    display_outputs: int | None = None
    remote_management: bool | None = None
    cpu_generations: tuple[str, ...] = ()
    bios_minimum: dict[str, str] = {}
    bios_default: tuple[str, ...] = ()


BoardClass = Literal["board", "board-small", "board-workstation", "board-server"]
SMALL_BOARDS = ("mini-itx", "mini-stx", "thin", "nano")
WORKSTATION_SOCKETS = ("TR4", "sTRX4", "sWRX8", "sTR5", "LGA2066", "LGA2011-3", "LGA4677")


def board_class(layout: Layout, form_factor: str | None = None) -> BoardClass:
    """Return the class of a board, by which its own draw is taken."""
    if len(layout.sockets) > 1 or layout.remote_management:
        return "board-server"
    if any(socket in WORKSTATION_SOCKETS for socket in layout.sockets):
        return "board-workstation"
    return (
        "board-small"
        if (form_factor or "").lower().startswith(SMALL_BOARDS) or not layout.slots
        else "board"
    )


class Motherboard(Part, frozen=True, kw_only=True, tag="motherboard"):
    """A board on its own. `form_factor` is the label (ATX, EEB), the millimetres decide."""

    form_factor: str | None = None
    width_mm: float | None = None
    depth_mm: float | None = None
    layout: Layout

    @property
    def board_class(self) -> BoardClass:
        """The class by which its own draw is taken."""
        return board_class(self.layout, self.form_factor)


class RadiatorPlace(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A mount that takes radiators of `sizes_mm`. Where a radiator there takes room from others,
    `gpu_length_mm` is the longest card that is left, and `bays_25` and `bays_35` the drive bays."""

    at: Literal["front", "top", "bottom", "side", "rear"]
    sizes_mm: tuple[int, ...]
    gpu_length_mm: float | None = None
    bays_25: int | None = None
    bays_35: int | None = None


class Enclosure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The space inside a case or server. `slot_columns` counts expansion slots of the rear
    panel."""

    board_form_factors: tuple[str, ...] = ()
    board_max_width_mm: float | None = None
    board_max_depth_mm: float | None = None
    slot_columns: int | None = None
    gpu_length_mm: float | None = None
    gpu_height_mm: float | None = None
    cooler_height_mm: float | None = None
    radiators_mm: tuple[int, ...] | None = None
    radiator_places: tuple[RadiatorPlace, ...] | None = None
    psu_form_factors: tuple[str, ...] = ()
    psu_length_mm: float | None = None
    bays_25: int | None = None
    bays_35: int | None = None
    rack_units: float | None = None
    airflow: Literal["open", "good", "average", "poor", "server"] | None = None


class Chassis(Part, frozen=True, kw_only=True, tag="chassis"):
    """A case without board or supply."""

    enclosure: Enclosure


class Rating(Struct, frozen=True, forbid_unknown_fields=True):
    """Continuous output in watts when fed with at least `min_volts` AC (or DC for an adapter
    brick)."""

    min_volts: float
    watts: float


class Supply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a power supply gives: `ratings` by input voltage, `plugs` that can be used at the same
    time.

    `pcie8_instead` counts 8-pin plugs on cables of the box that take a 16-pin socket of the supply,
    two plugs for one socket."""

    ratings: tuple[Rating, ...] = ()
    standard: str | None = None
    efficiency_label: str | None = None
    efficiency_50: float | None = None
    plugs: tuple[Plug, ...] | None = None
    pcie8_instead: int = 0
    inlet: str | None = None
    redundant: bool = False
    units: int = 1


class PowerSupply(Part, frozen=True, kw_only=True, tag="psu"):
    """`form_factor` is ATX, SFX, SFX-L, TFX, CRPS, brick; `standard` an ATX12V revision such as
    "ATX 3.1"."""

    form_factor: str | None = None
    length_mm: float | None = None
    modular: bool | None = None
    supply: Supply


class MemoryKit(Part, frozen=True, kw_only=True, tag="memory"):
    """`modules` sticks of `module_gib` each; `module` is udimm, ecc-udimm, rdimm, lrdimm, sodimm,
    cudimm or mrdimm."""

    type: str
    module: str | None
    modules: int
    module_gib: float
    speed_mts: int | None = None
    cas: float | None = None
    voltage_v: float | None = None
    height_mm: float | None = None
    ecc: bool | None = None


class Storage(Part, frozen=True, kw_only=True, tag="storage"):
    """A drive. Rates are GB/s sequential and thousands of 4 KiB operations per second at high queue
    depth. `power_w` is the active power of its data sheet; where that gives none, what an NVMe
    drive itself declares for power state 0 (NVMe base specification, power state descriptor): its
    active power, else its maximum."""

    form_factor: Literal["m2", "2.5", "3.5", "u2", "u3", "e1s", "e3s", "aic"]
    interface: Literal["nvme", "sata", "sas"]
    capacity_gb: float
    gen: int | None = None
    width: int | None = None
    read_gbs: float | None = None
    write_gbs: float | None = None
    random_read_kiops: float | None = None
    random_write_kiops: float | None = None
    endurance_tbw: float | None = None
    power_w: float | None = None
    rotation_rpm: int | None = None
    m2_length_mm: int | None = None


class Cooler(Part, frozen=True, kw_only=True, tag="cooler"):
    """A CPU cooler: `height_mm` for air, `radiator_mm` for liquid; `rated_w` is the heat its maker
    promises to move. `memory_room_mm` is the height of modules that its front fan leaves below it
    as delivered, `reach_mm` how far it reaches from the middle of the CPU towards the slots."""

    type: Literal["air", "liquid", "passive"]
    sockets: tuple[str, ...] = ()
    height_mm: float | None = None
    radiator_mm: int | None = None
    rated_w: float | None = None
    memory_room_mm: float | None = None
    reach_mm: float | None = None


class Bridge(Part, frozen=True, kw_only=True, tag="bridge"):
    """An NVLink bridge. `spacing_slots` is the distance between the two cards' slots; `proven_with`
    GPU ids by verdict."""

    connector: str
    generation: float
    gpus: int = 2
    spacing_slots: int | None = None
    links: int | None = None
    per_pair: int = 1
    proven_with: dict[str, Literal["tested", "design", "should", "no"]] = {}


class Riser(Part, frozen=True, kw_only=True, tag="riser"):
    """A riser or adapter: `gen` and `width` it can carry; an adapter turns one `slot_kind` into
    `output` places. `switch` names the PCIe switch of one whose outputs all have `width` lanes and
    share those of the slot. A controller of disks has the `output` "sas" or "sata" and as many
    `outputs` as drives hang on it directly. `card_supply` says what feeds the card of a dock or
    enclosure: a supply that comes with it, a separate one, or the rig's; `card_w` what it gives the
    card. `connectors` are its power sockets: those of a carrier feed the module on it."""

    gen: int | None = None
    width: int | None = None
    length_mm: float | None = None
    slot_kind: str = "pcie"
    output: str = "pcie"
    outputs: int = 1
    retimer: bool | None = None
    switch: str | None = None
    card_supply: Literal["included", "separate", "rig"] | None = None
    card_w: float | None = None
    connectors: tuple[Plug, ...] | None = None


class NetworkCard(Part, frozen=True, kw_only=True, tag="nic"):
    """A network card: `ports` of `port_gbps` each (1e9 bits per second)."""

    ports: int | None = None
    port_gbps: float | None = None
    protocol: Literal["ethernet", "infiniband", "both"] | None = None
    edge_gen: int | None = None
    edge_width: int | None = None
    power_w: float | None = None
    rdma: bool | None = None
    form_factor: Literal["pcie", "ocp", "onboard"] = "pcie"


class Inclusion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """`quantity` pieces of a catalog part built into a system, each in its place."""

    part: str
    quantity: int = 1
    places: tuple[str, ...] = ()


class System(Part, frozen=True, kw_only=True, tag="system"):
    """A barebone, server, baseboard, development board or complete system: layout, space and
    supply, with `includes` built in."""

    role: Literal["barebone", "server", "baseboard", "embedded", "complete", "rack"]
    layout: Layout = Layout()
    enclosure: Enclosure | None = None
    supply: Supply | None = None
    includes: tuple[Inclusion, ...] = ()
    max_power_w: float | None = None
    gpu_max_w: float | None = None
    length_mm: float | None = None


class Accessory(Part, frozen=True, kw_only=True, tag="accessory"):
    """A monitor, cable, UPS or anything else that is bought but not assembled. `power_w` counts on
    the circuit. A UPS gives `output_w` watts and `output_va` volt-amperes, and lasts the two
    `runtime` minutes at half and at full load in watts; `waveform` is that of its output on
    battery."""

    type: str
    power_w: float | None = None
    output_w: float | None = None
    output_va: float | None = None
    runtime_half_min: float | None = None
    runtime_full_min: float | None = None
    waveform: Literal["sine", "stepped"] | None = None


AnyPart = (
    CPU
    | GPU
    | Motherboard
    | MemoryKit
    | Storage
    | PowerSupply
    | Chassis
    | Cooler
    | Bridge
    | Riser
    | NetworkCard
    | System
    | Accessory
)

KINDS: dict[str, type[Part]] = {
    "gpu": GPU,
    "cpu": CPU,
    "motherboard": Motherboard,
    "system": System,
    "memory": MemoryKit,
    "storage": Storage,
    "psu": PowerSupply,
    "chassis": Chassis,
    "cooler": Cooler,
    "bridge": Bridge,
    "riser": Riser,
    "nic": NetworkCard,
    "accessory": Accessory,
}
"""Kind word to struct, in the order in which a person builds."""


YEAR = re.compile(r"(?:19|20)[0-9]{2}(?![0-9])")


def year_of(part: Part) -> int | None:
    """Return the year in which a part came out, None where its day of release is not known or is
    no day."""
    found = YEAR.match(part.released or "")
    return int(found[0]) if found else None


def kind_of(part: Part) -> str:
    """Return the kind word of a part, for example "gpu"."""
    return str(part.__struct_config__.tag)
