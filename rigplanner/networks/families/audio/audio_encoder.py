"""Parameters of the part of a language model that hears, and of what joins it to the text, from its
configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.networks.config.config import defaults, pick

Sizes = dict[str, Any]
MOST_WIDTH, MOST_LAYERS = 100_000, 1_000


def _linear(inputs: int, outputs: int, bias: bool = True) -> int:
    return inputs * outputs + outputs * bias


def _layers(width: int, ffn: int, layers: int, key_bias: bool) -> int:
    """Layers of Whisper's encoder (whose keys have no bias) and the norm after them."""
    attention = 3 * _linear(width, width) + _linear(width, width, key_bias)
    return layers * (attention + _linear(width, ffn) + _linear(ffn, width) + 4 * width) + 2 * width


def _whisper(told: Sizes) -> int:
    """Two convolutions over the bands, a table of positions, and the layers of Whisper's
    encoder."""
    width = int(told.get("d_model") or told["hidden_size"])
    ffn = int(told.get("encoder_ffn_dim") or told["intermediate_size"])
    layers = int(told.get("encoder_layers") or told["num_hidden_layers"])
    stem = _linear(3 * int(told["num_mel_bins"]), width) + _linear(3 * width, width)
    return stem + int(told["max_source_positions"]) * width + _layers(width, ffn, layers, False)


def _qwen3(told: Sizes) -> int:
    """Three convolutions over bands and frames, a linear layer, layers, and two linear layers at
    the end (Qwen3-ASR)."""
    width, inner, bands = (
        int(told["d_model"]),
        int(told["downsample_hidden_size"]),
        int(told["num_mel_bins"]),
    )
    for _ in range(3):
        bands = (bands + 1) // 2
    stem = _linear(9, inner) + 2 * _linear(9 * inner, inner) + _linear(inner * bands, width, False)
    out = _linear(width, width) + _linear(width, int(told["output_dim"]))
    return (
        stem + _layers(width, int(told["encoder_ffn_dim"]), int(told["encoder_layers"]), True) + out
    )


def _one(config: Sizes, told: Sizes, text: int) -> int:
    return _linear(told["d_model"], text)


def _two(config: Sizes, told: Sizes, text: int) -> int:
    bias = bool(config.get("projector_bias", True))
    return _linear(told["hidden_size"], text, bias) + _linear(text, text, bias)


def _joined(config: Sizes, told: Sizes, text: int) -> int:
    """Neighbours in time side by side, two linear layers without bias (Voxtral)."""
    return _linear(told["intermediate_size"], text, False) + _linear(text, text, False)


def _none(config: Sizes, told: Sizes, text: int) -> int:
    return 0


EARS: dict[str, tuple[str, Callable[[Sizes], int], Callable[[Sizes, Sizes, int], int]]] = {
    "qwen2_audio": ("qwen2_audio_encoder", _whisper, _one),
    "voxtral": ("voxtral_encoder", _whisper, _joined),
    "audioflamingo3": ("audioflamingo3_encoder", _whisper, _two),
    "musicflamingo": ("audioflamingo3_encoder", _whisper, _two),
    "qwen3_asr": ("qwen3_asr_encoder", _qwen3, _none),
}
"""By model_type of the whole: the part that hears, and what joins it to the text (transformers
5.23)."""


WITHIN = {"phi4_multimodal"}
"""Language models whose trace holds the parts that see and hear."""
SOUND_PARTS = ("audio_config", "encoder_config", "audio", "audio_encoder_config", "speech_config")


def hearing_params(config: Sizes, text: int) -> tuple[int, bool]:
    """Parameters of the part that hears and of what joins it to a text of that width, and whether
    they are known: of one that is not, the layers as Whisper has them, by the sizes that it tells;
    0 without one."""
    told = next(
        (
            config[name]
            for name in SOUND_PARTS
            if isinstance(config.get(name), dict) and config[name]
        ),
        None,
    )
    kind = str(config.get("model_type"))
    if kind not in EARS:
        reads = config.get("text_config") or config.get("vocab_size")
        return (0, True) if kind in WITHIN or told is None else (_like_whisper(told), not reads)
    part, count, join = EARS[kind]
    told = {**(defaults().get(part) or {}), **(told or {})}
    return count(told) + join(config, told, text), True


def _like_whisper(told: Sizes) -> int:
    """Layers of an unknown part that hears; 0 where it does not tell its sizes."""
    inner = next(
        (
            one
            for name, one in told.items()
            if name.endswith("encoder_config") and isinstance(one, dict)
        ),
        told,
    )
    names = (
        ("d_model", "hidden_size", "n_state"),
        ("encoder_layers", "num_hidden_layers", "n_layer", "num_layers"),
    )
    width, layers = (pick(inner, *one) for one in names)
    if not (
        type(width) is int
        and type(layers) is int
        and 0 < width <= MOST_WIDTH
        and 0 < layers <= MOST_LAYERS
    ):
        return 0
    ffn = pick(inner, "encoder_ffn_dim", "intermediate_size")
    return _layers(
        width, ffn if type(ffn) is int and 0 < ffn <= 10 * MOST_WIDTH else 4 * width, layers, False
    )


COUNTED = {
    "text_config",
    "vision_config",
    "audio_config",
    "encoder_config",
    "quantization_config",
    "generation_config",
}
"""Parts that are counted, or that hold no parameters."""


PARTED = {
    "blip-2",
    "clvp",
    "deepseek_vl_hybrid",
    "flava",
    "fun_asr_nano",
    "glm_image",
    "granite4_vision",
    "granite_speech",
    "granite_speech_plus",
    "idefics2",
    "instructblip",
    "instructblipvideo",
    "janus",
    "molmo2",
    "nemo_speechlm",
    "pe_audio_video",
    "pe_video",
    "vibevoice",
    "vibevoice_asr",
    "florence2",
}
"""Models with a part that is known nowhere here and that transformers makes whether a configuration
tells of it or not."""


def uncounted(config: Sizes, *names: str) -> bool:
    """Whether a configuration of several parts tells one of these names, or a part that is known
    nowhere here (a resampler)."""
    if not isinstance(config.get("text_config"), dict):
        return False
    if not names and config.get("model_type") in PARTED:
        return True
    asked = names or tuple(key for key in config if key.endswith("_config") and key not in COUNTED)
    return any(isinstance(config.get(name), dict) and bool(config[name]) for name in asked)
