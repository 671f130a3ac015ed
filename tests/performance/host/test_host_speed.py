"""Speeds that hear the placement: on cards, in RAM, without a GPU, and what fits best."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.estimate import estimate_memory
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.best_format import proposals
from rigplanner.performance.host.predict import predict_hosted
from rigplanner.performance.host.verify import verifying_command
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload

ZOO = shipped_zoo()
OSS = Workload(
    model="gpt-oss-120b",
    task="inference",
    precision="mxfp4",
    stack="llama.cpp",
    input_tokens=1000,
    output_tokens=500,
)


def speed(work: Workload, name: str = "RTX 3090", count: int = 1) -> SpeedEstimate:
    return predict_speed(work, find_gpu(name), count, 1, "pcie" if count > 1 else "none", ZOO)


def test_fewer_layers_on_the_gpu_are_slower_layer_by_layer() -> None:
    work = replace(OSS, model="llama-3.1-70b", precision="q4_k_m")
    found = [speed(replace(work, gpu_layers=layers), count=2).value for layers in (0, 20, 60)]
    assert found == sorted(found) and found[2] > 2 * found[0]
    whole = speed(work, count=2)
    assert whole.value > found[2] and whole.bound == "bandwidth" and whole.anchors


@pytest.mark.parametrize("few", [26, 20])
def test_fewer_experts_in_ram_are_faster(few: int) -> None:
    all_of_them = speed(replace(OSS, cpu_moe=True), count=2)
    some = speed(replace(OSS, n_cpu_moe=few), count=2)
    assert some.value > 1.1 * all_of_them.value and some.bound == "ram"
    assert all_of_them.low < all_of_them.value < all_of_them.high
    assert "host" in all_of_them.assumed


def test_a_card_that_overflows_says_what_stays_behind() -> None:
    found = speed(OSS)
    assert int(found.assumed["n_cpu_moe"]) > 20 and not found.anchors
    assert speed(replace(OSS, stack="ollama")).assumed["gpu_layers"]


def test_weights_that_vllm_reads_over_the_link_bind_it() -> None:
    work = Workload(
        model="llama-3.1-8b",
        task="inference",
        precision="bf16",
        stack="vllm",
        cpu_offload_gb=8.0,
        input_tokens=100,
        output_tokens=100,
    )
    found = speed(work)
    assert found.bound == "pcie" and 2 < found.value < 4, "8 GB over PCIe 4.0 x16 at 20 to 25 GB/s"


def test_more_streams_wake_more_experts() -> None:
    one, eight = (speed(replace(OSS, cpu_moe=True, batch_per_gpu=users)) for users in (1, 8))
    assert one.value < eight.value < 8 * one.value


def test_a_computer_alone_tells_prompt_and_answer() -> None:
    work = Workload(model="llama-3.1-8b", task="inference", precision="q8_0", input_tokens=512)
    found = predict_hosted(work, (), None, ZOO)
    assert found is not None and found.bound == "ram" and found.lift == "more-channels"
    assert 3 < found.value < 10, "two channels of DDR5-5200"
    assert found.first_token_ms is not None and found.first_token_ms > 1_000
    reading = predict_hosted(replace(work, task="prefill"), (), None, ZOO)
    assert reading is not None and reading.value > 4 * found.value


def test_the_best_is_the_largest_good_format_that_the_cards_hold() -> None:
    dense = Workload(model="llama-3.1-70b", task="inference")
    ways = proposals(dense, [find_gpu("RTX 3090")] * 2, None, ZOO)
    best = next(way for way in ways if way.best)
    assert (best.precision, best.cards, best.whole) == ("q4_k_m", 2, True)
    assert [way.device_gib for way in ways if way.whole] == sorted(
        (way.device_gib for way in ways if way.whole), reverse=True
    )
    assert all(way.gpu_layers is not None for way in ways if not way.whole)
    only = proposals(replace(OSS, precision=None), [find_gpu("RTX 4090")], None, ZOO)
    assert [way.precision for way in only] == ["mxfp4"] and only[0].n_cpu_moe


def test_tensor_split_shares_each_layer_and_layers_take_turns() -> None:
    work = replace(OSS, model="llama-3.1-70b", precision="q4_k_m")
    turns, shared = (speed(replace(work, split=how), count=2) for how in ("layer", "tensor"))
    assert turns.value == pytest.approx(speed(work, count=2).value)
    assert 1.3 * turns.value < shared.value < 2 * turns.value
    need = estimate_memory(replace(work, split="tensor"), find_gpu("RTX 3090"), 2, ZOO)
    whole = estimate_memory(work, find_gpu("RTX 3090"), 1, ZOO)
    assert need.parts.weights_gib == pytest.approx(whole.parts.weights_gib / 2, rel=0.02)


BENCH = "llama-bench -m gpt-oss-120b-MXFP4.gguf -p 1000 -n 500 -fa 1 -ngl"
LATENCY = "vllm bench latency --model gpt-oss-120b --input-len 1000 --output-len 500"
COMMANDS = (
    (
        "llama.cpp",
        {"n_cpu_moe": 26, "kv_precision": "q8_0"},
        2,
        " 99 -ncmoe 26 -ctk q8_0 -ctv q8_0",
    ),
    ("llama.cpp", {}, 0, " 0"),
    (
        "vllm",
        {"cpu_offload_gb": 8.0},
        2,
        " --batch-size 1 --tensor-parallel-size 2 --cpu-offload-gb 8",
    ),
)


@pytest.mark.parametrize(("stack", "fields", "cards", "rest"), COMMANDS)
def test_the_engines_own_command_would_check_it(
    stack: str, fields: dict[str, object], cards: int, rest: str
) -> None:
    start = BENCH if stack == "llama.cpp" else LATENCY
    assert verifying_command(replace(OSS, **fields), stack, cards) == start + rest
    assert verifying_command(OSS, "ktransformers", 1) is None


def test_users_at_once_are_checked_at_once() -> None:
    many = replace(OSS, task="serve", users=8)
    vllm, llama, sglang = (
        verifying_command(many, stack, 2) for stack in ("vllm", "llama.cpp", "sglang")
    )
    assert vllm == (
        "vllm serve gpt-oss-120b --tensor-parallel-size 2 & vllm bench serve --model gpt-oss-120b"
        " --dataset-name random --random-input-len 1000 --random-output-len 500"
        " --max-concurrency 8 --num-prompts 80"
    )
    assert llama == (
        "llama-batched-bench -m gpt-oss-120b-MXFP4.gguf -c 12000 -npp 1000 -ntg 500 -npl 8 -fa 1"
        " -ngl 99"
    )
    assert sglang and "--batch-size 8" in sglang


def test_ollama_works_through_experts_in_ram_slower_until_it_runs_llama_server() -> None:
    """An RTX 4070 with a third of the layers in RAM: 12 tokens/s with ollama's own engine, 35 with
    llama.cpp (kenimoto.dev, rtx-4070-cpu-moe-flag-2-8x-tokens)."""
    work = replace(OSS, model="qwen3.5-35b-a3b", precision="q4_k_m", stack="ollama")
    own, server, plain = (
        speed(replace(work, framework_text=text, stack=stack), "RTX 4070")
        for text, stack in (
            ("ollama 0.12", "ollama"),
            ("ollama 0.31", "ollama"),
            (None, "llama.cpp"),
        )
    )
    assert own.low < 12.2 < own.high and own.assumed["gpu_layers"]
    assert server.value == pytest.approx(plain.value) and server.assumed["n_cpu_moe"]
    assert plain.low < 34.6 < plain.high and plain.value > 1.8 * own.value
    dense = replace(OSS, model="llama-3.1-70b", precision="q4_k_m")
    assert speed(replace(dense, stack="ollama")).value == pytest.approx(speed(dense).value, rel=0.1)


def test_ollamas_own_file_of_mxfp4_is_as_large_as_it_was_published() -> None:
    sizes = [
        estimate_memory(
            replace(OSS, model="gpt-oss-20b", stack=stack), find_gpu("RTX 4090"), 1, ZOO
        ).parts.weights_gib
        for stack in ("ollama", "llama.cpp")
    ]
    assert 11.2 < sizes[0] < 12.9, "13.8 GB with the table of words, which stays in RAM"
    assert sizes[1] == pytest.approx(10.69, rel=0.02), "as llama.cpp logs"
