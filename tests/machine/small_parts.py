"""Small hand-made parts and rigs for the tests of the machine."""

from collections.abc import Sequence

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    AnyPart,
    Bridge,
    DrivePort,
    LaneMode,
    Layout,
    Motherboard,
    NetworkCard,
    NvlinkPort,
    Plug,
    PowerSupply,
    Rating,
    Riser,
    Slot,
    Storage,
    Supply,
    Switch,
    When,
)
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.rig.document import Item, Rig, Settings


def cpu(socket: str = "AM5", **more: object) -> CPU:
    fields = {
        "lanes": 24,
        "pcie_gen": 5,
        "peg_width": 16,
        "tdp_w": 120,
        "max_power_w": 160,
        "lane_class": "full",
        **more,
    }
    return CPU(id=f"test.cpu.{socket.lower()}", name="CPU", vendor="AMD", socket=socket, **fields)


def gpu(name: str = "card", **more: object) -> GPU:
    fields = {
        "form_factor": "pcie",
        "edge_gen": 4,
        "edge_width": 16,
        "slots": 2,
        "tdp_w": 300,
        "architecture": "Ampere",
        "compute_capability": "8.6",
        "connectors": (Plug("pcie8", 2),),
        "p2p": "yes",
        "has_nvlink": False,
        **more,
    }
    return GPU(id=f"test.gpu.{name}", name=name, vendor="NVIDIA", **fields)


def linked_gpu(name: str = "linked", **more: object) -> GPU:
    port = NvlinkPort(generation=3, links=4, link_gbs=14.0625, connector="ga102")
    return gpu(name, nvlink=port, has_nvlink=True, p2p="nvlink-only", **more)


def bridge(spacing: int | None = 3, **more: object) -> Bridge:
    fields = {"connector": "ga102", "generation": 3, "links": 4, **more}
    return Bridge(
        id=f"test.bridge.s{spacing}",
        name="Bridge",
        vendor="NVIDIA",
        spacing_slots=spacing,
        **fields,
    )


def m2(name: str = "ssd", interface: str = "nvme", gen: int = 4) -> Storage:
    return Storage(
        id=f"test.storage.{name}",
        name=name,
        vendor="T",
        form_factor="m2",
        interface=interface,
        capacity_gb=1000,
        gen=gen,
        width=4,
        power_w=8,
    )


def hdd() -> Storage:
    return Storage(
        id="test.storage.hdd",
        name="HDD",
        vendor="T",
        form_factor="3.5",
        interface="sata",
        capacity_gb=4000,
        power_w=9,
    )


def nic(**more: object) -> NetworkCard:
    fields = {
        "ports": 1,
        "port_gbps": 100,
        "rdma": True,
        "edge_gen": 4,
        "edge_width": 16,
        "power_w": 15,
        **more,
    }
    return NetworkCard(
        id="test.nic.cx6", name="NIC", vendor="NVIDIA", protocol="infiniband", **fields
    )


def riser(gen: int = 3, width: int = 16) -> Riser:
    return Riser(id="test.riser.cable", name="Riser", vendor="T", gen=gen, width=width)


def psu(watts: float = 1000, **more: object) -> PowerSupply:
    fields = {
        "standard": "ATX 2.4",
        "efficiency_label": "80 PLUS Gold",
        "plugs": (Plug("pcie8", 6), Plug("eps8", 2)),
        **more,
    }
    return PowerSupply(
        id="test.psu.one",
        name="PSU",
        vendor="T",
        form_factor="ATX",
        supply=Supply(ratings=(Rating(100, watts),), **fields),
    )


def slot(
    name: str, position: int | None = None, width: int = 16, origin: str = "cpu0", **more: object
) -> Slot:
    fields = {"mechanical": 16, "gen": 4, **more}
    return Slot(id=name, position=position, width=width, origin=origin, **fields)


def board(
    slots: Sequence[Slot],
    drives: Sequence[DrivePort] = (),
    modes: Sequence[LaneMode] = (),
    sockets: tuple[str, ...] = ("AM5",),
    switches: Sequence[Switch] = (),
    **more: object,
) -> Motherboard:
    layout = Layout(
        sockets=sockets,
        slots=tuple(slots),
        drives=tuple(drives),
        lane_modes=tuple(modes),
        switches=tuple(switches),
        **more,
    )
    return Motherboard(id="test.board.one", name="Board", vendor="T", layout=layout)


def pair_board(**more: object) -> Motherboard:
    """Two slots of one root, x16/x0 or x8/x8, and an M.2 socket that takes half of the first
    slot."""
    return board(
        [slot("S1", 2), slot("S2", 5, 8), slot("S3", 7, 4, "chipset", gen=4)],
        [
            DrivePort(id="M1", kind="m2", origin="cpu0", gen=5, width=4, protocols=("nvme",)),
            DrivePort(id="M2", kind="m2", origin="cpu0", gen=5, width=4, protocols=("nvme",)),
            DrivePort(
                id="M3", kind="m2", origin="chipset", gen=4, width=4, protocols=("nvme", "sata")
            ),
            DrivePort(id="SATA", kind="sata", origin="chipset", protocols=("sata",), count=2),
        ],
        [
            LaneMode(when=When(used=("S2",)), widths={"S1": 8, "S2": 8}),
            LaneMode(when=When(used=("M2",)), widths={"S1": 8}, disabled=("S2",)),
            LaneMode(when=When(used=("M3",), protocol="sata"), widths={"SATA": 1}),
        ],
        chipset="B850",
        chipset_link="PCIe 4.0 x4",
        **more,
    )


Chosen = AnyPart | tuple[AnyPart, int] | tuple[AnyPart, int, tuple[str, ...]]


def machine_of(*chosen: Chosen, settings: Settings | None = None) -> Machine:
    """Return the machine of parts, each alone, with a quantity, or with a quantity and places.
    Items are called by their kind."""
    rig, catalog = rig_of(*chosen, settings=settings)
    return assemble(rig, catalog)


def rig_of(*chosen: Chosen, settings: Settings | None = None) -> tuple[Rig, Catalog]:
    """Return the rig and a catalog with its parts."""
    items: list[Item] = []
    parts: dict[str, AnyPart] = {}
    for entry in chosen:
        part, quantity, places = (*entry, 1, ())[:3] if isinstance(entry, tuple) else (entry, 1, ())
        if isinstance(entry, tuple) and len(entry) == 2:
            part, quantity, places = entry[0], entry[1], ()
        stem = str(part.__struct_config__.tag)
        uid = stem + str(sum(item.uid.startswith(stem) for item in items) or "")
        items.append(Item(uid=uid, part=part.id, quantity=quantity, places=tuple(places)))
        parts[part.id] = part
    return Rig(items=tuple(items), settings=settings or Settings()), Catalog(parts, {})


def places(machine: Machine) -> dict[str, str]:
    """Return the place of each piece that has one."""
    found = {use.piece: use.slot.id for use in machine.slots if use.piece is not None}
    return found | {name: use.port.id for use in machine.drives for name in use.pieces}


def reasons(machine: Machine) -> dict[str, str]:
    """Return the reason of each piece's problem."""
    return {problem.piece: problem.reason for problem in machine.problems}
