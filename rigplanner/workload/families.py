"""From a Hugging Face configuration to the network on the tape."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from rigplanner.data import data_path
from rigplanner.workload import convnets
from rigplanner.workload.decoder import Decoder, Form, Mlp, Traits
from rigplanner.workload.encoder import Encoder, EncoderForm
from rigplanner.workload.net import Net
from rigplanner.workload.seq2seq import T5, Bart
from rigplanner.workload.vision import Vit

NEOX = {"qkv_proj": "query_key_value", "o_proj": "dense", "up_proj": "dense_h_to_4h", "down_proj": "dense_4h_to_h"}
TRAITS: dict[str, Traits] = {
    "llama": Traits(),
    "mistral": Traits(),
    "qwen2": Traits(qkv_bias=True),
    "qwen3": Traits(qk_norm="head"),
    "gemma": Traits(norm="rms_one", act="gelu", scaled_embedding=True),
    "gemma2": Traits(norm="rms_one", act="gelu", scaled_embedding=True, block="sandwich", capped_attention=True, capped_logits=True),
    "gemma3_text": Traits(norm="rms_one", act="gelu", scaled_embedding=True, block="sandwich", qk_norm="head"),
    "phi": Traits(names={"o_proj": "dense", "up_proj": "fc1", "down_proj": "fc2"}, norm="layer", block="parallel", qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="gelu_new", rope=0.5, head_bias=True),
    "phi3": Traits(projection="sliced", mlp="gated_fused"),
    "gpt2": Traits(names={"qkv_proj": "c_attn", "o_proj": "c_proj", "up_proj": "c_fc", "down_proj": "c_proj"}, norm="layer", projection="split", qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="gelu_new", rope=0.0, learned_positions=1024,
                   dropout=0.1, embedding_dropout=0.1, attention_dropout=0.1),
    "gpt_neox": Traits(names=NEOX, norm="layer", block="parallel_two", projection="split", qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="gelu", rope=0.25),
    "opt": Traits(names={"o_proj": "out_proj", "up_proj": "fc1", "down_proj": "fc2"}, norm="layer", qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="relu", rope=0.0, learned_positions=2050, dropout=0.1),
    "olmo": Traits(norm="layer_bare"),
    "olmo2": Traits(block="post", qk_norm="full"),
    "stablelm": Traits(norm="layer", rope=0.25),
    "starcoder2": Traits(names={"up_proj": "c_fc", "down_proj": "c_proj"}, norm="layer", qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="gelu"),
    "granite": Traits(scaled_embedding=True, scaled_residual=True, scaled_logits=True),
    "cohere": Traits(norm="layer_mean", block="parallel", scaled_logits=True),
    "glm": Traits(qkv_bias=True, rope=0.5, mlp="gated_fused"),
    "smollm3": Traits(),
}  # fmt: skip


def pick(config: dict[str, Any], *names: str, default: Any = None) -> Any:
    for name in names:
        if config.get(name) is not None:
            return config[name]
    return default


TIED_BY_DEFAULT = {
    "gpt2",
    "gemma",
    "gemma2",
    "gemma3_text",
    "opt",
    "bloom",
    "cohere",
    "falcon",
    "starcoder2",
    "gpt_neo",
    "gpt_bigcode",
    "mpt",
}


@cache
def defaults() -> dict[str, dict[str, Any]]:
    """What transformers takes for a field that a configuration leaves out, by model_type."""
    read = msgspec.json.decode((data_path("catalog") / "architectures" / "defaults.json").read_bytes())
    return read["defaults"]


def decoder_form(config: dict[str, Any]) -> Form:
    kind = config["model_type"]
    hidden = pick(config, "hidden_size", "n_embd")
    heads = pick(config, "num_attention_heads", "n_head", "num_heads")
    return Form(
        layers=pick(config, "num_hidden_layers", "n_layer", "num_layers"), hidden=hidden, heads=heads,
        kv_heads=pick(config, "num_key_value_heads", default=heads), head_dim=pick(config, "head_dim", default=hidden // heads),
        ffn=pick(config, "intermediate_size", "ffn_dim", "n_inner", default=4 * hidden), vocab=config["vocab_size"],
        tied=pick(config, "tie_word_embeddings", default=kind in TIED_BY_DEFAULT), traits=TRAITS[kind],
    )  # fmt: skip


ENCODERS = {
    "bert": {}, "electra": {}, "roberta": {}, "xlm-roberta": {},
    "distilbert": {"names": ("q_lin", "k_lin", "v_lin", "out_lin", "lin1", "lin2")},
}  # fmt: skip


def encoder_form(config: dict[str, Any]) -> EncoderForm:
    kind, hidden = config["model_type"], pick(config, "hidden_size", "dim")
    dropout = pick(config, "hidden_dropout_prob", "dropout", default=0.0)
    return EncoderForm(
        layers=pick(config, "num_hidden_layers", "n_layers"), hidden=hidden, heads=pick(config, "num_attention_heads", "n_heads"),
        ffn=pick(config, "intermediate_size", "hidden_dim"), vocab=config["vocab_size"], embedding=pick(config, "embedding_size", default=hidden),
        positions=config["max_position_embeddings"], token_types=config.get("type_vocab_size") or 0, dropout=dropout,
        attention_dropout=pick(config, "attention_probs_dropout_prob", "attention_dropout", default=0.0), act="gelu",
        **ENCODERS[kind],
    )  # fmt: skip


VISION: dict[str, Callable[[Net, dict[str, Any]], Any]] = {
    "resnet": convnets.resnet, "regnet": convnets.regnet, "convnext": convnets.convnext, "convnextv2": convnets.convnext,
    "mobilenet_v1": convnets.mobilenet_v1, "mobilenet_v2": convnets.mobilenet_v2,
    "vit": Vit, "deit": Vit, "beit": Vit, "dinov2": Vit, "t5": T5, "bart": Bart, "mbart": Bart, "pegasus": Bart,
}  # fmt: skip


def builder(config: dict[str, Any], head: str = "causal_lm") -> Callable[[Net], Any]:
    kind = config["model_type"]
    full = {**defaults().get(kind, {}), **config}
    if kind in VISION:
        return lambda net: VISION[kind](net, full)
    if kind in ENCODERS:
        encoder = encoder_form(full)
        return lambda net: Encoder(net, encoder)
    if kind not in TRAITS:
        raise NotImplementedError(kind)
    form = decoder_form(full)
    return lambda net: Decoder(net, form, Mlp)
