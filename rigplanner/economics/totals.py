"""The sums of a rig in its currency, as its prices are dated and as they would be today."""

from datetime import date

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.classes import is_from_catalog, newest_in, shared_price
from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.prices.index import FRESH_DAYS, carried, shipped_index
from rigplanner.catalog.prices.money import WHOLE_CURRENCIES
from rigplanner.catalog.schema.parts import Accessory, AnyPart, Part, Price
from rigplanner.rig.document import Item, Rig


class Span(Struct, frozen=True):
    """What money would be today, in the rig's currency: the likely amount and an interval of
    80 %."""

    value: float
    low: float
    high: float


BESIDE = frozenset({"monitor", "ups", "pdu", "switch", "furniture"})
"""Types of accessory that are bought with a computer and stand beside it."""


class Line(Struct, frozen=True, kw_only=True):
    """One item's money: `unit` is the price as given, `amount` quantity x unit in the rig's
    currency, None when unknown. `today` is what it would be today by the price index, None
    without an amount or a day to ask for; `fresh`: the price is the person's own, or of the last
    half year."""

    uid: str
    quantity: int
    unit: Price | None
    amount: float | None
    own: bool = False
    today: Span | None = None
    fresh: bool = False


class Totals(Struct, frozen=True, kw_only=True):
    """Sums in `currency`. `subtotal` leaves out the items in `unpriced`, and the items in
    `foreign`, priced in a currency for which the rig has no rate; those in `converted` are counted
    by the rig's rates. `beside` is what of the subtotal stands beside the computer (monitor, UPS):
    the items `aside`. `labour` and `shipping` stand in the total, not in the subtotal. `taxes`
    holds each rate of tax in per cent with its amount, `levies` the further taxes by name with rate
    and amount; all add up to `tax`. `deposit` is what of the total is due first. `today` is
    what the lines would be today before discount and tax, None when no day was asked for or nothing
    is priced; `fresh` is the share of the subtotal that rests on prices of the last half year."""

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
    levies: tuple[tuple[str, float, float], ...] = ()
    labour: float = 0.0
    shipping: float = 0.0
    deposit: float = 0.0
    beside: float = 0.0
    aside: tuple[str, ...] = ()
    oldest_price: str | None = None
    today: Span | None = None
    fresh: float = 1.0


def price_of(rig: Rig, uid: str, catalog: Catalog) -> tuple[Price | None, bool]:
    """Return the price of one piece of an item and whether it is the rig's own (one that was
    taken from the catalog is not); else the newest catalog price, in the rig's currency before one
    that its rates convert and that is not half a year newer, then in any."""
    item = rig.item(uid)
    return _price_of_item(rig, item, catalog) if item is not None else (None, False)


def _price_of_item(rig: Rig, item: Item, catalog: Catalog) -> tuple[Price | None, bool]:
    if item.price is not None:
        return item.price, not is_from_catalog(item.price, catalog)
    part = catalog.get(item.part) or rig.snapshot.get(item.part)
    return (asked_price(part, rig.currency, rig.exchange, catalog) if part else None), False


def asked_price(
    part: AnyPart, currency: str, rates: ExchangeRates | None, catalog: Catalog
) -> Price | None:
    """Return what a part costs by the catalog: its own newest price, or that of an equal part where
    it is much younger. A price in money that no rate counts tells nothing of another part."""
    own = own_price(part, currency, rates)
    shared = shared_price(part, own, catalog)
    counts = shared is not None and convert(1.0, shared.currency, currency, rates) is not None
    return shared if counts else own


def own_price(part: AnyPart, currency: str, rates: ExchangeRates | None) -> Price | None:
    """Return the newest price of a part that somebody may still ask: one in `currency` before one
    that the rates count in it and that is not half a year newer, then any."""
    prices = asked_today(part)
    countable = [
        price for price in prices if convert(1.0, price.currency, currency, rates) is not None
    ]
    return newest_in(countable or prices, currency)


def asked_today(part: AnyPart) -> tuple[Price, ...]:
    """Return the prices of a part that somebody may still ask: what a maker announced at the start
    counts only while the part is sold."""
    if part.status == "current":
        return part.prices
    return tuple(price for price in part.prices if price.condition != "launch")


def _money(amount: float, currency: str) -> float:
    """An amount as it can be paid: in cents, or whole where shops quote whole amounts."""
    return round(amount + 1e-9, 0 if currency in WHOLE_CURRENCIES else 2)


def _line(rig: Rig, item: Item, catalog: Catalog, day: str | None) -> Line:
    price, own = _price_of_item(rig, item, catalog)
    counted = convert(price.amount, price.currency, rig.currency, rig.exchange) if price else None
    amount = (
        _money(_money(counted, rig.currency) * item.quantity, rig.currency)
        if counted is not None
        else None
    )
    part = catalog.get(item.part) or rig.snapshot.get(item.part)
    if price is None or amount is None or day is None or part is None:
        return Line(uid=item.uid, quantity=item.quantity, unit=price, amount=amount, own=own)
    fresh = own or (price.condition != "launch" and not is_old(price, day))
    sure = fresh and (own or price in part.prices)
    return Line(
        uid=item.uid,
        quantity=item.quantity,
        unit=price,
        amount=amount,
        own=own,
        today=Span(amount, amount, amount) if sure else _today(part, price, amount, day),
        fresh=fresh,
    )


