"""Checks a certificate with code of its own: prices it anew, works each bound out again, asks each
rule again, and sees that the families are all rigs there are, each once."""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Chassis,
    Cooler,
    MemoryKit,
    Motherboard,
    PowerSupply,
    System,
)
from rigplanner.decoding import read_json
from rigplanner.machine.assemble import assemble, put_together
from rigplanner.machine.power.loads import load_w
from rigplanner.machine.power.power import rating_w
from rigplanner.planning.best.certificate import FORMAT, Certificate, Claim, Family
from rigplanner.planning.best.goals import DOUBT, NEAR, near
from rigplanner.planning.best.market import Market
from rigplanner.planning.best.reads import (
    CARDS,
    HOUSING,
    IN_CASE,
    LADDER,
    NO_CASE,
    NO_HOUSING,
    OF_LOAD,
    OF_WORK,
    refuses,
    rests_on,
)
from rigplanner.planning.best.relaxed import (
    FURNITURE,
    MEMORY,
    cores_of,
    host_of_socket,
    ideal_host,
    memory_for,
    most_by_cores,
    with_cores,
)
from rigplanner.planning.best.score import Score, leans_on_host, on_cards, score_of
from rigplanner.planning.best.space import HOST_KINDS, CardSet, Option, Space, space_of
from rigplanner.planning.best.twins import spec_of
from rigplanner.planning.best.works import trains
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess
from rigplanner.rules.badges import LateJob
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.registry import judged
from rigplanner.rules.hardware.memory import kind_suits
from rigplanner.rules.jobs.vram import offloading
from rigplanner.rules.topics import RULES_BY_CODE

