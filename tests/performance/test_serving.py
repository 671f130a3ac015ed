"""What a step of a language model that writes reads and multiplies."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.machine.topology.collective_time import allreduce_seconds
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.modelled import model_speed
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.serving import (
    ONE_SHOT_S,
    Stream,
    packed_whole,
    serve,
    stored_bytes,
    touched_m,
)
from rigplanner.rig.workload import Workload


def job(gpu: str, count: int = 1, link: str = "pcie", **fields: object) -> Job:
    return read_job(Workload(**fields), find_gpu(gpu), count, 1, link, shipped_zoo())


def stream(gpu: str, count: int = 1, link: str = "pcie", **fields: object) -> Stream:
    found = model_speed(job(gpu, count, link, **fields)).stream
    assert found
    return found


def test_one_token_reads_its_experts_and_many_read_all() -> None:
    shape = job(
        "RTX 4090", model="qwen3-30b-a3b", task="decode", precision="int4", stack="vllm"
    ).shape
    assert touched_m(shape, 1) == pytest.approx(shape.active_m, rel=1e-3)
    assert shape.active_m < touched_m(shape, 8) < 0.5 * shape.params_m
    assert touched_m(shape, 2000) == pytest.approx(shape.params_m - shape.head_m, rel=1e-3), (
        "tokens are looked up in a table"
    )


def test_a_dense_model_reads_the_same_for_any_number_of_tokens() -> None:
    shape = job("RTX 4090", model="qwen3-8b", task="decode", precision="int4", stack="vllm").shape
    assert touched_m(shape, 1) == touched_m(shape, 500) == shape.active_m


@pytest.mark.parametrize(
    ("quant", "stored"),
    [("gptq", "int4"), ("awq", "int4"), ("gptq-int8", "int8"), ("bitsandbytes", "nf4")],
)
@pytest.mark.parametrize("arithmetic", ["fp16", "bf16", None])
def test_quantised_weights_are_read_as_they_lie(
    quant: str, stored: str, arithmetic: str | None
) -> None:
    asked = {"model": "llama-2-7b", "task": "decode", "stack": "vllm", "quant": quant}
    assert stream("RTX 4090", precision=arithmetic, **asked) == stream(
        "RTX 4090", precision=stored, **asked
    )


def test_a_configuration_says_how_the_weights_lie() -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "vocab_size": 32000,
    }
    quantised = {**config, "quantization_config": {"quant_method": "awq", "bits": 4}}
    asked = {"task": "decode", "stack": "vllm"}
    told = stream("RTX 4090", config=config, precision="int4", quant="awq", **asked)
    assert stream("RTX 4090", config=quantised, precision="fp16", **asked) == told


def test_eight_streams_of_experts_are_far_from_eight_times_one() -> None:
    asked = {
        "task": "decode",
        "precision": "int4",
        "stack": "vllm",
        "input_tokens": 370,
        "output_tokens": 128,
    }
    experts, dense = (
        stream("Jetson AGX Thor", model=model, batch_per_gpu=8, **asked).tokens_s
        / stream("Jetson AGX Thor", model=model, **asked).tokens_s
        for model in ("qwen3-30b-a3b", "qwen3-8b")
    )
    assert 2 < experts < 4.5 and dense > 6


def test_few_streams_of_experts_do_not_read_them_all() -> None:
    asked = {
        "model": "gpt-oss-20b",
        "task": "serve",
        "precision": "mxfp4",
        "stack": "vllm",
        "input_tokens": 1024,
        "output_tokens": 1024,
    }
    few, many = (
        stream("RTX PRO 6000 Blackwell", batch_per_gpu=batch, **asked) for batch in (4, 64)
    )
    assert few.traffic_s < 0.75 * many.traffic_s


def test_packed_products_need_no_widening_since_the_middle_of_2024() -> None:
    asked = {
        "model": "llama-3-8b",
        "task": "prefill",
        "precision": "q4_0",
        "stack": "llama.cpp",
        "input_tokens": 512,
    }
    old, new = (
        stream("RTX 4090", framework_text=f"llama.cpp ({month} 2024)", **asked)
        for month in ("May", "July")
    )
    assert new.traffic_s < 0.3 * old.traffic_s
    assert new.tokens_s > 1.3 * old.tokens_s
    volta = (
        stream("V100-SXM2-16GB", framework_text=f"llama.cpp ({month} 2024)", **asked)
        for month in ("May", "July")
    )
    assert len({found.traffic_s for found in volta}) == 1, "no 8-bit units of matrices"


def test_a_70b_model_on_two_cards_waits_for_their_memory() -> None:
    asked = Workload(
        model="llama-3-70b", task="decode", precision="q4_k_m", stack="llama.cpp", batch_per_gpu=1
    )
    assert (
        predict_speed(asked, find_gpu("RTX 3090"), 2, 1, "pcie", shipped_zoo()).bound == "bandwidth"
    )


def test_kernels_ramp_up_by_the_clock() -> None:
    asked = {"model": "qwen2.5-0.5b", "task": "decode", "precision": "bf16", "stack": "vllm"}
    slow, fast = (stream(gpu, **asked).other_s for gpu in ("A100-SXM4-80GB", "RTX 4090"))
    assert slow == pytest.approx(fast * 2.52 / 1.41, rel=0.1)


def test_checkpoints_of_mxfp4_pack_only_experts() -> None:
    packed, local = (
        job("RTX 5090", model="gpt-oss-20b", stack=stack, precision="mxfp4")
        for stack in ("vllm", "llama.cpp")
    )
    assert stored_bytes(packed, packed.shape.params_m) == pytest.approx(13.76e9, rel=0.01), (
        "as published"
    )
    assert stored_bytes(local, local.shape.params_m) == pytest.approx(12.1e9, rel=0.1), (
        "llama.cpp's file"
    )


def test_a_card_that_its_weights_all_but_fill_serves_few_of_the_streams_asked_for() -> None:
    asked = {
        "model": "gpt-oss-20b",
        "stack": "vllm",
        "task": "serve",
        "precision": "mxfp4",
        "batch_per_gpu": 64,
    }
    small, large = (
        serve(job(gpu, input_tokens=256, output_tokens=249, **asked))
        for gpu in ("RTX 5060 Ti 16GB", "RTX 5090")
    )
    assert 8 <= small.streams <= 32 and large.streams == 64


def test_streams_together_gain_nothing_from_more_cards_that_stage_through_the_host() -> None:
    asked = {
        "model": "llama-3-8b",
        "precision": "fp16",
        "stack": "vllm",
        "input_tokens": 206,
        "output_tokens": 202,
    }
    served = [
        stream(
            "RTX 4090", n, task="serve", batch_per_gpu=64 // n, variant={"tp": n}, **asked
        ).tokens_s
        for n in (1, 2, 4)
    ]
    alone = [
        stream("RTX 4090", n, task="decode", batch_per_gpu=1, **asked).tokens_s for n in (1, 2, 4)
    ]
    assert max(served) < 1.2 * served[0], "measured 1,646 and 1,349 tokens/s on one and four"
    assert alone[2] > 1.4 * alone[1] > 2 * alone[0], "a token of one stream still comes sooner"


def test_an_exchange_takes_what_nccl_takes_but_small_ones_over_nvlink() -> None:
    asked = {"model": "llama-3-70b", "task": "decode", "precision": "fp16", "stack": "vllm"}
    few, many = (
        stream("A100-SXM4-80GB", 8, "nvswitch", batch_per_gpu=n, **asked).exchange_s
        for n in (1, 64)
    )
    assert few == pytest.approx(2 * 80 * (ONE_SHOT_S + 8192 * 2 * 1.75 / 228e9), rel=1e-6)
    assert many == pytest.approx(
        2 * 80 * allreduce_seconds(64 * 8192 * 2, 228.0, "nvlink", 8), rel=1e-6
    )
    assert stream("RTX 3090", 4, batch_per_gpu=1, **asked).exchange_s > 2 * few


def test_packed_weights_gain_from_an_instruction_for_bytes_and_not_from_fast_half_precision() -> (
    None
):
    asked = {
        "model": "llama-2-7b",
        "task": "prefill",
        "stack": "llama.cpp",
        "batch_per_gpu": 1,
        "input_tokens": 2048,
    }
    with_it, without = (
        [stream(gpu, precision=precision, **asked).matrix_s for precision in ("q4_0", "f16")]
        for gpu in ("P40", "P100 PCIe 16GB")
    )
    assert with_it[0] == pytest.approx(with_it[1] / 2, rel=0.05)
    assert without[0] == pytest.approx(without[1] * 2, rel=0.05)
    assert without[0] > 2 * with_it[0]


@pytest.mark.parametrize(
    ("task", "stack"),
    [("serve", "vllm"), ("prefill", "vllm"), ("decode", "vllm"), ("prefill", "llama.cpp")],
)
def test_many_streams_and_prompts_take_plain_kernels_on_chips_that_engines_have_none_for(
    task: str, stack: str
) -> None:
    asked = {
        "model": "llama-3-8b",
        "task": task,
        "precision": "fp16",
        "batch_per_gpu": 1,
        "input_tokens": 512,
        "output_tokens": 99,
    }
    plain, built = (stream(gpu, stack=stack, **asked) for gpu in ("MI100", "MI210"))
    slower = (plain.matrix_s + plain.traffic_s) / (built.matrix_s + built.traffic_s)
    assert slower > 1.8 if stack == "vllm" and task != "decode" else slower < 1.5


@pytest.mark.parametrize(
    "stack", ["pytorch-eager", "torch-compile", "tensorrt", "jetson", "hf-transformers", "vllm"]
)
def test_tokens_that_are_written_pass_all_weights_through_memory_whatever_the_stack(
    stack: str,
) -> None:
    workload = Workload(
        model="llama-3.1-8b",
        task="inference",
        precision="bf16",
        batch_per_gpu=1,
        stack=stack,
        input_tokens=256,
        output_tokens=64,
    )
    card = find_gpu("Jetson AGX Orin 64GB" if stack == "jetson" else "RTX 4090")
    answer = predict_speed(workload, card, 1, 1, "none", shipped_zoo())
    assert card.bandwidth_gbs and answer.value < card.bandwidth_gbs / (8.0 * 2)


def test_tokens_of_a_batch_share_experts() -> None:
    """gpt-oss-120b on a GB10: 146.7 tokens/s of eight streams with llama.cpp, 2.5 times one
    (ggml-org/llama.cpp, benches/dgx-spark.md); experts dealt evenly would allow 1.9 times."""
    asked = {
        "model": "gpt-oss-120b",
        "task": "decode",
        "precision": "mxfp4",
        "stack": "llama.cpp",
        "input_tokens": 512,
        "output_tokens": 32,
    }
    one, eight = (stream("GB10", batch_per_gpu=n, **asked).tokens_s for n in (1, 8))
    assert 2.1 < eight / one < 3.0


def test_the_table_of_words_is_not_read_in_each_step() -> None:
    """gpt-oss-120b reads 5.1 GB a step: 3.6 billion weights of experts at 4.25 bits, 1.6 of others
    at 16; the table of 0.58 lies still."""
    found = job("GB10", model="gpt-oss-120b", task="decode", precision="mxfp4", stack="vllm")
    assert stored_bytes(found, touched_m(found.shape, 1)) == pytest.approx(5.1e9, rel=0.02)
    packed = packed_whole(found)
    assert packed and stored_bytes(packed, touched_m(packed.shape, 1)) == pytest.approx(
        2.75e9, rel=0.02
    )
    assert packed_whole(packed) is None


def test_tables_of_embeddings_for_every_layer_are_looked_up() -> None:
    """Gemma 4 E4B in ollama on a GB10: 59.1 tokens/s (AlexsJones/llmfit pull request 1012)."""
    work = Workload(model="gemma4:e4b", task="inference", stack="ollama")
    found = predict_speed(work, find_gpu("GB10"), 1, 1, "none", shipped_zoo())
    assert found.low < 59.1 < found.high
    shape = job("GB10", model="gemma-4-e4b", task="decode", stack="llama.cpp").shape
    assert shape.active_m < 0.65 * shape.params_m


@pytest.mark.parametrize("model", ["gpt-oss-120b", "llama-3.1-8b", "qwen3-30b-a3b"])
def test_one_user_of_a_server_gets_what_one_stream_gets(model: str) -> None:
    """Each answer is read and then written: a server of one user takes as long for it as a prompt
    and as many tokens alone do."""
    work = Workload(
        model=model, precision="mxfp4" if "oss" in model else "fp8", stack="vllm",
        input_tokens=1024, output_tokens=256, batch_per_gpu=1,
    )  # fmt: skip
    served, alone = (
        predict_speed(replace(work, task=task), find_gpu("H100"), 1, 1, "none", shipped_zoo())
        for task in ("serve", "inference")
    )
    assert alone.first_token_ms
    whole = 256 / (256 / alone.value + alone.first_token_ms / 1e3)
    assert 0.75 * whole < served.value < 1.25 * whole


def test_prompts_on_apples_gpus_widen_nothing_and_mlx_reads_longer_pieces() -> None:
    """Apple's neural accelerators of the M5 read a prompt some four times as fast as the M4."""
    asked = {"model": "qwen3-30b-a3b", "task": "prefill", "precision": "int4", "input_tokens": 2048}
    local = stream("M4 Max 128GB", stack="llama.cpp", **asked)
    mlx = stream("M4 Max 128GB", stack="mlx", **asked)
    assert mlx.traffic_s == pytest.approx(local.traffic_s / 4, rel=0.05)
    told = stream("M5 Max 128GB", stack="mlx", **asked)
    assert 3.0 < mlx.matrix_s / told.matrix_s < 4.5


