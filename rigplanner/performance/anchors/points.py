"""Where measured rows and jobs lie: what they share with others by name, and their coordinates."""

import math
from typing import TYPE_CHECKING

from msgspec import Struct

from rigplanner.performance.constants import Strange

if TYPE_CHECKING:
    from rigplanner.performance.measured import Measured

WORDS = ("stack", "family", "model", "kind", "task", "precision", "release", "maker")
"""What points may share by name."""
NO_BATCH = -100.0
"""Stands for the logarithm of a batch that nobody named: as far from every real one as can be, and
equal to itself."""


class Point(Struct, frozen=True, cache_hash=True):
    """Where a row lies: what it shares with others by name, and its coordinates. `release` is the
    version of the stack, empty where unknown (and then shared with nobody); `data` says whether
    samples were real or synthetic. `maker` made the GPU, whose coordinates `silicon` holds; `lane`
    is the class of link of several GPUs, `year` that of the stack's release; `batch` is the log of
    the batch per GPU or `NO_BATCH`; `count` the log2 of the GPUs; `tokens` and `written` are logs
    too."""

    stack: str
    family: str
    model: str
    kind: str
    task: str
    precision: str
    lane: str
    release: str
    maker: str
    data: str
    silicon: tuple[float, ...]
    count: float
    tokens: float
    written: float
    year: float
    batch: float


class Placed(Struct, frozen=True):
    """A measured row with its point and the log of measured over modelled speed."""

    row: "Measured"
    point: Point
    residual: float


class Corrected(Struct, frozen=True):
    """Mean and standard deviation of the log correction, and the weight of each row used, in their
    order."""

    mean: float
    deviation: float
    weights: tuple[float, ...]

    @property
    def factor(self) -> float:
        """What the modelled speed is multiplied with."""
        return math.exp(self.mean)

    def scaled(self, scatter: float) -> "Corrected":
        """Return the correction of jobs whose residuals are `scatter` times as large."""
        return Corrected(scatter * self.mean, scatter * self.deviation, self.weights)


class Anchored(Struct, frozen=True):
    """The rows that a prediction leans on, the correction that they give, and what no row of its
    stack shares with it; of a served model, by how much the log correction of one user lies above
    that of many."""

    rows: tuple[Placed, ...]
    correction: Corrected
    strange: Strange = ""
    one_user: float = 0.0
