"""Diffusion transformers and networks that train step by step and make images over many."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.best_format import proposals
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.geometry.shapes import Shape
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Parallelism, Workload


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


def test_a_denoiser_shared_by_tensors_waits_for_the_links_and_holds_its_part() -> None:
    zoo, work = shipped_zoo(), Workload(model="flux.2-dev", task="inference", precision="bf16")
    shared = replace(work, parallelism=Parallelism(tensor=2))
    bridged, bare = find_gpu("H100 SXM5 80GB"), find_gpu("RTX 4090")
    alone = predict_speed(work, bridged, 1, 1, "none", zoo).value
    on_links = predict_speed(shared, bridged, 2, 1, "nvswitch", zoo).value
    on_pcie = predict_speed(shared, bare, 2, 1, "pcie", zoo).value
    assert 1.6 * alone < on_links < 1.99 * alone
    assert on_pcie < 1.7 * predict_speed(work, bare, 1, 1, "none", zoo).value
    whole, part = (estimate_memory(each, bridged, 2, zoo).device_gib for each in (work, shared))
    assert whole - part == pytest.approx(32.2e9 / 2**30, rel=0.05)


def test_formats_of_what_draws_are_proposed_as_cards_hold_them() -> None:
    work, zoo = Workload(model="flux.1-dev"), shipped_zoo()
    large, middle, small = (
        proposals(work, [find_gpu(card)], None, zoo)
        for card in ("RTX PRO 6000 Blackwell Workstation Edition", "RTX 4090", "RTX 3060")
    )
    assert large[0].stack == "diffusers" and large[0].best
    assert middle[0].stack == "comfyui" and middle[0].precision == "fp8"
    assert small and {way.precision for way in small} < {way.precision for way in middle}
    for ways in (large, middle, small):
        sizes = [way.device_gib for way in ways if way.stack == "comfyui"]
        assert sizes[0] == max(sizes)
        assert all(way.speed and way.speed.metric == "images/s" for way in ways)
    with pytest.raises(WorkloadFault, match="write or draw"):
        proposals(Workload(model="resnet-50"), [find_gpu("RTX 3060")], None, zoo)
