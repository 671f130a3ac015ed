"""Gradients that Horovod gathers and variables that the host serves, against published runs."""

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.several_gpus.scaling import exposed_seconds, gathering_seconds
from rigplanner.rig.workload import Workload


def asked(gpu: str, exchange: str, **fields: object) -> Workload:
    variant = {"exchange": exchange} if exchange else {}
    usual = {"model": "resnet-50", "task": "train", "stack": "pytorch-eager", "variant": variant}
    return Workload(**(usual | fields))  # type: ignore[arg-type]


def speed(gpu: str, count: int, nodes: int, exchange: str = "", **fields: object) -> SpeedEstimate:
    link = "nvlink-mesh" if count > 1 else "none"
    work = asked(gpu, exchange, **fields)
    return predict_speed(work, find_gpu(gpu), count, nodes, link, shipped_zoo())


def job(exchange: str, count: int = 8, **fields: object) -> Job:
    gpu = "P100-SXM2-16GB"
    usual = {"precision": "fp32", "batch_per_gpu": 32, "stack": "tf-cnn-benchmarks"}
    work = asked(gpu, exchange, **(usual | fields))
    return read_job(work, find_gpu(gpu), count, 1, "nvlink-mesh", shipped_zoo())


@pytest.mark.parametrize(
    ("gpu", "precision", "horovod", "plain"),
    [
        ("A100-SXM4-40GB", "tf32", 4967.57, 5502.49),  # mvsjober/ml-benchmarks, PyTorch 1.11
        ("V100-SXM2-32GB", "fp32", 2220.04, 2420.71),  # the same
    ],
)
def test_horovod_costs_what_was_measured(
    gpu: str, precision: str, horovod: float, plain: float
) -> None:
    setting = {"precision": precision, "batch_per_gpu": 32, "framework_text": "PyTorch 1.11.0"}
    told = [speed(gpu, 8, 2, word, **setting).value for word in ("horovod", "")]
    assert told[0] / told[1] == pytest.approx(horovod / plain, abs=0.04)


def test_horovod_looked_less_often_before_its_release_0_21() -> None:
    old, new = (
        gathering_seconds(job("horovod", stack="pytorch-eager", framework_text=text))
        for text in ("PyTorch 1.4", "PyTorch 2.0")
    )
    assert old - new == pytest.approx(4e-3)


@pytest.mark.parametrize(("batch", "kept"), [(64, 0.99), (32, 0.952)])
def test_a_host_serves_variables_to_eight_cards(batch: int, kept: float) -> None:
    """TensorFlow's own benchmarks of 2017: a DGX-1 with P100, variables on the CPU."""
    setting = {"precision": "fp32", "stack": "tf-cnn-benchmarks", "batch_per_gpu": batch}
    eight = speed("P100-SXM2-16GB", 8, 1, "parameter-server", **setting).value
    one = speed("P100-SXM2-16GB", 1, 1, **setting).value
    assert eight / one / 8 == pytest.approx(kept, abs=0.015)


def test_a_host_adds_the_gradients_of_all_cards_one_after_another() -> None:
    step = 0.1
    waits = [
        exposed_seconds(job("parameter-server", count, model="vgg-16"), step) for count in (2, 4, 8)
    ]
    assert waits[0] < waits[1] < waits[2] and waits[2] > 3 * step
