"""The operator trace against steps traced with PyTorch 2.13 and transformers 5.23 (MemTracker under
FakeTensorMode, on a CPU)."""

import statistics
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Case, Workload
from rigplanner.workload.cases import read_case
from rigplanner.workload.network import resolve

GIB = 2.0**30
CARD = shipped_catalog().parts["nvidia.geforce.rtx-4090"]


def _steps(name: str) -> list[dict[str, Any]]:
    lines = (Path(__file__).parent / name).read_bytes().splitlines()
    return [msgspec.json.decode(line) for line in lines]


STEPS = _steps("traced_steps.jsonl")
RANDOM = _steps("traced_random.jsonl")
KINDS = _steps("traced_kinds.jsonl")
LAYERS = _steps("traced_layers.jsonl")
WIDENED = _steps("traced_widened.jsonl")
MORE = _steps("traced_more.jsonl")


def _case(step: dict[str, Any]) -> Case:
    case = read_case(msgspec.json.encode({"id": step["id"], **step["spec"]}))
    assert isinstance(case, Case)
    return case


def _errors(steps: list[dict[str, Any]]) -> list[float]:
    """Shares by which the estimates miss the traced peaks, smallest first."""
    zoo = shipped_zoo()
    return sorted(
        abs(
            estimate_memory(_case(step).workload, None, 1, zoo).tensors_gib
            * GIB
            / step["peak_bytes"]
            - 1
        )
        for step in steps
    )


@pytest.fixture(scope="module")
def errors() -> list[tuple[dict[str, Any], float]]:
    zoo = shipped_zoo()
    return [
        (
            step,
            estimate_memory(_case(step).workload, None, 1, zoo).tensors_gib
            * GIB
            / step["peak_bytes"]
            - 1,
        )
        for step in STEPS
    ]


@pytest.mark.parametrize("held_out", [True, False])
def test_error_is_small_on_both_halves(
    errors: list[tuple[dict[str, Any], float]], held_out: bool
) -> None:
    sizes = sorted(abs(error) for step, error in errors if step["held_out"] is held_out)
    assert len(sizes) > 80
    assert statistics.median(sizes) <= 0.005
    assert sizes[int(0.9 * len(sizes))] <= 0.03


@pytest.mark.parametrize("held_out", [True, False])
def test_random_shapes_of_every_family_are_traced_right(held_out: bool) -> None:
    steps = [step for step in RANDOM if step["held_out"] is held_out]
    sizes = _errors(steps)
    assert len(sizes) >= 60
    assert statistics.median(sizes) <= 0.002
    assert sizes[int(0.9 * len(sizes))] <= 0.04


def test_parameters_of_random_shapes_are_counted_exactly() -> None:
    zoo = shipped_zoo()
    full = [step for step in RANDOM if step["spec"]["task"] != "train_lora"]
    wrong = {
        step["spec"]["config"]["model_type"]
        for step in full
        if resolve(_case(step).workload, zoo).params != step["params"]
    }
    assert not wrong


def test_parameters_are_counted_exactly_in_most_families(
    errors: list[tuple[dict[str, Any], float]],
) -> None:
    zoo = shipped_zoo()
    full = [step for step in STEPS if step["spec"]["task"] != "train_lora"]
    wrong = {
        step["spec"]["config"]["model_type"]
        for step in full
        if resolve(_case(step).workload, zoo).params != step["params"]
    }
    assert wrong <= {"gpt_oss", "mixtral", "falcon", "t5", "bloom"}


def test_forward_operations_match_the_counter_of_pytorch() -> None:
    zoo = shipped_zoo()
    uncounted = {
        "mixtral",
        "qwen2_moe",
        "qwen3_moe",
        "gpt_oss",
        "deepseek_v3",
        "bloom",
        "gpt_neo",
        "falcon",
    }
    plain = [
        step
        for step in STEPS
        if step["spec"]["task"] != "train_lora"
        and step["spec"].get("attention") != "eager"
        and step["spec"]["head"] == "causal_lm"
        and step["spec"]["config"]["model_type"] not in uncounted
    ]
    for step in plain:
        network = resolve(_case(step).workload, zoo)
        if not network.config or step["spec"]["config"]["model_type"] in ("gpt2", "gpt_bigcode"):
            continue
        flops = network.forward_flops(step["spec"]["batch_per_gpu"], step["spec"]["seq_len"])
        assert flops == pytest.approx(step["forward_flops"], rel=0.01), step["id"]


