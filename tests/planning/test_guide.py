"""The guide: its proposals are judged by the rules, hold what they promise, and keep to the
budget."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.planning.aims import AIMS, USUAL_AIM, Purpose
from rigplanner.planning.guide import Advice, Answers, advise, advising, hours_against
from rigplanner.planning.host import Market, Need, bases, wide_slots
from rigplanner.report.format import number
from rigplanner.report.words import guide as words
from rigplanner.rig.document import Site
from rigplanner.rules.assess import assess

TODAY = "2026-11-21"
AIM = "train-resnet50"
HOME = Site(country="DE", volts=230.0, breaker_a=16.0)
SHORT = (
    "nvidia.tesla.t4",
    "nvidia.geforce.rtx-5050",
    "nvidia.geforce.rtx-5060-ti-16gb",
    "nvidia.geforce.rtx-5090",
    "nvidia.geforce.gtx-1080-ti",
)
"""Cards enough to choose from, so that a search takes little."""


@pytest.fixture(scope="module")
def shop(catalog: Catalog) -> Catalog:
    parts = {i: p for i, p in catalog.parts.items() if not isinstance(p, GPU) or i in SHORT}
    return replace(catalog, parts=parts)


@pytest.fixture(scope="module")
def advice(shop: Catalog) -> Advice:
    return advise(Answers(purpose="kaggle", aim=AIM, budget=2500, site=HOME), shop, TODAY)


def test_every_aim_names_a_model_of_the_zoo_and_has_words() -> None:
    for purpose, aims in AIMS.items():
        assert USUAL_AIM[purpose] in {aim.code for aim in aims}
        for aim in aims:
            assert aim.workload.model in shipped_zoo().models
            assert words.aim_title(aim.code)


def test_a_proposal_has_no_errors_a_whole_price_and_keeps_to_the_budget(
    advice: Advice, shop: Catalog
) -> None:
    best = advice.best
    assert best is not None
    again = assess(best.rig, shop, TODAY)
    assert again.report.count("error") == 0
    assert not again.totals.unpriced
    assert not again.totals.foreign
    assert again.totals.total == best.total <= 2500


def test_the_aim_runs_and_only_what_runs_becomes_a_workload(advice: Advice) -> None:
    assert advice.best is not None
    runs = {ability.aim.code: ability.runs for ability in advice.best.abilities}
    assert runs[advice.aim.code] == "yes"
    assert len(advice.best.rig.workloads) == sum(state == "yes" for state in runs.values())


def test_every_item_has_a_reason_in_words(advice: Advice, shop: Catalog) -> None:
    assert advice.best is not None
    rows = words.item_rows(advice.best, shop)
    assert len(rows) == len(advice.best.rig.items)
    assert all(reason and "{" not in reason for _, _, reason in rows)


def test_a_card_without_a_price_of_today_is_not_proposed(advice: Advice) -> None:
    found = [proposal for proposal in (advice.best, advice.cheapest) if proposal]
    assert all(
        item.part != "nvidia.geforce.gtx-1080-ti"
        for proposal in found
        for item in proposal.rig.items
    )
    assert advice.passed_over["not-todays"] >= 1


def test_a_budget_that_does_not_reach_names_the_least_money_and_machines_for_hire(
    shop: Catalog,
) -> None:
    poor = advise(Answers(purpose="kaggle", aim=AIM, budget=300, site=HOME), shop, TODAY)
    assert poor.best is None
    assert poor.cheapest is not None
    assert poor.cheapest.total > 300
    assert poor.rented
    assert number(poor.cheapest.total, 2) in words.headline(poor)


def test_more_money_never_buys_a_worse_rig(shop: Catalog) -> None:
    worth = []
    for budget in (1300, 2500, 6000):
        best = advise(
            Answers(purpose="kaggle", aim=AIM, budget=budget, site=HOME), shop, TODAY
        ).best
        assert best is not None
        speed = next(each.speed for each in best.abilities if each.aim.code == AIM)
        assert speed is not None
        worth.append(speed.low * sum(each.runs == "yes" for each in best.abilities))
    assert worth == sorted(worth)


def test_a_weak_circuit_keeps_hungry_cards_out(shop: Catalog) -> None:
    weak = Site(country="DE", volts=230.0, breaker_a=2.0)
    best = advise(Answers(purpose="kaggle", aim=AIM, budget=9000, site=weak), shop, TODAY).best
    assert best is not None
    power = best.assessment.machine.power
    assert power.wall_w is not None
    assert power.wall_w <= 230 * 2


def test_answers_are_the_same_each_time_and_stop_when_told(shop: Catalog, advice: Advice) -> None:
    assert advise(advice.answers, shop, TODAY).best == advice.best
    assert advise(advice.answers, shop, TODAY, lambda: False).best is None


def test_a_currency_without_prices_or_rates_is_said(shop: Catalog) -> None:
    poor = advise(Answers(purpose="trying", currency="XTS"), shop, TODAY)
    assert not poor.priced
    assert poor.best is None
    assert "XTS" in words.headline(poor)


def test_a_currency_with_few_prices_is_said(shop: Catalog) -> None:
    gpu = shop.parts["nvidia.geforce.rtx-5090"]
    priced = replace(gpu, prices=(Price(amount=1.0, currency="XTS", day=TODAY, source="shop"),))
    few = replace(shop, parts={**shop.parts, gpu.id: priced})
    poor = advise(Answers(purpose="trying", currency="XTS"), few, TODAY)
    assert poor.priced
    assert poor.best is None
    assert "ask in USD" in words.headline(poor)


def test_an_unknown_currency_has_no_market(catalog: Catalog) -> None:
    assert not bases(
        Need(cards=1, cores=4, ram_gib=16, storage_gb=500), Market(catalog, "XTS", TODAY)
    )


@pytest.mark.parametrize("cards", [2, 4])
def test_boards_for_several_cards_have_wide_slots_for_them(catalog: Catalog, cards: int) -> None:
    found = bases(
        Need(cards=cards, cores=6, ram_gib=32, storage_gb=500), Market(catalog, "USD", TODAY)
    )
    assert wide_slots(found[0].board) >= cards


def test_the_memory_reaches_the_need_with_a_module_on_every_channel(catalog: Catalog) -> None:
    for base in bases(
        Need(cards=4, cores=6, ram_gib=96, storage_gb=500), Market(catalog, "USD", TODAY)
    ):
        assert base.kits * base.memory.modules >= (base.board.layout.memory_channels or 2)
        assert base.kits * base.memory.modules * base.memory.module_gib >= 96


def test_cards_that_cannot_exchange_directly_are_not_held_back_twice(catalog: Catalog) -> None:
    cards = {
        i: p
        for i, p in catalog.parts.items()
        if not isinstance(p, GPU) or i == "nvidia.geforce.rtx-5090"
    }
    found = advise(
        Answers(purpose="language", budget=20_000, site=HOME), replace(catalog, parts=cards), TODAY
    ).best
    assert found is not None
    machine = found.assessment.machine
    assert len(machine.gpus) == 2
    assert all((node.width or 0) >= 8 for node in machine.gpus)


def test_the_best_rig_is_told_before_the_cheapest_is_found(shop: Catalog) -> None:
    stages = list(advising(Answers(purpose="kaggle", aim=AIM, budget=6000, site=HOME), shop, TODAY))
    assert [stage.whole for stage in stages] == [False, True]
    assert stages[0].best == stages[1].best
    assert stages[0].cheapest is None
    assert stages[1].cheapest is not None
    assert stages[0].rented == stages[1].rented


def test_a_serving_engine_needs_what_it_holds_not_the_pool_it_takes(shop: Catalog) -> None:
    best = advise(
        Answers(purpose="serve", aim="serve-8b", budget=9000, site=HOME), shop, TODAY
    ).best
    assert best is not None
    ability = next(each for each in best.abilities if each.aim.code == "serve-8b")
    estimate = best.assessment.jobs[0].memory[0]
    assert ability.needed_gib is not None
    assert ability.needed_gib < 0.9 * estimate.device_gib
    assert ability.needed_gib > estimate.parts.weights_gib


def test_what_cannot_be_predicted_says_why(catalog: Catalog) -> None:
    parts = {
        i: p for i, p in catalog.parts.items() if not isinstance(p, GPU) or i == "intel.arc.pro-b60"
    }
    few = replace(catalog, parts=parts)
    best = advise(Answers(purpose="serve", aim="serve-8b", budget=9000, site=HOME), few, TODAY).best
    assert best is not None
    doubtful = [ability for ability in best.abilities if ability.runs == "unknown"]
    assert [ability.aim.code for ability in doubtful] == ["serve-70b-fp8"]
    assert words.doubt_text(doubtful[0]).startswith(
        "Intel Arc Pro B60 has no fp8 arithmetic; it has "
    )
    assert all(
        words.doubt_text(ability) == "" for ability in best.abilities if ability.runs != "unknown"
    )


def test_a_hire_is_weighed_by_the_work_that_it_does(advice: Advice) -> None:
    best = advice.best
    assert best is not None
    own = next(each.speed for each in best.abilities if each.aim.code == AIM)
    machine = next(machine for machine in advice.rented if machine.speed)
    assert own is not None and machine.speed is not None
    hours = hours_against(machine, best, advice.aim)
    assert hours == pytest.approx(
        best.total / (machine.price.amount * own.value / machine.speed.value)
    )
    assert f"after {number(hours, 0)} hours" in words.rented_text(machine, best, advice.aim)
    asked = Price(amount=0.5, currency="USD", day="2026-06-01", source="price list")
    assert "Or spot 0.50" in words.rented_text(replace(machine, spot=asked), best, advice.aim)
    assert "spot" not in words.rented_text(replace(machine, spot=None), best, advice.aim)
    unknown = replace(machine, speed=None)
    assert hours_against(unknown, best, advice.aim) is None
    assert "cheaper" not in words.rented_text(unknown, best, advice.aim)


def test_old_prices_are_told(advice: Advice) -> None:
    assert advice.best is not None
    oldest = advice.best.assessment.totals.oldest_price
    assert oldest is not None
    assert words.age_text(advice.best, oldest) == ""
    assert words.age_text(advice.best, "2026-11-21").startswith("The oldest price is ")
    assert "{" not in words.age_text(advice.best, "2026-11-21")


@pytest.mark.parametrize("purpose", ["language", "vision"])
def test_cards_and_memory_of_a_proposal_cost_what_their_class_costs_today(
    purpose: Purpose, catalog: Catalog
) -> None:
    answers = Answers(purpose=purpose, budget=4000, currency="USD")
    best = advise(answers, catalog, "2026-11-23").best
    assert best is not None and best.total <= 4000
    market = Market(catalog, "USD", "2026-11-23")
    for line in best.assessment.totals.lines:
        item = best.rig.item(line.uid)
        part = catalog.get(item.part) if item else None
        assert part is not None and line.unit is not None
        assert line.unit == market.price_of(part)
