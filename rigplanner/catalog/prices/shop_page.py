"""The price on a shop's page, as the page states it for machines: schema.org Product and Offer, in
JSON-LD or microdata.

Nothing is guessed from how a page looks. A page that states no price, several products, or a price
that is none is refused with the reason."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Literal

from msgspec import Struct

from rigplanner.catalog.foreign import text_fault
from rigplanner.catalog.prices.money import LARGEST_AMOUNT, read_amount
from rigplanner.catalog.prices.prices import is_currency
from rigplanner.catalog.schema.parts import Condition
from rigplanner.decoding import JsonFault, read_tree

LARGEST_PAGE_BYTES = 8 * 2**20
MOST_BLOCKS, MOST_NODES, DEEPEST = 60, 20_000, 30
LONGEST_NAME = 300
Availability = Literal["in stock", "out of stock", "to order", "unknown"]
AVAILABILITY: dict[str, Availability] = {
    "instock": "in stock",
    "onlineonly": "in stock",
    "instoreonly": "in stock",
    "limitedavailability": "in stock",
    "outofstock": "out of stock",
    "soldout": "out of stock",
    "discontinued": "out of stock",
    "preorder": "to order",
    "presale": "to order",
    "backorder": "to order",
    "madetoorder": "to order",
}
CONDITIONS: dict[str, Condition] = {
    "newcondition": "new",
    "usedcondition": "used",
    "refurbishedcondition": "refurbished",
    "damagedcondition": "used",
}
NUMBERS = ("mpn", "sku", "gtin", "gtin8", "gtin12", "gtin13", "gtin14")
PRODUCTS = ("product", "individualproduct", "productmodel")
OFFERS = ("offer", "aggregateoffer")
Node = dict[str, Any]


class ShopOffer(Struct, frozen=True, kw_only=True):
    """What a page states: the product's name and numbers (part number, EAN), the lowest price,
    whether it is in stock, and in which condition."""

    name: str
    amount: float
    currency: str
    availability: Availability
    condition: Condition
    numbers: tuple[str, ...] = ()


def offer_on(page: str) -> ShopOffer:
    """Return the offer that a page states. Raises ValueError with a reason when it states none or
    several."""
    if len(page) > LARGEST_PAGE_BYTES:
        raise ValueError("the page is too large")
    reader = _Reader()
    reader.feed(page)
    reader.close()
    products = [node for node in _nodes(reader.trees()) if _is(node, PRODUCTS)]
    priced = [made for node in products if (made := _offer(node)) is not None]
    if not priced:
        raise ValueError(
            "the page names a product but no price for machines"
            if products
            else "the page states no product and price for machines (schema.org Product, Offer)"
        )
    names = {each.name for each in priced}
    if len(names) > 1:
        names = {name for name in names if name in " ".join(reader.title.split())}
        if len(names) != 1:
            raise ValueError(f"the page states {len(priced)} products; open the page of one")
    return min((each for each in priced if each.name in names), key=lambda each: each.amount)


class _Reader(HTMLParser):
    """Collects JSON-LD blocks, microdata items and the title of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._blocks: list[str] = []
        self._text: list[str] | None = None
        self._in_title = False
        self._items: list[Node] = []
        self._open: list[tuple[str, Node | None, str | None, list[str]]] = []

    def trees(self) -> list[Any]:
        """Return what the blocks hold, and the items; blocks that are no JSON are passed over."""
        found: list[Any] = list(self._items)
        for block in self._blocks[:MOST_BLOCKS]:
            try:
                found.append(read_tree(block.strip().removeprefix("<!--").removesuffix("-->")))
            except JsonFault:
                continue
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script":
            self._text = [] if "ld+json" in (given.get("type") or "").casefold() else None
        self._in_title = tag == "title"
        prop = given.get("itemprop")
        if "itemscope" in given:
            item: Node = {"@type": (given.get("itemtype") or "").rstrip("/").rpartition("/")[2]}
            self._put(prop, item)
            if self._holder() is None:
                self._items.append(item)
            self._enter(tag, item, None)
        elif prop:
            said = given.get("content") or given.get("href") or given.get("value")
            if said is not None or tag in VOID:
                self._put(prop, said)
            else:
                self._enter(tag, None, prop)
        elif tag not in VOID:
            self._enter(tag, None, None)

    def _enter(self, tag: str, item: Node | None, prop: str | None) -> None:
        if tag not in VOID and len(self._open) < MOST_NODES:
            self._open.append((tag, item, prop, []))

    def _holder(self) -> Node | None:
        return next((item for _, item, _, _ in reversed(self._open) if item is not None), None)

    def _put(self, prop: str | None, value: object) -> None:
        holder = self._holder()
        if holder is None or not prop:
            return
        for name in prop.split():
            holder.setdefault(name, []).append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._text is not None:
            self._blocks.append("".join(self._text))
            self._text = None
        self._in_title = False
        for at in range(len(self._open) - 1, max(-1, len(self._open) - DEEPEST), -1):
            if self._open[at][0] == tag:
                _, _, prop, text = self._open[at]
                del self._open[at:]
                if prop:
                    self._put(prop, " ".join("".join(text).split()))
                return

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)
        elif self._in_title:
            self.title += data
        else:
            self._hear(data)

    def _hear(self, data: str) -> None:
        """Add text to the property that it stands in, also inside other tags of it."""
        for _, item, prop, text in reversed(self._open[-DEEPEST:]):
            if prop:
                text.append(data)
            if prop or item is not None:
                return