def is_old(price: Price, day: str) -> bool:
    """Return whether a price is older than half a year on `day`, or nobody knows its day."""
    try:
        return (date.fromisoformat(day) - date.fromisoformat(price.day)).days > FRESH_DAYS
    except ValueError:
        return True


def _today(part: AnyPart, price: Price, amount: float, day: str) -> Span | None:
    """What an old amount would be on `day`, by the index of the part's class."""
    made = carried(part, price, day, shipped_index())
    if made is None or not price.amount:
        return None
    times = amount / price.amount
    return Span(made.value * times, made.low * times, made.high * times)


def _nets(rig: Rig, lines: list[Line]) -> dict[float | None, float]:
    """Return what is sold at each rate of the general tax, after the discount: parts by their own
    rate or the quote's, labour and shipping by the quote's; under None what has no rate."""
    quote = rig.quote
    own = {item.uid: item.tax_percent for item in rig.items}
    nets: dict[float | None, float] = {}
    for line in lines:
        chosen = own[line.uid]
        rate = chosen if chosen is not None else quote.tax_percent
        if line.amount is not None:
            nets[rate] = nets.get(rate, 0.0) + line.amount * (1 - quote.discount_percent / 100)
    if quote.labour or quote.shipping or not nets:
        nets[quote.tax_percent] = nets.get(quote.tax_percent, 0.0) + quote.labour + quote.shipping
    return nets


def _share(percent: float, rate: float | None, rig: Rig) -> float:
    """The share of a sum that a tax takes, where the general tax on it is `rate` per cent: of the
    bare sum, or of one that contains all taxes."""
    further = sum(tax.percent for tax in rig.quote.more_taxes)
    return percent / (100 + (rate or 0.0) + further if rig.quote.prices_include_tax else 100)


def _taxes(rig: Rig, nets: dict[float | None, float]) -> tuple[tuple[float, float], ...]:
    """Return each rate of the general tax with its amount."""
    rated = {rate: net for rate, net in nets.items() if rate is not None}
    return tuple(
        (rate, _money(net * _share(rate, rate, rig), rig.currency))
        for rate, net in sorted(rated.items(), reverse=True)
    )


def _levies(rig: Rig, nets: dict[float | None, float]) -> tuple[tuple[str, float, float], ...]:
    """Return each further tax: its name, rate and amount, on all that is sold."""
    return tuple(
        (
            tax.name,
            tax.percent,
            _money(
                sum(net * _share(tax.percent, rate, rig) for rate, net in nets.items()),
                rig.currency,
            ),
        )
        for tax in rig.quote.more_taxes
    )


def is_beside(part: Part | None) -> bool:
    """Say whether a part stands beside the computer that it is bought with."""
    return isinstance(part, Accessory) and part.type in BESIDE


def totals(
    rig: Rig, catalog: Catalog, known: dict[str, Line] | None = None, day: str | None = None
) -> Totals:
    """Return the sums of a rig. Tax included in the prices is taken out for the `tax` line and not
    added again. `known` holds lines of items, by uid, that are taken as they are; with `day` (ISO)
    the sums say what they would be on that day."""
    taken = known or {}
    lines = [taken.get(item.uid) or _line(rig, item, catalog, day) for item in rig.items]
    priced = [(line, line.unit) for line in lines if line.unit is not None]
    counted = [(line, price) for line, price in priced if line.amount is not None]
    converted = tuple(line.uid for line, price in counted if price.currency != rig.currency)
    subtotal = _money(sum(line.amount for line in lines if line.amount is not None), rig.currency)
    quote, nets = rig.quote, _nets(rig, lines)
    discount = _money(subtotal * quote.discount_percent / 100, rig.currency)
    labour, shipping = (_money(amount, rig.currency) for amount in (quote.labour, quote.shipping))
    net, taxes, levies = (
        subtotal - discount + labour + shipping,
        _taxes(rig, nets),
        _levies(rig, nets),
    )
    tax = sum(amount for _, amount in taxes) + sum(amount for _, _, amount in levies)
    tax = _money(tax, rig.currency)
    total = _money(net if quote.prices_include_tax else net + tax, rig.currency)
    parts = {item.uid: catalog.get(item.part) or rig.snapshot.get(item.part) for item in rig.items}
    aside = tuple(line.uid for line in lines if is_beside(parts[line.uid]))
    return Totals(
        currency=rig.currency,
        lines=tuple(lines),
        subtotal=subtotal,
        discount=discount,
        tax=tax,
        taxes=taxes,
        levies=levies,
        labour=labour,
        shipping=shipping,
        deposit=_money(total * quote.deposit_percent / 100, rig.currency),
        total=total,
        unpriced=tuple(line.uid for line in lines if line.unit is None),
        foreign=tuple(line.uid for line, _ in priced if line.amount is None),
        converted=converted,
        beside=_money(sum(line.amount or 0.0 for line in lines if line.uid in aside), rig.currency),
        aside=aside,
        oldest_price=min((price.day for _, price in counted), default=None),
        today=_sum_today(lines),
        fresh=sum(line.amount or 0 for line in lines if line.fresh) / (subtotal or 1.0),
    )


def _sum_today(lines: list[Line]) -> Span | None:
    """Add what lines would be today. Lines of one class move together, so their distances to the
    bounds are added as they are, not by squares: the wider reading."""
    spans = [line.today for line in lines if line.today is not None]
    if not spans:
        return None
    return Span(
        sum(span.value for span in spans),
        sum(span.low for span in spans),
        sum(span.high for span in spans),
    )
