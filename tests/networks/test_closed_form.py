"""The closed form of a trace equals the trace."""

import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.networks.closed_form import closed
from rigplanner.networks.closed_form.shallow import shallow
from rigplanner.networks.tracer.net import Setting

CONFIGS = {
    "decoder": {
        "model_type": "qwen3",
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "vocab_size": 3000,
    },
    "encoder": {
        "model_type": "bert",
        "hidden_size": 128,
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 900,
    },
    "experts": {
        "model_type": "mixtral",
        "hidden_size": 128,
        "intermediate_size": 256,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_local_experts": 4,
        "vocab_size": 800,
    },
    "wide ends": {
        "model_type": "gpt_neox",
        "hidden_size": 128,
        "intermediate_size": 256,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "vocab_size": 50000,
    },
    "image": {"model_type": "resnet", "depths": [1, 1, 1, 1]},
}


SIZES = [(1, 96), (1, 777), (2, 96), (5, 224), (4, 777), (17, 480)]


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("checkpointing", [False, True])
def test_equals_the_trace(kind: str, checkpointing: bool) -> None:
    config, image = msgspec.json.encode(CONFIGS[kind]), kind == "image"
    plain = Setting(batch=1, length=224 if image else 64, checkpointing=checkpointing)
    shape = closed._Shape(config, plain, "fp32", "adamw", True, not image)
    for about in (1, 3):
        form = closed._form_of_whole(
            shape, replace(plain, batch=about, length=224 if image else 128), 2000
        )
        assert form is not None
        sizes = [(batch, 224 if image else length) for batch, length in SIZES]
        told = [size for size in sizes if form.holds(*size)]
        assert {size for size in sizes if (size[0] == 1) == (about == 1)} <= set(told)
        for batch, length in told:
            traced = closed._one_trace(shape, config, replace(plain, batch=batch, length=length))
            assert closed._agrees(closed.evaluate(form, batch, length), traced)


DEEP = {
    "equal layers": CONFIGS["decoder"] | {"num_hidden_layers": 9},
    "experts after dense layers": {
        "model_type": "deepseek_v3",
        "hidden_size": 128,
        "intermediate_size": 512,
        "num_hidden_layers": 14,
        "num_attention_heads": 4,
        "q_lora_rank": 48,
        "kv_lora_rank": 32,
        "qk_nope_head_dim": 32,
        "qk_rope_head_dim": 16,
        "v_head_dim": 32,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
        "n_shared_experts": 1,
        "first_k_dense_replace": 3,
        "vocab_size": 700,
    },
    "encoder": CONFIGS["encoder"] | {"num_hidden_layers": 10},
}


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("checkpointing", [False, True])
def test_two_shallow_networks_tell_the_deep_one(kind: str, checkpointing: bool) -> None:
    config, plain = (
        msgspec.json.encode(DEEP[kind]),
        Setting(batch=1, length=64, checkpointing=checkpointing),
    )
    shape, about, cut = (
        closed._Shape(config, plain, "fp32", "adamw", True, True),
        replace(plain, batch=2),
        shallow(DEEP[kind]),
    )
    assert cut
    form = closed._form(shape, about, closed._measured(shape, cut.few, about), cut)
    assert form is not None
    for batch, length in ((2, 96), (5, 224), (17, 480)):
        traced = closed._one_trace(shape, config, replace(plain, batch=batch, length=length))
        assert closed._agrees(closed.evaluate(form, batch, length), traced)


@pytest.mark.parametrize(
    "config",
    [
        {
            "model_type": "t5",
            "d_model": 64,
            "d_ff": 128,
            "num_layers": 9,
            "num_heads": 4,
            "d_kv": 16,
            "vocab_size": 300,
        },
        CONFIGS["decoder"] | {"num_hidden_layers": 4},
        CONFIGS["decoder"] | {"num_hidden_layers": 8, "layer_types": ["a", "b"] * 4},
    ],
)
def test_halves_shallow_nets_and_mixed_layers_are_traced_whole(config: dict[str, object]) -> None:
    assert shallow(config) is None


