"""The map: every card against some work, every model against a machine."""

import csv
import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.index import carried_to
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.planning.map.cards import Card, Money, cards, everything
from rigplanner.planning.map.money import Terms
from rigplanner.planning.map.nearest import like, shortages
from rigplanner.planning.map.order import ranked, within
from rigplanner.planning.map.rank import Answer, Row, answer, rows
from rigplanner.planning.map.runs import Run, marked, newest_first, opened, run_of
from rigplanner.report.map import models, table
from rigplanner.rig.workload import Workload
from rigplanner.workload.resolved import in_one_format

KINDS = ("card", "machine", "hire")
QLORA = Workload(model="llama-3.1-8b", task="train_qlora")


def speed(value: float, spread: float = 1.1, metric: str = "tokens/s") -> SpeedEstimate:
    return SpeedEstimate(
        metric=metric,
        value=value,
        low=value / spread,
        high=value * spread,
        stack="x",
        bound="compute",
    )


def row(name: str, *values: float, cost: float | None = None, fit: str = "fits") -> Row:
    found = tuple(Answer(fit="fits", speed=speed(value)) for value in values)
    return Row(gpu=name, name=name, count=1, fit=fit, answers=found, cost=cost)


def test_the_first_speed_of_a_row_keeps_the_steps_that_people_open(catalog: Catalog) -> None:
    unknown, other = replace(QLORA, model="no-such-network"), replace(QLORA, model="llama-2-7b")
    (made,) = rows([unknown, QLORA, other], cards(catalog, "rtx 4090 d")[:1], (1,), shipped_zoo())
    speeds = [each.speed for each in made.answers]
    assert speeds[0] is None and speeds[1] and speeds[2]
    assert speeds[1].steps and not speeds[2].steps
    assert speeds[1].anchors and not speeds[2].anchors


def test_boards_of_one_chip_are_one_card_with_the_newest_price(catalog: Catalog) -> None:
    found = cards(catalog, "rtx 4090")
    names = [card.gpu.name for card in found]
    assert names.count("GeForce RTX 4090") == 1
    card = next(card for card in found if card.gpu.name == "GeForce RTX 4090")
    boards = [
        part
        for part in catalog.of_kind("gpu")
        if part.name.startswith("GeForce RTX 4090") or " GeForce RTX 4090" in part.name
    ]
    assert card.boards > 3
    days = [
        price.day
        for part in boards
        for price in part.prices
        if price.currency == "USD" and "48GB" not in part.name and "Laptop" not in part.name
    ]
    assert card.price is not None and card.price.day == max(days)


def test_the_fastest_comes_first_and_those_that_nobody_can_tell_apart_share_a_place() -> None:
    made = [row("slow", 50), row("a", 100), row("b", 98), row("out", 500, fit="no")]
    best = ranked(made, [1.0])
    assert [each.name for each in best] == ["a", "b", "slow", "out"]
    assert [each.place for each in best] == [1, 1, 3, None]


def test_money_sorts_by_speed_per_price_and_leaves_what_has_none_behind() -> None:
    made = [row("dear", 100, cost=1000), row("cheap", 60, cost=300), row("priceless", 200)]
    assert [each.name for each in ranked(made, [1.0], "money")] == ["cheap", "dear", "priceless"]


def test_speed_of_the_host_does_not_count_as_that_of_a_cheap_card() -> None:
    made = [row("holds it", 50, cost=1000), row("in RAM", 40, cost=100, fit="host")]
    assert [each.name for each in ranked(made, [1.0], "money")] == ["holds it", "in RAM"]
    assert [each.name for each in ranked([*made, row("fast", 60, fit="host")], [1.0])] == [
        "fast",
        "holds it",
        "in RAM",
    ]


def test_a_budget_leaves_what_it_pays_and_counts_places_anew() -> None:
    best = ranked([row("dear", 9, cost=900), row("cheap", 5, cost=100), row("no price", 7)], [1.0])
    assert [(each.name, each.place) for each in within(best, 100, "speed")] == [("cheap", 1)]
    assert within(best, None, "speed") == best


