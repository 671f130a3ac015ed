"""A job's batch is put into what is kept of jobs that differ in nothing else: the same job as read
anew."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.job import _definite, read_job
from rigplanner.rig.workload import Workload

JOBS = {
    "training": Workload(model="resnet-50", task="train", precision="amp_fp16"),
    "language": Workload(model="llama-3.1-8b", task="train_full", seq_len=2048),
    "one stream or many": Workload(model="llama-3.1-8b", task="inference", output_tokens=128),
    "sentences": Workload(model="gnmt", task="train"),
    "images": Workload(model="sdxl", task="inference", variant={"steps": 30}),
    "accumulated": Workload(model="llama-2-7b", task="train_qlora", gradient_accumulation=8),
    "huge word": Workload(model="resnet-50", task="inference", variant={"note": 10**30}),
}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_of_any_batch_is_the_one_read_anew(name: str) -> None:
    gpu, zoo = find_gpu("H100-SXM5-80GB"), shipped_zoo()
    for batch in (1, 2, 3, 7, 1000, 10_000_000):
        work = replace(JOBS[name], batch_per_gpu=batch)
        assert read_job(work, gpu, 4, 1, "nvswitch", zoo) == _definite(
            work, gpu, 4, 1, "nvswitch", zoo, None
        )


def test_what_is_kept_is_of_one_gpu() -> None:
    work, zoo = replace(JOBS["training"], batch_per_gpu=8), shipped_zoo()
    gpu = find_gpu("RTX 4090")
    slower = replace(gpu, bandwidth_gbs=500.0)
    assert (
        read_job(work, gpu, 1, 1, "none", zoo).silicon
        != read_job(work, slower, 1, 1, "none", zoo).silicon
    )


def test_batches_beyond_reason_are_refused_after_others_were_read() -> None:
    gpu, zoo = find_gpu("RTX 4090"), shipped_zoo()
    assert read_job(replace(JOBS["training"], batch_per_gpu=8), gpu, 1, 1, "none", zoo).batch == 8
    for batch in (-1, 10**8):
        with pytest.raises(WorkloadFault, match="batch_per_gpu"):
            read_job(replace(JOBS["training"], batch_per_gpu=batch), gpu, 1, 1, "none", zoo)


def test_what_was_assumed_is_each_answers_own() -> None:
    gpu, zoo = find_gpu("RTX 4090"), shipped_zoo()
    work = replace(JOBS["training"], batch_per_gpu=8)
    one, other = (read_job(work, gpu, 1, 1, "none", zoo) for _ in range(2))
    assert one.assumed == other.assumed and one.assumed is not other.assumed


def test_where_no_batch_is_said_it_is_one_that_people_run() -> None:
    gpu, zoo = find_gpu("A100-SXM4-80GB"), shipped_zoo()

    def batch(**fields: object) -> float:
        return read_job(Workload(**fields), gpu, 1, 1, "none", zoo).batch  # type: ignore[arg-type]

    assert batch(model="sdxl", task="inference") == 1
    offline = {"scenario": "offline"}
    assert batch(model="sdxl", task="inference", variant=offline) > 1
    assert batch(model="t5-3b", task="train") == 1 < batch(model="bert-large", task="train")
    assert batch(model="efficientdet-d4", task="train") < 50 < batch(model="resnet50", task="train")
