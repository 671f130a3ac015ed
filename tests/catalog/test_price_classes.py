"""What a part costs today when its own price is old."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.classes import class_of, class_prices, todays_price
from rigplanner.catalog.schema.parts import GPU, MemoryKit, Price

TODAY = "2026-11-23"


def price(amount: float, day: str) -> Price:
    return Price(amount=amount, currency="USD", day=day, source="shop")


def kit(name: str, gib: float, *prices: Price, speed: int = 6000) -> MemoryKit:
    return MemoryKit(
        id=f"x.{name}.kit",
        name=name,
        vendor="x",
        type="DDR5",
        module="udimm",
        modules=2,
        module_gib=gib / 2,
        speed_mts=speed,
        prices=prices,
    )


def classes(*parts: MemoryKit | GPU) -> dict[tuple[object, ...], Price]:
    return class_prices(parts, "USD", lambda found: found.amount)


def test_an_old_price_gives_way_to_the_lowest_of_the_newest_of_its_class() -> None:
    old = kit("old", 64, price(131, "2025-07-23"))
    dear, cheap = kit("a", 64, price(1099, "2026-09-26")), kit("b", 64, price(999, "2026-09-01"))
    stale = kit("c", 64, price(300, "2026-01-01"))
    known = classes(old, dear, cheap, stale)
    assert todays_price(old, old.prices[0], known, TODAY).amount == 999


@pytest.mark.parametrize(
    ("day", "amount", "came"),
    [
        ("2026-05-24", 1131, 1131),
        ("2026-05-23", 1131, 999),
        ("2026-05-24", 131, 999),
        ("2026-07-28", 131, 131),
        ("2026-07-27", 131, 999),
    ],
)
def test_a_price_of_half_a_year_stays_unless_its_class_was_dearer_later(
    day: str, amount: float, came: float
) -> None:
    own = kit("own", 64, price(amount, day))
    known = classes(own, kit("a", 64, price(999, "2026-09-26")))
    assert todays_price(own, own.prices[0], known, TODAY).amount == came


def test_memory_without_a_kit_of_its_size_follows_the_gib_of_its_type() -> None:
    old = kit("old", 128, price(280, "2025-07-23"))
    known = classes(old, kit("a", 64, price(1024, "2026-09-26")), kit("b", 32, price(576, TODAY)))
    found = todays_price(old, old.prices[0], known, TODAY)
    assert found.amount == 128 * (16 + 18) / 2
    assert found.day == TODAY


def test_an_older_price_of_another_part_changes_nothing() -> None:
    own = kit("own", 64, price(400, "2026-01-10"))
    known = classes(own, kit("a", 64, price(100, "2025-01-01")))
    assert todays_price(own, own.prices[0], known, TODAY).amount == 400


def test_a_day_that_is_none_is_left_alone() -> None:
    own = kit("own", 64, price(400, "soon"))
    assert todays_price(own, own.prices[0], classes(own), TODAY) == own.prices[0]


def test_boards_of_one_chip_are_one_class_and_other_memory_is_not(catalog: Catalog) -> None:
    card = catalog.parts["nvidia.geforce.rtx-4090"]
    assert isinstance(card, GPU)
    assert class_of(card) == class_of(replace(card, id="x.y.z", name="Board of a partner"))
    assert class_of(card) != class_of(catalog.parts["nvidia.geforce.rtx-4090-48gb"])
