"""A workload made definite for the memory model: every setting named, what was assumed said."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.zoo import recommender
from rigplanner.errors import WorkloadFault
from rigplanner.networks.dimensions import writes_scores
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.host_placement import HostPlacement, stated_placement
from rigplanner.workload.limits import (
    LARGEST,
    SHARED_LAYERS,
    check_shares,
    check_workload,
    split_of,
    unheard_flags,
    unheard_quant,
    unknown_precision,
)
from rigplanner.workload.network import RECOMMENDER, Network
from rigplanner.workload.optimizers import IN_BACKWARD, find_optimizer, steps_in_backward
from rigplanner.workload.pictures import DRAWN, PICTURES, image_of, images_of, places_of
from rigplanner.workload.positions import usual_length
from rigplanner.workload.preference import trained
from rigplanner.workload.quant import BITS, KV_BITS, SAME_SCALES, frozen_as, stored_as, usual_type
from rigplanner.workload.releases import EAGER, UNRAISED, habits
from rigplanner.workload.stacks import memory_stack
from rigplanner.workload.stored import as_stored

TASKS = {
    "train": "train_full",
    "train_full": "train_full",
    "pretrain": "train_full",
    "train_lora": "train_lora",
    "train_dora": "train_lora",
    "train_qlora": "train_qlora",
    "inference": "inference",
    "decode": "inference",
    "prefill": "inference",
    "serve": "serve",
}
FLOAT_WORDS = {
    "fp32",
    "tf32",
    "fp16",
    "bf16",
    "amp_fp16",
    "amp_bf16",
    "amp_fp8",
    "amp_mxfp8",
    "amp_nvfp4",
    "mixed",
    "amp",
}


class Job(Struct, frozen=True, kw_only=True):
    """One definite job. `length`: tokens per sample, those of its `images` among them, or the image
    edge. Degrees and `beams`, hypotheses in work, are at least 1; `piece`: tokens of a prompt that
    llama.cpp works on at once; `offload` none, optimizer, all or nvme; `samples`: the word for
    their lengths, "" where nothing tells."""

    task: str
    precision: str
    quant: str | None
    optimizer: str
    batch: int
    length: int
    image: int | tuple[int, int]
    input_tokens: int
    output_tokens: int
    generates: bool
    frames: int
    images: int
    checkpointing: str
    eager: bool
    samples: str
    lora_rank: int
    lora_targets: tuple[str, ...]
    saves_embedding: bool
    kv_precision: str
    data: int
    zero: int
    tensor: int
    pipeline: int
    context: int
    expert: int
    sequence: bool
    offload: str
    accumulation: int
    dora: bool
    gpu_layers: int | None
    placement: HostPlacement
    utilization: float
    stored_bytes: float | None
    flags: frozenset[str]
    stack: str
    beams: int
    piece: int
    assumed: dict[str, str]

    @property
    def sides(self) -> tuple[int, int] | None:
        """Height and width of images that are not square, or that a language model reads."""
        if isinstance(self.image, int):
            return (self.image, self.image) if self.images else None
        return self.image


def read_job(workload: Workload, network: Network, count: int, card: bool) -> Job:
    """Return the definite job of `count` GPUs; raise WorkloadFault for unknown words and numbers
    beyond reason.

    Jobs that differ in batch and tokens only are asked of one network again and again: the rest of
    them is read once. Of a training by preferences or rewards it is the policy's job."""
    workload = trained(workload)
    batch, tokens = workload.batch_per_gpu, workload.seq_len
    if not (
        batch
        and tokens
        and 0 < batch <= LARGEST["batch_per_gpu"]
        and 0 < tokens <= LARGEST["seq_len"]
    ):
        return _definite(workload, network, count, card)
    job = _of_one_token(
        msgspec.structs.replace(workload, batch_per_gpu=1, seq_len=1), network, count, card
    )
    more = 0 if network.kind in PICTURES else tokens - 1
    inputs = job.input_tokens if workload.input_tokens else job.input_tokens + tokens - 1
    return msgspec.structs.replace(job, batch=batch, length=job.length + more, input_tokens=inputs)


