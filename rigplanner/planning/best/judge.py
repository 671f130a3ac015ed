"""The rules as the judge of rigs and of parts of rigs: what they refuse of a few parts they refuse
of every rig with these parts, and it is asked once."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import CPU, GPU, MemoryKit
from rigplanner.machine.assemble import put_together
from rigplanner.machine.builder import MachineBuilder
from rigplanner.machine.model import Machine
from rigplanner.machine.pieces import pieces_of
from rigplanner.planning.best.market import Market
from rigplanner.planning.best.question import Question
from rigplanner.planning.best.reads import (
    CARDS,
    HOUSING,
    IN_CASE,
    OF_LOAD,
    OF_MODULES,
    OF_ROOM,
    OF_WORK,
    SITTING,
    STANDING,
    Strictness,
    refuses,
    rests_on,
)
from rigplanner.planning.best.score import on_cards
from rigplanner.planning.best.space import CardSet, Option
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import Assessment, assess
from rigplanner.rules.badges import LateJob
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import judged
from rigplanner.rules.hardware.pcie import BEFORE_RESIZING
from rigplanner.rules.topics import RULES_BY_CODE

STEMS = {
    "motherboard": "board",
    "cpu": "cpu",
    "memory": "memory",
    "storage": "ssd",
    "chassis": "chassis",
    "cooler": "cooler",
    "psu": "psu",
}
PLACELESS = ("psu", "cooler")
SLOT_CODES = ("SLT001", "SLT004", "SLT006", "GPU001")
"""What says that a card finds no slot: asked with the cards to come as well."""

Chosen = dict[str, Option]
"""The choices of a rig or a part of it, by kind."""


Group = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Kinds, the codes of rules whose refusal rests on them, and the kinds among them that are no
cards."""


class Refusal(Struct, frozen=True):
    """The rule that refuses, and the kinds of part that its refusal rests on."""

    code: str
    kinds: tuple[str, ...]


