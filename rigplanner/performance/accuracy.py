"""How right the speed model is: every measured row predicted without the rows that would give it
away."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any, Literal

import msgspec
from msgspec import Struct

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.error_figures import Errors, errors_of
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.anchors import find_gpu
from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.measured import Measured
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.silicon import generation_of

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


BETWEEN = ("p2p", "exchange", "gradients")
"""Words of a variant that concern several GPUs alone: a single one has them not."""


def _job(row: Measured) -> tuple[Any, ...]:
    """What rows of different GPUs must share to be ranked."""
    work = row.workload
    told = (work.stack, work.model, work.task or "", work.precision, row.metric, row.count)
    return (*told, work.seq_len, work.input_tokens, work.output_tokens)


def _setting(row: Measured) -> tuple[Any, ...]:
    """What a row of several GPUs and one of a single GPU must share to tell scaling."""
    work = row.workload
    variant = sorted((key, str(value)) for key, value in work.variant.items() if key not in BETWEEN)
    told = (work.stack, work.model, work.precision, work.batch_per_gpu, work.seq_len, row.gpu)
    return (*told, row.metric, row.source.split("/")[0], *variant)


def _grouped(
    judged: Iterable[Judged], of: Callable[[Measured], Hashable]
) -> dict[Hashable, list[Judged]]:
    groups: dict[Hashable, list[Judged]] = {}
    for item in judged:
        groups.setdefault(of(item.row), []).append(item)
    return groups


def errors_by(
    judged: Sequence[Judged], rows: Iterable[Measured], of: Callable[[Measured], str]
) -> list[Errors]:
    """Return the errors of each group of rows that `of` names and of which any was predicted, the
    group of most rows first."""
    asked = Counter(map(of, rows))
    found = [
        summarise(members, str(name), asked[str(name)])
        for name, members in _grouped(judged, of).items()
    ]
    return sorted(found, key=lambda errors: (-errors.cases, errors.group))


def ranking(judged: Sequence[Judged]) -> Ranking:
    """Return how often the faster of two different GPUs on the same job was named."""
    pairs = right = 0
    for job in _grouped(judged, _job).values():
        for one, other in combinations(job, 2):
            ratio = one.row.value / other.row.value
            if one.row.gpu != other.row.gpu and max(ratio, 1 / ratio) >= CLEAR_DIFFERENCE:
                pairs += 1
                right += (one.predicted > other.predicted) == (ratio > 1)
    return Ranking(pairs, right)


def scaling(judged: Sequence[Judged]) -> Scaling:
    """Return the mean error of the scaling efficiency against the single GPU of the same source,
    job and batch."""
    single = {
        _setting(item.row): item
        for item in judged
        if item.row.count == 1 and item.row.metric.endswith("/s")
    }
    missed = []
    for item in judged:
        row, alone = item.row, single.get(_setting(item.row))
        if alone and 2 <= row.count <= 16 and (row.workload.task or "").startswith("train"):
            told, was = item.predicted / alone.predicted, row.value / alone.row.value
            missed.append(abs(told - was) / row.count)
    return Scaling(len(missed), fmean(missed) if missed else 0.0)
