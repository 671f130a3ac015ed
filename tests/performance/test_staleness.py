"""Trainings whose copies do not wait: speed against synchronous ones, equal GPUs and mixed ones."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.several_gpus.staleness import of_unequal, sync_of
from rigplanner.rig.workload import Parallelism, Workload

NET = Workload(model="resnet50", task="train", precision="fp32", batch_per_gpu=16)


def told(mode: str | None, bound: int | None = None) -> Workload:
    return replace(NET, parallelism=Parallelism(sync=mode, staleness=bound))


def speed(work: Workload, count: int = 4, gpu: str = "RTX 3090") -> SpeedEstimate:
    link = "pcie" if count > 1 else "none"
    return predict_speed(work, find_gpu(gpu), count, 1, link, shipped_zoo())


def test_the_less_copies_wait_the_faster_and_never_beyond_as_many_single_gpus() -> None:
    waiting, near, far, free = (
        speed(told(*words)).value
        for words in (("synchronous",), ("stale", 1), ("stale", 10), ("asynchronous",))
    )
    assert waiting == speed(NET).value
    assert waiting < near <= far <= free <= 4.6 * speed(NET, 1).value
    assert speed(told("asynchronous")).unmeasured[-1] == "task"


def test_one_copy_waits_for_nobody() -> None:
    assert speed(told("asynchronous"), 1).value == speed(NET, 1).value


def test_mixed_cards_go_at_the_pace_of_the_slowest_but_when_asynchronous() -> None:
    cards = [find_gpu("RTX 3090"), find_gpu("GTX 1080")]

    def on(work: Workload) -> SpeedEstimate:
        def predict(gpu: GPU, count: int) -> SpeedEstimate:
            return predict_speed(work, gpu, count, 1, "pcie", shipped_zoo())

        found = of_unequal(work, cards, predict)
        assert found is not None
        return found

    waiting, stale, free = on(NET), on(told("stale", 3)), on(told("asynchronous"))
    slow = predict_speed(NET, cards[1], 2, 1, "pcie", shipped_zoo())
    assert waiting.value == slow.value
    assert stale.value < free.value
    assert free.value > 1.2 * waiting.value
    assert of_unequal(replace(NET, task="inference"), cards, lambda *_: waiting) is None
    assert of_unequal(NET, [cards[0]] * 2, lambda *_: waiting) is None


def test_layers_dealt_to_mixed_cards_are_worked_on_in_turn() -> None:
    work = Workload(model="llama-3.1-8b", task="inference", precision="q4_k_m", stack="llama.cpp")
    fast, slow = find_gpu("RTX 4090"), find_gpu("Tesla P40")

    def predict(gpu: GPU, count: int) -> SpeedEstimate:
        return predict_speed(work, gpu, count, 1, "pcie", shipped_zoo())

    ends = [predict(gpu, 2).value for gpu in (fast, slow)]
    found, other = of_unequal(work, [fast, slow], predict), of_unequal(work, [slow, fast], predict)
    assert found is not None and other is not None
    halves = 2 / sum(1 / end for end in ends)
    assert found.value == pytest.approx(halves, rel=0.1)
    assert other.value == pytest.approx(found.value, rel=0.1)
    assert found.low < found.value < found.high
    alone = replace(predict(fast, 2), stack="vllm")
    assert of_unequal(replace(work, stack="vllm"), [fast, slow], lambda *_: alone) is None


def test_other_words_and_bounds_are_refused() -> None:
    assert sync_of(NET) == ("synchronous", 0)
    with pytest.raises(WorkloadFault, match="expected one of synchronous, stale, asynchronous"):
        sync_of(told("hogwild"))
    with pytest.raises(WorkloadFault, match="expected 1 to 1000 steps"):
        sync_of(told("stale", 0))
