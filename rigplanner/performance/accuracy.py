"""How right the speed model is: every measured row predicted without the rows that would give it
away."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.error_figures import Errors, errors_of
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.measured import Measured
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.silicon import generation_of

if TYPE_CHECKING:
    import pandas as pd

Scheme = Literal[
    "nothing", "row", "network on GPU", "GPU", "generation", "source", "network", "stack"
]
SCHEMES: tuple[Scheme, ...] = (
    "row",
    "network on GPU",
    "GPU",
    "generation",
    "source",
    "network",
    "stack",
)
LEAST_WIDTH = 1e-6
"""Half a width in logarithms that none falls below as a divisor."""
CLEAR_DIFFERENCE = 1.1
"""Two systems that differ by less are not ranked."""


class Judged(Struct, frozen=True):
    """One measured row and what was predicted without the rows that the scheme leaves out."""

    row: Measured
    predicted: float
    low: float
    high: float
    evidence: str = ""

    @property
    def missed(self) -> float:
        """How far the measurement lies from the prediction, over half the width of the interval on
        its side, in logarithms: 1 at its bound."""
        far = self.row.value / self.predicted
        bound = (self.high if far > 1 else self.low) / self.predicted
        return abs(math.log(far)) / max(abs(math.log(bound)), LEAST_WIDTH)

    @property
    def error(self) -> float:
        """Absolute relative error of the prediction."""
        return abs(self.predicted / self.row.value - 1)


class Ranking(Struct, frozen=True):
    """Pairs of GPUs on the same job that differ by more than 10 %, and how many came out in the
    right order."""

    pairs: int
    right: int


class Scaling(Struct, frozen=True):
    """Mean error of the scaling efficiency (in points of 1) over rows of 2 to 16 GPUs with a
    measured single GPU beside them."""

    rows: int
    mean: float


def _key(scheme: Scheme, row: Measured) -> tuple[Any, ...]:
    work = row.workload
    if scheme == "row":
        return (row.id,)
    if scheme == "network on GPU":
        return (work.model, row.gpu)
    if scheme == "GPU":
        return (row.gpu,)
    if scheme in ("source", "network", "stack"):
        return ({"source": row.source, "network": work.model, "stack": work.stack}[scheme],)
    return (generation_of(find_gpu(row.gpu)),)


def _others(
    key_of: Callable[[Measured], tuple[Any, ...]], own: tuple[Any, ...]
) -> Callable[[Measured], bool]:
    return lambda other: key_of(other) != own


def judge(rows: Iterable[Measured], scheme: Scheme) -> list[Judged]:
    """Return a prediction for each row that the model can express, made without all rows that share
    its key in the scheme."""
    keys: dict[str, tuple[Any, ...]] = {}

    def key_of(row: Measured) -> tuple[Any, ...]:
        if row.id not in keys:
            try:
                keys[row.id] = _key(scheme, row)
            except WorkloadFault:
                keys[row.id] = ()
        return keys[row.id]

    judged, zoo = [], shipped_zoo()
    for row in rows:
        own = key_of(row)
        try:
            found = predict_speed(
                row.workload,
                find_gpu(row.gpu),
                row.count,
                row.nodes,
                row.link,
                zoo,
                None,
                row.metric,
                evidence=shipped_evidence(),
                allowed=None if scheme == "nothing" else _others(key_of, own),
            )
        except WorkloadFault:
            continue
        judged.append(Judged(row, found.value, found.low, found.high, found.evidence))
    return judged


def at_first_sight(rows: Iterable[Measured], lines: Iterable[bytes]) -> list[Judged]:
    """Return the rows of a file that keep what was predicted before anyone had looked at their
    source (`first`: `value`, null where it was refused, `low`, `high`)."""
    first = {
        str(raw.get("id")): raw["first"]
        for raw in map(msgspec.json.decode, lines)
        if isinstance(raw.get("first"), dict)
    }
    kept = [(row, first[row.id]) for row in rows if row.id in first]
    return [
        Judged(row, told["value"], told["low"], told["high"])
        for row, told in kept
        if told.get("value")
    ]


def anchored_since(lines: Iterable[bytes]) -> set[str]:
    """Return the ids of rows of a file that became anchors after they were first predicted
    (`anchored`)."""
    return {str(raw.get("id")) for raw in map(msgspec.json.decode, lines) if raw.get("anchored")}


def summarise(judged: Sequence[Judged], group: str, cases: int) -> Errors:
    """Return the errors of a group of which so many were asked for."""
    signed = [item.predicted / item.row.value - 1 for item in judged]
    return errors_of(
        group, cases, signed, [item.low <= item.row.value <= item.high for item in judged]
    )


def judged_frame(judged: Iterable[Judged]) -> "pd.DataFrame":
    """Return a row for each judged one: what was measured, on what, and what was predicted."""
    import pandas as pd

    return pd.DataFrame([_cells(item) for item in judged], columns=list(COLUMNS))


COLUMNS = (
    *("id", "stack", "model", "task", "precision", "metric", "gpu", "count", "batch"),
    *("seq_len", "input_tokens", "output_tokens", "source", "variant"),
    *("measured", "predicted", "low", "high"),
)
BETWEEN = ("p2p", "exchange", "gradients")
"""Words of a variant that concern several GPUs alone: a single one has them not."""
JOB = [
    *("stack", "model", "task", "precision", "metric", "count"),
    *("seq_len", "input_tokens", "output_tokens"),
]
"""Columns that rows of different GPUs must share to be ranked."""
SETTING = ["stack", "model", "precision", "batch", "seq_len", "gpu", "metric", "source", "variant"]
"""Columns that a row of several GPUs and one of a single GPU must share to tell scaling."""


def _cells(item: Judged) -> dict[str, Any]:
    row, work = item.row, item.row.workload
    return {
        "id": row.id,
        "stack": work.stack,
        "model": work.model,
        "task": work.task or "",
        "precision": work.precision,
        "metric": row.metric,
        "gpu": row.gpu,
        "count": row.count,
        "batch": work.batch_per_gpu,
        "seq_len": work.seq_len,
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "source": row.source.split("/")[0],
        "variant": str(
            sorted((key, str(value)) for key, value in work.variant.items() if key not in BETWEEN)
        ),
        "measured": row.value,
        "predicted": item.predicted,
        "low": item.low,
        "high": item.high,
    }


def errors_by(
    judged: Sequence[Judged], rows: Iterable[Measured], of: Callable[[Measured], str]
) -> list[Errors]:
    """Return the errors of each group of rows that `of` names and of which any was predicted, the
    group of most rows first."""
    asked = Counter(map(of, rows))
    table = judged_frame(judged).assign(group=[of(item.row) for item in judged])
    found = [
        errors_of(
            str(name),
            asked[str(name)],
            (members.predicted / members.measured - 1).tolist(),
            members.measured.between(members.low, members.high).tolist(),
        )
        for name, members in table.groupby("group")
    ]
    return sorted(found, key=lambda errors: (-errors.cases, errors.group))


def ranking(judged: Sequence[Judged]) -> Ranking:
    """Return how often the faster of two different GPUs on the same job was named."""
    import numpy as np

    pairs = right = 0
    for _, job in judged_frame(judged).groupby(JOB, dropna=False):
        gpu, measured, predicted = (
            job[name].to_numpy() for name in ("gpu", "measured", "predicted")
        )
        later, earlier = np.tril_indices(len(job), -1)
        ratio = measured[later] / measured[earlier]
        clear = (ratio >= CLEAR_DIFFERENCE) | (ratio <= 1 / CLEAR_DIFFERENCE)
        clear &= gpu[later] != gpu[earlier]
        named = (predicted[later] > predicted[earlier]) == (ratio > 1)
        pairs, right = pairs + int(clear.sum()), right + int((clear & named).sum())
    return Ranking(pairs, right)


def scaling(judged: Sequence[Judged]) -> Scaling:
    """Return the mean error of the scaling efficiency against the single GPU of the same source,
    job and batch."""
    table = judged_frame(judged)
    single = table[(table["count"] == 1) & table.metric.str.endswith("/s")]
    single = single.drop_duplicates(SETTING, keep="last")[[*SETTING, "measured", "predicted"]]
    several = table[table["count"].between(2, 16) & table.task.str.startswith("train")]
    both = several.merge(single, on=SETTING, suffixes=("", "_alone"))
    told, was = (
        both[name] / both[f"{name}_alone"] / both["count"] for name in ("predicted", "measured")
    )
    return Scaling(len(both), float((told - was).abs().mean()) if len(both) else 0.0)
