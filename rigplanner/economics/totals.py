"""The sums of a rig in its currency."""

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import convert
from rigplanner.catalog.prices.money import WHOLE_CURRENCIES
from rigplanner.catalog.schema.parts import Price
from rigplanner.rig.document import Item, Rig


class Line(Struct, frozen=True, kw_only=True):
    """One item's money: `unit` is the price as given, `amount` quantity x unit in the rig's
    currency, None when unknown."""

    uid: str
    quantity: int
    unit: Price | None
    amount: float | None
    own: bool = False


class Totals(Struct, frozen=True, kw_only=True):
    """Sums in `currency`. `subtotal` leaves out the items in `unpriced`, and the items in
    `foreign`, priced in a currency for which the rig has no rate; those in `converted` are counted
    by the rig's rates. `taxes` holds each rate of tax in per cent with its amount; they add up to
    `tax`."""

    currency: str
    lines: tuple[Line, ...]
    subtotal: float
    discount: float
    tax: float
    total: float
    unpriced: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    converted: tuple[str, ...] = ()
    taxes: tuple[tuple[float, float], ...] = ()
    oldest_price: str | None = None


def price_of(rig: Rig, uid: str, catalog: Catalog) -> tuple[Price | None, bool]:
    """Return the price of one piece of an item and whether it is the rig's own; else the newest
    catalog price, first in the rig's currency, then in one that its rates convert, then in any."""
    item = rig.item(uid)
    return _price_of_item(rig, item, catalog) if item is not None else (None, False)


def _price_of_item(rig: Rig, item: Item, catalog: Catalog) -> tuple[Price | None, bool]:
    if item.price is not None:
        return item.price, True
    part = catalog.get(item.part) or rig.snapshot.get(item.part)
    prices = part.prices if part else ()
    same = [price for price in prices if price.currency == rig.currency]
    countable = [
        price
        for price in prices
        if convert(1.0, price.currency, rig.currency, rig.exchange) is not None
    ]
    return max(same or countable or prices, key=lambda price: price.day, default=None), False


def _money(amount: float, currency: str) -> float:
    """An amount as it can be paid: in cents, or whole where shops quote whole amounts."""
    return round(amount + 1e-9, 0 if currency in WHOLE_CURRENCIES else 2)


def _line(rig: Rig, item: Item, catalog: Catalog) -> Line:
    price, own = _price_of_item(rig, item, catalog)
    counted = convert(price.amount, price.currency, rig.currency, rig.exchange) if price else None
    amount = (
        _money(_money(counted, rig.currency) * item.quantity, rig.currency)
        if counted is not None
        else None
    )
    return Line(uid=item.uid, quantity=item.quantity, unit=price, amount=amount, own=own)


def _taxes(rig: Rig, lines: list[Line]) -> tuple[tuple[float, float], ...]:
    """Return each rate of tax with its amount, after the discount; items without a rate of their
    own have the quote's."""
    own = {item.uid: item.tax_percent for item in rig.items}
    nets: dict[float, float] = {}
    for line in lines:
        chosen = own[line.uid]
        rate = chosen if chosen is not None else rig.quote.tax_percent
        if rate is not None and line.amount is not None:
            nets[rate] = nets.get(rate, 0.0) + line.amount * (1 - rig.quote.discount_percent / 100)
    if not nets and rig.quote.tax_percent is not None:
        nets[rig.quote.tax_percent] = 0.0
    inside = rig.quote.prices_include_tax
    return tuple(
        (rate, _money(net * rate / (100 + rate if inside else 100), rig.currency))
        for rate, net in sorted(nets.items(), reverse=True)
    )


def totals(rig: Rig, catalog: Catalog, known: dict[str, Line] | None = None) -> Totals:
    """Return the sums of a rig. Tax included in the prices is taken out for the `tax` line and not
    added again. `known` holds lines of items, by uid, that are taken as they are."""
    taken = known or {}
    lines = [taken.get(item.uid) or _line(rig, item, catalog) for item in rig.items]
    priced = [(line, line.unit) for line in lines if line.unit is not None]
    counted = [(line, price) for line, price in priced if line.amount is not None]
    converted = tuple(line.uid for line, price in counted if price.currency != rig.currency)
    subtotal = _money(sum(line.amount for line in lines if line.amount is not None), rig.currency)
    discount = _money(subtotal * rig.quote.discount_percent / 100, rig.currency)
    net, taxes = subtotal - discount, _taxes(rig, lines)
    tax = _money(sum(amount for _, amount in taxes), rig.currency)
    total = _money(net if rig.quote.prices_include_tax else net + tax, rig.currency)
    return Totals(
        currency=rig.currency,
        lines=tuple(lines),
        subtotal=subtotal,
        discount=discount,
        tax=tax,
        taxes=taxes,
        total=total,
        unpriced=tuple(line.uid for line in lines if line.unit is None),
        foreign=tuple(line.uid for line, _ in priced if line.amount is None),
        converted=converted,
        oldest_price=min((price.day for _, price in counted), default=None),
    )
