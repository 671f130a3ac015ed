"""What the nearest measurements share with a job, in the answer and in the width of its interval."""

import math

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.constants import speed_model
from rigplanner.performance.predict import predict_speed
from rigplanner.report.words.speed import EVIDENCE_WORDS, UNMEASURED_WORDS, speed_facts
from rigplanner.rig.workload import Workload


def speed(gpu: str, **fields: object) -> SpeedEstimate:
    work = Workload(**fields)  # type: ignore[arg-type]
    return predict_speed(work, find_gpu(gpu), 1, 1, "none", shipped_zoo())


NET = {"model": "resnet-50", "task": "train", "precision": "amp_fp16", "batch_per_gpu": 128}
TEXT = {"model": "qwen2.5-7b", "task": "train_lora", "precision": "bf16", "seq_len": 1024}


@pytest.mark.parametrize(
    ("gpu", "fields", "evidence", "unmeasured"),
    [
        ("RTX 3090", {**NET, "stack": "pytorch-ngc"}, "same job", ()),
        ("GB300", {**NET, "stack": "pytorch-ngc"}, "other GPU", ("kind on generation",)),
        ("RTX 3090", {**TEXT, "stack": "hf-trainer"}, "other network", ()),
        ("RTX 3090", {**TEXT, "stack": "unsloth"}, "other stack", ("stack",)),
        ("RTX 3090", {**TEXT, "stack": "hf-trainer", "precision": "int8"}, "other network",
         ("precision",)),
        ("RTX 3090", {**TEXT, "task": "grpo", "stack": "trl"}, "nothing alike",
         ("task", "stack")),
    ],
)  # fmt: skip
def test_the_answer_says_how_near_its_evidence_is(
    gpu: str, fields: dict[str, object], evidence: str, unmeasured: tuple[str, ...]
) -> None:
    told = speed(gpu, **fields)
    assert (told.evidence, told.unmeasured) == (evidence, unmeasured)
    facts = [fact for fact, _ in speed_facts(told)]
    assert EVIDENCE_WORDS[evidence] in facts
    assert [fact for fact in facts if fact in UNMEASURED_WORDS.values()] == [
        UNMEASURED_WORDS[what] for what in unmeasured
    ]


def test_what_shares_less_is_told_wider() -> None:
    model = speed_model()
    steps = ("GPU", "one source", "network", "stack")
    assert [model.novelty.get(near, 1.0) for near in steps] == [1.0, 1.05, 1.08, 1.1]
    widths = [model.half_width(near, 0.15, "train") for near in steps[1:]]  # type: ignore[arg-type]
    assert widths == sorted(widths)
    served = model.half_width("network", 0.15, "serve") / model.certain["serve"]
    assert served > model.half_width("network", 0.15, "train")
    far = speed("GB300", **NET, stack="pytorch-ngc")
    near_by = speed("RTX 3090", **NET, stack="pytorch-ngc")
    assert math.log(far.high / far.low) > math.log(near_by.high / near_by.low)
