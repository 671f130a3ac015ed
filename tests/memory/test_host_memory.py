"""What offloading takes in the computer, against the arithmetic of those who publish it."""

from typing import Any

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.network import resolve

GIB = 2.0**30
TRAIN = {
    "model": "llama-3.1-8b",
    "task": "train_full",
    "precision": "bf16",
    "optimizer": "adamw",
    "seq_len": 512,
}


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def need(zoo: Zoo, count: int = 1, **fields: Any) -> MemoryEstimate:
    card = shipped_catalog().get("nvidia.datacenter.h100-sxm5-80gb")
    assert isinstance(card, GPU)
    return estimate_memory(Workload(**{**TRAIN, **fields}), card, count, zoo)


@pytest.fixture(scope="module")
def params(zoo: Zoo) -> float:
    return resolve(Workload(model="llama-3.1-8b"), zoo).params


def test_deepspeed_with_the_optimizer_on_the_host(zoo: Zoo, params: float) -> None:
    ways = Parallelism(zero=2, offload="optimizer")
    found = need(zoo, 4, stack="deepspeed", parallelism=ways)
    assert found.host_gib == pytest.approx(params * 16 * 1.5 / GIB)
    assert found.parts.optimizer_gib == 0 and found.nvme_gib == 0


def test_deepspeed_with_everything_on_the_host(zoo: Zoo, params: float) -> None:
    found = need(zoo, 4, stack="deepspeed", parallelism=Parallelism(zero=3, offload="cpu"))
    assert found.host_gib == pytest.approx(params * 18 * 1.5 / GIB)
    assert found.parts.weights_gib == 0 and found.detail_gib["communication"] > 0


def test_replicas_that_share_nothing_each_have_their_states(zoo: Zoo, params: float) -> None:
    found = need(zoo, 4, stack="deepspeed", parallelism=Parallelism(zero=0, offload="optimizer"))
    assert found.host_gib == pytest.approx(4 * params * 16 * 1.5 / GIB)


def test_drives_hold_states_and_parameters(zoo: Zoo, params: float) -> None:
    found = need(zoo, 4, stack="deepspeed", parallelism=Parallelism(zero=3, offload="nvme"))
    assert found.nvme_gib == pytest.approx(params * 14 / GIB)
    beside = 2 * params + 4 * 1e9 * 4 * 4 + 1e9 * 2 + 5 * 1e8 * 2 * 4
    assert found.host_gib == pytest.approx(beside / GIB)


def test_shards_of_fsdp_are_held_once(zoo: Zoo, params: float) -> None:
    found = need(zoo, 4, stack="torchtune", parallelism=Parallelism(zero=3, offload="cpu"))
    assert found.host_gib == pytest.approx(params * (2 + 2 + 4) / GIB)


def test_paged_states_may_all_leave(zoo: Zoo, params: float) -> None:
    found = need(zoo, optimizer="paged_adamw_32bit")
    assert found.host_gib == pytest.approx(params * 8 / GIB) and found.parts.optimizer_gib == 0


def test_components_of_a_pipeline_wait(zoo: Zoo) -> None:
    fields = {
        "model": "flux.1-dev",
        "task": "inference",
        "precision": "bf16",
        "optimizer": None,
        "seq_len": None,
    }
    whole = need(zoo, **fields)
    for flag in ("model_cpu_offload", "sequential_cpu_offload"):
        moved = need(zoo, **fields, flags=[flag])
        assert (
            moved.host_gib == pytest.approx(whole.parts.weights_gib, rel=0.02)
            and moved.device_gib < whole.device_gib
        )


def test_layers_beyond_the_gpu_stay_with_their_cache(zoo: Zoo) -> None:
    fields = {
        "task": "inference",
        "precision": "q4_k_m",
        "stack": "llama.cpp",
        "input_tokens": 8192,
        "optimizer": None,
    }
    all_of, half, none = (need(zoo, **fields, gpu_layers=layers) for layers in (33, 16, 0))
    assert all_of.device_gib > half.device_gib > none.device_gib
    assert none.parts.weights_gib == pytest.approx(0, abs=1e-9) and none.parts.kv_cache_gib == 0
    for found in (half, none):
        held = found.parts.weights_gib + found.parts.kv_cache_gib + found.host_gib
        assert held == pytest.approx(
            all_of.parts.weights_gib + all_of.parts.kv_cache_gib + all_of.host_gib
        )


