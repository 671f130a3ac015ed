"""Combinations that nobody can run are refused with the reason; what any release runs is
answered."""

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.data import data_path
from rigplanner.errors import WorkloadFault
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.several_gpus.scaling import pipeline_bubble
from rigplanner.performance.software.stacks import _file, shipped_stacks
from rigplanner.rig.workload import Parallelism, Workload


def job(gpu: str, model: str, count: int = 1, link: str = "unknown", **fields: object) -> Job:
    return read_job(
        msgspec.convert({"model": model, **fields}, Workload),
        find_gpu(gpu),
        count,
        1,
        link,
        shipped_zoo(),
    )


def refused(
    match: str, gpu: str, model: str, count: int = 1, link: str = "unknown", **fields: object
) -> None:
    with pytest.raises(WorkloadFault, match=match):
        job(gpu, model, count, link, **fields)


@pytest.mark.parametrize(
    ("gpu", "stack", "model", "task", "said"),
    [
        ("MI300X", "tensorrt", "resnet50", "inference", "runs on GPUs of NVIDIA"),
        ("MI300X", "tensorrt-llm", "llama-3.1-8b", "serve", "runs on GPUs of NVIDIA.*vllm"),
        (
            "RX 7900 XTX",
            "pytorch-ngc",
            "resnet50",
            "train",
            "runs on GPUs of NVIDIA.*pytorch-eager",
        ),
        ("MI250X", "fastertransformer", "bert-base-uncased", "inference", "runs on GPUs of NVIDIA"),
        (
            "K80",
            "vllm",
            "llama-3.1-8b",
            "serve",
            "from compute capability 7.0 on; .* has 3.7.*llama.cpp",
        ),
        ("GTX 980", "vllm", "llama-3.1-8b", "decode", "from compute capability 7.0"),
        ("RTX 4090", "mlx", "llama-3.1-8b", "decode", "runs on GPUs of Apple"),
        ("RTX 5090", "caffe", "resnet50", "train", "up to compute capability 9.0"),
        ("RTX 5090", "torch7", "resnet50", "train", "up to compute capability 9.0"),
        ("RTX 4090", "jetson", "resnet50", "inference", "on compute capability 5.3, 6.2"),
        ("Arc A770", "optimum-habana", "llama-3.1-8b", "serve", "runs on Gaudi"),
        ("RTX 3090", "caffe", "llama-3.1-8b", "inference", "networks of cnn.*not of llm"),
        ("RTX 3090", "vllm", "resnet50", "inference", "not of cnn.*pytorch-eager"),
        ("RTX 3090", "llama.cpp", "resnet50", "inference", "not of cnn"),
    ],
)
def test_a_stack_that_never_ran_there_is_refused_with_one_that_does(
    gpu: str, stack: str, model: str, task: str, said: str
) -> None:
    refused(said, gpu, model, stack=stack, task=task)


@pytest.mark.parametrize(
    ("gpu", "stack", "model", "task"),
    [
        ("V100-SXM2-16GB", "vllm", "llama-3.1-8b", "serve"),
        ("MI50 32GB", "vllm", "llama-3.1-8b", "serve"),
        ("H100 PCIe", "caffe", "resnet50", "train"),
        ("Jetson AGX Orin 64GB", "jetson", "resnet50", "inference"),
        ("RTX 3090", "vllm", "bert-base-uncased", "inference"),
        ("Apple M3 Max 40-core GPU 64GB", "mlx", "llama-3.1-8b", "decode"),
    ],
)
def test_what_some_release_runs_is_answered(gpu: str, stack: str, model: str, task: str) -> None:
    assert job(gpu, model, stack=stack, task=task).named.slug == stack


def test_bytes_in_tensorrt_need_their_instructions() -> None:
    assert (
        job("GTX 1080", "resnet50", task="inference", stack="tensorrt", precision="int8").precision
        == "int8"
    )
    refused(
        "int8 from compute capability 6.1",
        "Tesla P100 SXM2",
        "resnet50",
        task="inference",
        stack="tensorrt",
        precision="int8",
    )
    refused(
        "does not run int8",
        "Jetson TX2",
        "resnet50",
        task="inference",
        stack="tensorrt",
        precision="int8",
    )
    refused(
        "TensorRT runs int8 from compute capability 6.1 on; .* has 5.2.$",
        "GTX 980",
        "resnet50",
        task="inference",
        precision="int8",
    )
    assert (
        job(
            "Tesla P100 SXM2", "resnet50", task="inference", stack="tensorrt", precision="fp32"
        ).precision
        == "fp32"
    )


@pytest.mark.parametrize(
    ("gpu", "model", "task", "stack"),
    [
        ("Gaudi 2", "llama-3.1-8b", "serve", "optimum-habana"),
        ("Gaudi 2", "resnet50", "train", "pytorch-eager"),
        ("TPU v5p", "llama-3.1-8b", "train", "maxtext"),
        ("TPU v4", "resnet50", "train", "jax"),
        ("MI300X", "resnet50", "train", "pytorch-eager"),
        ("MI300X", "llama-3.1-8b", "decode", "vllm"),
        ("Apple M3 Max 40-core GPU 64GB", "stable-diffusion-v1-5", "inference", "diffusers"),
        ("RTX 4090", "resnet50", "train", "pytorch-ngc"),
    ],
)
def test_the_usual_stack_runs_on_the_chip(gpu: str, model: str, task: str, stack: str) -> None:
    assert job(gpu, model, task=task).assumed["stack"] == stack


