"""Predictions against measured memory, in rows that a report prints: by kind, task, model family
and source."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.decoding import read_tree
from rigplanner.error_figures import Errors, errors_of
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.host_fit import held_gib
from rigplanner.memory.capacity.users import most_users
from rigplanner.memory.estimate import estimate_memory, on_unknown_card
from rigplanner.workload.cases import BadCase, read_case

FIGURES = {
    "allocated": "allocated_gib",
    "reserved": "reserved_gib",
    "nvidia_smi": "device_gib",
    "unknown": "reserved_gib",
}
"""The figure of an estimate that a measured counter is compared with; an unnamed one with what the
allocator holds."""
HELD = ("cards", "ram", "pool")
"""Parts of a job that lies on several memories: GiB of all cards together and of the host's, and
the cache that a serving engine reserves on each card."""
WITH_ROOM = "with room"
"""A total that grows with the card: Unsloth since September 2025 cuts its loss into pieces as large
as free memory allows. What was predicted of it counts, nothing is fitted to it."""
SIZE_MET, SIZE_CAPPED = "as told", "only a maximum"


class Comparison(Struct, frozen=True, kw_only=True):
    """One measured case: GiB per GPU measured and predicted, `error` predicted / measured - 1, None
    where nothing was predicted (`fault` says why); `inside`: the measurement lies in the interval,
    or below it where `size` is only a maximum (a job that did not reach its longest text rightly
    took less); `collection`: the collection of sources it came with, if known."""

    id: str | int
    kind: str
    task: str
    model: str
    source: str
    stack: str
    measured_gib: float
    predicted_gib: float | None = None
    low_gib: float | None = None
    high_gib: float | None = None
    inside: bool | None = None
    fault: str | None = None
    collection: str = "-"
    size: str = SIZE_MET
    part: str = "total"

    @property
    def error(self) -> float | None:
        return None if self.predicted_gib is None else self.predicted_gib / self.measured_gib - 1


class _Work(Struct, frozen=True):
    kind: str | None = None
    task: str | None = None
    model: str | None = None
    stack: str | None = None


class MeasuredLine(Struct, frozen=True, kw_only=True):
    """What the fields of a measured case must be, beside those of a workload."""

    value_gib: Annotated[float, Meta(ge=0, le=1e9)] | None
    id: str | int | None = None
    part: str | None = None
    figure: str | None = None
    source: str | None = None
    workload: _Work | None = None
    kind: str | None = None
    task: str | None = None
    model: str | None = None
    stack: str | None = None


class _Config(Struct, frozen=True):
    model_type: str | None = None


class _Spec(Struct, frozen=True):
    config: _Config
    head: str | None = None
    task: str | None = None


class TracedLine(Struct, frozen=True, kw_only=True):
    """What the fields of a traced step must be."""

    spec: _Spec
    peak_bytes: Annotated[float, Meta(ge=1, le=1e18)]
    id: str | int | None = None


def compare(
    lines: Iterable[bytes], find_gpu: Callable[[str], GPU | None], zoo: Zoo
) -> list[Comparison]:
    """Return a comparison for each line of a file of measured cases whose part is the total."""
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        raw = read_tree(line)
        if isinstance(raw, dict) and raw.get("part", "total") == "total" and raw.get("value_gib"):
            found.append(_compared(raw, line, number, find_gpu, zoo))
    return found


def _compared(
    raw: dict[str, Any], line: bytes, number: int, find_gpu: Callable[[str], GPU | None], zoo: Zoo
) -> Comparison:
    known, case = _known(raw, number), read_case(line, number)
    if isinstance(case, BadCase):
        return Comparison(**known, fault=case.error)
    card, work, count = (
        find_gpu(case.hardware.gpu) if case.hardware.gpu else None,
        case.workload,
        case.hardware.count or 1,
    )
    try:
        work = on_unknown_card(work, count, zoo) if card is None and case.hardware.gpu else work
        estimate = estimate_memory(work, card, count, zoo)
    except WorkloadFault as fault:
        return Comparison(**known, fault=str(fault))
    inside = (work.size_is_cap or estimate.low_gib <= raw["value_gib"]) and raw[
        "value_gib"
    ] <= estimate.high_gib
    return Comparison(
        **known,
        predicted_gib=_figure(estimate, raw.get("figure")),
        low_gib=estimate.low_gib,
        high_gib=estimate.high_gib,
        inside=inside,
    )


def compare_held(
    lines: Iterable[bytes], find_gpu: Callable[[str], GPU], zoo: Zoo
) -> list[Comparison]:
    """Return a comparison for each line whose part is one of `HELD`."""
    return [_held(read_tree(line), line, at, find_gpu, zoo) for at, line in enumerate(lines, 1)]


def _held(
    raw: dict[str, Any], line: bytes, number: int, find_gpu: Callable[[str], GPU], zoo: Zoo
) -> Comparison:
    known = {**_known(raw, number), "part": raw["part"]}
    case = read_case(line, number)
    if isinstance(case, BadCase):
        return Comparison(**known, fault=case.error)
    try:
        gpu, count = find_gpu(case.hardware.gpu or ""), case.hardware.count or 1
        if raw["part"] == "cards":
            return Comparison(**known, predicted_gib=held_gib(case.workload, [gpu] * count, zoo))
        if raw["part"] == "pool":
            whole = most_users(case.workload, gpu, count, zoo).pool_gib
            return Comparison(**known, predicted_gib=whole / count)
        told = estimate_memory(case.workload, gpu, 1, zoo)
    except WorkloadFault as fault:
        return Comparison(**known, fault=str(fault))
    return Comparison(**known, predicted_gib=told.host_gib)


def _known(raw: dict[str, Any], number: int) -> dict[str, Any]:
    work = raw.get("workload") or {}
    return {
        "id": raw.get("id", number),
        "kind": work.get("kind") or "-",
        "task": work.get("task") or "-",
        "model": work.get("model") or "-",
        "source": "/".join(str(raw.get("source") or "-").split("/")[:2]),
        "stack": work.get("stack") or "-",
        "measured_gib": raw["value_gib"],
        "size": size_stated(work),
    }


def size_stated(work: dict[str, Any]) -> str:
    """Return whether a case's lengths and sizes are those of the job, or only the most that it may
    meet (`size_is_cap`)."""
    return SIZE_CAPPED if work.get("size_is_cap") else SIZE_MET


def compare_first(lines: Iterable[bytes]) -> list[Comparison]:
    """Return a comparison for each total that keeps what was predicted before anyone had looked at
    its source (`first`: `gib`, null where it was refused, `inside` its interval, and `collection`,
    1 where unsaid: each met an estimate that knew those of a smaller number)."""
    found = []
    for number, line in enumerate(lines, 1):
        raw = read_tree(line)
        first = raw.get("first")
        whole = raw.get("part", "total") in ("total", WITH_ROOM)
        if isinstance(first, dict) and whole and raw.get("value_gib"):
            fault = None if first.get("gib") else "refused"
            found.append(
                Comparison(
                    **_known(raw, number),
                    predicted_gib=first.get("gib"),
                    inside=first.get("inside"),
                    fault=fault,
                    collection=str(first.get("collection", 1)),
                )
            )
    return found


def compare_traced(lines: Iterable[bytes], zoo: Zoo) -> list[Comparison]:
    """Return a comparison for each traced step (`spec`, `peak_bytes`, `held_out`): its peak of live
    tensors against the trace's."""
    found = []
    for number, line in enumerate(lines, 1):
        raw = read_tree(line)
        spec = raw["spec"]
        known = {
            "id": raw.get("id", number),
            "kind": spec.get("head") or "-",
            "task": spec.get("task") or "-",
            "model": spec["config"].get("model_type") or "-",
            "source": "held out" if raw.get("held_out") else "looked at",
            "stack": "-",
            "measured_gib": raw["peak_bytes"] / 2**30,
        }
        case = read_case(msgspec.json.encode({"id": known["id"], **spec}), number)
        try:
            if isinstance(case, BadCase):
                raise WorkloadFault(case.error)
            found.append(
                Comparison(
                    **known, predicted_gib=estimate_memory(case.workload, None, 1, zoo).tensors_gib
                )
            )
        except WorkloadFault as fault:
            found.append(Comparison(**known, fault=str(fault)))
    return found


