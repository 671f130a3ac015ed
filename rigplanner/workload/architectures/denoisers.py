"""Denoisers whose layers are walked: which diffusers classes those are, and what a step of training or sampling of them takes."""

from __future__ import annotations

from typing import Any

import msgspec

from rigplanner.workload.closed import walked
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.stacks import MemoryStack
from rigplanner.workload.tape.net import Setting
from rigplanner.workload.tape.step import Walk
from rigplanner.workload.tape.tape import BF16, F32
from rigplanner.workload.training_walk import parameter_type

GUIDED = ("unet_2d_condition", "sd3_transformer", "cogvideox_transformer", "ltx_transformer")
"""Denoisers that see every image twice while sampling, with and without the prompt (classifier-free guidance); the others were
distilled to one pass."""
ADAPTED = ("to_q", "to_k", "to_v", "to_out.0")
"""Layers that LoRA adapts unless told (the training scripts of diffusers)."""


def sample_walk(network: Network, job: Job) -> Walk | None:
    """The walk of one pass of the denoiser over the batch; None where its layers are not known."""
    if network.denoiser is None:
        return None
    twice = 2 if msgspec.json.decode(network.denoiser)["model_type"] in GUIDED else 1
    whole = job.precision.removeprefix("amp_") in ("fp32", "tf32")
    setting = Setting(
        batch=twice * job.batch, length=_edge(job), sides=_sides(job), frames=job.frames, dtype=F32 if whole else BF16,
        training=False, eager=job.eager,
    )  # fmt: skip
    return walked(network.denoiser, setting, "fp32" if whole else "bf16", "sgd", False)


def train_walk(network: Network, job: Job, stack: MemoryStack) -> Walk | None:
    """The walk of one training step of the denoiser alone: its encoders are frozen, and have run before. Gradients that are summed
    over several passes are left out, as they are there all the time. The training scripts of diffusers run under autocast whatever
    the weights are, so that norms write floats, unless all is to be fp32. None where layers are not known, or compiled."""
    if network.denoiser is None or "compile" in job.flags:
        return None
    full = job.task == "train_full"
    whole = job.precision in ("fp32", "tf32")
    dtype = F32 if whole or (full and parameter_type(job) == F32) else BF16
    setting = Setting(
        batch=job.batch, length=_edge(job), sides=_sides(job), frames=job.frames, dtype=dtype,
        checkpointing=job.checkpointing == "full",
        lora_rank=0 if full else max(1, job.lora_rank), lora_targets=() if full else _targets(job), dora=job.dora,
        sheds=job.accumulation > 1, eager=job.eager,
    )  # fmt: skip
    low = dtype == BF16 or job.precision.startswith("amp")
    return walked(network.denoiser, setting, "amp_bf16" if low else "fp32", "adamw_fused", False)


def _targets(job: Job) -> tuple[str, ...]:
    return tuple(name.removeprefix("attn.") for name in job.lora_targets) or ADAPTED


def _edge(job: Job) -> int:
    return job.image if isinstance(job.image, int) else job.image[0]


def _sides(job: Job) -> tuple[int, int] | None:
    return None if isinstance(job.image, int) else job.image


WALKED = {
    **dict.fromkeys(("UNet2DConditionModel", "FlaxUNet2DConditionModel"), "unet_2d_condition"),
    "SD3Transformer2DModel": "sd3_transformer",
    "FluxTransformer2DModel": "flux_transformer", "CogVideoXTransformer3DModel": "cogvideox_transformer",
    "WanTransformer3DModel": "wan_transformer", "QwenImageTransformer2DModel": "qwen_image_transformer",
    "Flux2Transformer2DModel": "flux2_transformer", "LTXVideoTransformer3DModel": "ltx_transformer",
    "HunyuanVideoTransformer3DModel": "hunyuan_video_transformer",
}  # fmt: skip
"""diffusers classes by the kind of network that is walked."""
USUAL: dict[str, dict[str, Any]] = {
    "unet_2d_condition": {
        "block_out_channels": [320, 640, 1280, 1280], "layers_per_block": 2, "cross_attention_dim": 1280, "attention_head_dim": 8,
        "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"],
        "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3,
    },
    "sd3_transformer": {
        "in_channels": 16, "num_layers": 18, "attention_head_dim": 64, "num_attention_heads": 18, "joint_attention_dim": 4096,
        "pooled_projection_dim": 2048, "pos_embed_max_size": 96, "patch_size": 2,
    },
    "flux_transformer": {
        "in_channels": 64, "num_layers": 19, "num_single_layers": 38, "attention_head_dim": 128, "num_attention_heads": 24,
        "joint_attention_dim": 4096, "pooled_projection_dim": 768,
    },
    "cogvideox_transformer": {"num_layers": 30, "attention_head_dim": 64, "num_attention_heads": 30},
    "wan_transformer": {"num_layers": 40, "attention_head_dim": 128, "num_attention_heads": 40, "ffn_dim": 13824},
    "qwen_image_transformer": {"num_layers": 60, "attention_head_dim": 128, "num_attention_heads": 24, "in_channels": 64,
        "out_channels": 16, "joint_attention_dim": 3584, "patch_size": 2},
    "flux2_transformer": {"num_layers": 8, "num_single_layers": 48, "attention_head_dim": 128, "num_attention_heads": 48,
        "in_channels": 128, "joint_attention_dim": 15360, "mlp_ratio": 3.0, "guidance_embeds": True},
    "ltx_transformer": {"num_layers": 28, "attention_head_dim": 64, "num_attention_heads": 32, "in_channels": 128,
        "out_channels": 128, "cross_attention_dim": 2048, "caption_channels": 4096},
    "hunyuan_video_transformer": {"num_layers": 20, "num_single_layers": 40, "num_refiner_layers": 2, "attention_head_dim": 128,
        "num_attention_heads": 24, "in_channels": 16, "out_channels": 16, "patch_size": 2, "text_embed_dim": 4096,
        "pooled_projection_dim": 768, "guidance_embeds": True},
}  # fmt: skip
"""What diffusers 0.42 takes for fields that a configuration leaves out."""
SEEING = ("added_kv_proj_dim", "image_dim", "ofs_embed_dim", "image_condition_type", "use_layer3d_rope")
"""Fields of networks that also see an image and are not walked."""
PLAIN_NUMBERS = ("cross_attention_dim",)
"""Fields that are walked where they are one number for all levels."""
LEVELS = {"CrossAttnDownBlock2D", "DownBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"}


def denoiser_config(config: dict[str, Any]) -> dict[str, Any] | None:
    """The configuration of a diffusers component as one that is walked; None for other classes and for levels of other kinds."""
    kind = WALKED.get(str(config.get("_class_name")))
    levels = [*(config.get("down_block_types") or ()), *(config.get("up_block_types") or ())]
    joins = config.get("patch_size_t") and (kind == "cogvideox_transformer" or config["patch_size_t"] != 1)
    uneven = any(isinstance(config.get(field), list) for field in PLAIN_NUMBERS)
    if kind is None or not set(map(str, levels)) <= LEVELS or joins or uneven or any(config.get(field) for field in SEEING):
        return None
    return {"model_type": kind, **USUAL[kind], **{name: value for name, value in config.items() if not name.startswith("_")}}
