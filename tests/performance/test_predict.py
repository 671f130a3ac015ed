"""Predictions that people would notice if they were wrong."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.anchors import place
from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.constants import speed_model
from rigplanner.performance.job import read_job
from rigplanner.performance.predict import nearness, predict_speed
from rigplanner.performance.several_gpus.scaling import exchange_bytes, expert_seconds
from rigplanner.performance.software.stacks import shipped_stacks
from rigplanner.rig.workload import Workload


def predict(
    gpu: str,
    count: int = 1,
    link: str = "pcie",
    nodes: int = 1,
    metric: str | None = None,
    **fields: object,
) -> SpeedEstimate:
    workload = msgspec.convert(fields, Workload)
    return predict_speed(workload, find_gpu(gpu), count, nodes, link, shipped_zoo(), None, metric)


def classic(
    gpu: str, count: int = 1, model: str = "resnet-50", stack: str = "torch7", **fields: object
) -> float:
    return predict(
        gpu,
        count,
        model=model,
        stack=stack,
        task="train",
        precision="fp32",
        **{"batch_per_gpu": 16, **fields},
    ).value


NETS = ("resnet-50", "resnet-152", "vgg-16")


@pytest.mark.parametrize("net", NETS)
def test_titan_x_pascal_against_titan_x_maxwell(net: str) -> None:
    assert (
        1.47
        <= classic("Titan X (Pascal)", model=net) / classic("GTX Titan X (Maxwell)", model=net)
        <= 1.60
    )


@pytest.mark.parametrize(
    ("net", "published"), [("resnet-50", 1.065), ("resnet-152", 1.11), ("vgg-16", 1.10)]
)
def test_gtx_1080_against_titan_x_maxwell(net: str, published: float) -> None:
    ratio = classic("GTX 1080", model=net) / classic("GTX Titan X (Maxwell)", model=net)
    assert ratio == pytest.approx(published, abs=0.05)


@pytest.mark.parametrize("gpu", ["GTX Titan X (Maxwell)", "GTX 1080", "Titan X (Pascal)"])
@pytest.mark.parametrize("stack", ["torch7", "caffe", "tf-cnn-benchmarks"])
def test_a_shallow_net_scales_to_two_gpus_and_falls_off_at_four(gpu: str, stack: str) -> None:
    rates = {
        count: (
            predict(
                gpu,
                count,
                model="alexnet",
                stack=stack,
                task="train",
                precision="fp32",
                batch_per_gpu=128,
            ).value
        )
        for count in (1, 2, 4)
    }
    assert 1.6 <= rates[2] / rates[1] <= 1.95
    assert rates[4] / 4 <= rates[2] / 2 - 0.05 * rates[1]


def test_tensor_parallel_over_pcie_buys_latency_at_a_falling_price() -> None:
    job = {"model": "llama-3.1-8b", "stack": "vllm", "precision": "bf16", "output_tokens": 256}
    waits = [
        predict("RTX 4090", count, task="decode", **job).next_token_ms or 0.0 for count in (1, 2, 4)
    ]
    published = (19.2, 16.0, 10.5)
    assert waits == sorted(waits, reverse=True)
    assert all(
        found == pytest.approx(told, rel=0.35) for found, told in zip(waits, published, strict=True)
    )
    served = [predict("RTX 4090", count, task="serve", input_tokens=512, **job) for count in (2, 4)]
    assert served[1].value < 1.6 * served[0].value and served[1].bound == "link"


def test_a_switch_keeps_tensor_parallel_worth_it() -> None:
    job = {
        "model": "llama-3.1-70b",
        "stack": "vllm",
        "precision": "fp8",
        "task": "serve",
        "input_tokens": 512,
        "output_tokens": 256,
    }
    four, eight = (predict("H100-SXM5-80GB", count, "nvswitch", **job).value for count in (4, 8))
    assert eight > 1.5 * four


def test_more_streams_serve_more_and_wait_longer() -> None:
    job = {
        "model": "llama-3.1-8b",
        "stack": "vllm",
        "precision": "fp8",
        "task": "serve",
        "input_tokens": 512,
        "output_tokens": 256,
    }
    found = [
        predict("H100-SXM5-80GB", batch_per_gpu=streams, **job) for streams in (1, 16, 64, 256)
    ]
    assert [one.value for one in found] == sorted(one.value for one in found)
    waits = [one.next_token_ms or 0.0 for one in found]
    assert waits == sorted(waits)


def test_cudnn_doubles_or_triples() -> None:
    assert 2.0 <= classic("GTX 1080") / classic("GTX 1080", stack="torch7-nocudnn") <= 3.0


def test_every_answer_lies_in_its_interval_and_says_why() -> None:
    found = predict(
        "RTX 3090", 2, model="llama-3.1-8b", task="train_lora", seq_len=2048, batch_per_gpu=1
    )
    assert found.low < found.value <= found.high
    assert (
        found.metric == "tokens/s"
        and found.stack == "hf-trainer"
        and found.assumed["stack"] == "hf-trainer"
    )
    assert found.anchors and all(anchor.source for anchor in found.anchors)
    assert [step.name for step in found.steps][-2:] == ["modelled", "anchored"]
    assert found.steps[-1].value * found.steps[-1].inputs["rows"] > 0  # type: ignore[operator]
    assert found.mfu is not None and 0 < found.mfu < 1


def test_equal_questions_get_equal_answers() -> None:
    assert predict("RTX 4090", model="resnet-50", task="train") == predict(
        "RTX 4090", model="resnet-50", task="train"
    )


def test_a_rig_without_any_anchor_still_gets_an_answer_with_a_wide_interval() -> None:
    strange = predict(
        "RTX 5090",
        model="vit_large_patch16_224",
        task="train",
        stack="torch-compile",
        batch_per_gpu=64,
    )
    known = predict(
        "A100-SXM4-80GB",
        model="resnet-50",
        task="train",
        stack="pytorch-ngc",
        precision="amp_fp16",
        batch_per_gpu=1280,
    )
    assert strange.value / strange.low > 1.15 * known.value / known.low


def test_an_architecture_without_any_row_gets_a_wide_interval() -> None:
    strange, known = (
        predict(gpu, model="resnet-50", task="train", precision="bf16", batch_per_gpu=64)
        for gpu in ("intel.gaudi.gaudi2", "A100-SXM4-80GB")
    )
    assert strange.high / strange.low > 3.5 > known.high / known.low


def test_tokens_of_one_stream_wait_for_memory() -> None:
    found = predict(
        "RTX 4090", model="llama-3-8b", task="decode", precision="q4_k_m", output_tokens=512
    )
    assert found.bound == "bandwidth" and found.stack == "llama.cpp"
    assert 90 < found.value < 180
    assert found.next_token_ms == pytest.approx(1000 / found.value)


def test_splitting_layers_buys_no_speed_for_one_stream() -> None:
    job = {
        "model": "llama-3-70b",
        "task": "decode",
        "precision": "q4_k_m",
        "stack": "llama.cpp",
        "output_tokens": 1024,
    }
    two, six = (predict("RTX 3090", count, **job).value for count in (2, 6))
    assert six == pytest.approx(two, rel=0.15)


def test_epochs_and_tokens_become_hours_and_energy() -> None:
    once = predict(
        "GTX 1080 Ti", 4, model="resnet-50", task="train", epochs=1, dataset_samples=1_281_167
    )
    ninety = predict(
        "GTX 1080 Ti", 4, model="resnet-50", task="train", epochs=90, dataset_samples=1_281_167
    )
    assert once.hours and ninety.hours and once.energy_kwh and ninety.energy_kwh
    assert once.hours == pytest.approx(1_281_167 / once.value / 3600)
    assert ninety.hours == pytest.approx(90 * once.hours) and ninety.energy_kwh == pytest.approx(
        90 * once.energy_kwh
    )


def test_embedded_gpus_are_answered_with_their_stack() -> None:
    found = predict("Jetson AGX Orin", model="resnet-50", task="inference", precision="int8")
    assert found.stack == "jetson" and 3000 < found.value < 6164 < found.high, (
        "MLPerf's 6,164 count two DLAs as well"
    )


@pytest.mark.parametrize(
    ("gpu", "count", "fields", "named"),
    [
        ("GTX 1080", 1, {"model": "bert-large", "task": "train", "precision": "fp8"}, "no fp8"),
        (
            "H100-SXM5-80GB",
            7,
            {"model": "llama-3-70b", "task": "serve", "parallelism": {"tensor": 8}},
            "does not divide 7",
        ),
        (
            "RTX 3090",
            1,
            {"model": "resnet-50", "task": "train", "stack": "pytorhc-ngc"},
            "pytorch-ngc",
        ),
        ("RTX 3090", 1, {"model": "resnet-50", "task": "dream"}, "task: expected"),
        ("RTX 3090", 0, {"model": "resnet-50", "task": "train"}, "count"),
        (
            "RTX 3090",
            1,
            {"model": "resnet-50", "task": "train", "batch_per_gpu": -3},
            "batch_per_gpu",
        ),
        ("RTX 3090", 1, {"model": "llama-3-8b", "task": "train", "seq_len": 0}, "seq_len"),
        ("RTX 3090", 1, {"model": "resnet-50", "task": "train", "image_size": []}, "image_size"),
        ("RTX 3090", 1, {"model": "all-reduce", "task": "collective"}, "at least 2"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    gpu: str, count: int, fields: dict[str, object], named: str
) -> None:
    with pytest.raises(WorkloadFault, match=named):
        predict(gpu, count, **fields)


def test_a_metric_that_does_not_fit() -> None:
    with pytest.raises(WorkloadFault, match="metric"):
        predict("RTX 3090", model="resnet-50", task="train", metric="bananas/s")


def test_an_unknown_gpu_is_named() -> None:
    with pytest.raises(WorkloadFault, match="RTX 9999"):
        find_gpu("RTX 9999")


def test_a_machine_for_hire_is_no_gpu() -> None:
    with pytest.raises(WorkloadFault, match=r"machine for hire .*name its GPU instead: 8 x "):
        find_gpu("p4d.24xlarge")


@pytest.mark.parametrize(
    ("gpu", "precision", "offered"),
    [("GTX 1080", "fp8", "fp32, fp16"), ("RTX 4090", "fp4", "int8, fp8")],
)
def test_a_refused_precision_names_those_that_the_silicon_has(
    gpu: str, precision: str, offered: str
) -> None:
    with pytest.raises(WorkloadFault, match=f"no {precision} arithmetic; use one of .*{offered}"):
        predict(gpu, model="bert-large", task="train", precision=precision)


def test_all_reduce_over_a_switch_beats_pcie() -> None:
    switched = predict("H100-SXM5-80GB", 8, "nvswitch", model="all-reduce", task="collective")
    assert switched.metric == "busbw_gbps" and 380 < switched.value < 560
    assert (
        predict("RTX 4090", 8, "pcie", model="all-reduce", task="collective").value
        < switched.value / 8
    )


def test_times_and_rates_agree() -> None:
    job = {
        "model": "resnet-50",
        "task": "train",
        "precision": "fp32",
        "stack": "torch7",
        "batch_per_gpu": 16,
    }
    rate = predict("GTX 1080", metric="images/s", **job).value
    assert predict("GTX 1080", metric="ms_per_batch", **job).value == pytest.approx(16_000 / rate)


@settings(max_examples=60)
@given(
    model=st.sampled_from(
        ["resnet-50", "llama-3-8b", "dlrm", "gnmt", "sdxl", "vit_base_patch16_224", "nothing"]
    ),
    task=st.sampled_from(
        ["train", "train_lora", "inference", "decode", "prefill", "serve", "collective", "dream"]
    ),
    precision=st.sampled_from([None, "fp32", "tf32", "bf16", "int8", "fp8", "fp4", "q4_k_m"]),
    stack=st.sampled_from([None, *shipped_stacks()]),
    gpu=st.sampled_from(
        ["K80", "GTX 1080", "RTX 3090", "H100-SXM5-80GB", "Jetson AGX Orin", "MI300X"]
    ),
    count=st.integers(0, 70),
    batch=st.one_of(st.none(), st.integers(-2, 5000)),
    tokens=st.one_of(st.none(), st.integers(-2, 300_000)),
    variant=st.dictionaries(
        st.sampled_from(["tp", "global_batch", "grad_accum", "parallel", "setup"]),
        st.one_of(st.integers(), st.text()),
    ),
)
def test_whatever_is_asked_gets_an_answer_or_a_reason(
    model: str,
    task: str,
    precision: str | None,
    stack: str | None,
    gpu: str,
    count: int,
    batch: int | None,
    tokens: int | None,
    variant: dict[str, object],
) -> None:
    asked = {
        "model": model,
        "task": task,
        "precision": precision,
        "stack": stack,
        "batch_per_gpu": batch,
        "variant": variant,
        "seq_len": tokens,
        "input_tokens": tokens,
        "output_tokens": tokens,
    }
    try:
        found = predict(
            gpu,
            count,
            "unknown",
            **{key: value for key, value in asked.items() if value is not None},
        )
    except WorkloadFault:
        return
    assert 0 < found.low <= found.value <= found.high < float("inf")


def test_one_stream_is_never_faster_than_memory_can_be_read() -> None:
    gpu = find_gpu("RTX 4090")
    work = Workload(
        model="llama-3.1-8b",
        task="inference",
        precision="fp16",
        batch_per_gpu=1,
        input_tokens=512,
        output_tokens=128,
    )
    found = predict_speed(work, gpu, 1, 1, "none", shipped_zoo(), metric="tokens/s")
    assert gpu.bandwidth_gbs
    read_gb = (
        7.5 * 2
    )  # weights of the layers and the head in 1e9 bytes; the embedding of one token is not read whole
    assert found.high <= gpu.bandwidth_gbs / read_gb * 1.01


def test_large_models_accumulate_unless_told() -> None:
    job = {
        "model": "llama-3.1-8b",
        "task": "train",
        "stack": "megatron-lm",
        "precision": "bf16",
        "seq_len": 2048,
    }
    untold = predict("H100-SXM5-80GB", 8, **job)
    told = predict("H100-SXM5-80GB", 8, batch_per_gpu=1, gradient_accumulation=8, **job)
    each = predict("H100-SXM5-80GB", 8, batch_per_gpu=1, **job)
    assert untold.assumed["gradient_accumulation"] == "8"
    assert untold.value == pytest.approx(told.value, rel=0.02)
    assert each.value < 0.9 * told.value, "every update costs time"
    assert "gradient_accumulation" not in told.assumed


def test_experts_exchange_tokens_while_they_train() -> None:
    def exchange(model: str, count: int, nodes: int, link: str) -> float:
        work = Workload(
            model=model, task="train_lora", precision="bf16", batch_per_gpu=1, seq_len=2048
        )
        return expert_seconds(
            read_job(work, find_gpu("A100-SXM4-80GB"), count, nodes, link, shipped_zoo())
        )

    apart = exchange("mixtral-8x7b", 8, 1, "nvswitch")
    assert exchange("llama-3.1-8b", 8, 1, "nvswitch") == 0 == exchange("mixtral-8x7b", 1, 1, "none")
    assert 0 < apart < 0.3 * exchange("mixtral-8x7b", 8, 1, "pcie")
    assert exchange("mixtral-8x7b", 16, 2, "nvswitch") == pytest.approx(apart), (
        "experts stay within a node"
    )


def test_frozen_weights_are_gathered_as_they_are_stored_and_send_no_gradients() -> None:
    def moved(task: str, precision: str, zero: int) -> float:
        fields = {
            "model": "llama-3.1-70b",
            "task": task,
            "precision": precision,
            "batch_per_gpu": 1,
            "seq_len": 2048,
        }
        work = msgspec.convert({**fields, "parallelism": {"zero": zero}}, Workload)
        return exchange_bytes(read_job(work, find_gpu("RTX 4090"), 4, 1, "pcie", shipped_zoo()))

    full, adapters, packed = (
        moved(*asked, 3)
        for asked in (("train_full", "bf16"), ("train_lora", "bf16"), ("train_qlora", "nf4"))
    )
    assert full == pytest.approx(1.5 * adapters)
    assert adapters == pytest.approx(packed * 16 / 4.5)
    assert moved("train_lora", "bf16", 0) < adapters / 50


def test_the_less_the_evidence_shares_the_wider_the_interval() -> None:
    asked = {"model": "resnet-50", "task": "train", "precision": "mixed", "batch_per_gpu": 128}
    jobs = [
        predict("V100-SXM2-16GB", stack="pytorch-ngc", **asked),
        predict("RTX 5070", stack="pytorch-ngc", **asked),
        predict("RTX 5070", stack="pytorch-ngc", **{**asked, "model": "resnext50_32x4d"}),
    ]
    widths = [found.high / found.low for found in jobs]
    assert widths == sorted(widths) and widths[0] < widths[-1]


def test_nearness_is_what_rows_share() -> None:
    job = read_job(
        msgspec.convert(
            {"model": "resnet-50", "task": "train", "precision": "fp16", "stack": "pytorch-ngc"},
            Workload,
        ),
        find_gpu("V100-SXM2-16GB"),
        1,
        1,
        "none",
        shipped_zoo(),
    )
    point = place(job)
    anchored = shipped_evidence().correct(point, 16)
    others = (
        ("silicon", (), "network"),
        ("model", "another", "stack"),
        ("stack", "another", "nothing"),
    )
    assert nearness(point, anchored) == "GPU"
    first = next(item for item in anchored.rows if item.point.silicon == point.silicon)
    assert nearness(point, msgspec.structs.replace(anchored, rows=(first,))) == "one source"
    for field, value, expected in others:
        assert nearness(msgspec.structs.replace(point, **{field: value}), anchored) == expected


def test_what_a_stack_was_never_measured_on_is_told_with_more_doubt() -> None:
    known = {
        "model": "llama-3.1-8b",
        "task": "decode",
        "stack": "llama.cpp",
        "precision": "q4_k_m",
        "batch_per_gpu": 1,
    }
    point = place(read_job(Workload(**known), find_gpu("RTX 4090"), 1, 1, "none", shipped_zoo()))
    evidence = shipped_evidence()
    asked = [
        point,
        msgspec.structs.replace(point, precision="unheard"),
        msgspec.structs.replace(point, kind="gnn"),
    ]
    assert [evidence.correct(one, 16).strange for one in asked] == ["", "precision", "kind"]
    assert evidence.correct(msgspec.structs.replace(point, stack="unheard"), 16).strange == ""
    model = speed_model()
    widths = [
        model.half_width("stack", 0.2, "train", strange) for strange in ("", "precision", "kind")
    ]
    assert 1.2 * widths[0] < widths[1] and 1.2 * widths[0] < widths[2]


def test_widths_know_the_task_and_the_family_of_stacks() -> None:
    width = speed_model().half_width
    assert width("stack", 0.2, "decode", "", "local-llm") < width(
        "stack", 0.2, "decode", "", "serving"
    )
    assert width("GPU", 0.02, "serve") > 2 * width("GPU", 0.02, "train"), (
        "lengths and streams differ though network and GPU are the same"
    )


FULL = {
    "model": "llama-2-7b",
    "task": "train",
    "precision": "bf16",
    "seq_len": 2048,
    "batch_per_gpu": 1,
}


def test_weights_that_are_gathered_cost_half_as_much_exchange_again() -> None:
    states, gradients, weights = (
        predict("RTX 4090", 8, stack="deepspeed", parallelism={"zero": stage}, **FULL).value
        for stage in (1, 2, 3)
    )
    assert states == gradients and 1.2 * weights < states < 1.6 * weights
    assert predict("RTX 4090", 8, stack="deepspeed", **FULL).value == weights


def test_gradients_that_are_spread_are_exchanged_for_every_micro_batch() -> None:
    often = {**FULL, "stack": "deepspeed", "gradient_accumulation": 8}
    states, gradients = (
        predict("RTX 4090", 8, parallelism={"zero": stage}, **often).value for stage in (1, 2)
    )
    assert states > 2 * gradients


def test_spread_states_scale_by_what_waits() -> None:
    found = [
        predict("H100-SXM5-80GB", count, "nvswitch", count // 8, stack="fsdp", **FULL)
        for count in (8, 16, 64)
    ]
    kept = [one.scaling_efficiency or 0.0 for one in found]
    assert kept == sorted(kept, reverse=True) and 0.5 < kept[-1] < kept[0] < 1
    assert all(
        one.exchange_share == pytest.approx(1 - share)
        for one, share in zip(found, kept, strict=True)
    )


def test_two_computers_scale_no_better_than_one() -> None:
    asked = {
        "model": "bert-large",
        "task": "train",
        "stack": "pytorch-ngc",
        "precision": "amp_fp16",
        "seq_len": 384,
        "batch_per_gpu": 32,
    }
    one, two = (
        predict("H100-SXM5-80GB", nodes * 8, "nvswitch", nodes, **asked).scaling_efficiency or 0.0
        for nodes in (1, 2)
    )
    assert two <= one
