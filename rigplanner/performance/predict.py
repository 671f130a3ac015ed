"""The speed of a job on a machine: physics, corrected by the nearest measured rows, with its
interval and its reasons."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import CPU, GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Estimate, Step
from rigplanner.machine.model import Machine
from rigplanner.performance import truncated_normal as truncated
from rigplanner.performance import variants
from rigplanner.performance.anchors.anchors import place
from rigplanner.performance.anchors.monotonicity import at_least
from rigplanner.performance.anchors.own import current_evidence
from rigplanner.performance.anchors.points import Anchored, Corrected, Placed, Point
from rigplanner.performance.answer import Evidence as Novelty
from rigplanner.performance.answer import SpeedEstimate, Unmeasured, with_first_token
from rigplanner.performance.capacity import exceeding, surely_exceeds
from rigplanner.performance.constants import Nearness, speed_model
from rigplanner.performance.explain import Finding, cited, estimate
from rigplanner.performance.host.predict import predict_hosted
from rigplanner.performance.job import TASKS, Job, read_job
from rigplanner.performance.limits.heat import speed_in_heat
from rigplanner.performance.limits.host import cap_of, feed_of
from rigplanner.performance.limits.input_pipeline import fed_range
from rigplanner.performance.limits.power_cap import speed_at_cap
from rigplanner.performance.measured import Measured
from rigplanner.performance.metrics import WRITING, usual_metric
from rigplanner.performance.modelled import Modelled, model_speed, waiting_share
from rigplanner.performance.offload import doubt
from rigplanner.performance.preference import predict_preference
from rigplanner.performance.roofline import TF32_UNTIL, ceiling, convolves_in_tf32
from rigplanner.performance.sequence_to_sequence import halves, joined
from rigplanner.performance.serving import (
    LAUNCHED_WITHIN,
    alone_share,
    decode_ceiling,
    launched,
    packed_whole,
)
from rigplanner.performance.settled import settle
from rigplanner.performance.several_gpus.collective import predict_collective
from rigplanner.performance.several_gpus.scaling import rings
from rigplanner.performance.several_gpus.staleness import SYNCHRONOUS, loosened, sync_of
from rigplanner.performance.silicon import generation_of
from rigplanner.performance.users import users_at_rate
from rigplanner.performance.without_network.edge import is_int8_only, predict_edge
from rigplanner.performance.without_network.matrix import predict_matrix, rate_or_fault
from rigplanner.performance.without_network.simulated import predict_simulated
from rigplanner.rig.workload import Workload
from rigplanner.workload.preference import is_preference, taken_apart
from rigplanner.workload.without_network import DOUBLE, plain_job

if TYPE_CHECKING:
    from rigplanner.performance.anchors.evidence import Evidence

NEIGHBOURS = 12
LONG_PROMPT = 128
"""Tokens from which the time of a prompt is corrected by measured ones."""
UNTOLD_DRAFTS = 1.3
"""Factor either way within which drafts gain whose accepted share nobody tells: 1.55 to 2.1 times
of one model on one card by its prompts (sudoingX/qwen38-mtp, pull request 53; read 2026-11-23)."""
ROWS_WITHIN = 1.5
"""Factor either way within which llama.cpp's row split lies of layers in turn: 0.77 of Qwen3-14B on
two RTX 3090 (ik_llama.cpp pull request 1106), 1.05 of Qwen3-32B in 8 bits on one beside two RTX
3060 (r/LocalLLaMA, 2025), 1.4 on two RTX 3090, 1.67 on two RTX A6000 with a bridge (ollama issue
2191; all read 2026-11-23)."""
MOST_CARDS = 64
"""Cards that a model is dealt to layer by layer."""
STRANGE_SILICON = 2.0
"""Factor either way by which silicon may differ whose architecture is not told (estimate)."""
UNMEASURED_GENERATION = 1.33
"""Factor within which the learned shares of the peak of four in five generations lie (deviation of
their logarithms 0.22)."""
SLOW_WITHIN = 2.0
"""Factor either way within which the speed of fallbacks lies that no row measures (estimate)."""
LITTLE = 0.05
"""Share of rows of written tokens below which a served job does not ask them."""
TRAINED = ("train", "train_lora")
OWN_WAY = "own way to the host"
"""Lane of an exchange that shares the host's memory with no other, as high as it may come where
copies follow one another: of published boxes without peer access eight cards kept 8 to 97 % of
eight single ones, three more than four of the same kind (lambdal/deeplearning-benchmark: 3x, 4x and
8x RTX 3090). No factor was learned for it."""
STAGED_WITHIN, SELDOM_CROWDED = 1.8, 0.7
"""Factor either way within which rings through the host of four computers in five lie: an RTX 3090,
4090, A100 or V100 exchanged BERT's gradients at 0.3 to 1.3 of the rate of its link's word, an RTX
6000 Ada at 0.8 to 1.7 (lambdal/deeplearning-benchmark, runs with NCCL_P2P_DISABLE=1); and by how
much it is slower for each doubling of the cards beyond two in the worst of them (4x and 8x RTX 3090
there)."""
RATE_PASSES = 2
"""Times that the users of a rate of requests are reckoned anew with what measured rows say."""
MOST_EFFICIENCY = 1.03
"""Several GPUs of the same batch do no more than this times their number; sharded states and noise
explain the rest."""

NO_TABLE_SPEED = (
    "task: of a table only the memory is known, not the speed; ask `rigplanner memory`."
)


def predict_speed(
    workload: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Zoo | None,
    machine: Machine | None = None,
    metric: str | None = None,
    evidence: "Evidence | None" = None,
    allowed: Callable[[Measured], bool] | None = None,
    power_limit_w: float | None = None,
    cpus: Sequence[CPU] = (),
) -> SpeedEstimate:
    """Return the speed of `workload` on `count` equal GPUs over `nodes` computers, in `metric`
    (None: the usual one).

    With a `machine` its own links, power limits, storage, RAM and CPUs count too. `evidence`
    replaces the measured rows (the shipped ones and those that the user keeps), `allowed` leaves
    some of them out (to judge the model on them). `power_limit_w`: what each GPU may draw, below
    what the machine itself says. `cpus`: those of a computer of which nothing else is told. Raises
    WorkloadFault naming the field for what cannot be expressed or computed."""
    if workload.mig is not None:
        raise WorkloadFault(
            f"mig: no measured speed of a partition is known, found {workload.mig!r}."
        )
    asked = (gpu, count, nodes, link, zoo, machine, metric)

    def on(work: Workload) -> SpeedEstimate:
        return predict_speed(work, *asked, evidence, allowed, power_limit_w, cpus)

    def job_of(work: Workload) -> Job:
        return read_job(work, gpu, count, nodes, link, zoo, machine)

    plain = _without_network(workload, gpu, count, machine, zoo)
    if other := plain or _by_another(workload, gpu, on, job_of):
        return other
    if TASKS.get(workload.task or "") == "collective":
        return predict_collective(workload, gpu, count, nodes, link, machine, metric)
    known = evidence or current_evidence()
    if is_preference(workload):
        return _of_preference(workload, *asked, known, allowed, power_limit_w)
    made = settle(workload, gpu, count, nodes, link, zoo)
    told = _predicted(made.workload, *asked, known, allowed, power_limit_w, cpus)
    return replace(told, assumed={**made.assumed, **told.assumed}) if made.assumed else told


def _by_another(
    workload: Workload,
    gpu: GPU,
    on: Callable[[Workload], SpeedEstimate],
    job_of: Callable[[Workload], Job],
) -> SpeedEstimate | None:
    """The speed of a job that is told by another one's: in FP64 by that in FP32, in 16 bits for
    which a chip has no convolutions yet by that in TF32, of copies that do not wait by those that
    do; None for all others."""
    if workload.precision in DOUBLE:
        single = replace(workload, precision="fp32")
        return _in_double(on(single), job_of(single), gpu)
    late = generation_of(gpu) in TF32_UNTIL and TASKS.get(workload.task or "") == "train"
    if late and convolves_in_tf32(job_of(workload)):
        told = on(replace(workload, precision="tf32"))
        return replace(told, assumed={**told.assumed, "precision": "tf32"})
    mode, bound = sync_of(workload)
    if mode == SYNCHRONOUS or workload.parallelism is None:
        return None
    plan = replace(workload.parallelism, sync=None, staleness=None)
    waiting = replace(workload, parallelism=plan)
    found = on(waiting)
    if TASKS.get(workload.task or "") not in ("train", "train_lora"):
        return found
    job = job_of(waiting)
    physics = model_speed(job)
    assert physics.times
    return loosened(found, job, physics.times.total_s, physics.exposed_s, mode, bound)


def _without_network(
    workload: Workload, gpu: GPU, count: int, machine: Machine | None, zoo: Zoo | None
) -> SpeedEstimate | None:
    """The speed of a job that needs no network, or of one on a device that computes in int8 alone;
    None for all others. Raises WorkloadFault for tables, of which memory alone is known."""
    kind = plain_job(workload)
    if kind is None:
        return predict_edge(workload, gpu, zoo) if is_int8_only(gpu) else None
    if kind == "matrix":
        return predict_matrix(workload, gpu, count)
    if kind == "simulate":
        cpus = [node.cpu for node in machine.cpus] if machine else []
        return predict_simulated(workload, gpu, cpus, count)
    raise WorkloadFault(NO_TABLE_SPEED)


def _in_double(found: SpeedEstimate, job: Job, gpu: GPU) -> SpeedEstimate:
    """The speed of a network in FP64: that in FP32 with its arithmetic at the rate of FP64 and
    twice its traffic. No row measures it. Raises WorkloadFault for text that is written and for a
    GPU without FP64."""
    name, rate = rate_or_fault(gpu, "fp64")
    times = model_speed(job).times
    if times is None:
        raise WorkloadFault("precision: text is written in no format wider than fp32.")
    wider = job.matrix_tflops / rate
    slower = (times.matrix_s * (wider - 1) + times.traffic_s + times.weights_s) / times.total_s + 1
    step = Step(
        "double",
        "FP32 / slower: arithmetic at the FP64 rate, twice the traffic",
        {"fp64_tflops": rate, "rate": name, "fp32_tflops": job.matrix_tflops, "slower": slower},
        found.value / slower,
        found.metric,
        "catalog",
    )
    return replace(
        found,
        value=found.value / slower,
        low=found.low / slower / DOUBLE_WITHIN,
        high=found.high / slower * DOUBLE_WITHIN,
        step_ms=found.step_ms * slower if found.step_ms else None,
        hours=found.hours * slower if found.hours else None,
        energy_kwh=None,
        mfu=None,
        bound="compute" if wider > 2 else found.bound,
        fp32_gain=slower,
        unmeasured=("precision",),
        steps=(*found.steps, step),
    )


DOUBLE_WITHIN = 1.25
"""Factor either way of what no row in FP64 judges (estimate)."""


def _of_preference(
    workload: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Zoo | None,
    machine: Machine | None,
    metric: str | None,
    known: "Evidence",
    allowed: Callable[[Measured], bool] | None,
    power_limit_w: float | None,
) -> SpeedEstimate:
    """The speed of a training by preferences or rewards, by those of its parts; a machine's own
    links count where all of its GPUs train, its power limit everywhere."""
    split = taken_apart(workload, count)
    caps = cap_of(machine) if machine else None, power_limit_w
    limit_w = min(filter(None, caps), default=None)

    def predict(work: Workload, cards: int, in_metric: str | None) -> SpeedEstimate:
        whole = cards == count
        return predict_speed(
            work,
            gpu,
            cards,
            nodes if whole else 1,
            link if cards > 1 else "none",
            zoo,
            machine if whole else None,
            in_metric,
            known,
            allowed,
            limit_w,
        )

    return predict_preference(workload, split, predict, metric)


def _predicted(
    workload: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Zoo | None,
    machine: Machine | None,
    metric: str | None,
    known: "Evidence",
    allowed: Callable[[Measured], bool] | None,
    power_limit_w: float | None,
    cpus: Sequence[CPU],
) -> SpeedEstimate:
    """The speed of a job whose format is settled: by its halves, with a part on the host, or of the
    GPUs alone."""
    if pair := halves(_at_once(workload, count), metric, zoo):
        parts = (pair.reading, pair.writing)
        done = [
            predict_speed(
                part, gpu, count, nodes, link, zoo, machine, None, known, allowed, power_limit_w
            )
            for part in parts
        ]
        told = joined(pair, *done)
        return (
            _leaning(told, place(read_job(workload, gpu, count, nodes, link, zoo)), known, allowed)
            if known.paired
            else told
        )
    cards = [gpu] * min(count, MOST_CARDS)
    hosted = predict_hosted(workload, cards, machine, zoo, metric, cpus) if cards else None
    return hosted or _of_gpus(
        workload, gpu, count, nodes, link, zoo, machine, metric, known, allowed, power_limit_w
    )


def _at_once(workload: Workload, count: int) -> Workload:
    """The job with its users as samples at once, dealt out to the GPUs."""
    if workload.users is None:
        return workload
    return replace(workload, users=None, batch_per_gpu=math.ceil(workload.users / max(1, count)))


def _of_gpus(
    workload: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Zoo | None,
    machine: Machine | None,
    metric: str | None,
    known: "Evidence",
    allowed: Callable[[Measured], bool] | None,
    power_limit_w: float | None,
) -> SpeedEstimate:
    """The speed of a job that lies on the GPUs alone."""
    job = read_job(workload, gpu, count, nodes, link, zoo, machine)
    asked = metric or usual_metric(job)
    found = _found(job, workload, gpu, asked, known, allowed)
    if workload.request_rate and job.task == "serve":
        for _ in range(RATE_PASSES):
            share = found.samples_s / found.modelled.samples_s
            users = users_at_rate(job, workload.request_rate / share)
            job = replace(job, batch=users / count, batch_given=True)
            found = _found(job, workload, gpu, asked, known, allowed)
    told = estimate(_on_machine(found, machine, power_limit_w))
    if job.task == "decode" and job.stack.family == "local-llm" and job.input_tokens >= LONG_PROMPT:
        told = with_first_token(told, _first_token_ms(job, known, allowed), job.input_tokens)
    if job.variant and (deaf := variants.ignored(job)):
        told = replace(told, assumed={**told.assumed, "variant_ignored": deaf})
    return exceeding(told) if surely_exceeds(job, workload, gpu, machine) else told


def _first_token_ms(
    job: Job, known: "Evidence", allowed: Callable[[Measured], bool] | None
) -> float:
    """The time of a prompt as measured prompts correct it: engines for one user read networks of
    experts by kernels that the model of many streams does not know."""
    reading = replace(job, task="prefill", output_tokens=0)
    point = place(reading)
    anchored = known.correct(point, NEIGHBOURS, allowed)
    samples_s = model_speed(reading).samples_s * math.exp(anchored.correction.mean)
    return 1e3 * reading.input_tokens * reading.batch / samples_s


def _leaning(
    told: SpeedEstimate, point: Point, known: "Evidence", allowed: Callable[[Measured], bool] | None
) -> SpeedEstimate:
    """Return the speed that both halves of a job tell, corrected by measured rows of such jobs on
    its stack, if any."""
    anchored = _measured_pairs(known).correct(point, NEIGHBOURS, allowed)
    near, correction = nearness(point, anchored), anchored.correction
    if near == "nothing":
        return told
    value = told.value * correction.factor
    width = speed_model().half_width(
        near, correction.deviation, point.task, anchored.strange, point.family
    )
    told_by: dict[str, float | str | None] = {
        "correction": correction.mean,
        "rows": float(len(correction.weights)),
    }
    formula = "read and written x exp(correction of the nearest rows)"
    step = Step("anchored", formula, told_by, value, told.metric, "catalog/benchmarks")
    return replace(
        told,
        value=value,
        low=max(told.low * correction.factor, value * math.exp(-width)),
        high=min(told.high * correction.factor, value * math.exp(width)),
        anchors=cited(anchored),
        steps=(*told.steps, step),
    )


@lru_cache(2)
def _measured_pairs(known: "Evidence") -> "Evidence":
    """Return the rows of jobs that are told by their halves, placed by what the halves say without
    them."""
    from rigplanner.performance.anchors.evidence import placed_evidence

    bare, placed = placed_evidence(known.placed), []
    for row in known.paired:
        gpu = find_gpu(row.gpu)
        told = predict_speed(
            row.workload, gpu, row.count, row.nodes, row.link, None, None, row.metric, bare
        )
        point = place(read_job(row.workload, gpu, row.count, row.nodes, row.link, None))
        placed.append(Placed(row, point, math.log(row.value / told.value)))
    return placed_evidence(placed)


def _found(
    job: Job,
    workload: Workload,
    gpu: GPU,
    metric: str,
    known: "Evidence",
    allowed: Callable[[Measured], bool] | None,
) -> Finding:
    """Return the speed that physics tells, corrected by the nearest measured rows and below its
    ceiling."""
    modelled, point = model_speed(job), place(job)
    anchored, near = _corrected(job, point, modelled, known, allowed)
    samples_s = at_least(
        by_rows(job, modelled, anchored.correction.mean), job, point, metric, anchored.rows
    )
    modelled, samples_s = _without_graphs(job, modelled, samples_s)
    width = math.hypot(_half_width(job, point, anchored, known, near), _unsure(job, modelled))
    alone = _alone(job, known, allowed)
    samples_s = min(samples_s, job.count * alone * MOST_EFFICIENCY) if alone else samples_s
    most = (
        decode_ceiling(job)
        if job.task == "decode"
        else math.inf
        if job.task in WRITING
        else ceiling(job) * variants.peak(job)
    )
    middle, low_s, high_s = truncated.below(samples_s, width, most)
    slower, faster = ways_to_host(job, modelled)
    low_s = min(low_s, middle * slower)
    high_s = max(high_s, min(most, max(middle * faster, _repacked(job))))
    return Finding(
        job=job,
        workload=workload,
        gpu=gpu,
        modelled=modelled,
        anchored=anchored,
        metric=metric,
        samples_s=middle,
        low_s=low_s,
        high_s=high_s,
        alone_s=alone,
        anchored_s=samples_s,
        kept=1.0,
        power=None,
        heat=None,
        feed=None,
        evidence=_evidence(job, point, anchored, near),
        unmeasured=_unmeasured(job, anchored, known),
    )


def by_rows(job: Job, modelled: Modelled, correction: float) -> float:
    """Return the samples per second of physics corrected by measured rows, which tell of the GPUs'
    own time: what a step waits for the host's states stays."""
    waits_s = modelled.waits.total_s
    if not waits_s:
        return modelled.samples_s * math.exp(correction)
    step_s = job.batch * job.count / modelled.samples_s
    held = min(waits_s, step_s)
    return job.batch * job.count / ((step_s - held) * math.exp(-correction) + held)


