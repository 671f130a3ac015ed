"""The speed of any network on CPUs alone: a training step or a forward pass by arithmetic, traffic
and calls, corrected by measured rows of CPUs."""

from __future__ import annotations

import math
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.zoo import Zoo
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Source, Step
from rigplanner.performance.answer import Anchor, Bound, SpeedEstimate
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.geometry.shapes import Shape
from rigplanner.performance.host.processors import BYTES, Processors, gain_over_fp32
from rigplanner.performance.job import TASKS, USUAL_BATCH
from rigplanner.performance.roofline import ADAM_KINDS, FORWARD_PASSES, TRAIN_PASSES
from rigplanner.rig.workload import Workload
from rigplanner.workload.limits import check_workload
from rigplanner.workload.without_network import matrix_size

MEMORY_SHARE = 0.8
"""Share of the rate of all channels that streams reach (STREAM on two Xeons: 0.75 to 0.85)."""
TRAIN_ARITHMETIC = 3.0
"""Arithmetic of a training step in forward passes (Kaplan et al. 2020, arXiv 2001.08361)."""
TRAIN_CALLS = 2.5
WEIGHT_PASSES, UPDATES = 3.0, {"adam": 6.0, "sgd": 4.0}
"""Reads of the weights in a training step, and values that its update moves per weight."""
MOST_BATCH = 32.0
"""Samples of a step where nothing is said: what the measured rows of CPUs have."""
FP32_WORDS = {"fp32": "fp32", "f32": "fp32", "amp": "bf16", "amp_bf16": "bf16", "mixed": "bf16"}
EIGHTY = 1.28
"""Deviations either way that hold four in five of a normal distribution."""
OTHER_KIND = 0.3
"""Deviation of the logarithm by which nets of another kind than measured may differ (estimate)."""
PRIOR = 0.1
"""Weight of "no correction" beside the squared weights of measured rows."""
MODEL_APART, TASK_APART, BATCH_APART = 1.5, 0.7, 0.3
"""Distance between two jobs on CPUs in which their weight falls by e: other network, other task,
twice the batch; another peak counts by its logarithm."""
MOST_ANCHORS = 3


