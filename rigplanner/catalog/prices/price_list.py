"""A plain CSV of prices with a mapping of its columns to our fields."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from msgspec import Struct

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.find.naming import Naming
from rigplanner.catalog.foreign import Reason, Refusal, csv_rows, text_fault
from rigplanner.catalog.prices.money import read_money
from rigplanner.catalog.prices.prices import Offer, Offers, is_currency, is_day, offer_of
from rigplanner.catalog.schema.parts import KINDS, Price

LARGEST_FILE_BYTES = 32 * 2**20
MOST_ROWS = 200_000
ENCODINGS = ("utf-8", "utf-8-sig", "cp950", "cp1250")
DELIMITERS = ",;\t|"
FIELDS = ("part", "name", "price", "currency", "day", "region", "source", "kind")
"""What a column can be: a part id, a name in words, the amount, and what goes with it."""
COLUMN_WORDS = {
    "part": ("id", "part", "part id"),
    "name": (
        "name",
        "product",
        "item",
        "description",
        "title",
        "品名",
        "名稱",
        "název",
        "nazev",
        "zboží",
        "položka",
    ),
    "price": (
        "price",
        "amount",
        "unit price",
        "cost",
        "價格",
        "售價",
        "單價",
        "cena",
        "cena s dph",
    ),
    "currency": ("currency", "幣別", "měna", "mena"),
    "day": ("day", "date", "日期", "datum"),
    "region": ("region", "country"),
    "source": ("source", "shop", "店家", "obchod"),
    "kind": ("kind", "category", "type"),
}
"""Names of columns that are understood without a mapping."""
FORMULA_BEGINS = ("=", "+", "-", "@", "\t")
BIG5_PAIRS = 0.35
"""In Big5 about 60 % of the trail bytes are above 0x7F, in Czech text few letters with marks follow
each other."""


class Defaults(Struct, frozen=True, kw_only=True):
    """What rows do not say themselves."""

    currency: str
    day: str
    source: str
    region: str | None = None


def read_price_list(
    content: bytes,
    index: PartIndex,
    defaults: Defaults,
    mapping: Mapping[str, str] | None = None,
    encoding: str | None = None,
) -> Offers:
    """Return the prices in a CSV. `mapping` gives our field for a column's name; without it common
    names are understood.

    The delimiter is the one most used in the heading. Raises ValueError when the file is no such
    CSV."""
    if len(content) > LARGEST_FILE_BYTES:
        raise ValueError(f"larger than {LARGEST_FILE_BYTES // 2**20} MiB")
    text = decoded(content, encoding)
    heading = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=lambda mark: _outside_quotes(heading).count(mark))
    refused: list[Refusal] = []
    offers: list[Offer] = []
    columns: dict[str, int] | None = None
    seen = 0
    for line, row in _rows(text, delimiter, refused):
        if columns is None:
            columns = _columns(row, mapping)
            continue
        seen += 1
        if seen > MOST_ROWS:
            refused.append(Refusal(f"line {line}", "", "too-many", f"more than {MOST_ROWS} rows"))
            break
        outcome = _offer(_cells(row, columns), index, defaults)
        if isinstance(outcome, Offer):
            offers.append(outcome)
        else:
            field, reason, found = outcome
            refused.append(Refusal(f"line {line}", field, reason, found[:120]))
    if columns is None:
        raise ValueError("it is empty")
    return Offers(seen=seen, offers=tuple(offers), refused=tuple(refused))


def decoded(content: bytes, encoding: str | None = None) -> str:
    """Return the text of a file in one of ENCODINGS; without one named, UTF-8 is tried and then
    code page 950 or 1250 guessed."""
    if encoding is not None and encoding not in ENCODINGS:
        raise ValueError(f"encoding {encoding!r}; known are {', '.join(ENCODINGS)}")
    high = [byte > 0x7F for byte in content[:200_000]]
    pairs = sum(1 for a, b in pairwise(high) if a and b)
    guess = (
        ("cp950", "cp1250") if sum(high) and pairs / sum(high) > BIG5_PAIRS else ("cp1250", "cp950")
    )
    for name in (encoding,) if encoding else ("utf-8-sig", *guess):
        try:
            return content.decode(name)
        except UnicodeDecodeError:
            continue
    raise ValueError(
        f"not in the encoding {encoding}" if encoding else f"in none of {', '.join(ENCODINGS)}"
    )


def _rows(text: str, delimiter: str, refused: list[Refusal]) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of the rows that are not empty; rows that are no CSV are
    refused."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in csv_rows(reader, "", refused):
        if any(cell.strip() for cell in row):
            yield reader.line_num, row


def _outside_quotes(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line)


def _columns(heading: list[str], mapping: Mapping[str, str] | None) -> dict[str, int]:
    """Return the number of the column for each of our fields; ValueError when names or prices have
    none."""
    names = [cell.strip() for cell in heading]
    if mapping is None:
        folded = [name.casefold() for name in names]
        found = {
            field: folded.index(word)
            for field, words in COLUMN_WORDS.items()
            for word in reversed(words)
            if word in folded
        }
    else:
        strange = [field for field in mapping.values() if field not in FIELDS]
        missing = [name for name in mapping if name not in names]
        if strange or missing:
            known = (
                f"fields are {', '.join(FIELDS)}"
                if strange
                else f"columns are {', '.join(names)[:200]}"
            )
            raise ValueError(f"the mapping names {', '.join(strange or missing)}; {known}")
        found = {field: names.index(name) for name, field in mapping.items()}
    if "price" not in found or not {"name", "part"} & set(found):
        raise ValueError(
            "needs a column for the price and one for the name or part id; columns are"
            f" {', '.join(names)[:200]}"
        )
    return found


def _cells(row: list[str], columns: Mapping[str, int]) -> dict[str, str]:
    return {field: row[number].strip() for field, number in columns.items() if number < len(row)}


def _offer(
    cells: Mapping[str, str], index: PartIndex, defaults: Defaults
) -> Offer | tuple[str, Reason, str]:
    for field, text in cells.items():
        fault: Reason | None = text_fault(text, 300)
        if field != "price" and text.startswith(FORMULA_BEGINS):
            fault = "formula"
        if fault:
            return field, fault, text
    amount, own_currency = read_money(cells.get("price", ""))
    currency = cells.get("currency") or own_currency or defaults.currency
    day = cells.get("day") or defaults.day
    if amount is None:
        return "price", "not-a-price", cells.get("price", "")
    if not is_currency(currency):
        return "currency", "currency", currency
    if not is_day(day):
        return "day", "day", day
    kind = cells.get("kind") or None
    named = _named(cells, index, kind if kind in KINDS else None)
    if named.part is None:
        several = named.confidence == "ambiguous"
        text = cells.get("name") or cells.get("part", "")
        return (
            "name",
            "ambiguous" if several else "no-match",
            f"{text}: {', '.join(named.among)}" if several else text,
        )
    price = Price(
        amount=amount,
        currency=currency,
        day=day,
        source=cells.get("source") or defaults.source,
        region=cells.get("region") or defaults.region,
    )
    return offer_of(cells.get("name") or named.part.id, named.part, named.confidence, price)


def _named(cells: Mapping[str, str], index: PartIndex, kind: str | None) -> Naming:
    part = index.with_id(cells["part"]) if cells.get("part") else None
    return (
        Naming(part, "exact", cells["part"])
        if part
        else index.named_in(cells.get("name", ""), kind)
    )