def _without_graphs(job: Job, modelled: Modelled, samples_s: float) -> tuple[Modelled, float]:
    """Return what is modelled, and the speed that rows say, of an engine whose host launches each
    kernel; of all others as they are."""
    if not job.launched or not modelled.stream or job.task == "prefill":
        return modelled, samples_s
    stream = launched(job, modelled.stream, samples_s / modelled.samples_s)
    samples_s *= stream.tokens_s / modelled.stream.tokens_s
    return replace(modelled, stream=stream), samples_s


def _corrected(
    job: Job,
    point: Point,
    modelled: Modelled,
    known: "Evidence",
    allowed: Callable[[Measured], bool] | None,
) -> tuple[Anchored, Nearness]:
    """Return the correction of a job, and how near the rows are that say most of it. Few users of a
    served model wait for what one stream waits for: the fewer they are, the more rows of written
    tokens say of them, and one user gets what these tell for him."""
    served = known.correct(point, NEIGHBOURS, allowed)
    stream = modelled.stream
    share = alone_share(stream.streams) if stream and job.task == "serve" else 0.0
    if share < LITTLE:
        return served, nearness(point, served)
    one_stream = place(replace(job, task="decode"))
    written = known.correct(one_stream, NEIGHBOURS, allowed)
    one, many = written.correction, served.correction
    mixed = Corrected(
        share * one.mean + (1 - share) * many.mean,
        share * one.deviation + (1 - share) * many.deviation,
        tuple([share * weight for weight in one.weights])
        + tuple([(1 - share) * weight for weight in many.weights]),
    )
    alone = 2 * share > 1
    near = nearness(one_stream, written) if alone else nearness(point, served)
    strange = written.strange if alone else served.strange
    return Anchored(written.rows + served.rows, mixed, strange, one.mean - many.mean), near


