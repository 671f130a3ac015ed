"""Buying against renting, with the speed of both."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.cloud import Cloud, CloudInstance
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import Price
from rigplanner.planning.renting import hires_for, offers, own_hires
from rigplanner.planning.tokens import token_offers
from rigplanner.report.quote.costs import _offer, renting_rows
from rigplanner.rig.choices import with_choice
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rig.edits import EditFault
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.rules.assess import assess

RENT = Price(amount=2.0, currency="USD", day="2026-05-01", source="price list")


def _cloud(gpu: str | None, *rents: Price) -> Cloud:
    machine = CloudInstance(
        id="x.y",
        provider="x",
        name="y",
        gpu_name="some GPU",
        gpu=gpu,
        count=1,
        link="none",
        on_demand=rents,
    )
    return Cloud({"x.y": machine}, {})


@pytest.fixture(scope="module")
def priced(samples: list[Path]) -> Rig:
    rig = read_rig(next(path for path in samples if path.stem == "gtx-1080-ti"))
    one = Price(amount=100.0, currency="USD", day="2026-01-01", source="shop")
    return replace(rig, currency="USD", items=tuple(replace(item, price=one) for item in rig.items))


def test_a_hire_holds_what_its_cards_show_not_what_they_bear(
    samples: list[Path], catalog: Catalog
) -> None:
    """8B in fp16 needs 14.9 GiB at least: a T4 of 16 shows 15, and 14.7 are left; a V100 has no
    check bits among its 16."""
    work = read_rig(next(path for path in samples if path.stem == "dual-rtx-3090")).workloads[1]
    held = {
        gpu: len(hires_for(work, 1, "tokens/s", catalog, _cloud(gpu, RENT)))
        for gpu in ("nvidia.tesla.t4", "nvidia.tesla.v100-pcie-16gb")
    }
    assert held == {"nvidia.tesla.t4": 0, "nvidia.tesla.v100-pcie-16gb": 1}


@pytest.mark.parametrize(
    ("vcpus", "most"), [(4, 2 * 250.0), (8, 4 * 250.0), (256, None), (None, None)]
)
def test_few_cores_of_a_hire_starve_its_gpus_of_images(
    vcpus: int | None, most: float | None, catalog: Catalog
) -> None:
    """Two threads are one core that decodes 250 images a second: a hire of four trains ResNet-50 at
    less than 500."""
    work = Workload(
        model="resnet-50",
        task="train",
        precision="amp",
        dataset_gb=150.0,
        dataset_samples=1_281_167,
    )
    (machine,) = _cloud("nvidia.datacenter.a100-sxm4-40gb", RENT).instances.values()
    cloud = Cloud({"x.y": replace(machine, vcpus=vcpus, ram_gib=1000.0)}, {})
    (hire,) = hires_for(work, 1, "images/s", catalog, cloud)
    alone = replace(work, dataset_gb=None, dataset_samples=None)
    (free,) = hires_for(alone, 1, "images/s", catalog, cloud)
    assert hire.speed <= free.speed
    if most is None:
        assert hire.speed == pytest.approx(free.speed, rel=0.01)
    else:
        assert 0.8 * min(most, free.speed) < hire.speed < most


SPOT = Price(amount=0.5, currency="USD", day="2026-06-01", source="price list", region="eastus")


def test_the_newest_spot_price_stands_beside_the_rent_and_decides_nothing(
    priced: Rig, catalog: Catalog
) -> None:
    assessment, cloud = assess(priced, catalog), _cloud("nvidia.geforce.gtx-1080-ti", RENT)
    (machine,) = cloud.instances.values()
    older = replace(SPOT, amount=0.1, day="2024-06-01")
    (plain,) = offers(assessment, assessment.jobs[0], catalog, cloud)
    (offer,) = offers(
        assessment,
        assessment.jobs[0],
        catalog,
        Cloud({"x.y": replace(machine, spot=(older, SPOT))}, {}),
    )
    assert (plain.spot, plain.spot_work) == (None, None)
    assert offer.spot == SPOT
    assert offer.spot_work == pytest.approx(offer.same_work / 4)
    assert offer.hours == plain.hours
    assert _offer(offer, "USD")[1].endswith("spot $0.50 an hour (1 Jun 2026, eastus)")
    assert "spot" not in _offer(plain, "USD")[1]


def test_a_spot_price_in_money_without_a_rate_is_not_counted(priced: Rig, catalog: Catalog) -> None:
    assessment, (machine,) = (
        assess(priced, catalog),
        _cloud("nvidia.geforce.gtx-1080-ti", RENT).instances.values(),
    )
    foreign = replace(machine, spot=(replace(SPOT, currency="TWD"),))
    (offer,) = offers(assessment, assessment.jobs[0], catalog, Cloud({"x.y": foreign}, {}))
    assert offer.spot is not None and offer.spot_work is None


def test_the_same_gpu_breaks_even_at_price_over_rent(priced: Rig, catalog: Catalog) -> None:
    assessment = assess(priced, catalog)
    (offer,) = offers(
        assessment, assessment.jobs[0], catalog, _cloud("nvidia.geforce.gtx-1080-ti", RENT)
    )
    assert offer.speed_ratio == pytest.approx(1.0, rel=0.02)
    assert offer.hours == pytest.approx(assessment.totals.total / (2.0 * offer.speed_ratio))
    assert offer.running is None


def test_energy_makes_it_later(priced: Rig, catalog: Catalog) -> None:
    tariff = Price(amount=0.40, currency="USD", day="2026-01-01", source="contract")
    assessment = assess(replace(priced, site=Site(energy_per_kwh=tariff)), catalog)
    (offer,) = offers(
        assessment, assessment.jobs[0], catalog, _cloud("nvidia.geforce.gtx-1080-ti", RENT)
    )
    assert offer.running is not None
    assert offer.hours is not None
    assert offer.hours > assessment.totals.total / (2.0 * offer.speed_ratio)


def test_nothing_is_said_without_a_price_a_rent_or_a_gpu(priced: Rig, catalog: Catalog) -> None:
    assessment = assess(priced, catalog)
    job = assessment.jobs[0]
    assert offers(assessment, job, catalog, _cloud("nvidia.geforce.gtx-1080-ti")) == ()
    assert (
        offers(
            assessment,
            job,
            catalog,
            _cloud("nvidia.geforce.gtx-1080-ti", replace(RENT, currency="EUR")),
        )
        == ()
    )
    assert offers(assessment, job, catalog, _cloud(None, RENT)) == ()
    foreign = replace(RENT, currency="TWD")
    elsewhere = assess(
        replace(priced, items=tuple(replace(item, price=foreign) for item in priced.items)), catalog
    )
    assert offers(elsewhere, job, catalog, _cloud("nvidia.geforce.gtx-1080-ti", RENT)) == ()


def test_a_hire_that_does_not_hold_the_work_is_no_offer(priced: Rig, catalog: Catalog) -> None:
    work = Workload(model="llama-3.1-70b", task="inference", precision="q4_k_m")
    cards = tuple(
        replace(item, part="nvidia.geforce.rtx-3090", quantity=2) if item.uid == "gpu" else item
        for item in priced.items
    )
    assessment = assess(replace(priced, items=cards, workloads=(work,)), catalog)
    job = assessment.jobs[0]
    assert job.speed is not None
    assert offers(assessment, job, catalog, _cloud("nvidia.geforce.rtx-4090", RENT)) == ()
    assert (
        len(offers(assessment, job, catalog, _cloud("nvidia.datacenter.h100-sxm5-80gb", RENT))) == 1
    )


def test_a_model_over_all_cards_is_split_over_those_of_the_hire(
    priced: Rig, catalog: Catalog
) -> None:
    work = Workload(
        model="llama-3.1-8b",
        task="serve",
        precision="bf16",
        batch_per_gpu=4,
        parallelism=Parallelism(tensor=2),
    )
    cards = tuple(
        replace(item, part="nvidia.geforce.rtx-3090", quantity=2) if item.uid == "gpu" else item
        for item in priced.items
    )
    assessment = assess(replace(priced, items=cards, workloads=(work,)), catalog)
    (offer,) = offers(
        assessment, assessment.jobs[0], catalog, _cloud("nvidia.geforce.rtx-4090", RENT)
    )
    assert offer.rented > 0


def test_a_rent_counts_by_the_rates_of_the_rig(priced: Rig, catalog: Catalog) -> None:
    rates = ExchangeRates(day="2026-10-09", source="bank", rates={"USD": 1.25})
    rig = replace(priced, currency="EUR", exchange=rates)
    assessment = assess(rig, catalog)
    (offer,) = offers(
        assessment, assessment.jobs[0], catalog, _cloud("nvidia.geforce.gtx-1080-ti", RENT)
    )
    assert offer.counted == pytest.approx(1.6)
    assert offer.same_work == pytest.approx(1.6 * offer.speed_ratio)
    assert offer.hours == pytest.approx(assessment.totals.total / offer.same_work)
    said = renting_rows(assessment, catalog)
    assert all("$" in row[2] and "€" in row[2] for row in said)


def _costing(rig: Rig, total: float, **site: object) -> Rig:
    """The rig at `total` dollars, all on its first part."""
    prices = [replace(RENT, amount=total if n == 0 else 0.0) for n in range(len(rig.items))]
    items = tuple(replace(item, price=price) for item, price in zip(rig.items, prices, strict=True))
    return replace(rig, items=items, site=Site(**site))  # type: ignore[arg-type]


def test_a_hire_of_ones_own_gives_the_classic_figures(priced: Rig, catalog: Catalog) -> None:
    hour, month = replace(RENT, amount=3.60), replace(RENT, amount=70.0)
    by_hour, by_month = own_hires(
        assess(_costing(priced, 8500, hire_per_hour=hour, hire_per_month=month), catalog)
    )
    assert by_hour.after is not None and round(by_hour.after) == 2361
    assert (by_month.whole, by_month.months) == (1680, 24)
    assert by_month.after == pytest.approx(8500 / 70)


def test_energy_and_other_currencies_count_in_a_hire_of_ones_own(
    priced: Rig, catalog: Catalog
) -> None:
    tariff = replace(RENT, amount=0.40)
    month = replace(RENT, amount=70.0)
    (hire,) = own_hires(
        assess(
            _costing(priced, 700, hire_per_month=month, energy_per_kwh=tariff, hours_per_day=2),
            catalog,
        )
    )
    assert hire.running and hire.after is not None and hire.after > 10
    (never,) = own_hires(
        assess(
            _costing(priced, 700, hire_per_month=month, energy_per_kwh=tariff, hours_per_day=24),
            catalog,
        )
    )
    assert never.after is None and never.comparable
    (foreign,) = own_hires(
        assess(_costing(priced, 700, hire_per_month=replace(month, currency="EUR")), catalog)
    )
    assert foreign.after is None and not foreign.comparable and foreign.whole == 1680
    assert own_hires(assess(priced, catalog)) == ()


def test_the_quote_says_both_hires(priced: Rig, catalog: Catalog) -> None:
    rig = _costing(
        priced,
        8500,
        hire_per_hour=replace(RENT, amount=3.60),
        hire_per_month=replace(RENT, amount=70.0),
    )
    hour, month = renting_rows(assess(replace(rig, workloads=()), catalog), catalog)
    assert hour[2] == "$3.60 per hour"
    assert hour[4] == "2,361\u202fh of work, a rule of thumb of 2015 says 1,500\u202fh"
    assert month[2:] == (
        "$70.00 per month, $1,680.00 over 24 months",
        "not compared",
        "121 months",
    )


def test_a_price_per_token_gives_the_days_after_which_the_rig_has_paid(
    priced: Rig, catalog: Catalog
) -> None:
    rate, tariff = replace(RENT, amount=2.0), replace(RENT, amount=0.30)
    work = Workload(
        model="llama-3.2-1b",
        task="inference",
        stack="llama.cpp",
        precision="q4_k_m",
        input_tokens=1000,
        output_tokens=500,
    )
    rig = _costing(
        replace(priced, workloads=(work,)),
        1000,
        api_output_per_million=rate,
        tokens_per_day=1e6,
        energy_per_kwh=tariff,
    )
    (offer,) = token_offers(assess(rig, catalog))
    speed = offer.job.speed
    assert speed is not None
    assert offer.cost.hours == pytest.approx(1e6 / speed.value / 3600)
    assert offer.cost.api == pytest.approx(2.0)
    assert offer.cost.days == pytest.approx(1000 / (2.0 - offer.cost.own))
    (row,) = [row for row in renting_rows(assess(rig, catalog), catalog) if "API" in row[1]]
    assert "$" in row[2] and "days" in row[4]

    other = replace(rig, site=replace(rig.site, api_output_per_million=None))
    assert token_offers(assess(other, catalog)) == ()


def test_a_hire_of_ones_own_is_weighed_by_the_speed_that_its_owner_names(catalog: Catalog) -> None:
    item = Item(
        uid="gpu",
        part="nvidia.titan.x-pascal",
        quantity=4,
        price=Price(amount=2125.0, currency="USD", day="2015-01-01", source="test"),
    )
    rent = Price(amount=3.6, currency="USD", day="2015-01-01", source="test")
    rig = Rig(items=(item,), site=Site(hire_per_hour=rent))
    (bare,) = own_hires(assess(rig, catalog))
    weighed_rig = with_choice(rig, catalog, "hire-speed=6")
    (weighed,) = own_hires(assess(weighed_rig, catalog))
    assert bare.after == pytest.approx(8500 / 3.6) and bare.ratio is None
    assert weighed.after == pytest.approx(8500 / 3.6 / 6) and weighed.ratio == 6
    for wrong in ("hire-speed=fast", "hire-speed=0", "hire-speed=-2"):
        with pytest.raises(EditFault, match="hire-speed"):
            with_choice(rig, catalog, wrong)
