"""The cards that a map shows: one of each chip and memory, with the newest price of its kind."""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.schema.parts import GPU, Price


class Card(Struct, frozen=True, kw_only=True):
    """A GPU that stands for all cards of its chip and memory; `price` is the newest of any of them
    and `cost` that price in the currency asked for, None where none is known or no rate is."""

    gpu: GPU
    boards: int
    price: Price | None = None
    cost: float | None = None


def cards(
    catalog: Catalog, words: str = "", currency: str = "USD", rates: ExchangeRates | None = None
) -> list[Card]:
    """Return the cards whose name holds all `words` ("" for all), one of each chip."""
    kinds: dict[object, list[GPU]] = defaultdict(list)
    for part in catalog.of_kind("gpu"):
        if isinstance(part, GPU) and part.memory_gib:
            kinds[_kind(part)].append(part)
    wanted = None
    if words:
        found = PartIndex(catalog.parts.values()).find(words, "gpu")
        wanted = {_kind(part) for part in found if isinstance(part, GPU)}
    return [
        _card(alike, currency, rates)
        for kind, alike in kinds.items()
        if wanted is None or kind in wanted
    ]


def _kind(gpu: GPU) -> object:
    """What cards share that do the same work at the same rate, whoever made the board."""
    if gpu.chip is None:
        return gpu.id
    return (
        gpu.chip,
        gpu.memory_gib,
        gpu.sms,
        gpu.form_factor,
        gpu.bandwidth_gbs,
        gpu.dies,
        gpu.edge_width,
    )


def _card(alike: list[GPU], currency: str, rates: ExchangeRates | None) -> Card:
    chosen = min(alike, key=lambda gpu: (gpu.vendor != gpu.chip_maker, len(gpu.name), gpu.id))
    price, cost = _newest(alike, currency, rates)
    return Card(gpu=chosen, boards=len(alike), price=price, cost=cost)


def _newest(
    alike: Iterable[GPU], currency: str, rates: ExchangeRates | None
) -> tuple[Price | None, float | None]:
    """The newest price of equal cards that counts in the currency; of one day the lowest."""
    counted = [
        (price, cost)
        for gpu in alike
        for price in gpu.prices
        if (cost := convert(price.amount, price.currency, currency, rates)) is not None
    ]
    if not counted:
        return None, None
    day = max(price.day for price, _ in counted)
    return min(((p, c) for p, c in counted if p.day == day), key=lambda pair: pair[1])
