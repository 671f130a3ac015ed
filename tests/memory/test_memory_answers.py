"""Memory of one GPU: arithmetic that can be done by hand, monotony, sharding, named faults."""

from typing import Any

import msgspec
import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.changes import cheapest_changes
from rigplanner.memory.capacity.levers import largest_batch, room_gib
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.quant import weight_bytes

GIB = 2.0**30
SMALL = {
    "model_type": "llama",
    "hidden_size": 512,
    "intermediate_size": 1024,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 1000,
}


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


@pytest.fixture(scope="module")
def card() -> GPU:
    part = shipped_catalog().get("nvidia.geforce.rtx-4090")
    assert isinstance(part, GPU)
    return part


def estimate(zoo: Zoo, card: GPU | None = None, count: int = 1, **fields: Any) -> MemoryEstimate:
    usual = {
        "config": SMALL,
        "task": "train_full",
        "precision": "bf16",
        "optimizer": "adamw",
        "batch_per_gpu": 2,
        "seq_len": 64,
    }
    return estimate_memory(Workload(**{**usual, **fields}), card, count, zoo)


def test_states_of_full_training_are_those_of_the_recipe(zoo: Zoo) -> None:
    params = resolve(Workload(config=SMALL), zoo).params
    found = estimate(zoo, precision="fp32", optimizer="sgd_momentum")
    assert found.parts.weights_gib * GIB == pytest.approx(4 * params, rel=1e-6)
    assert found.parts.optimizer_gib * GIB == pytest.approx(4 * params, rel=1e-6)


def test_parameters_by_hand(zoo: Zoo) -> None:
    layer = 512 * (512 + 256 + 256 + 512) + 3 * 512 * 1024 + 2 * 512
    assert resolve(Workload(config=SMALL), zoo).params == 2 * layer + 2 * 1000 * 512 + 512


@pytest.mark.parametrize(
    ("field", "small", "large"), [("batch_per_gpu", 2, 8), ("seq_len", 64, 512)]
)
def test_memory_grows_with_size(zoo: Zoo, field: str, small: int, large: int) -> None:
    assert estimate(zoo, **{field: small}).tensors_gib < estimate(zoo, **{field: large}).tensors_gib


def test_checkpointing_and_fused_attention_save(zoo: Zoo) -> None:
    sizes = {"batch_per_gpu": 8, "seq_len": 512, "optimizer": "sgd"}
    assert (
        estimate(zoo, gradient_checkpointing="full", **sizes).tensors_gib
        < estimate(zoo, **sizes).tensors_gib
    )
    assert (
        estimate(zoo, **sizes).tensors_gib < estimate(zoo, attention="eager", **sizes).tensors_gib
    )


def test_zero_divides_states_by_the_data_degree(zoo: Zoo, card: GPU) -> None:
    alone = estimate(zoo, card, stack="deepspeed")
    shared = estimate(zoo, card, 4, stack="deepspeed", parallelism=Parallelism(data=4, zero=3))
    assert shared.parts.optimizer_gib == pytest.approx(alone.parts.optimizer_gib / 4, rel=1e-6)
    assert shared.parts.weights_gib == pytest.approx(alone.parts.weights_gib / 4, rel=1e-3)


def test_offload_moves_states_to_the_host(zoo: Zoo, card: GPU) -> None:
    moved = estimate(zoo, card, stack="deepspeed", parallelism=Parallelism(offload="optimizer"))
    assert moved.parts.optimizer_gib == 0 and moved.host_gib > 0


def test_cache_counts_key_heads_and_windows(zoo: Zoo) -> None:
    plain = resolve(Workload(model="llama-3.1-8b"), zoo)
    assert plain.kv_values(1000) == 2 * 8 * 128 * 32 * 1000
    windowed = resolve(Workload(model="gpt-oss-20b"), zoo)
    assert windowed.kv_values(10_000) == 2 * 8 * 64 * 12 * (10_000 + 128)
    latent = resolve(Workload(model="deepseek-v3"), zoo)
    assert latent.kv_values(10) == (512 + 64) * 61 * 10


