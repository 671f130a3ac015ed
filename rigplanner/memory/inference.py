"""Memory of inference and serving of language models: weights, key-value cache, the prefill's
activations."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.memory.engines import dummy_peak_bytes, pool_gib
from rigplanner.memory.host import ACCELERATE, LLAMA_CPP, VLLM_OFFLOAD, waiting
from rigplanner.memory.trained_states import untied_bytes
from rigplanner.memory.training import Demand
from rigplanner.memory.usable_memory import process_gib
from rigplanner.networks.closed_form.closed import traced_step
from rigplanner.networks.tracer.net import Setting
from rigplanner.networks.tracer.tape import BF16, F32
from rigplanner.units import GIB
from rigplanner.workload.job import Job
from rigplanner.workload.mixes import file_bits, tensor_bytes
from rigplanner.workload.network import Network
from rigplanner.workload.quant import BITS, GGUF, KV_BITS, left_whole, weight_bytes
from rigplanner.workload.releases import JOINED
from rigplanner.workload.releases import WHOLE_PROMPT as EVERY_LOGIT
from rigplanner.workload.stacks import MemoryStack

LEGACY_CODE = {"qwen", "chatglm", "baichuan", "internlm", "aquila", "xverse"}
"""Families whose code came with the weights in 2023: the cache is a tuple that every step joins
anew for all layers, and the head sees the whole prompt. What transformers itself holds since 4.36
joins one layer's at a time (DynamicCache), and since 4.45 the head sees the last position only
(num_logits_to_keep)."""
WHOLE_PROMPT = LEGACY_CODE - {"chatglm"}
"""Of these, families whose head sees the whole prompt; ChatGLM's asks for the last position's
logits (return_last_logit)."""


def weights_of(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes of the stored weights in the job's precision, or as the file says; autocast keeps them
    in fp32. A stack may quantise embedding and head too; networks that see are not part of what
    such a stack loads for text."""
    if job.stored_bytes is not None:
        return job.stored_bytes
    word = "fp32" if job.precision.startswith("amp") else job.precision
    word = {"fp16": "fp16", "tf32": "fp32"}.get(word, word)
    whole = left_whole(word, job.quant, network.embedding_params, network.side_params)
    if stack.quantises_tables and BITS[word] < 16:
        return weight_bytes(word, stack.slug, network.params - network.side_params, 0.0)
    if word in GGUF:
        return network.params * file_bits(word, network) / 8
    if word == "mxfp4" and network.expert_params:
        whole = network.params - network.expert_params
    return weight_bytes(word, job.quant, network.params, whole)


def infer(network: Network, job: Job, stack: MemoryStack, card: GPU | None = None) -> Demand:
    """The demand of generating `output_tokens` after `input_tokens` for each sample of the batch,
    on the fullest GPU; `card` tells how many requests a serving engine tries at its start."""
    ways = job.tensor * job.pipeline
    head = untied_bytes(network, stack, 4.0 if job.precision == "fp32" else 2.0)
    stored = 4.0 * network.params if stack.stored_fp32 else weights_of(network, job, stack)
    weights = (stored + head) / ways
    weights -= 2.0 * network.vocab * network.hidden / ways if stack.table_on_host else 0.0
    if network.vocab and stack.gathers_all and ways > 1:
        weights += 2.0 * network.embedding_params * (1 - 1 / ways)
    if stack.slug == "llama.cpp":
        return _ggml(
            network, job, weights - narrowed_bytes(network, job) + _beside_file(network, job)
        )
    if stack.pool:
        return _served(network, job, weights, card)
    holds = job.generates or network.heard > 0 or stack.preallocates
    prompt, caches = job.input_tokens or 1, holds and _caches(network) and stack.slug != "trace"
    per_value = job.batch * job.beams * KV_BITS[job.kv_precision] / 8 / ways if caches else 0.0
    cache = network.kv_values(prompt + job.output_tokens) * per_value
    piece = msgspec.structs.replace(job, length=min(job.length, stack.prompt_piece or job.length))
    activations = _activations(network, piece, stack, job.generates) / job.tensor
    before = network.kv_values(prompt) * per_value if stack.kv_growth != "whole" else cache
    peak = max(
        activations + before,
        cache + _joined(network, job, stack, cache, network.kv_values(0) * per_value),
    )
    demand = Demand(
        weights=weights,
        gradients=0.0,
        optimizer=0.0,
        activations=max(0.0, peak - cache),
        kv_cache=min(cache, peak),
        apart=max(0.0, 2.0 * network.params - peak) if stack.loaded_beside else 0.0,
    )
    return _fetched(demand, network, job) if job.offload in ("all", "nvme") else demand


