"""Networks by the names that published speed tables give them, and by what their samples are
there."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.find.model_names import joined
from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.geometry.shapes import Shape, tables
from rigplanner.performance.job import read_job
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve


def shape(name: str, task: str = "train") -> Shape:
    return resolve_shape(Workload(model=name, task=task), shipped_zoo())


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("resnet-50-v1.5", "resnet-50"),
        ("resnet50_v1.5", "resnet-50"),
        ("bert-99.9", "bert-large"),
        ("vgg-a", "vgg11"),
        ("gptj-99", "gpt-j-6b"),
        ("dlrm-v2-99.9", "dlrm-dcnv2"),
        ("stable-diffusion-v2", "sd-2"),
        ("unet3d", "3d-unet-kits19"),
        ("inception-v1", "googlenet"),
        ("alexnet-owt", "alexnet"),
        ("flux1", "flux.1-dev"),
        ("gpt-3-175b", "gpt3-175b"),
        ("mt-nlg-530b", "megatron-lm-530b"),
        ("tiny-yolo-v3", "yolov3-tiny"),
        ("temporal-fusion-transformer", "tft"),
        ("se-resnext-101", "seresnext101_32x4d"),
        ("bert-base-squad", "bert-base-uncased"),
        ("transformer-xl", "transformer-xl-base"),
    ],
)
def test_a_name_of_a_published_table_is_its_network(name: str, network: str) -> None:
    told, known = shape(name), shape(network)
    assert (told.gflop, told.params_m, told.kind) == (known.gflop, known.params_m, known.kind)


@pytest.mark.parametrize("name", ["ssd", "yolov5", "resnet", "bert", "gpt-20b", "clip", "openpose"])
def test_a_name_that_several_networks_go_by_is_asked_back(name: str) -> None:
    with pytest.raises(ValueError, match="is not known"):
        shape(name)


def test_no_name_of_the_speed_table_means_two_networks() -> None:
    names = [
        joined(name) for slug, net in tables().networks.items() for name in (slug, *net.aliases)
    ]
    assert len(set(names)) == len(names)
    assert not [
        name
        for net in tables().networks.values()
        for name in net.aliases
        if shipped_zoo().models.get(name)
    ]


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("gpt3-125m", 0.125),
        ("gpt3-760m", 0.76),
        ("gpt3-6.7b", 6.7),
        ("gpt3-13b", 13.0),
        ("gpt3-175b", 175.0),
    ],
)
def test_sizes_of_gpt3_come_out_of_its_table(name: str, billions: float) -> None:
    assert resolve(Workload(model=name), shipped_zoo()).params / 1e9 == pytest.approx(
        billions, rel=0.05
    )


def test_a_batch_counts_utterances_and_the_speed_their_frames() -> None:
    gpu, zoo = find_gpu("V100-SXM2-16GB"), shipped_zoo()
    spoken = read_job(
        Workload(model="tacotron2", task="train", batch_per_gpu=64), gpu, 1, 1, "none", zoo
    )
    segment = read_job(
        Workload(model="transformer-xl-base", task="train", batch_per_gpu=8, seq_len=128),
        gpu,
        1,
        1,
        "none",
        zoo,
    )
    assert (
        spoken.batch == 64 * tables().networks["tacotron2"].batch_tokens
        and segment.batch == 8 * 128
    )
    assert (
        read_job(
            Workload(model="resnet-50", task="train", batch_per_gpu=64), gpu, 1, 1, "none", zoo
        ).batch
        == 64
    )


def test_a_word_of_every_word_costs_more_than_an_adaptive_one() -> None:
    adaptive, full = shape("transformer-xl-base"), shape("transformer-xl-base-full-softmax")
    assert full.gflop > 2 * adaptive.gflop and full.elements_m > 2 * adaptive.elements_m


@pytest.mark.parametrize(
    ("name", "gpu", "count", "minutes"),
    [("llama31_405b", "GB200", 2560, 18.79), ("gpt3", "H100-SXM5-80GB", 512, 64.3)],
)
def test_time_to_train_a_language_model_is_that_of_its_reference_runs(
    name: str, gpu: str, count: int, minutes: float
) -> None:
    asked = Workload(model=name, task="train", stack="mlperf-training", precision="mixed")
    found = [
        predict_speed(
            replace(asked, seq_len=length),
            find_gpu(gpu),
            count,
            count // 8,
            "nvswitch",
            None,
            None,
            "time_to_train_min",
        )
        for length in (2048, 8192)
    ]
    assert all(0.5 < item.value / minutes < 2.0 for item in found)
    assert found[0].value == pytest.approx(found[1].value, rel=0.3), (
        "tokens are what counts, however they are cut"
    )
