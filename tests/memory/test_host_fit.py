"""What llama.cpp and ollama leave in RAM by themselves, computers without a GPU, shared memory."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.capacity.host_fit import fitted, held_gib, room_of
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.on_host import estimate_on_host
from rigplanner.memory.usable_memory import shared_limit, usable_gib
from rigplanner.rig.workload import Workload

ZOO = shipped_zoo()
OSS = Workload(
    model="gpt-oss-120b", task="inference", precision="mxfp4", stack="llama.cpp", seq_len=8192
)
DENSE = Workload(
    model="llama-3.1-70b", task="inference", precision="q4_k_m", stack="llama.cpp", seq_len=8192
)


def card(name: str) -> GPU:
    return find_gpu(name)


def test_what_fits_is_left_alone_and_what_is_said_is_heard() -> None:
    small = replace(DENSE, model="llama-3.1-8b")
    assert fitted(small, [card("RTX 3090")], ZOO) is small
    told = replace(DENSE, gpu_layers=10)
    assert fitted(told, [card("RTX 3090")], ZOO) is told
    other = replace(DENSE, stack="vllm")
    assert fitted(other, [card("RTX 3090")], ZOO) is other


def test_what_a_card_holds_whole_stays_whole_without_room_to_spare() -> None:
    """Llama 3 8B in f16 writes 40 tokens/s on a 4080, more than one layer in RAM would let it
    (XiongjieDai/GPU-Benchmarks-on-LLM-Inference)."""
    work, one = (
        replace(DENSE, model="llama-3.1-8b", precision="f16", seq_len=1024),
        card("RTX 4080"),
    )
    assert (room_of([one]) or 0.0) < held_gib(work, [one], ZOO) < (usable_gib(one) or 0.0)
    assert fitted(work, [one], ZOO) is work
    assert fitted(replace(work, seq_len=16384), [one], ZOO).gpu_layers == 28


@pytest.mark.parametrize("work", [OSS, DENSE])
@pytest.mark.parametrize("cards", [1, 2])
def test_the_fit_fills_the_cards_and_one_more_would_not(work: Workload, cards: int) -> None:
    gpus = [card("RTX 3090")] * cards
    if held_gib(work, gpus, ZOO) <= (room_of(gpus) or 0):
        return
    found = fitted(work, gpus, ZOO)
    assert held_gib(found, gpus, ZOO) <= (room_of(gpus) or 0)
    if work is OSS:
        assert found.gpu_layers is None and found.n_cpu_moe
        fuller = replace(found, n_cpu_moe=found.n_cpu_moe - 1)
    else:
        assert found.n_cpu_moe is None and found.gpu_layers is not None
        fuller = replace(found, gpu_layers=found.gpu_layers + 1)
    assert held_gib(fuller, gpus, ZOO) > (room_of(gpus) or 0)


def test_ollama_leaves_whole_layers_experts_or_not() -> None:
    found = fitted(replace(OSS, stack="ollama"), [card("RTX 3090")], ZOO)
    assert found.n_cpu_moe is None and 0 < (found.gpu_layers or 0) < 36


def test_what_leaves_the_cards_comes_to_the_host_to_the_byte() -> None:
    whole = estimate_memory(OSS, card("RTX 3090"), 1, ZOO)
    half = estimate_memory(replace(OSS, n_cpu_moe=18), card("RTX 3090"), 1, ZOO)
    moved = whole.device_gib - half.device_gib
    assert moved == pytest.approx(half.host_gib - whole.host_gib, rel=1e-6)
    assert moved == pytest.approx(0.5 * 114.66 * 4.25 / 8 / 1.073742, rel=0.01)


def test_the_reserved_context_is_held_whatever_the_prompt() -> None:
    short = replace(DENSE, model="llama-3.1-8b", seq_len=131_072, input_tokens=500)
    assert estimate_memory(short, card("RTX 3090"), 1, ZOO).parts.kv_cache_gib == pytest.approx(16)
    used = replace(short, seq_len=None)
    assert estimate_memory(used, card("RTX 3090"), 1, ZOO).parts.kv_cache_gib < 0.1


def test_the_cache_on_the_host_and_vllms_offload_move_their_bytes() -> None:
    kept = estimate_memory(replace(DENSE, kv_on_host=True), card("RTX 3090"), 1, ZOO)
    assert kept.parts.kv_cache_gib == 0 and kept.host_gib > 2.5
    served = Workload(model="llama-3.1-8b", task="serve", precision="bf16", stack="vllm")
    some = replace(served, cpu_offload_gb=6.0)
    both = [estimate_memory(work, card("RTX 3090"), 1, ZOO) for work in (served, some)]
    less = both[0].parts.weights_gib - both[1].parts.weights_gib
    assert less == pytest.approx(6e9 / 2**30) == both[1].host_gib


def test_without_a_gpu_all_lies_in_ram() -> None:
    found = estimate_on_host(DENSE, ZOO)
    assert found.device_gib == found.high_gib == 0 and 40 < found.host_gib < 45
    trained = estimate_on_host(Workload(model="resnet-50", task="train", batch_per_gpu=32), ZOO)
    assert trained.device_gib == trained.high_gib == 0 and 2 < trained.host_gib < 5
    with pytest.raises(WorkloadFault, match="stack"):
        estimate_on_host(replace(DENSE, stack="vllm"), ZOO)


@pytest.mark.parametrize(
    ("name", "usual", "most", "setting"),
    [
        ("Apple M3 Ultra 80-core GPU 512GB", 384.0, 448.0, "iogpu.wired_limit_mb"),
        ("Apple M1 8-core GPU 16GB", 10.67, 14.0, "iogpu.wired_limit_mb"),
        ("Ryzen AI Max+ 395", 64.0, 112.0, "ttm.pages_limit"),
        ("GB10", 120.0, 120.0, ""),
    ],
)
def test_systems_keep_a_part_of_shared_memory(
    name: str, usual: float, most: float, setting: str
) -> None:
    limit = shared_limit(card(name))
    assert limit is not None and limit.setting == setting
    assert limit.usual_gib == pytest.approx(usual, abs=0.01)
    assert limit.most_gib == usable_gib(card(name)) == most
    assert shared_limit(card("RTX 3090")) is None


@pytest.mark.parametrize("name", ["Apple M3 Ultra 60-core GPU 96GB", "Ryzen AI Max+ 395", "GB10"])
@pytest.mark.parametrize(
    "told", [{"gpu_layers": 0}, {"cpu_moe": True}, {"kv_on_host": True}, {"stack": "ktransformers"}]
)
def test_nothing_is_gained_by_leaving_layers_to_a_cpu_that_shares_the_memory(
    name: str, told: dict[str, object]
) -> None:
    plain = estimate_memory(OSS, card(name), 1, ZOO)
    placed = estimate_memory(replace(OSS, **told), card(name), 1, ZOO)
    assert placed.device_gib == pytest.approx(plain.device_gib, rel=0.01)
    assert placed.host_gib == pytest.approx(plain.host_gib, rel=0.01)


def test_a_model_beyond_all_cards_deals_some_of_them_nothing() -> None:
    """A network of which only the size is known, whose layers are larger than each of the cards."""
    work = Workload(
        model="kimi-k3",
        task="inference",
        precision="fp16",
        stack="llama.cpp",
        batch_per_gpu=157,
        seq_len=7592,
        output_tokens=431,
    )
    placed = fitted(work, [card("GeForce GTX 780")] * 8, ZOO)
    assert placed.gpu_layers is not None and placed.gpu_layers <= 1
