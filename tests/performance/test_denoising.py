"""Diffusion transformers and networks that train step by step and make images over many."""

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.geometry.shapes import Shape
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload


def shape(**fields: object) -> Shape:
    return resolve_shape(Workload(**fields), shipped_zoo())  # type: ignore[arg-type]


def predict(gpu: str = "RTX 4090", **fields: object) -> SpeedEstimate:
    asked = {"task": "inference", "precision": "bf16", "stack": "diffusers-xformers"} | fields
    return predict_speed(Workload(**asked), find_gpu(gpu), 1, 1, "none", shipped_zoo())


def test_an_image_takes_all_its_steps() -> None:
    few, many = (predict(model="flux.1-dev", variant={"steps": steps}).value for steps in (10, 20))
    assert few == pytest.approx(2 * many, rel=0.05)
    assert predict(model="flux.1-dev").assumed["steps"] == "28"
    assert predict(model="flux.1-schnell").assumed["steps"] == "4"


def test_an_image_of_a_large_model_takes_seconds() -> None:
    assert 8 < 1 / predict(model="flux.1-dev", image_size=1024).value < 45


def test_a_clip_of_five_seconds_takes_the_minutes_that_its_makers_tell() -> None:
    """Wan2.1 T2V-1.3B, 480p, 81 frames on an RTX 4090: about 4 minutes (README of
    Wan-Video/Wan2.1)."""
    found = predict(model="wan2.1-t2v-1.3b")
    assert found.metric == "samples/s" and found.assumed["frames"] == "81"
    assert 1 / found.high < 240 < 1 / found.low


def test_guidance_takes_a_second_pass() -> None:
    one, two = (
        shape(model="sd-3-medium", task="inference", variant={"guidance": g}).gflop for g in (1, 5)
    )
    assert (
        two == pytest.approx(2 * one, rel=0.1)
        and shape(model="sd-3-medium", task="inference").gflop == two
    )


def test_more_pixels_are_more_tokens() -> None:
    small, large = (
        shape(model="flux.1-dev", task="inference", image_size=edge) for edge in (512, 1024)
    )
    assert large.tokens - small.tokens == 3 * 1024 and large.gflop > 3 * small.gflop


def test_a_coarser_autoencoder_leaves_fewer_tokens() -> None:
    """LTX-Video: 32 pixels and 8 frames a token; Wan: 16 and 4."""
    clip = {"task": "train", "image_size": [480, 480], "frames": 49}
    ltx, wan = (shape(model=m, **clip).tokens for m in ("ltx-video-2b", "wan2.1-t2v-1.3b"))
    assert ltx - 256 == 15 * 15 * 7 and wan - 512 == 30 * 30 * 13


def test_training_sees_each_sample_once() -> None:
    train, make = (shape(model="sd-3-medium", task=task) for task in ("train", "inference"))
    assert make.gflop > 50 * train.gflop and train.steps == 1
    drawn = shape(model="sd-1.4", task="train")
    assert (
        drawn.gflop == pytest.approx(shape(model="sd-2", task="train").gflop, rel=0.1)
        and drawn.steps == 1
    )


def test_a_network_listed_as_it_trains_makes_images_over_many_steps() -> None:
    assert (
        shape(model="sd-2", task="inference").gflop > 50 * shape(model="sd-2", task="train").gflop
    )


def test_a_model_known_by_its_parameters_is_told() -> None:
    told, known = (
        shape(model=model, task="inference", frames=49)
        for model in ("cogvideox-2b", "cogvideox-5b")
    )
    assert 0.2 < told.gflop / known.gflop < 0.7


def test_kolors_works_as_the_u_net_that_it_shares() -> None:
    own, like = (
        shape(model=name, task="inference", variant={"steps": 25}) for name in ("kolors", "sdxl")
    )
    assert like.gflop == pytest.approx(own.gflop, rel=0.05) and own.steps == like.steps
    assert predict(model="kolors").value > 0
