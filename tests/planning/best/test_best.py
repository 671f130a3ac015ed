"""The best rig: as good as trying every rig says, whole proofs, and certificates that a program of
its own can check."""

import math
from collections.abc import Callable
from functools import cache

import pytest
from msgspec.structs import asdict, replace

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.schema.parts import GPU, Price, kind_of
from rigplanner.planning.best.answer import Answer, Seeker, best_rig
from rigplanner.planning.best.certificate import Certificate, as_json
from rigplanner.planning.best.choices import with_used_parts
from rigplanner.planning.best.goals import near
from rigplanner.planning.best.question import Question, Want
from rigplanner.planning.best.reads import refuses, rests_on
from rigplanner.planning.best.score import Score, leans_on_host
from rigplanner.planning.best.space import HOST_KINDS, CardSet
from rigplanner.planning.best.verify import read_certificate, verify
from rigplanner.report.words.best import beside_texts, excluded_text
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess
from tools.campaign.small_catalogs import (
    PLATFORMS,
    POOL,
    SITES,
    TODAY,
    WORKS,
    best_of,
    every_rig,
    mixed_case,
    owner_case,
    random_case,
)

ENUMERATED = (*range(8), 8000)
"""Catalogs of which every rig is tried; the campaign tries five hundred. In 8000 a case decides how
many supplies there may be."""
CERTIFIED = range(40)
OWNERS = (330, 302)
"""Catalogs with an owned card: in the first it stands beside another one in the best rig."""
FED_FROM_ABOVE = ("antec.c8.c8", "cooler-master.masterbox.q300l")


@cache
def answered(seed: int, budget: float | None = -1.0) -> Answer:
    catalog, question = random_case(seed)
    seeker = Seeker(question, catalog, TODAY)
    *_, answer = seeker.answers(question.budget if budget == -1.0 else budget, True)
    return answer


def first_seeds(suits: Callable[[int], bool], many: int = 1) -> list[int]:
    """The first cases of which something holds."""
    found = [seed for seed in CERTIFIED if suits(seed)][:many]
    assert len(found) == many
    return found


def fastest_up_to(seed: int, budget: float) -> Answer:
    catalog, question = random_case(seed)
    seeker = Seeker(replace(question, objective="fastest"), catalog, TODAY)
    *_, answer = seeker.answers(budget)
    return answer


def has_cards(seed: int) -> bool:
    top = fastest_up_to(seed, 9000.0).top
    return top is not None and top.cards is not None and top.cards.count > 0


@pytest.mark.parametrize("seed", ENUMERATED)
def test_the_answer_is_that_of_trying_every_rig(seed: int) -> None:
    catalog, question = random_case(seed)
    best = best_of(list(every_rig(catalog, question)), question.objective)
    found = answered(seed).best
    assert (best is None) == (found is None)
    if best is None or found is None:
        return
    if question.objective == "per-money":
        assert found.score.value / found.price == pytest.approx(best[2] / best[0], rel=1e-6)
    elif question.objective == "least-watts":
        assert found.watts == pytest.approx(best[1])
    else:
        assert found.price == pytest.approx(best[0])


@pytest.mark.parametrize("seed", OWNERS)
def test_a_card_beside_an_owned_one_of_another_kind_is_tried_with_every_other_rig(
    seed: int,
) -> None:
    catalog, question = owner_case(seed)
    *_, answer = Seeker(question, catalog, TODAY).answers(question.budget, True)
    tried = best_of(list(every_rig(catalog, question)), question.objective)
    assert any(cards.other for cards in Seeker(question, catalog, TODAY).space.sets)
    assert answer.best is not None and tried is not None and answer.certificate is not None
    assert answer.best.score.value == pytest.approx(tried[2])
    assert answer.best.price == pytest.approx(tried[0])
    assert verify(answer.certificate, catalog).faults == ()
    cards = answer.best.cards
    assert (seed != OWNERS[0]) or (cards is not None and len(cards.kinds) == 2)


@pytest.mark.parametrize("seed", CERTIFIED)
def test_every_certificate_holds_and_counts_every_rig_once(seed: int) -> None:
    catalog, _ = random_case(seed)
    answer = answered(seed)
    assert sum(answer.counts.values()) == answer.total
    assert answer.certificate is not None
    again = read_certificate(as_json(answer.certificate))
    assert verify(again, catalog).faults == ()


