"""Configurations as repositories hold them: older names, families with code of their own, parts
under names of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import defaults
from rigplanner.networks.config.older_configs import of_today
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.readers import model_fields


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


BLOOM = {
    "model_type": "bloom",
    "n_embed": 14336,
    "n_layer": 70,
    "num_attention_heads": 112,
    "vocab_size": 250880,
}
FALCON = {
    "model_type": "RefinedWeb",
    "hidden_size": 8192,
    "n_head": 128,
    "n_head_kv": 8,
    "n_layer": 60,
    "bias": False,
    "parallel_attn": True,
    "alibi": False,
    "vocab_size": 65024,
}
REPLIT = {
    "model_type": "mpt",
    "d_model": 3072,
    "n_heads": 24,
    "n_layers": 32,
    "vocab_size": 32768,
    "expansion_ratio": 4,
    "no_bias": True,
    "attn_config": {"attn_type": "grouped_query_attention", "kv_n_heads": 8},
}
CHATGLM = {
    "model_type": "chatglm",
    "hidden_size": 4096,
    "inner_hidden_size": 16384,
    "num_attention_heads": 32,
    "num_layers": 28,
    "vocab_size": 130528,
}
PHI = {
    "model_type": "mixformer-sequential",
    "n_embd": 2560,
    "n_head": 32,
    "n_inner": None,
    "n_layer": 32,
    "n_positions": 2048,
    "rotary_dim": 32,
    "tie_word_embeddings": False,
    "vocab_size": 51200,
}
QWEN_VL = {
    "model_type": "qwen",
    "hidden_size": 4096,
    "intermediate_size": 22016,
    "kv_channels": 128,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
    "visual": {
        "layers": 48,
        "width": 1664,
        "mlp_ratio": 4.9231,
        "patch_size": 14,
        "image_size": 448,
    },
}
RUGPT = {
    "model_type": "rugpt3xl",
    "vocab_size": 50264,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 8192,
    "hidden_act": "gelu_new",
    "tie_word_embeddings": False,
}

OPT = {
    "model_type": "opt",
    "d_model": 2048,
    "ffn_dim": 8192,
    "num_attention_heads": 32,
    "num_hidden_layers": 24,
    "vocab_size": 50272,
    "word_embed_proj_dim": 2048,
    "max_position_embeddings": 2048,
}
MOSS = {
    "model_type": "moss",
    "n_embd": 6144,
    "n_head": 24,
    "n_inner": None,
    "n_layer": 34,
    "n_positions": 2048,
    "rotary_dim": 64,
    "tie_word_embeddings": False,
    "vocab_size": 107008,
}


@pytest.mark.parametrize(
    ("config", "params", "traced"),
    [
        (BLOOM, 176_247e6, True),
        (FALCON, 41_303e6, True),
        (REPLIT, 3_322e6, False),
        (CHATGLM, 6_173e6, False),
        (PHI, 2_780e6, False),
        (QWEN_VL, 9_600e6, False),
        (RUGPT, 1_414e6, False),
        (OPT, 1_316e6, True),
        (MOSS, 16_717e6, False),
    ],
)
def test_a_published_model_has_its_published_parameters(
    config: dict[str, Any], params: float, traced: bool, zoo: Zoo
) -> None:
    network = resolve(Workload(config=config, task="inference"), zoo)
    assert network.params == pytest.approx(params, rel=2e-3)
    assert (network.relative is None) == traced


def test_a_part_that_reads_text_is_found_under_another_name(zoo: Zoo) -> None:
    text = {
        "model_type": "mistral",
        "hidden_size": 512,
        "intermediate_size": 1024,
        "num_attention_heads": 8,
        "num_hidden_layers": 4,
        "num_key_value_heads": 2,
        "vocab_size": 1000,
    }
    tower = {
        "hidden_size": 256,
        "num_hidden_layers": 2,
        "patch_size": 14,
        "image_size": 224,
        "intermediate_size": 1024,
    }
    alone = resolve(Workload(config=text, task="inference"), zoo)
    whole = resolve(
        Workload(
            config={"model_type": "own_chat", "llm_config": text, "vision_config": tower},
            task="inference",
        ),
        zoo,
    )
    assert alone.relative is None
    assert whole.relative == "own_chat"
    assert whole.params == alone.params + whole.side_params
    assert whole.side_params > 1e6


def test_a_component_of_diffusers_says_how_it_is_stored_or_is_refused_by_name(
    tmp_path: Path,
) -> None:
    flux = {
        "_class_name": "FluxTransformer2DModel",
        "num_layers": 19,
        "quantization_config": {
            "quant_method": "bitsandbytes",
            "load_in_4bit": True,
            "bnb_4bit_quant_type": "nf4",
        },
    }
    (tmp_path / "config.json").write_text(json.dumps(flux))
    assert model_fields(tmp_path / "config.json")["precision"] == "nf4"
    (tmp_path / "config.json").write_text('{"_class_name": "UNet3DConditionModel"}')
    with pytest.raises(WorkloadFault, match="UNet3DConditionModel"):
        model_fields(tmp_path / "config.json")


def test_names_of_today_stay_as_they_are() -> None:
    config = {"model_type": "llama", "hidden_size": 64, "n_embd": 32}
    assert of_today(config, defaults()) is config
    first = of_today(PHI, defaults())
    assert of_today(first, defaults()) == first


@pytest.mark.parametrize(
    "field", [{"architectures": 3}, {"architectures": [None]}, {"hidden_act": {"a": 1}}]
)
def test_what_should_be_words_is_a_named_error(field: dict[str, Any], zoo: Zoo) -> None:
    with pytest.raises(WorkloadFault, match=next(iter(field))):
        resolve(Workload(config={**RUGPT, **field}, task="inference"), zoo)
