"""What stands in for a network of which only its kind and its parameters are known: one of that size as most are built."""

from __future__ import annotations

from typing import Any

WIDTH_PER_LAYER = {"llama": 110.0, "bert": 50.0, "t5": 43.0, "whisper": 40.0, "vit": 45.0}
"""Channels over layers, which grow together (Llama 2 and 3: 102 to 128; BERT 64 and 43; T5 43; Whisper 40; ViT from 64 to 40)."""
MOST_LAYERS = 200
"""Beyond these no network is sought (a Llama of 1.2e12 parameters)."""
STANDS_IN = {
    "llm": "llama", "moe": "llama", "vlm": "llama", "encoder": "bert", "encoder_decoder": "t5", "asr": "whisper",
    "vit": "vit",
}  # fmt: skip
"""Kinds of networks and the architecture that stands in for each."""
GMACS_PER_MILLION = {"cnn": (224, 0.16), "detector": (640, 1.6), "segmenter": (512, 4.0)}
"""Edge of the images and 1e9 multiply-adds per million parameters: ResNet-50 has 4.1 for 25.6, YOLOv8m 39.5 for 25.9, PSPNet on
ResNet-50 178 for 49 million."""
DENOISERS = {"diffusion": "diffusion_transformer", "video_diffusion": "diffusion_transformer"}
"""Kinds that say what is made and not by which network."""


def sized_config(kind: str | None, params: float) -> dict[str, Any] | None:
    """Return the configuration of the network of `params` values that stands in for one of a kind, that of language models without
    one; None for kinds without layers of equal width."""
    family = STANDS_IN.get(kind or "llm")
    if family is None:
        return None
    sized = [_config(family, layers) for layers in range(1, MOST_LAYERS)]
    return min(sized, key=lambda config: abs(_params(config) - params))


def _config(family: str, layers: int) -> dict[str, Any]:
    """The network of so many layers; the heads of large ones can be shared by eight cards."""
    wide = layers * WIDTH_PER_LAYER[family]
    step = 1024 if wide > 3072 else 128
    hidden = max(128, step * round(wide / step))
    heads = hidden // (128 if family == "llama" else 64)
    if family == "llama":
        return {"model_type": family, "hidden_size": hidden, "intermediate_size": 7 * hidden // 2, "num_hidden_layers": layers,
            "num_attention_heads": heads, "num_key_value_heads": next(few for few in (8, 4, 2, 1) if heads % few == 0),
            "vocab_size": 128_256, "tie_word_embeddings": layers < 28}  # fmt: skip
    if family == "t5":
        return {"model_type": family, "d_model": hidden, "d_kv": 64, "d_ff": 4 * hidden, "num_layers": layers, "num_heads": heads,
            "vocab_size": 32_128}  # fmt: skip
    if family == "whisper":
        sides = {f"{side}_{field}": value for side in ("encoder", "decoder")
                 for field, value in (("layers", layers), ("attention_heads", heads), ("ffn_dim", 4 * hidden))}  # fmt: skip
        return {"model_type": family, "d_model": hidden, "vocab_size": 51_866, "num_mel_bins": 128, **sides}
    plain = {"model_type": family, "hidden_size": hidden, "intermediate_size": 4 * hidden, "num_hidden_layers": layers,
        "num_attention_heads": heads}  # fmt: skip
    return {**plain, "image_size": 224, "patch_size": 16} if family == "vit" else {**plain, "vocab_size": 30_522}


def _params(config: dict[str, Any]) -> float:
    """About the parameters of such a configuration: matrices and tables."""
    family = config["model_type"]
    hidden = float(config.get("hidden_size") or config["d_model"])
    layers = int(config.get("num_hidden_layers") or config.get("num_layers") or config["encoder_layers"])
    tables = float(config.get("vocab_size", 0) * hidden)
    if family == "llama":
        keys = 2 * hidden**2 * float(config["num_key_value_heads"]) / float(config["num_attention_heads"])
        layer = 2 * hidden**2 + keys + 3 * hidden * float(config["intermediate_size"])
        return layers * layer + tables * (1.0 if config["tie_word_embeddings"] else 2.0)
    squares = 28 if family in ("t5", "whisper") else 12
    return layers * squares * hidden**2 + tables
