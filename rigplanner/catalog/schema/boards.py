"""Motherboards: places for cards and drives, PCIe switches, lane modes, GPU links."""

from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.part import Part


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
