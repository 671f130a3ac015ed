"""A workload made definite: every setting that the speed model needs, and what had to be
assumed."""

import re
from operator import attrgetter
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.cloud import Linkage
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.performance.arithmetic import arithmetic_of, usual_precision
from rigplanner.performance.drafts import Drafts, drafts_of
from rigplanner.performance.geometry.image_work import pictured
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.geometry.shapes import Shape, asked_steps
from rigplanner.performance.limits.host import host_pace
from rigplanner.performance.link_rates import barred, bus_gbs, check_link, lane, sharing
from rigplanner.performance.measured import release_of
from rigplanner.performance.offload import Offload, offload_of
from rigplanner.performance.silicon import (
    Silicon,
    arithmetic_path,
    matrix_tflops,
    silicon_of,
    usable_precisions,
    weight_bits,
)
from rigplanner.performance.software.readiness import Ready, ready
from rigplanner.performance.software.stacks import Stack, find_stack, usual_stack, why_not
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.job import cached_type
from rigplanner.workload.limits import (
    LARGEST,
    check_shares,
    check_workload,
    split_of,
)
from rigplanner.workload.mixes import file_bits
from rigplanner.workload.network import resolve
from rigplanner.workload.optimizers import find_optimizer
from rigplanner.workload.preference import trained
from rigplanner.workload.quant import GGUF, KV_BITS, frozen_as, stored_as
from rigplanner.workload.releases import LAUNCHED, SPLIT_EXPERTS, habits
from rigplanner.workload.stored import as_stored

TASKS = {
    "train": "train",
    "train_full": "train",
    "pretrain": "train",
    "train_lora": "train_lora",
    "train_dora": "train_lora",
    "train_qlora": "train_lora",
    "inference": "inference",
    "decode": "decode",
    "prefill": "prefill",
    "serve": "serve",
    "collective": "collective",
}

LINKS = get_args(Linkage)
USUAL_BATCH = {
    "cnn": 128,
    "cnn-mobile": 128,
    "detector": 32,
    "encoder": 32,
    "vit": 64,
    "llm": 4,
    "moe": 2,
    "rnn": 128,
    "asr": 16,
    "recommender": 8192,
    "diffusion": 8,
    "dit": 1,
    "unet-3d": 4,
    "gnn": 2048,
}
"""Samples per GPU where a workload names none: the median of the measured rows of that kind of net
on 16 to 40 GiB cards."""

USUAL_MEMORY_GIB, RUNTIME_GIB, STATE_GIB_PER_MILLION, MOST_ROOM = 24.0, 1.0, 16e6 / 2**30, 4.0
"""The card that the usual batches hold for, the runtime's own memory, 16 bytes of weights,
gradients and states per parameter, and the growth beyond which trainers stop filling the memory."""

FROZEN_GIB_PER_MILLION = 2e6 / 2**30
"""16-bit weights below adapters."""
KEPT_BYTES = 4.4
"""Bytes that training keeps for each value that a network writes, in half precision: the median of
what the memory model tells of 24 networks of pictures and texts (1.4 to 7.3)."""

TENSORFLOW, NGC_FUSION, XLA_FUSION = ("tensorflow", "tf-"), 0.5, 0.15
"""Stacks of TensorFlow, the share of passes over memory that NVIDIA's builds leave out, and what
XLA adds to it where a workload's software says so: ResNet-50 and Inception in half precision on
V100 were 1.27 (DLPerf) and 1.35 to 1.43 times (Dell) as fast with it, and rows without it (DLPerf,
aws-samples) were predicted 1.2 to 1.7 times too fast from NVIDIA's, all of them compiled."""


