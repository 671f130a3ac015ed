"""What stands in for a network of which only its kind and its parameters are known: one of that
size as most are built."""

from __future__ import annotations

from math import log
from typing import Any

WIDTH_PER_LAYER = {"llama": 110.0, "bert": 50.0, "t5": 43.0, "whisper": 40.0, "vit": 45.0}
"""Channels over layers, which grow together (Llama 2 and 3: 102 to 128; BERT 64 and 43; T5 43;
Whisper 40; ViT from 64 to 40)."""
WIDTHS = (*range(128, 3072, 128), *range(3072, 20_481, 1024))
"""Channels that are tried: those of large networks give heads that eight cards can share."""
SQUARES = {"bert": 12, "t5": 28, "whisper": 28, "vit": 12}
"""Matrices of a layer, or of one on either side, in squares of the width; Llama's depend on its
keys and its gate (3.5 times as wide, Llama 3)."""
VOCABULARY = {"llama": 128_256, "bert": 30_522, "t5": 32_128, "whisper": 51_866, "vit": 0}
TIED_BELOW = 3.5e9
"""Parameters below which language models write with the table that they read with (Llama 3.2 and
Qwen 2.5 of 3B do, those of 7B and more do not)."""
STANDS_IN = {
    "llm": "llama",
    "moe": "llama",
    "vlm": "llama",
    "encoder": "bert",
    "encoder_decoder": "t5",
    "asr": "whisper",
    "vit": "vit",
}
"""Kinds of networks and the architecture that stands in for each."""
GMACS_PER_MILLION = {"cnn": (224, 0.17), "detector": (640, 1.5), "segmenter": (512, 3.5)}
"""Edge of the images and 1e9 multiply-adds per million parameters: the medians of the zoo's 604, 93
and 20 networks that list both (eight in ten lie from 0.07 to 0.25, 0.8 to 2.4 and 1.7 to 4.1)."""
DENOISERS = {"diffusion": "diffusion_transformer", "video_diffusion": "diffusion_transformer"}
"""Kinds that say what is made and not by which network."""


def sized_config(kind: str | None, params: float) -> dict[str, Any] | None:
    """Return the configuration of the network of `params` values that stands in for one of a kind,
    that of language models without one; None for kinds without layers of equal width."""
    family = STANDS_IN.get(kind or "llm")
    if family is None:
        return None
    made = [_config(family, hidden, params) for hidden in WIDTHS]
    return min(
        made, key=lambda config: abs(log(_width(config) / _depth(config) / WIDTH_PER_LAYER[family]))
    )


def _config(family: str, hidden: int, params: float) -> dict[str, Any]:
    """The network of this width with as many layers as come to its parameters."""
    heads = max(1, hidden // (128 if family == "llama" else 64))
    few = next(few for few in (8, 4, 2, 1) if heads % few == 0)
    squares = 2 + 2 * few / heads + 3 * 3.5 if family == "llama" else SQUARES[family]
    tied = family != "llama" or params < TIED_BELOW
    tables = VOCABULARY[family] * hidden * (1 if tied else 2)
    layers = max(1, round((params - tables) / (squares * hidden**2)))
    made = {"model_type": family, **_FIELDS.get(family, _encoder)(hidden, layers, heads)}
    if family == "llama":
        made |= {"num_key_value_heads": few, "tie_word_embeddings": tied}
    return made if family == "vit" else {**made, "vocab_size": VOCABULARY[family]}


def _llama(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    return {
        "hidden_size": hidden,
        "intermediate_size": 7 * hidden // 2,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
    }


def _t5(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    return {
        "d_model": hidden,
        "d_kv": 64,
        "d_ff": 4 * hidden,
        "num_layers": layers,
        "num_heads": heads,
    }


def _whisper(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    sides = {
        f"{side}_{field}": value
        for side in ("encoder", "decoder")
        for field, value in (
            ("layers", layers),
            ("attention_heads", heads),
            ("ffn_dim", 4 * hidden),
        )
    }
    return {"d_model": hidden, "num_mel_bins": 128, **sides}


def _encoder(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    return {
        "hidden_size": hidden,
        "intermediate_size": 4 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
    }


def _vit(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    return {**_encoder(hidden, layers, heads), "image_size": 224, "patch_size": 16}


_FIELDS = {"llama": _llama, "t5": _t5, "whisper": _whisper, "vit": _vit}
"""Fields of a configuration by family, from width, layers and heads; others are encoders."""


def _width(config: dict[str, Any]) -> float:
    return float(config.get("hidden_size") or config["d_model"])


def _depth(config: dict[str, Any]) -> float:
    return float(
        config.get("num_hidden_layers") or config.get("num_layers") or config["encoder_layers"]
    )
