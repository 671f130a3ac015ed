"""Published measurements: what was predicted before a source was read, and what each engine
keeps."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.engines import batch_limits, dummy_peak_bytes, pool_gib
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.measured.accuracy import compare_first, error_table
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.cases import BadCase, read_case
from rigplanner.workload.job import read_job
from rigplanner.workload.network import resolve

GIB = 2.0**30
FILE = Path(__file__).with_name("measured_memory.jsonl")
SEGFORMER = {
    "model_type": "segformer",
    "architectures": ["SegformerForSemanticSegmentation"],
    "num_encoder_blocks": 4,
    "depths": [2, 2, 2, 2],
    "sr_ratios": [8, 4, 2, 1],
    "hidden_sizes": [32, 64, 160, 256],
    "patch_sizes": [7, 3, 3, 3],
    "strides": [4, 2, 2, 2],
    "num_attention_heads": [1, 2, 5, 8],
    "mlp_ratios": [4, 4, 4, 4],
    "decoder_hidden_size": 256,
}


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def card(part: str) -> GPU:
    found = shipped_catalog().get(part)
    assert isinstance(found, GPU)
    return found


def estimate(zoo: Zoo, gpu: GPU | None = None, count: int = 1, **fields: Any) -> MemoryEstimate:
    return estimate_memory(Workload(**fields), gpu, count, zoo)


def test_every_measured_row_names_its_source_and_day() -> None:
    rows = [json.loads(row) for row in FILE.read_bytes().splitlines()]
    assert len(rows) == 1272 and len({row["source"] for row in rows}) >= 140
    assert all(row["read"] and row["value_gib"] > 0 for row in rows)
    assert len({row["id"] for row in rows}) == len(rows)


def test_figures_at_first_sight_are_those_that_were_written_down() -> None:
    rows = error_table(compare_first(FILE.read_bytes().splitlines()), ("collection",))
    found = {row.group.removeprefix("collection: "): row for row in rows}
    for name, counts, median, inside in (
        ("1", (257, 254), 0.272, 0.33),
        ("2", (157, 150), 0.107, 0.57),
        ("3", (171, 161), 0.144, 0.50),
        ("4", (127, 127), 0.141, 0.57),
        ("5", (40, 40), 0.124, 0.875),
        ("6", (96, 96), 0.109, 0.604),
        ("7", (13, 13), 0.009, 1.0),
        ("8", (94, 94), 0.105, 0.766),
        ("9", (162, 154), 0.041, 1.0),
        ("10", (116, 116), 0.074, 0.716),
    ):
        assert (found[name].cases, found[name].covered) == counts
        assert found[name].median == pytest.approx(median, abs=0.001) and found[
            name
        ].inside == pytest.approx(inside, abs=0.01)
    assert compare_first([b'{"part": "total", "value_gib": 1.0, "workload": {}}']) == []


def test_start_up_figures_of_vllm_are_met_beside_its_pool(zoo: Zoo) -> None:
    """What vLLM printed beside its key-value cache on an H100, on two L40S and on an A100."""
    rows = [
        (line, json.loads(line)) for line in FILE.read_bytes().splitlines() if b"non_kv" in line
    ]
    assert len(rows) == 4
    for line, row in rows:
        case = read_case(line, 1)
        assert not isinstance(case, BadCase)
        gpu = find_gpu(case.hardware.gpu or "")
        told = estimate_memory(case.workload, gpu, case.hardware.count or 1, zoo)
        assert told.parts.weights_gib + told.parts.activations_gib == pytest.approx(
            row["value_gib"], rel=0.25
        )


@pytest.mark.parametrize(
    ("part", "limits", "peak_gib"),
    [
        ("nvidia.datacenter.h100-sxm5-80gb", (1024, 8192), 4.7),
        ("nvidia.datacenter.a100-sxm4-80gb", (256, 2048), 1.19),
        ("nvidia.geforce.rtx-4090", (256, 2048), 1.19),
    ],
)
def test_the_dummy_run_of_vllm_grows_with_the_card(
    zoo: Zoo, part: str, limits: tuple[int, int], peak_gib: float
) -> None:
    work = Workload(
        model="llama-3.1-8b", task="serve", precision="bf16", stack="vllm", seq_len=4096
    )
    network = resolve(work, zoo)
    job = read_job(work, network, 1, True)
    assert batch_limits(card(part)) == limits
    assert dummy_peak_bytes(network, job, card(part)) / GIB == pytest.approx(peak_gib, rel=0.04)


def test_pools_are_counted_as_each_engine_counts_them() -> None:
    assert pool_gib(80, 0.9, "peak", 15, 5, 1) == pytest.approx(72 - 21)
    assert pool_gib(80, 0.9, "static", 15, 5, 1) == pytest.approx(72 - 15)
    assert pool_gib(80, 0.9, "free", 15, 5, 1) == pytest.approx(0.9 * 59)
    assert pool_gib(24, 0.9, "peak", 30, 1, 1) == pool_gib(24, 0.9, "static", 30, 1, 1) == 0.0


def test_code_of_2023_joins_the_cache_of_all_layers_and_keeps_logits_of_the_prompt(
    zoo: Zoo,
) -> None:
    usual = {
        "task": "inference",
        "precision": "bf16",
        "stack": "pytorch-hf",
        "input_tokens": 4096,
        "output_tokens": 1,
    }
    old, new = (estimate(zoo, None, 1, model=model, **usual) for model in ("qwen-7b", "qwen2.5-7b"))
    beside = [told.parts.activations_gib for told in (old, new)]
    assert beside[0] > beside[1] + 6 * 4096 * 150_000 / GIB - 1.0


def test_logits_of_every_pixel_are_counted(zoo: Zoo) -> None:
    usual: dict[str, Any] = {
        "kind": "segmenter",
        "task": "train_full",
        "precision": "fp32",
        "optimizer": "sgd",
        "config": SEGFORMER,
    }
    small, large, double = (
        estimate(
            zoo, card("nvidia.geforce.rtx-4090"), 1, **usual, image_size=size, batch_per_gpu=batch
        ).allocated_gib
        for size, batch in ((512, 1), (1024, 1), (512, 2))
    )
    assert large - small > 150 * 4 * 4 * (1024**2 - 512**2) / GIB
    assert double - small > 150 * 4 * 4 * 512**2 / GIB


def test_heads_of_segmenters_are_counted_each_by_its_layers(zoo: Zoo) -> None:
    """Rows of MMSegmentation's tables, Cityscapes and ADE20K; a softmax of the place pairs is kept
    with what it was made of."""
    usual: dict[str, Any] = {
        "task": "train_full",
        "precision": "fp32",
        "stack": "mmseg",
        "optimizer": "sgd_momentum",
        "batch_per_gpu": 2,
        "image_size": (512, 1024),
    }
    gpu = card("nvidia.tesla.v100-sxm2-32gb")
    for model, gib in (
        ("nonlocal-r50-d8", 7.4),
        ("danet-r50-d8", 7.4),
        ("ccnet-r50-d8", 6.0),
        ("encnet-r50-d8", 8.6),
        ("fcn-hr18", 2.9),
        ("fpn-r50", 2.8),
        ("fcn-m-v2-d8", 3.4),
    ):
        assert estimate(zoo, gpu, 4, model=model, **usual).allocated_gib == pytest.approx(
            gib, rel=0.09
        ), model
    for model, stack, gib in (
        ("rpn-r50-fpn", "mmdet", 3.8),
        ("cascade-rcnn-hrnetv2p-w32", "mmdet", 9.4),
        ("fsaf-r50", "mmdet", 3.15),
        ("faster-rcnn-r50-c4", "detectron2", 4.8),
        ("keypoint-rcnn-r50-fpn", "detectron2", 5.0),
    ):
        told = estimate(
            zoo, gpu, 8, model=model, **(usual | {"stack": stack, "image_size": (800, 1333)})
        )
        assert told.allocated_gib == pytest.approx(gib, rel=0.09), model
    clips = usual | {"stack": "mmaction", "batch_per_gpu": 32, "frames": 3, "image_size": 224}
    assert estimate(zoo, gpu, 8, model="tsn-r50", **clips).allocated_gib == pytest.approx(
        8.15, rel=0.05
    )
    few, many = (
        estimate(zoo, gpu, 4, model="gcnet-r50", variant={"labels": count}, **usual).tensors_gib
        for count in (19, 150)
    )
    assert many - few > 5 * 131 * 4 * 2 * 512 * 1024 / GIB
    with pytest.raises(WorkloadFault, match=r"variant\.labels"):
        estimate(zoo, gpu, 4, model="gcnet-r50", variant={"labels": "all"}, **usual)


def test_whisper_of_its_authors_stays_in_fp32_and_reads_its_file_first(zoo: Zoo) -> None:
    usual = {"model": "whisper-large-v3", "task": "inference", "precision": "fp16"}
    theirs, fast = (
        estimate(zoo, None, 1, stack=stack, **usual)
        for stack in ("openai-whisper", "faster-whisper")
    )
    assert theirs.parts.weights_gib == pytest.approx(2 * fast.parts.weights_gib, rel=0.01)
    assert theirs.reserved_gib > theirs.allocated_gib + 2.0
    caches = [
        estimate(zoo, None, 1, stack="faster-whisper", variant=told, **usual).parts.kv_cache_gib
        for told in ({}, {"beams": 1})
    ]
    assert caches[0] == pytest.approx(5 * caches[1])


def test_long_prompts_are_worked_on_in_pieces_where_the_engine_does(zoo: Zoo) -> None:
    """MLX and exllama take 2,048 tokens at once, so that a longer prompt costs its cache alone;
    transformers takes all of it."""
    usual = {
        "model": "qwen2.5-7b",
        "task": "inference",
        "precision": "int4",
        "output_tokens": 4,
        "attention": "flash",
    }
    cache = (65536 - 4096) * 2 * 28 * 4 * 128 * 2 / GIB
    for stack, pieces in (("mlx", True), ("exllama", True), ("pytorch-hf", False)):
        short, long = (
            estimate(zoo, None, 1, stack=stack, input_tokens=tokens, **usual).tensors_gib
            for tokens in (4096, 65536)
        )
        assert (long - short < 1.01 * cache) is pieces


def test_llama_cpp_keeps_logits_of_the_tokens_it_takes_at_once(zoo: Zoo) -> None:
    usual = {
        "model": "qwen3-8b",
        "task": "inference",
        "precision": "q4_k_m",
        "stack": "llama.cpp",
        "input_tokens": 8192,
    }
    some, many = (
        estimate(zoo, None, 1, variant=told, **usual).tensors_gib for told in ({}, {"ubatch": 2048})
    )
    assert many - some == pytest.approx(1536 * 4 * (151936 + 4096) / GIB, rel=0.01)
    with pytest.raises(WorkloadFault, match=r"variant\.ubatch"):
        estimate(zoo, None, 1, variant={"ubatch": "all"}, **usual)


def test_what_lies_beside_the_layers_is_not_quantised_or_not_on_the_card(zoo: Zoo) -> None:
    """Gemma 3n's tables of every layer stay in 16 bits under bitsandbytes; exllama leaves the
    embedding to the processor."""
    tuned = estimate(
        zoo,
        None,
        1,
        model="gemma-3n-e4b-text",
        task="train_qlora",
        precision="nf4",
        quant="bnb",
        stack="unsloth",
        batch_per_gpu=1,
        seq_len=256,
        lora_rank=8,
    )
    assert tuned.parts.weights_gib > 2 * 35 * 256 * 262144 / GIB + 2.0
    usual = {
        "model": "llama-7b",
        "task": "inference",
        "precision": "int4",
        "quant": "gptq",
        "input_tokens": 64,
    }
    theirs, other = (
        estimate(zoo, None, 1, stack=stack, **usual).parts.weights_gib
        for stack in ("exllama", "pytorch-hf")
    )
    assert other - theirs == pytest.approx(2 * 32000 * 4096 / GIB, rel=0.01)


def test_encoders_of_t5_are_partly_float_beside_fp16(zoo: Zoo) -> None:
    """transformers keeps the second products of T5 in fp32 where the rest is fp16; Stable Diffusion
    3.5 takes 12.1 GiB so."""
    usual: dict[str, Any] = {
        "model": "sd-3.5-medium",
        "task": "inference",
        "stack": "diffusers",
        "image_size": 512,
        "flags": ["model_cpu_offload"],
    }
    half, brain = (
        estimate(zoo, None, 1, precision=word, **usual).tensors_gib for word in ("fp16", "bf16")
    )
    assert half - brain == pytest.approx(2 * 24 * 10240 * 4096 / GIB, rel=0.05)


def test_a_network_of_ones_own_takes_its_loss_of_16_bit_logits(zoo: Zoo) -> None:
    usual: dict[str, Any] = {
        "model": "gpt2",
        "task": "train_full",
        "precision": "bf16",
        "optimizer": "adamw_fused",
        "batch_per_gpu": 8,
        "seq_len": 1024,
        "attention": "flash",
    }
    own, theirs = (
        estimate(zoo, None, 1, stack=stack, **usual).tensors_gib
        for stack in ("pytorch", "pytorch-hf")
    )
    assert theirs - own > 6 * 8 * 1024 * 50257 / GIB - 0.5


def test_pictures_decoded_at_once_cost_by_the_batch(zoo: Zoo) -> None:
    usual = {
        "model": "sdxl-base",
        "task": "inference",
        "precision": "fp16",
        "stack": "diffusers",
        "image_size": 1024,
    }
    one, four = (
        estimate(zoo, None, 1, batch_per_gpu=batch, **usual).reserved_gib for batch in (1, 4)
    )
    assert four > one + 6


def test_bounds_of_an_interval_leave_what_is_known_alone(zoo: Zoo) -> None:
    told = estimate(
        zoo,
        card("nvidia.datacenter.a100-sxm4-80gb"),
        1,
        model="llama-2-70b",
        task="inference",
        precision="int4",
        stack="pytorch-hf",
        input_tokens=128,
        output_tokens=64,
    )
    assert (
        told.parts.weights_gib * 0.95
        < told.low_gib
        < told.allocated_gib
        <= told.device_gib
        < told.high_gib
    )
    assert msgspec.json.decode(msgspec.json.encode(told))["low_gib"] == told.low_gib


def test_sharded_gradients_leave_the_peak_where_the_backward_pass_begins(zoo: Zoo) -> None:
    """Llama 2 7B recomputed: 2 GiB of checkpoints of four samples, and logits beside them, however
    few gradients a GPU keeps."""
    gpu = card("nvidia.datacenter.a100-sxm4-80gb")
    usual: dict[str, Any] = {
        "model": "llama-2-7b",
        "task": "train_full",
        "precision": "bf16",
        "optimizer": "adamw",
        "seq_len": 2048,
        "gradient_checkpointing": True,
        "stack": "deepspeed",
        "parallelism": Parallelism(zero=2),
    }
    one, four = (estimate(zoo, gpu, 8, batch_per_gpu=batch, **usual) for batch in (1, 4))
    assert four.parts.activations_gib - one.parts.activations_gib > 1.5 + 3 * 4 * 2048 * 32000 / GIB
    assert four.parts.optimizer_gib == pytest.approx(12 * 6.738e9 / 8 / GIB, rel=0.01)
    assert four.parts.gradients_gib == pytest.approx(2 * 6.738e9 / 8 / GIB, rel=0.01)


def test_gradients_are_copied_to_be_summed(zoo: Zoo) -> None:
    """DistributedDataParallel keeps buckets of all gradients (gradient_as_bucket_view), DeepSpeed
    two of 5e8 values."""
    gpu = card("nvidia.datacenter.h100-sxm5-80gb")
    usual: dict[str, Any] = {
        "model": "gpt2-xl",
        "task": "train_full",
        "precision": "fp32",
        "optimizer": "adamw",
        "batch_per_gpu": 1,
        "seq_len": 128,
    }
    for stack, zero, wanted in (
        ("pytorch", 0, 4 * 1.5576e9),
        ("deepspeed", 2, 2 * 2 * 5e8),
        ("megatron-lm", 1, 0.0),
    ):
        told = estimate(zoo, gpu, 8, stack=stack, parallelism=Parallelism(zero=zero), **usual)
        assert told.detail_gib["communication"] == pytest.approx(wanted / GIB, rel=0.02)


def test_the_step_of_zero_joins_gradients_in_float_beside_what_the_pass_left(zoo: Zoo) -> None:
    """MiniCPM-Llama3-V trained whole under ZeRO-2: 75 GiB on each of four A100, 51.2 on each of
    eight."""
    gpu = card("nvidia.datacenter.a100-sxm4-80gb")
    usual: dict[str, Any] = {
        "model": "llama-3-8b",
        "task": "train_full",
        "precision": "bf16",
        "optimizer": "adamw",
        "batch_per_gpu": 1,
        "seq_len": 2048,
        "gradient_checkpointing": True,
    }
    four, eight = (
        estimate(zoo, gpu, count, stack="deepspeed", parallelism=Parallelism(zero=2), **usual)
        for count in (4, 8)
    )
    assert four.reserved_gib - eight.reserved_gib == pytest.approx(75 - 51.2, rel=0.25)
    apart = [told.reserved_gib - told.allocated_gib for told in (four, eight)]
    assert apart[0] - apart[1] == pytest.approx(6 * 8.03e9 / 8 / GIB, rel=0.2)
    offloaded = estimate(
        zoo,
        gpu,
        8,
        stack="deepspeed",
        parallelism=Parallelism(zero=2, offload="optimizer"),
        **usual,
    )
    assert offloaded.reserved_gib - offloaded.allocated_gib < 4.1


def test_the_loss_of_old_transformers_copies_the_logits(zoo: Zoo) -> None:
    usual: dict[str, Any] = {
        "model": "llama-2-7b",
        "task": "train_lora",
        "precision": "bf16",
        "batch_per_gpu": 4,
        "seq_len": 2048,
        "gradient_checkpointing": True,
        "stack": "peft",
    }
    new, old = (
        estimate(zoo, None, 1, flags=flags, **usual).tensors_gib
        for flags in ([], ["shifted_logits"])
    )
    assert old - new == pytest.approx(4 * 4 * 2048 * 32000 / GIB, rel=0.01)


def test_eight_bits_of_bitsandbytes_have_a_scale_a_row(zoo: Zoo) -> None:
    """OPT 13B loaded in a web interface in 8 bits: 12.23 GiB; its embedding stays in 16."""
    told = estimate(
        zoo,
        card("nvidia.geforce.rtx-3090"),
        1,
        model="opt-13b",
        task="inference",
        precision="int8",
        quant="bnb",
        stack="pytorch-hf",
        input_tokens=1,
    )
    assert told.parts.weights_gib == pytest.approx(12.23, rel=0.02)


def test_the_first_chatglm_configurations_are_read_by_their_own_names(zoo: Zoo) -> None:
    """ChatGLM2: two groups of keys for 32 heads, 6.24e9 parameters."""
    config = {
        "model_type": "chatglm",
        "hidden_size": 4096,
        "ffn_hidden_size": 13696,
        "num_layers": 28,
        "num_attention_heads": 32,
        "multi_query_group_num": 2,
        "kv_channels": 128,
        "padded_vocab_size": 65024,
        "add_qkv_bias": True,
    }
    network = resolve(Workload(config=config, kind="llm", task="inference"), zoo)
    assert (
        network.params == pytest.approx(6.24e9, rel=0.01)
        and network.kv_values(1) == 2 * 28 * 2 * 128
    )


def test_adapters_of_diffusion_change_attention_alone(zoo: Zoo) -> None:
    """Ranks 16 and 256 of CogVideoX 2B take 43.8 and 45.8 GiB."""
    usual = {
        "kind": "video_diffusion",
        "model": "cogvideox-2b",
        "task": "train_lora",
        "precision": "bf16",
        "stack": "diffusers",
        "optimizer": "adamw",
        "batch_per_gpu": 1,
        "image_size": [480, 720],
        "frames": 49,
    }
    low, high = (estimate(zoo, None, 1, lora_rank=rank, **usual).reserved_gib for rank in (16, 256))
    assert high - low == pytest.approx(2.07, rel=0.2)


def test_bitsandbytes_leaves_products_of_t5_whole(zoo: Zoo) -> None:
    """FLUX.1 with its encoder in NF4 reserves 17.28 GiB where int4 of torchao takes 14.65."""
    usual = {"model": "flux.1-dev", "task": "inference", "stack": "diffusers", "image_size": 1024}
    left, whole = (
        estimate(zoo, None, 1, precision=word, quant=quant, **usual).parts.weights_gib
        for word, quant in (("nf4", "bnb"), ("int4", "torchao"))
    )
    assert left - whole == pytest.approx(17.28 - 14.65, rel=0.3)


def test_fp32_training_of_diffusion_keeps_four_bytes_a_weight(zoo: Zoo) -> None:
    usual = {
        "model": "sd-1.5",
        "task": "train_full",
        "optimizer": "adamw_8bit",
        "batch_per_gpu": 1,
        "image_size": 512,
        "stack": "diffusers",
    }
    single, mixed = (
        estimate(zoo, None, 1, precision=word, **usual).parts for word in ("fp32", "amp_fp16")
    )
    assert single.weights_gib == mixed.weights_gib == pytest.approx(4 * 0.86e9 / GIB, rel=0.1)


def test_megatron_keeps_18_bytes_a_parameter_or_6_and_12_over_the_ranks(zoo: Zoo) -> None:
    gpu = card("nvidia.datacenter.h100-sxm5-80gb")
    for zero, wanted in ((0, 18.0), (1, 6 + 12 / 8)):
        told = estimate(
            zoo,
            gpu,
            8,
            model="gpt2-xl",
            task="train_full",
            precision="bf16",
            optimizer="adamw",
            batch_per_gpu=1,
            seq_len=128,
            stack="megatron-lm",
            parallelism=Parallelism(zero=zero),
        )
        parts = told.parts
        states = parts.weights_gib + parts.gradients_gib + parts.optimizer_gib
        assert states == pytest.approx(wanted * 1.5576e9 / GIB, rel=0.02)


def test_unsloth_sends_checkpoints_to_host_memory(zoo: Zoo) -> None:
    """Its benchmarks: Llama 3.1 8B at 78,475 tokens in 24 GB where Trainer has 5,789, Llama 3.3 70B
    fits in 41 GB."""
    gpu = card("nvidia.datacenter.a100-sxm4-80gb")
    usual: dict[str, Any] = {
        "task": "train_qlora",
        "batch_per_gpu": 1,
        "lora_rank": 32,
        "optimizer": "adamw_8bit",
        "gradient_checkpointing": True,
    }
    long = estimate(zoo, gpu, 1, model="llama-3.1-8b", seq_len=78_475, stack="unsloth", **usual)
    assert long.low_gib < 24 < long.high_gib
    assert long.host_gib >= 32 * 78_475 * 4096 * 2 / GIB
    large = estimate(zoo, gpu, 1, model="llama-3.3-70b", seq_len=1024, stack="unsloth", **usual)
    assert large.low_gib < 41 < large.high_gib
    del usual["gradient_checkpointing"]
    unsaid = estimate(zoo, gpu, 1, model="llama-3.3-70b", seq_len=1024, stack="unsloth", **usual)
    assert (
        unsaid.device_gib == large.device_gib and unsaid.assumed["gradient_checkpointing"] == "full"
    )


def test_comfyui_takes_a_text_encoder_in_eight_bits_with_a_narrow_denoiser(zoo: Zoo) -> None:
    """The encoder of 24e9 weights is the largest network of FLUX.2: 44.7 GiB in 16 bits."""
    usual = {"model": "flux.2-dev", "task": "inference", "stack": "comfyui", "image_size": 1024}
    gpu = card("nvidia.geforce.rtx-5090")
    narrow, wide = (
        estimate(zoo, gpu, 1, precision=word, **usual).device_gib for word in ("q4_k_s", "bf16")
    )
    assert narrow < 30 and wide > 44


def test_comfyui_needs_the_largest_network_of_a_pipeline_only(zoo: Zoo) -> None:
    usual = {"model": "flux.1-dev", "task": "inference", "precision": "fp8", "image_size": 1024}
    turn, beside = (
        estimate(zoo, card("nvidia.geforce.rtx-4080"), 1, stack=stack, **usual)
        for stack in ("comfyui", "diffusers")
    )
    assert turn.device_gib < 16 < beside.device_gib and turn.host_gib > 15


def test_mixed_precision_trains_diffusion_in_fp32(zoo: Zoo) -> None:
    usual: dict[str, Any] = {
        "model": "sd-1.5",
        "task": "train_full",
        "optimizer": "adamw",
        "batch_per_gpu": 1,
    }
    amp, low, widened = (
        estimate(zoo, card("nvidia.geforce.rtx-3090"), 1, precision=word, stack=stack, **usual)
        for word, stack in (("amp_fp16", "kohya"), ("bf16", "kohya"), ("bf16", "diffusers"))
    )
    assert amp.parts.gradients_gib == pytest.approx(2 * low.parts.gradients_gib, rel=0.01)
    assert widened.parts.gradients_gib == amp.parts.gradients_gib
    assert amp.assumed["image_size"] == "512"


def test_a_denoiser_is_sharded_and_off_loaded_as_a_language_model_is(zoo: Zoo) -> None:
    """CogVideoX-5B, all of it: 39 GiB on each of eight cards under ZeRO 2 (THUDM/CogVideo,
    finetune/README.md)."""
    usual: dict[str, Any] = {
        "model": "cogvideox-5b", "task": "train_full", "precision": "bf16", "stack": "deepspeed",
        "batch_per_gpu": 1, "image_size": [480, 720], "frames": 49, "gradient_checkpointing": True,
    }  # fmt: skip
    cuts, thirds, away = (
        estimate(zoo, None, 8, **usual, parallelism=Parallelism(data=8, zero=zero, offload=word))
        for zero, word in ((2, None), (3, None), (3, "all"))
    )
    assert cuts.device_gib == pytest.approx(39, rel=0.1)
    assert cuts.parts.optimizer_gib == pytest.approx(12 * 5.57e9 / 8 / 2**30, rel=0.001)
    shed = cuts.parts.weights_gib - thirds.parts.weights_gib
    assert shed == pytest.approx(7 / 8 * 2 * 5.57e9 / 2**30, rel=0.001)
    assert away.parts.weights_gib < 0.5 and away.parts.optimizer_gib == 0 < away.host_gib


def test_what_is_run_without_a_size_is_run_at_the_usual_one_and_says_so(zoo: Zoo) -> None:
    usual: dict[str, Any] = {
        "model": "resnet50",
        "task": "train_full",
        "precision": "amp_fp16",
        "batch_per_gpu": 256,
    }
    told = estimate(zoo, card("nvidia.tesla.v100-sxm2-16gb"), 1, **usual)
    assert told.assumed["image_size"] == "224"
    assert (
        told.allocated_gib
        == estimate(
            zoo, card("nvidia.tesla.v100-sxm2-16gb"), 1, image_size=224, **usual
        ).allocated_gib
    )


def test_gguf_files_of_mxfp4_keep_the_rest_in_8_bits(zoo: Zoo) -> None:
    """llama.cpp logs 10.69 GiB of gpt-oss-20b on the GPU."""
    told = estimate(
        zoo,
        card("nvidia.geforce.rtx-4080"),
        1,
        model="gpt-oss-20b",
        task="inference",
        precision="mxfp4",
        stack="llama.cpp",
        input_tokens=512,
    )
    assert told.parts.weights_gib == pytest.approx(10.69, rel=0.03)


def test_a_video_decoder_that_goes_frame_by_frame_needs_no_more_for_a_longer_clip(zoo: Zoo) -> None:
    """WanVAE; the image decoder of ComfyUI falls back to tiles, so that the denoiser alone
    decides."""
    usual: dict[str, Any] = {"task": "inference", "precision": "bf16", "image_size": (480, 832)}
    gpu, flags = card("nvidia.geforce.rtx-4090"), ["sequential_cpu_offload"]
    short, long = (
        estimate(zoo, gpu, 1, model="wan2.1-t2v-1.3b", frames=count, flags=flags, **usual)
        for count in (33, 49)
    )
    assert (
        short.parts.activations_gib
        == long.parts.activations_gib
        == pytest.approx(2 * 7000 * 480 * 832 / GIB, rel=0.01)
    )
    whole, turn = (
        estimate(zoo, gpu, 1, model="cogvideox-5b", frames=49, flags=words, stack=stack, **usual)
        for stack, words in (("diffusers", ["model_cpu_offload"]), ("comfyui", []))
    )
    assert turn.device_gib < whole.device_gib


@pytest.mark.parametrize(
    ("bits", "tokens", "cache"),
    [
        (2.4, 21504, "fp16"),
        (2.65, 30720, "int8"),
        (2.65, 15360, "fp16"),
        (3.0, 12288, "int8"),
        (3.0, 6144, "fp16"),
    ],
)
def test_longest_contexts_of_a_120b_fill_two_cards_of_24_gb(
    zoo: Zoo, bits: float, tokens: int, cache: str
) -> None:
    """The longest contexts that the maker of Miquliz 120B (140 layers of Llama 2 70B) names for his
    exllamav2 files on 48 GB."""
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 8192,
        "intermediate_size": 28672,
        "num_hidden_layers": 140,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "vocab_size": 32000,
        "tie_word_embeddings": False,
    }
    params = 140 * (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672) + 2 * 32000 * 8192
    told = estimate(
        zoo,
        card("nvidia.geforce.rtx-3090"),
        2,
        config=config,
        task="inference",
        precision="int4",
        quant="exl2",
        weights_gib=params * bits / 8 / GIB,
        stack="exllamav2",
        batch_per_gpu=1,
        input_tokens=tokens,
        kv_precision=cache,
        parallelism=Parallelism(pipeline=2),
    )
    assert told.device_gib == pytest.approx(24, rel=0.04)
