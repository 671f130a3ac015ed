"""From a finding to the answer: what binds, what would lift it, time and energy to train, and the
steps of the calculation."""

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.evidence import Estimate, Step
from rigplanner.performance.anchors.anchors import cite
from rigplanner.performance.anchors.points import Anchored
from rigplanner.performance.answer import (
    Anchor,
    Bound,
    Evidence,
    SpeedEstimate,
    Unmeasured,
    with_first_token,
)
from rigplanner.performance.job import Job
from rigplanner.performance.limits.input_pipeline import Feed
from rigplanner.performance.metrics import per_metric
from rigplanner.performance.modelled import Modelled, waiting_share
from rigplanner.performance.offload import Offload, Waits
from rigplanner.performance.roofline import passes_through
from rigplanner.performance.serving import latency
from rigplanner.performance.users import serving_answer
from rigplanner.rig.workload import Workload

Inputs = dict[str, float | str | None]
"""What a formula of a step was given."""
SHOWN_ANCHORS = 5
TRAINING_POWER_SHARE = 0.85
"""Share of their power limit that GPUs draw while they train (estimate; measured runs lie between
0.7 and 0.95)."""
LIFTS: dict[Bound, str] = {
    "compute": "more-matrix-rate",
    "bandwidth": "more-bandwidth",
    "link": "faster-link-or-larger-batch",
    "launch": "larger-batch-or-compile",
    "cpu": "more-cores-or-gpu-decoding",
    "storage": "faster-storage-or-packed-data",
    "power": "higher-power-limit",
    "heat": "space-between-cards",
    "memory capacity": "more-memory",
    "offload": "less-offload-or-more-accumulation",
}


FELT = 0.9
"""Share of the speed kept below which power or heat is told as the limit."""


class Finding(Struct, frozen=True, kw_only=True):
    """What was computed of a job: modelled and anchored speed, its interval in samples per second,
    the anchored speed of one GPU alone, the share that power limit and heat leave, each by itself,
    and what the host takes away."""

    job: Job
    workload: Workload
    gpu: GPU
    modelled: Modelled
    anchored: Anchored
    metric: str
    samples_s: float
    low_s: float
    high_s: float
    alone_s: float | None
    anchored_s: float
    kept: float
    power: Estimate | None
    heat: Estimate | None
    feed: Feed | None
    evidence: Evidence = ""
    unmeasured: tuple[Unmeasured, ...] = ()


def _efficiency(found: Finding) -> float | None:
    """Speed over that of as many GPUs that wait for none; where states are spread over the GPUs,
    which one alone seldom holds, the share of a step that does not wait."""
    job, modelled = found.job, found.modelled
    if job.zero and modelled.times and job.count > 1:
        return modelled.times.total_s / (modelled.times.total_s + modelled.exposed_s)
    return min(1.0, found.anchored_s / found.alone_s / job.count) if found.alone_s else None


def cited(anchored: Anchored) -> tuple[Anchor, ...]:
    """Return the rows that a prediction leans on most."""
    weights = anchored.correction.weights
    ranked = sorted(
        range(len(weights)), key=[abs(weight) for weight in weights].__getitem__, reverse=True
    )
    return tuple(cite(anchored.rows[n], weights[n]) for n in ranked[:SHOWN_ANCHORS])


def estimate(found: Finding) -> SpeedEstimate:
    """Return the answer of a finding."""
    job = found.job
    ends = [
        per_metric(job, rate, found.metric, job.shape.samples_to_train)
        for rate in (found.low_s, found.samples_s, found.high_s)
    ]
    bound = bound_of(found)
    times = found.modelled.times
    hours = hours_to_train(found)
    stream = found.modelled.stream
    first_ms, next_ms = latency(job, found.samples_s, stream.streams) if stream else (None, None)
    served = (
        serving_answer(job, found.samples_s, stream, found.workload, found.anchored.one_user)
        if stream and job.task == "serve"
        else None
    )
    assumed = job.assumed
    if served and not job.batch_given:
        assumed = {**assumed, "users": f"{served.users:.0f}"}
    told = SpeedEstimate(
        metric=found.metric,
        value=ends[1],
        low=min(ends),
        high=max(ends),
        stack=job.named.slug,
        bound=bound,
        anchors=cited(found.anchored),
        step_ms=1e3 * job.batch * job.count / found.samples_s if times else None,
        exchange_share=_exchanged(found),
        mfu=utilisation(job, found.samples_s) if times else None,
        scaling_efficiency=_efficiency(found),
        lift=LIFTS.get(bound),
        assumed=assumed,
        steps=steps_of(found),
        hours=hours,
        energy_kwh=hours * job.count * (found.gpu.tdp_w or 0.0) * TRAINING_POWER_SHARE / 1e3
        if hours and found.gpu.tdp_w
        else None,
        next_token_ms=next_ms,
        tokens_read_s=tokens_read(job, found.samples_s),
        serving=served,
        evidence=found.evidence,
        unmeasured=found.unmeasured,
    )
    if served and job.batch_given:
        slow_ms = served.slow_first_token_ms
        return with_first_token(told, served.first_token_ms, job.input_tokens, slow_ms=slow_ms)
    return with_first_token(told, first_ms, job.input_tokens) if first_ms else told


