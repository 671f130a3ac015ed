"""Shipped samples become machines without problems; letters of small machines are as captured
ones."""

from pathlib import Path

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.rig.files import read_rig


@pytest.fixture(scope="module")
def machines(catalog: Catalog, samples: list[Path]) -> dict[str, Machine]:
    """The machine of each sample."""
    return {path.stem: assemble(read_rig(path), catalog) for path in samples}


def test_every_sample_finds_all_places(machines: dict[str, Machine]) -> None:
    assert machines
    assert {name: machine.problems for name, machine in machines.items() if machine.problems} == {}


def test_dgx_1_has_the_hybrid_cube_mesh(machines: dict[str, Machine]) -> None:
    machine = machines["dgx-1-v100"]
    assert machine.matrix[0][:8] == ("X", "NV1", "NV1", "NV2", "NV2", "SYS", "SYS", "SYS")
    assert machine.matrix[8][:4] == ("PIX", "PIX", "PHB", "PHB")
    assert machine.islands == (tuple(range(8)),)


def test_a_drive_halves_the_gpu_slot(machines: dict[str, Machine]) -> None:
    gpu = machines["rtx-5090"].gpus[0]
    assert (gpu.width, gpu.gen) == (8, 5)
