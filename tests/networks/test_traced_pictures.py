"""Language models that see, DETR, encoders of sound and denoisers against steps traced with PyTorch
2.13 on a CPU (transformers 5.23, diffusers 0.42; every storage that an operator gave, counted while
the step ran)."""

import statistics
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.estimate import estimate_memory
from rigplanner.networks.families.build import builder
from rigplanner.networks.image_tokens import seen_of
from rigplanner.networks.tracer.net import Setting
from rigplanner.networks.tracer.step import StepTrace, trace_step
from rigplanner.networks.tracer.tape import BF16, CPU_TRACE, F32
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.pictures import pictures_of

CARD = shipped_catalog().parts["nvidia.datacenter.h100-sxm5-80gb"]


def _steps(name: str) -> list[dict[str, Any]]:
    return [
        msgspec.json.decode(line)
        for line in (Path(__file__).parent / name).read_bytes().splitlines()
    ]


SEEING, DENOISERS = _steps("traced_seeing.jsonl"), _steps("traced_denoisers.jsonl")


def _traced(spec: dict[str, Any]) -> StepTrace:
    """The trace of a traced step with the semantics of the tracer."""
    images, size = spec.get("images", 0), spec.get("image_size")
    sides = tuple(size) if size else None
    length = spec.get("seq_len", 0) + (
        images * seen_of(spec["config"], sides).tokens if images and sides else 0
    )
    setting = Setting(
        batch=spec["batch_per_gpu"],
        length=length or size[0],
        dtype=BF16 if spec["precision"] == "bf16" else F32,
        training=spec["task"] != "inference",
        eager=spec.get("attention") == "eager",
        checkpointing=bool(spec.get("gradient_checkpointing")),
        lora_rank=spec.get("lora_rank", 0),
        lora_targets=tuple(spec.get("lora_targets", ())),
        images=images,
        sides=sides,
        frames=spec.get("frames", 1),
        frozen_tower="frozen_tower" in spec.get("flags", ()),
    )
    return trace_step(
        builder(spec["config"]),
        setting,
        precision=spec["precision"],
        optimizer=spec.get("optimizer", "sgd"),
        semantics=CPU_TRACE,
    )


@pytest.fixture(scope="module", params=["seeing", "denoisers"])
def traced(request: pytest.FixtureRequest) -> list[tuple[dict[str, Any], StepTrace]]:
    steps = SEEING if request.param == "seeing" else DENOISERS
    return [(step, _traced(step["spec"])) for step in steps]


@pytest.mark.parametrize("held_out", [True, False])
def test_peaks_are_traced_right(
    traced: list[tuple[dict[str, Any], StepTrace]], held_out: bool
) -> None:
    missed = sorted(
        abs(found.peak / step["peak_bytes"] - 1)
        for step, found in traced
        if step["held_out"] is held_out
    )
    assert len(missed) >= 20
    assert statistics.median(missed) <= 0.01
    assert missed[int(0.9 * len(missed))] <= 0.06


def test_parameters_are_counted_exactly(traced: list[tuple[dict[str, Any], StepTrace]]) -> None:
    assert not [step["id"] for step, found in traced if found.values != step["params"]]


def test_forward_operations_match_the_counter_of_pytorch(
    traced: list[tuple[dict[str, Any], StepTrace]],
) -> None:
    for step, found in traced:
        if "forward_flops" in step:
            assert found.forward_flops == pytest.approx(step["forward_flops"], rel=0.02), step["id"]


@pytest.mark.parametrize(
    ("model", "sides", "tokens"),
    [
        ("qwen2.5-vl-7b", (1024, 1024), 37 * 37 + 2),
        ("qwen3-vl-8b", (1024, 1024), 32 * 32 + 2),
        ("llava-1.5-7b", (1024, 768), 576),
        ("gemma-3-4b-vision", (640, 480), 260),
        ("paligemma-3b-448", (448, 448), 1024),
        ("internvl3-8b", (448, 448), 258),
        ("internvl3-8b", (896, 896), 5 * 256 + 2),
        ("mistral-small-3.1-24b", (1540, 1540), 55 * 56),
        ("smolvlm2-2.2b", (768, 768), 17 * 81 + 2 * 16 + 4 + 3),
    ],
)
def test_a_picture_takes_the_positions_that_the_processors_give_it(
    model: str, sides: tuple[int, int], tokens: int
) -> None:
    zoo = shipped_zoo()
    work = Workload(model=model, images=1, image_size=list(sides))
    assert pictures_of(work, resolve(work, zoo))[0] == tokens


@pytest.mark.parametrize(
    ("model", "millions"),
    [
        ("qwen2.5-vl-7b", 8292.2),
        ("qwen2-vl-2b", 2209.0),
        ("qwen3-vl-4b", 4437.8),
        ("llava-1.5-7b", 7063.4),
        ("mistral-small-3.1-24b", 24011.4),
        ("gemma-3-4b-vision", 4300.1),
        ("paligemma-3b-224", 2923.5),
        ("internvl3-8b", 7944.4),
        ("idefics3-8b", 8462.1),
        ("smolvlm2-256m", 256.5),
    ],
)
def test_parameters_of_language_models_that_see_are_the_published_ones(
    model: str, millions: float
) -> None:
    assert resolve(Workload(model=model), shipped_zoo()).params / 1e6 == pytest.approx(
        millions, rel=1e-4
    )


def _needed(**fields: Any) -> float:
    work = Workload(
        model="qwen2.5-vl-7b",
        precision="bf16",
        seq_len=512,
        image_size=1024,
        gradient_checkpointing="full",
        **fields,
    )
    return estimate_memory(work, CARD, 1, shipped_zoo()).device_gib


def test_more_pictures_need_more_memory_and_a_frozen_tower_less() -> None:
    for task in ("train_full", "train_lora", "inference"):
        needs = [_needed(task=task, images=count) for count in (1, 2, 4)]
        assert needs == sorted(needs), task
        assert task == "train_full" or needs[0] < needs[-1], task
    assert _needed(task="train_full", images=1, flags=["frozen_tower"]) < _needed(
        task="train_full", images=1
    )


def test_pictures_that_are_not_told_are_said_to_be_none_and_those_of_unknown_eyes_are_refused() -> (
    None
):
    zoo = shipped_zoo()
    assert (
        estimate_memory(Workload(model="qwen2.5-vl-7b", task="train_lora"), CARD, 1, zoo).assumed[
            "images"
        ]
        == "0"
    )
    with pytest.raises(WorkloadFault, match=r"images: how 'llama' reads images is not known"):
        estimate_memory(Workload(model="llama-3-8b", task="train_lora", images=1), CARD, 1, zoo)


def test_bigbird_beyond_its_blocks_is_said_to_be_counted_dense() -> None:
    zoo = shipped_zoo()
    work = {
        "config": {"model_type": "big_bird"},
        "task": "inference",
        "precision": "bf16",
        "batch_per_gpu": 1,
    }
    assert "attention" not in estimate_memory(Workload(**work, seq_len=704), CARD, 1, zoo).assumed
    assert (
        estimate_memory(Workload(**work, seq_len=1024), CARD, 1, zoo).assumed["attention"]
        == "dense"
    )
