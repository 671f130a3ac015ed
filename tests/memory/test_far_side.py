"""The other way round: what is largest, who fits how many users, what makes a job fit, cards that
differ."""

from typing import Any

import msgspec
import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.activation_breakdown import activation_kinds
from rigplanner.memory.capacity.capacity_search import WHAT, reach
from rigplanner.memory.capacity.changes import cheapest_changes
from rigplanner.memory.capacity.levers import room_gib
from rigplanner.memory.capacity.mixed_gpus import card_plan, layers_of
from rigplanner.memory.capacity.users import most_users
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Parallelism, Workload, changed

SERVE = {
    "model": "llama-3.1-8b",
    "task": "serve",
    "precision": "bf16",
    "input_tokens": 1000,
    "output_tokens": 24,
}
GGUF = {
    "model": "llama-3.1-8b",
    "task": "inference",
    "precision": "q4_k_m",
    "input_tokens": 4096,
    "output_tokens": 256,
}


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def gpu_of(part: str) -> GPU:
    found = shipped_catalog().get(part)
    assert isinstance(found, GPU)
    return found


@pytest.fixture(scope="module")
def card() -> GPU:
    return gpu_of("nvidia.geforce.rtx-4090")


def test_users_of_a_pool_by_hand(zoo: Zoo) -> None:
    h100 = gpu_of("nvidia.datacenter.h100-sxm5-80gb")
    found = most_users(Workload(**SERVE), h100, 1, zoo)
    assert found.tokens == 1024 and found.basis == "pool"
    assert found.per_user_gib == pytest.approx(2 * 32 * 8 * 128 * 2 * 1024 / 2**30)
    assert found.users == int(found.pool_gib / found.per_user_gib)
    assert found.pool_gib < 0.9 * 80 - 8.03e9 * 2 / 2**30


def test_replicas_multiply_and_tensor_ranks_share(zoo: Zoo) -> None:
    h100 = gpu_of("nvidia.datacenter.h100-sxm5-80gb")
    replicas = Workload(**SERVE, parallelism=Parallelism(tensor=1))
    one, four = (most_users(replicas, h100, count, zoo) for count in (1, 4))
    assert four.users == 4 * one.users and four.replicas == 4
    shared = most_users(Workload(**SERVE, parallelism=Parallelism(tensor=4)), h100, 4, zoo)
    assert shared.replicas == 1 and shared.users > four.users
    assert most_users(Workload(**SERVE), h100, 4, zoo).users == shared.users
    wide = most_users(Workload(**SERVE, parallelism=Parallelism(tensor=16)), h100, 16, zoo)
    assert wide.per_user_gib == pytest.approx(2 * one.per_user_gib)


def test_longer_contexts_and_wider_caches_serve_fewer(zoo: Zoo) -> None:
    h100 = gpu_of("nvidia.datacenter.h100-sxm5-80gb")
    base = most_users(Workload(**SERVE), h100, 1, zoo).users
    assert most_users(Workload(**{**SERVE, "input_tokens": 8000}), h100, 1, zoo).users < base / 7
    assert most_users(Workload(**SERVE, kv_precision="fp8"), h100, 1, zoo).users == pytest.approx(
        2 * base, abs=1
    )
    assert most_users(Workload(**SERVE, memory_utilization=0.5), h100, 1, zoo).users < base