REMEMBERED = 1_000
_read_jobs: dict[tuple[bytes, int, int, bool], tuple[Network, Job]] = {}
"""Jobs of one sample of one token, by their encoded workload and the identity of the network: the
entry holds it, so no other takes it over."""


def _of_one_token(workload: Workload, network: Network, count: int, card: bool) -> Job:
    try:
        key = msgspec.msgpack.encode(workload), id(network), count, card
    except OverflowError:
        return _definite(workload, network, count, card)
    known, job = _read_jobs.get(key, (None, None))
    if job is None or known is not network:
        if len(_read_jobs) >= REMEMBERED:
            _read_jobs.clear()
        job = _definite(workload, network, count, card)
        _read_jobs[key] = network, job
    return job


def _definite(workload: Workload, network: Network, count: int, card: bool) -> Job:
    # In this order: the format, what is asked of it, the stack, and how that deals it out. Each may
    # add to what was assumed, and those behind it read that.
    assumed: dict[str, str] = {}
    task = _task(workload, assumed)
    workload = _in_its_format(workload, task, assumed)
    task, precision = _kept(task, _precision(workload, task, network, assumed), assumed)
    check_workload(workload)
    image = image_of(workload, network, assumed)
    images = images_of(workload, network, assumed)
    places = images * places_of(network, image, assumed) if images else 0
    names, saves = _targets(workload.lora_targets)
    rank = _rank(workload, task, assumed)
    stack = _stack(workload, network, task, precision, card, assumed)
    degrees = workload.parallelism or _usual_degrees(workload, network, task, stack, count, assumed)
    check_shares(degrees, count, network.heads, network.layers, network.experts)
    batch = _batch(workload, _data(degrees, count), assumed)
    flags = _flags(workload, stack, assumed)
    return Job(
        task=task,
        precision=precision,
        quant=_quant(workload, task, precision, assumed),
        optimizer=_optimizer(workload, task, network, assumed),
        batch=batch,
        length=_length(workload, network, image, assumed) + places,
        image=image,
        input_tokens=places + (workload.input_tokens or workload.seq_len or 0),
        images=images,
        output_tokens=workload.output_tokens or 0,
        generates=workload.output_tokens is not None,
        frames=workload.frames or 1,
        checkpointing=_checkpointing(workload, network, task, stack, assumed),
        eager=_eager(workload, network, stack, flags, assumed),
        samples=workload.samples or ("packed" if "packed" in flags else ""),
        lora_rank=rank,
        lora_targets=names,
        saves_embedding=saves,
        kv_precision=cached_type(workload),
        accumulation=workload.gradient_accumulation or 1,
        dora=workload.task == "train_dora" or "dora" in workload.flags,
        flags=flags,
        stack=stack,
        beams=_of_variant(workload, "beams", memory_stack(stack).beams),
        piece=_of_variant(workload, "ubatch", GGML_BATCH),
        assumed=assumed,
        **_dealt(degrees, count),
        **_kept_where(workload, network, stack),
    )


def _flags(workload: Workload, stack: str, assumed: dict[str, str]) -> frozenset[str]:
    """The job's flags, the habits of the releases that it names and that of its optimizer."""
    flags = habits(workload.flags, workload.framework_text, stack)
    if steps_in_backward(workload.optimizer):
        flags |= {IN_BACKWARD}
    if unheard := unheard_flags(flags):
        assumed["flags_ignored"] = unheard
    return flags