def _exchanged(found: Finding) -> float | None:
    """The share of a step that waits for the exchange between GPUs; None on one."""
    times, exposed_s = found.modelled.times, found.modelled.exposed_s
    return exposed_s / (times.total_s + exposed_s) if times and found.job.count > 1 else None


def tokens_read(job: Job, samples_s: float) -> float | None:
    """Tokens a second of texts that become vectors or labels; None of all other work."""
    reads = job.task == "inference" and job.shape.kind == "encoder"
    return samples_s * job.shape.tokens if reads else None


def hours_to_train(found: Finding) -> float | None:
    """Return the hours that the epochs, the tokens or MLPerf's quality target take, or None where
    none is asked for."""
    work, shape = found.workload, found.job.shape
    if not found.job.task.startswith("train"):
        return None
    if work.train_tokens:
        samples: float | None = work.train_tokens / (1 if shape.unit == "token" else shape.tokens)
    elif work.epochs and work.dataset_samples:
        samples = work.epochs * work.dataset_samples
    else:
        samples = shape.samples_to_train if found.metric == "time_to_train_min" else None
    return samples / found.samples_s / 3600 if samples else None


def utilisation(job: Job, samples_s: float) -> float:
    """Return the model FLOPs utilisation: arithmetic without recomputation over the peak (Chowdhery
    et al. 2022, appendix B); LoRA needs a forward pass and the gradients of activations only."""
    passes = {"train": 3.0, "train_lora": 2.0}.get(job.task, 1.0)
    per_sample = (job.shape.gflop + job.shape.attention_gflop) * 1e9 * passes
    return samples_s * per_sample / (job.matrix_tflops * 1e12 * job.count)


def bound_of(found: Finding) -> Bound:
    """Return what limits the job: what slows all of the GPUs' own time or starves them, unless the
    exchange or another wait costs more, else the largest part of the modelled time."""
    if found.feed:
        return found.feed.bound
    if found.kept < FELT and 1 / found.kept - 1 >= waiting_share(found.modelled):
        heat, power = (share.value if share else 1.0 for share in (found.heat, found.power))
        return "heat" if heat <= power else "power"
    stream, times = found.modelled.stream, found.modelled.times
    if stream and stream.starved:
        return "memory capacity"
    if stream:
        parts: dict[Bound, float] = {
            "compute": stream.matrix_s,
            "bandwidth": stream.traffic_s,
            "launch": stream.other_s - stream.exchange_s,
            "link": stream.exchange_s,
        }
        return max(parts, key=lambda name: parts[name])
    assert times
    parts = {
        "compute": times.matrix_s,
        "bandwidth": times.traffic_s + times.weights_s,
        "launch": max(times.launch_s, times.tail_s),
        "link": found.modelled.exposed_s,
        "offload": found.modelled.waits.total_s,
        "cpu": found.modelled.fed_s,
    }
    return max(parts, key=lambda name: parts[name])


def steps_of(found: Finding) -> tuple[Step, ...]:
    """Return the steps of the calculation in their order."""
    job, modelled = found.job, found.modelled
    unit = "tokens/s" if modelled.stream or job.shape.unit == "token" else "samples/s"
    chip: Inputs = {"precision": job.precision, "generation": job.silicon.generation}
    peak = "dense peak for the precision"
    physics = "rigplanner.performance"
    return (
        Step("matrix rate", peak, chip, job.matrix_tflops, "TFLOPS", "catalog"),
        *(_step_parts(job, modelled) if modelled.times else _stream_parts(job, modelled)),
        Step("modelled", "physics alone", {"gpus": job.count}, modelled.samples_s, unit, physics),
        *_anchoring(found, unit),
        *_slowing(found, unit),
    )


def _anchored_speed(found: Finding) -> float:
    """The speed that the rows say, before power, heat and the host take of it."""
    if found.kept == 1.0 and not found.feed:
        return found.samples_s
    return found.modelled.samples_s * found.anchored.correction.factor


def _anchoring(found: Finding, unit: str) -> list[Step]:
    """What the measured rows say, after the ratio to the stack's kin where it has one."""
    correction, kin = found.anchored.correction, found.job.named.kin
    rows: Inputs = {
        "correction": correction.mean,
        "deviation": correction.deviation,
        "rows": float(len(correction.weights)),
    }
    if found.anchored.strange:
        rows["never measured on"] = f"this {found.anchored.strange}"
    formula = "modelled x exp(correction of the nearest rows)"
    steps = [Step("anchored", formula, rows, _anchored_speed(found), unit, "catalog/benchmarks")]
    if kin:
        job = found.job
        times = kin.ratio_of(job.shape.slug, job.task, job.silicon.generation)
        ratio: Inputs = {"ratio": times, "spread": kin.spread}
        steps.insert(0, Step("kin", f"speed of {kin.like} x ratio", ratio, times, "", kin.source))
    return steps


