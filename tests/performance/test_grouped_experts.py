"""Experts that train on transformers: one after the other up to its release 4, grouped since."""

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.job import read_job
from rigplanner.performance.roofline import kernels_of
from rigplanner.rig.workload import Parallelism, Workload


def _kernels(stack: str, model: str = "qwen3-30b-a3b", text: str | None = None) -> float:
    work = Workload(
        model=model,
        task="train_lora",
        stack=stack,
        precision="bf16",
        batch_per_gpu=1,
        seq_len=2048,
        framework_text=text,
    )
    return kernels_of(read_job(work, find_gpu("H100 SXM5 80GB"), 1, 1, "none", shipped_zoo()))


@pytest.mark.parametrize("stack", ["hf-trainer", "unsloth", "axolotl", "llama-factory"])
def test_the_release_decides_how_many_kernels_experts_take(stack: str) -> None:
    layers, experts, passes = 48, 128, 2 * 3.5
    one_by_one = _kernels(stack, text="transformers 4.51") - _kernels(stack)
    assert one_by_one == pytest.approx(12 * (experts - 1) * layers * passes)
    assert _kernels(stack, text="transformers 5.2") == _kernels(stack)


def test_a_network_without_experts_has_no_kernels_for_them() -> None:
    assert _kernels("hf-trainer", "qwen3-8b") == _kernels(
        "hf-trainer", "qwen3-8b", "transformers 4.51"
    )


def test_experts_are_dealt_out_over_replicas() -> None:
    def job(plan: Parallelism, count: int) -> object:
        work = Workload(
            model="qwen3-30b-a3b",
            task="train",
            stack="megatron-lm",
            precision="bf16",
            batch_per_gpu=1,
            seq_len=2048,
            parallelism=plan,
        )
        gpu = find_gpu("H100 SXM5 80GB")
        return read_job(work, gpu, count, 1, "nvswitch", shipped_zoo())

    assert job(Parallelism(data=2, expert=2), 2)
    assert job(Parallelism(expert=8), 8)
    assert job(Parallelism(data=2, tensor=4, expert=8), 8)
    with pytest.raises(WorkloadFault, match="does not divide 6"):
        job(Parallelism(expert=4), 6)
