"""How much wider an interval is where measurements are far."""

import json
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.measured.holdout import kinds
from rigplanner.memory.nearness import (
    OFFLOADED,
    OFTEN,
    ONCE,
    UNSAID,
    UNSEEN,
    by_sources,
    kind_of,
    sources_of,
)
from rigplanner.rig.workload import Parallelism, Workload
from rigplanner.workload.cases import BadCase, read_case
from rigplanner.workload.job import read_job
from rigplanner.workload.network import resolve
from rigplanner.workload.stacks import measured_kinds, memory_stack, own_intervals

FILE = Path(__file__).with_name("measured_memory.jsonl")
FULL: dict[str, Any] = {
    "model": "llama-2-7b",
    "task": "train_full",
    "precision": "bf16",
    "optimizer": "adamw",
    "seq_len": 2048,
    "gradient_checkpointing": "full",
    "samples": "equal",
}


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def estimate(zoo: Zoo, count: int = 1, **fields: Any) -> MemoryEstimate:
    return estimate_memory(Workload(**fields), find_gpu("A100 80GB"), count, zoo)


def above(told: MemoryEstimate) -> float:
    return told.high_gib / told.device_gib - 1


def test_sources_make_an_interval_narrow(zoo: Zoo) -> None:
    often, never = (
        estimate(zoo, stack=stack, **FULL) for stack in ("pytorch-hf", "a trainer of our own")
    )
    assert above(never) / above(often) == pytest.approx(UNSEEN / OFTEN)
    assert never.low_gib < often.low_gib < often.tensors_gib
    assert [by_sources(count) for count in (0, 1, 2, 9)] == [UNSEEN, ONCE, OFTEN, OFTEN]


def test_what_waits_elsewhere_and_what_is_not_said_widen(zoo: Zoo) -> None:
    plain = estimate(zoo, 8, stack="deepspeed", parallelism=Parallelism(zero=3), **FULL)
    moved = estimate(
        zoo, 8, stack="deepspeed", parallelism=Parallelism(zero=3, offload="optimizer"), **FULL
    )
    assert above(moved) / above(plain) == pytest.approx(OFFLOADED)
    unsaid = estimate(zoo, stack="pytorch-hf", **(FULL | {"gradient_checkpointing": None}))
    said = estimate(zoo, stack="pytorch-hf", **(FULL | {"gradient_checkpointing": "none"}))
    assert above(unsaid) / above(said) == pytest.approx(UNSAID)
    picture: dict[str, Any] = {
        "model": "resnet50",
        "task": "train_full",
        "precision": "amp_fp16",
        "batch_per_gpu": 32,
        "stack": "pytorch",
    }
    told = estimate(zoo, **picture)
    assert above(told) == above(estimate(zoo, gradient_checkpointing="none", **picture))
    assert "gradient_checkpointing" not in told.assumed


def test_intervals_of_a_stack_keep_their_width(zoo: Zoo) -> None:
    assert {
        "llama.cpp",
        "vllm",
        "timm",
        "mxnet",
    } <= own_intervals() and "pytorch-hf" not in own_intervals()
    told = estimate(
        zoo, model="resnet50", task="train_full", precision="fp32", batch_per_gpu=8, stack="mxnet"
    )
    assert above(told) == pytest.approx(0.4)


def source_and_kind(line: bytes, zoo: Zoo) -> tuple[str, str]:
    case = read_case(line)
    assert not isinstance(case, BadCase)
    network, gpu = resolve(case.workload, zoo), case.hardware.gpu
    job = read_job(case.workload, network, case.hardware.count or 1, bool(gpu and find_gpu(gpu)))
    source = "/".join(str(json.loads(line)["source"]).split("/")[:2])
    return source, kind_of(memory_stack(job.stack).slug, network.kind, job)


def test_every_kind_of_the_measured_rows_is_counted(zoo: Zoo) -> None:
    lines = [line for line in FILE.read_bytes().splitlines() if b'"part": "total"' in line]
    shipped, counted = measured_kinds(), kinds(source_and_kind(line, zoo) for line in lines)
    assert len(counted) >= 40
    assert {kind for kind, sources in counted.items() if shipped.get(kind, 0) < sources} == set()


@pytest.mark.parametrize(
    ("kind", "sources"),
    [
        ("pytorch-hf train_lora language", 2),
        ("axolotl train_lora language", 1),
        ("axolotl train_full language", 0),
        ("a trainer of our own train_lora language", 0),
        ("mxnet train_lora language", 0),
        ("diffusers train_lora diffusion", 0),
    ],
)
def test_a_stack_of_known_habits_is_no_stranger_to_what_others_measured(
    kind: str, sources: int
) -> None:
    counts = {
        "pytorch-hf train_lora language": 2,
        "peft train_lora language": 1,
        "pytorch-hf train_full language": 2,
        "kohya train_lora diffusion": 3,
    }
    assert sources_of(kind, counts) == sources
