"""From settled boards to the machine: slots in use, GPUs, network ports, drives, edges and
matrix."""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU, NetworkCard, Storage
from rigplanner.machine.cache import IdentityCache
from rigplanner.machine.displays import Seen, display_gib, driver_of, driving
from rigplanner.machine.graph import Graph, graph_of, islands, pairs_between
from rigplanner.machine.model import (
    CpuNode,
    DriveUse,
    GpuNode,
    GpuPart,
    Held,
    Machine,
    NicNode,
    Piece,
    PlacementProblem,
    PowerTree,
    SlotUse,
    StorageNode,
    held,
)
from rigplanner.machine.nodes import Edge, Node, Pair, Pairs, gpu_node, nic_node, printed
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.pieces import Board, Pieces
from rigplanner.machine.placement.locate import (
    Location,
    bridges_guessed,
    bus_rank,
    host_node,
    tree_of,
)
from rigplanner.machine.placement.placeables import Card
from rigplanner.machine.placement.populate import Populated, populate
from rigplanner.machine.placement.ports import protocols_of
from rigplanner.machine.placement.sockets import Seats, seat_cpus
from rigplanner.machine.placement.uses import (
    Ground,
    drive_uses,
    drives_in_use,
    slot_uses,
    slots_in_use,
)
from rigplanner.machine.power.power import power_tree
from rigplanner.machine.topology.links import bridge_edges, fabric_edges
from rigplanner.machine.topology.peer import peer_access
from rigplanner.machine.topology.uplinks import (
    host_gbs,
    lanes_used,
    parent_of,
    root_above,
    trunk_edges,
)
from rigplanner.rig.document import Rig, Role

_pairs: IdentityCache[Pairs] = IdentityCache(64)
NOWHERE = Location((), "", None, None)
MOST_HOMELESS = 64
"""GPUs without a place that are still listed; the problems name them all."""


class _Seat(Struct, frozen=True):
    """A card in its slot."""

    card: Card
    ground: Ground
    slot: SlotUse
    origin: str | None
    location: Location


class _Spot(Struct, frozen=True):
    """Where a GPU stands: a slot, or the M.2 socket of an accelerator."""

    ground: Ground
    place: str
    origin: str | None
    location: Location
    width: int | None
    gen: int | None


PLACES = (
    "_seats",
    "_populated",
    "_grounds",
    "_standing",
    "_placed",
    "nics",
    "problems",
    "slots",
    "slots_in_use",
    "drives",
    "drives_in_use",
    "gpu_parts",
    "edges",
    "pairs",
    "islands",
    "lanes_used",
)
"""What follows from where pieces stand and from nothing else of them."""


