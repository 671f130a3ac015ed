"""What engines do with a format of weights on a GPU; memory and speed are asked of one job."""

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.settled import settle
from rigplanner.performance.software.readiness import readiness_rows, readiness_source, ready
from rigplanner.performance.software.stacks import shipped_stacks
from rigplanner.rig.workload import Workload


@pytest.mark.parametrize(
    ("stack", "gpu", "precision", "quant", "how"),
    [
        ("vllm", "Strix Halo", "mxfp4", None, "slow"),
        ("llama.cpp", "Strix Halo", "mxfp4", None, None),
        ("vllm", "Tesla T4", "mxfp4", None, "none"),
        ("vllm", "RTX 3090", "mxfp4", None, "weight-only"),
        ("vllm", "B200 SXM", "mxfp4", None, None),
        ("vllm", "RTX 3090", "fp8", None, "weight-only"),
        ("vllm", "RTX 4090", "fp8", None, None),
        ("vllm", "Tesla P40", "fp8", None, "none"),
        ("vllm", "Tesla V100 SXM2 16GB", "int4", "awq", "none"),
        ("llama.cpp", "RTX 4090", "fp8", None, "none"),
        ("exllamav2", "RTX 4090", "q4_k_m", None, "none"),
        ("hf-trainer", "Arc B580", "nf4", None, "slow"),
        ("hf-trainer", "RTX 4090", "nf4", None, None),
        ("vllm", "RTX 4090", "bf16", None, None),
    ],
)
def test_state_by_engine_format_and_chip(
    stack: str, gpu: str, precision: str, quant: str | None, how: str | None
) -> None:
    found = ready(stack, find_gpu(gpu), precision, quant)
    assert (found.how if found else None) == how


def test_rows_name_stacks_that_are_known_and_sources_with_their_day() -> None:
    for row in readiness_rows():
        assert set(row.stacks) <= set(shipped_stacks())
        assert readiness_source(row).read
        assert row.share is None or row.how == "slow"


def test_the_usual_stack_is_one_that_is_ready() -> None:
    work = Workload(model="gpt-oss-120b", task="inference")
    strix = find_gpu("Strix Halo")
    told = predict_speed(work, strix, 1, 1, "none", shipped_zoo())
    slow = predict_speed(
        Workload(model="gpt-oss-120b", task="inference", stack="vllm"),
        strix,
        1,
        1,
        "none",
        shipped_zoo(),
    )
    assert told.stack == "llama.cpp" and told.assumed["precision"] == "mxfp4"
    assert slow.value < told.value / 3
    assert slow.high / slow.low > 3


@pytest.mark.parametrize(
    ("fields", "gpu"),
    [
        ({"model": "Qwen/Qwen3-8B-FP8", "stack": "llama.cpp"}, "RTX 3090"),
        ({"model": "Qwen/Qwen3-8B-AWQ", "stack": "vllm"}, "Tesla V100 SXM2 16GB"),
        ({"model": "qwen3-8b", "stack": "vlm"}, "RTX 3090"),
        ({"model": "qwen3-8b", "stack": "mlx"}, "RTX 3090"),
    ],
)
def test_memory_and_speed_refuse_a_stack_with_the_same_words(
    fields: dict[str, str], gpu: str
) -> None:
    work, card = Workload(task="inference", **fields), find_gpu(gpu)  # type: ignore[arg-type]
    with pytest.raises(WorkloadFault, match=r"^stack: ") as speed:
        predict_speed(work, card, 1, 1, "none", shipped_zoo())
    with pytest.raises(WorkloadFault) as memory:
        settle(work, card, 1, 1, "none", shipped_zoo())
    assert str(speed.value) == str(memory.value)


def test_eight_bit_weights_run_on_a_card_that_widens_them() -> None:
    work = Workload(model="Qwen/Qwen3-8B-FP8", task="inference", stack="vllm")
    card = find_gpu("RTX 3090")
    narrow = predict_speed(work, card, 1, 1, "none", shipped_zoo())
    whole = Workload(model="Qwen/Qwen3-8B", task="inference", stack="vllm", precision="bf16")
    assert narrow.value > 1.3 * predict_speed(whole, card, 1, 1, "none", shipped_zoo()).value
