"""What a captured machine shows: plain facts as the programs print them, nothing judged yet. None
is what was not shown."""

from typing import Literal, TypeVar

from msgspec import Struct

DeviceKind = Literal["gpu", "drive", "network", "bridge", "other"]
PortType = Literal["root", "upstream", "downstream", "endpoint", ""]


class PcieLink(Struct, frozen=True):
    """Generation and width of a PCIe link."""

    generation: int | None = None
    width: int | None = None


class SeenDevice(Struct, frozen=True, kw_only=True):
    """A PCIe function. `capable` is what it can at most and `running` what it trained to; `target`
    is the generation that its port was told to seek. `bus` is the bus behind a bridge, `slot` the
    number that the firmware prints. `acs` says whether peer requests are sent up to the root;
    `errors` are the error bits that stand, corrected ones in lower case. Not `alive`: the card no
    longer answers. Not `whole`: capabilities were hidden because the reader was not root."""

    address: str = ""
    name: str = ""
    kind: DeviceKind = "other"
    ids: str = ""
    capable: PcieLink = PcieLink()
    running: PcieLink = PcieLink()
    target: int | None = None
    port: PortType = ""
    bus: str = ""
    slot: str = ""
    numa: int | None = None
    acs: bool | None = None
    errors: tuple[str, ...] = ()
    driver: str = ""
    alive: bool = True
    whole: bool = True


class SeenGpu(Struct, frozen=True, kw_only=True):
    """A GPU as its driver's program prints it. `reachable` is the best link that card and slot
    allow together, `card_generation` what the card alone can. Watts and degrees as printed;
    `throttled` names the reasons that are active for lower clocks; `busy_percent` tells whether it
    was idle."""

    address: str = ""
    index: int | None = None
    name: str = ""
    reachable: PcieLink = PcieLink()
    running: PcieLink = PcieLink()
    card_generation: int | None = None
    power_limit_w: float | None = None
    power_default_w: float | None = None
    power_max_w: float | None = None
    power_draw_w: float | None = None
    temperature_c: float | None = None
    slowdown_c: float | None = None
    clock_mhz: float | None = None
    clock_max_mhz: float | None = None
    busy_percent: float | None = None
    memory_mib: float | None = None
    throttled: tuple[str, ...] = ()
    persistence: bool | None = None
    ecc: bool | None = None
    uncorrected: int | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    mig: bool | None = None
    replays: int | None = None
    driver: str = ""
    cuda: str = ""
    numa: int | None = None


class SeenNvlink(Struct, frozen=True):
    """The NVLinks of one GPU: how many are up, and how many lines were printed."""

    index: int
    name: str
    up: int
    listed: int


class SeenMatrix(Struct, frozen=True):
    """Letters between GPUs, in the order of the driver."""

    cells: tuple[tuple[str, ...], ...]
    numas: tuple[int | None, ...] = ()


class SeenBoard(Struct, frozen=True, kw_only=True):
    """Names of system, board and BIOS as the firmware gives them."""

    system_vendor: str = ""
    system: str = ""
    vendor: str = ""
    name: str = ""
    bios: str = ""
    bios_day: str = ""


class SeenSlot(Struct, frozen=True, kw_only=True):
    """A slot as the firmware describes it: "PCIEX16_1", "x16 PCI Express 4", in use or not."""

    name: str
    kind: str = ""
    used: bool | None = None
    address: str = ""


class SeenModule(Struct, frozen=True, kw_only=True):
    """A place for a memory module; `gib` is 0 for an empty one. `rated_mts` is what the module's
    firmware table promises, `running_mts` what it was set to."""

    place: str
    bank: str = ""
    gib: float | None = None
    type: str = ""
    rated_mts: int | None = None
    running_mts: int | None = None
    part: str = ""
    ecc: bool | None = None


class SeenCpu(Struct, frozen=True, kw_only=True):
    """The CPUs: model, occupied sockets, cores of one, logical CPUs in all, NUMA nodes."""

    model: str = ""
    sockets: int | None = None
    cores: int | None = None
    logical: int | None = None
    numa_nodes: int | None = None


