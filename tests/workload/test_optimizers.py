"""Optimizers by the names that trainers have for them."""

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Workload
from rigplanner.workload.optimizers import OPTIMIZERS, find_optimizer, steps_in_backward

TRANSFORMERS = [
    "adamw_torch",
    "adamw_torch_fused",
    "adamw_torch_xla",
    "adamw_torch_npu_fused",
    "adafactor",
    "adamw_anyprecision",
    "adamw_torch_4bit",
    "adamw_torch_8bit",
    "ademamix",
    "sgd",
    "adagrad",
    "adamw_bnb_8bit",
    "adamw_8bit",
    "ademamix_8bit",
    "lion_8bit",
    "lion_32bit",
    "paged_adamw_32bit",
    "paged_adamw_8bit",
    "paged_ademamix_32bit",
    "paged_ademamix_8bit",
    "paged_lion_32bit",
    "paged_lion_8bit",
    "rmsprop",
    "rmsprop_bnb",
    "rmsprop_bnb_8bit",
    "rmsprop_bnb_32bit",
    "galore_adamw",
    "galore_adamw_8bit",
    "galore_adafactor",
    "galore_adamw_layerwise",
    "galore_adamw_8bit_layerwise",
    "galore_adafactor_layerwise",
    "lomo",
    "adalomo",
    "grokadamw",
    "schedule_free_radam",
    "schedule_free_adamw",
    "schedule_free_sgd",
    "apollo_adamw",
    "apollo_adamw_layerwise",
    "stable_adamw",
]
"""All of `optim` (transformers 5.18, training_args.py: OptimizerNames, read 2026-11-24)."""


def _gib(optimizer: str) -> float:
    work = Workload(
        model="llama-3.2-1b",
        task="train_full",
        precision="bf16",
        stack="hf-trainer",
        optimizer=optimizer,
        batch_per_gpu=1,
        seq_len=512,
        gradient_checkpointing=True,
    )
    return estimate_memory(work, None, 1, shipped_zoo(), explained=False).device_gib


def test_every_name_of_transformers_is_heard() -> None:
    assert {find_optimizer(name) for name in TRANSFORMERS} <= OPTIMIZERS.keys()


@pytest.mark.parametrize(
    ("written", "own"),
    [
        ("AdamW8bit", "adamw_8bit"),
        ("PagedAdamW8bit", "paged_adamw_8bit"),
        ("adamw-8bit", "adamw_8bit"),
        ("Lion8bit", "lion_8bit"),
        ("AdaFactor", "adafactor"),
        ("ao_adamw_8bit", "adamw_8bit"),
    ],
)
def test_names_that_are_written_together_are_heard(written: str, own: str) -> None:
    assert find_optimizer(written) == own


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(WorkloadFault, match=r"optimizer: expected one of .*adamw_8bit"):
        find_optimizer("adamww_8bit")


def test_layer_by_layer_holds_the_gradients_of_one() -> None:
    assert steps_in_backward("galore_adamw_layerwise") and steps_in_backward("lomo")
    assert not steps_in_backward("galore_adamw") and not steps_in_backward(None)
    assert _gib("galore_adamw_8bit_layerwise") < _gib("galore_adamw_8bit") - 1.5


def test_narrower_states_take_less() -> None:
    falling = [
        _gib(name) for name in ("adamw_torch", "adamw_bnb_8bit", "galore_adamw_8bit", "lomo")
    ]
    assert falling == sorted(falling, reverse=True)
