"""Memory predictions with each source of measurements held out: what allocators hold beyond live
tensors, and the width of intervals, are fitted to the other sources; what only the held-out source
told about its stack is forgotten."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.decoding import read_tree
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import LEAST, NCCL_GIB, RELATIVE_SPREAD, demand_of
from rigplanner.memory.measured.accuracy import SIZE_CAPPED, Comparison, size_stated
from rigplanner.memory.nearness import by_sources, kind_of, levers, sources_of
from rigplanner.memory.preference import with_copies
from rigplanner.memory.unequal import scattered
from rigplanner.units import GIB
from rigplanner.workload.cases import BadCase, read_case
from rigplanner.workload.job import Job, read_job
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.preference import Preference, is_preference, taken_apart
from rigplanner.workload.stacks import (
    KNOWN_STILL,
    MemoryStack,
    Spare,
    group_of,
    memory_stack,
    spare_name,
)

CLIPPED, MOST_OF_A_SOURCE = 0.4, 20
"""An error counts as at most this, and a source as at most this many cases, so that neither an
outlier nor a long table decides."""
BELOW, ABOVE = 0.155, 0.045
"""Share of measurements below an interval and above it: four in five lie inside, and it leans
upwards, since what a card does not hold after all costs its buyer more than room to spare. Of 1,329
jobs, each without its source, 2.0 % are said to fit the largest common card that did not hold them,
and 72 % of those that left a fifth of a card free, as it shows them, are said to fit it."""
LEAST_FOR_TASK, LEAST_FOR_GROUP = 40, 20
"""Fewer cases of a task than this share the interval of all tasks; fewer of a group of networks
that of the task."""
TRAINING = tuple(
    Spare(fixed_gib=fixed, share=share, most_gib=most)
    for fixed, share, most in itertools.product(
        (0.02, 0.05, 0.1), (0.05, 0.08, 0.1, 0.12), (2.0, 4.0, 6.0)
    )
)
INFERENCE = tuple(
    Spare(fixed_gib=fixed, share=share, most_gib=most, moving=moving)
    for fixed, share, most, moving in itertools.product(
        (0.02, 0.05, 0.1), (0.0, 0.05, 0.1), (0.3, 1.0), (0.05, 0.1, 0.15, 0.2)
    )
)
GENERATION = tuple(
    Spare(fixed_gib=fixed, share=share, most_gib=2.0, moving=moving)
    for fixed, share, moving in itertools.product(
        (0.3, 0.5, 0.8, 1.0), (0.1, 0.2, 0.3), (0.1, 0.2, 0.3, 0.4)
    )
)
GRIDS = {"training": TRAINING, "inference": INFERENCE, "generation": GENERATION}
FORGOTTEN = MemoryStack()
KEPT_ENGINES = ("vllm", "sglang", "tensorrt-llm", "lmdeploy", "llama.cpp", "trace", "timm")
"""Stacks that do not use PyTorch's allocator as a training loop does, or state what they allocate.
"""


class Measured(Struct, frozen=True, kw_only=True):
    """One measured case with its live tensors in GiB, `moving` of which come and go. `wide`: how
    much wider a relative's interval is; `own`: what lies beyond live tensors where the stack says
    so itself; `apart_gib`: what another moment of the step holds; `idle_gib`: blocks of shorter
    samples that cannot be given back. `kind`: the kind of job that sources are counted by."""

    raw: dict[str, Any]
    source: str
    task: str
    group: str
    counter: str
    measured_gib: float
    tensors_gib: float
    moving_gib: float
    apart_gib: float
    idle_gib: float
    context_gib: float
    nccl_gib: float
    wide: float
    kind: str
    own: Spare | None

    @property
    def known_gib(self) -> float:
        """What of the weights an interval leaves alone."""
        return 0.0 if self.training else KNOWN_STILL * (self.tensors_gib - self.moving_gib)

    @property
    def training(self) -> bool:
        return self.task.startswith("train")

    @property
    def shares(self) -> str:
        """The name of what all stacks share in its task."""
        return spare_name(self.task, self.group)

    def figures(self, spares: dict[str, Spare]) -> tuple[float, float, float]:
        """GiB allocated, reserved and seen on the device."""
        spare = self.own or spares[self.shares]
        allocated = self.tensors_gib + spare.fixed_gib
        reserved = (
            allocated
            + spare.held_gib(self.moving_gib, self.tensors_gib - self.moving_gib)
            + self.apart_gib
        )
        return allocated, reserved, reserved + self.context_gib + self.nccl_gib

    def predicted(self, spares: dict[str, Spare]) -> float:
        """GiB of the counter that was measured."""
        allocated, reserved, device = self.figures(spares)
        return {"allocated": allocated, "nvidia_smi": device}.get(self.counter, reserved)


def held_out(
    lines: Iterable[bytes], find_gpu: Callable[[str], GPU | None], zoo: Zoo
) -> list[Comparison]:
    """Return a comparison for each measured total, predicted without its source; none where there
    is one source only."""
    cases = [
        case
        for case in (measured(line, find_gpu, zoo) for line in lines if line.strip())
        if case is not None
    ]
    sources, costs = sorted({case.source for case in cases}), _costs(cases)
    found: list[Comparison] = []
    for source in sources if len(sources) > 1 else ():
        others = [case for case in cases if case.source != source]
        spares = _cheapest(costs, source)
        spans = intervals(others, spares)
        near = kinds((case.source, case.kind) for case in others)
        found += [_compared(case, spares, spans, near) for case in cases if case.source == source]
    return found


def kinds(told: Iterable[tuple[str, str]]) -> dict[str, int]:
    """How many sources have measured each kind of job, of (source, kind)."""
    found: dict[str, set[str]] = defaultdict(set)
    for source, kind in told:
        found[kind].add(source)
    return {kind: len(sources) for kind, sources in sorted(found.items())}


def measured(line: bytes, find_gpu: Callable[[str], GPU | None], zoo: Zoo) -> Measured | None:
    """Return the case of one line; None for a part, and for what the model cannot express."""
    raw = read_tree(line)
    asked = _asked(raw, line, find_gpu, zoo)
    if asked is None:
        return None
    network, job, stack, card, count, split = asked
    try:
        demand, _ = demand_of(network, job, stack, card)
        if split is not None:
            demand = with_copies(demand, network, job, stack, split)
    except WorkloadFault:
        return None
    moving = (demand.activations + demand.buffers + demand.kv_cache) / GIB
    return Measured(
        raw=raw,
        source=_source(raw),
        task=job.task,
        group=group_of(network.kind),
        counter=raw.get("figure") or "unknown",
        measured_gib=raw["value_gib"],
        tensors_gib=demand.tensors / GIB,
        moving_gib=moving,
        apart_gib=demand.apart / GIB,
        idle_gib=scattered(network, job, stack, moving).needed,
        context_gib=stack.context_gib,
        nccl_gib=NCCL_GIB if count > 1 else 0.0,
        wide=(RELATIVE_SPREAD if network.relative else 1.0) * levers(network.kind, job),
        kind=kind_of(stack.slug, network.kind, job),
        own=_own(stack, job),
    )


def _asked(
    raw: dict[str, Any], line: bytes, find_gpu: Callable[[str], GPU | None], zoo: Zoo
) -> tuple[Network, Job, MemoryStack, GPU | None, int, Preference | None] | None:
    """What a measured total asks: network, job, stack without what only its source told, card and
    count, and how pairs of answers are trained on; None where an engine takes its share too."""
    if raw.get("part", "total") != "total" or not raw.get("value_gib"):
        return None
    case = read_case(line)
    if isinstance(case, BadCase):
        return None
    card = find_gpu(case.hardware.gpu) if case.hardware.gpu else None
    count = case.hardware.count or 1
    try:
        split = taken_apart(case.workload, count) if is_preference(case.workload) else None
        if split is not None and split.rollout is not None:
            return None
        network = resolve(case.workload, zoo)
        job = read_job(case.workload, network, count, card is not None)
        return network, job, _neutral(memory_stack(job.stack)), card, count, split
    except WorkloadFault:
        return None


def _source(raw: dict[str, Any]) -> str:
    return "/".join(str(raw.get("source") or "-").split("/")[:2])


def _neutral(stack: MemoryStack) -> MemoryStack:
    """The stack without what was fitted to its own source."""
    if stack.slug in KEPT_ENGINES:
        return stack
    names = ("training", "inference", "kept")
    return msgspec.structs.replace(stack, **{name: getattr(FORGOTTEN, name) for name in names})


def _own(stack: MemoryStack, job: Job) -> Spare | None:
    return stack.training if job.task.startswith("train") else stack.inference


def fitted(cases: Sequence[Measured]) -> dict[str, Spare]:
    """What lies beyond live tensors in training, inference and the generation of images, with the
    least mean error over sources."""
    return _cheapest(_costs(cases))


def _costs(cases: Sequence[Measured]) -> dict[str, list[tuple[Spare, dict[str, float]]]]:
    """What each point of a grid costs each source, so that a source can be left out without asking
    the others again."""
    found: dict[str, list[tuple[Spare, dict[str, float]]]] = {}
    for name, grid in GRIDS.items():
        groups: dict[str, list[Measured]] = defaultdict(list)
        for case in cases:
            if case.shares == name and case.own is None:
                groups[case.source].append(case)
        found[name] = [
            (spare, {source: _cost(group, {name: spare}) for source, group in groups.items()})
            for spare in grid
        ]
    return found


def _cost(group: Sequence[Measured], spares: dict[str, Spare]) -> float:
    missed = sum(
        min(CLIPPED, abs(case.predicted(spares) / case.measured_gib - 1)) for case in group
    )
    return min(len(group), MOST_OF_A_SOURCE) * missed / len(group)


def _cheapest(
    costs: dict[str, list[tuple[Spare, dict[str, float]]]], without: str | None = None
) -> dict[str, Spare]:
    return {
        name: min(
            points,
            key=lambda point: sum(cost for source, cost in point[1].items() if source != without),
        )[0]
        for name, points in costs.items()
    }


def intervals(
    cases: Sequence[Measured], spares: dict[str, Spare]
) -> dict[str, tuple[float, float]]:
    """The factors of allocated and device memory that leave about BELOW and ABOVE of the
    measurements on either side, for `any` task, by task, and by task and group of networks: each
    half way (in ratio) between its own and those of the wider name, since few sources tell of one
    of them."""
    tasks: dict[str, list[Measured]] = defaultdict(list)
    groups: dict[str, list[Measured]] = defaultdict(list)
    for case in cases:
        tasks[case.task].append(case)
        groups[f"{case.task} {case.group}"].append(case)
    found = {"any": _span(cases, spares)}
    for task, members in tasks.items():
        if len(members) >= LEAST_FOR_TASK:
            found[task] = _between(found["any"], _span(members, spares))
    for name, members in groups.items():
        if len(members) >= LEAST_FOR_GROUP:
            found[name] = _between(found.get(members[0].task, found["any"]), _span(members, spares))
    return found


def _between(wider: tuple[float, float], own: tuple[float, float]) -> tuple[float, float]:
    return math.sqrt(wider[0] * own[0]), math.sqrt(wider[1] * own[1])


def _span(cases: Sequence[Measured], spares: dict[str, Spare]) -> tuple[float, float]:
    counts: dict[str, int] = defaultdict(int)
    for case in cases:
        counts[case.source] += 1
    lows, highs = [], []
    for case in cases:
        allocated, _, device = case.figures(spares)
        weight = min(counts[case.source], MOST_OF_A_SOURCE) / counts[case.source]
        unsure_gib = case.measured_gib - case.known_gib
        lows.append((unsure_gib / (allocated - case.known_gib), weight))
        highs.append((unsure_gib / (device - case.known_gib), weight))
    return min(1.0, _quantile(lows, BELOW)), max(1.0, _quantile(highs, 1 - ABOVE))


def _quantile(values: list[tuple[float, float]], share: float) -> float:
    """The weighted quantile of (value, weight)."""
    values.sort()
    wanted, passed = share * sum(weight for _, weight in values), 0.0
    for value, weight in values:
        passed += weight
        if passed >= wanted:
            return value
    return values[-1][0]


def _compared(
    case: Measured,
    spares: dict[str, Spare],
    spans: dict[str, tuple[float, float]],
    near: dict[str, int],
) -> Comparison:
    _, _, device = case.figures(spares)
    low, high = spans.get(f"{case.task} {case.group}") or spans.get(case.task, spans["any"])
    wide = case.wide * by_sources(sources_of(case.kind, near))
    low, high = max(LEAST, 1 - (1 - low) * wide), 1 + (high - 1) * wide
    work, size = case.raw["workload"], size_stated(case.raw["workload"])
    least = case.known_gib + low * (case.tensors_gib - case.known_gib)
    most = case.known_gib + high * (device + case.idle_gib - case.known_gib)
    return Comparison(
        id=case.raw.get("id", "-"),
        kind=work.get("kind") or "-",
        task=work.get("task") or "-",
        model=work.get("model") or "-",
        source=case.source,
        stack=work.get("stack") or "-",
        measured_gib=case.measured_gib,
        predicted_gib=case.predicted(spares),
        low_gib=least,
        high_gib=most,
        inside=(size == SIZE_CAPPED or least <= case.measured_gib) and case.measured_gib <= most,
        size=size,
    )
