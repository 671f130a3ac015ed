"""The machine that a rig becomes: frozen, plain, without words. `assemble` makes it, everything
above reads it."""

from functools import cached_property
from typing import Any

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU, AnyPart, DrivePort, Slot, Storage
from rigplanner.evidence import Step
from rigplanner.machine.graph import graph_of
from rigplanner.machine.nodes import Edge, Pairs, gpu_node, nic_node, printed, socket_node


class Piece(Struct, frozen=True):
    """One physical piece of the rig: `name` is "uid.index" ("gpu.0"), or "uid.index/part-place" for
    a part built into a system."""

    name: str
    uid: str
    part: AnyPart


class SlotUse(Struct, frozen=True, kw_only=True):
    """A slot and what stands in it. `width` and `gen` are negotiated (empty slot: what it would
    offer); `covered_by` is the piece whose thickness hides it; `disabled_by` says which places or
    class of CPU switched it off; None widths are unknown. `gbs` is the effective one-way rate,
    `root` the host bridge, `riser` the riser between slot and card."""

    slot: Slot
    board: str
    piece: str | None = None
    width: int | None = None
    gen: int | None = None
    available_width: int | None = None
    available_gen: int | None = None
    covered_by: str | None = None
    disabled_by: tuple[str, ...] = ()
    gbs: float | None = None
    root: str | None = None
    riser: str | None = None


class Held(Struct, frozen=True):
    """A piece in its slot, on a riser or not: all that is asked where lanes do not count."""

    piece: str
    board: str
    slot: Slot
    riser: str | None = None


class DriveUse(Struct, frozen=True, kw_only=True):
    """A drive port and the pieces in it (several only for a block of SATA ports)."""

    port: DrivePort
    board: str
    pieces: tuple[str, ...] = ()
    width: int | None = None
    gen: int | None = None
    usable: int = 1
    disabled_by: tuple[str, ...] = ()


class GpuNode(Struct, frozen=True, kw_only=True):
    """One GPU as the driver counts it. `numa` is the NUMA node, `affinity` its logical CPUs as
    nvidia-smi prints them ("0-19,40-59"), `bridge` its host bridge, `host_gbs` the one-way rate to
    host memory."""

    index: int
    piece: str
    gpu: GPU
    place: str | None
    width: int | None = None
    gen: int | None = None
    host_gbs: float | None = None
    socket: int | None = None
    numa: int | None = None
    bridge: str | None = None
    affinity: str | None = None
    power_cap_w: float | None = None


class GpuPart(Struct, frozen=True):
    """The piece that brings a GPU, and the GPU: all that is asked of it where its place does not
    count."""

    piece: str
    gpu: GPU


class CpuNode(Struct, frozen=True, kw_only=True):
    """One occupied socket, and the board it is on."""

    index: int
    piece: str
    cpu: CPU
    board: str = ""


class NicNode(Struct, frozen=True, kw_only=True):
    """A network card as it appears in the matrix."""

    index: int
    piece: str
    place: str | None
    gbps: float | None
    socket: int | None = None
    numa: int | None = None
    bridge: str | None = None


class StorageNode(Struct, frozen=True, kw_only=True):
    """A drive and the port it got, if any."""

    piece: str
    storage: Storage
    place: str | None
    gen: int | None = None
    width: int | None = None


class PlacementProblem(Struct, frozen=True, kw_only=True):
    """A piece for which no place was found, or whose wished place cannot be: `reason` is a code
    (no-slot, slot-missing, slot-taken, slot-covered, slot-disabled, wrong-kind, too-narrow,
    no-port, port-missing, port-taken, port-disabled, protocol, no-socket, socket-mismatch,
    no-memory-slot, bridge-pair, bridge-spacing, bridge-connector, bridge-identical). Not `proven`
    where the search ended before it had tried everything."""

    piece: str
    reason: str
    place: str | None = None
    by: tuple[str, ...] = ()
    needed: float | str | None = None
    actual: float | str | None = None
    proven: bool = True


class PlugDemand(Struct, frozen=True):
    """Power connectors of one type that pieces need, and what the supplies offer."""

    type: str
    needed: int
    offered: int | None
    pieces: tuple[str, ...]


class PowerTree(Struct, frozen=True, kw_only=True):
    """From the parts to the wall, in watts DC unless named `wall`. None where a needed figure is
    unknown (`unknown` names them).

    `sustained_w` is the sum at full load with power caps, `transient_w` the excursion the supply
    must survive, `supply_w` its continuous rating at the site's voltage, `wall_w` = sustained /
    efficiency + other load, `circuit_w` the breaker's continuous limit (80 %), `circuit_peak_w`
    volts x amperes."""

    loads: tuple[tuple[str, float | None], ...]
    sustained_w: float | None
    transient_w: float | None
    supply_w: float | None
    supply_transient_w: float | None
    efficiency: float | None
    wall_w: float | None
    circuit_w: float | None
    circuit_peak_w: float | None
    plugs: tuple[PlugDemand, ...] = ()
    unknown: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


class Machine(Struct, frozen=True, kw_only=True, dict=True):
    """The assembled machine. `gpus` are those that jobs run on, `displays` those that only drive
    the monitors; `pairs` holds the way between each two of the GPUs, then network ports."""

    pieces: tuple[Piece, ...]
    cpus: tuple[CpuNode, ...]
    gpus: tuple[GpuNode, ...]
    nics: tuple[NicNode, ...]
    storage: tuple[StorageNode, ...]
    slots: tuple[SlotUse, ...]
    drives: tuple[DriveUse, ...]
    edges: tuple[Edge, ...]
    pairs: Pairs
    islands: tuple[tuple[int, ...], ...]
    p2p: tuple[tuple[str, ...], ...]
    problems: tuple[PlacementProblem, ...]
    power: PowerTree
    displays: tuple[GpuNode, ...] = ()
    lanes_used: int | None = None
    lanes_total: int | None = None
    unknown: tuple[str, ...] = ()

    @cached_property
    def graph(self) -> Any:
        """The machine as one networkx.MultiGraph (see `machine/graph.py`)."""
        sockets = [socket_node(cpu.index) for cpu in self.cpus]
        devices = [gpu_node(gpu.index) for gpu in self.gpus]
        ports = [nic_node(nic.index) for nic in self.nics]
        return graph_of(self.edges, (*sockets, *devices, *ports))

    @cached_property
    def matrix(self) -> tuple[tuple[str, ...], ...]:
        """The letters of `nvidia-smi topo -m` for GPUs, then network ports ("" where unknown)."""
        return printed(self.pairs)

    @property
    def gpu_parts(self) -> tuple[GpuPart, ...]:
        """The GPUs as the driver counts them, without their places."""
        return tuple([GpuPart(node.piece, node.gpu) for node in self.gpus])

    @property
    def slots_in_use(self) -> tuple[SlotUse, ...]:
        """The slots that something stands in."""
        return tuple([use for use in self.slots if use.piece is not None])

    @property
    def slots_held(self) -> tuple[Held, ...]:
        """The slots that something stands in, without their links."""
        return held(self.slots_in_use)

    @property
    def drives_in_use(self) -> tuple[DriveUse, ...]:
        """The drive ports that something stands in."""
        return tuple([use for use in self.drives if use.pieces])


def held(uses: tuple[SlotUse, ...]) -> tuple[Held, ...]:
    """Return the slots that something stands in, without their links."""
    return tuple(
        [Held(use.piece, use.board, use.slot, use.riser) for use in uses if use.piece is not None]
    )
