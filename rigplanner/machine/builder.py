"""From settled boards to the machine: slots in use, GPUs, network ports, drives, edges and
matrix."""

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU, NetworkCard, Storage
from rigplanner.machine.model import (
    CpuNode,
    DriveUse,
    Edge,
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
from rigplanner.machine.topology.links import bridge_edges, fabric_edges, islands, labels
from rigplanner.machine.topology.matrix import Device, matrix
from rigplanner.machine.topology.peer import peer_access
from rigplanner.machine.topology.uplinks import host_gbs, lanes_used, parent_of, trunk_edges
from rigplanner.rig.document import Rig

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
    "_ports",
    "_labels",
    "problems",
    "slots",
    "slots_in_use",
    "drives",
    "drives_in_use",
    "gpu_parts",
    "edges",
    "matrix",
    "islands",
    "lanes_used",
)
"""What follows from where pieces stand and from nothing else of them."""


class Growth:
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
    def _placed(self) -> tuple[list[GpuNode], dict[int, tuple[_Spot | None, Location]]]:
        return _gpus(
            self._rig, self.pieces, _spots(self._grounds, self._standing, self.drives_in_use)
        )

    @property
    def gpus(self) -> tuple[GpuNode, ...]:
        """The GPUs as the driver counts them."""
        return tuple(self._placed[0])

    @cached_property
    def gpu_parts(self) -> tuple[GpuPart, ...]:
        """The GPUs as the driver counts them, without their places."""
        return tuple([GpuPart(node.piece, node.gpu) for node in self._placed[0]])

    @cached_property
    def _ports(self) -> tuple[list[NicNode], list[Device]]:
        return _nics(self._standing)

    @property
    def nics(self) -> tuple[NicNode, ...]:
        """The network ports that the matrix lists."""
        return tuple(self._ports[0])

    @cached_property
    def storage(self) -> tuple[StorageNode, ...]:
        """The drives and their places."""
        return tuple(_storage(self.pieces, self.slots_in_use, self.drives_in_use))

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The links of the tree and between GPUs."""
        gpus, places = self._placed
        edges = [
            edge for ground in self._grounds for edge in trunk_edges(ground.populated, ground.tree)
        ]
        edges += _leaf_edges(
            self._standing, gpus, self._ports[0], self._grounds, self.drives_in_use
        )
        for ground in self._grounds:
            edges += bridge_edges(
                ground.populated.settled.bridges, list(ground.populated.bridges), gpus
            )
            edges += _fabric(ground, gpus, places)
        return tuple(edges)

    @cached_property
    def _labels(self) -> dict[tuple[str, str], str]:
        return labels(self.edges)

    @cached_property
    def matrix(self) -> tuple[tuple[str, ...], ...]:
        """The letters of GPUs and network ports."""
        gpus, places = self._placed
        devices = [
            Device(f"gpu{gpu.index}", gpu.piece, places[gpu.index][1]) for gpu in gpus
        ] + self._ports[1]
        return matrix(devices, self._labels)

    @cached_property
    def islands(self) -> tuple[tuple[int, ...], ...]:
        """The groups of GPUs that links join."""
        return islands(len(self.gpus), self._labels)

    @cached_property
    def p2p(self) -> tuple[tuple[str, ...], ...]:
        """Peer access between GPUs."""
        return peer_access(self._rig, self.pieces, self.gpus, self.matrix, self._labels)

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

    def with_pieces(self, rig: Rig, counted: Pieces) -> "Growth":
        """Return a machine whose pieces stand in the places of this one: for an exchange of parts
        on which no place depends."""
        other = Growth(rig, counted, self._boards)
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
) -> tuple[list[GpuNode], dict[int, tuple[_Spot | None, Location]]]:
    """Return the GPUs in the order of their buses, homeless ones last, a board of two dies as two,
    and where each hangs."""
    caps = {item.uid: item.power_cap_w for item in rig.items}
    parts = {piece.name: piece for piece in pieces if isinstance(piece.part, GPU)}
    order = sorted(
        (name for name in parts if name in spots), key=lambda name: bus_rank(spots[name].location)
    )
    order += [name for name in parts if name not in spots][:MOST_HOMELESS]
    gpus: list[GpuNode] = []
    places: dict[int, tuple[_Spot | None, Location]] = {}
    for name in order:
        part, spot = parts[name].part, spots.get(name)
        assert isinstance(part, GPU)
        location = spot.location if spot else NOWHERE
        if part.dies > 1:
            location = replace(location, chain=(name, *location.chain))
        for _ in range(part.dies):
            places[len(gpus)] = (spot, location)
            gpus.append(
                GpuNode(
                    index=len(gpus),
                    piece=name,
                    gpu=part,
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
    return gpus, places


def _host_gbs(spot: _Spot) -> float | None:
    return host_gbs(spot.ground.populated.board.layout, spot.origin, link_gbs(spot.gen, spot.width))


def _nics(standing: list[_Seat]) -> tuple[list[NicNode], list[Device]]:
    """Return the ports that the matrix lists: those of RDMA cards, one column each, by board and
    socket; their driver numbers them in no known order beyond that."""
    nics: list[NicNode] = []
    devices: list[Device] = []
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
            devices.append(Device(f"nic{index}", seat.card.name, seat.location))
    return nics, devices


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
    gpus: list[GpuNode],
    nics: list[NicNode],
    grounds: list[Ground],
    drives: Sequence[DriveUse],
) -> list[Edge]:
    """Return the PCIe edges from switches and roots down to cards and drives."""
    edges: list[Edge] = []
    nodes_of: dict[str, list[str]] = {}
    for gpu in gpus:
        nodes_of.setdefault(gpu.piece, []).append(f"gpu{gpu.index}")
    for nic in nics:
        nodes_of.setdefault(nic.piece, []).append(f"nic{nic.index}")
    for seat in standing:
        parent = parent_of(seat.ground.tree, seat.origin) or host_node(seat.ground.populated.board)
        below = nodes_of.get(seat.card.name, [])
        use = seat.slot
        if len(below) > 1 and below[0].startswith("gpu"):
            edges.append(
                Edge(
                    a=parent,
                    b=seat.card.name,
                    kind="pcie",
                    width=use.width,
                    gen=use.gen,
                    gbs=use.gbs,
                )
            )
            parent = seat.card.name
        nodes = below or [seat.card.name]
        edges += [
            Edge(a=parent, b=node, kind="pcie", width=use.width, gen=use.gen, gbs=use.gbs)
            for node in nodes
        ]
    trees = {ground.populated.board.name: ground.tree for ground in grounds}
    for port in drives:
        above = parent_of(trees[port.board], port.port.origin)
        for piece in port.pieces:
            node = next((f"gpu{gpu.index}" for gpu in gpus if gpu.piece == piece), piece)
            if above is not None:
                rate = link_gbs(port.gen, port.width) if port.port.kind != "sata" else None
                edges.append(
                    Edge(a=above, b=node, kind="pcie", width=port.width, gen=port.gen, gbs=rate)
                )
    return edges


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
    index = ground.populated.board.index
    return fabric_edges(fabric, by_place, "nvswitch" if index == 0 else f"{index}:nvswitch")


def _unknown(grounds: list[Ground], gpus: int) -> tuple[str, ...]:
    if gpus < 2:
        return ()
    return tuple(
        f"{ground.populated.board.part.id}:layout.slots.{place}.root"
        for ground in grounds
        for place in bridges_guessed(ground.populated.board)
        if place in ground.populated.settled.standing.taken
    )