UIDS = ("board", "cpu", "memory", "ssd", "chassis", "cooler", "psu")
SITS = frozenset((CARDS, "motherboard", "cpu"))
CENT = 0.011
EQUAL = 1e-6
RELATES_TO = {
    "motherboard": frozenset((CARDS,)),
    "cpu": frozenset((CARDS, "motherboard")),
    "memory": frozenset((CARDS, "motherboard")),
    "storage": frozenset[str](),
    "chassis": frozenset[str](),
    "cooler": frozenset(("cpu",)),
    "psu": frozenset((CARDS, "chassis")),
}
"""The kinds that `_relates` looks at beside each kind."""


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a certificate holds: how many rigs and families were checked, and what is wrong."""

    rigs: int
    families: int
    faults: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.faults


def read_certificate(content: bytes) -> Certificate:
    """Return the certificate in a file; raises JsonFault for what is none."""
    return read_json(content, Certificate)


def verify(certificate: Certificate, catalog: Catalog, most: int = 10) -> Verdict:
    """Return whether a certificate holds for a catalog; at most so many faults are named."""
    check = _Check(certificate, catalog)
    faults: list[str] = []
    for fault in check.faults():
        faults.append(fault)
        if len(faults) >= most:
            break
    return Verdict(rigs=certificate.total, families=len(certificate.families), faults=tuple(faults))


class _Check:
    def __init__(self, certificate: Certificate, catalog: Catalog) -> None:
        self.made, self.catalog, self.question = certificate, catalog, certificate.question
        self.market = Market(
            catalog,
            self.question.currency,
            certificate.day,
            self.question.rates,
            self.question.used,
            self.question.price_age_days,
            self.question.abroad,
        )
        self.strictness = certificate.strictness
        self.budget = math.inf if self.question.budget is None else self.question.budget
        self._said: dict[object, Any] = {}
        self._last: Any = (None, None)
        self._top: Score | None = None

    def faults(self) -> Iterator[str]:
        if self.made.format != FORMAT:
            yield f"format: expected {FORMAT}, found {self.made.format}"
            return
        if not self._names_what_is_there():
            yield "families: a number of a choice that is not there"
            return
        yield from self._stricter()
        yield from self._asked_space()
        yield from self._prices()
        yield from self._claim()
        yield from self._whole_space()
        for number, family in enumerate(self.made.families):
            if (fault := self._family(family)) is not None:
                yield f"families[{number}]: {fault}"

    def _stricter(self) -> Iterator[str]:
        """Where rigs with warnings or open facts count, it is proven that no other does it; where
        tight memory counts, that none that surely holds the works does half as much."""
        made, other, at = self.made, self.made.stricter, LADDER.index(self.strictness)
        if not at:
            return
        if other is None or other.strictness != LADDER[at - 1]:
            yield f"stricter: no proof that no {LADDER[at - 1]} rig does it"
            return
        if other.gap is not None or (other.claim is not None and not self._pays(other.claim)):
            yield f"stricter: a {other.strictness} rig does it, or none was not proven"
        if (other.question, other.day) != (made.question, made.day):
            yield "stricter: another question"
        for fault in _Check(other, self.catalog).faults():
            yield f"stricter.{fault}"

    def _pays(self, sure: Claim) -> bool:
        """Say whether tight memory brings so much more than a rig that surely holds the works."""
        mine, objective = self.made.claim, self.question.objective
        if mine is None or self.strictness != LADDER[1] or self.question.tight:
            return False
        if objective == "fastest":
            return mine.top > DOUBT * sure.score
        per_money = mine.score / mine.price > DOUBT * sure.score / sure.price
        return objective == "per-money" and per_money

    def _names_what_is_there(self) -> bool:
        made, claim = self.made, self.made.claim
        named = [(f.cards, f.chosen, f.options) for f in made.families]
        if claim is not None:
            named += [(claim.cards, claim.chosen, ()), (claim.top_cards, claim.top_chosen, ())]
        sizes = [len(made.options.get(kind, ())) for kind in HOST_KINDS]
        for cards, chosen, options in named:
            asked = [len(made.machines)] if cards == -1 else sizes
            here = asked[len(chosen)] if len(chosen) < len(asked) else 0
            if not -1 <= cards < len(made.sets) or len(chosen) > len(asked):
                return False
            if not all(0 <= n < size for n, size in zip(chosen, asked, strict=False)):
                return False
            if not all(0 <= n < here for n in options):
                return False
        return claim is None or all(
            len(chosen) == (1 if cards == -1 else len(sizes))
            for cards, chosen, _ in named[len(made.families) :]
        )

    # the space, prices and numbers

    def _asked_space(self) -> Iterator[str]:
        """Choices, sets of cards and machines are those of the question, none is missing."""
        asked, made = space_of(self.question, self.market), self.made
        for kind in HOST_KINDS:
            yield from _other(kind, asked.options[kind], made.options.get(kind, ()))
        yield from _other("cards", asked.sets, made.sets)
        yield from _other("machines", asked.machines, made.machines)
        left = {str(cause): n for cause, n in asked.left_out.items()}
        if left != made.left_out:
            yield "left_out: other parts are left out"

    def _prices(self) -> Iterator[str]:
        every = [*self.made.machines, *(o for each in self.made.options.values() for o in each)]
        for option in every:
            if abs(self._cost(option.part, option.quantity) - option.cost) > CENT:
                yield f"{option.part}: costs {self._cost(option.part, option.quantity):g}"
        for option in (o for each in self.made.options.values() for o in each):
            part = self.catalog.get(option.part)
            draws = option.quantity * (load_w(part) or 0.0) if part is not None else 0.0
            if abs(option.watts - draws) > CENT:
                yield f"{option.part}: draws {draws:g} W"
        for cards in self.made.sets:
            bought = [*cards.kinds, (cards.bridge, cards.bridges)]
            cost = sum(self._cost(part, many) for part, many in bought)
            if abs(cost - cards.cost) > CENT:
                yield f"{cards.gpu}: {cards.count} cost {cost:g}"

    def _cost(self, part_id: str, quantity: int) -> float:
        part = self.catalog.get(part_id)
        if part is None or not quantity:
            return 0.0
        owned = [each for each in self.question.owned if each.part == part_id]
        kept = min(quantity, owned[0].quantity) if owned else 0
        offer = self.market.offer(part)
        bought = (quantity - kept) * (offer.amount if offer else 0.0)
        return bought + (kept * owned[0].resale if kept else 0.0)

    # the partition

    def _whole_space(self) -> Iterator[str]:
        sizes = [len(self.made.options[kind]) for kind in HOST_KINDS]
        total = len(self.made.sets) * math.prod(sizes) + len(self.made.machines)
        if total != self.made.total:
            yield f"total: {total} rigs, not {self.made.total}"
        told: dict[tuple[int, tuple[int, ...]], list[Family]] = {}
        for family in self.made.families:
            told.setdefault((family.cards, family.chosen), []).append(family)
        deeper: dict[tuple[int, tuple[int, ...]], set[int]] = {}
        for cards, chosen in told:
            for at in range(len(chosen)):
                deeper.setdefault((cards, chosen[:at]), set()).add(chosen[at])
        for number in range(len(self.made.sets) if all(sizes) else 0):
            yield from self._covered(number, (), told, deeper, sizes)
        for n in range(len(self.made.machines)):
            if len(told.get((-1, (n,)), ())) != 1:
                yield f"machine {n}: not told once"

    def _covered(
        self,
        cards: int,
        chosen: tuple[int, ...],
        told: dict[tuple[int, tuple[int, ...]], list[Family]],
        deeper: dict[tuple[int, tuple[int, ...]], set[int]],
        sizes: list[int],
    ) -> Iterator[str]:
        here, below = told.get((cards, chosen), []), deeper.get((cards, chosen), set())
        if any(not family.options for family in here):
            if len(here) != 1 or below:
                yield f"cards {cards}, {chosen}: told twice"
            return
        named = [option for family in here for option in family.options]
        every = sorted([*named, *below])
        if len(chosen) == len(sizes) or every != list(range(sizes[len(chosen)])):
            yield f"cards {cards}, {chosen}: not all choices, or one twice"
            return
        for option in sorted(below):
            yield from self._covered(cards, (*chosen, option), told, deeper, sizes)

    # the claim

    def _claim(self) -> Iterator[str]:
        claim = self.made.claim
        if claim is None:
            return
        found = self._judged(claim.cards, claim.chosen)
        if isinstance(found, str):
            yield f"claim: refused ({found})"
            return
        price = self._price(claim.cards, claim.chosen)
        score, watts = found
        if abs(price - claim.price) > CENT or price > self.budget + CENT:
            yield f"claim: costs {price:g}"
        if abs(score.value / claim.score - 1) > EQUAL or abs(watts - claim.watts) > 0.1:
            yield f"claim: does {score.value:g} at {watts:g} W"
        yield from self._claimed_top(claim, score)

    def _claimed_top(self, claim: Claim, score: Score) -> Iterator[str]:
        """The fastest rig does what is claimed within the budget, and the best one nears it; where
        another objective is asked the two are one."""
        found = self._judged(claim.top_cards, claim.top_chosen)
        if isinstance(found, str):
            yield f"claim.top: refused ({found})"
            return
        self._top = found[0]
        if abs(self._top.value / claim.top - 1) > EQUAL:
            yield f"claim.top: does {self._top.value:g}"
        if self._price(claim.top_cards, claim.top_chosen) > self.budget + CENT:
            yield "claim.top: above the budget"
        same = (claim.cards, claim.chosen) == (claim.top_cards, claim.top_chosen)
        if not same and (self.question.objective != "fastest" or not near(self._top, score)):
            yield "claim: not near the fastest"

    def _price(self, cards: int, chosen: tuple[int, ...]) -> float:
        if cards < 0:
            return self.made.machines[chosen[0]].cost
        return self.made.sets[cards].cost + sum(o.cost for o in self._options(chosen))

    def _options(self, chosen: tuple[int, ...]) -> list[Option]:
        return [self.made.options[k][n] for k, n in zip(HOST_KINDS, chosen, strict=False)]

    def _judged(self, cards: int, chosen: tuple[int, ...]) -> tuple[Score, float] | str:
        """Look at one whole rig."""
        if cards < 0:
            items: tuple[Item, ...] = (Item(uid="system", part=self.made.machines[chosen[0]].part),)
            one = CardSet("", 0, 0.0)
        else:
            one = self.made.sets[cards]
            items = self._items(one, dict(zip(HOST_KINDS, self._options(chosen), strict=True)))
        works = tuple(on_cards(want, one.count, one.way) for want in self.question.wants)
        found = assess(self._rig(items, works), self.catalog, self.made.day)
        for finding in found.report.findings:
            if refuses(finding, self.made.strictness):
                return finding.code
        score = score_of(self.question, found.machine, one.way, self.strictness)
        return (
            (score, found.machine.power.sustained_w or 0.0) if isinstance(score, Score) else score
        )

    def _items(self, cards: CardSet, chosen: dict[str, Option]) -> tuple[Item, ...]:
        items = []
        if cards.count:
            (gpu, many), *others = cards.kinds
            items.append(Item(uid="gpu", part=gpu, quantity=many, power_cap_w=cards.cap_w))
            items += [Item(uid="gpu2", part=part, quantity=n) for part, n in others]
        if cards.bridge:
            items.append(Item(uid="bridge", part=cards.bridge, quantity=cards.bridges))
        for kind, uid in zip(HOST_KINDS, UIDS, strict=True):
            if kind in chosen:
                items.append(Item(uid=uid, part=chosen[kind].part, quantity=chosen[kind].quantity))
        return tuple(items)

    def _rig(self, items: tuple[Item, ...], works: Any = ()) -> Rig:
        return Rig(
            items=items,
            workloads=works,
            site=self.question.site,
            currency=self.question.currency,
            exchange=self.question.rates,
            budget=self.question.budget,
        )

    # families

    def _family(self, family: Family) -> str | None:
        """Return what is wrong with a family, None where it is rightly left out."""
        if family.whole or family.cards < 0:
            return self._examined(family)
        cards, chosen = self.made.sets[family.cards], self._options(family.chosen)
        kind = HOST_KINDS[len(chosen)] if family.options else ""
        options = [self.made.options[kind][n] for n in family.options] if kind else []
        before = dict(zip(HOST_KINDS, chosen, strict=False))
        if family.reason == "relation":
            wrong = [o.part for o in options if self._relates(kind, o, cards, before)]
            return f"{wrong[0]} does go with the choices before" if wrong else None
        if family.reason == "slots":
            most = max((_slots(p) for p in self._parts("motherboard")), default=0)
            return None if cards.count + self.question.growth > most else "a board has the slots"
        if family.reason == "price":
            return self._too_dear(cards, before, kind, options)
        if family.reason == "sibling":
            return self._alike(family, kind)
        if family.reason == "twin":
            return self._twins(family, kind)
        if family.reason == NO_CASE:
            return None if self._caseless(cards) else "a case takes the cards"
        if family.reason == NO_HOUSING:
            some = [o.part for o in options if self._housing(cards, {**before, kind: o}) < math.inf]
            return f"{some[0]} can be housed" if some else None
        if family.reason in {code for codes in rests_on().values() for code in codes}:
            bad = [
                o for o in options if not self._rests_on(family.reason, cards, {**before, kind: o})
            ]
            return f"{family.reason} does not refuse it" if bad or not options else None
        for ceiling in [self._speed(cards, {**before, kind: o}) for o in options] or [
            self._speed(cards, {})
        ]:
            if isinstance(ceiling, str):
                continue
            if family.reason != "speed":
                return f"does {ceiling.value:g}, not refused by {family.reason}"
            if not self._hopeless(ceiling.value, 0.0):
                return "it may be fast enough"
        return None

    def _examined(self, family: Family) -> str | None:
        if family.reason == "role":
            return None if self._only_runs(family) else "the machine suits the works"
        if family.reason == "twin":
            option = self.made.machines[family.chosen[0]]
            return None if self._earlier("system")[option] else f"{option.part} has no cheaper twin"
        price = self._price(family.cards, family.chosen)
        if family.reason == "price":
            return None if price > self.budget + EQUAL else f"costs {price:g}"
        found = self._judged(family.cards, family.chosen)
        if isinstance(found, str):
            return None
        score, watts = found
        measure = watts if self.question.objective == "least-watts" else price
        claim = self.made.claim
        if family.reason != "rig" or claim is None:
            return "is a sound rig"
        if (family.cards, family.chosen) == (claim.cards, claim.chosen):
            return None
        if self.question.objective == "fastest":
            slower = score.value <= claim.top * (1 + EQUAL)
            far = self._top is not None and not near(self._top, score)
            return None if slower and (far or price >= claim.price - CENT) else "is better"
        return None if self._hopeless(score.value, measure) else "is better"

    def _only_runs(self, family: Family) -> bool:
        """Say whether a family is a development board and a work trains."""
        if family.cards >= 0:
            return False
        part = self.catalog.get(self.made.machines[family.chosen[0]].part)
        trained = any(trains(want.workload) for want in self.question.wants)
        return trained and isinstance(part, System) and part.role != "complete"

    def _hopeless(self, score: float, measure: float) -> bool:
        """Say whether no rig of at most this speed and at least this price (or draw) beats the
        claim."""
        claim, objective = self.made.claim, self.question.objective
        if claim is None:
            return False
        if objective == "fastest":
            if score < (1 - NEAR) * claim.top:
                return True
            return score <= claim.top * (1 + EQUAL) and measure >= claim.price - CENT
        if objective == "per-money":
            return measure * claim.score >= score * claim.price * (1 - EQUAL)
        return measure >= (claim.watts if objective == "least-watts" else claim.price) - CENT

    def _too_dear(
        self, cards: CardSet, before: dict[str, Option], kind: str, options: list[Option]
    ) -> str | None:
        some: list[Option | None] = [*options] or [None]
        for option in some:
            chosen = {**before, kind: option} if option else before
            if self._dear_by(cards, chosen, False) is None:
                continue
            if (measure := self._dear_by(cards, chosen, True)) is not None:
                return f"may cost {measure:g} only"
        return None

    def _dear_by(self, cards: CardSet, chosen: dict[str, Option], housed: bool) -> float | None:
        """What some choices take at least, None where that is too much; `housed`: with a case, a
        cooler and a supply that the rules let stand around them."""
        if self._least(cards, chosen, False, housed) > self.budget + EQUAL:
            return None
        by_watts = self.question.objective == "least-watts"
        measure = self._least(cards, chosen, by_watts, housed)
        if self._hopeless(math.inf, measure):
            return None
        ceiling = self._speed(cards, chosen)
        fast = isinstance(ceiling, Score) and not self._hopeless(ceiling.value, measure)
        return measure if fast else None

    def _least(
        self, cards: CardSet, chosen: dict[str, Option], by_watts: bool, housed: bool = True
    ) -> float:
        total = self._card_watts(cards) if by_watts else cards.cost
        housed = housed and "cpu" in chosen and "cooler" not in chosen
        for kind in HOST_KINDS:
            if kind in chosen:
                total += chosen[kind].watts if by_watts else chosen[kind].cost
            elif not (housed and kind in HOUSING):
                total += self._least_of(kind, cards, chosen, by_watts)
        return total + self._housing(cards, chosen, by_watts) if housed else total

    def _housing(self, cards: CardSet, chosen: dict[str, Option], by_watts: bool = False) -> float:
        """What a case takes at least with a cooler and a supply, of those that no rule refuses
        beside the cards, board and processor; beside a chosen case what these two take."""
        inner = {k: o for k, o in chosen.items() if k not in ("memory", "storage")}
        key = ("housing", cards, *inner.values(), by_watts)
        if key not in self._said:
            cases = [inner["chassis"]] if "chassis" in inner else self.made.options["chassis"]
            least = math.inf
            for case in sorted(cases, key=lambda o: o.watts if by_watts else o.cost):
                own = 0.0 if "chassis" in inner else (case.watts if by_watts else case.cost)
                if own >= least:
                    break
                around = {**inner, "chassis": case}
                if "chassis" not in inner and not self._stands(cards, around, "chassis"):
                    continue
                for kind in ("cooler", "psu"):
                    own += self._cheapest(kind, cards, around, by_watts, least - own)
                least = min(least, own)
            self._said[key] = least
        return float(self._said[key])

    def _cheapest(
        self, kind: str, cards: CardSet, chosen: dict[str, Option], by_watts: bool, most: float
    ) -> float:
        """What a kind takes at least beside a case; infinite from `most` on."""
        for option in sorted(
            self.made.options[kind], key=lambda o: o.watts if by_watts else o.cost
        ):
            taken = option.watts if by_watts else option.cost
            if taken >= most:
                return math.inf
            if self._stands(cards, {**chosen, kind: option}, kind):
                return taken
        return math.inf

    def _stands(self, cards: CardSet, chosen: dict[str, Option], kind: str) -> bool:
        """Say whether neither a relation nor a rule keeps a choice out that holds, cools or
        feeds."""
        if not self._relates(kind, chosen[kind], cards, chosen):
            return False
        seen, here = (CARDS, *chosen), [k for k in HOST_KINDS if k in chosen]
        for kinds, codes in rests_on().items():
            last = max((k for k in kinds if k != CARDS), key=HOST_KINDS.index, default="")
            asked = last == here[-1] == kind and all(k in seen for k in kinds)
            if asked and any(self._refuses_with(code, kinds, cards, chosen) for code in codes):
                return False
        return True

    def _gpus(self, cards: CardSet) -> list[tuple[GPU, int]]:
        found = [(self.catalog.get(part), many) for part, many in cards.kinds]
        return [(part, many) for part, many in found if isinstance(part, GPU)]

    def _card_watts(self, cards: CardSet) -> float:
        return sum(n * (cards.cap_w or gpu.tdp_w or 0.0) for gpu, n in self._gpus(cards))

    def _least_of(
        self, kind: str, cards: CardSet, chosen: dict[str, Option], by_watts: bool
    ) -> float:
        """What a kind costs (or draws) at least beside the choices that it is held against."""
        beside = RELATES_TO[kind]
        afford = cards.cost <= self.budget
        asked = (cards.kinds, cards.way, cards.cap_w, afford) if CARDS in beside else ()
        key = ("least", kind, by_watts, asked, *(chosen.get(k) for k in HOST_KINDS if k in beside))
        if key not in self._said:
            every = self.made.options[kind]
            some = (o for o in every if self._relates(kind, o, cards, chosen))
            self._said[key] = min((o.watts if by_watts else o.cost for o in some), default=math.inf)
        return float(self._said[key])

    def _relates(
        self, kind: str, option: Option, cards: CardSet, chosen: dict[str, Option]
    ) -> bool:
        """Say whether a choice goes with those before it as far as one look at the two tells."""
        part, many = self.catalog.get(option.part), option.quantity
        board = self.catalog.get(chosen["motherboard"].part) if "motherboard" in chosen else None
        if isinstance(part, Motherboard):
            return _slots(part) >= cards.count + self.question.growth
        if isinstance(part, CPU):
            cores = max(self.question.cores, 4 * cards.count)
            if part.cores is not None and many * part.cores < cores:
                return False
            if not isinstance(board, Motherboard) or not board.layout.sockets:
                return True
            sockets = board.layout.sockets
            return many == len(sockets) and (part.socket is None or part.socket in sockets)
        if isinstance(part, MemoryKit):
            if many * part.modules * part.module_gib < self._least_ram(cards):
                return False
            if not isinstance(board, Motherboard):
                return True
            taken = board.layout
            if taken.memory_slots and many * part.modules > taken.memory_slots:
                return False
            kinds = taken.memory_modules
            if part.module and kinds and not kind_suits(part.module, kinds):
                return False
            return taken.memory_type is None or part.type == taken.memory_type
        if isinstance(part, Cooler):
            cpu = self.catalog.get(chosen["cpu"].part) if "cpu" in chosen else None
            socket = cpu.socket if isinstance(cpu, CPU) else None
            return socket is None or not part.sockets or socket in part.sockets
        if isinstance(part, PowerSupply):
            case = self.catalog.get(chosen["chassis"].part) if "chassis" in chosen else None
            closed = isinstance(case, Chassis) and case.enclosure.airflow != "open"
            if many > 1 and closed:
                return False
            given = rating_w(part.supply, self.question.site)
            return given is None or many * given >= self._card_watts(cards)
        return True

    def _least_ram(self, cards: CardSet) -> float:
        """GiB that the cards have together, or that the works keep beside them."""
        key = ("ram", cards.kinds, cards.way, cards.cost <= self.budget)
        if key not in self._said:
            video = sum(n * (gpu.memory_gib or 0) * gpu.dies for gpu, n in self._gpus(cards))
            kept = 0.0
            leans = self._leans(cards)
            if leans and cards.cost <= self.budget:
                parts = {p.id: p for p in self._ideal.parts(cards, self.catalog, False)}
                items = (*self._items(cards, {}), *self._ideal.items(True))
                works = tuple(
                    on_cards(want, cards.count, cards.way) for want in self.question.wants
                )
                rig = replace(self._rig(items, works), snapshot=parts)
                machine = assemble(rig, self.catalog)
                jobs: Any = tuple(LateJob(n, work, machine) for n, work in enumerate(works))
                context = Context(rig=rig, catalog=self.catalog, machine=machine, jobs=jobs)
                kept = max((case.host_gib for case in offloading(context)), default=0.0)
            self._said[key] = max(video, kept)
        return float(self._said[key])

    def _leans(self, cards: CardSet) -> bool:
        key = ("leans", cards.kinds, cards.way)
        if key not in self._said:
            self._said[key] = leans_on_host(self.question, cards, self.catalog)
        return bool(self._said[key])

    def _parts(self, kind: str) -> list[Any]:
        return [self.catalog.get(option.part) for option in self.made.options[kind]]

    # rules and speeds, asked again

    def _rests_on(
        self, code: str, cards: CardSet, chosen: dict[str, Option]
    ) -> frozenset[str] | None:
        """Return the fewest kinds with which a rule refuses, None where it does not."""
        for kinds, codes in rests_on().items():
            if code not in codes or any(k != CARDS and k not in chosen for k in kinds):
                continue
            if self._refuses_with(code, kinds, cards, chosen):
                return frozenset(kinds)
        return None

    def _refuses_with(
        self, code: str, kinds: tuple[str, ...], cards: CardSet, chosen: dict[str, Option]
    ) -> bool:
        """Say whether a rule refuses the choices of these kinds."""
        part = {k: chosen[k] for k in kinds if k != CARDS}
        if code in OF_LOAD:
            part = self._sparing | part
        named = (cards.kinds, cards.cap_w, cards.bridge, cards.way) if CARDS in kinds else ()
        key = (code, named, *((o.part, o.quantity) for o in part.values()))
        if key not in self._said:
            self._said[key] = self._refused(code, cards if CARDS in kinds else None, part)
        return bool(self._said[key])

    def _twins(self, family: Family, kind: str) -> str | None:
        """Each choice of a family comes after another that is the same but for name and price, in
        the order of costs; so does each set of cards."""
        if kind:
            every = self.made.options[kind]
            lone = [every[n] for n in family.options if not self._earlier(kind)[every[n]]]
            return f"{lone[0].part} has no cheaper twin" if lone else None
        cards = self.made.sets[family.cards]
        return None if self._earlier("")[cards] else f"{cards.gpu} has no cheaper twin"

    def _earlier(self, kind: str) -> dict[Option | CardSet, bool]:
        """Of each choice of a kind ("": set of cards) whether one of its twins comes before it."""
        if ("earlier", kind) not in self._said:
            found: dict[Option | CardSet, bool] = {}
            seen: set[object] = set()
            others: dict[str, Any] = {"": self.made.sets, "system": self.made.machines}
            every: list[Option | CardSet] = [*others.get(kind, self.made.options.get(kind, ()))]
            named = [(e.part if isinstance(e, Option) else e.gpu) for e in every]
            order = sorted(range(len(every)), key=lambda n: (every[n].cost, named[n]))
            for n in order:
                one, part = every[n], self.catalog.get(named[n])
                spec = spec_of(part) if part is not None else ()
                more: tuple[object, ...] = (
                    (one.quantity,)
                    if isinstance(one, Option)
                    else (one.count, one.way, one.cap_w, one.bridge, one.others)
                )
                if isinstance(one, CardSet) and (other := self.catalog.get(one.other)) is not None:
                    more = (*more, spec_of(other))
                found[one] = (spec, *more) in seen
                seen.add((spec, *more))
            self._said[("earlier", kind)] = found
        kept: dict[Option | CardSet, bool] = self._said[("earlier", kind)]
        return kept

    def _caseless(self, cards: CardSet) -> bool:
        """Say whether a rule refuses each case of the space for these cards alone."""
        twin = self._earlier("chassis")
        cases = [case for case in self.made.options["chassis"] if not twin[case]]
        return bool(cases) and all(
            any(self._refused(code, cards, {"chassis": case}) for code in rests_on()[IN_CASE])
            for case in cases
        )

    def _refused(self, code: str, cards: CardSet | None, chosen: dict[str, Option]) -> bool:
        one = cards or CardSet("", 0, 0.0)
        items = self._items(one, chosen)
        more = self.question.growth if code.startswith(("SLT", "GPU")) and cards else 0
        tries = [items]
        if more:
            bare = replace(one, count=one.count + more, bridge="", bridges=0)
            tries.append(self._items(bare, chosen))
        works = tuple(on_cards(want, one.count, one.way) for want in self.question.wants)
        for some in tries:
            context = self._context(some, works if cards else ())
            found = judged(RULES_BY_CODE[code], context)[0]
            if any(refuses(finding, self.made.strictness) for finding in found):
                return True
        return False

    def _context(self, items: tuple[Item, ...], works: Any) -> Context:
        """What rules look at in a rig of some parts; that of the last parts is kept: their rules
        are asked one after the other."""
        if self._last[0] != (items, works):
            rig = self._rig(items, works)
            machine: Any = put_together(rig, self.catalog)
            jobs: Any = tuple(LateJob(n, work, machine) for n, work in enumerate(works))
            context = Context(
                rig=rig,
                catalog=self.catalog,
                machine=machine,
                jobs=jobs,
                today=self.made.day,
                advise=False,
            )
            self._last = (items, works), context
        kept: Context = self._last[1]
        return kept

    @cached_property
    def _sparing(self) -> dict[str, Option]:
        """Memory, drive, case and cooler that no others undercut in what they draw."""
        spare = ("memory", "storage", "chassis", "cooler")
        every = {kind: self.made.options[kind] for kind in spare}
        return {
            kind: min(options, key=lambda option: (option.watts, option.cost, option.part))
            for kind, options in every.items()
            if options
        }

    @cached_property
    def _ideal(self) -> Any:
        space = Space(
            options=self.made.options, sets=self.made.sets, machines=self.made.machines, left_out={}
        )
        return ideal_host(space, self.catalog)

    def _speed(self, cards: CardSet, chosen: dict[str, Option]) -> Score | str:
        """Return what cards do at most with these choices of a board and a processor, else with
        any."""
        sits = "motherboard" in chosen and "cpu" in chosen
        if "motherboard" in chosen and not sits and self._leans(cards):
            return self._on_socket(cards, chosen)
        named = (cards.kinds, cards.way, cards.cap_w, cards.bridge)
        key = ("speed", named, *((chosen["motherboard"], chosen["cpu"]) if sits else ()))
        key = (*key, *(chosen[kind] for kind in ("memory", "storage") if kind in chosen))
        if key not in self._said:
            self._said[key] = self._sits(cards, chosen) if sits else self._free(cards)
        found: Score | str = self._said[key]
        return found

    def _free(self, cards: CardSet) -> Score | str:
        best: Score | str = "not-predicted"
        leans = self._leans(cards)
        for own_roots in (False, True):
            rig = self._in_ideal(cards, self._ideal, own_roots, leans)
            score = score_of(self.question, assemble(rig, self.catalog), cards.way, self.strictness)
            if isinstance(score, Score):
                found = assess(rig, self.catalog, self.made.day).report.findings
                if any(f.code in OF_WORK and refuses(f, self.made.strictness) for f in found):
                    return "work"
                if not isinstance(best, Score) or score.value > best.value:
                    best = score
            elif not isinstance(best, Score):
                best = score
        if isinstance(best, Score) and leans:
            some = [o for o in self.made.options["cpu"] if self._relates("cpu", o, cards, {})]
            other = self._by_cores(cards, self._ideal, some)
            return other if isinstance(other, Score) and other.value > best.value else best
        return best

    def _in_ideal(self, cards: CardSet, host: Any, own_roots: bool, furnished: bool) -> Rig:
        """The rig of these cards in a host that does not exist."""
        parts = {p.id: p for p in host.parts(cards, self.catalog, own_roots)}
        works = tuple(on_cards(want, cards.count, cards.way) for want in self.question.wants)
        items = (*self._items(cards, {}), *host.items(furnished))
        return replace(self._rig(items, works), snapshot=parts)

    def _by_cores(self, cards: CardSet, host: Any, options: list[Option]) -> Score | str:
        machines = [
            assemble(self._in_ideal(cards, host, own_roots, True), self.catalog)
            for own_roots in (False, True)
        ]

        def score(cores: int) -> Score | str:
            found: Score | str = "not-predicted"
            for machine in machines:
                some = with_cores(machine, cores)
                told = score_of(self.question, some, cards.way, self.strictness)
                value = told.value if isinstance(told, Score) else -1.0
                if value >= (found.value if isinstance(found, Score) else -1.0):
                    found = told
            return found

        return most_by_cores(cores_of(options, self.catalog), score, len(self.question.wants))

    def _on_socket(self, cards: CardSet, chosen: dict[str, Option]) -> Score | str:
        board = self.catalog.get(chosen["motherboard"].part)
        assert isinstance(board, Motherboard)
        kind = (board.layout.sockets, board.layout.memory_type)
        key = ("socket", cards.kinds, cards.way, cards.cap_w, cards.bridge, kind)
        if key not in self._said:
            some = {
                kind: [o for o in self.made.options[kind] if self._relates(kind, o, cards, chosen)]
                for kind in ("cpu", "memory")
            }
            parts = {kind: [self.catalog.get(o.part) for o in some[kind]] for kind in some}
            host = host_of_socket(
                self._ideal,
                [part for part in parts["cpu"] if isinstance(part, CPU)],
                [part for part in parts["memory"] if isinstance(part, MemoryKit)],
            )
            self._said[key] = self._by_cores(cards, host, some["cpu"])
        told: Score | str = self._said[key]
        return told

    def _sits(self, cards: CardSet, chosen: dict[str, Option]) -> Score | str:
        free = self._free_of(cards)
        if isinstance(free, str):
            return free
        leans = self._leans(cards)
        kinds = ("motherboard", "cpu", "memory", "storage")[: 4 if leans else 2]
        some = {k: chosen[k] for k in kinds if k in chosen}
        items, parts = self._items(cards, some), {}
        if leans and "memory" in some and "storage" not in some:
            items, parts = (*items, FURNITURE[1]), {self._ideal.drive.id: self._ideal.drive}
        if leans and "memory" not in some:
            cpu = self.catalog.get(chosen["cpu"].part)
            assert isinstance(cpu, CPU)
            every = self.made.options["memory"]
            related = (o for o in every if self._relates("memory", o, cards, some))
            kits = [self.catalog.get(option.part) for option in related]
            kit = memory_for(cpu, [k for k in kits if isinstance(k, MemoryKit)])
            drive = self._ideal.drive
            parts = {MEMORY: kit, drive.id: drive}
            items += (Item(uid="memory", part=MEMORY, quantity=some["cpu"].quantity), FURNITURE[1])
        rig = replace(self._rig(items), snapshot=parts)
        score = score_of(self.question, assemble(rig, self.catalog), cards.way, self.strictness)
        return free if isinstance(score, Score) and score.value > free.value else score

    def _free_of(self, cards: CardSet) -> Score | str:
        return self._speed(cards, {})

    def _alike(self, family: Family, kind: str) -> str | None:
        """The choices of a family take no less than one that was looked at, whose rigs were all
        left out for reasons that do not rest on the choice."""
        every, at = self.made.options[kind], len(family.chosen)
        measure = "watts" if self.question.objective == "least-watts" else "cost"
        least = min(getattr(every[n], measure) for n in family.options)
        here = self._here[(family.cards, family.chosen)]
        deeper = {f.chosen[at] for f in self._under.get((family.cards, family.chosen), [])
                  if len(f.chosen) > at}  # fmt: skip
        singles = {n for f in here if f.reason not in ("relation", "sibling") for n in f.options}
        for looked in sorted(deeper | singles):
            if getattr(every[looked], measure) > least:
                continue
            told = [f for f in here if looked in f.options]
            told += self._under.get((family.cards, (*family.chosen, looked)), [])
            if not any(kind in self._reasons(other, at, looked) for other in told):
                return None
        return f"no {kind} before them was left out for all of them"

    @cached_property
    def _here(self) -> dict[tuple[int, tuple[int, ...]], list[Family]]:
        found: dict[tuple[int, tuple[int, ...]], list[Family]] = {}
        for family in self.made.families:
            found.setdefault((family.cards, family.chosen), []).append(family)
        return found

    @cached_property
    def _under(self) -> dict[tuple[int, tuple[int, ...]], list[Family]]:
        found: dict[tuple[int, tuple[int, ...]], list[Family]] = {}
        for family in self.made.families:
            for at in range(len(family.chosen) + 1):
                found.setdefault((family.cards, family.chosen[:at]), []).append(family)
        return found

    def _dear_at_any_speed(
        self, family: Family, sibling: int, at: int, by_budget: bool = True
    ) -> bool:
        """Say whether each choice of a family takes too much, however fast it were; `by_budget`:
        or costs more than there is."""
        kind = HOST_KINDS[len(family.chosen)] if family.options else ""
        cards = self.made.sets[family.cards]
        chosen = dict(zip(HOST_KINDS, self._options(family.chosen), strict=False))
        numbers = (sibling,) if len(family.chosen) == at and kind else family.options
        some = [chosen | {kind: self.made.options[kind][n]} for n in numbers] or [chosen]
        by_watts = self.question.objective == "least-watts"
        return all(
            (by_budget and self._least(cards, one, False) > self.budget + EQUAL)
            or self._hopeless(math.inf, self._least(cards, one, by_watts))
            for one in some
        )

    def _reasons(self, family: Family, at: int, sibling: int) -> frozenset[str]:
        """Return the kinds that the reason of a family rests on."""
        if family.whole:
            return frozenset((CARDS, *HOST_KINDS))
        if family.reason in ("sibling", "twin"):
            return frozenset()
        if family.reason == "relation":
            return RELATES_TO[HOST_KINDS[len(family.chosen)]]
        housed: frozenset[str] = frozenset()
        if family.reason in ("price", NO_HOUSING) and HOST_KINDS[len(family.chosen)] in (
            "chassis",
            "cooler",
        ):
            housed = frozenset(("chassis",))
        if family.reason == NO_HOUSING:
            return SITS | housed
        watts = self.question.objective == "least-watts"
        if family.reason == "price" and self._dear_at_any_speed(family, sibling, at, not watts):
            return SITS | housed
        if family.reason == "price" and watts:
            return frozenset((CARDS, *HOST_KINDS[: len(family.chosen) + 1]))
        chosen = dict(zip(HOST_KINDS, self._options(family.chosen), strict=False))
        kind = HOST_KINDS[len(family.chosen)]
        number = sibling if len(family.chosen) == at else family.options[0]
        chosen[kind] = self.made.options[kind][number]
        cards = self.made.sets[family.cards]
        found = self._rests_on(family.reason, cards, chosen)
        if found is not None:
            return found
        if len(family.chosen) < 2 or not self._leans(cards):
            return SITS | housed
        if "storage" not in chosen:
            return SITS | {"memory"}
        measure = 0.0
        if family.reason == "price":
            measure = self._least(cards, chosen, self.question.objective == "least-watts")
        fastest = {k: option for k, option in chosen.items() if k != "storage"}
        ceiling = self._speed(cards, fastest)
        slow = isinstance(ceiling, str) or (
            family.reason in ("speed", "price") and self._hopeless(ceiling.value, measure)
        )
        return (SITS | {"memory"} if slow else SITS | {"memory", "storage"}) | housed


def _other(name: str, asked: tuple[Any, ...], made: tuple[Any, ...]) -> Iterator[str]:
    """Name a choice that the question asks for and nobody looked at, or the other way round."""
    if asked == made:
        return
    one = next(iter(set(asked) ^ set(made)), None)
    which = getattr(one, "part", getattr(one, "gpu", "another order"))
    yield f"{name}: not the choices of this question and catalog ({which})"


def _slots(board: Motherboard) -> int:
    return sum(slot.kind == "pcie" for slot in board.layout.slots)