def _figure(estimate: MemoryEstimate, counter: str | None) -> float:
    return float(getattr(estimate, FIGURES.get(counter or "unknown", "reserved_gib")))


CARD_SIZES = (4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 141, 192)
"""GiB of common cards."""


def wrong_verdicts(cases: Iterable[Comparison]) -> dict[str, float]:
    """Return of the largest common card that did not hold each measured job the share said to hold
    it, and of the smallest that did the share said not to, both with the whole interval."""
    overfull, refused = list[bool](), list[bool]()
    for case in cases:
        if case.low_gib is None or case.high_gib is None or case.size != SIZE_MET:
            continue
        held = bisect_left(CARD_SIZES, case.measured_gib)
        overfull += [case.high_gib <= size for size in CARD_SIZES[:held][-1:]]
        refused += [case.low_gib > size for size in CARD_SIZES[held:][:1]]
    return {
        "said to fit, yet did not": sum(overfull) / max(1, len(overfull)),
        "said not to fit, yet did": sum(refused) / max(1, len(refused)),
    }


def error_table(
    cases: Iterable[Comparison],
    fields: tuple[str, ...] = ("kind", "task", "model", "source", "stack"),
) -> list[Errors]:
    """Return the errors of all cases, then those of each value of each field ("task: train_full"),
    largest group first."""
    cases = list(cases)
    rows = [_errors("all", cases)]
    for field in fields:
        groups: dict[str, list[Comparison]] = defaultdict(list)
        for case in cases:
            groups[getattr(case, field)].append(case)
        named = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        rows += [_errors(f"{field}: {name}", members) for name, members in named]
    return rows


def _errors(group: str, cases: list[Comparison]) -> Errors:
    signed = [case.error for case in cases if case.error is not None]
    return errors_of(
        group, len(cases), signed, [case.inside for case in cases if case.inside is not None]
    )