class SeenNuma(Struct, frozen=True):
    """A NUMA node and its memory in MiB."""

    index: int
    memory_mib: int


class SeenMemory(Struct, frozen=True):
    """All memory that the kernel has, in MiB."""

    mib: int


class SeenDrive(Struct, frozen=True, kw_only=True):
    """A drive: device name, model, size in bytes, and what it says of its own health."""

    device: str = ""
    model: str = ""
    bytes: int | None = None
    firmware: str = ""
    passed: bool | None = None
    worn_percent: float | None = None
    media_errors: int | None = None
    temperature_c: float | None = None
    hours: int | None = None


class SeenPort(Struct, frozen=True, kw_only=True):
    """A network port: its rate now in Gbit/s, and the best that it names."""

    device: str
    adapter: str = ""
    gbps: float | None = None
    most_gbps: float | None = None
    up: bool | None = None
    kind: Literal["ethernet", "infiniband", ""] = ""


EventKind = Literal[
    "xid",
    "off-bus",
    "aer-corrected",
    "aer-uncorrected",
    "narrow-link",
    "cpu-throttled",
    "machine-check",
    "drive-timeout",
]


class SeenEvent(Struct, frozen=True, kw_only=True):
    """A line of the kernel's log, counted: `code` is the number of an Xid, `link` the one that
    limits a device and `capable` what the device could."""

    kind: EventKind
    address: str = ""
    code: int | None = None
    count: int = 1
    link: PcieLink = PcieLink()
    capable: PcieLink = PcieLink()
    at: str = ""


class SeenKernel(Struct, frozen=True, kw_only=True):
    """Kernel release, distribution and what its command line says of the IOMMU ("off", "pt",
    "on")."""

    release: str = ""
    system: str = ""
    iommu: Literal["off", "pt", "on", ""] = ""
    lines: str = ""


class SeenHeat(Struct, frozen=True):
    """A temperature of a sensor, with the limit that its driver names."""

    chip: str
    label: str
    celsius: float
    limit_c: float | None = None


class SeenRate(Struct, frozen=True, kw_only=True):
    """A figure that a test program measured. `metric` is a code such as "allreduce-busbw"; `gpus`
    are the GPUs that it concerns, empty for all; `unit` is GB/s, tokens/s, GFLOP/s and so on.
    `model` is what ran, `details` what else settles the figure, as the program prints it."""

    program: str
    metric: str
    value: float
    unit: str
    gpus: tuple[int, ...] = ()
    model: str = ""
    details: dict[str, str] = {}


class SeenTest(Struct, frozen=True):
    """A burn-in program's own verdict on a GPU or on the machine."""

    program: str
    subject: str
    passed: bool


Fact = (
    SeenDevice
    | SeenGpu
    | SeenNvlink
    | SeenMatrix
    | SeenBoard
    | SeenSlot
    | SeenModule
    | SeenCpu
    | SeenNuma
    | SeenMemory
    | SeenDrive
    | SeenPort
    | SeenEvent
    | SeenKernel
    | SeenHeat
    | SeenRate
    | SeenTest
)
F = TypeVar("F", bound=Struct)


def of_kind(facts: tuple[Fact, ...], kind: type[F]) -> tuple[F, ...]:
    """Return the facts of one kind, in their order."""
    return tuple([fact for fact in facts if isinstance(fact, kind)])


def whole_address(text: str) -> str:
    """Return a PCI address in the kernel's form "0000:01:00.0", "" for text that is none. A display
    adapter's bus number as "0000:9b:00" has no function: it is the first."""
    word = text.strip().lower()
    parts = word.replace(".", ":").split(":")
    if len(parts) == 3 and "." in word:
        parts = ["0", *parts]
    elif len(parts) == 3:
        parts = [*parts, "0"]
    try:
        domain, bus, device, function = (int(part, 16) for part in parts)
    except ValueError:
        return ""
    if domain > 0xFFFFFFFF or bus > 0xFF or device > 0x1F or function > 7:
        return ""
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"
