"""Tokens on a rig of one's own against a price per million."""

import pytest

from rigplanner.economics.tokens import TokenCost, token_cost


def _cost(**fields: float) -> TokenCost:
    usual = {
        "price": 4000.0,
        "tokens_s": 100.0,
        "answers": 3.6e6,
        "prompts": 7.2e6,
        "input_price": 0.5,
        "output_price": 2.0,
        "wall_w": 500.0,
        "energy_price": 0.3,
    }
    return token_cost(**{**usual, **fields})


def test_a_day_of_tokens_by_hand() -> None:
    told = _cost()
    assert told.hours == pytest.approx(10.0)
    assert told.energy_kwh == pytest.approx(5.0)
    assert told.own == pytest.approx(1.5)
    assert told.api == pytest.approx(3.6 + 7.2)
    assert told.days == pytest.approx(4000 / (10.8 - 1.5))
    assert told.own_per_million == pytest.approx(1.5 / 3.6)
    assert told.enough


def test_energy_dearer_than_the_api_never_pays() -> None:
    assert _cost(input_price=0.0, output_price=0.1).days is None


def test_a_day_may_be_too_short() -> None:
    assert not _cost(tokens_s=10.0).enough


@pytest.mark.parametrize("fields", [{"tokens_s": 0.0}, {"price": -1.0}, {"answers": -5.0}])
def test_figures_that_cannot_be_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not negative"):
        _cost(**fields)
