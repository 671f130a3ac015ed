"""What no rig of a family exceeds in speed, and what none undercuts in money: upper bounds from a
host that holds nothing back, lower bounds from the cheapest part that a few plain relations leave.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Cooler,
    Layout,
    MemoryKit,
    Motherboard,
    PowerSupply,
)
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.machine.power.power import rating_w
from rigplanner.planning.best.judge import Chosen, Judge, card_items
from rigplanner.planning.best.relaxed import (
    FURNITURE,
    MEMORY,
    IdealHost,
    alike,
    cores_of,
    host_of_socket,
    ideal_host,
    memory_for,
    most_by_cores,
    with_cores,
)
from rigplanner.planning.best.score import Score, leans_on_host, score_of
from rigplanner.planning.best.space import (
    HOST_KINDS,
    MOST_MODULES,
    CardSet,
    Option,
    Space,
    is_frame,
)
from rigplanner.planning.best.twins import apart, spec_of
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.core.context import Context
from rigplanner.rules.hardware.memory import kind_suits
from rigplanner.rules.jobs.vram import offloading

PACED = ("memory", "storage")
"""Kinds that neither hold nor feed the rest."""
OF_MEMORY = ("memory", "short", "tight")
"""Faults that another host does not mend: what cards hold does not rest on their links to it."""


class Plausible(Struct, frozen=True):
    """The choices of a kind, cheapest first: those that stand for their twins, the dearer twins,
    and those that a plain relation leaves out."""

    firsts: tuple[Option, ...]
    twins: tuple[Option, ...]
    unrelated: tuple[Option, ...]


class Bounds:
    """Bounds of families of rigs in one space."""

    def __init__(self, space: Space, judge: Judge) -> None:
        self.space, self.judge, self.question = space, judge, judge.question
        self.catalog, self.strictness = judge.catalog, judge.strictness
        self._ideal = ideal_host(space, self.catalog)
        self._kinds: dict[str, tuple[object, ...]] = {}
        self._kind_of: dict[object, int] = {}
        self._numbers: dict[object, int] = {}
        self._leasts: dict[object, float] = {}
        self._ceilings: dict[object, Score | str] = {}
        self._sitting: dict[object, Score | str] = {}
        self._on_socket: dict[object, Score | str] = {}
        self._furnished: dict[object, Score | str] = {}
        self._ram: dict[object, float] = {}
        self._leans: dict[object, bool] = {}
        self._specs: dict[str, int] = {}
        self._classes: dict[str, list[tuple[Option, list[Option]]]] = {}
        self._plausible: dict[object, Plausible] = {}
        self._housed: dict[object, float] = {}
        self._last_free: tuple[object, list[tuple[Rig, Machine]]] = (None, [])
        self._most_slots = max(
            (_slots(part) for part in map(self._board, space.options["motherboard"]) if part),
            default=0,
        )

    def _board(self, option: Option) -> Motherboard | None:
        part = self.catalog.get(option.part)
        return part if isinstance(part, Motherboard) else None

    def leans_on_host(self, cards: CardSet) -> bool:
        """Return whether memory or drives of the host may decide how fast a work is."""
        key = (self._alike(cards), cards.count, cards.way)
        if key not in self._leans:
            self._leans[key] = leans_on_host(self.question, cards, self.catalog)
        return self._leans[key]

    def has_slots(self, cards: CardSet) -> bool:
        """Return whether any board of the space has so many slots."""
        return cards.count + self.question.growth <= self._most_slots

    def ceiling(self, cards: CardSet) -> Score | str:
        """Return what a set of cards does in a host that holds nothing back, or why none of it
        does the works."""
        key = (self._alike(cards), cards.count, cards.way, cards.cap_w, cards.bridge)
        if key not in self._ceilings:
            self._ceilings[key] = self._ceiling(cards)
        return self._ceilings[key]

    def roof(self, cards: CardSet) -> float | str:
        """Return what a set of cards does at most, soon: of two kinds of card no more than as many
        of the faster one do. A token passes the layers of each card in turn, so that their speed
        is a mean of the speeds of as many equal cards (`several_gpus/dealt_layers.py`). Of several
        works each may have another faster kind: there the ceiling is asked."""
        if cards.other and len(self.question.wants) == 1:
            equal = [self.ceiling(CardSet(part, cards.count, 0.0)) for part, _ in cards.kinds]
            told = [each.value for each in equal if isinstance(each, Score)]
            if len(told) == len(equal):
                return max(told)
        ceiling = self.ceiling(cards)
        return ceiling.value if isinstance(ceiling, Score) else ceiling

    def _host_of(self, cpu: CPU) -> tuple[object, ...]:
        if cpu.id not in self._kinds:
            self._kinds[cpu.id] = _as_host(cpu)
        return self._kinds[cpu.id]

    def _alike(self, cards: CardSet) -> int:
        """The number of a card's kind: what does any work at the same speed has the same one."""
        named = (cards.gpu, cards.other, cards.others)
        if named not in self._kind_of:
            found = [(self.catalog.get(part), many) for part, many in cards.kinds]
            kinds = [alike(gpu) for gpu, _ in found if isinstance(gpu, GPU)]
            kind = (*kinds, cards.others)
            self._kind_of[named] = self._numbers.setdefault(kind, len(self._numbers))
        return self._kind_of[named]

    def _ceiling(self, cards: CardSet) -> Score | str:
        found: Score | str = "not-predicted"
        for free in self._free(cards):
            score = score_of(self.question, free[1], cards.way, self.strictness)
            if isinstance(score, Score):
                if not isinstance(found, Score) or score.value > found.value:
                    found = score
            elif score in OF_MEMORY:
                return score
            elif not isinstance(found, Score):
                found = score
        if isinstance(found, Score) and (code := self.judge.works_refused(cards, *free)):
            return code
        if isinstance(found, Score) and self.leans_on_host(cards):
            options = self.plausible("cpu", cards, {}).firsts
            return faster(found, self._by_cores(cards, self._ideal, options))
        return found

    def _by_cores(
        self, cards: CardSet, host: IdealHost, options: tuple[Option, ...]
    ) -> Score | str:
        """What cards do at most in a host with as many cores as any of some processors has."""

        machines = [
            self._in_host(cards, host, roots)
            for roots in ((False, True) if cards.count > 1 else (False,))
        ]

        def score(cores: int) -> Score | str:
            found: Score | str = "not-predicted"
            for machine in machines:
                some = with_cores(machine, cores)
                found = faster(found, score_of(self.question, some, cards.way, self.strictness))
            return found

        return most_by_cores(cores_of(options, self.catalog), score, len(self.question.wants))

    def _in_host(self, cards: CardSet, host: IdealHost, own_roots: bool) -> Machine:
        rig = self.judge.with_items((*card_items(cards), *host.items(True)), False)
        rig = _with_parts(rig, host.parts(cards, self.catalog, own_roots))
        return assemble(rig, self.catalog)

    def _free(self, cards: CardSet) -> Iterator[tuple[Rig, Machine]]:
        """Yield the machines of these cards in hosts that hold nothing back. Those of the last
        cards are kept: sets that differ in how jobs lie on them follow each other."""
        furnished = self.leans_on_host(cards)
        key = (self._alike(cards), cards.count, cards.cap_w, cards.bridge, furnished)
        if key != self._last_free[0]:
            self._last_free = key, []
        kept = self._last_free[1]
        for at, own_roots in enumerate((False, True) if cards.count > 1 else (False,)):
            if at == len(kept):
                parts = self._ideal.parts(cards, self.catalog, own_roots)
                items = (*card_items(cards), *self._ideal.items(furnished))
                rig = _with_parts(self.judge.with_items(items, False), parts)
                kept.append((rig, assemble(rig, self.catalog)))
            yield kept[at]

    def free_machine(self, cards: CardSet) -> Machine:
        """Return the machine of these cards in a host that holds nothing back."""
        return next(iter(self._free(cards)))[1]

    def sitting(self, cards: CardSet, chosen: Chosen) -> Score | str:
        """Return what a set of cards does at most on this board with this processor: with all the
        memory and the drives that could be wished for."""
        cpu = self.catalog.get(chosen["cpu"].part)
        board = self.catalog.get(chosen["motherboard"].part)
        assert isinstance(cpu, CPU) and isinstance(board, Motherboard)
        key = (
            self._alike(cards),
            (cards.count, cards.way, cards.cap_w, cards.bridge),
            board.id,
            cpu.id if self.leans_on_host(cards) else self._host_of(cpu),
            chosen["cpu"].quantity,
        )
        if key not in self._sitting:
            self._sitting[key] = self._sits(cards, chosen, cpu)
        return self._sitting[key]

    def _sits(self, cards: CardSet, chosen: Chosen, cpu: CPU) -> Score | str:
        first = {kind: chosen[kind] for kind in ("motherboard", "cpu")}
        rig = self.judge.rig_of(cards, first)
        if self.leans_on_host(cards):
            options = self.plausible("memory", cards, chosen).firsts
            parts = [self.catalog.get(option.part) for option in options]
            kits = [part for part in parts if isinstance(part, MemoryKit)]
            ideal = self._ideal.parts(cards, self.catalog, False)
            rig = self.judge.with_items(
                (
                    *rig.items,
                    Item(uid="memory", part=MEMORY, quantity=chosen["cpu"].quantity),
                    FURNITURE[1],
                ),
                False,
            )
            rig = _with_parts(rig, (memory_for(cpu, kits), *ideal[3:]))
        return score_of(self.question, assemble(rig, self.catalog), cards.way, self.strictness)

    def on_socket(self, cards: CardSet, chosen: Chosen) -> Score | str:
        """Return what a set of cards does at most on any board with the socket and the type of
        memory of this one."""
        board = self._board(chosen["motherboard"])
        assert board is not None
        kind = (board.layout.sockets, board.layout.memory_type)
        key = (self._alike(cards), (cards.count, cards.way, cards.cap_w, cards.bridge), kind)
        if key not in self._on_socket:
            options = self.plausible("cpu", cards, chosen).firsts
            cpus = [self.catalog.get(option.part) for option in options]
            kits = [
                self.catalog.get(o.part) for o in self.plausible("memory", cards, chosen).firsts
            ]
            host = host_of_socket(
                self._ideal,
                [cpu for cpu in cpus if isinstance(cpu, CPU)],
                [kit for kit in kits if isinstance(kit, MemoryKit)],
            )
            self._on_socket[key] = self._by_cores(cards, host, options)
        return self._on_socket[key]

    def furnished(self, cards: CardSet, chosen: Chosen) -> Score | str:
        """Return what a set of cards does with this board, processor and memory, and this drive;
        where none is chosen yet, with the fastest one."""
        kinds = ("motherboard", "cpu", "memory", "storage")
        part = {kind: chosen[kind] for kind in kinds if kind in chosen}
        key = (
            self._alike(cards),
            (cards.count, cards.way, cards.cap_w, cards.bridge),
            *(self._spec(option.part) for option in part.values()),
            *(option.quantity for option in part.values()),
        )
        if key not in self._furnished:
            rig = self.judge.rig_of(cards, part)
            if "storage" not in part:
                rig = self.judge.with_items((*rig.items, FURNITURE[1]), False)
                rig = _with_parts(rig, (self._ideal.drive,))
            machine = assemble(rig, self.catalog)
            self._furnished[key] = score_of(self.question, machine, cards.way, self.strictness)
        return self._furnished[key]

    def least_ram(self, cards: CardSet) -> float:
        """Return the RAM that a host of these cards has at least, GiB: as much as they have
        together, and what the works keep in it because the cards do not hold it. The latter is not
        asked of cards that are too dear by themselves, or for which no board has the slots."""
        budget = self.question.budget
        if (budget is not None and cards.cost > budget) or not self.has_slots(cards):
            return least_gib(cards, self.catalog)
        key = (self._alike(cards), cards.count, cards.way)
        if key not in self._ram:
            kept = self._kept_in_ram(cards) if self.leans_on_host(cards) else 0.0
            self._ram[key] = max(least_gib(cards, self.catalog), kept)
        return self._ram[key]

    def _kept_in_ram(self, cards: CardSet) -> float:
        for rig, machine in self._free(cards):
            return ram_asked(self.judge.context(rig, machine, cards))
        return 0.0

    def plausible(self, kind: str, cards: CardSet, chosen: Chosen) -> Plausible:
        """Return the choices of a kind that plain relations leave beside those made before."""
        key = (kind, *self._relation(kind, cards, chosen))
        if key not in self._plausible:
            firsts: list[Option] = []
            twins: list[Option] = []
            unrelated: list[Option] = []
            for first, others in self._with_twins(kind):
                if self._relates(kind, first, key[1:]):
                    firsts.append(first)
                    twins += others
                else:
                    unrelated += (first, *others)
            self._plausible[key] = Plausible(tuple(firsts), tuple(twins), tuple(unrelated))
        return self._plausible[key]

    def _with_twins(self, kind: str) -> list[tuple[Option, list[Option]]]:
        """Return the choices of a kind that stand for their dearer twins, cheapest first, each with
        these."""
        if kind not in self._classes:
            found: dict[object, tuple[Option, list[Option]]] = {}
            for option in self.space.options[kind]:
                key = (self._spec(option.part), option.quantity)
                if key in found:
                    found[key][1].append(option)
                else:
                    found[key] = (option, [])
            self._classes[kind] = list(found.values())
        return self._classes[kind]

    def without_twins(self, sets: Iterable[CardSet]) -> tuple[list[CardSet], list[CardSet]]:
        """Return sets of cards, and apart those that have a cheaper twin among them."""
        ordered = sorted(sets, key=lambda cards: (cards.cost, cards.gpu))
        kinds = (
            (self._spec(c.gpu), c.count, c.way, c.cap_w, c.bridge, self._spec(c.other), c.others)
            for c in ordered
        )
        return apart(ordered, kinds)

    def machines(self) -> tuple[list[Option], list[Option]]:
        """Return the complete machines, and apart those that have a cheaper twin."""
        every = self.space.machines
        return apart(every, (self._spec(option.part) for option in every))

    def _spec(self, part_id: str) -> int:
        """The number of a part's twins."""
        if part_id not in self._specs:
            part = self.catalog.get(part_id)
            spec = spec_of(part) if part is not None else ()
            self._specs[part_id] = self._numbers.setdefault(spec, len(self._numbers))
        return self._specs[part_id]

    def _relation(self, kind: str, cards: CardSet, chosen: Chosen) -> tuple[object, ...]:
        """What the choices made before ask of a choice of a kind."""
        board = self._board(chosen["motherboard"]) if "motherboard" in chosen else None
        if kind == "motherboard":
            return (cards.count + self.question.growth,)
        if kind == "cpu":
            return (
                board.layout.sockets if board else None,
                least_cores(self.question.cores, cards),
            )
        if kind == "memory":
            layout = board.layout if board else Layout()
            taken = (layout.memory_type, layout.memory_modules, layout.memory_slots)
            return (*taken, self.least_ram(cards))
        if kind == "cooler":
            cpu = self.catalog.get(chosen["cpu"].part) if "cpu" in chosen else None
            return (cpu.socket if isinstance(cpu, CPU) else None,)
        if kind == "psu":
            case = self.catalog.get(chosen["chassis"].part) if "chassis" in chosen else None
            return (card_watts(cards, self.catalog), case is None or is_frame(case))
        return ()

    def _relates(self, kind: str, option: Option, asked: tuple[object, ...]) -> bool:
        part = self.catalog.get(option.part)
        if isinstance(part, Motherboard):
            return _slots(part) >= asked[0]  # type: ignore[operator]
        if isinstance(part, CPU):
            return fits_socket(part, option.quantity, asked[0]) and has_cores(
                part, option.quantity, asked[1]
            )
        if isinstance(part, MemoryKit):
            *taken, least = asked
            if option.quantity * part.modules * part.module_gib < least:  # type: ignore[operator]
                return False
            return takes_modules(part, option.quantity, *taken)  # type: ignore[arg-type]
        if isinstance(part, Cooler):
            return asked[0] is None or not part.sockets or asked[0] in part.sockets
        if isinstance(part, PowerSupply):
            if option.quantity > 1 and not asked[1]:
                return False
            given = rating_w(part.supply, self.question.site)
            return given is None or option.quantity * given >= asked[0]  # type: ignore[operator]
        return True

    def rest(self, level: int, cards: CardSet, chosen: Chosen, by_watts: bool) -> float:
        """Return what the kinds from a level on cost at least beside the choices made before; in
        watts what they draw."""
        board, cpu = chosen.get("motherboard"), chosen.get("cpu")
        asked = (cards.count, self.least_ram(cards), card_watts(cards, self.catalog))
        closed = "chassis" in chosen and not is_frame(self.catalog.get(chosen["chassis"].part))
        key = (level, by_watts, asked, board and board.part, cpu and cpu.part, closed)
        if key not in self._leasts:
            self._leasts[key] = self._rest(level, cards, chosen, by_watts)
        return self._leasts[key]

    def housed(self, level: int, cards: CardSet, chosen: Chosen, by_watts: bool) -> float:
        """Return what `rest` does beside a board and a processor, where of case, cooler and supply
        only those count that the rules let stand around these; infinite where none do."""
        housing = HOST_KINDS.index("chassis")
        if level > housing + 1:
            return self.rest(level, cards, chosen, by_watts)
        inner = {kind: option for kind, option in chosen.items() if kind not in PACED}
        key = (cards, *inner.values(), by_watts)
        if key not in self._housed:
            self._housed[key] = self._least_housing(cards, inner, by_watts)
        within = self.rest(level, cards, chosen, by_watts)
        within -= self.rest(max(level, housing), cards, chosen, by_watts)
        return within + self._housed[key] if level <= housing else self._housed[key]

    def _least_housing(self, cards: CardSet, chosen: Chosen, by_watts: bool) -> float:
        """What the cheapest case costs with the cheapest cooler and supply of its own; beside a
        chosen case, what these two cost."""

        def measure(option: Option) -> float:
            return option.watts if by_watts else option.cost

        def allowed(kind: str, beside: Chosen) -> float:
            options = sorted(self.plausible(kind, cards, beside).firsts, key=measure)
            for option in options:
                if self.judge.houses(cards, {**beside, kind: option}, kind):
                    return measure(option)
            return float("inf")

        if "chassis" in chosen:
            cooler = allowed("cooler", chosen)
            return cooler + allowed("psu", chosen) if cooler < float("inf") else cooler
        floor, least = self.rest(HOST_KINDS.index("cooler"), cards, chosen, by_watts), float("inf")
        for case in sorted(self.plausible("chassis", cards, chosen).firsts, key=measure):
            if measure(case) + floor >= least:
                break
            around = {**chosen, "chassis": case}
            if self.judge.houses(cards, around, "chassis"):
                own = self._least_housing(cards, around, by_watts)
                least = min(least, measure(case) + own)
        return least

    def _rest(self, level: int, cards: CardSet, chosen: Chosen, by_watts: bool) -> float:
        total = 0.0
        for kind in HOST_KINDS[level:]:
            options = self.plausible(kind, cards, chosen).firsts
            if not options:
                return float("inf")
            total += min(option.watts for option in options) if by_watts else options[0].cost
        return total


