"""A job's size is put into what is kept of jobs that differ in nothing else: the same job as read
anew."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Workload
from rigplanner.workload.job import _definite, read_job
from rigplanner.workload.network import resolve

JOBS = {
    "training": Workload(model="llama-3.1-8b", task="train_full", precision="bf16"),
    "adapters": Workload(
        model="llama-3.1-8b", task="train_lora", stack="axolotl", gradient_checkpointing="full"
    ),
    "quantised": Workload(model="qwen3-30b-a3b", task="train_qlora", flags=["transformers 4.40"]),
    "prompt": Workload(model="llama-3.1-8b", task="serve", input_tokens=300, output_tokens=20),
    "images": Workload(model="resnet50", task="train_full", image_size=288),
    "pictures": Workload(model="vit_base_patch16_224", task="train_full"),
    "sound": Workload(model="whisper-large-v3", task="inference"),
    "drawn": Workload(model="sdxl", task="inference"),
    "huge word": Workload(model="llama-3.1-8b", task="inference", variant={"note": 10**30}),
}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_of_any_size_is_the_one_read_anew(name: str) -> None:
    network = resolve(JOBS[name], shipped_zoo())
    for batch, tokens in ((1, 1), (3, 2048), (512, 7), (10_000_000, 100_000_000)):
        work = replace(JOBS[name], batch_per_gpu=batch, seq_len=tokens)
        assert read_job(work, network, 4, True) == _definite(work, network, 4, True)


@pytest.mark.parametrize("sizes", [(0, 16), (16, 0), (-1, 16), (10**8, 16), (16, 10**9)])
def test_sizes_beyond_reason_are_refused_after_others_were_read(sizes: tuple[int, int]) -> None:
    work = replace(JOBS["training"], batch_per_gpu=2, seq_len=128)
    network = resolve(work, shipped_zoo())
    assert read_job(work, network, 1, True).batch == 2
    with pytest.raises(WorkloadFault, match=r"batch_per_gpu|seq_len"):
        read_job(replace(work, batch_per_gpu=sizes[0], seq_len=sizes[1]), network, 1, True)


def test_what_is_kept_is_of_one_network() -> None:
    work = replace(JOBS["pictures"], batch_per_gpu=2, seq_len=128)
    one, other = (
        resolve(replace(work, model=name), shipped_zoo())
        for name in ("vit_base_patch16_224", "vit_base_patch16_384")
    )
    assert read_job(work, one, 1, True).image != read_job(work, other, 1, True).image