VOID = frozenset(("meta", "link", "img", "input", "br", "hr", "source", "data"))


def _nodes(trees: list[Any]) -> Iterator[Node]:
    """Yield every object of the trees, the outer first, within limits of depth and number."""
    left, count = [(tree, 0) for tree in reversed(trees)], 0
    while left:
        tree, depth = left.pop()
        count += 1
        if count > MOST_NODES or depth > DEEPEST:
            continue
        if isinstance(tree, dict):
            yield tree
            left += [(each, depth + 1) for each in reversed(list(tree.values()))]
        elif isinstance(tree, list):
            left += [(each, depth + 1) for each in reversed(tree)]


def _is(node: Node, kinds: tuple[str, ...]) -> bool:
    said = node.get("@type")
    names = said if isinstance(said, list) else [said]
    return any(_word(name) in kinds for name in names)


def _word(value: object) -> str:
    """Return the last word of "https://schema.org/InStock", in small letters."""
    text = value.strip().rstrip("/") if isinstance(value, str) else ""
    return re.split(r"[/#:]", text)[-1].casefold()


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _offer(node: Node) -> ShopOffer | None:
    """Return the cheapest offer of a product, None when it states no price."""
    name = _first(node.get("name"))
    if not isinstance(name, str) or text_fault(name.strip(), LONGEST_NAME) is not None:
        return None
    found = [
        (amount, currency, offer)
        for offer in _nodes([node.get("offers"), node.get("Offers")])
        if _is(offer, OFFERS) or "price" in offer or "lowPrice" in offer
        for amount, currency in _prices(offer)
    ]
    if not found:
        return None
    amount, currency, offer = min(found, key=lambda each: each[0])
    numbers = [_first(node.get(field)) for field in NUMBERS]
    available = _word(_first(offer.get("availability")))
    condition = _word(_first(offer.get("itemCondition") or node.get("itemCondition")))
    return ShopOffer(
        name=" ".join(name.split()),
        amount=amount,
        currency=currency,
        availability=AVAILABILITY.get(available, "unknown"),
        condition=CONDITIONS.get(condition, "new"),
        numbers=tuple(str(n).strip() for n in numbers if isinstance(n, str | int) and n),
    )


def _prices(offer: Node) -> Iterator[tuple[float, str]]:
    """Yield the amount and currency of an offer where both are stated and can be."""
    currency = _first(offer.get("priceCurrency"))
    for field in ("price", "lowPrice"):
        amount = _amount(_first(offer.get(field)))
        if amount is not None and isinstance(currency, str) and is_currency(currency.strip()):
            yield amount, currency.strip()
            return
    for inner in _nodes([offer.get("priceSpecification")]):
        code = _first(inner.get("priceCurrency")) or currency
        amount = _amount(_first(inner.get("price")))
        if amount is not None and isinstance(code, str) and is_currency(code.strip()):
            yield amount, code.strip()
            return


def _amount(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        amount: float | None = float(value)
    else:
        amount = read_amount(value.strip()) if isinstance(value, str) else None
    return amount if amount is not None and 0 < amount < LARGEST_AMOUNT else None