def test_a_price_of_the_start_counts_only_while_the_part_is_sold_and_old_ones_are_carried(
    catalog: Catalog,
) -> None:
    money = Money(today="2026-11-23")
    gpu = catalog.parts["nvidia.geforce.rtx-3090"]
    start = Price(amount=1000, currency="USD", day="2025-01-10", source="maker", condition="launch")
    sold, gone = (
        list(money.asked(replace(gpu, status=status, prices=(start,))))
        for status in ("current", "classic")
    )
    assert [price.day for price, _ in sold] == ["2025-01-10"] and not gone
    assert carried_to(sold[0][0]) == "2026-11-23" and sold[0][1] != 1000
    young = replace(start, day="2026-10-01", condition="used")
    assert list(money.asked(replace(gpu, prices=(young,)))) == [(young, 1000)]
    then = replace(money, day="2025-06-01")
    assert list(then.asked(replace(gpu, status="classic", prices=(start,)))) == [(start, 1000)]


def test_several_works_count_by_their_weights_as_shares_of_the_fastest() -> None:
    made = [row("reader", 100, 10), row("writer", 25, 40)]
    assert ranked(made, [1.0, 1.0])[0].score == pytest.approx((1.0 * 0.25) ** 0.5)
    assert ranked(made, [10.0, 1.0])[0].name == "reader"
    assert ranked(made, [1.0, 10.0])[0].name == "writer"


def test_less_time_is_faster() -> None:
    made = [
        replace(
            row(name, 1), answers=(Answer(fit="fits", speed=speed(value, metric="ms_per_batch")),)
        )
        for name, value in (("slow", 20.0), ("fast", 10.0))
    ]
    assert [each.name for each in ranked(made, [1.0])] == ["fast", "slow"]


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=12))
def test_order_and_places_follow_the_scores(values: list[float]) -> None:
    best = ranked([row(str(at), value) for at, value in enumerate(values)], [1.0])
    assert all(one.score >= other.score for one, other in itertools.pairwise(best))
    assert all(one.place <= other.place for one, other in itertools.pairwise(best))


def test_memory_and_software_decide_what_runs() -> None:
    zoo = shipped_zoo()
    assert answer(QLORA, find_gpu("RTX 4090"), 1, zoo).fit == "fits"
    assert answer(QLORA, find_gpu("RTX 3060 Ti"), 1, zoo).fit == "no"
    strange = answer(QLORA, find_gpu("RX 7900 XTX"), 1, zoo)
    assert strange.known != "measured"


def test_machines_and_hires_stand_beside_the_cards(catalog: Catalog) -> None:
    found = everything(catalog, shipped_cloud())
    kinds = {kind: [card for card in found if card.kind == kind] for kind in KINDS}
    assert all(kinds.values())
    spark = next(card for card in kinds["machine"] if card.gpu.id == "nvidia.gb10.dgx-spark")
    assert spark.count == 1 and spark.boards > 3 and spark.cost
    assert not any(card.gpu.id == spark.gpu.id for card in kinds["card"])
    eight = [card for card in kinds["hire"] if card.count == 8]
    assert eight and all(card.price and card.link for card in eight)
    assert not any(card.counts((1, 2)) for card in eight)
    assert {card.count for card in kinds["machine"] if card.gpu.form_factor == "embedded"} == {1}


def test_new_and_used_prices_are_told_apart(catalog: Catalog) -> None:
    used = {c.id: c for c in cards(catalog, "", Money(condition="used")) if c.price}
    new = {c.id: c for c in cards(catalog, "", Money(condition="new")) if c.price}
    assert len(used) >= 5 and len(new) > 50
    assert all(card.price.used for card in used.values() if card.price)
    assert not any(card.price.used for card in new.values() if card.price)
    both = set(used) & set(new)
    assert both and any(used[key].cost != new[key].cost for key in both)


def test_what_a_card_cost_at_the_start_is_the_makers_price(catalog: Catalog) -> None:
    found = {card.name: card for card in cards(catalog, "rtx 30")}
    assert found["GeForce RTX 3090"].launch_cost == 1499
    assert found["GeForce RTX 3090"].cost != 1499
    with_one = [card for card in cards(catalog) if card.launch_cost is not None]
    assert len(with_one) > 100


