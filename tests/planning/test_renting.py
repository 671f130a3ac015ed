"""Buying against renting, with the speed of both."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.cloud import Cloud, CloudInstance
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import Price
from rigplanner.planning.renting import offers
from rigplanner.rig.document import Rig, Site
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess

RENT = Price(amount=2.0, currency="USD", day="2026-05-01", source="price list")


def _cloud(gpu: str | None, *rents: Price) -> Cloud:
    machine = CloudInstance(id="x.y", provider="x", name="y", gpu_name="some GPU", gpu=gpu, count=1, link="none", on_demand=rents)
    return Cloud({"x.y": machine}, {})


@pytest.fixture(scope="module")
def priced(samples: list[Path]) -> Rig:
    rig = read_rig(next(path for path in samples if path.stem == "gtx-1080-ti"))
    one = Price(amount=100.0, currency="USD", day="2026-01-01", source="shop")
    return replace(rig, currency="USD", items=tuple(replace(item, price=one) for item in rig.items))


def test_the_same_gpu_breaks_even_at_price_over_rent(priced: Rig, catalog: Catalog) -> None:
    assessment = assess(priced, catalog)
    (offer,) = offers(assessment, assessment.jobs[0], catalog, _cloud("nvidia.geforce.gtx-1080-ti", RENT))
    assert offer.speed_ratio == pytest.approx(1.0, rel=0.02)
    assert offer.hours == pytest.approx(assessment.totals.total / (2.0 * offer.speed_ratio))
    assert not offer.energy_counted


def test_energy_makes_it_later(priced: Rig, catalog: Catalog) -> None:
    tariff = Price(amount=0.40, currency="USD", day="2026-01-01", source="contract")
    assessment = assess(replace(priced, site=Site(energy_per_kwh=tariff)), catalog)
    (offer,) = offers(assessment, assessment.jobs[0], catalog, _cloud("nvidia.geforce.gtx-1080-ti", RENT))
    assert offer.energy_counted
    assert offer.hours is not None
    assert offer.hours > assessment.totals.total / (2.0 * offer.speed_ratio)


def test_nothing_is_said_without_a_price_a_rent_or_a_gpu(priced: Rig, catalog: Catalog) -> None:
    assessment = assess(priced, catalog)
    job = assessment.jobs[0]
    assert offers(assessment, job, catalog, _cloud("nvidia.geforce.gtx-1080-ti")) == ()
    assert offers(assessment, job, catalog, _cloud("nvidia.geforce.gtx-1080-ti", replace(RENT, currency="EUR"))) == ()
    assert offers(assessment, job, catalog, _cloud(None, RENT)) == ()
    foreign = replace(RENT, currency="TWD")
    elsewhere = assess(replace(priced, items=tuple(replace(item, price=foreign) for item in priced.items)), catalog)
    assert offers(elsewhere, job, catalog, _cloud("nvidia.geforce.gtx-1080-ti", RENT)) == ()
