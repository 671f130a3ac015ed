"""The speed of training by preferences and rewards from that of its parts."""

from typing import Any

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.errors import WorkloadFault
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Parallelism, Workload

JOB: dict[str, Any] = {
    "model": "qwen2.5-7b",
    "task": "grpo",
    "precision": "bf16",
    "input_tokens": 512,
    "output_tokens": 1024,
    "batch_per_gpu": 8,
    "lora_rank": 16,
    "stack": "trl",
}


def speed(count: int = 4, metric: str | None = None, **fields: Any) -> SpeedEstimate:
    work = Workload(**(JOB | fields))
    return predict_speed(
        work, find_gpu("H100 SXM5 80GB"), count, 1, "nvswitch", None, metric=metric
    )


def test_answers_are_written_and_trained_on_in_turn() -> None:
    told = speed()
    inputs = told.steps[-1].inputs
    seconds = float(inputs["train_s"] or 0), float(inputs["write_s"] or 0)
    assert min(seconds) > 0 and told.value == pytest.approx(1 / sum(seconds))
    assert told.metric == "samples/s" and told.stack == "trl"
    assert told.low < told.value / 1.4 and told.high > told.value * 1.4
    at_once = speed(variant={"overlap": True})
    assert at_once.value == pytest.approx(1 / max(seconds))
    assert speed(metric="tokens/s").value == pytest.approx(1536 * told.value)


def test_pairs_of_dpo_are_only_trained_on_and_cost_two_sequences() -> None:
    told = speed(task="dpo", count=1)
    plain = speed(task="train_lora", count=1, seq_len=1536, batch_per_gpu=16,
                  input_tokens=None, output_tokens=None, gradient_checkpointing="full")  # fmt: skip
    assert told.value == pytest.approx(plain.value / 1536 / (2 * 1.25))
    assert told.steps[-1].inputs["write_s"] == 0


def test_a_critic_and_a_reward_take_their_time() -> None:
    grpo, ppo = (
        float(speed(task=task).steps[-1].inputs["train_s"] or 0) for task in ("grpo", "ppo")
    )
    assert ppo / grpo == pytest.approx((2 + 3 / 4) / 1)
    asked = float(speed(variant={"reference": True}).steps[-1].inputs["train_s"] or 0)
    assert asked / grpo == pytest.approx(1.25)


def test_hours_count_every_answer_to_every_prompt() -> None:
    told = speed(epochs=1, dataset_samples=7500, variant={"generations": 16})
    assert told.hours == pytest.approx(7500 * 16 / told.value / 3600)


def test_a_metric_of_other_jobs_is_refused() -> None:
    with pytest.raises(WorkloadFault, match="metric: expected one of samples/s"):
        speed(metric="images/s")


def test_a_power_limit_is_felt_by_those_who_write_and_those_who_train() -> None:
    work, gpu = Workload(**JOB), find_gpu("RTX 3090")
    full, capped = (
        predict_speed(work, gpu, 2, 1, "pcie", None, power_limit_w=watts) for watts in (None, 200.0)
    )
    assert capped.value < 0.95 * full.value


def test_a_round_of_answers_is_written_at_once_and_dealt_experts_are_not_looped_over() -> None:
    """GRPO of Qwen3 235B on 128 H100: 58.9 tokens a second on each (NVIDIA-NeMo/RL,
    docs/about/performance-summary.md); what an update takes is not what is in work."""
    dealt = Parallelism(tensor=2, pipeline=8, expert=16)
    told = predict_speed(
        Workload(model="qwen3-235b-a22b", task="grpo", precision="bf16", stack="verl",
                 batch_per_gpu=1, input_tokens=150, output_tokens=5548, parallelism=dealt,
                 variant={"beta": 0}),
        find_gpu("H100 SXM5 80GB"), 128, 16, "nvswitch", None, metric="tokens/s",
    )  # fmt: skip
    assert told.low < 58.9 * 128 < told.high and told.stack == "megatron-lm"
    assert told.assumed["answers"] == "512" and told.assumed["trainer"] == "megatron-lm"
    one_update = speed(stack="verl", batch_per_gpu=1, gradient_accumulation=1)
    assert speed(stack="verl", batch_per_gpu=1).value > 2 * one_update.value