def test_no_rig_has_an_error_or_a_deciding_unknown_and_none_exceeds_the_budget() -> None:
    some = 0
    for seed in CERTIFIED:
        catalog, question = random_case(seed)
        if (best := answered(seed).best) is None:
            continue
        some += 1
        found = assess(best.rig, catalog, TODAY)
        assert not any(refuses(each, "sound") for each in found.report.findings)
        assert found.report.count("error") == 0
        assert found.totals.total == pytest.approx(best.price, abs=0.01)
        assert best.price <= (question.budget or math.inf)
    assert some >= 12


def test_the_same_question_has_the_same_answer() -> None:
    for seed in (6, 9):
        catalog, question = random_case(seed)
        *_, again = Seeker(question, catalog, TODAY).answers(question.budget, True)
        assert again == answered(seed)


def test_a_larger_budget_is_never_slower_and_a_missing_winner_never_better() -> None:
    catalog, question = random_case(first_seeds(has_cards)[0])
    question = replace(question, objective="fastest")
    whole = Seeker(question, catalog, TODAY)
    last = 0.0
    for budget in (1500.0, 2000.0, 2600.0, 4000.0, 9000.0):
        *_, answer = whole.answers(budget)
        if answer.top is not None:
            assert answer.top.score.value >= last * (1 - 1e-9)
            last = answer.top.score.value
    assert last > 0
    assert answer.top is not None and answer.top.cards is not None
    parts = {k: p for k, p in catalog.parts.items() if k != answer.top.cards.gpu}
    *_, less = Seeker(question, replace(catalog, parts=parts), TODAY).answers(9000.0)
    assert less.top is None or less.top.score.value <= last


def with_twins(catalog: Catalog, factor: float) -> Catalog:
    """Return a catalog that has each part once more, under another name and at another price."""
    twins = {
        f"{part.id}-twin": replace(
            part,
            id=f"{part.id}-twin",
            name=f"{part.name} again",
            prices=tuple(replace(p, amount=round(factor * p.amount, 2)) for p in part.prices),
        )
        for part in catalog.parts.values()
    }
    return replace(catalog, parts={**catalog.parts, **twins})


@pytest.mark.parametrize("factor", [1.3, 0.9])
def test_twins_of_a_part_are_left_out_unless_they_cost_less(factor: float) -> None:
    for seed in first_seeds(lambda seed: answered(seed).best is not None, 3):
        catalog, question = random_case(seed)
        question = replace(question, objective="cheapest", budget=None)
        doubled = with_twins(catalog, factor)
        *_, alone = Seeker(question, catalog, TODAY).answers(None, True)
        *_, found = Seeker(question, doubled, TODAY).answers(None, True)
        assert alone.best is not None and found.best is not None and found.certificate is not None
        # Prices of classes go to their newest row, those of twins too: no dearer twin is better.
        assert found.best.price <= alone.best.price + 0.01
        if factor < 1:
            assert found.best.price < alone.best.price
        assert found.counts["twin"] > found.total / 3
        assert sum(found.counts.values()) == found.total
        assert verify(found.certificate, doubled).faults == ()


@pytest.mark.parametrize(("reason", "said"), [("twin", "twin"), ("no-case", "a case takes")])
def test_cards_cannot_be_left_out_for_what_does_not_hold(reason: str, said: str) -> None:
    catalog, _ = random_case(CERTIFIED[0])
    certificate = answered(CERTIFIED[0]).certificate
    assert certificate is not None
    families = tuple(
        replace(family, reason=reason)
        if not (family.whole or family.options or family.chosen)
        else family
        for family in certificate.families
    )
    assert families != certificate.families
    assert any(
        said in fault for fault in verify(replace(certificate, families=families), catalog).faults
    )


def test_cards_that_no_case_cools_are_left_out_whole() -> None:
    catalog, question = random_case(first_seeds(has_cards)[0])
    shipped, price = shipped_catalog(), next(iter(catalog.parts.values())).prices
    parts = {
        name: part
        for name, part in catalog.parts.items()
        if kind_of(part) not in ("gpu", "chassis")
    }
    for name in ("nvidia.datacenter.l4", *FED_FROM_ABOVE):
        parts[name] = replace(shipped.parts[name], prices=price)
    small = replace(catalog, parts=parts)
    question = replace(question, wants=question.wants[:1], objective="cheapest", budget=None)
    *_, answer = Seeker(question, small, TODAY).answers(None, True)
    assert answer.counts["no-case"] > 0
    assert answer.certificate is not None and verify(answer.certificate, small).faults == ()


