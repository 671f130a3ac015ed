"""What offloading moves from the GPU to the computer's memory and drives, with the source of every
formula."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from rigplanner.evidence import Step
from rigplanner.units import GIB
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.optimizers import OPTIMIZERS

BUFFERS = 1.5
"""DeepSpeed's additional_buffer_factor: copies and buffers beside the states."""
ZERO_OPTIMIZER, ZERO_PARAMETERS = 16.0, 2.0
"""Bytes per parameter in DeepSpeed's estimators (deepspeed/runtime/zero): fp32 parameter, gradient
and two moments; 16-bit parameters besides."""
NVME_PARAM_BUFFERS = 5 * 1e8 * 2.0
"""offload_param: buffer_count 5 of buffer_size 1e8 values in 16 bits (DeepSpeed, config-json)."""
NVME_PARAMS_KEPT = 1e9 * 2.0
"""offload_param: max_in_cpu 1e9 values in 16 bits (DeepSpeed, config-json)."""
NVME_STATE_BUFFERS, SUB_GROUP = 4, 1e9
"""offload_optimizer: buffer_count 4 of one sub-group each, sub_group_size 1e9 values in fp32
(DeepSpeed, config-json)."""
FSDP_STACKS = ("torchtune", "torchtitan", "litgpt", "fsdp", "pytorch", "pytorch-fsdp")
"""Stacks whose offload is PyTorch's own: CPUOffload moves shards of parameters and gradients and
steps on the CPU."""

DEEPSPEED = "DeepSpeed, estimate_zero2/3_model_states_mem_needs"
DEEPSPEED_CONFIG = "https://www.deepspeed.ai/docs/config-json/"
FSDP = "PyTorch, torch.distributed.fsdp.CPUOffload"
PAGED = (
    "bitsandbytes: paged states are unified memory and leave the GPU when it is full (arXiv"
    " 2305.14314)"
)
UNSLOTH = (
    "Unsloth, gradient checkpointing that off-loads to system memory"
    " (https://unsloth.ai/blog/long-context)"
)
DIFFUSERS = "diffusers, Reduce memory usage: offloaded components wait in host memory"
ACCELERATE = "accelerate, cpu_offload and disk_offload: a layer comes to the GPU when it runs"
VLLM_OFFLOAD = "vLLM, --cpu-offload-gb: weights of each GPU that are read over its link"
LLAMA_CPP = (
    "llama.cpp: layers beyond --n-gpu-layers, their cache and the token embedding stay in host"
    " memory"
)


class HostNeed(Struct, frozen=True, kw_only=True):
    """Bytes of the whole job in the computer: memory, drives, and the steps they come from."""

    ram: float = 0.0
    nvme: float = 0.0
    steps: tuple[Step, ...] = ()


def training_host(
    network: Network, job: Job, trained: float, state: float, checkpoints: float = 0.0
) -> HostNeed:
    """The host's share of training: `trained` parameters of all ranks together, `state` the
    optimizer's bytes of one GPU, and `checkpoints` those of what its recomputed layers begin from.
    """
    need = HostNeed()
    if checkpoints:
        need = _with(
            need,
            "checkpoints",
            "inputs of the layers x GPUs",
            {"gpus": job.data},
            checkpoints * job.data,
            UNSLOTH,
        )
    if job.optimizer.startswith("paged"):
        gpus: dict[str, float | str | None] = {"gpus": job.data}
        need = _with(need, "paged_states", "optimizer state x GPUs", gpus, state * job.data, PAGED)
    if job.offload == "none":
        return need
    frozen = max(0.0, network.params - trained)
    copies = 1 if job.zero else job.data
    if job.stack in FSDP_STACKS and job.offload != "nvme":
        return _fsdp(need, job, trained * copies, frozen * copies)
    if job.offload == "nvme":
        return _nvme(need, network, job, trained)
    states = ZERO_OPTIMIZER * trained * copies
    words: dict[str, float | str | None] = {"trained": trained, "copies": copies, "factor": BUFFERS}
    formula = "16 x trained parameters x 1.5"
    need = _with(need, "offloaded_states", formula, words, BUFFERS * states, DEEPSPEED)
    if job.offload == "all":
        weights = BUFFERS * ZERO_PARAMETERS * network.params
        need = _with(
            need,
            "offloaded_weights",
            "2 x parameters x 1.5",
            {"parameters": network.params},
            weights,
            DEEPSPEED,
        )
    return need


def _fsdp(need: HostNeed, job: Job, trained: float, frozen: float) -> HostNeed:
    width = 4.0 if job.precision in ("fp32", "tf32") or job.precision.startswith("amp") else 2.0
    optimizer = OPTIMIZERS[job.optimizer]
    states = optimizer.state_fp32 if width == 4 else optimizer.state_16
    inputs: dict[str, float | str | None] = {
        "bytes": width,
        "states": states,
        "trained": trained,
        "frozen": frozen,
    }
    if job.offload == "optimizer":
        return _with(
            need,
            "offloaded_states",
            "trained parameters x bytes of state",
            inputs,
            trained * states,
            FSDP,
        )
    held = trained * (2 * width + states) + frozen * width
    return _with(
        need,
        "offloaded_shards",
        "parameters, gradients and states of all shards",
        inputs,
        held,
        FSDP,
    )


def _nvme(need: HostNeed, network: Network, job: Job, trained: float) -> HostNeed:
    group = min(SUB_GROUP, trained / job.data)
    buffers = NVME_STATE_BUFFERS * group * 4.0 * job.data
    gradients = 2.0 * trained
    kept = min(NVME_PARAMS_KEPT, 2.0 * network.params) + NVME_PARAM_BUFFERS * job.data
    need = _with(
        need,
        "swap_buffers",
        "4 buffers x sub-group x 4 bytes x GPUs",
        {"sub_group": group},
        buffers,
        DEEPSPEED_CONFIG,
    )
    need = _with(
        need,
        "gradients_in_ram",
        "2 x trained parameters",
        {"trained": trained},
        gradients,
        DEEPSPEED,
    )
    need = _with(
        need,
        "parameters_in_ram",
        "max_in_cpu x 2 + 5 x buffer_size x 2 x GPUs",
        {},
        kept,
        DEEPSPEED_CONFIG,
    )
    drive = 12.0 * trained + 2.0 * network.params
    inputs: dict[str, float | str | None] = {"trained": trained, "parameters": network.params}
    step = Step(
        "nvme_states",
        "12 x trained parameters + 2 x parameters",
        inputs,
        drive / GIB,
        "GiB",
        "ZeRO-Infinity, arXiv 2104.07857",
    )
    return msgspec.structs.replace(need, nvme=drive, steps=(*need.steps, step))


def waiting(name: str, formula: str, bytes_held: float, source: str) -> HostNeed:
    """What waits in host memory during inference."""
    return (
        _with(HostNeed(), name, formula, {}, bytes_held, source) if bytes_held > 0 else HostNeed()
    )


def _with(
    need: HostNeed,
    name: str,
    formula: str,
    inputs: dict[str, float | str | None],
    ram: float,
    source: str,
) -> HostNeed:
    step = Step(f"host_{name}", formula, inputs, ram / GIB, "GiB", source)
    return HostNeed(ram=need.ram + ram, nvme=need.nvme, steps=(*need.steps, step))