def test_three_years_cost_price_and_energy_and_a_hire_its_hours() -> None:
    own = replace(row("own", 100, cost=1000), watts=500.0)
    dear = replace(row("dear hire", 300, cost=4.0), kind="hire")
    fair = replace(row("fair hire", 100, cost=1.0), kind="hire")
    made = {each.name: each for each in ranked([own, dear, fair], [1.0], "years", Terms(0.2, 10))}
    hours = 10 * 365
    assert made["own"].energy_year == pytest.approx(0.5 * hours * 0.2)
    assert made["own"].three_years == pytest.approx(1000 + 3 * 0.5 * hours * 0.2)
    assert made["fair hire"].three_years == pytest.approx(3 * hours)
    assert made["own"].hire == "fair hire"
    assert made["own"].break_even_h == pytest.approx(1000 / (1.0 - 0.5 * 0.2))
    assert list(made) == sorted(made, key=lambda name: -(made[name].per("years") or 0))
    with pytest.raises(ValueError, match="24"):
        Terms(0.2, 25)


def test_work_that_misses_its_least_speed_is_slow_not_ranked(catalog: Catalog) -> None:
    zoo, found = shipped_zoo(), cards(catalog, "rtx 4090")
    (plain,) = (r for r in rows([QLORA], found, (1,), zoo) if r.name == "GeForce RTX 4090")
    assert plain.answers[0].speed is not None
    value = plain.answers[0].speed.value
    fast, slow = (
        ranked(list(rows([QLORA], found, (1,), zoo, [least])), [1.0])
        for least in (0.9 * value, 1.1 * value)
    )
    assert any(r.name == plain.name and r.score for r in fast)
    assert all(r.score is None for r in slow)
    (told,) = shortages(slow)
    assert told.reached == max(r.answers[0].speed.value for r in slow if r.answers[0].speed)
    assert value <= told.reached < 1.1 * value and told.metric == "tokens/s"


def test_what_no_memory_holds_names_the_nearest(catalog: Catalog) -> None:
    work = Workload(model="llama-3.1-70b", task="train_full")
    made = ranked(list(rows([work], cards(catalog, "rtx 4090"), (1, 2), shipped_zoo())), [1.0])
    (told,) = shortages(made)
    assert told.row is not None and told.lacks_gib and told.lacks_gib > 100
    assert told.lacks_gib == min(
        a.need_gib - a.room_gib for r in made for a in r.answers if a.need_gib and a.room_gib
    )
    assert shortages(ranked([row("a", 1.0)], [1.0])) == []
    assert like("rtx 4099", cards(catalog))[0].startswith("GeForce RTX 40")


def test_software_that_nobody_published_stands_behind(catalog: Catalog) -> None:
    odd = row("odd", 900)
    odd = replace(odd, answers=(replace(odd.answers[0], known="unproven"),))
    best = ranked([odd, row("known", 100), row("slower", 50)], [1.0])
    assert [each.name for each in best] == ["known", "slower", "odd"]
    assert [each.place for each in best] == [1, 2, 3]


def test_what_a_card_does_is_asked_once_a_number(catalog: Catalog) -> None:
    some = cards(catalog, "rtx 3090")
    made = list(rows([QLORA], some, (1, 2), shipped_zoo()))
    assert len(made) == 2 * len(some)
    one, two = (each for each in made if each.name == "GeForce RTX 3090")
    assert two.cost == pytest.approx(2 * (one.cost or 0))


def test_tables_are_whole(catalog: Catalog) -> None:
    made = ranked(list(rows([QLORA], cards(catalog, "rtx 40"), (1,), shipped_zoo())), [1.0])
    read = list(csv.DictReader(io.StringIO(table.csv_text(made, ["qlora"], "USD"))))
    assert len(read) == len(made)
    assert {line["gpu"] for line in read} == {each.gpu for each in made}
    assert float(read[0]["score"]) == made[0].score


def test_a_model_runs_in_the_format_that_suits_the_machine() -> None:
    zoo, card = shipped_zoo(), find_gpu("RTX 3090")
    small = run_of(zoo.models["llama-3.1-8b"], [card], None, zoo)
    assert small.whole and small.well
    large = run_of(zoo.models["gpt-oss-120b"], [card], None, zoo)
    assert large.n_cpu_moe and not large.whole
    assert not large.well, "the RAM beside a card alone is not known"
    assert large.lacks_gib and large.lacks_gib > 20
    assert opened([small, large], 64.0) == [large]