class Job(Struct, frozen=True, kw_only=True):
    """One definite job on `count` equal GPUs; `stack` is the profile computed with, `named` the one
    asked for (another where that one is known by its kin only); `batch` counts samples per GPU and
    forward pass; `zero`: what is spread over the GPUs (1 states, 2 gradients too, 3 weights too:
    ZeRO and FSDP); `sharing`: cards that share a way to the host by the link's word; `superchip`:
    the CPU is the GPU's own; `node_gbs`: the bus bandwidth within one node; `word_gbs`: what the
    link's word alone would give where `bus_gbs` is that of the machine's own links, else 0;
    `fused_attention`: as the workload says, else as the stack does; `host_pace`: host time of a
    launch over the usual; `weight_bits`: of a stored weight over the whole file; `ready`: how the
    stack runs the format on the GPU; `by_rows`: by llama.cpp's row split; `launched`: the host of a
    serving engine launches each kernel; `kept_bytes`: of a value that it caches, where told;
    `prefix_tokens`: of each prompt that all share; `drafts`: tokens drafted ahead;
    `groups_experts`: those of a layer are multiplied in one kernel; `chunks` of layers that each
    stage of the pipeline holds."""

    shape: Shape
    silicon: Silicon
    stack: Stack
    named: Stack
    task: str
    precision: str
    weight_bits: float
    matrix_tflops: float
    path: str
    batch: float
    batch_given: bool
    accumulate: int
    input_tokens: int
    output_tokens: int
    prefix_tokens: int
    drafts: Drafts | None
    checkpointing: str
    count: int
    nodes: int
    link: str
    lane: str
    sharing: int
    bus_gbs: float
    tensor: int
    pipeline: int
    chunks: int = 1
    zero: int
    split_by_layer: bool
    release: str
    variant: dict[str, Any]
    assumed: dict[str, str]
    superchip: bool = False
    node_gbs: float = 0.0
    word_gbs: float = 0.0
    fused_attention: bool = True
    offload: Offload | None = None
    host_pace: float = 1.0
    ready: Ready | None = None
    by_rows: bool = False
    launched: bool = False
    kept_bytes: float | None = None
    groups_experts: bool = False


PIPELINES = ("diffusion", "dit", "video_diffusion")
"""Kinds of networks whose pipelines widen 8-bit weights layer by layer: PyTorch's own whatever the
GPU has (diffusers, layerwise casting; ComfyUI, --fp8_e4m3fn-unet), compiled ones where it has no
units for them."""
DRAWING_TRAINERS = ("kohya", "simpletuner", "ai-toolkit", "onetrainer", "diffusion-pipe")
"""Trainers of diffusion whose recipes recompute activations (memory_stacks.json says the same)."""
COMPUTED_NARROW = ("torchao", "te", "transformer-engine")
"""Ways of quantising a base that multiply in 8-bit floats below adapters too (torchao's
convert_to_float8_training, Transformer Engine)."""
ENGINES = ("serving", "local-llm", "compiled-inference")
"""Families of stacks that mostly run networks: a training job that names one that trains none is
answered for the usual stack."""


def _as_built(stack: Stack, text: str) -> Stack:
    """Return TensorFlow's stack with the share of passes over memory that its build and its
    compiler leave out."""
    if not stack.slug.startswith(TENSORFLOW):
        return stack
    fusion = max(stack.fusion, NGC_FUSION) if "ngc" in text.casefold() else stack.fusion
    return replace(stack, fusion=fusion + (XLA_FUSION if "xla" in text.casefold() else 0.0))


def read_job(
    workload: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Zoo | None,
    machine: Machine | None = None,
) -> Job:
    """Return the definite job; raise WorkloadFault for unknown words, missing arithmetic, odd
    degrees.

    A job is read once, but on a machine; those that differ in their batch only count as one: one
    stream of a language model, and several. Of a training by preferences or rewards it is the
    policy's job."""
    workload = trained(workload)
    plain = _of_few(workload)
    key = _key(plain, gpu, count, nodes, link, zoo) if plain and machine is None else None
    if plain is None or key is None:
        return _definite(workload, gpu, count, nodes, link, zoo, machine)
    known = _read_jobs.get(key)
    if known is None:
        if len(_read_jobs) >= REMEMBERED:
            _read_jobs.clear()
        known = _read_jobs[key] = gpu, zoo, _definite(plain, gpu, count, nodes, link, zoo, None)
    job, batch, few = known[-1], workload.batch_per_gpu, plain.batch_per_gpu
    if not batch or not few:
        return replace(job, assumed=dict(job.assumed))
    return replace(job, batch=job.batch / few * batch, assumed=dict(job.assumed))


