"""Speed by physics alone: samples (or written tokens) per second of the whole system."""

from msgspec import Struct

from rigplanner.performance.job import Job
from rigplanner.performance.metrics import WRITING
from rigplanner.performance.offload import Waits, waits
from rigplanner.performance.roofline import SOFT_MAXIMUM, Times, step_times
from rigplanner.performance.serving import Stream, decode, prefill, serve
from rigplanner.performance.several_gpus.scaling import (
    exposed_seconds,
    pipeline_bubble,
    shuffle_seconds,
    tensor_seconds,
)
from rigplanner.performance.variants import gain

_STREAMS = {"decode": decode, "prefill": prefill, "serve": serve}


class Modelled(Struct, frozen=True):
    """Samples per second of the system; for jobs that step the `times` of a step, what it `waits`
    for the host and for samples (`fed_s`), for jobs that write their `stream`."""

    samples_s: float
    exposed_s: float
    times: Times | None = None
    waits: Waits = Waits()
    stream: Stream | None = None
    fed_s: float = 0.0


def waiting_share(modelled: Modelled) -> float:
    """Return the share of the modelled time in which the GPUs wait: for the exchange, the host and
    for samples."""
    stream, times = modelled.stream, modelled.times
    if stream:
        return min(1.0, stream.exchange_s / (stream.matrix_s + stream.traffic_s + stream.other_s))
    assert times
    waits = modelled.exposed_s + modelled.waits.total_s + modelled.fed_s
    return waits / (times.total_s + waits)


def model_speed(job: Job) -> Modelled:
    """Return the modelled speed of a job; a stack known by its kin gets the kin's speed times their
    ratio."""
    kin = job.named.kin
    ratio = kin.ratio_of(job.shape.slug, job.task, job.silicon.generation) if kin else 1.0
    ratio *= (job.ready.share or 1.0) if job.ready else 1.0
    if job.task in WRITING:
        stream = _STREAMS[job.task](job)
        return Modelled(stream.tokens_s * ratio, 0.0, stream=stream)
    times = step_times(job)
    ratio *= gain(job, times)
    exposed = 0.0
    if job.count > 1 and job.task != "inference":
        alone = (
            times.total_s
            + exposed_seconds(job, times.total_s)
            + tensor_seconds(job)
            + shuffle_seconds(job)
        )
        exposed = alone * pipeline_bubble(job) - times.total_s
    elif job.tensor > 1:
        exposed = tensor_seconds(job)
    waited = Waits()
    if job.offload:
        ranks = max(1, job.count // job.nodes)
        held = job.shape.params_m * 1e6 / job.nodes
        adapted, passes = job.task == "train_lora", 3 if job.checkpointing == "full" else 2
        waited = waits(job.offload, held, job.precision, ranks, adapted, passes).over(
            job.accumulate
        )
    step = times.total_s + exposed + waited.total_s
    fed = fed_seconds(job, step)
    return Modelled(
        ratio * job.batch * job.count / (step + fed), exposed, times, waits=waited, fed_s=fed
    )


def fed_seconds(job: Job, step_s: float) -> float:
    """Return what a training step of `step_s` seconds waits for samples that the computer's own
    processors read and parse meanwhile: the longer of the two rules, near balance both show."""
    if not job.shape.host_rate or not job.task.startswith("train"):
        return 0.0
    read_s = job.batch * job.count / job.nodes / job.shape.host_rate
    return float((step_s**SOFT_MAXIMUM + read_s**SOFT_MAXIMUM) ** (1 / SOFT_MAXIMUM) - step_s)


def modelled_samples_per_second(job: Job) -> float:
    """Return only the speed of `model_speed`."""
    return model_speed(job).samples_s