def _served(network: Network, job: Job, weights: float, card: GPU | None) -> Demand:
    """A serving engine: its start-up run, and the cache of the requests."""
    tokens = (job.input_tokens or job.length) + job.output_tokens
    cache = (
        job.batch
        * network.kv_values(tokens)
        * KV_BITS[job.kv_precision]
        / 8
        / (job.tensor * job.pipeline)
    )
    away = min(weights, job.placement.streamed_gb * 1e9)
    return Demand(
        weights=weights - away,
        gradients=0.0,
        optimizer=0.0,
        activations=dummy_peak_bytes(network, job, card),
        kv_cache=cache if _caches(network) else 0.0,
        host=waiting(
            "weights", "cpu_offload_gb x GPUs", away * job.tensor * job.pipeline, VLLM_OFFLOAD
        ),
    )


def _joined(network: Network, job: Job, stack: MemoryStack, cache: float, still: float) -> float:
    """Bytes of cache that a step holds twice while it joins the new token, after the first, which
    the prompt gives: of one layer, or of all in code of 2023."""
    if stack.kv_growth == "whole" or job.output_tokens < 2:
        return 0.0
    return (cache - still) / (
        1 if network.family in LEGACY_CODE or JOINED in job.flags else max(1, network.layers)
    )


def _fetched(demand: Demand, network: Network, job: Job) -> Demand:
    """Weights that wait in the computer: the GPU holds the layer at work and the next one, or the
    embedding."""
    table = demand.weights * network.vocab * network.hidden / max(1.0, network.params)
    there = min(demand.weights, max(2 * (demand.weights - table) / max(1, network.layers), table))
    waits = waiting(
        "weights",
        "all weights of the replicas",
        demand.weights * job.tensor * job.pipeline,
        ACCELERATE,
    )
    if job.offload == "nvme":
        waits = msgspec.structs.replace(waits, ram=0.0, nvme=waits.ram)
    return msgspec.structs.replace(demand, weights=there, host=waits)


def quantised(job: Job) -> bool:
    """Whether weights are stored in fewer than 16 bits."""
    return BITS.get(job.precision, 16.0) < 16


def gives_vectors(network: Network, stack: MemoryStack) -> bool:
    """Whether inference ends with the states of a text (embeddings, re-ranking, labels): encoders
    score no vocabulary but where they are trained to, or traced as their class is."""
    return network.kind == "encoder" and stack.slug != "trace"


def _caches(network: Network) -> bool:
    return network.kind in ("llm", "moe", "vlm", "encoder_decoder", "asr")


def _activations(network: Network, job: Job, stack: MemoryStack, generates: bool) -> float:
    if network.config is None:
        return 2.0 * job.batch * min(job.length, 4096) * max(network.hidden, 1024) * 8
    length = job.length
    dtype = F32 if job.precision in ("fp32", "tf32") or job.precision.startswith("amp") else BF16
    sides = None if network.vocab and not job.images else job.sides
    setting = Setting(
        batch=job.batch,
        length=max(1, length),
        dtype=dtype,
        training=False,
        eager=job.eager,
        sides=sides,
        frames=job.frames,
        images=job.images,
    )
    precision = (
        "amp_bf16" if job.precision.startswith("amp") else "fp32" if dtype == F32 else "bf16"
    )
    setting = msgspec.structs.replace(setting, headless=gives_vectors(network, stack))
    step = traced_step(network.config, setting, precision, "sgd", stack.slug == "trace")
    if not generates or stack.slug == "trace":
        return float(step.peak - step.weights)
    layers = msgspec.structs.replace(setting, headless=True, frames=1)
    return float(_peak_of_layers(network, layers, precision)) + 6.0 * job.batch * network.vocab * (
        length if network.family in WHOLE_PROMPT or EVERY_LOGIT in job.flags else 1
    )


def _peak_of_layers(network: Network, setting: Setting, precision: str) -> int:
    assert network.config is not None
    step = traced_step(network.config, setting, precision, "sgd", False)
    return step.peak - step.weights


def _ggml(network: Network, job: Job, weights: float) -> Demand:
    """llama.cpp: buffers of the model, the cache and one compute buffer, flat in the context with
    flash attention. The cache is as long as the context that is reserved (-c)."""
    used = (job.input_tokens or job.length) + job.output_tokens
    tokens = max(used, job.length)
    cache = network.kv_values(tokens) * KV_BITS[job.kv_precision] / 8 * max(1, job.batch)
    cache /= job.tensor * job.pipeline
    file = ggml_parts(network, job, weights)
    place = job.placement
    moved = place.rest * file.rest + place.experts * file.experts + place.head * file.head
    host = waiting(
        "layers",
        "token embedding + what stays in RAM of layers, experts, output layer and cache",
        file.table + moved + place.cache * cache,
        LLAMA_CPP,
    )
    return Demand(
        weights=max(0.0, weights - file.table - moved),
        gradients=0.0,
        optimizer=0.0,
        activations=0.0 if place.whole else _compute_buffer(network, job, tokens),
        kv_cache=cache * (1 - place.cache),
        host=host,
    )


LATENT_HEAD = 192
"""Values of a head that ik_llama.cpp unfolds of latent attention for every token of the context:
its compute buffer for DeepSeek-R1 grows from 3,425 to 6,081 MiB between 32k and 64k (discussion
258)."""


