"""Denoisers whose layers are traced: which diffusers classes those are, and their configuration
with the fields it leaves out."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.tracer.step import contradictions

TRACED = {
    **dict.fromkeys(("UNet2DConditionModel", "FlaxUNet2DConditionModel"), "unet_2d_condition"),
    "SD3Transformer2DModel": "sd3_transformer",
    "FluxTransformer2DModel": "flux_transformer",
    "CogVideoXTransformer3DModel": "cogvideox_transformer",
    "WanTransformer3DModel": "wan_transformer",
    "QwenImageTransformer2DModel": "qwen_image_transformer",
    "Flux2Transformer2DModel": "flux2_transformer",
    "LTXVideoTransformer3DModel": "ltx_transformer",
    "HunyuanVideoTransformer3DModel": "hunyuan_video_transformer",
}
"""diffusers classes by the kind of network that is traced."""
USUAL: dict[str, dict[str, Any]] = {
    "unet_2d_condition": {
        "block_out_channels": [320, 640, 1280, 1280],
        "layers_per_block": 2,
        "cross_attention_dim": 1280,
        "attention_head_dim": 8,
        "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"],
        "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3,
    },
    "sd3_transformer": {
        "in_channels": 16,
        "num_layers": 18,
        "attention_head_dim": 64,
        "num_attention_heads": 18,
        "joint_attention_dim": 4096,
        "pooled_projection_dim": 2048,
        "pos_embed_max_size": 96,
        "patch_size": 2,
    },
    "flux_transformer": {
        "in_channels": 64,
        "num_layers": 19,
        "num_single_layers": 38,
        "attention_head_dim": 128,
        "num_attention_heads": 24,
        "joint_attention_dim": 4096,
        "pooled_projection_dim": 768,
    },
    "cogvideox_transformer": {
        "num_layers": 30,
        "attention_head_dim": 64,
        "num_attention_heads": 30,
    },
    "wan_transformer": {
        "num_layers": 40,
        "attention_head_dim": 128,
        "num_attention_heads": 40,
        "ffn_dim": 13824,
    },
    "qwen_image_transformer": {
        "num_layers": 60,
        "attention_head_dim": 128,
        "num_attention_heads": 24,
        "in_channels": 64,
        "out_channels": 16,
        "joint_attention_dim": 3584,
        "patch_size": 2,
    },
    "flux2_transformer": {
        "num_layers": 8,
        "num_single_layers": 48,
        "attention_head_dim": 128,
        "num_attention_heads": 48,
        "in_channels": 128,
        "joint_attention_dim": 15360,
        "mlp_ratio": 3.0,
        "guidance_embeds": True,
    },
    "ltx_transformer": {
        "num_layers": 28,
        "attention_head_dim": 64,
        "num_attention_heads": 32,
        "in_channels": 128,
        "out_channels": 128,
        "cross_attention_dim": 2048,
        "caption_channels": 4096,
    },
    "hunyuan_video_transformer": {
        "num_layers": 20,
        "num_single_layers": 40,
        "num_refiner_layers": 2,
        "attention_head_dim": 128,
        "num_attention_heads": 24,
        "in_channels": 16,
        "out_channels": 16,
        "patch_size": 2,
        "text_embed_dim": 4096,
        "pooled_projection_dim": 768,
        "guidance_embeds": True,
    },
}
"""What diffusers 0.42 takes for fields that a configuration leaves out."""
SEEING = (
    "added_kv_proj_dim",
    "image_dim",
    "ofs_embed_dim",
    "image_condition_type",
    "use_layer3d_rope",
)
"""Fields of networks that also see an image and are not traced."""
PLAIN_NUMBERS = ("cross_attention_dim",)
"""Fields that are traced where they are one number for all levels."""
LEVELS = {"CrossAttnDownBlock2D", "DownBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"}


def denoiser_config(config: dict[str, Any]) -> dict[str, Any] | None:
    """The configuration of a diffusers component as one that is traced; None for other classes and
    for levels of other kinds. Raises WorkloadFault for fields that contradict each other."""
    with contradictions():
        return _traced_form(config)


def _traced_form(config: dict[str, Any]) -> dict[str, Any] | None:
    kind = TRACED.get(str(config.get("_class_name")))
    levels = [*(config.get("down_block_types") or ()), *(config.get("up_block_types") or ())]
    joins = config.get("patch_size_t") and (
        kind == "cogvideox_transformer" or config["patch_size_t"] != 1
    )
    uneven = any(isinstance(config.get(field), list) for field in PLAIN_NUMBERS)
    if (
        kind is None
        or not set(map(str, levels)) <= LEVELS
        or joins
        or uneven
        or any(config.get(field) for field in SEEING)
    ):
        return None
    return {
        "model_type": kind,
        **USUAL[kind],
        **{name: value for name, value in config.items() if not name.startswith("_")},
    }
