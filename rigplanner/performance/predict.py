"""The speed of a job on a machine: physics, corrected by the nearest measured rows, with its interval and its reasons."""

import math
from collections.abc import Callable
from typing import Any

from rigplanner.catalog.parts import GPU
from rigplanner.evidence import Step
from rigplanner.machine.machine import Machine
from rigplanner.performance.anchors import Evidence, Placed, cite, place, shipped_evidence
from rigplanner.performance.answer import Bound, SpeedEstimate
from rigplanner.performance.collective import predict_collective
from rigplanner.performance.job import TASKS, Job, read_job
from rigplanner.performance.kriging import Corrected, krige, speed_model
from rigplanner.performance.measured import Measured
from rigplanner.performance.metrics import per_metric, usual_metric
from rigplanner.performance.modelled import Modelled, model_speed
from rigplanner.performance.roofline import passes_through
from rigplanner.rig.task import Workload

NEIGHBOURS = 24
SHOWN_ANCHORS = 5
EIGHTY_PERCENT = 1.2816
"""Quantile of the normal distribution that bounds its middle 80 %."""
LIFTS: dict[Bound, str] = {
    "compute": "more-matrix-rate",
    "bandwidth": "more-bandwidth",
    "link": "faster-link-or-larger-batch",
    "launch": "larger-batch-or-compile",
}


def predict_speed(
    workload: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Any,
    machine: Machine | None = None,
    metric: str | None = None,
    evidence: Evidence | None = None,
    allowed: Callable[[Measured], bool] | None = None,
) -> SpeedEstimate:
    """Return the speed of `workload` on `count` equal GPUs over `nodes` computers, in `metric` (None: the usual one).

    `evidence` replaces the shipped measured rows, `allowed` leaves some of them out (to judge the model on them).
    Raises WorkloadFault naming the field for what cannot be expressed or computed."""
    if TASKS.get(workload.task or "") == "collective":
        return predict_collective(workload, gpu, count, nodes, link, machine, metric)
    job = read_job(workload, gpu, count, nodes, link, zoo)
    modelled = model_speed(job)
    asked = metric or usual_metric(job)
    point = place(job, gpu.id, asked)
    known = evidence or shipped_evidence()
    near = known.nearest(point, NEIGHBOURS, allowed)
    constants = speed_model().variances
    found = krige(
        point,
        [item.point for item in near],
        [item.residual for item in near],
        known.covariance,
        constants["noise"],
        constants["noise"] + constants["machine"] + constants["source"],
    )
    return _answer(job, modelled, asked, near, found)


def _answer(job: Job, modelled: Modelled, metric: str, near: list[Placed], found: Corrected) -> SpeedEstimate:
    samples_s = modelled.samples_s * math.exp(found.mean)
    width = EIGHTY_PERCENT * found.deviation * speed_model().widening
    ends = [per_metric(job, samples_s * math.exp(sign * width), metric, job.shape.samples_to_train) for sign in (-1, 0, 1)]
    bound = _bound(modelled)
    ranked = sorted(zip(near, found.weights, strict=True), key=lambda pair: -abs(pair[1]))[:SHOWN_ANCHORS]
    times = modelled.times
    step_s = job.batch * job.count / samples_s if times else None
    return SpeedEstimate(
        metric=metric,
        value=ends[1],
        low=min(ends),
        high=max(ends),
        stack=job.stack.slug,
        bound=bound,
        anchors=tuple(cite(item, weight) for item, weight in ranked),
        step_ms=step_s * 1e3 if step_s else None,
        mfu=_utilisation(job, samples_s) if times else None,
        scaling_efficiency=times.total_s / (times.total_s + modelled.exposed_s) if times and job.count > 1 else None,
        lift=LIFTS.get(bound),
        assumed=job.assumed,
        steps=_steps(job, modelled, found, samples_s),
    )


def _utilisation(job: Job, samples_s: float) -> float:
    """Model FLOPs utilisation: arithmetic without recomputation over the peak (Chowdhery et al. 2022, appendix B)."""
    passes = min(passes_through(job), 3.0)
    per_sample = (job.shape.gflop + job.shape.attention_gflop) * 1e9 * passes
    return samples_s * per_sample / (job.matrix_tflops * 1e12 * job.count)


def _bound(modelled: Modelled) -> Bound:
    if modelled.stream:
        stream = modelled.stream
        return "compute" if stream.matrix_s > stream.traffic_s else "bandwidth"
    times = modelled.times
    assert times
    parts: dict[Bound, float] = {
        "compute": times.matrix_s,
        "bandwidth": times.traffic_s + times.weights_s,
        "launch": max(times.launch_s, times.tail_s),
        "link": modelled.exposed_s,
    }
    return max(parts, key=lambda name: parts[name])


def _steps(job: Job, modelled: Modelled, found: Corrected, samples_s: float) -> tuple[Step, ...]:
    shape, times, stream = job.shape, modelled.times, modelled.stream
    unit = "tokens/s" if stream or shape.unit == "token" else "samples/s"
    steps = [
        Step(
            "matrix rate",
            "dense peak for the precision",
            {"precision": job.precision, "gpu": job.silicon.generation},
            job.matrix_tflops,
            "TFLOPS",
            "catalog",
        )
    ]
    if times:
        passes = passes_through(job)
        steps += [
            Step(
                "arithmetic",
                "FLOPs x passes x batch / (peak x share)",
                {"gflop": shape.gflop + shape.attention_gflop, "passes": passes, "batch": job.batch, "share": job.stack.tuned},
                times.matrix_s * 1e3,
                "ms",
                shape.source,
            ),
            Step(
                "traffic",
                "activation bytes x passes / bandwidth",
                {"values_m": shape.elements_m, "bandwidth_gbs": job.silicon.bandwidth_gbs},
                times.traffic_s * 1e3,
                "ms",
            ),
            Step(
                "weights",
                "weights, gradients and optimizer states / bandwidth",
                {"params_m": shape.params_m},
                times.weights_s * 1e3,
                "ms",
            ),
            Step(
                "kernels",
                "kernels x host time",
                {"kernels": shape.kernels, "launch_us": job.stack.launch_us},
                times.launch_s * 1e3,
                "ms",
            ),
        ]
    if times and job.count > 1:
        steps.append(
            Step(
                "exchange not hidden",
                "max(last bucket, exchange - overlap x step)",
                {"gpus": job.count, "link": job.link},
                modelled.exposed_s * 1e3,
                "ms",
                "NCCL ring model",
            )
        )
    if stream:
        steps += [
            Step(
                "arithmetic",
                "2 x active weights x tokens / rate",
                {"active_m": shape.active_m, "streams": stream.streams},
                stream.matrix_s * 1e3,
                "ms",
                shape.source,
            ),
            Step(
                "traffic",
                "weights and cache / bandwidth",
                {"bandwidth_gbs": job.silicon.bandwidth_gbs},
                stream.traffic_s * 1e3,
                "ms",
            ),
        ]
    steps.append(Step("modelled", "physics alone", {"gpus": job.count}, modelled.samples_s, unit))
    steps.append(
        Step(
            "anchored",
            "modelled x exp(correction of the nearest rows)",
            {"correction": found.mean, "deviation": found.deviation, "rows": float(len(found.weights))},
            samples_s,
            unit,
            "catalog/benchmarks",
        )
    )
    return tuple(steps)