def _on_machine(found: Finding, machine: Machine | None, power_limit_w: float | None) -> Finding:
    """Return what power limits, heat and the machine's input leave of a speed, and what of them is
    felt: the first two slow the time in which GPUs work, not that in which they wait for each other
    or for the host."""
    job, middle = found.job, found.samples_s
    capped = _capped(found.gpu, machine, found.modelled, power_limit_w)
    heated = speed_in_heat(machine) if machine else None
    slowed, below, above = _together(*filter(None, (capped, heated)))
    waiting = waiting_share(found.modelled)
    kept = 1 / ((1 - waiting) / slowed + waiting)
    felt_share = kept * (1 - waiting) / slowed
    below, above = below * felt_share, above * felt_share
    fed = feed_of(found.workload, machine) if machine and job.task not in WRITING else None
    value = middle * kept
    low_s = value * math.exp(-math.hypot(math.log(middle / found.low_s), below))
    high_s = value * math.exp(math.hypot(math.log(found.high_s / middle), above))
    if fed is not None:
        value, low_s, high_s = fed_range(fed, value, low_s, high_s)
    felt = fed if fed and value < 0.97 * middle * kept else None
    return replace(
        found,
        samples_s=value,
        low_s=min(value, low_s),
        high_s=max(value, high_s),
        kept=kept,
        power=capped,
        heat=heated,
        feed=felt,
    )


