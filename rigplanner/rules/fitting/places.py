"""What the places of a machine let a card be: as more than that it need not be tried."""

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU, AnyPart
from rigplanner.machine.model import Machine
from rigplanner.machine.placement.placeables import slot_kind

ANY_GEN = 9
"""Stands for the generation of a place of which it is not known."""
MODULES = ("mxm", "oam", "sxm2", "sxm3", "sxm4", "sxm5")
"""Form factors of GPU modules: the first that a rig has no slots for stands for all without a slot.
"""


def as_the_board_sees(part: AnyPart, fastest: dict[str | None, int]) -> AnyPart:
    """Return a card as its place sees it: no generation beyond the fastest place's of its kind;
    without a slot of its kind its edge does not count, nor of a module which kind it is."""
    if not isinstance(part, GPU):
        return part
    kind = slot_kind(part)
    if kind is not None and kind not in fastest:
        forms = (
            [form for form in MODULES if form not in fastest] if part.form_factor != "pcie" else []
        )
        return replace(
            part,
            form_factor=(*forms, part.form_factor)[0],
            edge_gen=None,
            edge_width=None,
            slots=None,
        )
    most = fastest.get(kind, ANY_GEN)
    return part if part.edge_gen is None or part.edge_gen <= most else replace(part, edge_gen=most)


def fastest_places(machine: Machine) -> dict[str | None, int]:
    """Return the fastest generation of the slots of each kind; under None that of the ports that
    modules go into."""
    gens: dict[str | None, int] = {}
    for use in machine.slots:
        gens[use.slot.kind] = max(gens.get(use.slot.kind, 0), use.slot.gen or ANY_GEN)
    ports = [port.port.gen or ANY_GEN for port in machine.drives if port.port.kind.startswith("m2")]
    return {**gens, None: max(ports, default=ANY_GEN)}