class Judge:
    """Asks rules about parts of rigs, and remembers what they said."""

    def __init__(
        self,
        question: Question,
        market: Market,
        strictness: Strictness = "sound",
        sparing: Chosen | None = None,
    ) -> None:
        self.question, self.market, self.strictness = question, market, strictness
        self.sparing: Chosen = sparing or {}
        self.catalog: Catalog = market.catalog
        self.asked = 0
        self._said: dict[tuple[object, ...], str | None] = {}
        self._built: dict[tuple[object, ...], MachineBuilder] = {}
        self._signatures: dict[str, tuple[object, ...]] = {}
        self._read: dict[str, int] = {}
        self._numbers: dict[object, int] = {}
        self._groups: dict[str, list[Group]] = {
            kind: [
                (kinds, some, tuple(k for k in kinds if k != CARDS))
                for kinds, codes in rests_on().items()
                if _last(kinds) == kind
                for some in _apart(codes)
            ]
            for kind in (CARDS, *STEMS)
        }
        seen = {CARDS, "motherboard", "cpu", *HOUSING}
        self._housing: dict[str, list[Group]] = {
            kind: [group for group in self._groups[kind] if seen.issuperset(group[0])]
            for kind in HOUSING
        }

    def refusal(self, cards: CardSet, chosen: Chosen, kind: str) -> Refusal | None:
        """Return what refuses a choice of `kind` beside the choices made before it, None where
        nothing does yet."""
        for group in self._groups[kind]:
            if (code := self._said_of(group, cards, chosen, kind)) is not None:
                return Refusal(code, group[0])
        return None

    def houses(self, cards: CardSet, chosen: Chosen, kind: str) -> bool:
        """Return whether no rule refuses a choice that holds, cools or feeds beside cards, board
        and processor, whatever memory and drive there are."""
        return all(
            self._said_of(group, cards, chosen, kind) is None for group in self._housing[kind]
        )

    def _said_of(self, group: Group, cards: CardSet, chosen: Chosen, kind: str) -> str | None:
        kinds, codes, others = group
        key = self._key(group, cards, chosen)
        if key not in self._said:
            part = {k: chosen[k] for k in others}
            whose = cards if CARDS in kinds else None
            loads = tuple(code for code in codes if code in OF_LOAD)
            others_asked = tuple(code for code in codes if code not in OF_LOAD)
            said = self._ask(whose, part, others_asked, kind) if others_asked else None
            if said is None and loads:
                said = self._ask(whose, self.sparing | part, loads, kind)
            self._said[key] = said
        return self._said[key]

    def has_case(self, cards: CardSet, cases: tuple[Option, ...]) -> bool:
        """Return whether the rules let any case take a set of cards; without a case there is
        nothing to refuse."""
        alone = [group for group in self._groups["chassis"] if group[0] == IN_CASE]
        return not cases or any(
            self._said_of(group, cards, {"chassis": case}, "chassis") is None
            for case in cases
            for group in alone
        )

    def _key(self, group: Group, cards: CardSet, chosen: Chosen) -> tuple[object, ...]:
        """What a group's answer is kept by: the parts themselves; of slots and links, what of cards
        and processors decides there; of memory, what its rules read."""
        kinds, codes, others = group
        if codes == OF_MODULES:
            return (
                codes,
                *((self._modules(k, chosen[k].part), chosen[k].quantity) for k in others),
            )
        if codes == OF_ROOM:
            return (codes, _name(cards), cards.way, self._gib(chosen["memory"]))
        alike = kinds in (SITTING, STANDING)
        named: object = ""
        if CARDS in kinds:
            named = self._sitting(cards) if alike else _name(cards)
            named = (named, cards.way) if "memory" in kinds or "storage" in kinds else named
        parts = tuple(
            (self._pins(chosen[k].part) if alike and k == "cpu" else chosen[k].part,
             chosen[k].quantity)
            for k in others
        )  # fmt: skip
        return (group[:2], named, *parts)

    def _gib(self, option: Option) -> float:
        part = self.catalog.get(option.part)
        assert isinstance(part, MemoryKit)
        return option.quantity * part.modules * part.module_gib

    def _modules(self, kind: str, part_id: str) -> int:
        """The number of what the rules of memory modules read of a part."""
        if part_id not in self._read:
            part = self.catalog.get(part_id)
            read = (kind, *(repr(attrgetter(field)(part)) for field in _OF_MODULES[kind]))
            self._read[part_id] = self._numbers.setdefault(read, len(self._numbers))
        return self._read[part_id]

    def _sitting(self, cards: CardSet) -> tuple[object, ...]:
        gpu = self.gpu(cards)
        if cards.bridge or cards.other or gpu is None:
            return _name(cards)
        if gpu.id not in self._signatures:
            self._signatures[gpu.id] = _alike_in_slots(gpu)
        return (self._signatures[gpu.id], cards.count, cards.cap_w)

    def _pins(self, part_id: str) -> tuple[object, ...]:
        if part_id not in self._signatures:
            part = self.catalog.get(part_id)
            assert isinstance(part, CPU)
            self._signatures[part_id] = _lanes_of(part)
        return self._signatures[part_id]

    def works_refused(self, cards: CardSet, rig: Rig, machine: Machine) -> str | None:
        """Return the rule that refuses the works on a set of cards in a rig whose host holds
        nothing back."""
        context = self.context(rig, machine, cards)
        for code in OF_WORK:
            if any(map(self._refuses, judged(RULES_BY_CODE[code], context)[0])):
                return code
        return None

    def _ask(
        self, cards: CardSet | None, chosen: Chosen, codes: tuple[str, ...], kind: str
    ) -> str | None:
        self.asked += 1
        rig = self.rig_of(cards, chosen)
        context = self.context(rig, self._builder(rig, cards, chosen, kind), cards)
        try:
            for code in codes:
                found = judged(RULES_BY_CODE[code], context)[0]
                if any(self._refuses(finding) for finding in found):
                    return code
        finally:
            vars(context).clear()
        if cards is not None and self.question.growth and "SLT001" in codes:
            more = replace(cards, count=cards.count + self.question.growth, bridge="", bridges=0)
            bare = Judge(replace(self.question, growth=0), self.market, self.strictness)
            return bare._ask(more, chosen, SLOT_CODES, kind)
        return None

    def _builder(
        self, rig: Rig, cards: CardSet | None, chosen: Chosen, kind: str
    ) -> MachineBuilder:
        """Parts on which no place depends stand in one machine whose places are settled once."""
        if kind not in PLACELESS or len(chosen) < 2:
            return put_together(rig, self.catalog)
        rest = {k: option for k, option in chosen.items() if k != kind}
        key = (_name(cards) if cards else "", *rest.items())
        if key not in self._built:
            self._built[key] = put_together(self.rig_of(cards, rest), self.catalog)
        return self._built[key].with_pieces(rig, pieces_of(rig, self.catalog))

    def context(self, rig: Rig, machine: Any, cards: CardSet | None) -> Context:
        """Return what rules look at: a rig, its machine and the works on its cards."""
        works = self.works_on(cards) if cards else ()
        jobs: Any = tuple(LateJob(index, work, machine) for index, work in enumerate(works))
        return Context(
            rig=rig,
            catalog=self.catalog,
            machine=machine,
            jobs=jobs,
            today=self.market.today,
            advise=False,
        )

    def works_on(self, cards: CardSet) -> tuple[Any, ...]:
        """Return the works as they lie on a set of cards."""
        return tuple(on_cards(want, cards.count, cards.way) for want in self.question.wants)

    def _refuses(self, finding: Finding) -> bool:
        return refuses(finding, self.strictness)

    def rig_of(
        self, cards: CardSet | None, chosen: Chosen, priced: bool = False, works: Any = ()
    ) -> Rig:
        """Return the rig of some choices; `priced`: each item carries its price of today."""
        items = list(card_items(cards)) if cards else []
        items += [
            Item(uid=STEMS[kind], part=option.part, quantity=option.quantity)
            for kind, option in chosen.items()
        ]
        return self.with_items(tuple(items), priced, works)

    def with_items(self, items: tuple[Item, ...], priced: bool, works: Any = ()) -> Rig:
        """Return the rig of some items at the question's site."""
        question = self.question
        return Rig(
            items=tuple(map(self._priced, items)) if priced else items,
            workloads=works,
            site=question.site,
            currency=question.currency,
            exchange=question.rates,
            budget=question.budget,
        )

    def _priced(self, item: Item) -> Item:
        part = self.catalog.get(item.part)
        offer = self.market.offer(part) if part is not None else None
        return replace(item, price=offer.price) if offer else item

    def whole(self, rig: Rig) -> tuple[Assessment, str | None]:
        """Return the assessment of a whole rig, and the rule that refuses it."""
        self.asked += 1
        found = assess(rig, self.catalog, self.market.today)
        return found, next(
            (f.code for f in found.report.findings if refuses(f, self.strictness)), None
        )

    def gpu(self, cards: CardSet) -> GPU | None:
        """Return the card of a set, None of one without cards."""
        part = self.catalog.get(cards.gpu) if cards.gpu else None
        return part if isinstance(part, GPU) else None


