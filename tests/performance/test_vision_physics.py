"""The physics of images, detectors and many GPUs."""

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.anchors.anchors import place
from rigplanner.performance.anchors.kriging import Kernel, columns_of
from rigplanner.performance.constants import speed_model
from rigplanner.performance.geometry.configs import usual_values
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.modelled import model_speed
from rigplanner.performance.roofline import ceiling, share_kind, step_times
from rigplanner.performance.several_gpus.scaling import slowest_of
from rigplanner.rig.workload import Workload


def job(gpu: str, count: int = 1, link: str = "none", **fields: object) -> Job:
    return read_job(msgspec.convert(fields, Workload), find_gpu(gpu), count, 1, link, shipped_zoo())


def test_values_written_grow_with_the_area_as_the_arithmetic_does() -> None:
    assert usual_values(4 * 4.1, 448) == pytest.approx(4 * usual_values(4.1, 224))
    assert usual_values(134.4, 800) == pytest.approx(260, rel=0.2), "Mask R-CNN, as published"
    assert usual_values(4.1, 224) == pytest.approx(11.1, rel=0.3), "ResNet-50, as published"


def test_a_detector_given_by_figures_is_as_fast_as_the_same_of_the_zoo() -> None:
    asked = {
        "task": "inference",
        "stack": "tensorrt",
        "precision": "fp16",
        "batch_per_gpu": 8,
        "image_size": 640,
    }
    known = model_speed(job("T4", model="yolov8m", **asked)).samples_s
    given = model_speed(
        job("T4", model="mine", kind="detector", params_m=25.9, gmacs=39.45, **asked)
    ).samples_s
    assert given == pytest.approx(known, rel=0.15)


def test_detectors_that_only_look_have_their_own_shares() -> None:
    assert (
        share_kind("detector", "inference")
        == "detector-forward"
        != share_kind("detector", "train")
        == "detector"
    )


@pytest.mark.parametrize("stack", ["pytorch-eager", "tensorrt"])
def test_windows_cost_passes_that_no_stack_fuses(stack: str) -> None:
    asked = {
        "task": "inference",
        "stack": stack,
        "precision": "fp16",
        "batch_per_gpu": 64,
        "image_size": 224,
    }
    windows, plain = (
        step_times(job("A100-SXM4-40GB", model=model, **asked))
        for model in ("swin_small_patch4_window7_224", "vit_base_patch16_224")
    )
    assert windows.traffic_s > (1.5 if stack == "pytorch-eager" else 3) * plain.traffic_s


def test_grouped_convolutions_are_slower_than_their_arithmetic() -> None:
    asked = {
        "task": "inference",
        "stack": "tensorrt",
        "precision": "fp32",
        "batch_per_gpu": 8,
        "image_size": 224,
    }
    grouped, dense = (
        step_times(job("T4", model=model, **asked)).matrix_s
        for model in ("resnext50_32x4d", "resnet50")
    )
    assert grouped > 1.4 * dense


def test_nets_that_join_maps_pass_over_them_again() -> None:
    asked = {
        "task": "train",
        "stack": "tf-cnn-benchmarks",
        "precision": "fp32",
        "batch_per_gpu": 64,
    }
    joined, plain = (
        model_speed(job("P100-SXM2-16GB", model=model, **asked)).samples_s
        for model in ("inception-v3", "resnet-50")
    )
    assert joined < 0.75 * plain, "142 and 219 images/s were measured (tensorflow.org, 2017)"


def test_eight_bit_floats_pass_the_listed_rate_of_a_card_that_halves_it() -> None:
    asked = {
        "model": "flux.1-dev",
        "task": "inference",
        "stack": "torch-compile",
        "precision": "fp8",
        "batch_per_gpu": 1,
    }
    most = {
        gpu: ceiling(made) / made.matrix_tflops
        for gpu in ("RTX 4090", "RTX 6000 Ada")
        for made in [job(gpu, **asked)]
    }
    assert most["RTX 4090"] == pytest.approx(2 * most["RTX 6000 Ada"])


def test_sentences_of_unequal_length_wait_for_the_slowest_gpu() -> None:
    assert slowest_of(1) == 0 < slowest_of(2) < slowest_of(8) < slowest_of(16) < 2
    asked = {"task": "train", "stack": "pytorch-ngc", "precision": "amp_fp16", "batch_per_gpu": 128}
    kept = {
        model: model_speed(job("V100-SXM2-32GB", 8, "nvlink-mesh", model=model, **asked)).samples_s
        / model_speed(job("V100-SXM2-32GB", model=model, **asked)).samples_s
        / 8
        for model in ("gnmt", "resnet-50")
    }
    assert kept["gnmt"] < kept["resnet-50"] - 0.05


def test_residuals_are_shared_by_the_kind_of_net_in_a_family_of_stacks() -> None:
    asked = {"task": "inference", "stack": "tensorrt", "precision": "fp16", "batch_per_gpu": 8}
    points = [
        place(job("T4", model=model, **asked)) for model in ("yolov8m", "yolov8x", "resnet50")
    ]
    detectors = columns_of(points, {})
    detector, other, network = Kernel(speed_model()).matrix(detectors, detectors)[0]
    assert detector > other > network


def test_one_image_at_a_time_waits_for_the_ramps_of_kernels() -> None:
    asked = {"model": "resnet-50", "task": "inference", "stack": "mxnet", "batch_per_gpu": 1}
    shaders, units = (
        step_times(job("V100-SXM2-16GB", precision=word, **asked)) for word in ("fp32", "fp16")
    )
    assert shaders.tail_s > 2 * units.tail_s > 0


def test_engines_launch_as_long_for_all_kinds_of_nets() -> None:
    asked = {"task": "inference", "stack": "tensorrt", "precision": "fp16", "batch_per_gpu": 1}
    nets = [
        job("T4", model=name, **asked)
        for name in ("resnet-50", "bert-base-uncased", "vit_base_patch16_224")
    ]
    paces = [step_times(net).launch_s / net.shape.kernels for net in nets]
    assert max(paces) == pytest.approx(min(paces))


def test_mobilenets_have_half_the_kernels_of_efficientnets_and_regnets_narrow_products() -> None:
    asked = {
        "task": "inference",
        "stack": "pytorch-eager",
        "precision": "fp32",
        "batch_per_gpu": 64,
    }
    mobile, efficient = (
        job("V100-SXM2-16GB", model=name, **asked).shape.kernels
        for name in ("mobilenet_v2", "efficientnet_b0")
    )
    assert mobile < 0.65 * efficient
    regnet = job("V100-SXM2-16GB", model="regnety_160", **asked)
    assert model_speed(regnet).samples_s == pytest.approx(339, rel=0.2), (
        "64 images in 189 ms (pycls)"
    )