def _slowing(found: Finding, unit: str) -> list[Step]:
    """What heat, power limit and the host's input pipeline leave."""
    steps = list(found.heat.steps) if found.heat else []
    if found.kept < 1.0:
        left = _anchored_speed(found) * found.kept
        share: Inputs = {"kept": found.kept, "waits": waiting_share(found.modelled)}
        formula = "anchored x share kept"
        steps.append(Step("power and heat", formula, share, left, unit, "power_cap"))
    if found.feed:
        formula = "soft minimum of GPUs and input pipeline"
        fed = Step("fed", formula, {}, found.samples_s, unit, "input_pipeline")
        steps += [*found.feed.steps, fed]
    return steps


def _step_parts(job: Job, modelled: Modelled) -> list[Step]:
    """The parts of a step in milliseconds, what waits for other GPUs and for the host last."""
    shape, times = job.shape, modelled.times
    assert times
    work: Inputs = {
        "gflop": shape.gflop + shape.attention_gflop,
        "passes": passes_through(job),
        "batch": job.batch,
        "share": job.stack.tuned,
    }
    values: Inputs = {"values_m": shape.elements_m}
    params: Inputs = {"params_m": shape.params_m}
    kernels: Inputs = {"kernels": shape.kernels}
    formula = "FLOPs x passes x batch / (peak x share)"
    state = "weights, gradients, states / bandwidth"
    steps = [
        _ms("arithmetic", formula, work, times.matrix_s, shape.source),
        _ms("traffic", "values x passes / bandwidth", values, times.traffic_s, shape.source),
        _ms("weights", state, params, times.weights_s),
        _ms("kernels", "kernels x host time", kernels, times.launch_s),
    ]
    if job.count > 1:
        others: Inputs = {"gpus": job.count, "link": job.link, "bus_gbs": job.bus_gbs}
        formula = "last bucket + exchange - overlap x step, softened"
        waited, source = modelled.exposed_s, "NVIDIA/nccl src/graph"
        steps.append(_ms("exchange not hidden", formula, others, waited, source))
    if shape.host_rate and modelled.fed_s:
        read, formula = shape.host_rate * job.nodes, "soft minimum of GPUs and input pipeline"
        steps.append(Step("fed", formula, {}, read, "samples/s", shape.source))
    return steps + (_host_parts(job.offload, modelled.waits) if job.offload else [])


def _ms(name: str, formula: str, inputs: Inputs, seconds: float, source: str = "") -> Step:
    return Step(name, formula, inputs, seconds * 1e3, "ms", source)


def _host_parts(offload: Offload, waits: Waits) -> list[Step]:
    ram: dict[str, float | str | None] = {"ram_gbs": offload.ram_gbs}
    link: dict[str, float | str | None] = {"link_gbs": offload.link_gbs}
    drive: dict[str, float | str | None] = {"drive_gbs": offload.drive_gbs}
    zero, infinity = "ZeRO-Offload, arXiv 2101.06840", "ZeRO-Infinity, arXiv 2104.07857"
    steps = [
        Step(
            "optimizer on the host",
            "parameters x the slower of time and traffic of one",
            ram,
            waits.cpu_s * 1e3,
            "ms",
            zero,
        ),
        Step(
            "offloaded transfers",
            "bytes per GPU / link to the host",
            link,
            waits.link_s * 1e3,
            "ms",
            zero,
        ),
    ]
    return steps + (
        [
            Step(
                "states on drives",
                "24 x parameters / rate",
                drive,
                waits.drive_s * 1e3,
                "ms",
                infinity,
            )
        ]
        * bool(waits.drive_s)
    )


def _stream_parts(job: Job, modelled: Modelled) -> list[Step]:
    shape, stream = job.shape, modelled.stream
    assert stream
    inputs: dict[str, float | str | None] = {"active_m": shape.active_m, "streams": stream.streams}
    band: dict[str, float | str | None] = {
        "bandwidth_gbs": job.silicon.bandwidth_gbs,
        "gpus": job.count,
    }
    return [
        Step(
            "arithmetic",
            "active weights / weights unpacked a second"
            if stream.unpacks
            else "2 x active weights x tokens / rate",
            inputs,
            stream.matrix_s * 1e3,
            "ms",
            shape.source,
        ),
        Step(
            "traffic",
            "weights and cache / bandwidth",
            band,
            stream.traffic_s * 1e3,
            "ms",
            shape.source,
        ),
        Step(
            "kernels and small exchanges",
            "kernels x time of one",
            {"kernels": shape.kernels},
            stream.other_s * 1e3,
            "ms",
        ),
    ]
