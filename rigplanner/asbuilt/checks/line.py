"""One line of an acceptance, and what all checks look at."""

from typing import Any, Literal

from msgspec import Struct

from rigplanner.asbuilt.merged import Card
from rigplanner.asbuilt.promise import Promise, PromisedCard
from rigplanner.asbuilt.seen import Fact

Verdict = Literal["kept", "remark", "broken", "unseen"]
"""kept: as promised or better; remark: works, but is worth a look; broken: the promise is not kept;
unseen: the capture does not show it."""
VERDICTS: tuple[Verdict, ...] = ("broken", "remark", "unseen", "kept")
"""Worst first."""
Group = Literal[
    "parts", "links", "memory", "drives", "network", "power", "health", "speed", "software"
]
GROUPS: tuple[Group, ...] = (
    "parts",
    "links",
    "memory",
    "drives",
    "network",
    "power",
    "health",
    "speed",
    "software",
)


class JobLoss(Struct, frozen=True):
    """A workload of the rig by its number, and the share of its speed that is lost."""

    job: int
    share: float


class Cost(Struct, frozen=True, kw_only=True):
    """What a difference costs by the plan's own models: shares lost (0 to 1) of the all-reduce
    rate, of memory bandwidth and of each workload's speed; or the price of what is missing."""

    exchange: float | None = None
    memory: float | None = None
    copies: float | None = None
    jobs: tuple[JobLoss, ...] = ()
    amount: float | None = None
    currency: str = ""


class Line(Struct, frozen=True, kw_only=True):
    """`code` says what was compared, `subject` of which piece, `where` at which PCI address, slot
    or device. `cause` and `step` are codes of the likely cause and the next step; `values` fill the
    words; `low` and `high` bound a predicted figure."""

    code: str
    group: Group
    verdict: Verdict
    subject: str = ""
    where: str = ""
    promised: float | str | None = None
    seen: float | str | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    cause: str = ""
    values: dict[str, Any] = {}
    cost: Cost | None = None


class Pair(Struct, frozen=True):
    """A promised card and the seen one that it became, None for one that is not there."""

    promised: PromisedCard
    card: Card | None


class View(Struct, frozen=True, kw_only=True):
    """What the checks look at: promise, facts, and cards side by side. `loaded` where the links
    were read under load."""

    promise: Promise
    facts: tuple[Fact, ...]
    cards: tuple[Card, ...]
    gpus: tuple[Pair, ...]
    displays: tuple[Pair, ...]
    drives: tuple[Pair, ...]
    nics: tuple[Pair, ...]
    loaded: bool = False
    slots: dict[str, str] = {}

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All promised cards: of jobs, of the monitors, drives and network cards."""
        return (*self.gpus, *self.displays, *self.drives, *self.nics)
