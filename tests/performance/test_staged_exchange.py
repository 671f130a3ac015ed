"""Cards without peer access, which exchange through the host: what they share bounds the loss, and
the interval holds both a host that all share and one with a way for each."""

import itertools

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.errors import WorkloadFault
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.several_gpus.scaling import exchange_bytes, exchange_seconds
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
    assert eight.high > 2 * one, "published boxes of such cards gain two to five times"
    two = predict_speed(job, card, 2, 1, "pcie", None)
    assert two.high / two.value < 2


def test_more_cards_leave_more_doubt_of_what_the_host_carries() -> None:
    widths = []
    for count in (2, 4, 8):
        told = predict_speed(JOBS[0], find_gpu("RTX 3090 Ti"), count, 1, "pcie", None)
        widths.append(told.value / told.low)
    assert widths == sorted(widths)
    assert widths[2] > 1.3 * widths[0]


TEN_2080_TI = {
    "resnet-50": (128, {2: 1.82, 4: 3.25, 8: 6.06, 10: 7.49}),
    "inception-v3": (128, {2: 1.87, 4: 3.52, 8: 6.77, 10: 8.39}),
    "vgg-16": (64, {2: 1.52, 4: 1.98, 8: 3.30, 10: 4.06}),
    "inception-v4": (64, {2: 1.80, 4: 3.24, 8: 6.04, 10: 7.45}),
}
"""How many times as fast as one several RTX 2080 Ti of one computer were in tf_cnn_benchmarks, FP16
with XLA, by batch (server-gear.com/shop/index.php/blog/rtx2080ti10gpu_benchmarks, read
2026-11-23)."""


@pytest.mark.parametrize("model", TEN_2080_TI)
def test_ten_cards_of_pcie_3_gain_as_published(model: str) -> None:
    batch, gains = TEN_2080_TI[model]
    job = Workload(
        model=model,
        task="train",
        precision="fp16",
        stack="tf-cnn-benchmarks",
        framework_text="TensorFlow tf_cnn_benchmarks, XLA",
        batch_per_gpu=batch,
    )
    card = find_gpu("RTX 2080 Ti")
    alone = predict_speed(job, card, 1, 1, "none", None).value
    for count, gain in gains.items():
        told = predict_speed(job, card, count, 1, "pcie", None).value / alone
        assert told / count == pytest.approx(gain / count, abs=0.06)


def _job(gpu: str, count: int, link: str = "pcie", **variant: object) -> Job:
    asked = replace(JOBS[0], variant=variant)
    return read_job(asked, find_gpu(gpu), count, 1, link, None)


def test_processes_in_a_ring_each_use_their_own_way_to_the_host() -> None:
    two, eight = (_job("RTX 3090", count) for count in (2, 8))
    moved = exchange_bytes(eight) / exchange_bytes(two)
    assert exchange_seconds(eight) / exchange_seconds(two) == pytest.approx(moved, rel=0.01)


def test_software_that_bars_peer_access_stages_whatever_the_links() -> None:
    free, barred = (_job("A100 SXM4 40GB", 8, "nvswitch", **word) for word in ({}, {"p2p": False}))
    assert (free.lane, barred.lane) == ("nvlink", "staged")
    assert exchange_seconds(barred) > 5 * exchange_seconds(free)
    one = _job("A100 SXM4 40GB", 1, "none", p2p=False)
    assert one == replace(_job("A100 SXM4 40GB", 1, "none"), variant={"p2p": False})


def test_words_of_the_exchange_are_heard() -> None:
    card, asked = find_gpu("RTX 3090"), JOBS[0]

    def speed(**variant: object) -> float:
        return predict_speed(replace(asked, variant=variant), card, 4, 1, "pcie", None).value

    assert exchange_bytes(_job("RTX 3090", 4, gradients="fp16")) == pytest.approx(
        exchange_bytes(_job("RTX 3090", 4)) / 2
    )
    assert speed() < speed(gradients="fp16") < speed(exchange="none")
    told = predict_speed(
        replace(asked, variant={"gradients": "fp16", "p2p": False}), card, 4, 1, "pcie", None
    )
    assert "variant_ignored" not in told.assumed


@pytest.mark.parametrize("stack", ["pytorch-ngc", "pytorch-eager", "hf-trainer"])
def test_several_cards_of_a_lab_are_faster_than_one(stack: str) -> None:
    asked = replace(JOBS[0], stack=stack)
    speeds = [
        predict_speed(asked, find_gpu("RTX 2080 SUPER"), count, 1, "pcie", None).value
        for count in (1, 4, 8)
    ]
    assert speeds[1] > speeds[0]
    assert speeds[2] > 2 * speeds[0]


def test_rings_of_old_releases_of_nccl_take_longer_over_many_nodes() -> None:
    asked = Workload(model="all-reduce", task="collective", message_bytes=2**18, stack="nccl-tests")
    card = find_gpu("V100-SXM2-16GB")

    def bus(workload: Workload) -> float:
        return predict_speed(workload, card, 128, 16, "nvlink-mesh", None).value

    rings, trees = (bus(replace(asked, variant={"nccl": word})) for word in ("2.3.7", "2.4"))
    assert trees == bus(asked) > 1.5 * rings
    assert bus(replace(asked, framework_text="NCCL 2.3")) == rings
    with pytest.raises(WorkloadFault, match=r"variant\.nccl"):
        bus(replace(asked, variant={"nccl": "old"}))
