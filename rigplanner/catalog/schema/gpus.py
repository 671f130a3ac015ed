"""GPUs: rates, NVLink, power connectors."""

import math
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.part import Part
from rigplanner.catalog.schema.supplies import Plug


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