class StackOnCpu(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a library uses CPUs. `share` of the peak, `traffic` of the memory's rate, `second` what
    is kept of each where two sockets share a step; `call_us` per kernel and batch, `core_us` more
    per core, `sample_us` per kernel and sample, in microseconds. `deviation` of the logarithm of
    its errors; `names`: stacks that compute with it."""

    framework: str
    names: tuple[str, ...]
    share: float
    traffic: float
    second: float
    call_us: float
    core_us: float
    sample_us: float
    deviation: float
    source: str


class CpuHost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """CPUs that rows were measured on: those that took part, with their share of the memory."""

    cpu: str
    part: str
    sockets: int
    cores: int
    tflops: float
    ram_gbs: float


class CpuRow(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One measured row: samples a second of a network on a host."""

    source: str
    host: str
    stack: str
    model: str
    task: str
    batch: int
    samples_s: float


class CpuFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The shipped constants and the rows that they were fitted to."""

    about: str
    sources: dict[str, Source]
    stacks: dict[str, StackOnCpu]
    hosts: dict[str, CpuHost]
    columns: tuple[str, ...]
    rows: tuple[CpuRow, ...]


@cache
def cpu_file() -> CpuFile:
    """Return the shipped constants and rows of CPUs, read once."""
    file = data_path("catalog") / "benchmarks" / "processors.json"
    return read_json(file.read_bytes(), CpuFile)


class CpuTimes(Struct, frozen=True):
    """Seconds of a step or a forward pass of one batch by cause."""

    arithmetic_s: float
    traffic_s: float
    calls_s: float

    @property
    def total_s(self) -> float:
        """Seconds of the whole step."""
        return self.arithmetic_s + self.traffic_s + self.calls_s


def stack_on_cpu(word: str | None) -> str:
    """Return the slug of the library that a stack computes with on CPUs, oneDNN where none is
    named. Raises WorkloadFault for one that needs a GPU."""
    stacks = cpu_file().stacks
    asked = (word or "onednn").casefold()
    for slug, stack in stacks.items():
        if asked == slug or asked in stack.names:
            return slug
    known = ", ".join((*stacks, *(name for stack in stacks.values() for name in stack.names)))
    raise WorkloadFault(f"stack: '{word}' is not known to run on CPUs; those known are {known}.")


def step_on_cpu(
    shape: Shape,
    training: bool,
    batch: float,
    precision: str,
    found: Processors,
    stack: StackOnCpu,
) -> CpuTimes:
    """Return the seconds of one batch on CPUs: arithmetic over the share of the peak that the
    library reaches, activations and weights over that of the memory, and its calls."""
    both = stack.second if found.sockets > 1 else 1.0
    rate = found.tflops * 1e12 * gain_over_fp32(found, precision) * stack.share * both
    work = (shape.gflop + shape.attention_gflop) * 1e9 * batch
    passes = TRAIN_PASSES if training else FORWARD_PASSES
    update = UPDATES["adam" if shape.kind in ADAM_KINDS else "sgd"]
    moved = shape.elements_m * 1e6 * batch * passes
    moved += shape.active_m * 1e6 * (WEIGHT_PASSES + update if training else 1.0)
    memory = found.ram_gbs * 1e9 * MEMORY_SHARE * stack.traffic * both
    calls = shape.kernels * (TRAIN_CALLS if training else 1.0)
    each_us = stack.call_us + stack.core_us * found.cores + stack.sample_us * batch
    return CpuTimes(
        work * (TRAIN_ARITHMETIC if training else 1.0) / rate,
        moved * BYTES[precision] / memory,
        calls * each_us * 1e-6,
    )


class _Corrected(Struct, frozen=True):
    """What measured rows say of a modelled speed: the logarithm of the correction, its deviation,
    and the rows with their weights."""

    mean: float
    deviation: float
    rows: tuple[tuple[CpuRow, float], ...]


def _correction(
    slug: str, shape: Shape, task: str, batch: float, tflops: float, left_out: str | None
) -> _Corrected:
    known = cpu_file()
    weighed: list[tuple[CpuRow, float, float]] = []
    for row in known.rows:
        if row.stack != slug or row.model == left_out:
            continue
        host = known.hosts[row.host]
        apart = (
            MODEL_APART * (row.model != shape.slug)
            + TASK_APART * (row.task != task)
            + BATCH_APART * abs(math.log2(row.batch / batch))
            + abs(math.log(host.tflops / tflops))
        )
        weighed.append((row, math.exp(-apart), _residual(row)))
    total = sum(weight**2 for _, weight, _ in weighed)
    mean = sum(weight**2 * left for _, weight, left in weighed) / (total + PRIOR)
    certain = total / (total + PRIOR)
    leading = sorted(weighed, key=lambda one: -one[1])[:MOST_ANCHORS]
    return _Corrected(
        mean, math.sqrt(1 - 0.5 * certain), tuple((row, weight) for row, weight, _ in leading)
    )


@cache
def _residual(row: CpuRow) -> float:
    """The logarithm of a measured speed over the modelled one."""
    known = cpu_file()
    shape = resolve_shape(Workload(model=row.model, task=row.task), None)
    times = step_on_cpu(
        shape,
        row.task == "train",
        row.batch,
        "fp32",
        as_processors(known.hosts[row.host]),
        known.stacks[row.stack],
    )
    return math.log(row.samples_s * times.total_s / row.batch)


def as_processors(host: CpuHost) -> Processors:
    """Return the CPUs of measured rows as calculators."""
    return Processors(
        name=host.cpu,
        sockets=host.sockets,
        cores=host.cores,
        tflops=host.tflops,
        ram_gbs=host.ram_gbs,
        isa=(),
        part=host.part,
    )


def predict_on_cpu(
    workload: Workload,
    found: Processors,
    zoo: Zoo | None,
    metric: str | None = None,
    left_out: str | None = None,
) -> SpeedEstimate:
    """Return the speed of a training or a forward pass on CPUs alone, with an 80 % interval; of
    rows measured on the network `left_out` nothing is leant on. Raises WorkloadFault for what
    cannot be expressed, for adapters and for formats that these CPUs lack."""
    check_workload(workload)
    task = TASKS.get(workload.task or "inference")
    if task not in ("train", "inference"):
        raise WorkloadFault(
            f"task: on CPUs alone expected train or inference, found '{workload.task}'."
        )
    slug = stack_on_cpu(workload.stack)
    shape, stack = resolve_shape(workload, zoo), cpu_file().stacks[slug]
    word = (workload.precision or "fp32").casefold()
    precision = FP32_WORDS.get(word, word)
    usual = min(MOST_BATCH, float(USUAL_BATCH.get(shape.kind, 16)))
    batch = float(workload.batch_per_gpu or usual)
    times = step_on_cpu(shape, task == "train", batch, precision, found, stack)
    near = _correction(slug, shape, task, batch, found.tflops, left_out)
    samples_s = batch / times.total_s * math.exp(near.mean)
    spread = stack.deviation * near.deviation
    if shape.kind != "cnn":
        spread = math.hypot(spread, OTHER_KIND)
    width = math.exp(EIGHTY * spread)
    named, per_sample = _metric_of(shape, metric)
    value = samples_s * per_sample
    return SpeedEstimate(
        metric=named,
        value=value,
        low=value / width,
        high=value * width,
        stack=slug,
        bound=_bound(times),
        lift="more-channels" if _bound(times) == "ram" else None,
        step_ms=1e3 * batch / samples_s,
        anchors=tuple(_cited(row, weight) for row, weight in near.rows),
        assumed=_assumed(workload, found, precision, batch, slug) | shape.usual,
        steps=_steps(found, stack, times, near, precision),
    )


def _metric_of(shape: Shape, metric: str | None) -> tuple[str, float]:
    """The metric of an answer, and how many of its units a sample is."""
    language = shape.kind in ("llm", "moe")
    usual = (
        "tokens/s"
        if language or shape.unit == "token"
        else {"image": "images/s", "sequence": "sequences/s"}.get(shape.unit, "samples/s")
    )
    if metric not in (None, usual, "samples/s"):
        raise WorkloadFault(f"metric: expected {usual} or samples/s on CPUs, found '{metric}'.")
    named = metric or usual
    return named, float(shape.tokens) if named == "tokens/s" and language else 1.0


def _bound(times: CpuTimes) -> Bound:
    return "ram" if times.traffic_s > times.arithmetic_s + times.calls_s else "cpu cores"


def _cited(row: CpuRow, weight: float) -> Anchor:
    known = cpu_file()
    source, host = known.sources[row.source], known.hosts[row.host]
    return Anchor(
        id=f"{row.host}/{row.stack}/{row.model}/{row.task}/{row.batch}",
        gpu=host.part,
        model=row.model,
        stack=row.stack,
        value=row.samples_s,
        metric="images/s",
        weight=weight,
        source=source.title,
        batch_per_gpu=row.batch,
    )


def _assumed(
    workload: Workload, found: Processors, precision: str, batch: float, slug: str
) -> dict[str, str]:
    assumed = {}
    if workload.task is None:
        assumed["task"] = "inference"
    if workload.precision is None:
        assumed["precision"] = precision
    if workload.batch_per_gpu is None:
        assumed["batch_per_gpu"] = f"{batch:g}"
    if workload.stack is None:
        assumed["stack"] = slug
    if not found.told:
        assumed["host"] = f"{found.ram_gbs:.0f} GB/s, {found.cores} cores"
    return assumed


def _steps(
    found: Processors, stack: StackOnCpu, times: CpuTimes, near: _Corrected, precision: str
) -> tuple[Step, ...]:
    where = "catalog/benchmarks/processors.json"
    both = stack.second if found.sockets > 1 else 1.0
    told: list[tuple[str, str, dict[str, float | str | None], float]] = [
        (
            "cpu_arithmetic",
            "operations / (cores x clock x operations a cycle x share)",
            {
                "cores": found.cores,
                "sockets": found.sockets,
                "fp32_tflops": found.tflops,
                "gain": gain_over_fp32(found, precision),
                "share": stack.share * both,
            },
            times.arithmetic_s,
        ),
        (
            "cpu_memory",
            "bytes / (rate of all channels x share)",
            {"gbs": found.ram_gbs, "share": MEMORY_SHARE * stack.traffic * both},
            times.traffic_s,
        ),
        ("cpu_calls", "kernels x time of a call", {}, times.calls_s),
    ]
    steps = [
        Step(name, formula, inputs, value, "s", where) for name, formula, inputs, value in told
    ]
    corrected = Step(
        "anchored",
        "total / exp(correction of the nearest rows)",
        {"correction": near.mean, "rows": float(len(near.rows))},
        times.total_s / math.exp(near.mean),
        "s",
        where,
    )
    return (*steps, corrected)


PRODUCT_SHARE, PRODUCT_WITHIN = 0.75, 1.3
"""Of the peak at the base clock that BLAS reaches on large matrices, and the factor either way
(estimate: MKL and OpenBLAS reach 0.7 to 1.1 of it, as cores run above their base clock)."""


def multiply_on_cpu(workload: Workload, found: Processors) -> SpeedEstimate:
    """Return the TFLOPS at which CPUs multiply square matrices. Raises WorkloadFault for a format
    that they lack."""
    precision = workload.precision or "fp32"
    size = matrix_size(workload)
    rate = found.tflops * gain_over_fp32(found, precision) * PRODUCT_SHARE
    return SpeedEstimate(
        metric="TFLOPS",
        value=rate,
        low=rate / PRODUCT_WITHIN,
        high=rate * PRODUCT_WITHIN,
        stack="blas",
        bound="cpu cores",
        step_ms=2e3 * size**3 / (rate * 1e12),
        fp32_gain=2.0 if precision == "fp64" else None,
        assumed={"matrix_n": str(size)} if workload.matrix_n is None else {},
    )


def with_ratio(gpu: SpeedEstimate, cpu: SpeedEstimate) -> SpeedEstimate:
    """Return the GPU's speed with how many times that of the CPUs alone it is; as it was where the
    two count in different metrics."""
    if gpu.metric != cpu.metric or cpu.value <= 0:
        return gpu
    return replace(gpu, over_cpu=gpu.value / cpu.value)
