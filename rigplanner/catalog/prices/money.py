"""Amounts of money as people and shops write them."""

import re

CURRENCY_OF_SIGN = {
    "$": "USD",
    "US$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "NT$": "TWD",
    "CA$": "CAD",
    "A$": "AUD",
    "Kč": "CZK",
    "₪": "ILS",
    "₹": "INR",
}
LARGEST_AMOUNT = 1e8
WHOLE_CURRENCIES = {"TWD", "JPY", "KRW", "VND", "CLP"}
"""Currencies quoted without decimals in shops."""

_CODE = re.compile(r"[A-Z]{3}")
_SIGNED = re.compile(
    r"(?P<before>[^\d\s.,+-]{1,4}|[A-Z]{3})?\s*(?P<digits>\d[\d.,\s'’]*)\s*(?P<after>[^\d\s.,+-]{1,4})?"
)


def read_amount(digits: str) -> float | None:
    """Return the amount in "1,234.56", "1,51,200", "1.234,56", "1 234,5" or "1234"; None when the
    marks do not make one number."""
    plain = re.sub(r"[\s'’\u00a0\u202f]", "", digits).rstrip(".,")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?|\d{1,2}(,\d{2})+,\d{3}(\.\d+)?|\d+(\.\d+)?", plain):
        return float(plain.replace(",", ""))
    if re.fullmatch(r"\d{1,3}(\.\d{3})+(,\d+)?|\d+,\d{1,2}", plain):
        return float(plain.replace(".", "").replace(",", "."))
    return None


def read_money(text: str) -> tuple[float | None, str | None]:
    """Return amount and currency code of "NT$22,500", "1.234,50 €" or "99.90"; None for what is not
    there or not possible."""
    match = _SIGNED.fullmatch(text.strip())
    if match is None or len(text) > 40:
        return None, None
    amount = read_amount(match["digits"])
    sign = (match["before"] or match["after"] or "").strip()
    currency = CURRENCY_OF_SIGN.get(sign, sign if _CODE.fullmatch(sign) else None)
    if (sign and currency is None) or amount is None or not 0 < amount < LARGEST_AMOUNT:
        return None, None
    return amount, currency