def at_one_price(*names: str) -> Catalog:
    """The shipped parts of these names, each for 100 USD."""
    shipped = shipped_catalog()
    price = Price(amount=100.0, currency="USD", day=TODAY, source="A shop")
    parts = {name: replace(shipped.parts[name], prices=(price,)) for name in names}
    return replace(shipped, parts=parts)


@pytest.mark.parametrize("case", ["aaawave.sluice.sluice-v2-12-gpu", "antec.c8.c8"])
def test_two_supplies_feed_what_one_does_not_in_an_open_frame_alone(case: str) -> None:
    board, cpus, kits, cooler = PLATFORMS[0]
    catalog = at_one_price(
        board, cpus[0], kits[0], cooler, POOL["storage"][0], case,
        "nvidia.geforce.rtx-3090", "cooler-master.mwe-gold.850-v2",
    )  # fmt: skip
    question = Question(wants=(Want(workload=WORKS[0]),), site=SITES[1], least_cards=2)
    *_, answer = Seeker(question, catalog, TODAY).answers(None, True)
    if case != "antec.c8.c8":
        assert answer.best is not None and answer.best.choices["psu"].quantity == 2
    else:
        assert answer.best is None
    assert answer.certificate is not None and verify(answer.certificate, catalog).faults == ()


def one_card(gpu: str) -> Catalog:
    board, cpus, kits, cooler = PLATFORMS[0]
    return at_one_price(
        board, cpus[0], kits[0], cooler, POOL["storage"][0], FED_FROM_ABOVE[0], gpu,
        "nzxt.c.c1200-gold",
    )  # fmt: skip


def test_tight_memory_counts_where_nothing_surely_holds_the_work_and_no_cpu_trains() -> None:
    """An 8B model by QLoRA takes 12 to 16 GiB: a card of 24 GB surely holds it, one of 16 may."""
    question = Question(wants=(Want(workload=WORKS[1]),), site=SITES[1])
    for gpu, strictness in (
        ("nvidia.geforce.rtx-3090", "sound"),
        ("asus.dual.rtx-5060-ti-16gb-oc", "tight"),
    ):
        catalog = one_card(gpu)
        answer = best_rig(question, catalog, TODAY, True)
        assert answer.best is not None and answer.certificate is not None
        assert answer.strictness == strictness
        assert answer.best.score.tight == (strictness == "tight")
        assert answer.best.cards is not None and answer.best.cards.count
        assert verify(answer.certificate, catalog).faults == ()
    alone = replace(catalog, parts={k: p for k, p in catalog.parts.items() if k != gpu})
    none = best_rig(question, alone, TODAY, True)
    assert none.best is None and "no-card" in none.counts


@pytest.mark.parametrize(
    ("gpu", "precision", "leans"),
    [
        ("nvidia.geforce.rtx-3090", "bf16", False),
        ("nvidia.geforce.rtx-3090", "q4_k_m", True),
        ("nvidia.geforce.gt-710", "bf16", True),
    ],
)
def test_a_work_that_people_run_from_ram_on_a_card_leans_on_the_host(
    gpu: str, precision: str, leans: bool
) -> None:
    """No stack is named: format and card decide whether one runs it that keeps layers in RAM."""
    work = Workload(model="llama-3.3-70b", task="serve", precision=precision)
    asked = Question(wants=(Want(workload=work),))
    assert leans_on_host(asked, CardSet(gpu, 1, 0.0), shipped_catalog()) == leans


@pytest.mark.parametrize("seed", [101, 111])
def test_two_kinds_of_card_do_no_more_than_as_many_of_the_faster_one(seed: int) -> None:
    catalog, question = mixed_case(seed)
    bounds = Seeker(replace(question, budget=None), catalog, TODAY).search.bounds
    mixed = [cards for cards in bounds.space.sets if cards.other]
    assert mixed
    for cards in mixed:
        ceiling, roof = bounds.ceiling(cards), bounds.roof(cards)
        assert isinstance(ceiling, Score) and isinstance(roof, float)
        assert ceiling.value <= roof * (1 + 1e-9)