def _dealt(degrees: Parallelism, count: int) -> dict[str, Any]:
    """How the job lies over the GPUs and the host, as fields of `Job`: experts that are dealt out
    over a stage's GPUs have no more shares than those, whatever else is shared there (Megatron's
    expert_tensor_parallel_size takes what is left)."""
    return {
        "data": _data(degrees, count),
        "zero": degrees.zero,
        "tensor": degrees.tensor,
        "pipeline": degrees.pipeline,
        "context": degrees.context,
        "expert": min(degrees.expert, max(1, count // (degrees.tensor * degrees.pipeline))),
        "sequence": degrees.sequence is not False,
        "offload": offload_word(degrees),
    }


def _kept_where(workload: Workload, network: Network, stack: str) -> dict[str, Any]:
    """Where weights lie and what an engine keeps of the card, as fields of `Job`."""
    told = workload.weights_gib
    return {
        "gpu_layers": workload.gpu_layers,
        "placement": stated_placement(workload, network, stack),
        "utilization": workload.memory_utilization or memory_stack(stack).utilization,
        "stored_bytes": None if told is None else told * 2**30,
    }


def _in_its_format(workload: Workload, task: str, assumed: dict[str, str]) -> Workload:
    """The workload as its weights are stored; full training keeps the precision it was given."""
    stored = workload if task == "train_full" else as_stored(workload)
    if stored is workload or stored.precision == workload.precision:
        return workload
    assumed["precision"] = str(stored.precision)
    return stored


def _rank(workload: Workload, task: str, assumed: dict[str, str]) -> int:
    """The rank of the adapters; 0 where none train."""
    if task not in ("train_lora", "train_qlora"):
        return 0
    if workload.lora_rank:
        return workload.lora_rank
    rank = USUAL_RANK.get(workload.stack or "", 16)
    assumed["lora_rank"] = str(rank)
    return rank


def _batch(workload: Workload, replicas: int, assumed: dict[str, str]) -> int:
    """Samples per GPU: the users that each replica serves, or as told."""
    if workload.users:
        return -(-workload.users // replicas)
    if workload.batch_per_gpu is None:
        assumed["batch_per_gpu"] = "1"
    return workload.batch_per_gpu or 1


def _quant(workload: Workload, task: str, precision: str, assumed: dict[str, str]) -> str | None:
    """The way in which weights are stored; one that nobody knows, or that 16-bit weights of
    inference cannot have, is told to be ignored."""
    quant = workload.quant.casefold() if workload.quant else None
    if quant and usual_type(quant) is None:
        whole = task != "train_full" and BITS.get(precision, 16.0) >= 16
        if ignored := unheard_quant(quant) or (quant if whole else ""):
            assumed["quant_ignored"] = ignored
    return SAME_SCALES.get(quant or "", quant)


TEXT_KINDS = ("llm", "moe", "vlm", "encoder", "encoder_decoder")


def _eager(
    workload: Workload, network: Network, stack: str, flags: frozenset[str], assumed: dict[str, str]
) -> bool:
    """Whether attention writes its scores: as told, else as the release, the stack or the network
    does; "unknown" tells nothing."""
    if workload.attention not in (None, "unknown"):
        return workload.attention in ("eager", "math")
    found = EAGER in flags or memory_stack(stack).eager or writes_scores(network.config)
    if found and network.kind in TEXT_KINDS:
        assumed["attention"] = "eager"
    return found


GGML_BATCH = 512
"""Tokens of a prompt that llama.cpp works on at once unless told (-ub)."""
LARGEST_OF_VARIANT = {"beams": 64, "ubatch": 65_536}


def _of_variant(workload: Workload, name: str, usual: int) -> int:
    """A number that the variant may say."""
    found, most = workload.variant.get(name) or usual, LARGEST_OF_VARIANT[name]
    if isinstance(found, bool) or not isinstance(found, int) or not 0 < found <= most:
        raise WorkloadFault(
            f"variant.{name}: expected a whole number up to {most}, found {found!r:.40}."
        )
    return found


USUAL_RANK = {
    "pytorch-hf": 64,
    "torchtune": 8,
    "litgpt": 8,
    "simpletuner": 16,
    "peft": 32,
    "axolotl": 32,
    "deepspeed": 64,
}
"""Rank of the stack's own example recipes."""


def _task(workload: Workload, assumed: dict[str, str]) -> str:
    if workload.task is None:
        assumed["task"] = "inference"
        return "inference"
    if workload.task not in TASKS:
        raise WorkloadFault(f"task: expected one of {', '.join(TASKS)}, found {workload.task!r}.")
    return TASKS[workload.task]


def _precision(workload: Workload, task: str, network: Network, assumed: dict[str, str]) -> str:
    told = stored_as(workload.precision, workload.quant)
    word = told if task == "train_full" else frozen_as(workload.precision, workload.quant)
    if word is not None and word != told:
        assumed["precision"] = word
    if word is None:
        word = (
            "nf4"
            if task == "train_qlora"
            else (
                "bf16"
                if network.kind in ("llm", "moe", "vlm")
                else "amp_bf16"
                if task.startswith("train")
                else "fp16"
            )
        )
        assumed["precision"] = word
    word = word.casefold()
    if word in ("mixed", "amp"):
        word = "amp_fp16"
    if word not in BITS and word not in FLOAT_WORDS:
        raise unknown_precision(word, {*FLOAT_WORDS, *BITS})
    return word


LOADED = ("nf4", "fp4", "int4", "int8", "fp8", "mxfp4", "nvfp4")
"""Types of a frozen base that adapters are trained on."""


def _kept(task: str, precision: str, assumed: dict[str, str]) -> tuple[str, str]:
    """Task and precision as they can be: adapters on a quantised base are QLoRA; weights that train
    have 16 bits at least."""
    if task == "train_lora" and precision in LOADED:
        assumed["task"] = "train_qlora"
        return "train_qlora", precision
    if task in ("train_full", "train_lora") and BITS.get(precision, 16) < 16:
        assumed["precision"] = "bf16"
        return task, "bf16"
    return task, precision


def usual_optimizer(network: Network) -> str:
    """The optimizer of a network's published recipe where it is known (recommenders), else
    AdamW."""
    known = recommender(network.slug) if network.kind == RECOMMENDER else None
    return known.tables.optimizer if known and known.tables else "adamw"


def _optimizer(workload: Workload, task: str, network: Network, assumed: dict[str, str]) -> str:
    if not task.startswith("train"):
        return "sgd"
    if workload.optimizer is None:
        assumed["optimizer"] = usual_optimizer(network)
        return assumed["optimizer"]
    return find_optimizer(workload.optimizer)


SHARDING = ("fsdp", "torchtitan", "torchtune", "llm-foundry", "deepspeed")
"""Stacks whose usual recipes shard weights, gradients and states (FSDP, ZeRO stage 3), as the speed
model takes them to."""


def _usual_degrees(
    workload: Workload, network: Network, task: str, stack: str, count: int, assumed: dict[str, str]
) -> Parallelism:
    """How several GPUs share a job that does not say: serving engines split a language model over
    all of them (its heads, and where they do not divide its layers), sharding trainers its states;
    else each holds all."""
    if count > 1 and not task.startswith("train") and split_of(workload) in SHARED_LAYERS:
        return Parallelism(tensor=count)
    if count > 1 and task.startswith("train") and (workload.stack or "").casefold() in SHARDING:
        assumed["parallelism.zero"] = "3"
        return Parallelism(zero=3)
    if (
        count > 1
        and not task.startswith("train")
        and memory_stack(stack).pool
        and network.kind in ("llm", "moe", "vlm")
    ):
        tensor = max(
            ways for ways in range(1, count + 1) if count % ways == 0 and network.heads % ways == 0
        )
        told = {"parallelism.tensor": tensor, "parallelism.pipeline": count // tensor}
        assumed |= {name: str(degree) for name, degree in told.items() if degree > 1}
        return Parallelism(tensor=tensor, pipeline=count // tensor)
    return ALONE


ALONE = Parallelism()


def _data(degrees: Parallelism, count: int) -> int:
    """Data-parallel degree times the context degree, which shards states too."""
    if degrees.data is not None:
        return degrees.data * degrees.context
    return max(1, count // (degrees.tensor * degrees.pipeline))


def offload_word(degrees: Parallelism) -> str:
    """Return what is offloaded: none, optimizer, all or nvme; raise WorkloadFault for other
    words."""
    word = degrees.offload or "none"
    word = "all" if word == "cpu" else word
    if word not in ("none", "optimizer", "all", "nvme"):
        raise WorkloadFault(
            "parallelism.offload: expected none, optimizer, all, cpu or nvme, found"
            f" {degrees.offload!r}."
        )
    return word


def _length(
    workload: Workload, network: Network, image: int | tuple[int, int], assumed: dict[str, str]
) -> int:
    if network.kind in PICTURES:
        return (
            image
            if isinstance(image, int)
            else 32 * max(1, round((image[0] * image[1]) ** 0.5 / 32))
        )
    if workload.seq_len:
        return workload.seq_len
    if workload.input_tokens or workload.output_tokens:
        return max(1, workload.input_tokens or 1)
    if network.kind == RECOMMENDER:
        return 1
    if network.kind not in DRAWN:
        length = SPOKEN if network.kind == "asr" else usual_length(network)
        assumed["seq_len"] = str(length)
        return length
    return 2048


SPOKEN = 448
"""Tokens of text that Whisper's decoder has positions for."""


def _checkpointing(
    workload: Workload, network: Network, task: str, stack: str, assumed: dict[str, str]
) -> str:
    """As stated; else as the stack's own recipes do: some recompute unless told otherwise, and a
    quantised base that is made ready by peft.prepare_model_for_kbit_training is recomputed
    (use_gradient_checkpointing is on by default)."""
    word = workload.gradient_checkpointing
    if word is None and task.startswith("train"):
        theirs = memory_stack(stack)
        made_ready = task == "train_qlora" and theirs.raises_rest and UNRAISED not in workload.flags
        word = "full" if made_ready else theirs.usual_checkpointing
        if network.kind not in (*PICTURES, RECOMMENDER):
            assumed["gradient_checkpointing"] = word
    if isinstance(word, bool) or word is None:
        return "full" if word else "none"
    if word not in ("none", "selective", "full", "unknown"):
        raise WorkloadFault(
            f"gradient_checkpointing: expected none, selective, full or a boolean, found {word!r}."
        )
    return word


def cached_type(workload: Workload) -> str:
    """Return the type of cached keys and values; raise WorkloadFault for one that is not known."""
    word = (workload.kv_precision or "bf16").casefold()
    if word not in KV_BITS:
        raise WorkloadFault(
            f"kv_precision: expected one of {', '.join(KV_BITS)}, found {workload.kv_precision!r}."
        )
    return word


PARTS = {
    "query": ("q_proj", "query", "q_lin", "q", "query_key_value", "qkv_proj", "c_attn"),
    "key": ("k_proj", "key", "k_lin", "k", "query_key_value", "qkv_proj"),
    "value": ("v_proj", "value", "v_lin", "v", "query_key_value", "qkv_proj", "c_attn"),
    "projection": ("o_proj", "dense", "out_proj", "out_lin", "o"),
    "mlp": (
        "gate_proj",
        "up_proj",
        "down_proj",
        "gate_up_proj",
        "fc1",
        "fc2",
        "c_fc",
        "c_proj",
        "dense_h_to_4h",
        "dense_4h_to_h",
        "fc_in",
        "fc_out",
        "wi",
        "wo",
    ),
    "head": ("lm_head",),
}
"""Names of linear layers in the families, by what they do."""


def _targets(words: list[str] | str | None) -> tuple[tuple[str, ...], bool]:
    """The names to adapt (empty: all linear layers of the blocks), and whether embedding and head
    train in full."""
    if words is None:
        return (), False
    listed = words.replace(",", "/").split("/") if isinstance(words, str) else words
    joined = " ".join(listed)
    saves = "embedding" in joined
    names = tuple(name for word in listed for name in PARTS.get(word.strip(), (word.strip(),)))
    return (() if saves or "all" in joined or "default" in joined else names), saves


def _stack(
    workload: Workload,
    network: Network,
    task: str,
    precision: str,
    card: bool,
    assumed: dict[str, str],
) -> str:
    if workload.stack:
        return workload.stack
    if not card:
        return "trace"
    word = _usual(network, task, precision)
    assumed["stack"] = word
    return word


def _usual(network: Network, task: str, precision: str) -> str:
    if task == "serve":
        return "vllm"
    if precision[0] in "qi" and precision not in ("int8", "int4"):
        return "llama.cpp"
    if network.kind.startswith("diffusion"):
        return "diffusers"
    return (
        "pytorch-hf"
        if network.kind in ("llm", "moe", "vlm", "encoder", "encoder_decoder", "asr")
        else "pytorch"
    )
