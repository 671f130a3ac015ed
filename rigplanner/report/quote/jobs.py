"""Workloads in words and bars: what window, quote and exports say of memory and speed."""

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.machine.model import Machine
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.words.faults import fault_text
from rigplanner.report.words.speed import (
    BOUND_WORDS,
    alike_anchors,
    anchor_texts,
    evidence_text,
    leading_anchors,
)
from rigplanner.report.words.workloads import LIFT_WORDS, title_of
from rigplanner.rules.assess import Job
from rigplanner.rules.jobs.vram import part_seen


class MemoryBar(Struct, frozen=True, kw_only=True):
    """Memory of one GPU of a workload in GiB against its capacity; `count` GPUs are alike."""

    gpu: str
    count: int
    parts: tuple[tuple[str, float], ...]
    total_gib: float
    low_gib: float
    high_gib: float
    capacity_gib: float | None
    verdict: str


class QuoteJob(Struct, frozen=True, kw_only=True):
    """One workload: memory and expected speed in words and numbers; `evidence` is for buyers what
    `anchors` are for the maker of the quote, `source` the title of the note it refers to."""

    title: str
    settings: str
    bars: tuple[MemoryBar, ...]
    memory_note: str
    speed: str
    interval: str
    stack: str
    bound: str
    anchors: tuple[str, ...]
    assumed: str
    host: str = ""
    lift: str = ""
    evidence: str = ""
    source: str = ""
    figures: tuple[float, float, float] | None = None
    """The speed with the ends of its interval, in `unit`; None where it is not predicted."""
    unit: str = ""


PART_WORDS = (
    ("weights_gib", "weights"),
    ("gradients_gib", "gradients"),
    ("optimizer_gib", "optimizer"),
    ("activations_gib", "activations"),
    ("kv_cache_gib", "KV cache"),
    ("workspace_gib", "workspace"),
    ("context_gib", "context"),
)


def memory_bars(job: Job, machine: Machine) -> tuple[MemoryBar, ...]:
    """Return one bar per distinct GPU of a workload."""
    bars: dict[tuple[str, float], MemoryBar] = {}
    for gpu, estimate in zip(machine.gpus, job.memory, strict=False):
        seen = part_seen(job.workload, gpu.gpu)
        key = (gpu.gpu.id, estimate.device_gib)
        count = bars[key].count + 1 if key in bars else 1
        bars[key] = MemoryBar(
            gpu=seen.name,
            count=count,
            parts=tuple((word, getattr(estimate.parts, field)) for field, word in PART_WORDS),
            total_gib=estimate.device_gib,
            low_gib=estimate.low_gib,
            high_gib=estimate.high_gib,
            capacity_gib=usable_gib(seen),
            verdict=fit_verdict(estimate.low_gib, estimate.high_gib, usable_gib(seen)),
        )
    return tuple(bars.values())


def fit_verdict(low_gib: float, high_gib: float, capacity_gib: float | None) -> str:
    """Return fits, tight, does not fit, or unknown, from the interval against the card."""
    if capacity_gib is None:
        return "unknown"
    return (
        "fits"
        if high_gib <= capacity_gib
        else "does not fit"
        if low_gib > capacity_gib
        else "tight"
    )


def workload_title(job: Job) -> str:
    """Return a workload's name, else model and task."""
    return title_of(job.workload)


def workload_settings(job: Job) -> str:
    """Return the settings that decide memory and speed, in one line."""
    work = job.workload
    size = (
        "x".join(map(str, work.image_size))
        if isinstance(work.image_size, list)
        else work.image_size
    )
    named = (
        ("", work.precision),
        (tr("batch per GPU"), work.batch_per_gpu),
        (tr("sequence"), work.seq_len),
        (tr("image"), size),
        (tr("prompt"), work.input_tokens),
        (tr("output"), work.output_tokens),
        (tr("optimizer"), work.optimizer),
        (tr("LoRA rank"), work.lora_rank),
        (tr("checkpointing"), work.gradient_checkpointing),
        ("ZeRO", work.parallelism.zero if work.parallelism else None),
        (
            tr("offload"),
            work.parallelism.offload
            if work.parallelism and work.parallelism.offload != "none"
            else None,
        ),
        (
            tr("tensor parallel"),
            work.parallelism.tensor if work.parallelism and work.parallelism.tensor > 1 else None,
        ),
    )
    return ", ".join(
        f"{word} {value}".strip() for word, value in named if value not in (None, False, 0, "")
    )


def host_text(job: Job) -> str:
    """Return how much of the host's memory a workload takes beside the cards, "" for none."""
    host_gib = job.memory[0].host_gib if job.memory else 0.0
    return (
        tr("{size} of RAM are needed beside it.", size=fmt.quantity(host_gib, "GiB", 1))
        if host_gib
        else ""
    )


def job_content(job: Job, machine: Machine, catalog: Catalog) -> QuoteJob:
    """Return one workload of a quote."""
    speed, bars = job.speed, memory_bars(job, machine)
    assumed = {**(job.memory[0].assumed if job.memory else {}), **(speed.assumed if speed else {})}
    return QuoteJob(
        title=workload_title(job),
        settings=workload_settings(job),
        bars=bars,
        memory_note=fault_text(job.memory_fault),
        host=host_text(job),
        speed=fmt.quantity(speed.value, speed.metric)
        if speed
        else tr("not predicted: {reason}", reason=fault_text(job.speed_fault) or tr("unknown")),
        interval=fmt.interval(speed.low, speed.high, speed.metric) if speed else "",
        stack=speed.stack if speed else "",
        bound=BOUND_WORDS.get(speed.bound, speed.bound) if speed else "",
        lift=LIFT_WORDS.get(speed.lift or "", "") if speed else "",
        evidence=evidence_text(speed, job.workload.model, catalog),
        source=next((anchor.source for anchor in alike_anchors(speed)), ""),
        anchors=tuple(anchor_texts(leading_anchors(speed), catalog)),
        assumed=", ".join(f"{field} {value}" for field, value in sorted(assumed.items())),
        figures=(speed.value, speed.low, speed.high) if speed else None,
        unit=fmt.unit_text(speed.metric) if speed else "",
    )
