"""Which class of card, what it lacks, what does the same work for less, wait or sell: each line
from figures of the catalog or of a ranking."""

from collections.abc import Sequence
from datetime import date
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Price
from rigplanner.planning.map.cards import Money, built_in, same_kind
from rigplanner.planning.map.rank import RUNS, Row
from rigplanner.rules.software.tables import software, version

CardClass = Literal["game", "titan", "workstation", "server", "laptop", "computer"]
"""game: GeForce, Radeon RX, Arc; titan: the largest chip of its day for private people;
workstation: Quadro, RTX, Radeon Pro; server: Tesla and what followed, without a fan of its own;
laptop; computer: comes with its computer only."""

Lack = Literal["fp16", "fp16-slow", "bf16", "fp64-slow", "p2p", "ecc", "fan", "driver"]
SLOW = 1 / 16
"""Of the FP32 rate: a rate at or below it is a token, no unit to work with (1/64 of FP16 on GP104,
1/32 and 1/64 of FP64 on chips for games)."""
NEWS_DAYS, STEADY = 120, 0.05
"""A price moved when prices so far apart in days differ by more than this share."""
GAMES = ("geforce", "radeon rx", "arc a", "arc b", "radeon vii", "rx vega")
WORKSTATIONS = ("quadro", "nvidia rtx", "radeon pro", "arc pro", "t1000", "t400", "t600")


class Missing(Struct, frozen=True):
    """What a card lacks; `share` of the FP32 rate where it is a slow rate."""

    code: Lack
    share: float | None = None


class Trend(Struct, frozen=True):
    """Two prices of one kind of card, the older first, and how the newer differs as a share."""

    older: Price
    newer: Price
    change: float


class Advice(Struct, frozen=True, kw_only=True):
    """What is to be said of a row. `cheaper` does the same work, at least as fast, with cards for
    games, for `saves` less; `trend` of its price; `sells_for` the newest price of a used one. Of
    work in FP64 `fp32_gain` is how many times as fast the card is in FP32, and `full` the ranked
    cards whose FP64 is no token and that do most of the work for their money; `ecc` whether its
    memory is checked."""

    row: Row
    kind: CardClass
    lacks: tuple[Missing, ...]
    cheaper: Row | None = None
    saves: float | None = None
    trend: Trend | None = None
    sells_for: Price | None = None
    fp32_gain: float | None = None
    full: Row | None = None
    ecc: bool | None = None


FULL_FP64 = 4.0
"""FP32 over FP64 up to which a chip has units for both: 2 on server chips and Titan V, 3 on
Kepler's large chip, 4 on Fermi's with half of them switched off, 8 and more on all others."""


def class_of(gpu: GPU) -> CardClass:
    """Return the class of a card by its form, its cooling and the line that its name is of."""
    name = gpu.name.casefold()
    if "laptop" in name or "max-q" in name or gpu.form_factor == "mxm":
        return "laptop"
    if built_in(gpu):
        return "computer"
    if "titan" in name:
        return "titan"
    if gpu.form_factor != "pcie" or gpu.cooling == "passive":
        return "server"
    if any(word in name for word in WORKSTATIONS):
        return "workstation"
    return "game" if gpu.plays or any(word in name for word in GAMES) else "server"


def lacks(gpu: GPU) -> tuple[Missing, ...]:
    """Return what a card lacks for deep learning, as far as the catalog knows it."""
    rates, found = gpu.dense_tflops, []
    vector, single, double = rates.fp16_vector, rates.fp32, rates.fp64
    if rates.fp16 is None and vector is None and "fp16_vector" in gpu.unsupported:
        found.append(Missing("fp16"))
    elif rates.fp16 is None and vector and single and vector / single <= SLOW:
        found.append(Missing("fp16-slow", vector / single))
    if "bf16" in gpu.unsupported:
        found.append(Missing("bf16"))
    if double and single and double / single <= SLOW:
        found.append(Missing("fp64-slow", double / single))
    if gpu.p2p in ("no", "nvlink-only"):
        found.append(Missing("p2p"))
    if gpu.ecc is False:
        found.append(Missing("ecc"))
    if gpu.cooling == "passive" and gpu.form_factor == "pcie":
        found.append(Missing("fan"))
    if gpu.chip_maker == "NVIDIA" and _is_dropped(gpu.compute_capability):
        found.append(Missing("driver"))
    return tuple(found)


