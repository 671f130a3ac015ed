"""What looks for a place on a board, and which places take it."""

from msgspec import Struct

from rigplanner.catalog.schema.parts import (
    GPU,
    AnyPart,
    DrivePort,
    NetworkCard,
    Riser,
    Slot,
    Storage,
)

PORTS_OF = {
    ("m2", "nvme"): ("m2",),
    ("m2", "sata"): ("m2",),
    ("2.5", "sata"): ("sata", "sas", "slimsas"),
    ("3.5", "sata"): ("sata", "sas", "slimsas"),
    ("2.5", "sas"): ("sas", "slimsas", "u3"),
    ("3.5", "sas"): ("sas", "slimsas"),
    ("2.5", "nvme"): ("u2", "u3", "oculink", "slimsas", "mcio"),
    ("u2", "nvme"): ("u2", "u3", "oculink", "slimsas", "mcio"),
    ("u3", "nvme"): ("u3", "u2", "oculink", "slimsas", "mcio"),
    ("e1s", "nvme"): ("mcio", "u3"),
    ("e3s", "nvme"): ("mcio", "u3"),
}
"""Port kinds that take a drive by form factor and interface; cabled connectors (OCuLink, SlimSAS,
MCIO) carry U.2 and U.3."""

EMBEDDED = ("embedded", "chip", "superchip")
NO_PLACE = ("usb", "m2")
WIDE_KEY = 2
"""Lanes from which on an M.2 accelerator has the M or B+M key of a drive; those of one lane have
the A+E key of radio modules."""


class Card(Struct, frozen=True, kw_only=True):
    """A card or module that wants a slot. `columns` counts the expansion columns that it hides,
    itself included; a GPU that only `shows` drives the monitors and takes what the others leave."""

    name: str
    part: AnyPart
    kind: str
    width: int | None
    gen: int | None
    columns: int
    wish: str = ""
    riser: str | None = None
    shows: bool = False

    @property
    def is_gpu(self) -> bool:
        return isinstance(self.part, GPU) and not self.shows

    def swaps_with(self, other: "Card", by_model: bool) -> bool:
        """Say whether two cards may be exchanged: equal in kind, link and thickness, and `by_model`
        of one model."""
        if by_model and self.part.id != other.part.id:
            return False
        return self._form == other._form

    @property
    def _form(self) -> tuple[object, ...]:
        on_riser = self.riser is not None
        link = (self.kind, self.columns, self.width, self.gen)
        return (self.is_gpu, self.shows, *link, on_riser)


class Drive(Struct, frozen=True, kw_only=True):
    """A drive that wants a port, or an accelerator on an M.2 module: to the board an NVMe drive of
    its width."""

    name: str
    part: Storage
    kinds: tuple[str, ...]
    wish: str = ""


def slot_kind(gpu: GPU) -> str | None:
    """Return the kind of slot that a GPU takes, or None when it takes none."""
    if gpu.form_factor in NO_PLACE:
        return None
    return "embedded" if gpu.form_factor in EMBEDDED else gpu.form_factor


def card_of(name: str, part: AnyPart, wish: str) -> Card | None:
    """Return the card that a part is, or None when it takes no slot."""
    if isinstance(part, GPU):
        kind = slot_kind(part)
        if kind is None:
            return None
        columns = (part.columns or 1) if kind == "pcie" else 1
        return Card(
            name=name,
            part=part,
            kind=kind,
            width=part.edge_width,
            gen=part.edge_gen,
            columns=columns,
            wish=wish,
        )
    if isinstance(part, NetworkCard) and part.form_factor == "pcie":
        return Card(
            name=name,
            part=part,
            kind="pcie",
            width=part.edge_width,
            gen=part.edge_gen,
            columns=1,
            wish=wish,
        )
    if isinstance(part, Storage) and part.form_factor == "aic":
        return Card(
            name=name, part=part, kind="pcie", width=part.width, gen=part.gen, columns=1, wish=wish
        )
    return None


def adapter_card(name: str, riser: Riser, place: str) -> Card:
    """Return an adapter as the card that stands in its slot."""
    return Card(
        name=name, part=riser, kind="pcie", width=riser.width, gen=riser.gen, columns=1, wish=place
    )


def drive_of(name: str, part: AnyPart, wish: str) -> Drive | None:
    """Return the drive that a part is, or None when it takes no port."""
    key_e = isinstance(part, GPU) and part.form_factor == "m2" and (part.edge_width or 1) < WIDE_KEY
    if isinstance(part, GPU) and part.form_factor == "m2":
        part = Storage(
            id=part.id,
            name=part.id,
            vendor="",
            form_factor="m2",
            interface="nvme",
            capacity_gb=0.0,
            gen=part.edge_gen,
            width=part.edge_width,
        )
    if isinstance(part, Storage) and part.form_factor != "aic":
        kinds = ("m2e",) if key_e else PORTS_OF.get((part.form_factor, part.interface), ())
        return Drive(name=name, part=part, kinds=kinds, wish=wish)
    return None


def enters(card: Card, slot: Slot) -> bool:
    """Say whether a card's edge goes into a slot's connector; unknown sizes are taken to fit."""
    if slot.kind != card.kind:
        return False
    if slot.kind != "pcie" or slot.open_ended or slot.mechanical is None or card.width is None:
        return True
    return card.width <= slot.mechanical


def speaks(drive: Drive, port: DrivePort) -> bool:
    """Say whether a port takes a drive by kind, protocol and, for M.2, length."""
    if port.kind not in drive.kinds:
        return False
    return not port.protocols or drive.part.interface in port.protocols