def _compute_buffer(network: Network, job: Job, tokens: int) -> float:
    batch = min(job.piece, tokens)
    outputs = 4.0 * batch * (network.vocab + network.hidden) if network.kind != "encoder" else 0.0
    scores = 4.0 * network.heads * batch * tokens if job.eager else 0.0
    if network.latent_values and job.stack == "ik_llama.cpp":
        scores += 4.0 * network.heads * LATENT_HEAD * tokens
    return max(outputs, scores + 4.0 * batch * (network.ffn + 3 * network.hidden))


class GgmlParts(Struct, frozen=True, kw_only=True):
    """Bytes of a GGUF file: the token embedding (in RAM always, unless the output layer is the same
    tensor), the output layer, routed experts, all else of the layers."""

    table: float
    head: float
    experts: float
    rest: float


BESIDE_EXPERTS_BITS = 5.5
"""Bits per weight, at least, of all but the routed experts in files of fewer on average: makers of
such files keep attention and shared experts finer. DeepSeek-R1 UD-Q2_K_XL 5.1 beside 2.6 of its
experts, Qwen3-235B IQ3_K 6.7 beside 3.8 (buffer sizes in ik_llama.cpp discussions 258 and 357)."""


KNOWN_WITHIN = 0.03
"""How far the size of a file may lie from its mix's for its tensors to be those of the mix. A
file with room for all but the experts in 8 to 16 bits keeps them so, and the experts in the types
of the mix: 221 of the 239 GiB of a DeepSeek-R1 in Q2_K (ik_llama.cpp discussion 258)."""


def ggml_parts(network: Network, job: Job, weights: float) -> GgmlParts:
    """Return the parts of a file of `weights` bytes: by the tensors of its mix where these are
    known, evenly otherwise."""
    tied = network.tied and network.kind != "encoder"
    if known := tensor_bytes(job.precision, network):
        scale = weights / max(1.0, sum(known))
        told = network.kind != "vlm" and not network.latent_values
        if told and abs(scale - 1) <= KNOWN_WITHIN:
            table, head, experts, rest = (part * scale for part in known)
            if tied:
                table, head = 0.0, table
            return GgmlParts(table=table, head=head, experts=experts, rest=rest)
    other = max(1.0, network.params - network.expert_params)
    if job.precision == "mxfp4":
        experts = min(weights, network.expert_params * BITS["mxfp4"] / 8)
    elif known and network.expert_params and 1.0 < (weights - known[2]) / other <= 2.0:
        experts = known[2]
    elif network.expert_params:
        even = weights / max(1.0, network.params)
        beside = other * max(even, BESIDE_EXPERTS_BITS / 8 if even < 2.0 else 0.0)
        experts = weights - min(beside, 0.9 * weights)
    else:
        experts = 0.0
    head = (weights - experts) * min(1.0, network.vocab * network.hidden / other)
    table = 0.0 if tied else head
    rest = max(0.0, weights - table - head - experts)
    return GgmlParts(table=table, head=head, experts=experts, rest=rest)


def _beside_file(network: Network, job: Job) -> float:
    """Bytes that a projector file takes more than the quantised model's share: it stays in 16 bits
    (llama.cpp, mmproj)."""
    if network.kind != "vlm" or job.stored_bytes is not None:
        return 0.0
    return max(0.0, 2.0 - file_bits(job.precision, network) / 8) * network.side_params


AS_PUBLISHED = ("ollama",)
"""Engines whose own files of MXFP4 keep all but the experts in 16 bits, as they were published:
gpt-oss:20b is 13.8 GB at ollama.com, gpt-oss:120b logs 59.7 GiB of weights (ollama issue 11982)."""


def narrowed_bytes(network: Network, job: Job) -> float:
    """Bytes that a GGUF file of MXFP4 experts takes less than the published weights: all else is
    Q8_0 (llama.cpp, the file type MXFP4_MOE; gpt-oss-20b logs 10.69 GiB on the GPU)."""
    if job.precision != "mxfp4" or job.stored_bytes is not None or not network.expert_params:
        return 0.0
    if job.stack.casefold() in AS_PUBLISHED:
        return 0.0
    return (2.0 - BITS["q8_0"] / 8) * (network.params - network.expert_params)


def pool(network: Network, job: Job, stack: MemoryStack, card: GPU) -> tuple[Demand, float]:
    """A serving engine: what it needs before its pool, and the GiB of the whole reservation
    (utilisation of the card)."""
    demand = infer(network, job, stack, card)
    found = process_gib(card)
    if not found:
        raise WorkloadFault(
            "hardware.gpu: serving reserves a share of the card's memory; name a GPU of the"
            " catalog."
        )
    beside = stack.spare(job.task).fixed_gib
    weights, peak = demand.weights / GIB, demand.activations / GIB
    cache = pool_gib(found, job.utilization, stack.pool, weights, peak, beside)
    return demand, weights + peak + beside + cache
