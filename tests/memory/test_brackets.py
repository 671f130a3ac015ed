"""Largest batches against estimates."""

import json
from pathlib import Path

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.main import main
from rigplanner.errors import WorkloadFault
from rigplanner.memory.measured.brackets import Bracket, brackets

LINE = {
    "gpu": "RTX 3090",
    "task": "train_full",
    "model": "resnet50",
    "precision": "amp_fp16",
    "image_size": 224,
}


def bracket(**fields: object) -> Bracket:
    (found,) = brackets([json.dumps({**LINE, **fields}).encode()], find_gpu, shipped_zoo())
    return found


def test_a_small_and_a_huge_batch_hold_the_card_between_them() -> None:
    found = bracket(fits_batch=8, fails_batch=4096)
    assert found.holds and not found.overflows and not found.refuses
    assert found.usable_gib == pytest.approx(23.7)


def test_a_batch_that_ran_and_is_refused_holds_nothing() -> None:
    found = bracket(fits_batch=4096)
    assert found.refuses and not found.holds


def test_a_batch_that_failed_and_is_said_to_fit_overflows() -> None:
    found = bracket(fits_batch=4, fails_batch=8)
    assert found.overflows and not found.holds


def test_the_limit_itself_fits() -> None:
    found = bracket(fits_batch=8, fails_batch=16)
    assert found.failed is not None
    assert msgspec.structs.replace(found, usable_gib=found.ran.device_gib).holds
    assert not msgspec.structs.replace(found, usable_gib=found.failed.device_gib).holds


@pytest.mark.parametrize(
    "fields",
    [
        {"fits_batch": "many"},
        {"fits_batch": 8, "gpu": "RTX 9999 Nonsense"},
        {"fits_batch": 8, "task": "fly"},
    ],
)
def test_what_cannot_be_read_is_said(fields: dict[str, object]) -> None:
    with pytest.raises(WorkloadFault):
        bracket(**fields)


def test_validate_counts_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "batches.jsonl"
    path.write_text(json.dumps({**LINE, "fits_batch": 8, "fails_batch": 4096}), "utf-8")
    assert main(["validate", str(path)]) == 0
    assert "1 of 1 estimates lie between the two" in capsys.readouterr().out