def test_an_indexer_reads_few_tokens_of_a_long_context_and_all_of_a_short_one() -> None:
    """DeepSeek-V3.2 attends to 2,048 tokens; llama.cpp runs it as if it had no indexer."""

    def more(model: str, stack: str, precision: str) -> float:
        """Seconds that a context of 131,072 tokens takes longer to read than one of 1,024."""
        asked = {"task": "decode", "precision": precision, "batch_per_gpu": 8, "output_tokens": 16}
        far, near = (
            stream("H200 SXM", 8, "nvswitch", model=model, stack=stack, input_tokens=n, **asked)
            for n in (131072, 1024)
        )
        return far.traffic_s - near.traffic_s

    sparse, dense = more("deepseek-v3.2", "vllm", "fp8"), more("deepseek-v3.1", "vllm", "fp8")
    assert 0.05 * dense < sparse < 0.25 * dense
    local = [more(model, "llama.cpp", "q4_k_m") for model in ("deepseek-v3.2", "deepseek-v3.1")]
    assert local[0] > local[1] > 0


@pytest.mark.parametrize(
    ("gpu", "model", "precision", "told_ms"),
    [
        ("GB10", "gpt-oss-120b", "mxfp4", 38.5),
        ("A100 SXM4 80GB", "qwen2.5-7b", "bf16", 22.5),
        ("A100 SXM4 80GB", "qwen3-14b", "int4", 20.6),
    ],
)
def test_an_engine_that_replays_no_graphs_waits_for_the_host(
    gpu: str, model: str, precision: str, told_ms: float
) -> None:
    """Steps of one stream with --enforce-eager: conselara.dev, vllm-omni issue 7960 (on an A800)
    and vllm issue 20469."""
    work = Workload(model=model, task="decode", precision=precision, stack="vllm")
    card = find_gpu(gpu)

    def told(work: Workload) -> SpeedEstimate:
        return predict_speed(work, card, 1, 1, "none", shipped_zoo())

    eager, graphs = told(replace(work, flags=["enforce_eager"])), told(work)
    assert graphs.value > 1.3 * eager.value
    assert eager.low <= 1e3 / told_ms <= eager.high
    named = told(replace(work, framework_text="vllm 0.9.1 --enforce-eager"))
    assert named.value == pytest.approx(eager.value, rel=0.1)
    many = replace(work, task="serve", users=64)
    assert told(replace(many, flags=["enforce_eager"])).value > 0.75 * told(many).value