def ways_to_host(job: Job, modelled: Modelled) -> tuple[float, float]:
    """Return the shares of its speed between which a job that stages its exchange through the host
    may lie where only a word tells of its links: how the cards reach the host's memory differs from
    computer to computer. A machine's own links do tell."""
    if job.lane != "staged" or job.count < 2 or job.word_gbs or job.task not in TRAINED:
        return 1.0, 1.0
    if not rings(job):
        return 1.0, model_speed(replace(job, lane=OWN_WAY)).samples_s / modelled.samples_s
    crowded = STAGED_WITHIN * max(1.0, job.sharing / 2) ** SELDOM_CROWDED
    slow, fast = (
        model_speed(replace(job, bus_gbs=job.bus_gbs * rate)).samples_s
        for rate in (1 / crowded, STAGED_WITHIN)
    )
    return slow / modelled.samples_s, fast / modelled.samples_s


def _repacked(job: Job) -> float:
    """Return the tokens per second of an engine that packs what the checkpoint leaves in 16 bits,
    by physics; 0 where it leaves none. Which builds do so, no word of a job tells."""
    packed = packed_whole(job) if job.task in WRITING and not job.launched else None
    return model_speed(packed).samples_s if packed else 0.0


LEVELS: dict[Nearness, Novelty] = {
    "GPU": "same job",
    "one source": "one source",
    "network": "other GPU",
    "stack": "other network",
}


