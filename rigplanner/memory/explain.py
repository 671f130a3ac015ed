"""The steps of a memory estimate: every part with its formula, its inputs and where they come
from."""

from __future__ import annotations

from msgspec import Struct

from rigplanner.evidence import Step
from rigplanner.memory.training import Demand
from rigplanner.units import GIB
from rigplanner.workload.job import Job
from rigplanner.workload.network import RECOMMENDER, Network
from rigplanner.workload.stacks import MemoryStack, Spare, group_of, memory_stack

Inputs = dict[str, float | str | None]

AUTOGRAD = (
    "PyTorch: one gradient per trained parameter, of its type; sharded as in ZeRO, arXiv 1910.02054"
)
TRACE = (
    "eager PyTorch's operators and what their derivatives keep (tools/autograd/derivatives.yaml)"
)
FIGURES = (
    "values that layers write, times the tensors kept per value: fitted to batch brackets of timm"
    " on a 24 GB card"
)
DENSE = "values that the dense layers write for a sample: kept twice in training"
DENOISER = "Korthikanti et al. 2022, arXiv 2205.05198, applied to the blocks of the denoiser"
DUMMY_RUN = (
    "the start-up run of the engine: a full step of tokens, or the sampling of all sequences (logs"
    " of vLLM)"
)
COMPUTE_BUFFER = (
    "llama.cpp's compute buffer: the larger of attention or feed-forward, and the output layer"
)
CACHE = "key and value of every token, layer and key head (Ainslie et al. 2023, arXiv 2305.13245)"
STATE = (
    "the convolution's last inputs and a float state per layer, of any length (Gu and Dao 2023,"
    " arXiv 2312.00752)"
)
GATHERED = (
    "ZeRO-3 and FSDP: the layers at work whole, and one layer's gradients (arXiv 1910.02054,"
    " 2304.11277); DistributedDataParallel: buckets of all gradients; DeepSpeed: twice"
    " reduce_bucket_size (overlap_comm)"
)
FITTED = (
    "the stack's constants, fitted to published figures (catalog/architectures/memory_stacks.json)"
)
STATES = {
    "adamw_8bit": "arXiv 2110.02861",
    "adamw_bnb_8bit": "arXiv 2110.02861",
    "paged_adamw_8bit": "arXiv 2110.02861, 2305.14314",
    "paged_adamw": "arXiv 2305.14314",
    "paged_adamw_32bit": "arXiv 2305.14314",
    "adafactor": "arXiv 1804.04235",
    "lion": "arXiv 2302.06675",
    "lion_8bit": "arXiv 2302.06675, 2110.02861",
    "muon": "arXiv 2502.16982",
    "galore": "arXiv 2403.03507",
    "galore_adamw": "arXiv 2403.03507",
    "galore_adamw_8bit": "arXiv 2403.03507, 2110.02861",
    "lamb": "arXiv 1904.00962",
    "came": "arXiv 2307.02047",
    "apollo": "arXiv 2412.05270",
    "adamw_4bit": "arXiv 2309.01507",
    "schedulefree_adamw": "arXiv 2405.15682",
}
"""Where the size of an optimizer's state is published; of the others, torch.optim."""


class Figures(Struct, frozen=True):
    """What of an estimate is shown, in GiB: live tensors, what the allocator holds, what the device
    shows."""

    tensors_gib: float
    reserved_gib: float
    device_gib: float


class Span(Struct, frozen=True):
    """The factors of an interval, and the GiB of weights that they leave alone."""

    low: float
    high: float
    known: float


def steps_of(
    network: Network,
    job: Job,
    stack: MemoryStack,
    demand: Demand,
    detail: dict[str, float],
    figures: Figures,
    span: Span,
) -> tuple[Step, ...]:
    """The steps from weights to what the device shows."""
    shards: Inputs = {
        "data": job.data,
        "zero": job.zero,
        "tensor": job.tensor,
        "pipeline": job.pipeline,
        "expert": job.expert,
    }
    sizes: Inputs = {
        "batch": job.batch,
        "length": job.length,
        "checkpointing": job.checkpointing,
        "tensor": job.tensor,
    }
    peak, gib = "live tensors at the peak of the step", demand.activations / GIB
    detail = detail | {"apart": demand.apart / GIB}
    beyond = stack.spare(job.task, group_of(network.kind))
    return (
        *_states(network, job, demand, shards),
        _gib("activations", peak, sizes, gib, _source(network, job)),
        *_cached(network, job, demand),
        *_beyond(stack, beyond, detail, figures, span, shards),
        *demand.host.steps,
    )


