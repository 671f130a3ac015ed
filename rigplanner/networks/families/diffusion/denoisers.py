"""Denoisers whose layers are traced: which diffusers classes those are, and their configuration
with the fields it leaves out."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.config.relatives import usual_denoiser
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
        **usual_denoiser(kind),
        **{name: value for name, value in config.items() if not name.startswith("_")},
    }
