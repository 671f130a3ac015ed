"""A net known by its figures alone: what is guessed of it grows with it, and its interval says that
it is a guess."""

import math

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload

PERCEPTRON = Workload(params_m=0.1, gmacs=1e-4, activations_m=1e-3, task="train", batch_per_gpu=64)
RESNET = Workload(
    params_m=25.6, gmacs=4.1, activations_m=11.1, image_size=224, task="train", batch_per_gpu=64
)


def speed(work: Workload) -> SpeedEstimate:
    return predict_speed(work, find_gpu("RTX 4090"), 1, 1, "none", shipped_zoo())


def width(found: SpeedEstimate) -> float:
    return math.log(found.high / found.low)


def kernels(gmacs: float) -> float:
    return resolve_shape(Workload(params_m=1.0, gmacs=gmacs), None).kernels


def test_a_perceptron_steps_in_a_millisecond_or_two() -> None:
    found = speed(PERCEPTRON)
    assert found.bound == "launch"
    assert found.step_ms is not None
    assert 0.3 < found.step_ms < 3


@pytest.mark.parametrize(
    ("gmacs", "least", "most"),
    [(1e-4, 6, 24), (4e-4, 8, 34), (0.04, 34, 110), (4.1, 120, 240), (60.0, 200, 500)],
)
def test_kernels_grow_with_the_arithmetic(gmacs: float, least: float, most: float) -> None:
    assert least < kernels(gmacs) < most


def test_no_net_has_fewer_kernels_than_a_perceptron_or_endless_ones() -> None:
    assert kernels(1e-9) == 4
    assert kernels(1e6) == kernels(1e5)


def test_the_interval_says_that_kernels_and_values_are_guessed() -> None:
    named = speed(replace(PERCEPTRON, model="vgg11-tiny"))
    assert width(speed(PERCEPTRON)) > width(named) + 0.5
    assert width(speed(replace(RESNET, activations_m=None))) > width(speed(RESNET)) + 0.1


def test_a_net_of_usual_size_is_as_fast_as_its_named_twin() -> None:
    assert speed(RESNET).value == pytest.approx(
        speed(Workload(model="resnet-50", task="train", batch_per_gpu=64)).value, rel=0.25
    )
