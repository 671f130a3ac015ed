"""Which works ask for a graphics card, and which may lie in RAM."""

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.planning.best.works import asks_for_card, from_ram, overflows
from rigplanner.rig.workload import Workload


@pytest.mark.parametrize(
    ("model", "task", "stack", "asks"),
    [
        ("llama-3.1-8b", "inference", None, False),
        ("llama-3.1-8b", "inference", "llama.cpp", False),
        ("llama-3.1-8b", "inference", "vllm", True),
        ("llama-3.1-8b", "serve", None, True),
        ("llama-3.1-8b", "serve", "llama.cpp", False),
        ("llama-3.1-8b", "train_qlora", None, True),
        ("sdxl-base", "inference", None, True),
        ("resnet50", "train", None, True),
    ],
)
def test_all_works_ask_for_a_card_but_models_that_write_from_ram(
    model: str, task: str, stack: str | None, asks: bool
) -> None:
    work = Workload(model=model, task=task, stack=stack)
    assert asks_for_card(work) == asks
    assert (from_ram(work).stack == "llama.cpp") == (not asks)


@pytest.mark.parametrize(("precision", "count", "over"), [("bf16", 1, True), ("int4", 1, True),
                                                          ("int4", 2, False), ("bf16", 6, False)])  # fmt: skip
def test_layers_lie_in_ram_where_the_weights_are_more_than_the_cards_hold(
    catalog: Catalog, precision: str, count: int, over: bool
) -> None:
    card = catalog.get("nvidia.geforce.rtx-3090")
    assert isinstance(card, GPU)
    work = Workload(model="llama-3.3-70b", task="inference", precision=precision)
    assert overflows(work, card, count) == over
