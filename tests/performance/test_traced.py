"""Networks whose layers differ, and what a job says of its kernels and links."""

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.modelled import model_speed
from rigplanner.performance.roofline import dense_params, kernels_of, local_experts
from rigplanner.performance.several_gpus.scaling import exchange_seconds
from rigplanner.rig.workload import Workload


def work(**fields: object) -> Workload:
    return msgspec.convert(fields, Workload)


def job(gpu: str, count: int = 1, link: str = "pcie", **fields: object) -> Job:
    return read_job(work(**fields), find_gpu(gpu), count, 1, link, shipped_zoo())


def test_layers_with_a_state_cache_nothing() -> None:
    hybrid = resolve_shape(work(model="bamba-9b-v1", task="decode", input_tokens=16_000), None)
    assert hybrid.kv_values < 0.3 * 32 * 2 * 8 * 128
    assert hybrid.params_m == pytest.approx(9780, rel=0.01)


def test_windows_end_the_cache() -> None:
    short, long = (
        resolve_shape(work(model="gemma-3-27b", task="decode", input_tokens=n), None)
        for n in (512, 60_000)
    )
    assert long.kv_values < 0.3 * short.kv_values


def test_experts_between_states_are_traced() -> None:
    found = resolve_shape(work(model="nvidia-nemotron-3-nano-30b-a3b", task="decode"), None)
    assert 3000 < found.active_m < 4000 and 30_000 < found.params_m < 33_000


@pytest.mark.parametrize(("model", "gmacs"), [("fcn-r50", 152.7), ("deeplabv3-r50", 178.7)])
def test_segmenters_keep_the_figures_that_are_listed(model: str, gmacs: float) -> None:
    found = resolve_shape(work(model=model, task="inference", image_size=520), None)
    assert found.gflop == pytest.approx(2 * gmacs, rel=0.03)


def test_a_language_model_known_by_its_size_has_the_layers_of_its_kin() -> None:
    found = resolve_shape(work(params_b=70, task="decode"), None)
    assert 70 <= found.layers <= 85 and found.active_m <= found.params_m == 70_000


def test_nearly_every_network_of_the_zoo_has_a_speed() -> None:
    """All but U-Nets whose operations nobody listed, and at most two others."""
    refused = []
    for slug, model in shipped_zoo().models.items():
        try:
            resolve_shape(work(model=slug, task="train"), None)
        except WorkloadFault:
            refused += [slug] if model.kind != "diffusion_unet" else []
    assert len(refused) <= 2, refused


def test_weights_that_a_token_meets_are_those_that_the_layers_hold() -> None:
    """What makers publish: experts under other names, gates, cross attention and a single key head
    count."""
    published = {
        "ernie-4.5-300b-a47b": (300e3, 47e3),
        "dbrx": (132e3, 36e3),
        "hunyuan-a13b": (80e3, 13e3),
        "starcoder": (15.5e3, 15.5e3),
        "falcon-h1-34b": (33.6e3, 32.3e3),
        "granite-3.3-8b": (8.17e3, 8.17e3),
        "flan-t5-xl": (2.78e3, 2.78e3),
    }
    for model, (stored_m, active_m) in published.items():
        found = resolve_shape(work(model=model, task="inference"), None)
        assert found.params_m == pytest.approx(stored_m, rel=0.02), model
        assert found.active_m == pytest.approx(active_m, rel=0.03), model
        assert found.gflop == pytest.approx(2 * found.active_m * found.tokens / 1e3), model


def test_scores_that_are_written_take_time() -> None:
    asked = {
        "model": "bert-base-uncased",
        "task": "train",
        "stack": "hf-trainer",
        "precision": "fp16",
        "batch_per_gpu": 32,
        "seq_len": 512,
    }
    eager, fused = (
        model_speed(job("A100-SXM4-80GB", attention=word, **asked)).samples_s
        for word in ("eager", "flash")
    )
    assert eager < 0.97 * fused