def _evidence(job: Job, point: Point, anchored: Anchored, near: Nearness) -> Novelty:
    """Return what the nearest rows share with a job, as the answer tells it."""
    if near in LEVELS and not job.named.kin:
        return LEVELS[near]
    alike = any(
        item.point.kind == point.kind and item.point.task == point.task for item in anchored.rows
    )
    return "other stack" if alike else "nothing alike"


def _unmeasured(job: Job, anchored: Anchored, known: "Evidence") -> tuple[Unmeasured, ...]:
    """Return what of a job no measurement has."""
    found: list[Unmeasured] = ["stack"] if job.named.kin else []
    if anchored.strange:
        found.append(anchored.strange)
    if fresh := _fresh(job, known):
        found.append(fresh)
    return tuple(found)


def _fresh(job: Job, known: "Evidence") -> Unmeasured | None:
    """What no row has of a job's generation of GPUs: any, or such a kind of net that trains or
    runs as the job does."""
    generation, trains = job.silicon.generation, job.task.startswith("train")
    if generation not in known.generations:
        return "generation"
    measured = (generation, job.shape.kind, trains) in known.kinds_on
    return None if measured else "kind on generation"


def _unsure(job: Job, modelled: Modelled) -> float:
    """Return by how much waits, guesses and variants widen half the interval, in log units."""
    waited = doubt(modelled.waits.total_s, job.batch * job.count / modelled.samples_s)
    varied = variants.doubt(job, modelled.times) if modelled.times else 0.0
    drafted = math.log(UNTOLD_DRAFTS) if job.drafts and not job.drafts.told else 0.0
    rows = math.log(ROWS_WITHIN) if job.by_rows else 0.0
    hosted = math.log(LAUNCHED_WITHIN) if job.launched else 0.0
    return math.hypot(waited, guessed(job, modelled), varied, drafted, rows, hosted)


