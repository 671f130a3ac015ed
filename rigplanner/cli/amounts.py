"""Sums of money as people write them on the command line."""

import re

from rigplanner.catalog.prices.money import CURRENCY_OF_SIGN
from rigplanner.cli.faults import InputFault

_SUM = re.compile(
    r"(?P<before>[^\d\s.,-]{1,4})?\s*(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>[km](?![^\W\d]))?"
    r"\s*(?P<after>[^\d\s.,-]{1,4})?",
    re.IGNORECASE,
)
UNITS = {"": 1.0, "k": 1e3, "m": 1e6}
LARGEST = 1e9


def amounts_asked(text: str, option: str, most: int) -> tuple[list[float], str | None]:
    """Return sums above 0 and the currency that is written beside them, if any: `5000`, `5k`,
    `$5,000`, `2000,5000 EUR`. Raises InputFault."""
    found, currencies = list[float](), set[str]()
    for word in _apart(text):
        read = _SUM.fullmatch(word.strip())
        amount = float(read["amount"]) * UNITS[(read["unit"] or "").casefold()] if read else 0.0
        if not read or not 0 < amount < LARGEST or len(found) == most:
            raise InputFault(
                f"{option}: expected up to {most} amounts above 0, as 5000, 5k or 2000,5000 EUR,"
                f" found {text[:60]!r}."
            )
        found.append(amount)
        said = filter(None, (read["before"], read["after"]))
        currencies |= {CURRENCY_OF_SIGN.get(each, each.upper()) for each in said}
    if len(currencies) > 1:
        raise InputFault(f"{option}: expected one currency, found {text[:60]!r}.")
    return found, next(iter(currencies), None)


def budgets_asked(text: str, currency: str | None, most: int) -> tuple[list[float], str]:
    """Return `--budget` as sums and the currency that they are in: as `--currency` says, as stands
    beside them, else US dollars. Raises InputFault where the two differ."""
    found, beside = amounts_asked(text, "--budget", most)
    told = (currency or beside or "USD").upper()
    if beside and beside != told:
        raise InputFault(f"--budget: expected {told} as of --currency, found {text[:60]!r}.")
    return found, told


def _apart(text: str) -> list[str]:
    """Sums between commas. A comma parts thousands where what stands around it is no list: before
    three noughts, behind one or two figures, or beside a currency."""
    thousands = re.search(r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)", text)
    if thousands and (
        ",000" in thousands[0] or len(thousands[0].split(",")[0]) < 3 or text != thousands[0]
    ):
        text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    return text.split(",") if text else []