def faster(one: Score | str, other: Score | str) -> Score | str:
    """Return the faster of two scores, one of them before a fault."""
    if isinstance(one, Score) and isinstance(other, Score):
        return max(one, other, key=lambda score: score.value)
    return one if isinstance(one, Score) else other


def ram_asked(context: Context) -> float:
    """Return the GiB that the works of a context keep in the memory of the host: what rule MEM009
    asks of it, which rests on cards and works alone."""
    return max((case.host_gib for case in offloading(context)), default=0.0)


def least_gib(cards: CardSet, catalog: Catalog) -> float:
    """Return the RAM that a host of these cards has at least, GiB: as much as they have
    together."""
    found = ((catalog.get(part), many) for part, many in cards.kinds)
    return sum(n * (gpu.memory_gib or 0.0) * gpu.dies for gpu, n in found if isinstance(gpu, GPU))


def least_cores(cores: int, cards: CardSet) -> int:
    """Return the cores that a host of so many cards has at least."""
    from rigplanner.planning.best.question import CORES_PER_CARD

    return max(cores, CORES_PER_CARD * cards.count)


def card_watts(cards: CardSet, catalog: Catalog) -> float:
    """Return what the cards alone draw; 0 where nobody knows."""
    found = ((catalog.get(part), many) for part, many in cards.kinds)
    return sum(n * (cards.cap_w or gpu.tdp_w or 0.0) for gpu, n in found if isinstance(gpu, GPU))


