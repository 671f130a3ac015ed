"""The upper part of the PCIe tree: CPUs, chipset, switches, and what their uplinks leave."""

import re
from collections.abc import Sequence
from itertools import combinations

from rigplanner.catalog.schema.parts import Layout
from rigplanner.machine.model import DriveUse, SlotUse
from rigplanner.machine.nodes import Edge, Node, Root, socket_node
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.placement.lanes import places_of, root_of
from rigplanner.machine.placement.locate import Location, Tree, chain_of, chipset_node, switch_node
from rigplanner.machine.placement.populate import Populated

DMI_GEN = {"1": 1, "2": 2, "3": 3, "4": 4}
"""Intel's DMI revision runs at the PCIe generation of the same number."""


def chipset_link(layout: Layout) -> tuple[int | None, int | None]:
    """Return generation and width of the link between CPU and chipset, read from words such as "DMI
    3.0 x4", "PCIe 4.0 x4"."""
    words = layout.chipset_link or ""
    gen = re.search(r"(?:DMI|PCIe|Gen)\s*(\d)", words, re.IGNORECASE)
    width = re.search(r"x\s*(\d+)", words)
    return (DMI_GEN.get(gen[1], int(gen[1])) if gen else None, int(width[1]) if width else None)


def parent_of(tree: Tree, origin: str | None) -> Node | None:
    """Return the node above a place with this origin, None where it is not known."""
    layout = tree.board.layout
    if origin is None:
        return None
    if any(switch.id == origin for switch in layout.switches):
        return switch_node(tree.board, origin)
    if origin == "chipset":
        return chipset_node(tree.board)
    location = tree.locate(origin, "")
    return socket_node(location.socket) if location.socket is not None else None


def root_above(parent: Node, location: Location) -> Root | None:
    """Return the host bridge of a place whose link starts there, None below a switch or chipset and
    where it is not known."""
    if parent.kind not in ("socket", "host") or not location.bridge:
        return None
    return Root(location.bridge, location.numa, location.board)


def trunk_edges(populated: Populated, tree: Tree) -> list[Edge]:
    """Return the edges between CPUs (between sockets where the rig names no CPU), from CPU to
    chipset, and to switches with something below them."""
    layout = populated.board.layout
    edges: list[Edge] = []
    cpus = [tree.first_cpu + n for n in range(sum(cpu is not None for cpu in tree.cpus))]
    sockets = cpus or [tree.first_cpu + n for n in range(len(layout.sockets))]
    edges += [
        Edge(a=socket_node(a), b=socket_node(b), kind="cpu") for a, b in combinations(sockets, 2)
    ]
    if layout.chipset is not None and sockets:
        gen, width = chipset_link(layout)
        first = socket_node(sockets[0])
        edges.append(
            Edge(
                a=first,
                b=chipset_node(tree.board),
                root=root_above(first, tree.locate("chipset", "")),
                kind="chipset",
                width=width,
                gen=gen,
                gbs=link_gbs(gen, width),
            )
        )
    in_use = switches_in_use(populated)
    for switch in layout.switches:
        if switch.id in in_use:
            parent = parent_of(tree, switch.origin)
            if parent is not None:
                rate = link_gbs(switch.gen, switch.width)
                node = switch_node(tree.board, switch.id)
                edges.append(
                    Edge(
                        a=parent,
                        b=node,
                        kind="pcie",
                        width=switch.width,
                        gen=switch.gen,
                        gbs=rate,
                        root=root_above(parent, tree.locate(switch.id, "")),
                    )
                )
    return edges


def switches_in_use(populated: Populated) -> set[str]:
    """Return the switches with an occupied place below them."""
    used = populated.settled.standing.used()
    layout = populated.board.layout
    origins = {place.origin for place in places_of(layout) if place.id in used}
    return {switch for origin in origins for switch in chain_of(layout, origin)[0]}


def host_gbs(layout: Layout, origin: str | None, link: float | None) -> float | None:
    """Return the one-way rate in GB/s from a place to host memory: the narrowest of link, switch
    uplinks and chipset link."""
    rates = [link]
    switches = {switch.id: switch for switch in layout.switches}
    rates += [
        link_gbs(switches[name].gen, switches[name].width) for name in chain_of(layout, origin)[0]
    ]
    if root_of(layout, origin) == "chipset":
        rates.append(link_gbs(*chipset_link(layout)))
    known = [rate for rate in rates if rate is not None]
    return min(known) if len(known) == len(rates) and known else None


def lanes_used(
    slots: Sequence[SlotUse], drives: Sequence[DriveUse], populated: list[Populated]
) -> int | None:
    """Return the CPU lanes in use, by the slots and ports in use: cards and drives on the CPU, and
    the uplinks of switches; None where a width is unknown."""
    direct = [use for use in slots if (use.slot.origin or "").startswith("cpu")]
    fast = [
        use
        for use in drives
        if (use.port.origin or "").startswith("cpu") and use.port.kind != "sata"
    ]
    widths = [use.width for use in direct] + [use.width for use in fast]
    for one in populated:
        in_use = switches_in_use(one)
        widths += [
            s.width
            for s in one.board.layout.switches
            if s.id in in_use and s.origin.startswith("cpu")
        ]
    known = [width for width in widths if width is not None]
    return sum(known) if len(known) == len(widths) else None
