"""The steps of a memory estimate: every part with its formula, its inputs and where they come
from."""

from __future__ import annotations

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
WALK = "eager PyTorch's operators and what their derivatives keep (tools/autograd/derivatives.yaml)"
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
    "lamb": "arXiv 1904.00962",
    "came": "arXiv 2307.02047",
    "apollo": "arXiv 2412.05270",
    "adamw_4bit": "arXiv 2309.01507",
    "schedulefree_adamw": "arXiv 2405.15682",
}
"""Where the size of an optimizer's state is published; of the others, torch.optim."""


def steps_of(
    network: Network,
    job: Job,
    stack: MemoryStack,
    demand: Demand,
    detail: dict[str, float],
    figures: tuple[float, float, float],
    span: tuple[float, float, float],
) -> tuple[Step, ...]:
    """The steps from weights to what the device shows; `figures` are tensors, reserved and device
    in GiB, `span` the interval's factors and what of the weights they leave alone."""
    training = job.task.startswith("train")
    sizes: Inputs = {
        "batch": job.batch,
        "length": job.length,
        "checkpointing": job.checkpointing,
        "tensor": job.tensor,
    }
    shards: Inputs = {
        "data": job.data,
        "zero": job.zero,
        "tensor": job.tensor,
        "pipeline": job.pipeline,
        "expert": job.expert,
    }
    weights: Inputs = {
        "parameters": network.params,
        "precision": job.precision,
        "quant": job.quant,
        **shards,
    }
    found = [
        Step(
            "weights",
            "parameters x bytes / shards",
            weights,
            demand.weights / GIB,
            "GiB",
            network.source or "configuration",
        )
    ]
    if training:
        found += [
            Step(
                "gradients",
                "trained parameters x bytes / shards",
                shards,
                demand.gradients / GIB,
                "GiB",
                AUTOGRAD,
            ),
            Step(
                "optimizer",
                "bytes of state per trained parameter / shards",
                {"optimizer": job.optimizer, **shards},
                demand.optimizer / GIB,
                "GiB",
                STATES.get(job.optimizer, "torch.optim"),
            ),
        ]
    found.append(
        Step(
            "activations",
            "live tensors at the peak of the step",
            sizes,
            demand.activations / GIB,
            "GiB",
            _source(network, job),
        )
    )
    if demand.kv_cache:
        cache: Inputs = {
            "precision": job.kv_precision,
            "tokens": (job.input_tokens or job.length) + job.output_tokens,
            "batch": job.batch,
        }
        found.append(
            Step(
                "kv_cache",
                "values per token x tokens x batch x bytes",
                cache,
                demand.kv_cache / GIB,
                "GiB",
                CACHE,
            )
        )
        if network.state_values:
            held = 2.0 * network.state_values * job.batch / GIB
            fixed: Inputs = {"layers": network.state_layers or network.layers, "batch": job.batch}
            found.append(
                Step(
                    "recurrent_state",
                    "of the cache: states of one sequence x batch x bytes",
                    fixed,
                    held,
                    "GiB",
                    STATE,
                )
            )
    detail = detail | {"apart": demand.apart / GIB}
    found += _beyond(
        stack, stack.spare(job.task, group_of(network.kind)), detail, figures, span, shards
    )
    return (*found, *demand.host.steps)


def _beyond(
    stack: MemoryStack,
    beyond: Spare,
    detail: dict[str, float],
    figures: tuple[float, float, float],
    span: tuple[float, float, float],
    shards: Inputs,
) -> list[Step]:
    """The steps from live tensors to what the device shows."""
    tensors, reserved, device = figures
    library: Inputs = {
        "share": beyond.share,
        "most_gib": beyond.most_gib,
        "moving": beyond.moving,
        "static": beyond.static,
        "apart": detail["apart"],
    }
    bounds: Inputs = {"low": span[0], "high": span[1], "known": span[2]}
    parts: Inputs = {name: detail[name] for name in ("library", "fragmentation", "driver", "nccl")}
    return [
        Step(
            "communication",
            "gathered layers and gradients on the way",
            shards,
            detail["communication"],
            "GiB",
            GATHERED,
        ),
        Step(
            "buffers",
            "dequantised matrix + cache joined anew",
            {"stack": stack.slug},
            detail["buffers"],
            "GiB",
            FITTED,
        ),
        Step("tensors", "sum of the parts above", {}, tensors, "GiB", ""),
        Step(
            "fragmentation",
            "share of all tensors up to a limit + shares of moving tensors and of states + the"
            " step's own blocks",
            library,
            detail["fragmentation"],
            "GiB",
            FITTED,
        ),
        Step(
            "library",
            "workspaces of libraries",
            {"stack": stack.slug},
            detail["library"],
            "GiB",
            FITTED,
        ),
        Step(
            "reserved",
            "tensors + fragmentation + library, or what an engine reserves",
            parts,
            reserved,
            "GiB",
            "",
        ),
        Step(
            "context",
            "driver, kernels and communicators",
            parts,
            detail["driver"] + detail["nccl"],
            "GiB",
            FITTED,
        ),
        Step("device", "reserved + context", {}, device, "GiB", ""),
        Step(
            "interval",
            "known + factor x (tensors or device - known): 80 % of measured cases, wider where no"
            " source measured the like",
            bounds,
            device,
            "GiB",
            FITTED,
        ),
    ]


def _source(network: Network, job: Job) -> str:
    if network.kind.startswith("diffusion"):
        return DENOISER if network.denoiser is None else WALK
    if network.kind == RECOMMENDER:
        return DENSE
    if network.config is None:
        return FIGURES
    if job.task.startswith("train"):
        return WALK
    return (
        DUMMY_RUN
        if memory_stack(job.stack).pool
        else COMPUTE_BUFFER
        if memory_stack(job.stack).slug == "llama.cpp"
        else WALK
    )
