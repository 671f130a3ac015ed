"""Why a number may be believed: sources, the steps of a calculation, estimates with an interval."""

from typing import Literal

from msgspec import Struct

Trust = Literal["vendor", "manual", "measured", "press", "community"]


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One place a fact was read: `read` is the ISO day, `trust` how near it stands to the maker;
    `recalled` where no page was read and the figures are those commonly known."""

    title: str
    url: str | None = None
    read: str
    trust: Trust
    recalled: bool = False


class Step(Struct, frozen=True):
    """One step of a calculation: `value` (in `unit`) is `formula` applied to `inputs`."""

    name: str
    formula: str
    inputs: dict[str, float | str | None]
    value: float
    unit: str
    source: str = ""


class Estimate(Struct, frozen=True):
    """A predicted value in `unit` with its 80 % interval and the steps it came from."""

    value: float
    low: float
    high: float
    unit: str
    steps: tuple[Step, ...] = ()
