"""Speed by physics alone: samples (or written tokens) per second of the whole system."""

from msgspec import Struct

from rigplanner.performance.job import Job
from rigplanner.performance.metrics import WRITING
from rigplanner.performance.roofline import Times, step_times
from rigplanner.performance.scaling import exposed_seconds, pipeline_bubble, shuffle_seconds, tensor_seconds
from rigplanner.performance.serving import Stream, decode, prefill, serve

_STREAMS = {"decode": decode, "prefill": prefill, "serve": serve}


class Modelled(Struct, frozen=True):
    """Samples per second of the system; `times` of a step for jobs that step, `stream` for jobs that write."""

    samples_s: float
    exposed_s: float
    times: Times | None = None
    stream: Stream | None = None


def model_speed(job: Job) -> Modelled:
    """Return the modelled speed of a job; a stack known by its kin gets the kin's speed times their ratio."""
    ratio = job.named.kin.ratio if job.named.kin else 1.0
    if job.task in WRITING:
        stream = _STREAMS[job.task](job)
        return Modelled(stream.tokens_s * ratio, 0.0, stream=stream)
    times = step_times(job)
    exposed = 0.0
    if job.count > 1 and job.task != "inference":
        alone = times.total_s + exposed_seconds(job, times.total_s) + tensor_seconds(job) + shuffle_seconds(job)
        exposed = alone * pipeline_bubble(job) - times.total_s
    return Modelled(ratio * job.batch * job.count / (times.total_s + exposed), exposed, times)


def modelled_samples_per_second(job: Job) -> float:
    """Return only the speed of `model_speed`."""
    return model_speed(job).samples_s
