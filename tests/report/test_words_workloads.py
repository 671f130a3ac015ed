"""Every code of the engine about workloads has its words."""

from typing import get_args

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.capacity.changes import candidates
from rigplanner.performance.answer import Anchor, Bound
from rigplanner.performance.explain import LIFTS
from rigplanner.planning.presets import ENCODER, IMAGE, OTHER, PICTURES, TEXT
from rigplanner.report.words.speed import BOUND_WORDS, anchor_texts
from rigplanner.report.words.workloads import CHANGE_WORDS, LIFT_WORDS, PRESET_WORDS
from rigplanner.rig.workload import Workload


def test_every_bound_and_its_lift_is_said() -> None:
    assert set(get_args(Bound)) <= set(BOUND_WORDS)
    assert set(LIFTS.values()) <= set(LIFT_WORDS)


def test_every_starting_point_is_said() -> None:
    assert {
        preset.code for group in (TEXT, ENCODER, IMAGE, PICTURES, OTHER) for preset in group
    } == set(PRESET_WORDS)


def test_every_change_is_said(catalog: Catalog) -> None:
    gpu = catalog.get("nvidia.geforce.rtx-4090")
    assert isinstance(gpu, GPU)
    small = {"model": "llama-3.1-8b", "batch_per_gpu": 4}
    found = set[str]()
    for work, stack in (
        (Workload(**small, task="train_full", optimizer="adamw", attention="eager"), "hf-trainer"),
        (Workload(**small, task="train_lora", precision="bf16"), "hf-trainer"),
        (Workload(**small, task="inference", precision="bf16", input_tokens=512), "vllm"),
        (Workload(**small, task="inference", precision="q8_0", input_tokens=512), "llama.cpp"),
    ):
        found |= {
            one.code
            for count in (1, 2)
            for one in candidates(work, gpu, count, shipped_zoo(), stack)
        }
    assert len(found) > 12
    assert found <= set(CHANGE_WORDS)


def test_measured_rows_of_one_place_stand_together(catalog: Catalog) -> None:
    row = Anchor(
        id="a",
        source="a/README.md",
        gpu="nvidia.geforce.rtx-3090",
        model="m",
        stack="vllm",
        value=10.0,
        metric="tokens/s",
        weight=0.2,
    )
    other = replace(row, source="b/README.md")
    texts = anchor_texts([row, other, replace(row, value=20.0, weight=0.1)], catalog)
    assert [text.replace("\u202f", " ") for text in texts] == [
        (
            "GeForce RTX 3090, m, vllm: 10 tokens/s (weight 20 %), 20 tokens/s (weight 10 %);"
            " a/README.md"
        ),
        "GeForce RTX 3090, m, vllm: 10 tokens/s (weight 20 %); b/README.md",
    ]
