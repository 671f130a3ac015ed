"""A data set of single files on a hard disk: packing it is offered with its gain, and mends it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.cli.main import main
from rigplanner.performance.limits.host import PACKED_FORMATS
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import apply
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
from rigplanner.rules.core.finding import Finding

WORK = (
    "alexnet task=train precision=fp32 batch_per_gpu=64 dataset_gb=250 dataset_samples=14000000"
    " dataset_format="
)
RIG = ("Titan X Pascal", "Core i7-7700K", "ASUS Z270-WS", "WD1003FZEX", "2x 8GB DDR4-2400")


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    file = tmp_path / "disk.rig"
    assert main(["new", *RIG, "--workload", f"{WORK}files", "-o", str(file)]) == 0
    return read_rig(file)


def found(rig: Rig, catalog: Catalog) -> dict[str, Finding]:
    wanted = ("DSK004", "DSK009")
    return {each.code: each for each in assess(rig, catalog).report.findings if each.code in wanted}


def test_packing_is_offered_with_its_gain_and_mends_both(rig: Rig, catalog: Catalog) -> None:
    before = found(rig, catalog)
    assert set(before) == {"DSK004", "DSK009"}
    for finding in before.values():
        (pack,) = [each for each in finding.fixes if each.code == "pack"]
        assert pack.values["times"] == pytest.approx(14e6 * 2 / 110 / (250e9 / 150e6), rel=0.1)
        packed = rig
        for edit in pack.edits:
            packed = apply(packed, edit)
        assert found(packed, catalog) == {}


@pytest.mark.parametrize("word", PACKED_FORMATS)
def test_formats_read_in_long_runs_are_no_single_files(
    rig: Rig, catalog: Catalog, word: str
) -> None:
    work = replace(rig.workloads[0], dataset_format=word)
    assert "DSK004" not in found(replace(rig, workloads=(work,)), catalog)