def card_items(cards: CardSet) -> tuple[Item, ...]:
    """Return the items of a set of cards."""
    if not cards.count:
        return ()
    (first, many), *more = cards.kinds
    gpu = Item(uid="gpu", part=first, quantity=many, power_cap_w=cards.cap_w)
    others = tuple(Item(uid="gpu2", part=part, quantity=n) for part, n in more)
    if not cards.bridge:
        return (gpu, *others)
    return (gpu, Item(uid="bridge", part=cards.bridge, quantity=cards.bridges))


def _name(cards: CardSet) -> tuple[object, ...]:
    return (cards.kinds, cards.cap_w, cards.bridge, cards.bridges)


def _apart(codes: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the rules of memory modules apart from others of the same kinds: theirs have the same
    answer for many parts."""
    rest = tuple(code for code in codes if code not in OF_MODULES)
    if rest != codes:
        yield OF_MODULES
    if rest:
        yield rest


_OF_MODULES = {
    "motherboard": (
        "layout.sockets",
        "layout.memory_type",
        "layout.memory_modules",
        "layout.memory_slots",
        "layout.memory_max_gib",
    ),
    "cpu": ("memory", "socket", "sockets_max"),
    "memory": ("type", "module", "modules", "module_gib"),
}
_NOT_IN_SLOTS = frozenset(
    ("id", "name", "vendor", "aliases", "status", "released", "sources", "doubts", "unpublished",
     "prices", "notes", "length_mm", "height_mm", "connectors")
)  # fmt: skip
_NOT_OF_LANES = _NOT_IN_SLOTS | {
    "cores",
    "threads",
    "base_ghz",
    "boost_ghz",
    "tdp_w",
    "max_power_w",
}


def _alike_in_slots(gpu: GPU) -> tuple[object, ...]:
    """What of a card decides which slot it takes and what link it gets there."""
    fields = (f for f in gpu.__struct_fields__ if f not in _NOT_IN_SLOTS)
    return tuple(repr(getattr(gpu, field)) for field in fields)


def _lanes_of(cpu: CPU) -> tuple[object, ...]:
    """What of a processor decides the lanes and links of cards beside it."""
    fields = (f for f in cpu.__struct_fields__ if f not in _NOT_OF_LANES)
    older = BEFORE_RESIZING.search(cpu.name) is not None
    return (older, *(repr(getattr(cpu, field)) for field in fields))


def _last(kinds: tuple[str, ...]) -> str:
    order = (CARDS, *STEMS)
    return max(kinds, key=order.index)
