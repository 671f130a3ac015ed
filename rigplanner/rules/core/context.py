"""What rules look at: the rig, the machine it becomes, its jobs, and handy views of them, each made
once on demand."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Accessory,
    Bridge,
    Chassis,
    Cooler,
    DrivePort,
    Layout,
    MemoryKit,
    Motherboard,
    Part,
    PowerSupply,
    Riser,
    Slot,
    Storage,
    Supply,
    System,
)
from rigplanner.economics.totals import Totals, totals
from rigplanner.machine.model import DriveUse, GpuNode, Held, Machine, Piece, SlotUse
from rigplanner.machine.pieces import in_turn, is_board
from rigplanner.machine.placement.enclosures import beside_the_case, fed_beside, holders_supplies
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.rig.document import Rig, Site, part_of
from rigplanner.rig.workload import Workload
from rigplanner.rules.core.finding import Named

P = TypeVar("P", bound=Part)


Estimate = Callable[[Workload, GPU, int], MemoryEstimate | str]
"""Estimates the memory of a workload per GPU, on so many of them; text instead says why it cannot.
"""


class JobFacts(Struct, frozen=True, kw_only=True):
    """A workload and the memory it needs per GPU, in the order of `Machine.gpus`; `fault` says why
    there is none. `speed` is what it does on the machine, `unfed` what its GPUs alone would do if
    it reads a data set; both None where nobody predicted them."""

    name: str
    index: int
    workload: Workload
    memory: tuple[MemoryEstimate, ...] = ()
    fault: str | None = None
    speed: SpeedEstimate | None = None
    unfed: SpeedEstimate | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name,)


class Board(Named, frozen=True):
    """A motherboard, or a system's own board."""

    board: Motherboard | System

    @property
    def layout(self) -> Layout:
        return self.board.layout


class Card(Struct, frozen=True, eq=False):
    """A GPU piece `among` the rest: the slot it stands in, the board that slot is on, the first GPU
    on it, looked up when asked for. `built_in` pieces came in a system, whose maker vouches for
    space, plugs and air."""

    name: str
    card: GPU
    built_in: bool
    among: "Context"

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def use(self) -> SlotUse | None:
        return self.among.slot_of.get(self.name)

    @property
    def held(self) -> Held | None:
        return self.among.held_of.get(self.name)

    @property
    def board(self) -> Motherboard | System | None:
        held = self.held
        return self.among.board_of(held.board) if held else None

    @property
    def node(self) -> GpuNode | None:
        return self.among.node_of.get(self.name)

    @property
    def slot(self) -> Slot | None:
        held = self.held
        return held.slot if held else None


class Drive(Named, frozen=True):
    """A drive and the port it stands in."""

    drive: Storage
    use: DriveUse | None
    board: Motherboard | System | None

    @property
    def port(self) -> DrivePort | None:
        return self.use.port if self.use else None


class Placed(Named, frozen=True):
    """A part that the rules of some topic judge on its own, under the name its `needs` use."""

    part: Part


def is_built_in(piece: str) -> bool:
    """Say whether a piece came inside a system."""
    return "/" in piece


