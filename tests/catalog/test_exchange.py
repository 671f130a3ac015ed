"""The central bank's rates, and amounts converted by them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.load import CatalogFault
from rigplanner.catalog.prices.exchange import ECB, ExchangeRates, convert, read_ecb, with_rate

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<gesmes:subject>Reference rates</gesmes:subject><Cube>"""
TAIL = "</Cube></gesmes:Envelope>"
DAY = (
    "<Cube time='2026-11-20'><Cube currency='USD' rate='1.25'/><Cube currency='CZK'"
    " rate='25'/></Cube>"
)


def _xml(body: str = DAY, head: str = HEAD) -> bytes:
    return (head + body + TAIL).encode()


def test_the_banks_file() -> None:
    assert read_ecb(_xml()) == ExchangeRates(
        day="2026-11-20", source=ECB, rates={"USD": 1.25, "CZK": 25.0}
    )


def test_of_several_days_the_newest_counts() -> None:
    older = DAY.replace("2026-11-20", "2026-11-19").replace("1.25", "2")
    assert read_ecb(_xml(older + DAY)).rates["USD"] == 1.25


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not xml",
        b"<html><body>503</body></html>",
        _xml(""),
        _xml("<Cube time='2026-11-20'></Cube>"),
        _xml(DAY.replace("2026-11-20", "yesterday")),
        _xml(DAY.replace("1.25", "0")),
        _xml(DAY.replace("1.25", "-1")),
        _xml(DAY.replace("1.25", "1e400")),
        _xml(DAY.replace("1.25", "nan")),
        _xml(DAY.replace("1.25", "one")),
        _xml(DAY.replace("USD", "dollar")),
        _xml()[:-20],
        _xml(head="<!DOCTYPE x [<!ENTITY a 'aaaa'>]>" + HEAD.partition("\n")[2]),
        _xml("<Cube>" * 300_000),
        b"\xff\xfe" + _xml(),
        b'<?xml version="1.0" encoding="no-such"?><a/>',
    ],
)
def test_what_is_not_the_file_is_refused(content: bytes) -> None:
    with pytest.raises(CatalogFault, match="exchange rates"):
        read_ecb(content)


RATES = read_ecb(_xml())


@pytest.mark.parametrize(
    ("amount", "currency", "to", "worth"),
    [
        (10, "EUR", "USD", 12.5),
        (12.5, "USD", "EUR", 10),
        (5, "USD", "CZK", 100),
        (7, "XPF", "XPF", 7),
        (7, "XPF", "EUR", None),
        (7, "EUR", "XPF", None),
    ],
)
def test_conversion(amount: float, currency: str, to: str, worth: float | None) -> None:
    assert convert(amount, currency, to, RATES) == worth


def test_without_rates_only_the_same_currency() -> None:
    assert convert(7, "EUR", "EUR", None) == 7
    assert convert(7, "EUR", "USD", None) is None


@given(
    st.floats(0.01, 1e7),
    st.sampled_from(["EUR", "USD", "CZK"]),
    st.sampled_from(["EUR", "USD", "CZK"]),
)
def test_there_and_back_is_the_same(amount: float, currency: str, to: str) -> None:
    there = convert(amount, currency, to, RATES)
    assert there is not None
    assert convert(there, to, currency, RATES) == pytest.approx(amount)


@pytest.mark.parametrize(
    ("code", "amount", "currency", "changed"),
    [
        ("XTS", 0.5, "USD", {"XTS": 2.5}),
        ("USD", 0.5, "EUR", {"USD": 2.0}),
        ("USD", 30.0, "CZK", {"CZK": 37.5}),
        ("EUR", 2.0, "XTS", {"XTS": 2.0}),
    ],
)
def test_a_rate_of_ones_own(
    code: str, amount: float, currency: str, changed: dict[str, float]
) -> None:
    given = with_rate(RATES, code, amount, currency)
    assert given is not None and given.rates == {**RATES.rates, **changed}
    assert convert(1.0, code, currency, given) == pytest.approx(amount)
    assert given.source.endswith(f"1 {code} = {amount:g} {currency} as given")


@pytest.mark.parametrize(
    "own",
    [("XTS", 1.0, "XPF"), ("USD", 2.0, "USD"), ("XTS", 0.0, "USD"), ("XTS", float("nan"), "USD")],
)
def test_what_is_no_rate_of_ones_own(own: tuple[str, float, str]) -> None:
    assert with_rate(RATES, *own) is None