def test_int8_on_another_maker_gets_no_tensorrt() -> None:
    assert (
        job("MI210", "resnet50", task="inference", precision="int8").assumed["stack"]
        == "pytorch-eager"
    )


def test_rows_name_known_stacks_and_their_source() -> None:
    for row in _file().runs:
        assert set(row.stacks) <= set(shipped_stacks())
        assert row.source
    assert {slug for slugs in _file().usual_on.values() for slug in slugs} <= set(shipped_stacks())


def test_no_floor_is_above_what_the_rules_say_of_a_release() -> None:
    tables = msgspec.json.decode((data_path("resources") / "rules" / "software.json").read_bytes())
    floors: dict[str, list[str]] = {}
    for row in (*tables["kernels"], *tables["frameworks"]):
        floors.setdefault(row.get("feature") or row["package"], []).append(row["lowest"])
    makers = {row["what"]: set(row["makers"]) for row in tables["makers"]}
    compared = 0
    for limit in _file().runs:
        for slug in limit.stacks:
            if limit.lowest and limit.precision is None and slug in floors:
                assert float(limit.lowest) <= min(map(float, floors[slug])), slug
                compared += 1
            if limit.makers and slug in makers:
                assert set(limit.makers) == makers[slug], slug
                compared += 1
    assert compared >= 6


def shares(**degrees: int) -> dict[str, object]:
    return {"parallelism": msgspec.to_builtins(Parallelism(**degrees))}


def test_degrees_that_do_not_share_the_network_are_refused() -> None:
    serve = {"task": "serve", "stack": "vllm", "batch_per_gpu": 8}
    assert job("H100 SXM", "llama-3.1-8b", 4, **serve, **shares(tensor=4)).tensor == 4
    refused(
        "divisor of the 32 attention heads, found 6",
        "H100 SXM",
        "llama-3.1-8b",
        6,
        **serve,
        **shares(tensor=6),
    )
    refused(
        "divisor of the 25 attention heads",
        "A100-SXM4-80GB",
        "gpt2-xl",
        2,
        task="train",
        **shares(tensor=2),
    )
    assert job("H100 SXM", "llama-3.1-8b", 32, task="train", **shares(pipeline=32)).pipeline == 32
    refused(
        "at most the 32 layers, found 64",
        "H100 SXM",
        "llama-3.1-8b",
        64,
        task="train",
        **shares(pipeline=64),
    )
    assert job("H100 SXM", "llama-3.1-405b", 8, task="serve", **shares(pipeline=8)).pipeline == 8
    assert (
        job("H100 SXM", "mixtral-8x7b-v0.1", 8, task="train", **shares(expert=8)).shape.experts == 8
    )
    dealt = job("H100 SXM", "deepseek-v3", 256, task="train", **shares(pipeline=16, expert=16))
    assert dealt.shape.experts == 257, "the shared expert is on every rank"
    refused(
        "divisor of the 8 experts",
        "H100 SXM",
        "mixtral-8x7b-v0.1",
        16,
        task="train",
        **shares(expert=16),
    )
    refused("no experts", "H100 SXM", "llama-3.1-8b", 2, task="train", **shares(expert=2))


@pytest.mark.parametrize(
    ("gpu", "link", "said"),
    [
        ("RTX 4090", "nvlink-bridge", "pcie for"),
        ("RTX 3090", "xgmi", "nvlink-bridge"),
        ("H100 SXM", "xgmi", "nvlink-mesh or nvswitch"),
        ("RTX 3090", "nvswitch", "pcie or nvlink-bridge"),
        ("H100 PCIe", "nvswitch", "nvlink-bridge"),
        ("MI300X", "nvswitch", "pcie or xgmi"),
        ("RX 7900 XTX", "xgmi", "pcie for"),
    ],
)
def test_a_link_that_a_gpu_has_not_is_refused_with_those_that_it_has(
    gpu: str, link: str, said: str
) -> None:
    refused(f"hardware.link: expected .*{said}", gpu, "resnet50", 2, link, task="train")


@pytest.mark.parametrize(
    ("gpu", "link"),
    [
        ("RTX 3090", "nvlink-bridge"),
        ("H100 SXM", "nvswitch"),
        ("MI300X", "xgmi"),
        ("Gaudi 2", "nvlink-mesh"),
    ],
)
def test_a_link_that_a_gpu_has_is_taken(gpu: str, link: str) -> None:
    assert job(gpu, "bert-large-uncased", 2, link, task="train").link == link


def test_one_gpu_has_no_link_to_refuse() -> None:
    found = predict_speed(
        Workload(model="resnet50", task="train"),
        find_gpu("RTX 4090"),
        1,
        1,
        "nvlink-bridge",
        shipped_zoo(),
    )
    assert found.value > 0


def test_stages_that_hold_several_chunks_wait_so_many_times_less() -> None:
    told: dict[str, object] = {"task": "train", "gradient_accumulation": 2, **shares(pipeline=4)}
    plain, interleaved = (
        pipeline_bubble(job("H100 SXM", "llama-3.1-8b", 4, variant=words, **told))
        for words in ({}, {"virtual_pipeline": 5})
    )
    assert [plain, interleaved] == pytest.approx([2.5, 1.3])
