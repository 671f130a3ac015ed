"""Tables in pasted lists: which column holds what, told by the words of the heading; and which kind
of part a label means."""

import re

from msgspec import Struct

from rigplanner.catalog.prices.money import CURRENCY_OF_SIGN, read_money
from rigplanner.data import shipped_path
from rigplanner.decoding import read_json


class Labels(Struct, frozen=True, forbid_unknown_fields=True):
    """The words with which lists name a kind, and labels of what the catalog has no kind for, or
    that may be anything."""

    kinds: dict[str, tuple[str, ...]]
    other: tuple[str, ...]


_LABELS = read_json((shipped_path("resources") / "lists" / "labels.json").read_bytes(), Labels)
KIND_OF_WORD = {word: kind for kind, words in _LABELS.kinds.items() for word in words}
_WORDS = sorted(map(re.escape, (*KIND_OF_WORD, *_LABELS.other)), key=len, reverse=True)
_USES = (
    "primary|secondary|first|second|third|main|boot|system|os|model|fast|slow|data|datastore"
    "|scratch|bulk|cache|cold|hot|vm|vms|backup|archive|media|home|root|swap|games?|docker|work|results"
    "|internal|external|tiering|sata|nvme|m\\.2|ssd|hdd"
)
_LABEL = re.compile(
    rf"(?:(?:{_USES})(?: |\s?[/+&]\s?)){{0,4}}"
    rf"({'|'.join(_WORDS)})s?"
    rf"(?: (?:primary|secondary|main|boot|os|data|models?|bulk|cache|backup|tank|upgrade)|\s?#?\d)?"
)

_HEADINGS = (
    ("number", re.compile(r"#|no\.?|nr\.?")),
    (
        "quantity",
        re.compile(
            r"qty|quantity|count|ks|pcs|quantité|anzahl|menge|數量|数量|počet|#"
            r"|amount|số lượng|ilość|cantidad|quantidade|aantal|antal|кол-во|количество|個数"
        ),
    ),
    ("total", re.compile(r"(?:line |sub)?total\b.*|total price|sum|celkem|gesamt|小計")),
    (
        "price",
        re.compile(
            r"(?:est\.? |approx\.? |unit |[~≈])?(?:price|cost|prix|preis|kosten|cena)\b.*|each"
            r"|.*(?:價格|价格|單價|单价|價位|价位|報價|报价)"
        ),
    ),
    (
        "kind",
        re.compile(
            r"type|component|category|part|kind|pièce|composant|kategorie|typ|bauteil"
            r"|komponente|komponenta"
            r"|類別|类别|部件|配件|零件|組件|组件|配置|硬件"
        ),
    ),
    (
        "name",
        re.compile(
            r"item|product|name|pick|choice|selection|selected|référence|reference|description"
            r"|spec(?:ific)?\b.*|specs?|specifications?"
            r"|model\b.*|modell"
            r"|details?|规格|規格|recommendation|recommended|component|part|produkt|bezeichnung"
            r"|název|popis|品名|名稱|名称|型號|型号|商品|产品|產品"
        ),
    ),
)
_CURRENCY = re.compile(r"\(\s*(?:(?P<code>[A-Z]{3})|(?P<sign>NT\$|US\$|[$€£₪]|Kč))\s*\)")
"""A heading's currency: "Price (CHF)"; a yen sign alone may mean either country's money."""
_PICTURES = re.compile("[\u2190-\u2bff\ufe0e\ufe0f\U0001f000-\U0001faff]")
_COUNT_OF_LABEL = re.compile(
    r"\s*\(?[x×]\s?(\d{1,2})\)?\s*$|^\s*(\d{1,2})\s?[x×]\s*|\s*\((\d{1,2})\s?[x×]\)\s*$",
    re.IGNORECASE,
)
_EACH = re.compile(r"unit|each|/", re.IGNORECASE)
MOST_HEADING_LETTERS = 40


_SUM = re.compile(
    r"\W*(?:(?:sub)?total\b|合计|合計|总计|總計|celkem\b|gesamt\b|summe\b)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]{2,}")
"""A sum has a currency beside its figures; more words name a part: "Total | 96 GB DDR5"."""


class Columns(Struct, frozen=True):
    """Which cell of a row holds what; None where the table has no such column. `each` says that the
    price is that of one piece, `currency` what the heading of the prices says that they are in."""

    name: int
    kind: int | None = None
    quantity: int | None = None
    price: int | None = None
    total: int | None = None
    each: bool = False
    currency: str | None = None


class Row(Struct, frozen=True):
    """One row of a table: the words of the part, its kind, how many, and a price with its currency,
    of one piece if `each`."""

    words: str
    kind: str | None
    quantity: int
    price: tuple[float, str] | None
    each: bool


def is_label(text: str) -> bool:
    """Say whether a text only names what stands beside it ("GPUs", "PSU Primary", "Storage (OS)",
    "Case Fan")."""
    return _LABEL.fullmatch(_plain(text)) is not None


