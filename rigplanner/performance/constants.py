"""The fitted constants of the speed model, as shipped in `catalog/benchmarks/speed_model.json`."""

import math
from functools import cache
from typing import Literal

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json

EIGHTY_PERCENT = 1.2816
"""Quantile of the normal distribution that bounds its middle 80 %."""


Nearness = Literal["GPU", "one source", "network", "stack", "nothing"]
"""What the nearest rows share with a job: stack, network and GPU, by the word of several sources or
of one (of a stranger, not the user); stack and network; the stack; not even that."""
Strange = Literal["kind", "precision", ""]
"""What no row of the stack shares with a job: task on a net of its kind; its precision. Empty where
some do, or no row has the stack."""


class Physics(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Multipliers of the physical model, 1 where nothing was learned.

    `matrix`: matrix rate by arithmetic path; `generation`: matrix rate by architecture;
    `kind_matrix`, `kind_traffic`, `kind_launch`: matrix rate, traffic and host time by kind of net;
    `launch`: host time per kernel by family of stack; `generation_traffic`: traffic by
    architecture; `half_rate`: matrix rate of cards whose units halve it when they accumulate in
    FP32 (they come nearer to that smaller peak). `update`: host time of the optimizer by family of
    stack, `update_wide` that of unfused FP32 optimizers. `stream_...`: traffic, traffic on HBM and
    kernel overhead of language models that write, `serve_traffic` traffic of many streams together.
    Power: cards whose FP16 rate per watt passes `watt_rate` (growing by `watt_era` per era) lose
    `power_slope` of the excess, shader arithmetic `power_vector` of that; units of matrices and of
    shaders slow down by base over boost clock to the power of `clock_matrix` and `clock_vector`.
    `youth`: log of the matrix rate lost where software is as old as the silicon. `exchange`: time
    of an exchange by link class, `ring` where processes stage it through the host, `staged` where
    one process copies, `served` where engines add up activations; `crowd`: its growth per doubling
    of the GPUs beyond two over PCIe with peer access, `crowd_staged`: of copies with the cards that
    share a way to the host. `overlap`: share of a step that hides an exchange; `last_bucket`: share
    of an exchange that nothing hides."""

    matrix: dict[str, float]
    generation: dict[str, float]
    kind_matrix: dict[str, float]
    kind_traffic: dict[str, float]
    launch: dict[str, float]
    generation_traffic: dict[str, float]
    kind_launch: dict[str, float]
    update: dict[str, float]
    update_wide: float
    half_rate: float
    traffic_train: float
    traffic_forward: float
    weights: float
    tail: float
    stream_traffic: float
    stream_fast_memory: float
    serve_traffic: float
    stream_tail: float
    power_slope: float
    power_vector: float
    watt_rate: float
    watt_era: float
    clock_matrix: float
    clock_vector: float
    youth: float
    exchange: dict[str, float]
    crowd: float
    crowd_staged: float
    overlap: float
    last_bucket: float


class SpeedModel(Struct, frozen=True, forbid_unknown_fields=True):
    """Physics, and the constants of kriging: variances by term, weights of squared silicon
    distances (wide and narrow) and of the other distances, `scatter` (by how much residuals of a
    family of stacks or a kind of net exceed the usual), and where all came from. By how near the
    nearest evidence is (`Nearness`): the factors by which left-out errors exceed the kriging error,
    and the half-widths in log units that no row takes away, some for a task alone. `strange`:
    half-widths that come on top, by what the stack was never measured on; `certain`: factors of
    widths by task, some for a family of stacks alone; `novelty`: factors of widths by nearness, by
    which rows of strangers lie further off than rows left out."""

    physics: Physics
    variances: dict[str, float]
    wide: tuple[float, ...]
    narrow: tuple[float, ...]
    distances: dict[str, float]
    scatter: dict[str, float]
    widening: dict[str, float]
    provenance: str
    floor: dict[str, float] = {}
    strange: dict[str, float] = {}
    certain: dict[str, float] = {}
    novelty: dict[str, float] = {}

    def scattered(self, family: str, kind: str) -> float:
        """Return by how much residuals of such jobs exceed the usual."""
        return self.scatter.get(family, 1.0) * self.scatter.get(f"kind {kind}", 1.0)

    def half_width(
        self,
        near: Nearness,
        deviation: float,
        task: str = "",
        strange: Strange = "",
        family: str = "",
    ) -> float:
        """Return half the width of the 80 % interval in log units of a prediction with this kriging
        error."""
        usual = EIGHTY_PERCENT * deviation * self.widening.get(near, 1.0)
        floor = self.floor.get(f"{near} {task}", self.floor.get(near, 0.0))
        certain = self.certain.get(f"{family} {task}", self.certain.get(task, 1.0))
        novel = self.novelty.get(near, 1.0)
        return novel * certain * math.hypot(usual, floor, self.strange.get(strange, 0.0))


@cache
def speed_model() -> SpeedModel:
    """Return the shipped constants, read once."""
    return read_json(
        (data_path("catalog") / "benchmarks" / "speed_model.json").read_bytes(), SpeedModel
    )