def test_a_narrow_cache_lets_an_engine_read_less() -> None:
    fields = {"model": "qwen3-30b-a3b", "task": "serve", "precision": "int4", "stack": "vllm"}
    wide = stream("RTX 5090", **fields, users=64, input_tokens=8000, output_tokens=500)
    narrow = stream(
        "RTX 5090", **fields, users=64, input_tokens=8000, output_tokens=500, kv_precision="fp8"
    )
    assert narrow.streams > 1.5 * wide.streams
    assert narrow.traffic_s / narrow.streams < wide.traffic_s / wide.streams


def test_rows_on_two_cards_may_be_faster_or_slower_than_layers() -> None:
    work = Workload(model="qwen3-32b", task="decode", precision="q4_k_m", stack="llama.cpp")
    card = find_gpu("RTX 3090")
    layers, rows = (
        predict_speed(replace(work, split=split), card, 2, 1, "pcie", shipped_zoo())
        for split in ("layer", "row")
    )
    assert rows.low < 0.8 * layers.value and rows.high > 1.4 * layers.value


def test_many_streams_are_no_nearer_for_what_one_was_measured_at() -> None:
    work = Workload(model="gpt-oss-120b", task="serve", precision="mxfp4", stack="vllm")
    card = find_gpu("GB10")
    one, many = (
        predict_speed(
            replace(work, users=users, input_tokens=1024, output_tokens=128),
            card, 1, 1, "none", shipped_zoo(),
        )
        for users in (1, 32)
    )  # fmt: skip
    assert one.evidence == "one source" and many.evidence != "one source"
    assert many.high / many.low > 1.3 * one.high / one.low


@pytest.mark.parametrize(("tokens", "told"), [(512, 3822.2), (8192, 4675.7)])
def test_long_prompts_gain_little_from_cards_that_follow_each_other(
    tokens: int, told: float
) -> None:
    """gpt-oss-120b on four RTX 4090 by layers (ggml-org/llama.cpp pull request 19378)."""
    work = Workload(
        model="gpt-oss-120b", task="prefill", precision="mxfp4", stack="llama.cpp",
        split="layer", input_tokens=tokens,
    )  # fmt: skip
    found = predict_speed(work, find_gpu("RTX 4090"), 4, 1, "pcie", shipped_zoo())
    assert found.low < told < found.high