def read_alike(
    workload: Workload,
    said: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Zoo | None,
) -> None:
    """Read the job of `said`, a workload that names the stack and the precision which its job
    assumed: they alter nothing else of it, unless the stack decides the task (an inference is
    served or written for one, as its engine does). Raises WorkloadFault as `read_job` does."""
    plain, other = _of_few(trained(workload)), _of_few(trained(said))
    if plain is None or other is None or workload.task in (None, "inference"):
        read_job(said, gpu, count, nodes, link, zoo)
        return
    key, further = (_key(each, gpu, count, nodes, link, zoo) for each in (plain, other))
    known = _read_jobs.get(key) if key else None
    if known is None or further is None:
        read_job(said, gpu, count, nodes, link, zoo)
        return
    job = known[-1]
    left = {name: word for name, word in job.assumed.items() if name not in SAID}
    _read_jobs[further] = gpu, zoo, replace(job, assumed=left)


SAID = ("stack", "precision")


def _of_few(workload: Workload) -> Workload | None:
    """The workload with one sample or two, for which all larger batches are read; None where the
    batch is none."""
    batch = workload.batch_per_gpu
    if batch is None:
        return workload
    if not 0 < batch <= LARGEST["batch_per_gpu"]:
        return None
    return replace(workload, batch_per_gpu=min(batch, 2))


