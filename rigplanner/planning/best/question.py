"""What is asked: works, objective, money, and what the rig must and must not be."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.rig.document import Site
from rigplanner.rig.workload import Workload

Objective = Literal["fastest", "cheapest", "per-money", "least-watts"]

Size = Literal["any", "atx", "matx", "itx"]
"""The largest board that the case may be for."""

LEAST_CORES, CORES_PER_CARD = 6, 4
LEAST_RAM_GIB, LEAST_STORAGE_GB = 32.0, 900.0
"""What a computer for such work has at least: judgement, not measurement. RAM is also no less than
the memory of the cards together, so that a model can be loaded and kept."""
PRICE_AGE_DAYS = 730
"""Parts whose newest price is older are left out, and counted."""
MOST_CARDS = 16


class Want(Struct, frozen=True, kw_only=True):
    """One work: its `weight` in the mean speed (0: it must only fit), and the speed that it must
    reach in its own metric (of times: not exceed)."""

    workload: Workload
    weight: float = 1.0
    at_least: float | None = None


def on_any_cards(workload: Workload) -> Workload:
    """Return a work of a rig without the degrees by which it is divided among the cards of that
    rig: another rig has other cards. What is offloaded stays so."""
    plan = workload.parallelism
    return workload if plan is None or plan.offload else replace(workload, parallelism=None)


class Owned(Struct, frozen=True, kw_only=True):
    """A part that is there already, how many of it, and what selling one would bring."""

    part: str
    quantity: int = 1
    resale: float = 0.0


class Question(Struct, frozen=True, kw_only=True):
    """What a person asks. `budget` in `currency`, None when open. `used`: prices of used parts
    count too. `abroad`: those of other markets count for every kind of part. `tight`: a job may
    reach the limit of a card's memory within the interval of its prediction. `quiet`: no blowers,
    no passive cards, no open frames, two cards at most. `growth`: slots that a card as thick as two
    columns may take later. `makers` and `not_makers` are of the chips of GPUs; `pinned` parts are
    in every rig that counts, with so many cards as `least_cards` says."""

    wants: tuple[Want, ...]
    objective: Objective = "fastest"
    budget: float | None = None
    currency: str = "USD"
    site: Site = Site()
    rates: ExchangeRates | None = None
    used: bool = False
    abroad: bool = False
    tight: bool = False
    quiet: bool = False
    size: Size = "any"
    growth: int = 0
    makers: tuple[str, ...] = ()
    not_makers: tuple[str, ...] = ()
    owned: tuple[Owned, ...] = ()
    pinned: tuple[str, ...] = ()
    least_cards: int = 0
    most_cards: int = MOST_CARDS
    cores: int = LEAST_CORES
    ram_gib: float = LEAST_RAM_GIB
    storage_gb: float = LEAST_STORAGE_GB
    price_age_days: int = PRICE_AGE_DAYS