def is_other_label(text: str) -> bool:
    """Say whether a label names what the catalog has no kind for ("Display", "WLAN")."""
    found = _LABEL.fullmatch(_plain(text))
    return found is not None and found[1] not in KIND_OF_WORD


def split_label(text: str) -> tuple[str, str]:
    """Return the label with which a line without any mark begins, and the rest: "Storage Samsung
    850 EVO 500GB"."""
    words = text.split()
    for count in (2, 1):
        label = " ".join(words[:count])
        if len(words) > count + 1 and kind_of_label(label) is not None:
            return label, " ".join(words[count:])
    return "", text


def counted_label(label: str) -> tuple[int, str]:
    """Return how many a label says that there are ("GPU ×2"), 1 where it does not, and the rest of
    it."""
    found = _COUNT_OF_LABEL.search(label)
    rest = _COUNT_OF_LABEL.sub("", label)
    if found is None or not is_label(rest):
        return 1, label
    return int(next(filter(None, found.groups()))), rest


def kind_of_label(text: str) -> str | None:
    """Return the kind that a label names, or None."""
    found = _LABEL.fullmatch(_plain(text))
    return KIND_OF_WORD.get(found[1]) if found else None


def _plain(text: str) -> str:
    broad, mark, narrow = text.strip(" :").rpartition(":")
    if mark and _LABEL.fullmatch(_plain(broad)):
        return _plain(narrow)
    return " ".join(
        _PICTURES.sub(" ", re.sub(r"\([^)]*\)|\*", " ", text)).strip(" :").casefold().split()
    )


def columns_of(cells: list[str]) -> Columns | None:
    """Return the columns that a heading names, or None for a row that is no heading."""
    taken: dict[str, int] = {}
    texts = {n: _plain(cell) or cell.strip() for n, cell in enumerate(cells)}
    if any(len(text) > MOST_HEADING_LETTERS for text in texts.values()):
        return None
    for meaning, pattern in _HEADINGS:
        free = (
            n for n, text in texts.items() if n not in taken.values() and pattern.fullmatch(text)
        )
        place = next((n for n in free if meaning != "number" or n == 0), None)
        if place is not None:
            taken[meaning] = place
    if "name" not in taken and "kind" in taken:
        taken["name"] = taken.pop("kind")
    if "name" not in taken or len(taken) < 2:
        return None
    if "price" not in taken and "quantity" in taken and texts[taken["quantity"]] == "amount":
        taken["price"] = taken.pop("quantity")
    price = taken.get("price")
    each = price is not None and bool(_EACH.search(cells[price]))
    total = taken.get("total")
    currency = next(
        (
            found
            for place in (price, total)
            if place is not None and (found := _currency(cells[place]))
        ),
        None,
    )
    return Columns(
        taken["name"], taken.get("kind"), taken.get("quantity"), price, total, each, currency
    )


def _currency(heading: str) -> str | None:
    found = _CURRENCY.search(heading)
    return (found["code"] or CURRENCY_OF_SIGN.get(found["sign"])) if found else None


def row_of(cells: list[str], columns: Columns) -> Row | None:
    """Return what a row says, or None where it names no part (a sum, a remark)."""
    words = _cell(cells, columns.name)
    label = _cell(cells, columns.kind)
    if columns.kind is None:
        label = next(
            (cell for cell in _free(cells, columns) if is_label(counted_label(cell)[1])), ""
        )
        if is_label(counted_label(words)[1]):
            label, words = (
                words,
                next((cell for cell in _free(cells, columns) if cell != label), ""),
            )
    if not words or words.casefold().startswith(
        ("total", "prices include", "generated by", "subtotal")
    ):
        return None
    if _SUM.match(label) and len(_WORD.findall(words)) < 2:
        return None
    of_label, label = counted_label(label)
    counted = _cell(cells, columns.quantity).strip(" x×")
    quantity = int(counted) if counted.isdecimal() and len(counted) < 7 else of_label
    price, total = (
        _money(_cell(cells, place), columns.currency) for place in (columns.price, columns.total)
    )
    if price is None and total is not None and quantity:
        return Row(
            words, kind_of_label(label), quantity, (total[0] / quantity, total[1]), each=True
        )
    return Row(words, kind_of_label(label), quantity, price, each=columns.each or total is not None)


def _free(cells: list[str], columns: Columns) -> list[str]:
    """Return the texts in the columns of which the heading says nothing."""
    known = {columns.name, columns.quantity, columns.price, columns.total}
    return [cell for n, cell in enumerate(cells) if n not in known and cell]


def _money(cell: str, usual: str | None) -> tuple[float, str] | None:
    amount, currency = read_money(
        cell.partition("@")[0]
        .casefold()
        .removeprefix("purchased for")
        .strip(" ~≈")
        .upper()
        .replace("KČ", "Kč")
    )
    currency = currency or usual
    return (amount, currency) if amount is not None and currency is not None else None


def _cell(cells: list[str], place: int | None) -> str:
    return cells[place].strip() if place is not None and place < len(cells) else ""
