"""The trace of a denoiser whose layers are known: a step of sampling, a step of training."""

from __future__ import annotations

import msgspec

from rigplanner.memory.training_trace import parameter_type
from rigplanner.networks.closed_form.closed import traced_step
from rigplanner.networks.tracer.net import Setting
from rigplanner.networks.tracer.step import StepTrace
from rigplanner.networks.tracer.tape import BF16, F32
from rigplanner.workload.job import Job
from rigplanner.workload.latents import pictures_seen
from rigplanner.workload.network import Network

GUIDED = ("unet_2d_condition", "sd3_transformer", "cogvideox_transformer", "ltx_transformer")
"""Denoisers that see every image twice while sampling, with and without the prompt (classifier-free
guidance); the others were distilled to one pass."""
ADAPTED = ("to_q", "to_k", "to_v", "to_out.0")
"""Layers that LoRA adapts unless told (the training scripts of diffusers)."""


def sample_trace(network: Network, job: Job) -> StepTrace | None:
    """The trace of one pass of the denoiser over the batch; None where its layers are not known."""
    if network.denoiser is None:
        return None
    twice = 2 if msgspec.json.decode(network.denoiser)["model_type"] in GUIDED else 1
    whole = job.precision.removeprefix("amp_") in ("fp32", "tf32")
    setting = Setting(
        batch=twice * job.batch,
        length=_edge(job),
        sides=_sides(network, job),
        frames=job.frames,
        dtype=F32 if whole else BF16,
        training=False,
        eager=job.eager,
    )
    return traced_step(network.denoiser, setting, "fp32" if whole else "bf16", "sgd", False)


def train_trace(network: Network, job: Job, sheds: bool = False) -> StepTrace | None:
    """The trace of one training step of the denoiser alone: its encoders are frozen, and have run
    before. It `sheds` its gradients where they are there all the time, since they are summed over
    several passes, or leave as they come, since they are sharded or off-loaded. The training
    scripts of diffusers run under autocast whatever the weights are, so that norms write floats,
    unless all is to be fp32. None where layers are not known, or compiled."""
    if network.denoiser is None or "compile" in job.flags:
        return None
    full = job.task == "train_full"
    whole = job.precision in ("fp32", "tf32")
    dtype = F32 if whole or (full and parameter_type(job) == F32) else BF16
    setting = Setting(
        batch=job.batch,
        length=_edge(job),
        sides=_sides(network, job),
        frames=job.frames,
        dtype=dtype,
        checkpointing=job.checkpointing == "full",
        lora_rank=0 if full else max(1, job.lora_rank),
        lora_targets=() if full else _targets(job),
        dora=job.dora,
        sheds=sheds,
        eager=job.eager,
    )
    low = dtype == BF16 or job.precision.startswith("amp")
    return traced_step(
        network.denoiser, setting, "amp_bf16" if low else "fp32", "adamw_fused", False
    )


def _targets(job: Job) -> tuple[str, ...]:
    return tuple(name.removeprefix("attn.") for name in job.lora_targets) or ADAPTED


def _edge(job: Job) -> int:
    return job.image if isinstance(job.image, int) else job.image[0]


def _sides(network: Network, job: Job) -> tuple[int, int] | None:
    """Height and width of the latent that a pass sees: pictures side by side."""
    seen = pictures_seen(network.slug)
    if isinstance(job.image, int):
        return (seen * job.image, job.image) if seen > 1 else None
    return seen * job.image[0], job.image[1]