def test_a_known_pair_rests_on_the_kinds_that_it_names() -> None:
    named = {kinds for kinds, codes in rests_on().items() if "KNO001" in codes}
    assert named and all(kinds in named for kinds in (("motherboard", "cpu"), ("cpu", "cooler")))
    assert ("motherboard", "cpu", "memory") in named


def test_memory_that_a_work_keeps_in_ram_bounds_the_kits() -> None:
    """An 8B model lies on a card of 24 GB, a 70B model mostly beside it."""
    catalog, _ = random_case(first_seeds(has_cards)[0])
    asked = []
    for work in WORKS[2:4]:
        seeker = Seeker(Question(wants=(Want(workload=work),)), catalog, TODAY)
        cards = next(each for each in seeker.space.sets if each.count == 1)
        asked.append(seeker.search.bounds.least_ram(cards))
    gpu = seeker.judge.gpu(cards)
    assert gpu is not None and gpu.memory_gib is not None
    assert asked[0] == gpu.memory_gib and 40 - gpu.memory_gib < asked[1] < 50


def broken(certificate: Certificate, how: str) -> Certificate:
    claim = certificate.claim
    assert claim is not None
    if how == "price":
        return replace(certificate, claim=replace(claim, price=claim.price - 50))
    if how == "a family less":
        return replace(certificate, families=certificate.families[1:])
    if how == "another rig":
        return replace(certificate, claim=replace(claim, chosen=(0, *claim.chosen[1:-1], 1)))
    if how == "a part draws more":
        first, *others = certificate.options["chassis"]
        cases = (replace(first, watts=first.watts + 400), *others)
        return replace(certificate, options={**certificate.options, "chassis": cases})
    if how == "a top that nothing reaches":
        return replace(certificate, claim=replace(claim, top=claim.top * 100))
    if how == "a top that is not there":
        return replace(certificate, claim=replace(claim, top_chosen=(10**6, *claim.top_chosen[1:])))
    if how == "a part was forgotten":
        machines = certificate.machines
        sets = certificate.sets[:-1]
        families = tuple(f for f in certificate.families if f.cards < len(sets))
        below = math.prod(len(certificate.options[kind]) for kind in HOST_KINDS)
        total = len(sets) * below + len(machines)
        return replace(certificate, sets=sets, families=families, total=total)
    if how == "total":
        return replace(certificate, total=certificate.total + 1)
    if how == "slower rig is claimed":
        return replace(certificate, claim=replace(claim, top=claim.top * 0.5))
    kinds = {
        "too large": ("speed", "memory"),
        "refused by a rule": ("speed", "PWR006"),
    }[how]
    families = tuple(
        replace(family, reason=kinds[1]) if family.reason == kinds[0] else family
        for family in certificate.families
    )
    return replace(certificate, families=families)


@pytest.mark.parametrize(
    "how",
    ["price", "a part draws more", "a family less", "another rig", "total", "slower rig is claimed", "too large",
     "refused by a rule", "a top that nothing reaches", "a top that is not there", "a part was forgotten"],
)  # fmt: skip
def test_a_certificate_that_was_changed_does_not_hold(how: str) -> None:
    seed = next(
        n
        for n in CERTIFIED
        if random_case(n)[1].objective == "fastest"
        and answered(n).best is not None
        and answered(n).counts.get("speed")
    )
    catalog, _ = random_case(seed)
    certificate = answered(seed).certificate
    assert certificate is not None
    assert verify(broken(certificate, how), catalog).faults


def test_a_rig_that_is_slower_by_less_than_runs_differ_is_as_fast() -> None:
    top = Score(value=1.0, low=0.6, high=1.0, speeds=(), works=())
    assert near(top, replace(top, value=0.995, high=0.995))
    assert not near(top, replace(top, value=0.95, high=0.95))
    assert near(top, replace(top, value=0.95, high=1.1))


