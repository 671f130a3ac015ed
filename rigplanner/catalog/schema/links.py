"""What joins parts: NVLink bridges, risers and adapters, network cards."""

from typing import Literal

from rigplanner.catalog.schema.part import Part
from rigplanner.catalog.schema.supplies import Plug


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
