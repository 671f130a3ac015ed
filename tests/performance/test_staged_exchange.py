"""Cards without peer access, which exchange through the host: what they share bounds the loss, and
the interval holds both a host that all share and one with a way for each."""

import itertools

import pytest

from rigplanner.performance.anchors.anchors import find_gpu
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload

JOBS = (
    Workload(
        model="bert-large",
        task="train",
        precision="fp32",
        stack="pytorch-ngc",
        batch_per_gpu=2,
        seq_len=384,
    ),
    Workload(
        model="vgg-16", task="train", precision="fp32", stack="tf-cnn-benchmarks", batch_per_gpu=64
    ),
    Workload(model="resnet-50", task="train", precision="fp16", stack="tf-cnn-benchmarks"),
)


@pytest.mark.parametrize("gpu", ["RTX 2080 SUPER", "RTX 3090", "RTX 4090"])
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.model)
def test_a_host_that_all_share_slows_more_cards_by_no_more_than_the_ring_does(
    gpu: str, job: Workload
) -> None:
    """Of n cards each moves 2 (n - 1) / n of the gradients; where one host carries the bytes of
    all, n cards do n / (n - 1) of what endless ones would: 8 are at most 14 % slower than 4."""
    counts = (4, 8, 16)
    speeds = [predict_speed(job, find_gpu(gpu), count, 1, "pcie", None).value for count in counts]
    rings = [count / (count - 1) for count in counts]
    shares = [speed / ring for speed, ring in zip(speeds, rings, strict=True)]
    assert all(less <= more * 1.05 for less, more in itertools.pairwise(shares))


def test_the_interval_holds_boxes_whose_cards_have_a_way_of_their_own() -> None:
    card, job = find_gpu("RTX 2080 SUPER"), JOBS[0]
    one = predict_speed(job, card, 1, 1, "none", None).value
    eight = predict_speed(job, card, 8, 1, "pcie", None)
    assert eight.low < one, "a host that all share"
    assert eight.high > 2 * one, "published boxes of such cards gain two to five times"
    two = predict_speed(job, card, 2, 1, "pcie", None)
    assert two.high / two.value < 2