def test_training_has_no_users(zoo: Zoo, card: GPU) -> None:
    with pytest.raises(WorkloadFault, match="task"):
        most_users(Workload(model="gpt2", task="train_full"), card, 1, zoo)


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize(
    "fields",
    [
        SERVE,
        GGUF,
        {"model": "qwen3-1.7b", "task": "inference", "precision": "bf16", "input_tokens": 99},
    ],
)
def test_what_is_reached_fits_and_a_little_more_does_not(
    zoo: Zoo, card: GPU, what: str, fields: dict[str, Any]
) -> None:
    found = reach(what, Workload(**fields), card, 1, zoo)
    assert found.value >= found.sure > 0
    assert found.at is not None and found.at.device_gib <= found.room_gib
    if fields is not SERVE and what == "batch":
        more = msgspec.structs.replace(
            Workload(**fields), batch_per_gpu=found.value + max(2, found.value // 64)
        )
        assert estimate_memory(more, card, 1, zoo).device_gib > room_gib(card)


def test_longest_served_context_still_holds_the_sequences(zoo: Zoo, card: GPU) -> None:
    work = Workload(**SERVE, batch_per_gpu=4)
    longest = reach("context", work, card, 1, zoo).value
    at, beyond = (
        most_users(msgspec.structs.replace(work, input_tokens=size), card, 1, zoo).users
        for size in (longest, longest * 102 // 100)
    )
    assert at >= 4 > beyond


def test_an_unknown_word_is_named(zoo: Zoo, card: GPU) -> None:
    with pytest.raises(WorkloadFault, match="batch, context, users"):
        reach("speed", Workload(**SERVE), card, 1, zoo)


def test_one_change_that_fits_comes_first_and_one_more_card_counts(zoo: Zoo, card: GPU) -> None:
    big = Workload(**{**GGUF, "model": "llama-3.1-70b"})
    changes = cheapest_changes(big, card, 1, zoo)
    by_code = {change.code: change for change in changes}
    assert by_code["one_more_gpu"].count == 2 and by_code["one_more_gpu"].fits
    layers = by_code["fewer_gpu_layers"].fields["gpu_layers"]
    assert 0 < layers < 80 and by_code["fewer_gpu_layers"].fits
    assert estimate_memory(
        msgspec.structs.replace(big, gpu_layers=layers + 2), card, 1, zoo
    ).high_gib > room_gib(card)


def test_as_few_experts_in_ram_as_make_room(zoo: Zoo, card: GPU) -> None:
    big = Workload(model="gpt-oss-120b", task="inference", stack="llama.cpp", seq_len=16384)
    found = {change.code: change for change in cheapest_changes(big, card, 1, zoo)}
    moved = found["experts_in_ram"].fields["n_cpu_moe"]
    assert 20 <= moved <= 32 and found["experts_in_ram"].fits
    assert found["experts_in_ram"].speed_share > found["fewer_gpu_layers"].speed_share
    fewer = msgspec.structs.replace(big, n_cpu_moe=moved - 1)
    assert estimate_memory(fewer, card, 1, zoo).high_gib > room_gib(card)


def test_layers_over_two_cards_reach_further_than_one(zoo: Zoo, card: GPU) -> None:
    work = Workload(**{**GGUF, "model": "llama-3.1-70b"})
    assert reach("context", work, card, 1, zoo).value == 0
    both = reach("context", work, card, 2, zoo)
    assert both.value > 1000 and both.at is not None and both.at.parts.weights_gib < 21
    small = gpu_of("nvidia.geforce.rtx-3060")
    mixed = reach("context", work, card, 2, zoo, (card, small))
    assert mixed.value < both.value
    users = reach("users", Workload(**GGUF), card, 2, zoo)
    assert users.users is not None and users.users.replicas == 1
    assert users.value > reach("users", Workload(**GGUF), card, 1, zoo).value
    more = {change.code: change for change in cheapest_changes(work, card, 2, zoo)}
    assert more["one_more_gpu"].count == 3


def test_changes_are_joined_until_they_fit(zoo: Zoo, card: GPU) -> None:
    work = Workload(
        model="llama-3.1-8b", task="train_full", precision="bf16", batch_per_gpu=4, seq_len=2048
    )
    first = cheapest_changes(work, card, 1, zoo)[0]
    assert first.fits and "+" in first.code and first.speed_share > 0 and first.source
    fields = {name: value for name, value in first.fields.items() if name != "parallelism"}
    ways = first.fields.get("parallelism")
    then = msgspec.structs.replace(
        work, **fields, parallelism=msgspec.convert(ways, Parallelism) if ways else None
    )
    assert estimate_memory(then, card, first.count, zoo).device_gib == pytest.approx(
        first.device_gib
    )


def test_what_helps_only_together_with_others_joins_the_row_and_cards_come_last(zoo: Zoo) -> None:
    work = Workload(model="llama-3.1-70b", task="train", precision="bf16", seq_len=4096)
    changes = cheapest_changes(work, gpu_of("nvidia.datacenter.h100-sxm5-80gb"), 8, zoo)
    assert "checkpointing" not in {change.code for change in changes}
    assert changes[0].fits and changes[0].count == 8
    assert "checkpointing" in changes[0].code.split("+")


def test_degrees_of_parallelism_join_and_the_task_is_kept_where_it_can_be(zoo: Zoo) -> None:
    work = Workload(model="llama-3.1-70b", task="train_full", precision="bf16", seq_len=1024)
    h200 = gpu_of("nvidia.datacenter.h200-sxm5-141gb")
    found = {change.code: change for change in cheapest_changes(work, h200, 8, zoo)}
    both = found["zero_3+offload_optimizer"]
    assert both.fits and both.fields["parallelism"] == {"zero": 3, "offload": "optimizer"}
    h100 = gpu_of("nvidia.datacenter.h100-sxm5-80gb")
    smaller = cheapest_changes(changed(work, {"model": "llama-3.1-8b"}), h100, 2, zoo)
    fitting = [change for change in smaller if change.fits]
    assert fitting[0].code == "lora" and "task" not in fitting[1].fields


def test_stored_in_eight_bits_may_be_stored_in_four(zoo: Zoo) -> None:
    served = Workload(model="deepseek-r1", task="serve", precision="fp8", stack="vllm")
    h100 = gpu_of("nvidia.datacenter.h100-sxm5-80gb")
    fields = {change.code: change.fields for change in cheapest_changes(served, h100, 8, zoo)}
    assert fields["four_bit_weights"] == {"precision": "int4", "quant": "awq"}


def test_no_network_of_known_layers_holds_less_than_its_weights(zoo: Zoo) -> None:
    told = estimate_memory(
        Workload(model="deepseek-r1", task="inference", precision="fp8", stack="vllm"),
        gpu_of("nvidia.datacenter.h100-sxm5-80gb"),
        8,
        zoo,
    )
    assert told.parts.weights_gib <= told.low_gib


@pytest.mark.parametrize(
    ("layers", "on_gpus", "ratios", "counts", "output"),
    [
        (32, None, [1, 1], [17, 15], 1),
        (32, None, [3, 1], [25, 7], 1),
        (32, 17, [1, 1], [9, 7], 1),
        (32, 0, [1, 1], [0, 0], None),
        (32, 999, [1, 0], [32, 0], 0),
        (4, 1, [1, 1], [0, 0], 0),
    ],
)
def test_layers_are_dealt_as_llama_cpp_does(
    layers: int, on_gpus: int | None, ratios: list[float], counts: list[int], output: int | None
) -> None:
    assert layers_of(layers, on_gpus, ratios) == (counts, output)


def test_split_by_free_memory_and_by_ratio(zoo: Zoo, card: GPU) -> None:
    small = gpu_of("nvidia.geforce.rtx-3060")
    work = Workload(**{**GGUF, "model": "qwen3-32b"})
    free = card_plan(work, [card, small], zoo)
    assert free.split == "free" and not free.overflows
    assert free.cards[0].share > free.cards[1].share
    even = card_plan(msgspec.structs.replace(work, tensor_split=[1.0, 1.0]), [card, small], zoo)
    assert even.split == "ratio" and even.cards[1].need.device_gib > free.cards[1].need.device_gib
    whole = estimate_memory(work, card, 1, zoo)
    assert sum(one.need.parts.weights_gib for one in free.cards) == pytest.approx(
        whole.parts.weights_gib
    )
    assert sum(one.need.parts.kv_cache_gib for one in free.cards) == pytest.approx(
        whole.parts.kv_cache_gib
    )


def test_the_card_that_overflows_is_named(zoo: Zoo, card: GPU) -> None:
    small = gpu_of("nvidia.geforce.gtx-1080")
    train = Workload(
        model="qwen3-1.7b", task="train_lora", precision="bf16", seq_len=2048, batch_per_gpu=2
    )
    plan = card_plan(train, [card, small], zoo)
    assert plan.overflows == (1,) and plan.fullest.gpu == small.name and plan.cards[1].over_gib > 0
    busy = card_plan(Workload(**GGUF), [card, card], zoo, [24.0, 2.0])
    assert busy.cards[1].room_gib == 2.0 and busy.cards[0].share > busy.cards[1].share


def test_lists_that_do_not_match_are_named(zoo: Zoo, card: GPU) -> None:
    with pytest.raises(WorkloadFault, match="free_gib"):
        card_plan(Workload(**GGUF), [card], zoo, [1.0, 2.0])
    with pytest.raises(WorkloadFault, match="tensor_split"):
        card_plan(Workload(**GGUF, tensor_split=[1.0]), [card, card], zoo)
    with pytest.raises(WorkloadFault, match=r"hardware\.gpus"):
        card_plan(Workload(**GGUF), [], zoo)


KINDS = [
    {"model": "llama-3.1-8b", "task": "train_lora", "precision": "bf16", "seq_len": 512},
    {
        "model": "bert-base-uncased",
        "task": "train_full",
        "precision": "amp_fp16",
        "batch_per_gpu": 16,
        "seq_len": 512,
    },
    {
        "model": "qwen3-1.7b",
        "task": "inference",
        "precision": "bf16",
        "input_tokens": 512,
        "output_tokens": 8,
    },
    {"model": "sdxl", "task": "inference", "precision": "fp16"},
]


@pytest.mark.parametrize("fields", KINDS)
def test_activations_by_kind_sum_to_the_activations(
    zoo: Zoo, card: GPU, fields: dict[str, Any]
) -> None:
    work = Workload(**fields)
    kinds = activation_kinds(work, card, 1, zoo)
    assert sum(kinds.values()) == pytest.approx(
        estimate_memory(work, card, 1, zoo).parts.activations_gib
    )
    assert all(size > 0 for size in kinds.values())


def test_logits_stand_out_in_a_small_net_with_many_words(zoo: Zoo) -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 100_000,
    }
    kinds = activation_kinds(
        Workload(config=config, task="train_full", optimizer="sgd", seq_len=512), None, 1, zoo
    )
    assert kinds["logits"] + kinds["backward"] > 0.95 * sum(kinds.values())
    assert max((kind for kind in kinds if kind != "backward"), key=kinds.__getitem__) == "logits"


def test_a_job_that_does_not_say_is_shared_as_its_stack_does_and_says_so(zoo: Zoo) -> None:
    h100 = gpu_of("nvidia.datacenter.h100-sxm5-80gb")
    served = estimate_memory(Workload(**SERVE), h100, 4, zoo)
    assert served.assumed["parallelism.tensor"] == "4"
    assert served.parts.weights_gib == pytest.approx(
        estimate_memory(Workload(**SERVE), h100, 1, zoo).parts.weights_gib / 4, rel=0.02
    )
    trained = Workload(
        model="llama-3.1-8b",
        task="train_full",
        precision="bf16",
        batch_per_gpu=1,
        seq_len=1024,
        stack="fsdp",
    )
    sharded = estimate_memory(trained, h100, 4, zoo)
    assert sharded.assumed["parallelism.zero"] == "3"
    said = estimate_memory(
        msgspec.structs.replace(trained, parallelism=Parallelism(zero=3)), h100, 4, zoo
    )
    assert sharded.device_gib == said.device_gib and "parallelism.zero" not in said.assumed
    alone = estimate_memory(trained, h100, 1, zoo)
    assert not {"parallelism.zero", "parallelism.tensor"} & set(alone.assumed)


@pytest.mark.parametrize("stack", ["llama.cpp", "ollama", "lm-studio", "koboldcpp"])
def test_programs_around_llama_cpp_deal_layers_over_the_cards_too(stack: str) -> None:
    """A 72B model of 44 GB in 4 bits runs on two cards of 24 GB, whatever starts it."""
    work = Workload(model="qwen2.5-72b", task="inference", precision="q4_k_m", stack=stack)
    card = shipped_catalog().parts["nvidia.geforce.rtx-3090"]
    assert isinstance(card, GPU)
    plan = card_plan(work, [card] * 2, shipped_zoo())
    assert plan.split == "free"
    assert all(card.fits for card in plan.cards)
    assert 38 < sum(card.need.parts.weights_gib for card in plan.cards) < 46
