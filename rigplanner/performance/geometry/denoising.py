"""Diffusion transformers: the arithmetic of one image or clip, over all its denoising steps."""

from typing import Any

from msgspec.structs import replace

from rigplanner.errors import WorkloadFault
from rigplanner.performance.geometry.shapes import (
    Geometry,
    Shape,
    asked_steps,
    pixels,
    transformer_shape,
)
from rigplanner.rig.workload import Workload
from rigplanner.workload.latents import latent_tokens

USUAL_EDGE, USUAL_CLIP, USUAL_FRAMES = 1024, 480 * 832, 81
"""Edge of an image, pixels of a frame and frames of a clip where a workload names none (defaults of
the pipelines in diffusers)."""
USUAL_STEPS, CLIP_STEPS = 28, 50
FEW_STEPS = {"schnell": 4, "turbo": 4, "klein": 4, "z-image": 9, "a14b": 40}
"""Steps by what a model's name holds (model cards; Wan2.2's own configurations)."""
CLIPS = ("wan", "hunyuanvideo", "cogvideox", "consisid", "ltx", "mochi", "allegro", "latte")
"""Beginnings of the slugs of models that make clips."""
DISTILLED = ("flux", "hunyuanvideo", "z-image")
"""Beginnings of the slugs of models with the guidance learnt: one pass per step, where others take
one with and one without the prompt (classifier-free guidance, Ho and Salimans 2022, arXiv
2207.12598)."""
DECODER_GFLOP_PER_MEGAPIXEL = 9.5e3
"""An image decoder in 2 x multiply-adds: 1,240 GMACs for 512 x 512 pixels (AutoencoderKL of Stable
Diffusion)."""
TEXT_TOKENS = 256
KIND = "dit"
"""Class of the speed model: large products like a language model's, not the convolutions of a
U-Net."""
WIDTHS_PER_LAYER = 14.0
"""Parameters of one block in squares of its width: attention 4, feed-forward 8, modulation and
norms 2."""


def is_denoiser(config: dict[str, Any] | None) -> bool:
    """Return whether a configuration is that of a diffusion transformer."""
    return bool(config) and str((config or {}).get("model_type", "")).casefold() == "dit"


def plain_geometry(params_m: float, source: str) -> Geometry:
    """Return the geometry of a diffusion transformer known by its parameters only: 40 blocks of the
    width that they come to."""
    hidden = max(128, 128 * round((params_m * 1e6 / 12 / 40) ** 0.5 / 128))
    return Geometry(
        kind=KIND,
        layers=max(1, round(params_m * 1e6 / (WIDTHS_PER_LAYER * hidden**2))),
        hidden=hidden,
        heads=hidden // 64,
        kv_heads=hidden // 64,
        head_dim=64,
        ffn=4 * hidden,
        ffn_matrices=2,
        vocab=0,
        causal=False,
        source=source,
        params_m=params_m,
    )


def denoiser_geometry(config: dict[str, Any], params_m: float | None, source: str) -> Geometry:
    """Return the geometry of a diffusion transformer told by its sizes; raise WorkloadFault naming
    the field that is missing."""
    hidden, layers = _size(config, "hidden_size"), _size(config, "num_hidden_layers")
    heads = _size(config, "num_attention_heads", max(1, hidden // 64))
    return Geometry(
        kind=KIND,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=_size(config, "num_key_value_heads", heads),
        head_dim=_size(config, "head_dim", hidden // heads),
        ffn=_size(config, "intermediate_size", 4 * hidden),
        ffn_matrices=2,
        vocab=0,
        causal=False,
        source=source,
        params_m=params_m,
    )


def _size(config: dict[str, Any], name: str, or_else: int = 0) -> int:
    value = config.get(name)
    if isinstance(value, int | float) and 0 < value < 1e9:
        return int(value)
    if not or_else:
        raise WorkloadFault(f"config: expected {name}, found {str(value)[:40]}.")
    return or_else


def denoised_shape(
    slug: str, form: Geometry, workload: Workload, config: dict[str, Any] | None = None
) -> Shape:
    """Return the shape of one image or clip: all tokens of the latent and the prompt, once per
    step, twice where guidance takes a pass of its own (both in one batch, so weights are read once
    per step), and the decoder. Training sees each sample once.

    Attention counts like other products: over thousands of tokens only fused kernels fit, which
    reach about the same rate (FlashAttention-2, arXiv 2307.08691: up to 0.73 of an A100's peak)."""
    clip = slug.startswith(CLIPS)
    area = pixels(workload.image_size) or (USUAL_CLIP if clip else USUAL_EDGE**2)
    frames = workload.frames or (USUAL_FRAMES if clip else 1)
    text_tokens = _size(config or {}, "text_tokens", TEXT_TOKENS)
    once = transformer_shape(slug, form, round(latent_tokens(slug, area, frames)) + text_tokens)
    training = (workload.task or "").startswith("train")
    called = f"{slug} {workload.model or ''}".casefold()
    steps = 1 if training else asked_steps(workload) or _usual_steps(called, clip)
    passes = steps * (1 if training or not _guided(called, workload) else 2)
    decoder = 0.0 if training else DECODER_GFLOP_PER_MEGAPIXEL * area * frames / 1e6
    return replace(
        once,
        unit="sample" if clip else "image",
        attention_gflop=0.0,
        gflop=(once.gflop + once.attention_gflop) * passes + decoder,
        elements_m=once.elements_m * passes,
        kernels=once.kernels * steps,
        steps=steps,
        kv_values=0.0,
        usual={"frames": f"{frames}"} if clip and not workload.frames else {},
    )


def _usual_steps(slug: str, clip: bool) -> int:
    few = next((steps for word, steps in FEW_STEPS.items() if word in slug), None)
    return few or (CLIP_STEPS if clip else USUAL_STEPS)


def _guided(slug: str, workload: Workload) -> bool:
    """Whether a step takes two passes: as the case's variant says (`guidance` of 1 or less: no),
    else by the model."""
    told = workload.variant.get("guidance")
    if isinstance(told, int | float):
        return told > 1
    return not slug.startswith(DISTILLED) and not any(word in slug for word in FEW_STEPS)
