"""Where a model lies by the words of llama.cpp, and what a bad word is told."""

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.rig.own_words import in_own_words
from rigplanner.rig.workload import Workload
from rigplanner.workload.host_placement import (
    HostPlacement,
    dense_layers,
    experts_in_use,
    stated_placement,
)
from rigplanner.workload.network import resolve


def placed(model: str, stack: str = "llama.cpp", **fields: object) -> HostPlacement:
    work = Workload(model=model, task="inference", **fields)  # type: ignore[arg-type]
    return stated_placement(work, resolve(work, shipped_zoo()), stack)


def test_nothing_said_leaves_all_on_the_cards() -> None:
    place = placed("llama-3.1-8b")
    assert not place.told and not place.anything


def test_layers_on_the_gpu_leave_the_rest_with_their_cache() -> None:
    place = placed("llama-3.1-8b", gpu_layers=9)
    assert place.rest == place.cache == place.experts == 0.75 and place.head == 0.0
    assert placed("llama-3.1-8b", gpu_layers=0).whole
    assert placed("llama-3.1-8b", gpu_layers=32).layers == 1, "the output layer counts as one"
    assert not placed("llama-3.1-8b", gpu_layers=33).anything


@pytest.mark.parametrize(
    "fields",
    [
        {"cpu_moe": True},
        {"flags": ["cpu_moe"]},
        {"n_cpu_moe": 94},
        {"override_tensors": "exps=CPU"},
        {"override_tensors": [r"\.ffn_(up|down|gate)_exps\.=CPU"]},
    ],
)
def test_every_way_to_say_experts_in_ram_means_the_same(fields: dict[str, object]) -> None:
    place = placed("qwen3-235b-a22b", **fields)
    assert (place.experts, place.rest, place.cache, place.head) == (1.0, 0.0, 0.0, 0.0)
    assert place.expert_layers == 94


def test_the_first_layers_leave_their_experts_and_dense_ones_have_none() -> None:
    network = resolve(Workload(model="deepseek-r1"), shipped_zoo())
    assert dense_layers(network) == 3 and experts_in_use(network) == 8
    assert placed("deepseek-r1", n_cpu_moe=3).experts == 0
    assert placed("deepseek-r1", n_cpu_moe=32).experts == pytest.approx(29 / 58)
    assert placed("deepseek-r1", flags=["cpu_moe=32"]).experts == pytest.approx(29 / 58)


def test_the_first_pattern_that_matches_decides() -> None:
    kept = placed("qwen3-235b-a22b", override_tensors=[r"blk\.([0-9])\.ffn=CUDA0", "exps=CPU"])
    assert kept.experts == pytest.approx(84 / 94)
    assert placed("qwen3-235b-a22b", override_tensors="exps=CPU,attn=CPU").rest == 1.0


def test_ktransformers_keeps_its_experts_in_ram_by_itself() -> None:
    assert placed("deepseek-r1", "ktransformers").experts == 1.0
    assert placed("deepseek-r1", "llama.cpp").experts == 0.0


@pytest.mark.parametrize("words", ["exps", "=CPU", "ffn[=CPU", "x" * 401 + "=CPU"])
def test_patterns_that_mean_nothing_are_told(words: str) -> None:
    with pytest.raises(WorkloadFault, match="override_tensors"):
        placed("gpt-oss-20b", override_tensors=words)


def test_engines_words_are_heard_and_own_words_win() -> None:
    told = {"ngl": 20, "--n-cpu-moe": 3, "num_ctx": 8192, "flags": "cpu_moe=2", "ts": [1, 2]}
    assert in_own_words(told) == {
        "gpu_layers": 20,
        "n_cpu_moe": 3,
        "seq_len": 8192,
        "flags": ["cpu_moe=2"],
        "tensor_split": [1, 2],
    }
    assert in_own_words({"ngl": 5, "gpu_layers": 7}) == {"gpu_layers": 7}
    trainer = {"per_device_train_batch_size": 2, "max_seq_length": 4096, "lora_r": 8}
    assert in_own_words(trainer) == {"batch_per_gpu": 2, "seq_len": 4096, "lora_rank": 8}
