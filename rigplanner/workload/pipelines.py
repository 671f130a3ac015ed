"""A diffusers pipeline: denoiser, text encoders and image decoder from its model_index.json and
what lies beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rigplanner.errors import WorkloadFault
from rigplanner.networks.counting import parameters_of
from rigplanner.networks.families.diffusion.denoisers import denoiser_config

DENOISERS = ("transformer", "unet", "transformer_2", "prior")
DECODER_PARAMS = {
    "AutoencoderKL": 83.7e6,
    "AutoencoderKLWan": 126.9e6,
    "AutoencoderKLCogVideoX": 215.6e6,
}
"""Parameters of image decoders by class (their published weights)."""
UNET_PARAMS = {768: 859.5e6, 1024: 865.9e6, 2048: 2567.5e6}
"""Parameters of Stable Diffusion 1, 2 and XL by the width of their cross attention (published
weights)."""
JOINT_LAYER, SINGLE_LAYER = 36.0, 15.0
"""Weights of a block in squares of its width: two streams of attention (4), feed-forward (8) and
modulation (6); one stream with both in parallel (12) and modulation (3). Esser et al. 2024, arXiv
2403.03206; they give 11.9e9 for Flux and 2.0e9 for SD3."""
PLAIN_LAYER, CROSS_ATTENTION = 12.0, 4.0
MOST = {
    "num_layers": 2_000,
    "num_single_layers": 2_000,
    "num_attention_heads": 4_096,
    "attention_head_dim": 8_192,
}

Size = Callable[[Path], int | None]
Read = Callable[[Path], dict[str, Any] | None]


def pipeline_fields(folder: Path, index: dict[str, Any], size: Size, read: Read) -> dict[str, Any]:
    """The workload of a pipeline: `size` gives a component's parameters by its weights, `read` its
    configuration. Raises WorkloadFault where there is no denoiser, or where nothing tells its size.
    """
    parts = {
        name: str(value[-1])
        for name, value in index.items()
        if isinstance(value, list)
        and len(value) == 2
        and value[-1] is not None
        and Path(name).name == name
    }
    denoisers = [name for name in DENOISERS if name in parts]
    if not denoisers:
        named = str(index.get("_class_name", "no class"))[:60]
        raise WorkloadFault(
            f"{folder / 'model_index.json'}: expected a transformer or unet among the components,"
            f" found {named}."
        )
    main = denoisers[0]
    config = read(folder / main) or {}
    shape = _shape(folder / main, config)
    traced = denoiser_config(config)
    counted = parameters_of(traced) if traced is not None else 0.0
    params = size(folder / main) or counted or _denoiser_params(folder / main, config, shape)
    components = {name: float(size(folder / name) or 0) for name in denoisers[1:]}
    components |= {
        name: _other_params(name, kind, folder / name, size, read)
        for name, kind in parts.items()
        if name.startswith(("text_encoder", "vae", "image_encoder"))
    }
    shape = shape if traced is None else {**shape, "denoiser": traced}
    kind = "diffusion_unet" if main == "unet" else "diffusion_transformer"
    return {
        "model": folder.resolve().name,
        "kind": kind,
        "config": shape,
        "params_m": params / 1e6,
        "components": {name: value / 1e6 for name, value in components.items() if value},
        "stack": "diffusers",
    }


def _shape(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    for field, most in MOST.items():
        value = config.get(field)
        if isinstance(value, int) and not isinstance(value, bool) and not 0 <= value <= most:
            raise WorkloadFault(
                f"{folder / 'config.json'}: {field}: expected a number up to {most}, found {value}."
            )
    heads, width, layers = (
        config.get("num_attention_heads"),
        config.get("attention_head_dim"),
        config.get("num_layers"),
    )
    if not (
        isinstance(heads, int)
        and isinstance(width, int)
        and isinstance(layers, int)
        and heads
        and width
        and layers
    ):
        return {"model_type": "unet" if "block_out_channels" in config else "dit"}
    single = config.get("num_single_layers")
    single = single if isinstance(single, int) else 0
    hidden = heads * width
    ffn = config.get("ffn_dim")
    return {
        "model_type": "dit",
        "hidden_size": hidden,
        "num_hidden_layers": layers + single,
        "joint_layers": layers if single else 0,
        "num_attention_heads": heads,
        "intermediate_size": ffn if isinstance(ffn, int) else 4 * hidden,
    }


def _denoiser_params(folder: Path, config: dict[str, Any], shape: dict[str, Any]) -> float:
    hidden, layers = shape.get("hidden_size"), shape.get("num_hidden_layers")
    if not hidden or not layers:
        width = config.get("cross_attention_dim")
        if isinstance(width, int) and width in UNET_PARAMS:
            return float(UNET_PARAMS[width])
        raise WorkloadFault(
            f"{folder}: expected weights (*.safetensors) or a configuration that tells their"
            " number, found neither."
        )
    square, named = float(hidden) ** 2, str(config.get("_class_name", ""))
    joint, ffn = int(shape["joint_layers"]), float(shape["intermediate_size"])
    if joint or "SD3" in named or "joint_attention_dim" in config:
        paired = float(joint or layers)
        return paired * JOINT_LAYER * square + (float(layers) - paired) * SINGLE_LAYER * square
    cross = CROSS_ATTENTION if "cross_attention_dim" in config or "text_dim" in config else 0.0
    per_layer: float = (PLAIN_LAYER - 8 + cross) * square + 2.0 * float(hidden) * ffn
    return float(layers) * per_layer


def _other_params(name: str, kind: str, folder: Path, size: Size, read: Read) -> float:
    known = size(folder)
    if known:
        return float(known)
    if name.startswith("vae"):
        return DECODER_PARAMS.get(kind, DECODER_PARAMS["AutoencoderKL"])
    config = read(folder)
    if config is None:
        raise WorkloadFault(
            f"{folder}: expected weights or a config.json of the component {name} ({kind[:60]}),"
            " found neither."
        )
    return _encoder_params(folder, config)


def _encoder_params(folder: Path, config: dict[str, Any]) -> float:
    """A text encoder by its sizes: embedding, four projections of attention, two or three matrices
    of the feed-forward part."""
    inner = config.get("text_config")
    config = inner if isinstance(inner, dict) else config
    hidden = _first(config, "hidden_size", "d_model")
    layers, ffn = (
        _first(config, "num_hidden_layers", "num_layers"),
        _first(config, "intermediate_size", "d_ff"),
    )
    vocab, heads = _first(config, "vocab_size"), _first(config, "num_attention_heads", "num_heads")
    if not (hidden and layers and ffn and vocab and heads):
        raise WorkloadFault(
            f"{folder / 'config.json'}: expected the sizes of a text encoder, found"
            f" {str(sorted(config))[:60]}."
        )
    width = _first(config, "d_kv", "head_dim") or hidden // heads
    groups = _first(config, "num_key_value_heads") or heads
    gated = (
        "gated" in str(config.get("feed_forward_proj", "")) or config.get("hidden_act") == "silu"
    )
    attention = hidden * width * (2 * heads + 2 * groups)
    return float(vocab * hidden + layers * (attention + (3 if gated else 2) * hidden * ffn))


def _first(config: dict[str, Any], *names: str) -> int:
    for name in names:
        value = config.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 100_000_000:
            return value
    return 0