def test_a_search_that_is_stopped_says_how_far_the_best_may_be_off() -> None:
    catalog, question = random_case(first_seeds(has_cards)[0])
    question = replace(question, objective="fastest")
    steps = [0]

    def counted() -> bool:
        steps[0] += 1
        return True

    *_, whole = Seeker(question, catalog, TODAY, go_on=counted).answers(question.budget)
    assert whole.gap is None
    gaps = []
    for share in (0.2, 0.5, 0.9):
        calls = iter(range(10**9))
        most = int(share * steps[0])
        seeker = Seeker(question, catalog, TODAY, go_on=lambda: next(calls) < most)  # noqa: B023
        *_, answer = seeker.answers(question.budget)
        assert answer.gap is not None and answer.gap >= 0
        if answer.best is not None and whole.top is not None and answer.gap < math.inf:
            reach = answer.best.score.value * (1 + answer.gap) * (1 + 1e-9)
            assert whole.top.score.value <= reach or answer.gap == 0.0
        assert not any("buys nothing" in text for text in beside_texts(answer))
        gaps.append(answer.gap)
    assert gaps[0] >= gaps[-1]


def test_every_cause_that_leaves_rigs_out_has_words() -> None:
    causes = {cause for seed in CERTIFIED for cause in answered(seed).counts}
    causes |= {"twin", "no-case", "stack", "target", "unproven", "role", "memory"}
    assert {cause for cause in causes if excluded_text(cause) == cause} == set()


@pytest.mark.parametrize(("slower", "strictness"), [(1.0, "sound"), (0.2, "tight")])
def test_tight_memory_wins_where_it_gives_more_than_twice_as_much(
    slower: float, strictness: str
) -> None:
    """A card of 24 GB surely holds the work, one of 16 may: the surer one loses where it is made
    far slower."""
    sure, other = "nvidia.geforce.rtx-3090", "asus.dual.rtx-5060-ti-16gb-oc"
    catalog = one_card(sure)
    card = catalog.get(sure)
    assert isinstance(card, GPU)
    rates = {k: v * slower for k, v in asdict(card.dense_tflops).items() if v}
    weak = replace(
        card,
        bandwidth_gbs=(card.bandwidth_gbs or 0.0) * slower,
        dense_tflops=replace(card.dense_tflops, **rates),
    )
    parts = {**catalog.parts, **one_card(other).parts, sure: weak}
    catalog = replace(catalog, parts=parts)
    question = Question(wants=(Want(workload=WORKS[1]),), site=SITES[1], most_cards=1)
    answer = best_rig(question, catalog, TODAY, True)
    assert answer.strictness == strictness and (answer.sure is not None) == (strictness == "tight")
    assert answer.best is not None and answer.certificate is not None
    assert verify(answer.certificate, catalog).faults == ()
    if answer.sure is not None:
        assert answer.best.score.value > 2 * answer.sure.score.value
        stricter = answer.certificate.stricter
        assert stricter is not None and stricter.claim is not None
        claim = replace(stricter.claim, score=answer.best.score.value)
        false = replace(answer.certificate, stricter=replace(stricter, claim=claim))
        assert any("stricter" in fault for fault in verify(false, catalog).faults)


def test_where_a_part_that_must_be_in_it_has_no_price_there_is_no_rig_and_that_is_proven() -> None:
    catalog = one_card("nvidia.geforce.rtx-3090")
    supply = catalog.get("nzxt.c.c1200-gold")
    assert supply is not None
    catalog = replace(catalog, parts={**catalog.parts, supply.id: replace(supply, prices=())})
    question = Question(wants=(Want(workload=WORKS[1]),), site=SITES[1], pinned=(supply.id,))
    answer = best_rig(question, catalog, TODAY, True)
    assert answer.best is None and answer.total == 0 and answer.certificate is not None
    assert verify(answer.certificate, catalog).faults == ()


def test_used_parts_are_named_where_they_surely_give_more() -> None:
    """A question is of new parts unless it says otherwise, and the fast card is sold used only."""
    slow, fast = one_card("nvidia.geforce.rtx-3060"), one_card("nvidia.geforce.rtx-3090")
    card = fast.parts["nvidia.geforce.rtx-3090"]
    used = replace(card, prices=tuple(replace(each, condition="used") for each in card.prices))
    catalog = replace(slow, parts={**slow.parts, card.id: used})
    question = Question(wants=(Want(workload=WORKS[0]),), site=SITES[1])
    seeker = Seeker(question, catalog, TODAY)
    *_, answer = seeker.answers(None)
    assert answer.best is not None and answer.best.cards is not None
    assert answer.best.cards.gpu == "nvidia.geforce.rtx-3060"
    other = with_used_parts(seeker, answer)
    assert other is not None and other.best is not None and other.best.cards is not None
    assert other.best.cards.gpu == card.id
    assert with_used_parts(seeker.asking(replace(question, used=True)), other) is None
