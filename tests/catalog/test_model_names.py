"""Names of networks as hubs, timm, torchvision and ollama write them: the right network, or none
and the nearest."""

from pathlib import Path

import pytest

from rigplanner.catalog.find.model_names import joined, reduced, without_weights
from rigplanner.catalog.find.stored_names import read_name, usual_tag
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.rig.workload import Workload
from rigplanner.workload.stored import formatted

NAMES = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "model_names.tsv").read_text(encoding="utf-8").splitlines()
    if line
]


def test_there_are_names_of_every_kind() -> None:
    assert len(NAMES) >= 300
    assert len({slug for _, slug in NAMES}) >= 180
    assert sum(slug == "-" for _, slug in NAMES) >= 25


def test_names_mean_the_network_that_they_name_or_none() -> None:
    zoo = shipped_zoo()
    found = {name: model.slug if (model := zoo.get(name)) else "-" for name, _ in NAMES}
    assert found == dict(NAMES)


def test_a_name_of_several_networks_means_none_and_names_the_nearest() -> None:
    zoo = shipped_zoo()
    assert zoo.get("llama") is None
    assert "llama-3-8b" in zoo.nearest("llama-3-9b")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Org/Gemma-2-2B-it-GGUF", "gemma 2 2b"),
        ("gemma-22b", "gemma 22b"),
        ("x/Y-7B-Instruct-GPTQ-Int4", "y 7b"),
        ("bert-base-uncased", "bert base uncased"),
        ("Falcon3-10B-Base", "falcon 3 10b"),
    ],
)
def test_words_that_change_no_layer_are_left_out(name: str, words: str) -> None:
    assert reduced(name) == words


def test_the_day_of_a_release_is_left_out_only_when_asked() -> None:
    assert reduced("Qwen3-4B-Instruct-2507") != reduced("Qwen3-4B")
    assert reduced("Qwen3-4B-Instruct-2507", dated=True) == reduced("Qwen3-4B")


def test_the_tag_of_the_weights_is_cut_from_a_timm_name() -> None:
    assert without_weights("timm/resnet50.a1_in1k") == "resnet50"
    assert without_weights("llama-3.1-8b") is None


@pytest.mark.parametrize(
    ("spoken", "slug"),
    [
        ("SE-ResNet-50", "seresnet50"),
        ("MobileNetV2", "mobilenetv2_100"),
        ("ViT-B/16", "vit_base_patch16_224"),
        ("YOLO v5s", "yolov5s"),
        ("Hunyuan-Video", "hunyuanvideo"),
        ("ResNeXt-50", "resnext50_32x4d"),
        ("flux1-dev", "flux.1-dev"),
    ],
)
def test_hyphens_and_capitals_change_no_name(spoken: str, slug: str) -> None:
    found = shipped_zoo().get(spoken)
    assert found is not None and found.slug == slug


def test_what_parts_two_numbers_is_kept_as_a_name_is_joined() -> None:
    assert joined("gemma-2-2b") != joined("gemma-22b") and joined("llama 3.1 8b") == joined(
        "llama3.1-8b"
    )


@pytest.mark.parametrize(
    ("name", "tagged"),
    [
        ("llama3", "llama3:8b"),
        ("library/gpt-oss", "gpt-oss:20b"),
        ("Gemma3:latest", "gemma3:4b"),
        ("deepseek-r1:latest", "deepseek-r1:8b"),
        ("deepseek-r1", None),
        ("llama3:70b", None),
        ("hf.co/llama3", None),
        ("meta-llama/llama3", None),
    ],
)
def test_a_name_of_a_library_stands_for_a_tag(name: str, tagged: str | None) -> None:
    assert usual_tag(name) == tagged
    told = formatted(Workload(model=name, task="inference"), shipped_zoo())
    assert told.assumed.get("model") == tagged
    assert tagged is None or told.workload.stack == "ollama"


def test_the_latest_of_a_library_may_be_another_network_than_its_name() -> None:
    zoo = shipped_zoo()
    assert zoo.get("deepseek-r1:latest") == zoo.get("deepseek-r1:8b") != zoo.get("deepseek-r1")
    assert zoo.get("llama3:latest") == zoo.get("llama3:8b")


def test_a_mix_beside_the_width_of_its_output_is_the_mix() -> None:
    assert read_name("gemma-2-9b-it-Q4_K_M-fp16.gguf").precision == "q4_k_m"
    assert read_name("Qwen3-8B-f16.gguf").precision == "fp16"
