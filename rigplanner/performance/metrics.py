"""Between a metric's figure and samples per second of the whole system."""

from rigplanner.errors import WorkloadFault
from rigplanner.performance.job import Job

METRICS = (
    "images/s",
    "samples/s",
    "sequences/s",
    "tokens/s",
    "ms_per_batch",
    "s_per_iteration",
    "time_to_train_min",
    "busbw_gbps",
    "p2p_gbps",
)
WRITING = ("decode", "prefill", "serve")


def usual_metric(job: Job) -> str:
    """Return the metric that people quote for such a job."""
    if job.task in WRITING or job.shape.unit == "token":
        return "tokens/s"
    if job.shape.kind in ("llm", "moe"):
        return "tokens/s"
    return {"image": "images/s", "sequence": "sequences/s"}.get(job.shape.unit, "samples/s")


def per_metric(
    job: Job, samples_s: float, metric: str, samples_to_train: float | None = None
) -> float:
    """Return `samples_s` (tokens for nets that count tokens) as a figure of `metric`; raise
    WorkloadFault for a metric that does not fit the job."""
    if metric in ("images/s", "samples/s", "sequences/s"):
        return samples_s / tokens_per_sample(job) if job.task in WRITING else samples_s
    if metric == "tokens/s":
        return (
            samples_s
            if job.task in WRITING or job.shape.unit == "token"
            else samples_s * job.shape.tokens
        )
    per_step = job.batch * job.count
    if metric == "ms_per_batch":
        return 1e3 * per_step / samples_s
    if metric == "s_per_iteration":
        return per_step * job.accumulate / samples_s
    if metric == "time_to_train_min" and samples_to_train:
        return samples_to_train / samples_s / 60
    raise WorkloadFault(
        f"metric: expected one of {', '.join(METRICS)} that fits the job, found '{metric}'."
    )


def samples_per_second(
    job: Job, value: float, metric: str, samples_to_train: float | None = None
) -> float:
    """Return the inverse of `per_metric`."""
    if metric in ("images/s", "samples/s", "sequences/s", "tokens/s"):
        return value / per_metric(job, 1.0, metric)
    return per_metric(job, 1.0, metric, samples_to_train) / value


def tokens_per_sample(job: Job) -> float:
    """Return the tokens that one served sample stands for."""
    return float(job.output_tokens or job.input_tokens or 1)
