"""A quote's parts list as a table for spreadsheets and programs: every amount a number, with its
currency and its day in columns of their own."""

from typing import TYPE_CHECKING

from rigplanner.catalog.prices.money import WHOLE_CURRENCIES
from rigplanner.report.language import tr
from rigplanner.report.quote.content import Quote, QuoteLine

if TYPE_CHECKING:
    import pandas as pd

PART_COLUMNS = (
    "Qty",
    "Part",
    "Unit price",
    "Unit currency",
    "Price dated",
    "Amount",
    "Currency",
    "Note",
    "Group",
    "Condition",
    "Warranty months",
    "Part number",
    "EAN",
    "Part id",
    "Detail",
)
AMOUNTS = {"Unit price": "Unit currency", "Amount": "Currency"}
"""Columns of amounts, and those that hold their currencies."""


def parts_frame(quote: Quote) -> "pd.DataFrame":
    """Return the parts list, a row a line and nothing but parts. Amounts are numbers as money is
    counted (no decimals of yen), days ISO dates, cells None where nothing is known; of an unpriced
    part the note says so, and of one that is included. The group tells the computer from what
    stands beside it."""
    import pandas as pd

    rows = [_line(line, quote.totals.currency) for line in quote.lines]
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in rows], dtype=object) for name in PART_COLUMNS}
    )


def _line(line: QuoteLine, currency: str) -> dict[str, object]:
    price = None if line.is_included else line.price
    return {
        "Qty": line.quantity,
        "Part": line.name,
        "Unit price": price.amount if price else None,
        "Unit currency": price.currency if price else None,
        "Price dated": price.day if price else None,
        "Amount": counted(line.value, currency) if price else None,
        "Currency": currency if price and line.value is not None else None,
        "Note": tr("included") if line.is_included else None if price else tr("no price"),
        "Group": tr("beside the computer") if line.is_beside else tr("computer"),
        "Condition": line.condition or None,
        "Warranty months": line.warranty_months,
        "Part number": line.part_number or None,
        "EAN": line.ean or None,
        "Part id": line.part or None,
        "Detail": line.detail or None,
    }


def counted(amount: float | None, currency: str) -> float | None:
    """Return an amount as money of its currency is counted, in whole units or in hundredths."""
    return None if amount is None else round(amount, 0 if currency in WHOLE_CURRENCIES else 2)