def _states(network: Network, job: Job, demand: Demand, shards: Inputs) -> list[Step]:
    """Weights, and what training keeps beside them."""
    weights: Inputs = {
        "parameters": network.params,
        "precision": job.precision,
        "quant": job.quant,
        **shards,
    }
    source, formula = network.source or "configuration", "parameters x bytes / shards"
    found = [_gib("weights", formula, weights, demand.weights / GIB, source)]
    if job.task.startswith("train"):
        trained = "trained parameters x bytes / shards"
        found.append(_gib("gradients", trained, shards, demand.gradients / GIB, AUTOGRAD))
        named: Inputs = {"optimizer": job.optimizer, **shards}
        each, source = "bytes of state per trained parameter / shards", "torch.optim"
        source = STATES.get(job.optimizer, source)
        found.append(_gib("optimizer", each, named, demand.optimizer / GIB, source))
    return found


def _cached(network: Network, job: Job, demand: Demand) -> list[Step]:
    """Keys and values of what was read and written; of them the states of recurrent layers."""
    if not demand.kv_cache:
        return []
    cache: Inputs = {
        "precision": job.kv_precision,
        "tokens": (job.input_tokens or job.length) + job.output_tokens,
        "batch": job.batch,
    }
    formula = "values per token x tokens x batch x bytes"
    found = [_gib("kv_cache", formula, cache, demand.kv_cache / GIB, CACHE)]
    if network.state_values:
        held = 2.0 * network.state_values * job.batch / GIB
        fixed: Inputs = {"layers": network.state_layers or network.layers, "batch": job.batch}
        formula = "of the cache: states of one sequence x batch x bytes"
        found.append(_gib("recurrent_state", formula, fixed, held, STATE))
    return found


def _beyond(
    stack: MemoryStack,
    beyond: Spare,
    detail: dict[str, float],
    figures: Figures,
    span: Span,
    shards: Inputs,
) -> list[Step]:
    """The steps from live tensors to what the device shows."""
    library: Inputs = {
        "share": beyond.share,
        "most_gib": beyond.most_gib,
        "moving": beyond.moving,
        "static": beyond.static,
        "apart": detail["apart"],
    }
    bounds: Inputs = {"low": span.low, "high": span.high, "known": span.known}
    parts: Inputs = {name: detail[name] for name in ("library", "fragmentation", "driver", "nccl")}
    named: Inputs = {"stack": stack.slug}
    moved, copied = (
        "gathered layers and gradients on the way",
        "dequantised matrix + cache joined anew",
    )
    held = (
        "share of all tensors up to a limit + shares of moving tensors and of states + the"
        " step's own blocks"
    )
    reserves = "tensors + fragmentation + library, or what an engine reserves"
    driver = "driver, kernels and communicators"
    interval = (
        "known + factor x (tensors or device - known): 80 % of measured cases, wider where no"
        " source measured the like"
    )
    return [
        _gib("communication", moved, shards, detail["communication"], GATHERED),
        _gib("buffers", copied, named, detail["buffers"], FITTED),
        _gib("tensors", "sum of the parts above", {}, figures.tensors_gib),
        _gib("fragmentation", held, library, detail["fragmentation"], FITTED),
        _gib("library", "workspaces of libraries", named, detail["library"], FITTED),
        _gib("reserved", reserves, parts, figures.reserved_gib),
        _gib("context", driver, parts, detail["driver"] + detail["nccl"], FITTED),
        _gib("device", "reserved + context", {}, figures.device_gib),
        _gib("interval", interval, bounds, figures.device_gib, FITTED),
    ]


def _gib(name: str, formula: str, inputs: Inputs, gib: float, source: str = "") -> Step:
    return Step(name, formula, inputs, gib, "GiB", source)


def _source(network: Network, job: Job) -> str:
    if network.kind.startswith("diffusion"):
        return DENOISER if network.denoiser is None else TRACE
    if network.kind == RECOMMENDER:
        return DENSE
    if network.config is None:
        return FIGURES
    if job.task.startswith("train"):
        return TRACE
    return (
        DUMMY_RUN
        if memory_stack(job.stack).pool
        else COMPUTE_BUFFER
        if memory_stack(job.stack).slug == "llama.cpp"
        else TRACE
    )
