"""Sums of money and countries as people write them."""

import pytest

from rigplanner.cli.amounts import amounts_asked, budgets_asked
from rigplanner.cli.commands.best import site_of
from rigplanner.cli.faults import InputFault


@pytest.mark.parametrize(
    ("text", "amounts", "currency"),
    [
        ("5000", [5000.0], None),
        ("5k", [5000.0], None),
        ("1.5K", [1500.0], None),
        ("$5,000", [5000.0], "USD"),
        ("2,500", [2500.0], None),
        ("500,800", [500.0, 800.0], None),
        ("2000,5000 EUR", [2000.0, 5000.0], "EUR"),
        ("5000usd", [5000.0], "USD"),
        ("NT$100000", [100000.0], "TWD"),
        ("60 000 Kč", None, None),
        ("12k eur", [12000.0], "EUR"),
        ("", [], None),
        ("0", None, None),
        ("-3", None, None),
        ("nan", None, None),
        ("1e9", None, None),
        ("$5 €6", None, None),
        ("$5,€6", None, None),
    ],
)
def test_sums_are_read_or_refused(
    text: str, amounts: list[float] | None, currency: str | None
) -> None:
    if amounts is None:
        with pytest.raises(InputFault, match="--budget"):
            amounts_asked(text, "--budget", 20)
    else:
        assert amounts_asked(text, "--budget", 20) == (amounts, currency)


def test_a_currency_beside_the_sum_must_be_the_one_asked_for() -> None:
    assert budgets_asked("€4000", None, 1) == budgets_asked("4000", "eur", 1) == ([4000.0], "EUR")
    with pytest.raises(InputFault, match="EUR"):
        budgets_asked("$4000", "EUR", 1)
    with pytest.raises(InputFault, match="up to 1"):
        budgets_asked("4000,5000", None, 1)


def test_countries_go_by_their_names() -> None:
    assert site_of("Germany") == site_of("de") and site_of("usa").volts == 120
    with pytest.raises(InputFault, match="--country"):
        site_of("Atlantis")