@pytest.mark.parametrize("held_out", [True, False])
def test_every_kind_of_network_and_setting_is_traced_right(held_out: bool) -> None:
    steps = [step for step in KINDS if step["held_out"] is held_out]
    sizes = _errors(steps)
    assert len({step["spec"]["config"]["model_type"] for step in steps}) >= 60
    assert statistics.median(sizes) <= 0.001
    assert sizes[int(0.9 * len(sizes))] <= 0.02


@pytest.mark.parametrize("held_out", [True, False])
def test_layers_that_scan_convolve_or_lie_otherwise_are_traced_right(held_out: bool) -> None:
    steps = [step for step in LAYERS if step["held_out"] is held_out]
    sizes = _errors(steps)
    assert len({step["spec"]["config"]["model_type"] for step in steps}) >= 25
    assert statistics.median(sizes) <= 0.001
    assert sizes[int(0.9 * len(sizes))] <= 0.02
    assert sizes[-1] <= 0.08


@pytest.mark.parametrize("held_out", [True, False])
def test_random_settings_of_all_families_and_those_that_came_last_are_traced_right(
    held_out: bool,
) -> None:
    steps = [step for step in WIDENED if step["held_out"] is held_out]
    sizes = _errors(steps)
    assert len({step["spec"]["config"]["model_type"] for step in steps}) >= 30
    assert statistics.median(sizes) <= 0.001
    assert sizes[int(0.9 * len(sizes))] <= 0.02


@pytest.mark.parametrize("steps", [LAYERS, WIDENED], ids=["layers", "widened"])
def test_parameters_of_such_layers_are_counted_exactly(steps: list[dict[str, Any]]) -> None:
    zoo = shipped_zoo()
    full = [step for step in steps if step["spec"]["task"] != "train_lora"]
    wrong = {
        step["spec"]["config"]["model_type"]
        for step in full
        if resolve(_case(step).workload, zoo).params != step["params"]
    }
    assert not wrong


def test_a_state_is_cached_once_whatever_the_length_and_said_in_the_steps() -> None:
    config = {
        "model_type": "granitemoehybrid",
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "vocab_size": 1000,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "shared_intermediate_size": 512,
        "num_local_experts": 0,
        "mamba_n_heads": 16,
        "mamba_d_state": 64,
        "layer_types": ["mamba", "mamba", "attention", "mamba"],
    }
    network = resolve(_named(config).workload, shipped_zoo())
    state, per_token = network.kv_values(0), network.kv_values(1) - network.kv_values(0)
    width = 512 + 2 * 64
    assert state == 3 * (4 * width + 2 * 512 * 64)
    assert per_token == 2 * 2 * 64
    case = {
        "config": config,
        "task": "inference",
        "precision": "bf16",
        "batch_per_gpu": 3,
        "input_tokens": 100,
        "output_tokens": 20,
    }
    estimate = estimate_memory(
        _case({"id": "state", "spec": case}).workload, CARD, 1, shipped_zoo()
    )
    steps = {step.name: step.value for step in estimate.steps}
    assert steps["recurrent_state"] == pytest.approx(2 * 3 * state / GIB)
    assert steps["kv_cache"] == pytest.approx(2 * 3 * (state + 120 * per_token) / GIB)


@pytest.mark.parametrize("kind", ["zamba", "reformer"])
def test_networks_of_unknown_layers_beside_attention_are_refused_by_name(kind: str) -> None:
    sizes = {
        "hidden_size": 512,
        "num_hidden_layers": 4,
        "vocab_size": 1000,
        "num_attention_heads": 8,
        "intermediate_size": 1024,
    }
    with pytest.raises(WorkloadFault, match=kind):
        resolve(_named({"model_type": kind, **sizes}).workload, shipped_zoo())


def _named(config: dict[str, Any]) -> Case:
    return _case(
        {
            "id": "named",
            "spec": {
                "config": config,
                "task": "inference",
                "precision": "bf16",
                "batch_per_gpu": 1,
                "seq_len": 64,
            },
        }
    )


