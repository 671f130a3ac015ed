"""Adapters that make other places of one: bifurcation cards, M.2 carriers, M.2 to PCIe, OCuLink and
SlimSAS hosts, switches."""

from typing import Any, Literal

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import DrivePort, LaneMode, Layout, Riser, Slot, Switch
from rigplanner.machine.pcie import least

MODULES = ("mxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "oam")
PORTS = ("m2", "u2", "u3", "oculink", "slimsas", "mcio", "m2e")
DRIVE_HOSTS: dict[str, tuple[Literal["nvme", "sata", "sas"], ...]] = {
    "sata": ("sata",),
    "sas": ("sas", "sata"),
}
"""What the drives behind a controller may speak, by its output: SATA drives work on SAS."""

Adapter = tuple[str, Riser, str]
"""Name of the piece, the part, the wished place or ""."""


def is_extension(riser: Riser) -> bool:
    """Say whether a riser leads one slot to one card, without making other places of it."""
    return riser.slot_kind == "pcie" and riser.output == "pcie" and riser.outputs == 1


def hosts_drives(riser: Riser) -> bool:
    """Say whether a card is a controller of disks: its chip shares the slot's lanes out, whatever
    the firmware splits, and `outputs` counts the drives that hang on it directly."""
    return riser.output in DRIVE_HOSTS


def fit_adapters(
    layout: Layout, adapters: list[Adapter], reserved: set[str]
) -> tuple[Layout, dict[str, str]]:
    """Return the layout with the places that adapters add ("PCIE1/1", "PCIE1/2", ...), and the
    place of each adapter. Without a wish an adapter takes the place that others wish to stand
    behind, else the last fitting one that nobody wishes, one that the firmware can split if there
    is one. The order of the adapters says nothing: one that stands on another waits for it."""
    standing: dict[str, str] = {}
    waiting = sorted(adapters, key=lambda adapter: (not adapter[2], adapter[1].id, adapter[0]))
    while waiting:
        left: list[Adapter] = []
        for name, riser, wish in waiting:
            parent = _parent(layout, riser, wish, {*reserved, *standing.values()})
            if parent is None:
                left.append((name, riser, wish))
                continue
            standing[name] = parent.id
            layout = _made(layout, riser, parent)
        if len(left) == len(waiting):
            break
        waiting = left
    return layout, {name: standing[name] for name, _, _ in adapters if name in standing}


def _parent(layout: Layout, riser: Riser, wish: str, taken: set[str]) -> Slot | DrivePort | None:
    slots = [slot for slot in layout.slots if slot.kind == "pcie" and slot.kind == riser.slot_kind]
    ports = [
        port
        for port in layout.drives
        if port.kind == riser.slot_kind and (not port.protocols or "nvme" in port.protocols)
    ]
    places: list[Any] = [*slots, *ports]
    if wish:
        return next((place for place in places if place.id == wish), None)
    free = [place for place in places if place.id not in taken]
    sought = [place for place in free if any(other.startswith(f"{place.id}/") for other in taken)]
    return max(
        sought or free, key=lambda place: _merit(place, riser, places.index(place)), default=None
    )


def _merit(place: Slot | DrivePort, riser: Riser, index: int) -> tuple[int, ...]:
    """Rank a place for an adapter: wide, on the board itself rather than behind another adapter,
    split by the firmware where that is needed, the last."""
    wide = min(place.width or 0, riser.width or 16)
    splits = isinstance(place, Slot) and _pattern(riser) in {
        mode.replace("/", "").replace("+", "") for mode in place.bifurcation
    }
    return (
        wide,
        "/" not in place.id,
        splits or riser.outputs == 1 or riser.switch is not None or hosts_drives(riser),
        index,
    )


def _pattern(riser: Riser) -> str:
    return "".join(f"x{(riser.width or 16) // riser.outputs}" for _ in range(riser.outputs))


def _made(layout: Layout, riser: Riser, parent: Slot | DrivePort) -> Layout:
    if hosts_drives(riser):
        return _hosted(layout, riser, parent)
    if riser.switch is None:
        return _extended(layout, riser, parent)
    return _switched(layout, riser, parent)


def _hosted(layout: Layout, riser: Riser, parent: Slot | DrivePort) -> Layout:
    """Return the layout with a controller's block of drive ports; dead where its slot is."""
    kind: Any = riser.output
    block = DrivePort(
        id=f"{parent.id}/1",
        kind=kind,
        origin=parent.origin,
        protocols=DRIVE_HOSTS[riser.output],
        count=riser.outputs,
    )
    dead = [
        LaneMode(when=mode.when, disabled=(block.id,))
        for mode in layout.lane_modes
        if parent.id in mode.disabled
    ]
    return replace(layout, drives=(*layout.drives, block), lane_modes=(*layout.lane_modes, *dead))


def _extended(layout: Layout, riser: Riser, parent: Slot | DrivePort) -> Layout:
    """Return the layout with the adapter's places. Those beyond the lanes that the parent has in a
    lane mode are dead in it."""
    each = max(1, (riser.width or 16) // riser.outputs)
    most = (
        riser.outputs if parent.width is None else min(riser.outputs, max(1, parent.width // each))
    )
    ids = [f"{parent.id}/{number + 1}" for number in range(most)]
    gen, width = least(riser.gen, parent.gen), least(each, parent.width)
    slots, ports = list(layout.slots), list(layout.drives)
    root = (parent.root or parent.id) if isinstance(parent, Slot) else None
    if riser.output in PORTS:
        protocols: tuple[Any, ...] = ("nvme",)
        kind: Any = riser.output
        ports += [
            DrivePort(
                id=i, kind=kind, origin=parent.origin, gen=gen, width=width, protocols=protocols
            )
            for i in ids
        ]
    elif riser.output == "pcie" or riser.output in MODULES:
        size = 16 if riser.output == "pcie" else None
        slot_kind: Any = riser.output
        slots += [
            Slot(
                id=i,
                kind=slot_kind,
                mechanical=size,
                origin=parent.origin,
                gen=gen,
                width=width,
                root=root,
            )
            for i in ids
        ]
    modes = [
        dead
        for mode in layout.lane_modes
        if (dead := _dead_in(mode, parent.id, ids, each)) is not None
    ]
    return replace(
        layout, slots=tuple(slots), drives=tuple(ports), lane_modes=(*layout.lane_modes, *modes)
    )


def _switched(layout: Layout, riser: Riser, parent: Slot | DrivePort) -> Layout:
    """Return the layout with the slots of a switch: each as wide as its uplink, which they
    share."""
    root = (parent.root or parent.id) if isinstance(parent, Slot) else parent.id
    switch = Switch(
        id=f"{parent.id}/switch",
        model=riser.switch or "",
        origin=parent.origin or "cpu0",
        gen=least(riser.gen, parent.gen) or 1,
        width=least(riser.width, parent.width) or 1,
        root=root,
    )
    slots = [
        Slot(
            id=f"{parent.id}/{number + 1}",
            mechanical=16,
            origin=switch.id,
            gen=riser.gen,
            width=riser.width,
            root=root,
        )
        for number in range(riser.outputs)
    ]
    return replace(layout, slots=(*layout.slots, *slots), switches=(*layout.switches, switch))


def _dead_in(mode: LaneMode, parent: str, ids: list[str], each: int) -> LaneMode | None:
    if parent in mode.disabled:
        return LaneMode(when=mode.when, disabled=tuple(ids))
    left = mode.widths.get(parent)
    dead = ids[left // each :] if left is not None else []
    return LaneMode(when=mode.when, disabled=tuple(dead)) if dead else None
