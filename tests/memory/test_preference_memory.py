"""Training by preferences and rewards: copies, logits of the answers, the engine's share."""

from typing import Any

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.units import GIB
from rigplanner.workload.preference import taken_apart

GRPO: dict[str, Any] = {
    "model": "qwen2.5-7b",
    "task": "grpo",
    "precision": "bf16",
    "input_tokens": 512,
    "output_tokens": 512,
    "batch_per_gpu": 1,
}
PARAMS = 7.615616e9


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def estimate(zoo: Zoo, gpu: str = "H20", count: int = 2, **fields: Any) -> MemoryEstimate:
    return estimate_memory(Workload(**(GRPO | fields)), find_gpu(gpu), count, zoo)


def test_a_7b_on_two_cards_of_96_gb(zoo: Zoo) -> None:
    """One card trains, one writes: 90 and 80 GB are in use (lsdefine/simple_GRPO issue 21)."""
    told = estimate(zoo)
    assert told.low_gib < 90e9 / GIB < told.high_gib
    assert told.device_gib == pytest.approx(90e9 / GIB, rel=0.1)
    assert told.detail_gib["rollout"] == pytest.approx(0.9 * 96, rel=0.03)
    assert told.assumed["colocated"] == "false" and told.assumed["reference"] == "true"


def test_adapters_on_a_3b_beside_an_engine_on_another_card(zoo: Zoo) -> None:
    """About 12 GB at the peak of the step (modelscope/ms-swift issue 3848)."""
    told = estimate(
        zoo,
        "A100 80GB",
        8,
        model="qwen2.5-3b",
        stack="ms-swift",
        lora_rank=64,
        input_tokens=2048,
        output_tokens=1024,
        variant={"colocated": False},
    )
    assert told.reserved_gib == pytest.approx(12e9 / GIB, rel=0.1)


def test_answers_alone_make_logits_where_they_are_written(zoo: Zoo) -> None:
    small = {"model": "qwen3-0.6b", "lora_rank": 16, "variant": {"colocated": False}}
    short, long, prompted = (
        estimate(zoo, output_tokens=answer, input_tokens=prompt, **small).parts.activations_gib
        for answer, prompt in ((1024, 1024), (2048, 1024), (1024, 2048))
    )
    logits = 18 * 1024 * 151_936 / GIB
    assert long - short == pytest.approx(logits, rel=0.12)
    assert prompted - short < 0.2 * logits


@pytest.mark.parametrize(
    ("fields", "copies"),
    [
        ({}, 1),
        ({"variant": {"reference": False}}, 0),
        ({"variant": {"beta": 0}}, 0),
        ({"lora_rank": 16}, 0),
        ({"task": "dpo"}, 1),
    ],
)
def test_a_reference_stands_beside_weights_that_all_train(
    zoo: Zoo, fields: dict[str, Any], copies: int
) -> None:
    plain = estimate(
        zoo, **{**fields, "task": "train_lora" if "lora_rank" in fields else "train_full"}
    )
    told = estimate(zoo, **fields)
    more = told.parts.weights_gib - plain.parts.weights_gib
    assert more == pytest.approx(copies * 2 * PARAMS / GIB, abs=0.02)


def test_the_critic_of_ppo_has_states_of_its_own_and_all_is_sharded(zoo: Zoo) -> None:
    ways = {"parallelism": Parallelism(zero=3), "variant": {"colocated": True}}
    grpo, ppo = (estimate(zoo, count=8, task=task, **ways).parts for task in ("grpo", "ppo"))
    assert ppo.optimizer_gib == pytest.approx(2 * grpo.optimizer_gib)
    whole = 2 * PARAMS / GIB / 8
    assert ppo.weights_gib == pytest.approx(grpo.weights_gib * 2, rel=0.01)
    assert grpo.weights_gib > 2 * whole


def test_an_engine_on_the_same_card_adds_its_share_unless_it_sleeps(zoo: Zoo) -> None:
    lora = {"lora_rank": 16, "stack": "trl", "gradient_checkpointing": True}
    awake, asleep, own = (
        estimate(zoo, "A100 80GB", 1, variant=words, **lora)
        for words in ({}, {"sleep": True}, {"engine": "transformers"})
    )
    share = 0.3 * 80
    assert awake.detail_gib["rollout"] == pytest.approx(share, rel=0.03)
    assert awake.device_gib - own.device_gib == pytest.approx(share, rel=0.03)
    assert own.device_gib < asleep.device_gib < awake.device_gib


def test_a_trainer_of_which_nothing_is_known_is_refused(zoo: Zoo) -> None:
    with pytest.raises(WorkloadFault, match="grpo trains language models"):
        estimate(zoo, model="resnet50")


@pytest.mark.parametrize(
    ("variant", "named"),
    [
        ({"colocated": "yes"}, "variant.colocated"),
        ({"colocated": False}, "one GPU both trains and writes"),
        ({"generations": 0}, "variant.generations"),
        ({"engine": "paper"}, "variant.engine"),
    ],
)
def test_words_that_mean_nothing_are_refused(variant: dict[str, Any], named: str) -> None:
    with pytest.raises(WorkloadFault, match=named):
        taken_apart(Workload(task="grpo", model="qwen2.5-7b", variant=variant), 1)


def test_one_card_in_four_writes_unless_the_stack_shares_them() -> None:
    for stack, count, cards in ((None, 2, (1, 1)), ("trl", 8, (6, 2)), ("verl", 8, (8, 8))):
        split = taken_apart(Workload(task="grpo", model="qwen2.5-7b", stack=stack), count)
        assert (split.trainers, split.writers) == cards
    with pytest.raises(WorkloadFault, match="engine_gpus"):
        taken_apart(Workload(task="ppo", model="gpt2", variant={"engine_gpus": 2}), 2)


def test_above_a_quantised_base_the_trainer_itself_writes(zoo: Zoo) -> None:
    narrow = {"precision": "nf4", "lora_rank": 32, "stack": "trl"}
    told = estimate(zoo, "T4", 1, **narrow)
    engine = estimate(zoo, "T4", 1, variant={"engine": "vllm"}, **narrow)
    assert told.assumed["engine"] == "transformers"
    assert told.device_gib < engine.device_gib - 2 * PARAMS / GIB / 2


def test_packed_pairs_share_the_length(zoo: Zoo) -> None:
    """Qwen2.5 7B in full on four cards, packs of 8,192 tokens (ms-swift, examples/train/packing:
    50 GiB a card)."""
    fields: dict[str, Any] = {
        "task": "dpo",
        "stack": "ms-swift",
        "input_tokens": None,
        "output_tokens": None,
        "seq_len": 8192,
        "attention": "flash",
        "flags": ["expandable_segments"],
        "parallelism": Parallelism(data=4, zero=3),
    }
    packed = estimate(zoo, "A100 80GB", 4, samples="packed", **fields)
    assert packed.device_gib == pytest.approx(50, rel=0.1)
    assert packed.low_gib < 50 < packed.high_gib
    apart = estimate(zoo, "A100 80GB", 4, samples="equal", **fields)
    assert apart.parts.activations_gib > 1.5 * packed.parts.activations_gib
