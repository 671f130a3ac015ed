"""Memory that does not hold a job is what limits it: clear cases by the weights, the others by the
estimate."""

import json

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.commands.performance import answer
from rigplanner.data import data_path
from rigplanner.memory.answer import MemoryEstimate, MemoryParts
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.capacity import surely_exceeds, within_memory
from rigplanner.performance.job import read_job
from rigplanner.performance.predict import predict_speed
from rigplanner.report.quote.jobs import BOUND_WORDS
from rigplanner.report.words.workloads import LIFT_WORDS
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Case, Hardware, Parallelism, Workload
from rigplanner.rules.assess import assess

CARD = find_gpu("RTX 3090")
RIG = data_path("resources") / "samples" / "dual-rtx-3090.rig"
FULL = Workload(
    model="llama-3.1-8b", task="train_full", precision="bf16", batch_per_gpu=1, seq_len=2048
)


def speed(work: Workload, gpu: str = "RTX 4090", count: int = 1) -> SpeedEstimate:
    return predict_speed(work, find_gpu(gpu), count, 1, "unknown", shipped_zoo())


def exceeds(work: Workload, count: int = 1) -> bool:
    return surely_exceeds(
        read_job(work, CARD, count, 1, "unknown", shipped_zoo()), work, CARD, None
    )


def test_weights_that_no_card_holds_are_the_limit_whatever_else_is_slow() -> None:
    found = speed(Workload(model="llama-3.1-405b", task="train_full"))
    assert (found.fits, found.bound, found.lift) == ("no", "memory capacity", "more-memory")
    assert BOUND_WORDS[found.bound] and LIFT_WORDS[found.lift or ""]


def test_what_may_fit_keeps_its_limit() -> None:
    found = speed(Workload(model="llama-3.1-8b", task="inference", precision="fp16"))
    assert (found.fits, found.bound) == ("unknown", "bandwidth")


def test_weights_are_counted_at_the_limit_and_over_the_gpus() -> None:
    size = Workload(kind="llm", task="inference", precision="bf16", stack="vllm")
    assert not exceeds(replace(size, params_b=12.5))
    assert exceeds(replace(size, params_b=13.0))
    assert not exceeds(replace(size, params_b=13.0), 2)
    assert not exceeds(replace(size, params_b=13.0, precision="int4"))
    assert exceeds(replace(size, params_b=13.0, parallelism=Parallelism(data=2)), 2)
    assert not exceeds(replace(size, params_b=13.0, parallelism=Parallelism(tensor=2)), 2)
    training = replace(size, task="train_full", stack="hf-trainer", params_b=13.0)
    assert exceeds(training)
    assert exceeds(replace(training, parallelism=Parallelism(data=2)), 2)
    assert not exceeds(replace(training, parallelism=Parallelism(zero=3)), 2)


def test_what_the_host_may_keep_tells_nothing() -> None:
    large = Workload(model="llama-3.1-70b", task="inference", precision="q4_k_m", stack="llama.cpp")
    assert exceeds(large)
    assert not exceeds(replace(large, gpu_layers=20))
    training = replace(FULL, model="llama-3.1-70b")
    assert exceeds(training)
    assert not exceeds(replace(training, flags=["cpu_offload"]))
    assert not exceeds(replace(training, parallelism=Parallelism(zero=3, offload="all")))
    assert not exceeds(FULL)


def need(low: float, high: float) -> MemoryEstimate:
    return MemoryEstimate(
        parts=MemoryParts(),
        tensors_gib=low,
        allocated_gib=low,
        reserved_gib=low,
        device_gib=low,
        low_gib=low,
        high_gib=high,
        stack="",
    )


@pytest.mark.parametrize(
    ("needs", "fits"),
    [
        ([(20.0, 23.7)], "yes"),
        ([(23.7, 30.0)], "unknown"),
        ([(23.8, 30.0)], "no"),
        ([(1.0, 2.0), (23.8, 30.0)], "no"),
        ([], "unknown"),
    ],
)
def test_the_interval_of_the_need_is_compared_with_the_card(
    needs: list[tuple[float, float]], fits: str
) -> None:
    bare = speed(Workload(model="resnet-50", task="train"))
    found = within_memory(bare, [(need(low, high), CARD) for low, high in needs])
    assert found.fits == fits
    assert found.bound == ("memory capacity" if fits == "no" else bare.bound)
    assert (found.value, found.low, found.high) == (bare.value, bare.low, bare.high)


def test_a_card_of_unknown_memory_tells_nothing() -> None:
    bare = speed(Workload(model="resnet-50", task="train"))
    assert within_memory(bare, [(need(1.0, 2.0), replace(CARD, memory_gib=None))]).fits == "unknown"


def test_a_rig_says_the_same_as_its_memory() -> None:
    jobs = (
        FULL,
        Workload(
            model="llama-3.1-8b",
            task="inference",
            precision="fp16",
            input_tokens=512,
            output_tokens=64,
        ),
    )
    found = assess(replace(read_rig(RIG), workloads=jobs), shipped_catalog()).jobs
    told = [(job.speed.fits, job.speed.bound == "memory capacity") for job in found if job.speed]
    assert told == [("no", True), ("yes", False)]
    assert found[0].memory[0].low_gib > 23.7 > found[1].memory[0].high_gib


def test_a_case_on_a_rig_is_answered_with_its_memory() -> None:
    found = answer(Case(id="a", workload=FULL, hardware=Hardware(rig=str(RIG))))
    assert (found["fits"], found["bound"]) == ("no", "memory capacity")
    assert json.dumps(found)