def test_more_memory_never_runs_fewer_models_wholly() -> None:
    zoo = shipped_zoo()
    slugs = ("llama-3.1-8b", "qwen3-32b", "llama-3.1-70b", "gpt-oss-20b", "phi-3.5-moe")
    held = [
        {slug for slug in slugs if run_of(zoo.models[slug], [find_gpu(gpu)], None, zoo).whole}
        for gpu in ("RTX 3060 12GB", "RTX 4090", "RTX 6000 Ada", "H100 SXM5 80GB")
    ]
    assert all(less <= more for less, more in itertools.pairwise(held))
    assert held[0] < held[-1]


def test_the_largest_of_late_that_runs_well_is_marked_once() -> None:
    sizes = (
        ("a", 8, 8, True, "2025-06"),
        ("b", 30, 3, True, "2025-09"),  # worth 9.5 B
        ("c", 70, 70, False, "2025-11"),
        ("old", 20, 20, True, "2024-01"),
    )
    made = [
        Run(
            model=name,
            name=name,
            purpose="chat",
            params_b=size,
            active_b=active,
            precision="q4_k_m",
            whole=True,
            well=well,
            released=month,
        )
        for name, size, active, well, month in sizes
    ]
    best = marked(made)
    assert [run.model for run in best if run.best] == ["b"]
    assert [run.model for run in best] == ["b", "old", "a", "c"]
    assert [run.model for run in newest_first(best)] == ["b", "a", "old", "c"]
    assert [run.model for run in marked(made[2:]) if run.best] == ["old"]
    lines = models.text(best, 5)
    assert lines[0] == "Chat: 4 of 4 run"
    assert lines[2].split()[:2] == ["*", "b"]


def test_cards_are_compared_in_one_format_of_the_weights():
    """A card whose usual software runs four bits does not win against one that was asked sixteen."""
    zoo = shipped_zoo()
    plain = Workload(model="llama-3.1-8b", task="inference")
    assert in_one_format(plain, zoo).precision == "fp16"
    named = Workload(model="gpt-oss-20b", task="inference")
    assert in_one_format(named, zoo).precision == "mxfp4"  # published in no other
    said = replace(plain, precision="q4_k_m")
    trained = replace(plain, task="train_lora")
    assert (in_one_format(said, zoo), in_one_format(trained, zoo)) == (said, trained)
    asked = [Card(gpu=find_gpu(name)) for name in ("Arc B580", "RTX 3090")]
    narrow, wide = (row.answers[0] for row in rows([plain], asked, [1], zoo))
    assert narrow.fit != "fits"
    assert wide.fit == "fits"


def test_the_market_of_a_day_knows_nothing_that_came_after(catalog: Catalog) -> None:
    day = "2017-04-09"
    then = {card.id: card for card in everything(catalog, shipped_cloud(), "", Money(day=day))}
    today = {card.id: card for card in everything(catalog, shipped_cloud(), "", Money())}
    assert 20 < len(then) < len(today) / 2
    for card in then.values():
        assert card.price is None or card.price.day <= day
        assert card.kind == "hire" or (card.gpu.released or "9999") <= day
    assert then["nvidia.geforce.gtx-1080"].cost == 499
    assert "nvidia.geforce.gtx-1070-ti" in today and "nvidia.geforce.gtx-1070-ti" not in then


@pytest.mark.parametrize(
    ("released", "out"),
    [
        ("2017-04-09", True),
        ("2017-04-10", False),
        ("2016", True),
        ("2017", False),
        ("2017-03", True),
        ("2017-04", False),
        (None, False),
    ],
)
def test_a_release_known_by_its_year_counts_once_that_is_over(
    catalog: Catalog, released: str | None, out: bool
) -> None:
    gpu = catalog.get("nvidia.geforce.gtx-1080")
    assert isinstance(gpu, GPU)
    assert Money(day="2017-04-09").sells(replace(gpu, released=released)) is out
    assert Money().sells(replace(gpu, released=released))
