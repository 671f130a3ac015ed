"""Every code of the engine about workloads has its words."""

from typing import get_args

from rigplanner.performance.answer import Bound
from rigplanner.performance.explain import LIFTS
from rigplanner.planning.presets import ENCODER, IMAGE, OTHER, PICTURES, TEXT
from rigplanner.report.quote_jobs import BOUND_WORDS
from rigplanner.report.words_workloads import CHANGE_WORDS, LIFT_WORDS, PRESET_WORDS
from rigplanner.rig.task import Parallelism, Workload
from rigplanner.workload import changes


def test_every_bound_and_its_lift_is_said() -> None:
    assert set(get_args(Bound)) <= set(BOUND_WORDS)
    assert set(LIFTS.values()) <= set(LIFT_WORDS)


def test_every_starting_point_is_said() -> None:
    assert {preset.code for group in (TEXT, ENCODER, IMAGE, PICTURES, OTHER) for preset in group} == set(PRESET_WORDS)


def test_every_change_is_said() -> None:
    full = Workload(task="train_full", optimizer="adamw", batch_per_gpu=4, attention="eager")
    lora, chat = Workload(task="train_lora"), Workload(task="inference", precision="bf16", batch_per_gpu=4)
    found = [
        *changes._lean_training(full),
        *changes._shared_training(Workload(parallelism=Parallelism()), 2),
        *changes._shrunk(full), *changes._shrunk(lora), *changes._fewer_bits(chat), *changes._halved(chat),
    ]  # fmt: skip
    assert {change.code for change in found} <= set(CHANGE_WORDS)