def test_quantised_weights_by_hand() -> None:
    assert weight_bytes("bf16", None, 1000, 100) == 2000
    assert weight_bytes("nf4", "bnb", 1000, 100) == pytest.approx(900 * 4.5 / 8 + 200)
    assert weight_bytes("q8_0", None, 1000, 100) == pytest.approx(1000 * 8.5 / 8)


@pytest.mark.parametrize("precision", [None, "bf16", "int4"])
def test_a_way_of_quantising_that_names_a_type_is_the_type(zoo: Zoo, precision: str | None) -> None:
    asked = {"model": "llama-3.1-8b", "task": "inference", "stack": "llama.cpp"}
    stored = estimate(zoo, None, **asked, precision="q4_k_m", quant=None)
    assert (
        estimate(zoo, None, **asked, precision=precision, quant="Q4_K_M").parts.weights_gib
        == stored.parts.weights_gib
    )


@pytest.mark.parametrize("precision", ["amp_fp16", "tf32", "fp32"])
def test_arithmetic_says_nothing_of_a_quantised_base(zoo: Zoo, precision: str) -> None:
    told, plain = (
        estimate(zoo, task="train_qlora", precision=word).parts for word in (precision, "nf4")
    )
    assert told.weights_gib == pytest.approx(plain.weights_gib, rel=0.01)


def test_interval_holds_the_device_figure(zoo: Zoo, card: GPU) -> None:
    found = estimate(zoo, card)
    assert found.low_gib < found.device_gib <= found.high_gib
    assert found.tensors_gib <= found.allocated_gib <= found.reserved_gib <= found.device_gib


BAD: list[tuple[dict[str, Any], str]] = [
    ({"config": {**SMALL, "num_attention_heads": 7}}, "config.num_attention_heads"),
    ({"config": {**SMALL, "num_hidden_layers": 0}}, "config.num_hidden_layers"),
    ({"config": {**SMALL, "hidden_size": 1e12}}, "config.hidden_size"),
    ({"config": {**SMALL, "num_key_value_heads": 3}}, "config.num_key_value_heads"),
    ({"config": {"model_type": "no-such-net"}}, "no-such-net"),
    ({"config": {"hidden_size": 4}}, "config.model_type"),
    ({"config": None, "model": "llama-3.1-9b"}, "llama-3.1-8b"),
    ({"optimizer": "nadamw"}, "optimizer"),
    ({"precision": "fp7"}, "precision"),
    ({"task": "dance"}, "task"),
    ({"batch_per_gpu": 10**12}, "batch_per_gpu"),
    ({"kv_precision": "fp3"}, "kv_precision"),
    ({"parallelism": Parallelism(zero=4)}, "parallelism.zero"),
    ({"task": "train_lora", "lora_targets": ["no_such_layer"]}, "lora_targets"),
    ({"config": None, "params_m": -3.0, "gmacs": 1.0}, "params_m"),
]


@pytest.mark.parametrize(("fields", "named"), BAD)
def test_a_fault_names_the_field(zoo: Zoo, fields: dict[str, Any], named: str) -> None:
    with pytest.raises(WorkloadFault, match=named.replace(".", r"\.")):
        estimate(zoo, **fields)


def test_largest_batch_is_the_largest(zoo: Zoo, card: GPU) -> None:
    work = Workload(
        model="gpt2", task="train_full", precision="amp_bf16", optimizer="adamw", seq_len=512
    )
    size = largest_batch(work, card, 1, zoo)
    assert size > 1
    at = [
        estimate_memory(msgspec.structs.replace(work, batch_per_gpu=b), card, 1, zoo).device_gib
        for b in (size, size + max(1, size // 64) + 1)
    ]
    assert at[0] <= room_gib(card) < at[1]


def test_changes_save_memory_and_those_that_fit_come_first(zoo: Zoo, card: GPU) -> None:
    work = Workload(
        model="qwen3-1.7b",
        task="train_full",
        precision="bf16",
        optimizer="adamw",
        batch_per_gpu=8,
        seq_len=2048,
    )
    now = estimate_memory(work, card, 1, zoo).device_gib
    changes = cheapest_changes(work, card, 1, zoo)
    assert changes and all(change.device_gib < now for change in changes)
    assert [change.fits for change in changes] == sorted(
        (change.fits for change in changes), reverse=True
    )
