"""The closed form of a walk equals the walk."""

import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.workload import closed
from rigplanner.workload.shallow import shallow
from rigplanner.workload.tape.net import Setting

CONFIGS = {
    "decoder": {"model_type": "qwen3", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4,
                "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 3000},
    "encoder": {"model_type": "bert", "hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 900},
    "experts": {"model_type": "mixtral", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
    "num_attention_heads": 4,
                "num_key_value_heads": 2, "num_local_experts": 4, "vocab_size": 800},
    "wide ends": {"model_type": "gpt_neox", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3,
    "num_attention_heads": 4, "vocab_size": 50000},
    "image": {"model_type": "resnet", "depths": [1, 1, 1, 1]},
}  # fmt: skip


SIZES = [(1, 96), (1, 777), (2, 96), (5, 224), (4, 777), (17, 480)]
CASES = [(kind, size) for kind in CONFIGS for size in SIZES if kind != "image" or size[0] > 1]
"""An image network of one image has no form: one size tells nothing of another."""


@pytest.mark.parametrize(("kind", "sizes"), CASES)
@pytest.mark.parametrize("checkpointing", [False, True])
def test_equals_the_walk(kind: str, checkpointing: bool, sizes: tuple[int, int]) -> None:
    batch, length = sizes
    config, image = msgspec.json.encode(CONFIGS[kind]), kind == "image"
    size = 224 if image else length
    setting = Setting(batch=min(2, batch), length=224 if image else 64, checkpointing=checkpointing)
    form = closed._form(closed._Shape(config, setting, "fp32", "adamw", True, not image))
    assert form is not None
    walked = closed._walk(config, msgspec.structs.replace(setting, batch=batch, length=size), "fp32", "adamw", True)
    found = closed.evaluate(form, batch, size)
    assert (found.peak, found.forward_flops, found.weights, found.trained) == (
        walked.peak,
        walked.forward_flops,
        walked.weights,
        walked.trained,
    )


DEEP = {
    "equal layers": CONFIGS["decoder"] | {"num_hidden_layers": 9},
    "experts after dense layers": {
        "model_type": "deepseek_v3", "hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 14,
        "num_attention_heads": 4, "q_lora_rank": 48, "kv_lora_rank": 32, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16,
        "v_head_dim": 32,
        "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "n_shared_experts": 1, "first_k_dense_replace": 3,
        "vocab_size": 700,
    },
    "encoder": CONFIGS["encoder"] | {"num_hidden_layers": 10},
}  # fmt: skip


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("checkpointing", [False, True])
def test_two_shallow_networks_tell_the_deep_one(kind: str, checkpointing: bool) -> None:
    config = msgspec.json.encode(DEEP[kind])
    setting = Setting(batch=2, length=64, checkpointing=checkpointing)
    form = closed._form(closed._Shape(config, setting, "fp32", "adamw", True, True), True)
    assert form is not None
    for batch, length in ((2, 96), (5, 224), (17, 480)):
        walked = closed._walk(config, msgspec.structs.replace(setting, batch=batch, length=length), "fp32", "adamw", True)
        assert closed._agrees(closed.evaluate(form, batch, length), walked)


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "t5", "d_model": 64, "d_ff": 128, "num_layers": 9, "num_heads": 4, "d_kv": 16, "vocab_size": 300},
        CONFIGS["decoder"] | {"num_hidden_layers": 4},
        CONFIGS["decoder"] | {"num_hidden_layers": 8, "layer_types": ["a", "b"] * 4},
    ],
)
def test_halves_shallow_nets_and_mixed_layers_are_walked_whole(config: dict[str, object]) -> None:
    assert shallow(config) is None


def test_a_form_that_misses_the_first_walk_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    config = msgspec.json.encode(CONFIGS["decoder"] | {"num_hidden_layers": 9, "vocab_size": 3001})
    setting = Setting(batch=2, length=800)
    first = closed.walked(config, setting, "fp32", "adamw", True)
    monkeypatch.setattr(closed, "_agrees", lambda found, walked: False)
    again = closed.walked(config, msgspec.structs.replace(setting, length=900), "fp32", "adamw", True)
    assert again.peak == closed._walk(config, msgspec.structs.replace(setting, length=900), "fp32", "adamw", True).peak > first.peak


@pytest.mark.parametrize("slug", ["llama-3.1-8b", "bert-base-uncased", "deepseek-v2-lite", "gemma-2-9b", "gpt-oss-20b"])
@pytest.mark.parametrize("way", [{}, {"lora_rank": 8, "checkpointing": True}, {"training": False}])
def test_a_network_of_layers_built_alike_is_walked_as_two_shallow_ones(slug: str, way: dict[str, Any]) -> None:
    """Exactly what the whole depth gives; networks whose layers differ are not walked so."""
    model = shipped_zoo().models[slug]
    config, setting = json.dumps(model.config).encode(), Setting(batch=2, length=96, **way)
    found = closed._walk_of_two(config, setting, "bf16", "adamw", False)
    if slug in ("gemma-2-9b", "gpt-oss-20b"):
        assert found is None or found == replace(closed._walk(config, setting, "bf16", "adamw", False), marks=(0, 0))
    else:
        assert found == replace(closed._walk(config, setting, "bf16", "adamw", False), marks=(0, 0))


def test_layers_that_differ_in_the_middle_are_not_taken_for_equal() -> None:
    config = {**(shipped_zoo().models["qwen3-30b-a3b"].config or {}), "num_hidden_layers": 24, "decoder_sparse_step": 6}
    plain = json.dumps(config).encode()
    assert not closed._built_alike(plain, Setting(batch=1, length=64), False, False)