class MachineBuilder:
    """A machine in the making, everything in its place: each field of a `Machine`, worked out when
    it is asked for."""

    def __init__(self, rig: Rig, counted: Pieces, boards: tuple[Board, ...]) -> None:
        self._rig, self.counted, self._boards = rig, counted, boards
        self.pieces = counted.pieces

    @cached_property
    def _seats(self) -> Seats:
        return seat_cpus(self.pieces, self._boards)

    @cached_property
    def _populated(self) -> list[Populated]:
        return populate(self._rig, self.counted, self._boards, self._seats)

    @property
    def cpus(self) -> tuple[CpuNode, ...]:
        """The CPUs in sockets."""
        return self._seats.nodes

    @cached_property
    def problems(self) -> tuple[PlacementProblem, ...]:
        """What found no place."""
        return (
            *self._seats.problems,
            *(problem for one in self._populated for problem in one.settled.problems),
        )

    @cached_property
    def _grounds(self) -> list[Ground]:
        return _grounds(self._rig, self._populated, self._seats)

    @cached_property
    def slots(self) -> tuple[SlotUse, ...]:
        """All slots."""
        return tuple([use for ground in self._grounds for use in slot_uses(ground)])

    @cached_property
    def slots_in_use(self) -> tuple[SlotUse, ...]:
        """The slots that something stands in."""
        return tuple([use for ground in self._grounds for use in slots_in_use(ground)])

    @property
    def slots_held(self) -> tuple[Held, ...]:
        """The slots that something stands in, without their links."""
        return held(self.slots_in_use)

    @cached_property
    def drives(self) -> tuple[DriveUse, ...]:
        """All drive ports."""
        return tuple([use for ground in self._grounds for use in drive_uses(ground)])

    @cached_property
    def drives_in_use(self) -> tuple[DriveUse, ...]:
        """The drive ports that something stands in."""
        return tuple([use for ground in self._grounds for use in drives_in_use(ground)])

    @cached_property
    def _standing(self) -> list[_Seat]:
        return _standing(self._grounds, self.slots_in_use)

    @cached_property
    def _placed(
        self,
    ) -> tuple[list[GpuNode], dict[int, tuple[_Spot | None, Location]], list[GpuNode]]:
        return _gpus(
            self._rig, self.pieces, _spots(self._grounds, self._standing, self.drives_in_use)
        )

    @property
    def gpus(self) -> tuple[GpuNode, ...]:
        """The GPUs that jobs run on, as the driver counts them."""
        return tuple(self._placed[0])

    @property
    def displays(self) -> tuple[GpuNode, ...]:
        """The GPUs that only drive the monitors."""
        return tuple(self._placed[2])

    @cached_property
    def gpu_parts(self) -> tuple[GpuPart, ...]:
        """The GPUs as the driver counts them, without their places."""
        return tuple([GpuPart(node.piece, node.gpu) for node in self._placed[0]])

    @cached_property
    def nics(self) -> tuple[NicNode, ...]:
        """The network ports that the matrix lists."""
        return tuple(_nics(self._standing))

    @cached_property
    def storage(self) -> tuple[StorageNode, ...]:
        """The drives and their places."""
        return tuple(_storage(self.pieces, self.slots_in_use, self.drives_in_use))

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The links of the tree and between GPUs."""
        gpus, places, _ = self._placed
        edges = [
            edge for ground in self._grounds for edge in trunk_edges(ground.populated, ground.tree)
        ]
        edges += _leaf_edges(self._standing, gpus, self.nics, self._grounds, self.drives_in_use)
        for ground in self._grounds:
            edges += bridge_edges(
                ground.populated.settled.bridges, list(ground.populated.bridges), gpus
            )
            edges += _fabric(ground, gpus, places)
        return tuple(edges)

    @cached_property
    def graph(self) -> Graph:
        """The machine as one graph."""
        return graph_of(self.edges)

    @cached_property
    def pairs(self) -> Pairs:
        """The ways between GPUs and network ports."""
        gpus = [gpu_node(gpu.index) for gpu in self.gpus]
        devices = [*gpus, *(nic_node(nic.index) for nic in self.nics)]
        if len(devices) < 2:
            return tuple([(Pair("self"),) for _ in devices])
        return _pairs.get(
            (self.edges, tuple(devices)), None, lambda: pairs_between(self.graph, devices)
        )

    @cached_property
    def matrix(self) -> tuple[tuple[str, ...], ...]:
        """The letters of GPUs and network ports."""
        return printed(self.pairs)

    @cached_property
    def islands(self) -> tuple[tuple[int, ...], ...]:
        """The groups of GPUs that links join."""
        count = len(self.gpus)
        joined = any(pair.linked for row in self.pairs[:count] for pair in row[:count])
        return islands(self.graph, count) if joined else tuple((gpu,) for gpu in range(count))

    @cached_property
    def p2p(self) -> tuple[tuple[str, ...], ...]:
        """Peer access between GPUs."""
        return peer_access(self._rig, self.pieces, self.gpus, self.pairs)

    @cached_property
    def power(self) -> PowerTree:
        """The power tree."""
        return power_tree(self._rig, self.pieces)

    @cached_property
    def lanes_used(self) -> int | None:
        """CPU lanes in use."""
        return lanes_used(self.slots_in_use, self.drives_in_use, self._populated)

    @property
    def lanes_total(self) -> int | None:
        """Lanes of all CPUs."""
        totals = [cpu.cpu.lanes for cpu in self.cpus]
        return (
            sum(lanes for lanes in totals if lanes is not None)
            if totals and None not in totals
            else None
        )

    @property
    def unknown(self) -> tuple[str, ...]:
        """Facts that the machine lacks."""
        return (
            *(f"{part}:*" for part in self.counted.missing),
            *_unknown(self._grounds, len(self.gpus)),
        )

    def with_pieces(self, rig: Rig, counted: Pieces) -> "MachineBuilder":
        """Return a machine whose pieces stand in the places of this one: for an exchange of parts
        on which no place depends."""
        other = MachineBuilder(rig, counted, self._boards)
        vars(other).update({name: getattr(self, name) for name in PLACES})
        return other

    def machine(self) -> Machine:
        """Return the whole machine."""
        return Machine(**{field: getattr(self, field) for field in Machine.__struct_fields__})


def _grounds(rig: Rig, populated: list[Populated], seats: Seats) -> list[Ground]:
    grounds: list[Ground] = []
    for one in populated:
        name = one.board.name
        tree = tree_of(
            one.board, seats.by_board[name], seats.first_index[name], rig.settings.numa_per_socket
        )
        standing = one.settled.standing
        offers = one.seating.at(standing.used(), protocols_of(list(one.drives), standing.ports))
        grounds.append(Ground(one, tree, offers))
    return grounds


def _standing(grounds: list[Ground], slots: Sequence[SlotUse]) -> list[_Seat]:
    by_board = {ground.populated.board.name: ground for ground in grounds}
    found: list[_Seat] = []
    for use in slots:
        ground = by_board[use.board]
        card = next(card for card in ground.populated.cards if card.name == use.piece)
        location = ground.tree.locate(use.slot.origin, use.slot.id, use.slot.root)
        found.append(_Seat(card, ground, use, use.slot.origin, location))
    return found


def _spots(
    grounds: list[Ground], standing: list[_Seat], drives: Sequence[DriveUse]
) -> dict[str, _Spot]:
    """Return where each piece stands that may be a GPU."""
    by_board = {ground.populated.board.name: ground for ground in grounds}
    spots: dict[str, _Spot] = {}
    for use in drives:
        ground, port = by_board[use.board], use.port
        location = ground.tree.locate(port.origin, port.id)
        spots |= dict.fromkeys(
            use.pieces, _Spot(ground, port.id, port.origin, location, use.width, use.gen)
        )
    for seat in standing:
        slot = seat.slot
        spots[seat.card.name] = _Spot(
            seat.ground, slot.slot.id, seat.origin, seat.location, slot.width, slot.gen
        )
    return spots


def _gpus(
    rig: Rig, pieces: tuple[Piece, ...], spots: dict[str, _Spot]
) -> tuple[list[GpuNode], dict[int, tuple[_Spot | None, Location]], list[GpuNode]]:
    """Return the GPUs that jobs run on in the order of their buses, homeless ones last, a board of
    two dies as two, and where each hangs; and those that only drive the monitors."""
    caps = {item.uid: item.power_cap_w for item in rig.items}
    parts = {piece.name: piece for piece in pieces if isinstance(piece.part, GPU)}
    order = sorted(
        (name for name in parts if name in spots), key=lambda name: bus_rank(spots[name].location)
    )
    order += [name for name in parts if name not in spots][:MOST_HOMELESS]
    roles = {item.uid: item.role for item in rig.items}
    displayed = _displayed(rig, [parts[name] for name in order], roles)
    gpus: list[GpuNode] = []
    displays: list[GpuNode] = []
    places: dict[int, tuple[_Spot | None, Location]] = {}
    for name in order:
        part, spot = parts[name].part, spots.get(name)
        assert isinstance(part, GPU)
        location = spot.location if spot else NOWHERE
        if part.dies > 1:
            location = replace(location, chain=(Node("card", name), *location.chain))
        shows = "/" not in name and roles.get(parts[name].uid) == "display"
        group = displays if shows else gpus
        for die in range(part.dies):
            if not shows:
                places[len(gpus)] = (spot, location)
            taken = displayed.get(name, 0.0) if die == 0 else 0.0
            group.append(
                GpuNode(
                    index=len(group),
                    piece=name,
                    gpu=driving(part, taken),
                    place=spot.place if spot else None,
                    width=spot.width if spot else None,
                    gen=spot.gen if spot else None,
                    host_gbs=_host_gbs(spot) if spot else None,
                    socket=location.socket,
                    numa=location.numa,
                    bridge=location.bridge or None,
                    affinity=spot.ground.tree.affinity(location.numa) if spot else None,
                    power_cap_w=caps.get(parts[name].uid),
                )
            )
    return gpus, places, displays


def _displayed(rig: Rig, pieces: list[Piece], roles: dict[str, Role | None]) -> dict[str, float]:
    """Return what the monitors take of the memory of the piece that drives them, in GiB."""
    if rig.site.monitors is None:
        return {}
    seen = [
        Seen(piece.name, piece.part, roles.get(piece.uid) if "/" not in piece.name else None)
        for piece in pieces
        if isinstance(piece.part, GPU)
    ]
    piece = driver_of(seen)
    return {piece: display_gib(rig.site.monitors)} if piece is not None else {}


def _host_gbs(spot: _Spot) -> float | None:
    return host_gbs(spot.ground.populated.board.layout, spot.origin, link_gbs(spot.gen, spot.width))


def _nics(standing: list[_Seat]) -> list[NicNode]:
    """Return the ports that the matrix lists: those of RDMA cards, one column each, by board and
    socket; their driver numbers them in no known order beyond that."""
    nics: list[NicNode] = []
    for seat in sorted(standing, key=lambda seat: bus_rank(seat.location)[:2]):
        part = seat.card.part
        if not isinstance(part, NetworkCard) or not in_matrix(part):
            continue
        for _ in range(part.ports or 1):
            index = len(nics)
            where = seat.location
            nics.append(
                NicNode(
                    index=index,
                    piece=seat.card.name,
                    place=seat.slot.slot.id,
                    gbps=part.port_gbps,
                    socket=where.socket,
                    numa=where.numa,
                    bridge=where.bridge or None,
                )
            )
    return nics


def in_matrix(nic: NetworkCard) -> bool:
    """Say whether nvidia-smi lists a card: it shows devices with RDMA verbs only."""
    return nic.rdma if nic.rdma is not None else nic.protocol in ("infiniband", "both")


def _storage(
    pieces: tuple[Piece, ...], slots: Sequence[SlotUse], drives: Sequence[DriveUse]
) -> list[StorageNode]:
    in_slots = {use.piece: use for use in slots}
    in_ports = {name: use for use in drives for name in use.pieces}
    nodes: list[StorageNode] = []
    for piece in pieces:
        if isinstance(piece.part, Storage):
            slot, port = in_slots.get(piece.name), in_ports.get(piece.name)
            use = slot or port
            place = slot.slot.id if slot else port.port.id if port else None
            nvme = use is not None and piece.part.interface == "nvme"
            nodes.append(
                StorageNode(
                    piece=piece.name,
                    storage=piece.part,
                    place=place,
                    gen=use.gen if use and nvme else None,
                    width=use.width if use and nvme else None,
                )
            )
    return nodes


def _leaf_edges(
    standing: list[_Seat],
    gpus: Sequence[GpuNode],
    nics: Sequence[NicNode],
    grounds: list[Ground],
    drives: Sequence[DriveUse],
) -> list[Edge]:
    """Return the PCIe edges from switches and roots down to cards and drives."""
    nodes_of: dict[str, list[Node]] = {}
    for gpu in gpus:
        nodes_of.setdefault(gpu.piece, []).append(gpu_node(gpu.index))
    for nic in nics:
        nodes_of.setdefault(nic.piece, []).append(nic_node(nic.index))
    edges = [
        edge for seat in standing for edge in _card_edges(seat, nodes_of.get(seat.card.name, []))
    ]
    homeless = nodes_of.keys() - {seat.card.name for seat in standing}
    edges += [
        Edge(a=Node("card", name), b=node, kind="pcie")
        for name in sorted(homeless)
        for node in nodes_of[name]
        if len(nodes_of[name]) > 1
    ]
    trees = {ground.populated.board.name: ground.tree for ground in grounds}
    for use in drives:
        tree, port = trees[use.board], use.port
        above = parent_of(tree, port.origin)
        for piece in use.pieces if above is not None else ():
            assert above is not None
            edges.append(
                Edge(
                    a=above,
                    b=nodes_of.get(piece, [Node("drive", piece)])[0],
                    kind="pcie",
                    width=use.width,
                    gen=use.gen,
                    gbs=link_gbs(use.gen, use.width) if port.kind != "sata" else None,
                    root=root_above(above, tree.locate(port.origin, port.id)),
                    slot=Node("slot", port.id, tree.board.index),
                )
            )
    return edges


def _card_edges(seat: _Seat, below: list[Node]) -> list[Edge]:
    """Return the edges down to a card and, of one with several GPUs, on to them."""
    board, use = seat.ground.populated.board, seat.slot
    parent = parent_of(seat.ground.tree, seat.origin) or host_node(board)
    kind: Literal["drive", "card"] = "drive" if isinstance(seat.card.part, Storage) else "card"
    card = Node(kind, seat.card.name)
    several = len(below) > 1 and below[0].kind == "gpu"
    link = Edge(
        a=parent,
        b=card,
        kind="pcie",
        width=use.width,
        gen=use.gen,
        gbs=use.gbs,
        root=root_above(parent, seat.location),
        slot=Node("slot", use.slot.id, board.index),
    )
    if several:
        return [link, *(replace(link, a=card, b=node, root=None, slot=None) for node in below)]
    return [replace(link, b=node) for node in below or [card]]


def _fabric(
    ground: Ground, gpus: list[GpuNode], places: dict[int, tuple[_Spot | None, Location]]
) -> list[Edge]:
    """Return the links wired on a baseboard, which reach its modules but no card in a PCIe slot."""
    fabric = ground.populated.board.layout.fabric
    if fabric is None:
        return []
    by_place: dict[str, list[GpuNode]] = {}
    for gpu in gpus:
        spot = places[gpu.index][0]
        if (
            gpu.gpu.form_factor != "pcie"
            and spot is not None
            and spot.ground is ground
            and gpu.place is not None
        ):
            by_place.setdefault(gpu.place, []).append(gpu)
    switch = Node("nvswitch", board=ground.populated.board.index)
    return fabric_edges(fabric, by_place, switch)


def _unknown(grounds: list[Ground], gpus: int) -> tuple[str, ...]:
    if gpus < 2:
        return ()
    return tuple(
        f"{ground.populated.board.part.id}:layout.slots.{place}.root"
        for ground in grounds
        for place in bridges_guessed(ground.populated.board)
        if place in ground.populated.settled.standing.taken
    )