def _half_width(
    job: Job, point: Point, anchored: Anchored, known: "Evidence", near: Nearness
) -> float:
    """Return half the width of the 80 % interval in log units, before caps and heat."""
    deviation = anchored.correction.deviation
    width = speed_model().half_width(near, deviation, point.task, anchored.strange, point.family)
    if job.silicon.generation == "unknown":
        width = math.hypot(width, math.log(STRANGE_SILICON))
    elif _fresh(job, known):
        width = math.hypot(width, math.log(UNMEASURED_GENERATION))
    if job.ready and job.ready.how == "slow":
        width = math.hypot(width, math.log(SLOW_WITHIN))
    return math.hypot(width, math.log(job.named.kin.spread if job.named.kin else job.named.spread))


def guessed(job: Job, modelled: Modelled) -> float:
    """Return by how much guesses of a network's kernels and values widen half the interval, in log
    units: by their shares of a step."""
    times = modelled.times
    if times is None:
        return 0.0
    busy = times.matrix_s + times.traffic_s + times.weights_s + times.tail_s
    launched = times.launch_s / (times.launch_s + busy)
    written = (1 - launched) * times.traffic_s / busy
    return math.hypot(
        launched * math.log(job.shape.kernels_within), written * math.log(job.shape.values_within)
    )