def fits_socket(cpu: CPU, quantity: int, sockets: object) -> bool:
    """Say whether so many of a processor may sit in these sockets; where nothing is known they
    may."""
    if not isinstance(sockets, tuple) or not sockets:
        return True
    return quantity == len(sockets) and (cpu.socket is None or cpu.socket in sockets)


def takes_modules(
    kit: MemoryKit,
    quantity: int,
    memory_type: str | None,
    modules: tuple[str, ...],
    slots: int | None,
) -> bool:
    """Say whether a board of this type, these kinds and so many slots of memory takes so many of a
    kit; what is not known it may."""
    if memory_type not in (None, kit.type) or quantity * kit.modules > (slots or MOST_MODULES):
        return False
    return not kit.module or not modules or kind_suits(kit.module, modules)


def has_cores(cpu: CPU, quantity: int, least: object) -> bool:
    """Say whether so many of a processor have the cores."""
    return cpu.cores is None or quantity * cpu.cores >= int(str(least))


def _slots(board: Motherboard) -> int:
    return sum(slot.kind == "pcie" for slot in board.layout.slots)


_CPU_HOST = (
    "lanes", "pcie_gen", "lanes_by_gen", "lane_class", "peg_width", "boost_ghz", "numa_nodes",
    "socket", "sockets_max",
)  # fmt: skip


def _as_host(cpu: CPU) -> tuple[object, ...]:
    """What of a processor decides the pace of cards beside it."""
    return tuple(repr(getattr(cpu, field)) for field in _CPU_HOST)


def _with_parts(rig: Rig, parts: tuple[Any, ...]) -> Rig:
    return replace(rig, snapshot={part.id: part for part in parts})
