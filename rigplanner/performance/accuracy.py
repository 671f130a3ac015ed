"""How right the speed model is: every measured row predicted without the rows that would give it
away."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
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
CLEAR_DIFFERENCE = 1.1
"""Two systems that differ by less are not ranked."""


class Judged(Struct, frozen=True):
    """One measured row and what was predicted without the rows that the scheme leaves out."""

    row: Measured
    predicted: float
    low: float
    high: float

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
        judged.append(Judged(row, found.value, found.low, found.high))
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


def errors_by(
    judged: Iterable[Judged], rows: Iterable[Measured], of: Callable[[Measured], str]
) -> list[Errors]:
    """Return the errors of each group of rows that `of` names and of which any was predicted, the
    group of most rows first."""
    asked, groups = Counter(map(of, rows)), defaultdict[str, list[Judged]](list)
    for item in judged:
        groups[of(item.row)].append(item)
    named = sorted(groups.items(), key=lambda pair: (-asked[pair[0]], pair[0]))
    return [summarise(members, name, asked[name]) for name, members in named]


def ranking(judged: Sequence[Judged]) -> Ranking:
    """Return how often the faster of two different GPUs on the same job was named."""
    jobs: dict[tuple[Any, ...], list[Judged]] = defaultdict(list)
    for item in judged:
        work = item.row.workload
        key = (
            work.stack,
            work.model,
            work.task,
            work.precision,
            item.row.metric,
            item.row.count,
            work.seq_len,
            work.input_tokens,
            work.output_tokens,
        )
        jobs[key].append(item)
    pairs = right = 0
    for members in jobs.values():
        for i, a in enumerate(members):
            for b in members[:i]:
                ratio = a.row.value / b.row.value
                if a.row.gpu != b.row.gpu and not 1 / CLEAR_DIFFERENCE < ratio < CLEAR_DIFFERENCE:
                    pairs += 1
                    right += (a.predicted > b.predicted) == (ratio > 1)
    return Ranking(pairs, right)


def scaling(judged: Sequence[Judged]) -> Scaling:
    """Return the mean error of the scaling efficiency against the single GPU of the same source,
    job and batch."""
    singles: dict[tuple[Any, ...], Judged] = {}
    for item in judged:
        if item.row.count == 1 and item.row.metric.endswith("/s"):
            singles[_scaling_key(item.row)] = item
    errors = []
    for item in judged:
        single = singles.get(_scaling_key(item.row))
        if (
            single
            and 2 <= item.row.count <= 16
            and (item.row.workload.task or "").startswith("train")
        ):
            measured = item.row.value / single.row.value / item.row.count
            errors.append(abs(item.predicted / single.predicted / item.row.count - measured))
    return Scaling(len(errors), statistics.fmean(errors) if errors else 0.0)


def _scaling_key(row: Measured) -> tuple[Any, ...]:
    work = row.workload
    variant = tuple(sorted((key, str(value)) for key, value in work.variant.items()))
    return (
        work.stack,
        work.model,
        work.precision,
        work.batch_per_gpu,
        work.seq_len,
        row.gpu,
        row.metric,
        row.source.split("/")[0],
        variant,
    )