def test_narrow_floats_are_widened_by_serving_engines_where_no_units_take_them() -> None:
    asked = {
        "model": "llama-3.1-8b",
        "task": "serve",
        "precision": "fp8",
        "input_tokens": 1000,
        "output_tokens": 500,
    }
    ampere = job("RTX 3090", stack="vllm", **asked)
    assert ampere.matrix_tflops == ampere.silicon.half
    with pytest.raises(WorkloadFault, match="fp8"):
        job("TITAN V", stack="vllm", **asked)
    with pytest.raises(WorkloadFault, match="fp8"):
        job("RTX 3090", model="llama-3.1-8b", task="train", precision="fp8", stack="torchtitan")


def test_the_output_of_a_packed_model_stays_wide() -> None:
    asked = {"model": "llama-3.2-1b", "task": "decode", "precision": "int4", "batch_per_gpu": 1}
    engine, packed = (
        model_speed(job("RTX 4090", stack=stack, **asked)).stream for stack in ("vllm", "gpt-fast")
    )
    assert engine and packed and engine.traffic_s > 1.2 * packed.traffic_s


def test_replicas_side_by_side_hold_the_weights_each() -> None:
    asked = {
        "model": "qwen3-8b",
        "task": "serve",
        "stack": "vllm",
        "precision": "fp16",
        "input_tokens": 4096,
        "output_tokens": 1024,
    }
    one, two = (model_speed(job("RTX 3090", count, variant={"tp": 1}, **asked)) for count in (1, 2))
    assert one.stream and two.stream
    assert two.stream.streams == pytest.approx(
        2 * one.stream.streams
    ) and two.samples_s == pytest.approx(2 * one.samples_s, rel=0.05)


def test_few_streams_wait_for_kernels() -> None:
    asked = {
        "model": "llama-3.1-70b",
        "task": "serve",
        "stack": "vllm",
        "precision": "fp8",
        "input_tokens": 128,
        "output_tokens": 2048,
    }
    few, many = (
        model_speed(
            job("MI300X", 8, "xgmi", variant={"tp": 8, "global_batch": n}, **asked)
        ).samples_s
        for n in (8, 128)
    )
    assert many < 12 * few


def test_crowding_is_not_counted_twice() -> None:
    asked = {
        "model": "resnet-50",
        "task": "train",
        "stack": "tf-cnn-benchmarks",
        "precision": "fp16",
        "batch_per_gpu": 64,
    }
    word = job("RTX 3090", 8, **asked)
    slow = msgspec.structs.replace(word, bus_gbs=word.bus_gbs / 4, word_gbs=word.bus_gbs)
    slower = msgspec.structs.replace(word, bus_gbs=word.bus_gbs / 40, word_gbs=word.bus_gbs)
    assert exchange_seconds(slow) == pytest.approx(exchange_seconds(word), rel=0.05)
    assert exchange_seconds(slower) > 3 * exchange_seconds(word)


def test_experts_are_dealt_out_over_the_gpus_of_a_node_in_training() -> None:
    asked = {
        "model": "qwen3-30b-a3b",
        "task": "train",
        "stack": "megatron-lm",
        "precision": "bf16",
        "batch_per_gpu": 1,
    }
    eight, gathered = (
        job("B200", 8, "nvswitch", **asked),
        job("B200", 8, "nvswitch", **{**asked, "stack": "torchtitan"}),
    )
    two_nodes = read_job(work(**asked), find_gpu("B200"), 16, 2, "nvswitch", shipped_zoo())
    assert local_experts(eight) == local_experts(two_nodes) == 16 and local_experts(gathered) == 128
    assert (
        dense_params(eight) < 0.2 * dense_params(gathered) == pytest.approx(0.2 * 30.5e9, rel=0.02)
    )


def test_each_expert_launches_kernels_of_its_own_in_training() -> None:
    asked = {
        "model": "qwen3-30b-a3b",
        "stack": "megatron-lm",
        "precision": "bf16",
        "batch_per_gpu": 1,
    }
    few, many = (
        kernels_of(job("B200", count, "nvswitch", task="train", **asked)) for count in (64, 8)
    )
    assert many > 3 * few