def test_a_network_of_unknown_layers_gets_a_wide_interval_that_is_named() -> None:
    sizes = {
        "hidden_size": 512,
        "num_hidden_layers": 4,
        "vocab_size": 1000,
        "num_attention_heads": 8,
        "intermediate_size": 1024,
    }
    estimate = estimate_memory(
        _named({"model_type": "hitherto_unheard", **sizes}).workload, None, 1, shipped_zoo()
    )
    assert estimate.assumed["architecture"] == "llama"
    assert estimate.low_gib <= 0.51 * estimate.device_gib
    assert estimate.high_gib >= 1.49 * estimate.device_gib


def test_a_network_without_the_fields_of_a_transformer_is_refused() -> None:
    with pytest.raises(WorkloadFault, match="xlstm"):
        resolve(
            _named(
                {
                    "model_type": "xlstm",
                    "hidden_size": 768,
                    "num_hidden_layers": 24,
                    "vocab_size": 50288,
                }
            ).workload,
            shipped_zoo(),
        )


@pytest.mark.parametrize(
    ("kind", "part"),
    [("qwen3_5", "qwen3_5_text"), ("gemma3", "gemma3_text"), ("llama4", "llama4_text")],
)
def test_a_bare_name_of_a_model_takes_the_defaults_of_its_text_part(kind: str, part: str) -> None:
    zoo = shipped_zoo()
    assert (
        resolve(_named({"model_type": kind}).workload, zoo).params
        == resolve(_named({"model_type": part}).workload, zoo).params
    )


def test_a_layer_that_looks_near_caches_its_window_and_one_that_recurs_its_state() -> None:
    network = resolve(_named({"model_type": "recurrent_gemma"}).workload, shipped_zoo())
    near, far = network.kv_values(2048), network.kv_values(100_000)
    assert near == far > network.kv_values(0) > 0
    assert network.window_layers == 8 and network.state_layers == 18


def test_parameters_of_a_deep_network_of_unequal_layers_are_counted_by_each_layer() -> None:
    deep = resolve(_named({"model_type": "qwen3_5_text"}).workload, shipped_zoo())
    kinds = [*["linear_attention"] * 3, "full_attention"] * 8
    told = resolve(
        _named({"model_type": "qwen3_5_text", "layer_types": kinds}).workload, shipped_zoo()
    )
    assert deep.params == told.params


@pytest.mark.parametrize("held_out", [True, False])
def test_heads_and_kinds_traced_last(held_out: bool) -> None:
    """Decoders alone, causal heads of encoders, fused attention where relative places or windows
    are learned, and new kinds; the held-out half was traced after the traces were written."""
    steps = [step for step in MORE if step["held_out"] is held_out]
    sizes = _errors(steps)
    assert len(sizes) > 20
    assert statistics.median(sizes) <= 0.005
    assert sizes[int(0.9 * len(sizes))] <= 0.06
    zoo = shipped_zoo()
    plain = [step for step in steps if step["spec"]["task"] != "train_lora"]
    assert not [
        step["id"] for step in plain if resolve(_case(step).workload, zoo).params != step["params"]
    ]


def test_falcon_shares_one_head_of_keys_whatever_stands_beside_it() -> None:
    config = {
        "model_type": "falcon",
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 500,
    }
    told = [
        resolve(Workload(config={**config, "num_kv_heads": count}), shipped_zoo()).params
        for count in (1, 4)
    ]
    assert told[0] == told[1]


def test_ears_are_counted_and_unknown_parts_make_an_estimate() -> None:
    text = {
        "model_type": "qwen2",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "vocab_size": 500,
        "num_key_value_heads": 2,
        "intermediate_size": 96,
    }
    zoo = shipped_zoo()
    alone = resolve(Workload(config=text), zoo)
    hears = resolve(
        Workload(
            config={
                "model_type": "qwen2_audio",
                "text_config": text,
                "audio_config": {"d_model": 32},
            }
        ),
        zoo,
    )
    unknown = resolve(
        Workload(
            config={"model_type": "granite_speech", "text_config": text, "encoder_config": {"x": 1}}
        ),
        zoo,
    )
    assert hears.params > alone.params and hears.relative is None
    assert unknown.relative is not None
