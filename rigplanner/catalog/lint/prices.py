"""Is a price one that memory of its kind was ever sold at?"""

from collections.abc import Iterator
from functools import cache

from rigplanner.catalog.lint.complaint import Complaint
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates, convert, shipped_rates
from rigplanner.catalog.schema.parts import GPU, MemoryKit, Part, Storage

USD_PER_GB = {
    "DDR3": (0.3, 20.0),
    "DDR4": (0.8, 40.0),
    "DDR5": (1.5, 80.0),
    "drive": (0.02, 2.0),
    "disk": (0.005, 0.2),
    "gpu": (0.5, 1500.0),
}
"""USD per GB between which parts were sold from 2013 to 2026, used or new: half the cheapest and
about twice the dearest price of the catalog. A price in another currency's figures, of another
capacity or of a whole machine is beyond."""


@cache
def _rates() -> ExchangeRates:
    return shipped_rates()


def check_prices(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """The price per GB of memory, drives and GPUs is one at which such were sold; currencies
    without a rate are not judged."""
    kind, capacity_gb = _capacity(part)
    if kind not in USD_PER_GB or not capacity_gb:
        return
    least, most = USD_PER_GB[kind]
    for price in part.prices:
        usd = convert(price.amount, price.currency, "USD", _rates())
        if usd is not None and not least <= usd / capacity_gb <= most:
            found = (
                f"{price.amount:g} {price.currency} on {price.day}, {usd / capacity_gb:.3g} USD/GB"
            )
            yield Complaint(
                part.id, "prices", "price-per-gb", found, f"{least:g} to {most:g} USD/GB"
            )


def _capacity(part: Part) -> tuple[str, float | None]:
    """What the bounds call a part, and its GB (GiB for memory: 7 % do not matter here)."""
    if isinstance(part, MemoryKit):
        return part.type, part.modules * part.module_gib
    if isinstance(part, Storage):
        return "disk" if part.rotation_rpm else "drive", part.capacity_gb
    return ("gpu", part.memory_gib) if isinstance(part, GPU) else ("", None)