def _key(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> tuple[object, ...] | None:
    """What a job is remembered by; None where a number of it is too large to be encoded."""
    try:
        return msgspec.msgpack.encode(workload), id(gpu), id(zoo), count, nodes, link
    except OverflowError:
        return None


REMEMBERED = 1_000
_read_jobs: dict[tuple[object, ...], tuple[GPU, Zoo | None, Job]] = {}
"""Jobs of one sample, of two and of an unnamed batch, by their encoded workload, the identity of
GPU and zoo, counts and link: the entry holds what it is known by, so that nothing else takes it
over."""


def _check(workload: Workload, count: int, nodes: int, link: str) -> None:
    """Raise WorkloadFault for what no job can mean."""
    check_workload(workload)
    if workload.optimizer is not None:
        find_optimizer(workload.optimizer)
    if count < 1 or nodes < 1 or count % nodes:
        raise WorkloadFault(f"hardware.count: expected a multiple of {nodes} nodes, found {count}.")
    if link and link not in LINKS:
        raise WorkloadFault(f"hardware.link: expected one of {', '.join(LINKS)}, found '{link}'.")
    _check_sizes(workload)


class _Basis(Struct, frozen=True):
    """What of a job is settled before its sizes: the workload as its format says, task, network,
    silicon, precision, the stack asked for, and what was assumed so far."""

    workload: Workload
    task: str
    shape: Shape
    silicon: Silicon
    precision: str
    named: Stack
    assumed: dict[str, str]


def _definite(
    workload: Workload,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Zoo | None,
    machine: Machine | None,
) -> Job:
    task = TASKS.get(workload.task or "inference")
    if task is None:
        raise WorkloadFault(f"task: expected one of {', '.join(TASKS)}, found '{workload.task}'.")
    _check(workload, count, nodes, link)
    basis = _basis(workload, task, gpu, zoo)
    if machine is None:
        check_link(link, gpu, count)
    return _job(basis, gpu, count, nodes, _link(link, count, gpu), zoo, machine)


def _basis(workload: Workload, task: str, gpu: GPU, zoo: Zoo | None) -> _Basis:
    """Settle network, format, stack and precision; each may lean on those before it."""
    assumed: dict[str, str] = {} if workload.task else {"task": task}
    workload, seeing_gflop = pictured(workload, zoo)
    shape, silicon = resolve_shape(workload, zoo), silicon_of(gpu)
    shape = replace(shape, gflop=shape.gflop + seeing_gflop) if seeing_gflop else shape
    assumed |= shape.usual
    task = _language_task(task, shape, workload)
    # Training keeps the precision that it computes in; all else that of the stored weights.
    told = stored_as(workload.precision, workload.quant)
    workload = workload if task == "train" else as_stored(workload)
    precision = told if task == "train" else frozen_as(workload.precision, workload.quant)
    if precision and precision != told:
        assumed["precision"] = precision
    named = _named(workload, task, shape, gpu, silicon, precision, assumed)
    if shape.steps > 1 and not asked_steps(workload):
        assumed["steps"] = f"{shape.steps}"
    if not precision:
        precision = assumed["precision"] = (
            "nf4" if workload.task == "train_qlora" else usual_precision(named, silicon)
        )
    tensor_cores = silicon.vendor == "nvidia" and "tf32" in usable_precisions(silicon)
    if precision == "fp32" and named.tf32 and tensor_cores:
        precision = assumed["precision"] = "tf32"
    return _Basis(workload, task, shape, silicon, precision, named, assumed)


def _named(
    workload: Workload,
    task: str,
    shape: Shape,
    gpu: GPU,
    silicon: Silicon,
    precision: str | None,
    assumed: dict[str, str],
) -> Stack:
    """The stack asked for, or the usual one of such a job. Raises WorkloadFault where the stack
    asked for cannot run it."""

    def usual() -> Stack:
        shared = _shares_a_copy(workload)
        kind, generation = shape.kind, silicon.generation
        return usual_stack(task, kind, precision, gpu, generation, shared, workload.quant)

    named = find_stack(workload.stack, task) if workload.stack else None
    if named is None or (
        task.startswith("train") and named.family in ENGINES and named.tasks[-1] != "train_lora"
    ):
        named = usual()
        assumed["stack"] = named.slug
    if fault := why_not(named, gpu, shape.kind, precision, workload.quant):
        other = usual()
        meant = f"; usual for this job on this GPU: {other.slug}" if other is not named else ""
        raise WorkloadFault(f"stack: {named.framework} {fault}{meant}.")
    return named


def _samples(basis: _Basis, count: int) -> tuple[float, bool, int]:
    """Samples per GPU, whether they were told, and the forward passes that share an update."""
    work, task, shape, assumed = basis.workload, basis.task, basis.shape, basis.assumed
    batch, given = _batch(work, shape, task, count, basis.silicon, basis.precision)
    accumulate = _accumulate(work) or (
        1 if given or task != "train" else _usual_accumulation(shape, batch)
    )
    if not given and task in ("train", "train_lora", "inference"):
        assumed["batch_per_gpu"] = f"{batch:g}"
        if accumulate > 1 and not _accumulate(work):
            assumed["gradient_accumulation"] = f"{accumulate}"
    return batch, given, accumulate


def _arithmetic(basis: _Basis, stack: Stack) -> str:
    """What the products are computed in; frozen weights are widened to it."""
    work, kind = basis.workload, basis.shape.kind
    frozen = (
        basis.task == "train_lora"
        or kind in PIPELINES
        or (work.quant or "").casefold().startswith(("bnb", "bitsandbytes"))
    )
    widened = (
        (basis.task == "train_lora" or kind in PIPELINES)
        and stack.family.startswith("eager")
        and work.quant not in COMPUTED_NARROW
    )
    return arithmetic_of(basis.precision, stack, basis.shape, basis.silicon, frozen, widened)


def _job(
    basis: _Basis,
    gpu: GPU,
    count: int,
    nodes: int,
    link: str,
    zoo: Zoo | None,
    machine: Machine | None,
) -> Job:
    workload, task, shape, named = basis.workload, basis.task, basis.shape, basis.named
    batch, given, accumulate = _samples(basis, count)
    built = find_stack(named.kin.like) if named.kin else named
    stack = _as_built(built, workload.framework_text or "")
    arithmetic = _arithmetic(basis, stack)
    rate = matrix_tflops(basis.silicon, arithmetic, gpu.name)
    degrees, trains = _degrees(workload, task, count, stack, shape), task.startswith("train")
    return Job(
        shape=shape,
        silicon=basis.silicon,
        stack=stack,
        named=named,
        task=task,
        precision=basis.precision,
        weight_bits=_stored_bits(basis.precision, workload, zoo),
        matrix_tflops=rate,
        path=arithmetic_path(arithmetic, rate, basis.silicon),
        batch=batch,
        batch_given=given,
        accumulate=accumulate,
        input_tokens=workload.input_tokens or 0,
        output_tokens=workload.output_tokens or 0,
        prefix_tokens=workload.prefix_tokens or 0,
        drafts=drafts_of(workload, shape, zoo) if task in ("decode", "serve") else None,
        checkpointing=_checkpointing(workload, task, stack, basis.named),
        count=count,
        nodes=nodes,
        tensor=degrees.tensor,
        pipeline=degrees.pipeline,
        zero=degrees.zero or (3 if stack.sharded else 0),
        release=release_of(workload.framework_text),
        variant=workload.variant,
        assumed=basis.assumed,
        superchip=gpu.form_factor == "superchip",
        fused_attention=_fused(workload.attention, stack),
        offload=offload_of(workload, gpu, machine, stack.sharded) if trains else None,
        host_pace=host_pace(machine),
        ready=ready(named.slug, gpu, basis.precision, workload.quant),
        **_of_engine(workload, stack, count),
        **_linked(gpu, count, nodes, link, machine, workload.variant.get("p2p") is not False),
    )


GROUPING = "eager-llm"
"""Family of stacks built on transformers, which multiplies the experts of a layer in one grouped
product since its release 5 (get_correct_experts_implementation: grouped_mm unless told)."""


def _of_engine(workload: Workload, stack: Stack, count: int) -> dict[str, Any]:
    """What an engine was told, as fields of `Job`. Those for one user widen what they cache as they
    read it, at no gain (llama.cpp, -ctk)."""
    several, told = count > 1, habits(workload.flags, workload.framework_text)
    split = {"split_by_layer": several and _splits_layers(workload, stack)}
    if stack.family != "serving":
        grouped = stack.family == GROUPING and SPLIT_EXPERTS not in told
        by_rows = several and split_of(workload) == "row"
        chunks = _from_variant(workload, "virtual_pipeline") or 1
        return {**split, "by_rows": by_rows, "groups_experts": grouped, "chunks": chunks}
    kept = cached_type(workload) if workload.kv_precision else None
    return {
        **split,
        "launched": LAUNCHED in told,
        "kept_bytes": KV_BITS[kept] / 8 if kept else None,
    }


def _linked(
    gpu: GPU, count: int, nodes: int, link: str, machine: Machine | None, peers: bool
) -> dict[str, Any]:
    """What the GPUs are joined by, as fields of `Job`; without `peers` their software makes no use
    of NVLink and peer access (NCCL_P2P_DISABLE)."""
    if count > 1 and not peers:
        gpu, link = barred(gpu), "pcie"
    return {
        "link": link,
        "lane": lane(link, gpu, count),
        "sharing": sharing(gpu, count // nodes),
        "bus_gbs": bus_gbs(gpu, count, nodes, link, machine, peers),
        "node_gbs": bus_gbs(gpu, count // nodes, 1, link, None) if nodes > 1 else 0.0,
        "word_gbs": bus_gbs(gpu, count, nodes, link, None) if machine else 0.0,
    }


def _usual(workload: Workload, task: str, shape: Shape, precision: str | None, gpu: GPU) -> Stack:
    shared = _shares_a_copy(workload)
    generation = silicon_of(gpu).generation
    return usual_stack(task, shape.kind, precision, gpu, generation, shared, workload.quant)


def _stored_bits(precision: str, workload: Workload, zoo: Zoo | None) -> float:
    """Bits of a stored weight: those of a file of llama.cpp depend on the network."""
    if precision not in GGUF:
        return weight_bits(precision)
    try:
        return file_bits(precision, resolve(workload, shipped_zoo() if zoo is None else zoo))
    except WorkloadFault:
        return weight_bits(precision)


LARGE_MODEL_M = 1000
"""Millions of parameters above which one sequence at a time fills a GPU."""
TOKENS_PER_UPDATE = 16384
"""Of one GPU: batches of 0.5 to 4 million tokens over 32 to 256 GPUs (the GPT-3 and Llama papers).
"""
SIZES = (
    "batch_per_gpu",
    "seq_len",
    "input_tokens",
    "output_tokens",
    "params_m",
    "gmacs",
    "activations_m",
    "epochs",
    "train_tokens",
)
_sizes = attrgetter(*SIZES)
LARGEST_SIZE, LARGEST_EDGE_PIXELS = 1e16, 100_000


def _check_sizes(workload: Workload) -> None:
    for value in _sizes(workload):
        if value is not None and not 0 < value < LARGEST_SIZE:
            field = SIZES[_sizes(workload).index(value)]
            raise WorkloadFault(f"{field}: expected a number above 0, found {value}.")
    edges = (
        workload.image_size if isinstance(workload.image_size, list) else [workload.image_size or 1]
    )
    if not edges or min(edges) < 1 or max(edges) > LARGEST_EDGE_PIXELS:
        raise WorkloadFault(
            f"image_size: expected 1 to {LARGEST_EDGE_PIXELS} pixels, found {workload.image_size}."
        )


def _from_variant(workload: Workload, key: str) -> int | None:
    """A whole number above 0 among the words of a case's variant, or None."""
    value = workload.variant.get(key)
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < LARGEST_SIZE
        else None
    )


def _language_task(task: str, shape: Shape, workload: Workload) -> str:
    """Inference of a language model is its generation: one stream is decode, more are served
    together by stacks that can, else they trace in step. Stacks that are measured in forward passes
    alone count those, unless tokens are to be written."""
    if (
        task != "inference"
        or shape.kind not in ("llm", "moe")
        or (
            workload.stack
            and not workload.output_tokens
            and "decode" not in find_stack(workload.stack, task).tasks
        )
    ):
        return task
    serves = not workload.stack or "serve" in find_stack(workload.stack, task).tasks
    many = (workload.users or workload.batch_per_gpu or 1) > 1 or workload.request_rate
    return "serve" if serves and many else "decode"


def _shares_a_copy(workload: Workload) -> bool:
    asked = workload.parallelism
    return asked is not None and (asked.zero >= 2 or asked.tensor > 1 or asked.pipeline > 1)


DEGREE = re.compile(r"\b(tp|pp|cp)(\d+)\b")


def _degrees_in_words(workload: Workload) -> Parallelism | None:
    """Degrees as benchmark reports write them: "dp4", "tp4", "pp4", "FSDP8 TP8", "FSDP2 CP4"."""
    text = f"{workload.variant.get('parallel', '')} {workload.variant.get('setup', '')}".casefold()
    found = {word: int(number) for word, number in DEGREE.findall(text)}
    if not found:
        return None
    zero = 3 if "fsdp" in text else 0
    return Parallelism(
        tensor=found.get("tp", 1),
        pipeline=found.get("pp", 1),
        context=found.get("cp", 1),
        zero=zero,
    )


def _splits_layers(workload: Workload, stack: Stack) -> bool:
    """Whether several cards take whole layers in turn: as the workload says, else as the stack
    does. Row split is about as fast as layers, more or less by card and link."""
    told = split_of(workload)
    return stack.splits_layers if told is None else told != "tensor"


def _degrees(workload: Workload, task: str, count: int, stack: Stack, shape: Shape) -> Parallelism:
    asked = workload.parallelism or _degrees_in_words(workload)
    if asked is None:
        whole = task in ("decode", "prefill", "serve") and count > 1
        whole = whole and not _splits_layers(workload, stack)
        tensor = _from_variant(workload, "tp") or (count if whole else 1)
        asked = Parallelism(tensor=tensor, zero=3 if stack.sharded else 0)
    used = asked.tensor * asked.pipeline * asked.context * (asked.data or 1)
    if used < 1 or count % used or count // asked.pipeline % asked.expert:
        raise WorkloadFault(
            f"parallelism: tensor {asked.tensor} x pipeline {asked.pipeline} x context"
            f" {asked.context} x data {asked.data or 1}, or expert {asked.expert} in a stage, does"
            f" not divide {count} GPUs."
        )
    if workload.parallelism is not None:
        dealt = shape.experts - shape.experts_shared
        check_shares(asked, count, shape.heads, shape.layers, dealt if shape.layers else None)
    return asked


def _batch(
    workload: Workload, shape: Shape, task: str, count: int, silicon: Silicon, precision: str
) -> tuple[float, bool]:
    together = _from_variant(workload, "global_batch")
    if workload.users:
        batch, given = workload.users / (count if task == "serve" else 1), True
    elif workload.batch_per_gpu:
        batch, given = float(workload.batch_per_gpu), True
    elif together:
        batch, given = float(together) / count, True
    elif task in ("decode", "prefill") or _takes_one(workload, shape, task):
        batch, given = 1.0, False
    else:
        batch, given = _usual_batch(shape, task, silicon, precision), False
    return batch * shape.batch_tokens, given


def _takes_one(workload: Workload, shape: Shape, task: str) -> bool:
    """Whether a job draws picture after picture, as people do (92 of the 177 measured rows that
    tell a batch), or hears recording after recording (the default of every program for it);
    benchmarks that ask for the most a card does name their scenario."""
    single = shape.kind in ("diffusion", "dit", "asr") and task == "inference"
    return single and "scenario" not in workload.variant


def _usual_batch(shape: Shape, task: str, silicon: Silicon, precision: str) -> float:
    """What fits: the usual batch of a 24 GiB card times the memory beside weights, gradients and
    states, as trainers fill it; half of it in 32 bits (Lambda's tables: 0.5 to 0.6 for five
    networks on cards of 8 to 80 GiB). Never more than what is kept of each sample lets in. Adapters
    of networks that draw learn from picture after picture (the trainers' default)."""
    usual = float(USUAL_BATCH.get(shape.kind, 16))
    in_turn = ("llm", "moe") if task == "inference" else ("llm", "moe", "encoder")
    if shape.kind in in_turn and shape.params_m > LARGE_MODEL_M:
        return 1.0
    if task == "train_lora" and shape.kind in ("diffusion", "dit"):
        return 1.0
    if not task.startswith("train") or shape.kind == "recommender":
        return usual
    each = STATE_GIB_PER_MILLION if task == "train" else FROZEN_GIB_PER_MILLION
    states = RUNTIME_GIB + shape.params_m * each
    left_gib = max(1.0, silicon.memory_gib - states)
    room = left_gib / max(4.0, USUAL_MEMORY_GIB - states)
    wide = 0.5 if precision in ("fp32", "tf32") else 1.0
    most = left_gib * 2**30 * wide / (KEPT_BYTES * shape.elements_m * 1e6)
    return max(1.0, float(round(min(usual * wide * min(room, MOST_ROOM), most))))


def _accumulate(workload: Workload) -> int:
    """Micro-batches per update: as given, 4 where a case only says that gradients were accumulated,
    0 where nothing is said."""
    told = _from_variant(workload, "grad_accum") or workload.gradient_accumulation
    return max(1, told) if told else 4 if workload.variant.get("grad_accum") else 0


def _usual_accumulation(shape: Shape, batch: float) -> int:
    """Micro-batches per update of a large language model whose batch nobody gave: trainers update
    it after some thousand tokens."""
    if shape.kind not in ("llm", "moe") or shape.params_m <= LARGE_MODEL_M:
        return 1
    return max(1, round(TOKENS_PER_UPDATE / (batch * max(1, shape.tokens))))


def _fused(attention: str | None, stack: Stack) -> bool:
    """Whether attention runs in one kernel that writes no scores: as the workload names it (eager,
    sdpa, flash), else as usual."""
    return (
        stack.fused_attention
        if attention is None or attention == "unknown"
        else attention.casefold() not in ("eager", "math")
    )


def _checkpointing(workload: Workload, task: str, stack: Stack, named: Stack) -> str:
    """Recomputation as given; where nothing is said the trainer's LoRA recipes recompute all (Qwen
    and Llama recipes do), and so do trainers of diffusion that are known by their kin."""
    word = workload.gradient_checkpointing
    if word is None:
        setup = str(workload.variant.get("setup", ""))
        whole = (
            bool(workload.variant.get("act_ckpt"))
            or "full AC" in setup
            or (task == "train_lora" and stack.family == "eager-llm")
            or (task.startswith("train") and named.slug in DRAWING_TRAINERS)
        )
        return "full" if whole else "selective" if "AC" in setup else "none"
    return word if isinstance(word, str) else "full" if word else "none"


def _link(link: str, count: int, gpu: GPU) -> str:
    if count == 1:
        return "none"
    if link in ("unknown", "none", ""):
        return "nvlink-mesh" if gpu.form_factor.startswith("sxm") else "pcie"
    return link