class Context(Struct, frozen=True, kw_only=True, dict=True):
    """The rig under judgement. `today` (ISO) decides which waivers still count; `estimate` lets a
    fix prove that it helps; without `advise` no fixes are sought."""

    rig: Rig
    catalog: Catalog
    machine: Machine
    jobs: tuple[JobFacts, ...] = ()
    today: str = ""
    estimate: Estimate | None = None
    advise: bool = True

    @cached_property
    def totals(self) -> Totals:
        """What the rig costs as it is."""
        return totals(self.rig, self.catalog, day=self.today or None)

    def part(self, part_id: str) -> Part | None:
        """Return a part by id from the catalog, else from the rig's snapshot."""
        return part_of(self.rig, self.catalog, part_id)

    @cached_property
    def pieces(self) -> dict[str, Piece]:
        """All pieces by name."""
        return {piece.name: piece for piece in self.machine.pieces}

    @cached_property
    def in_turn(self) -> tuple[Piece, ...]:
        """All pieces, the strongest first."""
        return in_turn(self.machine.pieces)

    @cached_property
    def _of_kind(self) -> dict[type[Part], tuple[tuple[str, Any], ...]]:
        return {}

    def of(self, kind: type[P]) -> tuple[tuple[str, P], ...]:
        """Return name and part of all pieces of one kind, in the same turn whatever the order of
        the items."""
        known = self._of_kind.get(kind)
        if known is None:
            known = self._of_kind[kind] = tuple(
                [(piece.name, piece.part) for piece in self.in_turn if isinstance(piece.part, kind)]
            )
        return known

    @cached_property
    def boards(self) -> tuple[Board, ...]:
        """Motherboards and systems that have a layout."""
        found: list[tuple[str, Motherboard | System]] = [*self.of(Motherboard), *self.of(System)]
        return tuple(Board(name, part) for name, part in found if is_board(part))

    @cached_property
    def board(self) -> Board | None:
        """The first board."""
        return self.boards[0] if self.boards else None

    @cached_property
    def nodes(self) -> int:
        """How many equal computers with a CPU each the rig is: 1 for a rig of one board, or of
        different ones."""
        alike = len({board.board.id for board in self.boards}) == 1
        return max(1, len({cpu.board for cpu in self.machine.cpus})) if alike else 1

    def board_of(self, name: str) -> Motherboard | System | None:
        """Return the board part with this piece name."""
        return next((board.board for board in self.boards if board.name == name), None)

    @cached_property
    def slot_of(self) -> dict[str, SlotUse]:
        """The slot of each piece that stands in one."""
        return {use.piece: use for use in self.machine.slots_in_use if use.piece is not None}

    @cached_property
    def held_of(self) -> dict[str, Held]:
        """The slot of each piece that stands in one, without its link."""
        return {held.piece: held for held in self.machine.slots_held}

    @cached_property
    def node_of(self) -> dict[str, GpuNode]:
        """The first GPU of each piece that brings some."""
        nodes: dict[str, GpuNode] = {}
        for node in (*self.machine.gpus, *self.machine.displays):
            nodes.setdefault(node.piece, node)
        return nodes

    @cached_property
    def port_of(self) -> dict[str, DriveUse]:
        """The drive port of each drive."""
        return {piece: use for use in self.machine.drives_in_use for piece in use.pieces}

    @cached_property
    def cards(self) -> tuple[Card, ...]:
        """All GPU pieces."""
        return tuple(Card(name, gpu, is_built_in(name), self) for name, gpu in self.of(GPU))

    @cached_property
    def shown_by(self) -> frozenset[str]:
        """The GPU pieces that only drive the monitors."""
        return frozenset(node.piece for node in self.machine.displays)

    def that_work(self, cards: tuple[Card, ...]) -> tuple[Card, ...]:
        """Return those of the GPU pieces that jobs run on."""
        if not self.shown_by:
            return cards
        return tuple(card for card in cards if card.name not in self.shown_by)

    @cached_property
    def own_cards(self) -> tuple[Card, ...]:
        """GPU pieces that the owner fits himself."""
        return tuple(card for card in self.cards if not card.built_in)

    @cached_property
    def cased_cards(self) -> tuple[Card, ...]:
        """GPU pieces that the owner fits into the machine itself, not into an enclosure or on a
        dock beside it."""
        outside = beside_the_case(self.rig, self.machine.pieces)
        return (
            tuple(card for card in self.own_cards if card.name not in outside)
            if outside
            else self.own_cards
        )

    @cached_property
    def fed_cards(self) -> tuple[Card, ...]:
        """GPU pieces that the owner fits and the rig's own supplies feed."""
        apart = fed_beside(self.rig, self.machine.pieces)
        return (
            tuple(card for card in self.own_cards if card.name not in apart)
            if apart
            else self.own_cards
        )

    @cached_property
    def own_supplies(self) -> tuple[tuple[str, PowerSupply], ...]:
        """The power supplies that feed the rig, not a dock or enclosure beside it."""
        apart = {supply.name for supply in holders_supplies(self.machine.pieces).values()}
        return tuple((name, psu) for name, psu in self.of(PowerSupply) if name not in apart)

    @cached_property
    def drives(self) -> tuple[Drive, ...]:
        """All drives."""
        found = []
        for name, storage in self.of(Storage):
            use = self.port_of.get(name)
            found.append(Drive(name, storage, use, self.board_of(use.board) if use else None))
        return tuple(found)

    @property
    def cpus(self) -> tuple[tuple[str, CPU], ...]:
        """All CPU pieces."""
        return self.of(CPU)

    @property
    def memory(self) -> tuple[tuple[str, MemoryKit], ...]:
        """All memory kits."""
        return self.of(MemoryKit)

    @cached_property
    def memory_gib(self) -> float:
        """Host memory in GiB."""
        return sum(kit.modules * kit.module_gib for _, kit in self.memory)

    @property
    def coolers(self) -> tuple[tuple[str, Cooler], ...]:
        """All CPU coolers."""
        return self.of(Cooler)

    @property
    def bridges(self) -> tuple[tuple[str, Bridge], ...]:
        """All NVLink bridges."""
        return self.of(Bridge)

    @property
    def risers(self) -> tuple[tuple[str, Riser], ...]:
        """All risers."""
        return self.of(Riser)

    @property
    def accessories(self) -> tuple[tuple[str, Accessory], ...]:
        """All accessories."""
        return self.of(Accessory)

    @cached_property
    def enclosure(self) -> tuple[str, Chassis | System] | None:
        """The case, or the system that is one."""
        for name, case in self.of(Chassis):
            return name, case
        for name, system in self.of(System):
            if system.enclosure is not None or system.role in ("barebone", "server", "complete"):
                return name, system
        return None

    @cached_property
    def supplies(self) -> tuple[tuple[str, PowerSupply | System, Supply], ...]:
        """All power supplies of the rig, also those of systems."""
        loose = [(name, psu, psu.supply) for name, psu in self.own_supplies]
        inside = [
            (name, system, system.supply)
            for name, system in self.of(System)
            if system.supply is not None
        ]
        return (*loose, *inside)

    @cached_property
    def homeless(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The pieces of each item that the solver left out, by uid and reason."""
        found: dict[tuple[str, str], list[str]] = {}
        for problem in self.machine.problems:
            found.setdefault(
                (problem.piece.partition("/")[0].rpartition(".")[0], problem.reason), []
            ).append(problem.piece)
        return {key: tuple(pieces) for key, pieces in found.items()}

    @cached_property
    def _cases(self) -> dict[object, tuple[Any, ...]]:
        return {}

    def cases(self, over: Callable[["Context"], Iterable[Any]]) -> tuple[Any, ...]:
        """Return what a rule's `over` picks; rules of a topic share it."""
        known = self._cases.get(over)
        if known is None:
            known = self._cases[over] = tuple(over(self))
        return known

    @property
    def site(self) -> Site:
        """Where the rig stands."""
        return self.rig.site