def nearness(point: Point, anchored: Anchored) -> Nearness:
    """Return what the rows that a prediction leans on share with its job; many streams share
    nothing with one."""
    served = point.task == "serve"
    of_stack = [
        item
        for item in anchored.rows
        if item.point.stack == point.stack and (item.point.task == "serve") == served
    ]
    of_network = [item for item in of_stack if item.point.model == point.model]
    of_gpu = [item.row for item in of_network if item.point.silicon == point.silicon]
    if of_gpu:
        return (
            "GPU"
            if any(row.own for row in of_gpu) or len({row.source for row in of_gpu}) > 1
            else "one source"
        )
    return "network" if of_network else "stack" if of_stack else "nothing"


def _alone(job: Job, known: "Evidence", allowed: Callable[[Measured], bool] | None) -> float | None:
    """Anchored samples per second of one of the GPUs by itself, to tell the efficiency of scaling;
    None where nothing is scaled, and for experts and states that are spread, which one GPU would
    have to hold all."""
    if (
        job.count == 1
        or job.zero
        or job.shape.experts
        or job.task not in ("train", "train_lora")
        or job.tensor * job.pipeline > 1
    ):
        return None
    single = replace(job, count=1, nodes=1, link="none", lane="pcie")
    return model_speed(single).samples_s * known.factor(place(single), NEIGHBOURS, allowed)


def _together(*shares: Estimate) -> tuple[float, float, float]:
    """Return the product of independent shares, and how far below and above it 80 % reach, as
    logarithms: their squares add."""
    if not shares:
        return 1.0, 0.0, 0.0
    below = math.hypot(*[abs(math.log(share.value / share.low)) for share in shares])
    above = math.hypot(*[abs(math.log(share.high / share.value)) for share in shares])
    return math.prod(share.value for share in shares), below, above


def _capped(
    gpu: GPU, machine: Machine | None, modelled: Modelled, limit_w: float | None
) -> Estimate | None:
    """Share of speed that the lower of the machine's power limit and another leaves; None where
    neither takes any."""
    cap = min(filter(None, (cap_of(machine) if machine else None, limit_w)), default=None)
    if cap is None or not gpu.tdp_w or (cap >= gpu.tdp_w and cap != limit_w):
        return None
    return speed_at_cap(gpu, cap, compute_share(modelled))


def compute_share(modelled: Modelled) -> float:
    """Return the share of the modelled time that is matrix work."""
    if modelled.times:
        return min(1.0, modelled.times.matrix_s / modelled.times.total_s)
    stream = modelled.stream
    assert stream
    return stream.matrix_s / (stream.matrix_s + stream.traffic_s + stream.other_s)