def test_experts_alone_may_stay_on_the_host(zoo: Zoo) -> None:
    fields = {
        "model": "qwen3-30b-a3b",
        "task": "inference",
        "precision": "q4_k_m",
        "stack": "llama.cpp",
        "optimizer": None,
    }
    whole, apart = need(zoo, **fields), need(zoo, **fields, flags=["cpu_moe"])
    assert apart.parts.weights_gib < 0.15 * whole.parts.weights_gib and apart.host_gib > 14
    half, both = (
        need(zoo, **fields, flags=["cpu_moe=24"]),
        need(zoo, **fields, flags=["cpu_moe=24"], gpu_layers=24),
    )
    assert half.parts.weights_gib == pytest.approx(
        (whole.parts.weights_gib + apart.parts.weights_gib) / 2
    )
    assert both.parts.weights_gib == pytest.approx(
        need(zoo, **fields, gpu_layers=24).parts.weights_gib
    )
    with pytest.raises(WorkloadFault, match="cpu_moe=N"):
        need(zoo, **fields, flags=["cpu_moe=some"])


def test_a_projector_stays_in_16_bits(zoo: Zoo) -> None:
    fields = {
        "model": "qwen2.5-vl-7b",
        "task": "inference",
        "stack": "llama.cpp",
        "optimizer": None,
    }
    low, high = need(zoo, **fields, precision="q4_k_m"), need(zoo, **fields, precision="q8_0")
    assert 1.1 < low.parts.weights_gib - 7.0e9 * 4.85 / 8 / 2**30 < 1.7
    assert high.parts.weights_gib > low.parts.weights_gib


def test_weights_of_inference_wait(zoo: Zoo) -> None:
    fields = {
        "task": "inference",
        "stack": "pytorch-hf",
        "input_tokens": 100,
        "output_tokens": 10,
        "optimizer": None,
    }
    found = need(zoo, **fields, parallelism=Parallelism(offload="cpu"))
    assert found.host_gib == pytest.approx(15, rel=0.02) and found.parts.weights_gib < 2
    assert need(zoo, **fields, parallelism=Parallelism(offload="nvme")).nvme_gib == pytest.approx(
        found.host_gib
    )


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"stack": "deepspeed", "parallelism": Parallelism(zero=3, offload="nvme")}, 2),
        ({"stack": "torchtune", "parallelism": Parallelism(zero=3, offload="cpu")}, 2),
        ({"optimizer": "paged_adamw_8bit"}, 1),
    ],
)
def test_steps_of_the_host_have_their_source_and_sum_up(
    zoo: Zoo, fields: dict[str, Any], count: int
) -> None:
    found = need(zoo, count, **fields)
    steps = [step for step in found.steps if step.name.startswith("host_")]
    assert steps and all(step.source and step.formula for step in steps)
    assert sum(step.value for step in steps) == pytest.approx(found.host_gib)


def test_nothing_waits_without_offload(zoo: Zoo) -> None:
    found = need(zoo)
    assert found.host_gib == found.nvme_gib == 0


def test_every_step_has_formula_value_and_source(zoo: Zoo) -> None:
    found = need(zoo, 2, parallelism=Parallelism(zero=3))
    named = {step.name: step for step in found.steps}
    assert {
        "weights",
        "gradients",
        "optimizer",
        "activations",
        "communication",
        "fragmentation",
        "tensors",
        "device",
    } <= set(named)
    sums = {"tensors", "reserved", "device"}
    assert all(step.source for step in found.steps if step.name not in sums)
    assert named["tensors"].value == pytest.approx(found.tensors_gib) and named[
        "device"
    ].value == pytest.approx(found.device_gib)