def _is_dropped(capability: str | None) -> bool:
    """Whether the newest CUDA that is known builds for the chip no more."""
    newest = max(software().cuda, key=lambda release: version(release.version))
    return capability is not None and version(capability) < version(newest.lowest)


def advice(row: Row, ranked: Sequence[Row], catalog: Catalog, money: Money) -> Advice | None:
    """Return what is to be said of a ranked card; None for a machine for hire or a part that the
    catalog lost."""
    gpu = catalog.get(row.gpu)
    if not isinstance(gpu, GPU) or row.kind == "hire":
        return None
    kind = class_of(gpu)
    other = _cheaper(row, ranked, catalog) if kind in ("workstation", "server", "titan") else None
    prices = [price for part in _alike(gpu, catalog) for price in part.prices]
    used = [price for price in prices if price.used and money.of(price) is not None]
    return Advice(
        row=row,
        kind=kind,
        lacks=lacks(gpu),
        cheaper=other,
        saves=row.cost - other.cost if other and row.cost and other.cost else None,
        trend=_trend(prices, money),
        sells_for=max(used, key=lambda price: price.day, default=None),
        fp32_gain=_fp32_gain(row),
        full=_full_fp64(row, ranked),
        ecc=gpu.ecc,
    )


def _fp32_gain(row: Row) -> float | None:
    """How many times as fast the row's work in FP64 is in FP32; None where none is in FP64."""
    gains = [answer.speed.fp32_gain for answer in row.answers if answer.speed]
    return max((gain for gain in gains if gain), default=None)


def _full_fp64(row: Row, ranked: Sequence[Row]) -> Row | None:
    """The cards of full FP64 that do most of the work for their money, where the row's is none."""
    gain = _fp32_gain(row)
    if gain is None or gain <= FULL_FP64:
        return None
    found = [
        other
        for other in ranked
        if other.kind == "card"
        and other.fit in RUNS
        and (_fp32_gain(other) or 0.0) <= FULL_FP64
        and other.per("money")
    ]
    return max(found, key=lambda other: other.per("money") or 0.0, default=None)


def _alike(gpu: GPU, catalog: Catalog) -> list[GPU]:
    return [
        part
        for part in catalog.of_kind("gpu")
        if isinstance(part, GPU) and (part is gpu or same_kind(part, gpu))
    ]


def _cheaper(row: Row, ranked: Sequence[Row], catalog: Catalog) -> Row | None:
    """The cheapest cards for games that run the same work at least as fast for less."""
    if row.cost is None or row.score is None:
        return None
    found = [
        other
        for other in ranked
        if other.kind == "card"
        and other.fit in RUNS
        and other.cost is not None
        and other.cost < row.cost
        and (other.score or 0.0) >= (row.score or 0.0)
        and isinstance(gpu := catalog.get(other.gpu), GPU)
        and class_of(gpu) == "game"
    ]
    return min(found, key=lambda other: other.cost or 0.0, default=None)


def _trend(prices: Sequence[Price], money: Money) -> Trend | None:
    """How the price of new cards of a kind moved, from the oldest to the newest; None where two
    prices some months apart are not known or it stood still."""
    plain = replace(money, condition="new")
    dated = sorted(
        ((price.day, price) for price in prices if plain.of(price) is not None),
        key=lambda pair: pair[0],
    )
    if len(dated) < 2:
        return None
    older, newer = dated[0][1], dated[-1][1]
    before, after = plain.of(older), plain.of(newer)
    days = (date.fromisoformat(newer.day) - date.fromisoformat(older.day)).days
    if not before or not after or days < NEWS_DAYS or abs(after / before - 1) < STEADY:
        return None
    return Trend(older, newer, after / before - 1)
