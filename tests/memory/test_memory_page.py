"""The figures of docs/how-memory-is-counted.md, recomputed."""

from pathlib import Path

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.estimate import estimate_memory
from rigplanner.units import GIB
from rigplanner.workload.network import resolve
from tools.page_pictures import CARD, PICTURES, TRAINED, step_svg

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-memory-is-counted.md"


def _text() -> str:
    return " ".join(PAGE.read_text("utf-8").split())


def test_states_and_logits_are_the_products_that_the_page_multiplies() -> None:
    network, text = resolve(TRAINED, shipped_zoo()), _text()
    values = int(network.params)
    assert f"({values:,} parameters)" in text
    assert f"{values:,} x 4 = **{4 * values / GIB:.2f} GiB**" in text
    assert f"twice that: **{8 * values / GIB:.2f} GiB**" in text
    assert f"picture, **{12 * values / GIB:.2f} GiB**" in text
    logits = 8 * 1024 * network.vocab
    assert f"8 x 1,024 x {network.vocab:,} values" in text
    assert f"bf16 they take **{2 * logits / GIB:.2f} GiB**" in text
    assert f"loss **{4 * logits / GIB:.2f} GiB**" in text


def test_the_estimate_is_what_the_page_adds_up() -> None:
    told, text = estimate_memory(TRAINED, find_gpu(CARD), 1, shipped_zoo()), _text()
    states = told.parts.weights_gib + told.parts.optimizer_gib
    assert f"The peak is **{told.tensors_gib:.2f} GiB**" in text
    assert f"{told.tensors_gib - states:.2f} GiB of it come and go" in text
    held = told.reserved_gib - told.allocated_gib
    assert f"0.1 x {told.tensors_gib:.2f} = **{held:.2f} GiB**" in text
    assert f"library workspaces are **{told.allocated_gib - told.tensors_gib:.2f} GiB**" in text
    assert f"of the driver **{told.parts.context_gib:.2f} GiB**" in text
    assert f"shows **{told.device_gib:.2f} GiB**" in text
    assert f"between {told.low_gib:.1f} and {told.high_gib:.1f}" in text


def test_the_picture_is_that_of_the_step() -> None:
    drawn = step_svg()
    assert drawn == (PICTURES / "memory-step.svg").read_text("utf-8")
    assert "peak 10.63" in drawn and "9.89 GiB** are live" in _text()