def test_a_form_that_misses_a_trace_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    config = msgspec.json.encode(CONFIGS["decoder"] | {"num_hidden_layers": 9, "vocab_size": 3001})
    shape = closed._Shape(config, Setting(batch=1, length=64), "fp32", "adamw", True, True)
    monkeypatch.setattr(closed, "_agrees", lambda found, traced: False)
    monkeypatch.setattr(closed, "_gives", lambda moment, live, basis: False)
    for length in (800, 900, 1000):
        traced = closed.traced_step(config, Setting(batch=2, length=length), "fp32", "adamw", True)
        assert traced.peak == closed._one_trace(shape, config, Setting(batch=2, length=length)).peak
    assert not closed._known[shape].forms


def test_a_comparison_bounds_the_form() -> None:
    """Sparse attention takes a number of tokens, or all there are: what holds below it is not told
    of what lies above."""
    config = json.dumps(
        {**(shipped_zoo().models["glm-5"].config or {}), "num_hidden_layers": 5}
    ).encode()
    shape = closed._Shape(config, Setting(batch=1, length=64), "bf16", "adamw", False, True)
    below, above = (
        closed._form_of_whole(shape, Setting(batch=2, length=length), 5000)
        for length in (500, 5000)
    )
    assert below and above
    assert (below.lengths[1], above.lengths[0]) == (2047, 2048)
    traced = closed._one_trace(shape, config, Setting(batch=4, length=4000))
    assert closed._agrees(closed.evaluate(above, 4, 4000), traced)


def test_a_network_that_steps_by_length_is_traced() -> None:
    """A scan by blocks is as many steps as the sequence has blocks: no polynomial, and no endless
    trace."""
    config = json.dumps(
        {**CONFIGS["experts"], "model_type": "minimax", "layer_types": ["linear_attention"] * 2}
    ).encode()  # type: ignore[dict-item]
    shape = closed._Shape(config, Setting(batch=1, length=64), "bf16", "adamw", False, True)
    assert closed._one_trace(shape, config, Setting(batch=2, length=512)).peak
    assert closed._form_of_whole(shape, Setting(batch=2, length=512), 3000) is None


@pytest.mark.parametrize(
    "slug", ["llama-3.1-8b", "bert-base-uncased", "deepseek-v2-lite", "gemma-2-9b", "gpt-oss-20b"]
)
@pytest.mark.parametrize("way", [{}, {"lora_rank": 8, "checkpointing": True}, {"training": False}])
def test_a_network_of_layers_built_alike_is_traced_as_two_shallow_ones(
    slug: str, way: dict[str, Any]
) -> None:
    """Exactly what the whole depth gives; networks whose layers differ are not traced so."""
    model = shipped_zoo().models[slug]
    config, setting = json.dumps(model.config).encode(), Setting(batch=2, length=96, **way)
    shape = closed._Shape(
        config, replace(setting, batch=1, length=64), "bf16", "adamw", False, True
    )
    cut = closed._cut(shape)
    assert cut or slug in ("gemma-2-9b", "gpt-oss-20b")
    whole = replace(closed._one_trace(shape, config, setting), marks=(0, 0))
    for misses in (0, closed.MOST_MISSES) if cut else ():
        known = closed._Known(cut, misses=misses)
        assert closed._traced_by_two(shape, known, setting, cut) == whole
        assert bool(known.forms) == (misses == 0)


def test_layers_that_differ_in_the_middle_are_not_taken_for_equal() -> None:
    config = {
        **(shipped_zoo().models["qwen3-30b-a3b"].config or {}),
        "num_hidden_layers": 24,
        "decoder_sparse_step": 6,
    }
    plain = json.dumps(config).encode()
    assert not closed._built_alike(plain, Setting(batch=1, length=64), False, False)
