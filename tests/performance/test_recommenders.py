"""Recommenders: embeddings that mixed precision does not narrow, and computers that feed fewer
samples than their GPUs take."""

from typing import Any

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.modelled import fed_seconds, model_speed
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.roofline import step_times
from rigplanner.rig.workload import Workload


def job(model: str, count: int = 1, nodes: int = 1, **fields: Any) -> Job:
    asked = msgspec.convert(
        {"model": model, "task": "train", "stack": "pytorch-ngc", **fields}, Workload
    )
    return read_job(
        asked,
        find_gpu("A100-SXM4-40GB"),
        count,
        nodes,
        "nvswitch" if count > 1 else "none",
        shipped_zoo(),
    )


@pytest.mark.parametrize(("task", "share"), [("train", 0.75), ("inference", 0.5)])
def test_embeddings_stay_wide_where_products_are_narrow(task: str, share: float) -> None:
    mixed, full = (
        step_times(job("ncf", task=task, precision=word, batch_per_gpu=65536))
        for word in ("amp_fp16", "tf32")
    )
    assert mixed.traffic_s == pytest.approx(share * full.traffic_s)


def test_other_networks_are_narrowed_whole() -> None:
    mixed, full = (
        step_times(job("resnet-50", precision=word, batch_per_gpu=64))
        for word in ("amp_fp16", "tf32")
    )
    assert mixed.traffic_s == pytest.approx(0.5 * full.traffic_s)


def test_a_computer_feeds_no_more_than_it_reads() -> None:
    asked = {"precision": "tf32", "batch_per_gpu": 16384}
    eight, sixteen = (
        job("wide-and-deep", count, nodes, **asked) for count, nodes in ((8, 1), (16, 2))
    )
    rate = eight.shape.host_rate
    assert rate and 0.8 * rate < model_speed(eight).samples_s < rate
    assert model_speed(sixteen).samples_s == pytest.approx(
        2 * model_speed(eight).samples_s, rel=0.05
    )


def test_a_step_waits_only_for_samples_that_are_late() -> None:
    slow = job("wide-and-deep", 8, precision="tf32", batch_per_gpu=16384)
    assert slow.shape.host_rate
    late = 8 * 16384 / slow.shape.host_rate
    assert fed_seconds(slow, 10 * late) < 0.005 * late
    assert fed_seconds(slow, 0.01 * late) == pytest.approx(0.99 * late, rel=0.01)
    unknown = msgspec.structs.replace(
        slow, shape=msgspec.structs.replace(slow.shape, host_rate=None)
    )
    assert fed_seconds(unknown, 0.01 * late) == 0.0
    assert fed_seconds(msgspec.structs.replace(slow, task="inference"), 0.01 * late) == 0.0


def test_the_answer_names_the_computer_that_feeds_too_little() -> None:
    asked = Workload(
        model="wide-and-deep",
        task="train",
        stack="tensorflow-ngc",
        precision="tf32",
        batch_per_gpu=16384,
    )
    found = predict_speed(asked, find_gpu("A100-SXM4-40GB"), 8, 1, "nvswitch", shipped_zoo())
    assert found.bound == "cpu" and found.lift == "more-cores-or-gpu-decoding"
    assert (
        pytest.approx(next(step.value for step in found.steps if step.name == "fed"), rel=0.2)
        == 5e5
    )
