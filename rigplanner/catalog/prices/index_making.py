"""Make the monthly price index from the catalog's own prices: equal parts, two days, least
squares."""

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.classes import class_of
from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.prices.index import OTHER, PriceIndex, Series, index_class
from rigplanner.catalog.schema.parts import AnyPart, MemoryKit, Storage

if TYPE_CHECKING:
    import pandas

LEAST_PAIRS = 2
"""A class of fewer pairs has no series of its own and moves as all else does."""
FEW_PAIRS, SPREAD_OF_FEW = 6, 0.3
"""A series of fewer pairs than that is not believed to be nearer than this."""
LEAST_DAYS = 45
"""Prices of equal parts nearer in time than this say how shops differ, not how prices moved."""
CALM = 0.25
"""Weight of "no change" for each month against one pair: a month of which no pair tells anything is
flat."""
FIRST_MONTH = "2025-01"
"""Prices before it are of other markets; they are carried by the level of the first month."""


def price_frame(catalog: Catalog, rates: ExchangeRates) -> "pandas.DataFrame":
    """Return one row a price that counts: part, `equal` (parts that cost the same, in one money:
    markets differ by taxes and trade), class, day, month, condition, and `log_usd`. Launch prices
    and currencies without a rate are left out."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for part in catalog.parts.values():
        for price in part.prices:
            usd = convert(price.amount, price.currency, "USD", rates)
            if usd is None or price.condition == "launch" or price.day[:7] < FIRST_MONTH:
                continue
            for equal, size in _equals(part):
                rows.append(
                    {
                        "part": part.id,
                        "equal": repr((equal, price.condition == "new", price.currency)),
                        "class": index_class(part),
                        "day": pd.Timestamp(price.day),
                        "month": price.day[:7],
                        "log_usd": math.log(usd / size),
                    }
                )
    return pd.DataFrame(rows)


def _equals(part: AnyPart) -> Iterator[tuple[object, float]]:
    """Yield what a part is equal to, and by what its price is divided: parts of its class, and
    memory and drives of its make by their capacity in GB."""
    yield class_of(part) or part.id, 1.0
    if isinstance(part, MemoryKit):
        yield (part.type, part.module, "a GiB"), part.modules * part.module_gib
    elif isinstance(part, Storage) and part.capacity_gb:
        yield (index_class(part), part.interface, "a GB"), part.capacity_gb


def price_pairs(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return pairs of prices of equal parts, the middle of each month, one after the other: class,
    months, years between and the change of the logarithm."""
    import pandas as pd

    lowest = (
        frame.groupby(["class", "equal", "month"], as_index=False)
        .agg(day=("day", "first"), log_usd=("log_usd", "median"))
        .sort_values(["class", "equal", "day"])
    )
    before = lowest.groupby(["class", "equal"])[["month", "day", "log_usd"]].shift()
    pairs = pd.DataFrame(
        {
            "class": lowest["class"],
            "equal": lowest["equal"],
            "begin": before["month"],
            "end": lowest["month"],
            "days": (lowest["day"] - before["day"]).dt.days,
            "change": lowest["log_usd"] - before["log_usd"],
        }
    ).dropna()
    pairs["years"] = pairs["days"] / 365.25
    return pairs[pairs["days"] >= LEAST_DAYS].reset_index(drop=True)


def make_index(catalog: Catalog, rates: ExchangeRates) -> PriceIndex:
    """Return the index of a catalog's prices."""
    pairs = price_pairs(price_frame(catalog, rates))
    months = _months(min(pairs["begin"]), max(pairs["end"]))
    series = {}
    for name, group in pairs.groupby("class"):
        if len(group) >= LEAST_PAIRS or name == OTHER:
            at_once, a_year = _spread(group.reset_index(drop=True))
            if len(group) < FEW_PAIRS:
                at_once = max(at_once, SPREAD_OF_FEW)
            series[str(name)] = Series(
                level=_level(group, months),
                pairs=len(group),
                spread_at_once=at_once,
                spread_a_year=a_year,
            )
    return PriceIndex(
        made_of=f"{len(pairs)} pairs of prices of equal parts in catalog {catalog.version}",
        months=tuple(months),
        series=series,
    )


def _months(first: str, last: str) -> list[str]:
    import pandas as pd

    return [str(month) for month in pd.period_range(first, last, freq="M")]


def _level(pairs: "pandas.DataFrame", months: list[str]) -> dict[str, float]:
    """Fit the change of each month so that pairs are explained, outliers weighing less (weights of
    Huber, three rounds)."""
    import numpy as np

    place = {month: n for n, month in enumerate(months)}
    design = np.zeros((len(pairs), len(months) - 1))
    for row, (begin, end) in enumerate(zip(pairs["begin"], pairs["end"], strict=True)):
        design[row, place[begin] : place[end]] = 1.0
    change = pairs["change"].to_numpy(float)
    weight = np.ones(len(pairs))
    calm = math.sqrt(CALM) * np.eye(len(months) - 1)
    steps = np.zeros(len(months) - 1)
    for _ in range(3):
        root = np.sqrt(weight)[:, None]
        left = np.vstack([design * root, calm])
        right = np.concatenate([change * root[:, 0], np.zeros(len(months) - 1)])
        steps = np.linalg.lstsq(left, right, rcond=None)[0]
        miss = np.abs(change - design @ steps)
        scale = max(0.05, 1.4826 * float(np.median(miss)))
        weight = np.minimum(1.0, 1.345 * scale / np.maximum(miss, 1e-9))
    level = np.concatenate([[0.0], np.cumsum(steps)])
    level -= level[-1]
    return {month: round(float(each), 4) for month, each in zip(months, level, strict=True)}


def _spread(pairs: "pandas.DataFrame") -> tuple[float, float]:
    """Return how far pairs stray from their series: at once, and by the root of a year, each
    pair's series made without it so that none judges itself."""
    import numpy as np

    misses = left_out_misses(pairs)
    years = pairs["years"].to_numpy(float)
    square = np.square(np.clip(misses, -1.5, 1.5))
    design = np.column_stack([np.ones(len(years)), years])
    at_once, a_year = np.linalg.lstsq(design, square, rcond=None)[0]
    if a_year <= 0 or at_once <= 0:  # one spread for all times, or one that grows from nothing
        at_once, a_year = (
            (float(np.mean(square)), 0.0)
            if a_year <= 0
            else (
                0.0,
                float(np.mean(square / np.maximum(years, 0.1))),
            )
        )
    return round(math.sqrt(float(at_once)), 3), round(math.sqrt(float(a_year)), 3)


def left_out_misses(pairs: "pandas.DataFrame") -> Any:
    """Return for each pair the change that it had less that which the index says without the pairs
    of its equal parts. All are of one class."""
    import numpy as np

    months = _months(min(pairs["begin"]), max(pairs["end"]))
    misses = np.zeros(len(pairs))
    for equal, rows in pairs.groupby("equal"):
        others = pairs[pairs["equal"] != equal]
        made = _level(others, months) if len(others) else dict.fromkeys(months, 0.0)
        for row, begin, end, change in _cells(rows):
            misses[row] = change - (made[end] - made[begin])
    return misses


def _cells(rows: "pandas.DataFrame") -> Iterable[tuple[int, str, str, float]]:
    return zip(rows.index, rows["begin"], rows["end"], rows["change"], strict=True)
