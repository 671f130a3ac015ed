"""From a Hugging Face configuration to the network on the tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.workload import convnets
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.attention import Form, LatentForm, Traits
from rigplanner.workload.config import SAME_AS, full_config, pick
from rigplanner.workload.deberta import Deberta
from rigplanner.workload.decoder import Decoder, Mlp
from rigplanner.workload.efficient import efficientnet, poolformer
from rigplanner.workload.encoder import Encoder, EncoderForm
from rigplanner.workload.hierarchical import Pvt2, Segformer, Swin
from rigplanner.workload.modernbert import ModernBert
from rigplanner.workload.moe import ExpertForm, Experts
from rigplanner.workload.net import Net
from rigplanner.workload.seq2seq import T5, Bart
from rigplanner.workload.swinv2 import Swin2
from rigplanner.workload.vision import Vit

NEOX = {"qkv_proj": "query_key_value", "o_proj": "dense", "up_proj": "dense_h_to_4h", "down_proj": "dense_4h_to_h"}
TRAITS: dict[str, Traits] = {
    "llama": Traits(),
    "mistral": Traits(),
    "qwen2": Traits(qkv_bias=True),
    "qwen3": Traits(qk_norm="head"),
    "gemma": Traits(norm="rms_one", act="gelu", scaled_embedding=True),
    "gemma2": Traits(norm="rms_one", act="gelu", scaled_embedding=True, block="sandwich", capped_attention=True,
    capped_logits=True),
    "gemma3_text": Traits(norm="rms_one", act="gelu", scaled_embedding=True, block="sandwich", qk_norm="head"),
    "phi": Traits(names={"o_proj": "dense", "up_proj": "fc1", "down_proj": "fc2"}, norm="layer", block="parallel",
    qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="gelu_new", rope=0.5, head_bias=True),
    "phi3": Traits(projection="sliced", mlp="gated_fused"),
    "gpt2": Traits(names={"qkv_proj": "c_attn", "o_proj": "c_proj", "up_proj": "c_fc", "down_proj": "c_proj"}, norm="layer",
    projection="split", qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="gelu_new", rope=0.0,
    learned_positions=1024,
                   dropout=0.1, embedding_dropout=0.1, attention_dropout=0.1),
    "gpt_neox": Traits(names=NEOX, norm="layer", block="parallel_two", projection="split", qkv_bias=True, out_bias=True,
    mlp="plain", mlp_bias=True, act="gelu", rope=0.25),
    "opt": Traits(names={"o_proj": "out_proj", "up_proj": "fc1", "down_proj": "fc2"}, norm="layer", qkv_bias=True,
    out_bias=True, mlp="plain", mlp_bias=True, act="relu", rope=0.0, learned_positions=2050, dropout=0.1),
    "olmo": Traits(norm="layer_bare"),
    "olmo2": Traits(block="post", qk_norm="full"),
    "stablelm": Traits(norm="layer", rope=0.25),
    "starcoder2": Traits(names={"up_proj": "c_fc", "down_proj": "c_proj"}, norm="layer", qkv_bias=True, out_bias=True,
    mlp="plain", mlp_bias=True, act="gelu"),
    "granite": Traits(scaled_embedding=True, scaled_residual=True, scaled_logits=True),
    "cohere": Traits(norm="layer_mean", block="parallel", scaled_logits=True),
    "glm": Traits(qkv_bias=True, rope=0.5, mlp="gated_fused"),
    "smollm3": Traits(),
    "mixtral": Traits(),
    "qwen2_moe": Traits(qkv_bias=True),
    "qwen3_moe": Traits(qk_norm="head"),
    "gpt_oss": Traits(qkv_bias=True, out_bias=True, sinks=True),
    "deepseek_v3": Traits(latent=True),
    "falcon": Traits(names=NEOX, norm="layer", block="parallel", projection="split", mlp="plain", act="gelu", broadcast_heads=True),
    "gptj": Traits(names={"o_proj": "out_proj", "up_proj": "fc_in", "down_proj": "fc_out"}, norm="layer", block="parallel",
    mlp="plain", mlp_bias=True,
                   act="gelu_new", rope=0.25, head_bias=True),
    "gpt_neo": Traits(names={"o_proj": "out_proj", "up_proj": "c_fc", "down_proj": "c_proj"}, norm="layer", out_bias=True,
    mlp="plain", mlp_bias=True,
                      act="gelu_new", rope=0.0, learned_positions=2048, eager_only=True),
    "bloom": Traits(names=NEOX, norm="layer", projection="split", qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True,
    act="gelu", rope=0.0,
                    eager_only=True, embedding_norm=True),
    "mpt": Traits(norm="layer_plain", projection="split", mlp="plain", act="gelu", rope=0.0),
    "gpt_bigcode": Traits(names={"qkv_proj": "c_attn", "o_proj": "c_proj", "up_proj": "c_fc", "down_proj": "c_proj"},
    norm="layer", projection="split",
                          qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="gelu", rope=0.0, learned_positions=1024,
                          dropout=0.1, embedding_dropout=0.1, attention_dropout=0.1),
    "apertus": Traits(qk_norm="head", mlp="plain", act="gelu"),
    "arcee": Traits(mlp="plain", act="relu"),
}  # fmt: skip


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


def decoder_form(config: dict[str, Any], kind: str) -> Form:
    """The sizes of a decoder whose blocks are those of the family `kind`."""
    hidden = pick(config, "hidden_size", "n_embd", "d_model")
    heads = pick(config, "num_attention_heads", "n_head", "num_heads", "n_heads")
    kv_heads = pick(
        config,
        "num_key_value_heads",
        "num_kv_heads",
        default=1 if config.get("multi_query") and not config.get("new_decoder_architecture") else heads,
    )
    ffn = pick(config, "intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", default=4 * (hidden or 0))
    for field, value in (("hidden_size", hidden), ("num_attention_heads", heads), ("vocab_size", config.get("vocab_size"))):
        if not isinstance(value, int):
            raise WorkloadFault(f"config.{field}: expected a whole number, found {value!r}.")
    traits = TRAITS[kind]
    positions = pick(config, "n_positions", "max_position_embeddings", default=traits.learned_positions)
    if traits.learned_positions:
        traits = structs.replace(traits, learned_positions=positions + (2 if kind == "opt" else 0))
    return Form(
        layers=pick(config, "num_hidden_layers", "n_layer", "num_layers", "n_layers"), hidden=hidden, heads=heads,
            kv_heads=kv_heads,
        head_dim=pick(config, "head_dim", default=hidden // heads), ffn=ffn // 2 if config["model_type"] == "qwen" else ffn,
            vocab=config["vocab_size"],
        tied=bool(pick(config, "tie_word_embeddings", default=kind in TIED_BY_DEFAULT)), traits=traits, latent=latent_form(config),
    )  # fmt: skip


def latent_form(config: dict[str, Any]) -> LatentForm | None:
    """The sizes of multi-head latent attention, or None."""
    if not config.get("kv_lora_rank"):
        return None
    return LatentForm(query_rank=config.get("q_lora_rank") or 0, value_rank=config["kv_lora_rank"], plain=pick(config,
        "qk_nope_head_dim", default=128),
                      turned=pick(config, "qk_rope_head_dim", default=64), value=pick(config, "v_head_dim",
                          default=128))  # fmt: skip


def expert_form(config: dict[str, Any]) -> ExpertForm | None:
    """The experts of a configuration, or None."""
    experts = pick(config, "num_experts", "num_local_experts", "n_routed_experts")
    if not experts:
        return None
    ffn = pick(config, "moe_intermediate_size", "intermediate_size")
    shared = config.get("shared_expert_intermediate_size") or (config.get("n_shared_experts") or 0) * ffn
    return ExpertForm(experts=experts, used=pick(config, "num_experts_per_tok", default=2), ffn=ffn, shared_ffn=shared,
                      shared_gate=bool(config.get("shared_expert_intermediate_size")),
                          dense_layers=config.get("first_k_dense_replace") or 0,
                      biased=config["model_type"] == "gpt_oss")  # fmt: skip


ENCODERS: dict[str, dict[str, Any]] = {
    "bert": {}, "electra": {}, "roberta": {}, "xlm-roberta": {},
    "albert": {"shared_layers": True},
    "distilbert": {"names": ("q_lin", "k_lin", "v_lin", "out_lin", "lin1", "lin2")},
}  # fmt: skip


def encoder_form(config: dict[str, Any], kind: str) -> EncoderForm:
    """The sizes of an encoder whose blocks are those of the family `kind`."""
    hidden = pick(config, "hidden_size", "dim")
    dropout = pick(config, "hidden_dropout_prob", "dropout", default=0.0)
    return EncoderForm(
        layers=pick(config, "num_hidden_layers", "n_layers"), hidden=hidden, heads=pick(config, "num_attention_heads", "n_heads"),
        ffn=pick(config, "intermediate_size", "hidden_dim"), vocab=config["vocab_size"], embedding=pick(config,
            "embedding_size", default=hidden),
        positions=config["max_position_embeddings"], token_types=config.get("type_vocab_size") or 0, dropout=dropout,
        attention_dropout=pick(config, "attention_probs_dropout_prob", "attention_dropout", default=0.0),
        act="gelu_new" if kind == "albert" else "gelu",
        **ENCODERS[kind],
    )  # fmt: skip


VISION: dict[str, Callable[[Net, dict[str, Any]], Any]] = {
    "resnet": convnets.resnet, "regnet": convnets.regnet, "convnext": convnets.convnext, "convnextv2": convnets.convnext,
    "mobilenet_v1": convnets.mobilenet_v1, "mobilenet_v2": convnets.mobilenet_v2,
    "vit": Vit, "deit": Vit, "beit": Vit, "dinov2": Vit, "swin": Swin, "segformer": Segformer, "t5": T5, "bart": Bart,
    "mbart": Bart, "pegasus": Bart, "modernbert": ModernBert, "deberta-v2": Deberta, "swinv2": Swin2, "pvt_v2": Pvt2,
    "efficientnet": efficientnet, "poolformer": poolformer,
}  # fmt: skip


def builder(config: dict[str, Any], head: str = "causal_lm") -> Callable[[Net], Any]:
    full = full_config(config)
    kind = SAME_AS.get(full["model_type"], full["model_type"])
    if kind in VISION:
        return lambda net: VISION[kind](net, {**full, "model_type": kind})
    if kind in ENCODERS:
        encoder = encoder_form(full, kind)
        return lambda net: Encoder(net, encoder)
    if kind not in TRAITS:
        raise WorkloadFault(f"config.model_type: the architecture '{kind}' is not known.")
    form = decoder_form(full, kind)
    experts = expert_form(full)
    if experts is None:
        return lambda net: Decoder(net, form)
    return lambda net: Decoder(
        net, form, lambda net, form, at: Mlp(net, form) if at < experts.dense_layers else Experts(net, form, experts)
    )
