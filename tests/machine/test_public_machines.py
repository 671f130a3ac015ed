"""Machines whose owners published board, cards and matrix: the catalog's parts must give the same letters and widths."""

import pytest
from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.rig.document import Item, Rig

CLUB = "noonghunna/club-3090 issue {}"
RTX3090 = "gigabyte.turbo.rtx-3090"
"""Two slots thick; owners of thicker cards hang them on risers, with the same links."""


class Owner(Struct, frozen=True):
    """Board, CPU, slots of the GPUs, and what `nvidia-smi topo -m` and `lspci` showed: one letter per pair, lanes per GPU."""

    source: str
    board: str
    cpu: str
    slots: tuple[str, ...]
    letters: tuple[str, ...]
    lanes: tuple[int, ...]


OWNERS = (
    Owner(CLUB.format("1125, which does not name the slots"), "supermicro.h12.h12ssl-nt", "amd.epyc.7302p",
          ("SLOT7", "SLOT5"), ("NODE",), (16, 16)),
    Owner(CLUB.format("1129, buses 01, 21, 41, 61 on four host bridges; slots not named"), "asrock-rack.wrx80.wrx80d8-2t",
          "amd.threadripper-pro.3975wx", ("PCIE1", "PCIE3", "PCIE5", "PCIE7"), ("NODE",) * 6, (16, 16, 16, 16)),
    Owner(CLUB.format("1095"), "gigabyte.aorus.x570-aorus-master", "amd.ryzen.9-5900x",
          ("PCIEX16", "PCIEX8"), ("PHB",), (8, 8)),
    Owner(CLUB.format("1120, PCIe tree with ports 03.1 and 03.2 of one root"), "msi.meg.x570-unify", "amd.ryzen.9-5950x",
          ("PCI_E1", "PCI_E3"), ("PHB",), (8, 8)),
)  # fmt: skip


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.board)
def test_letters_and_lanes_are_those_published(owner: Owner, catalog: Catalog) -> None:
    cards = Item(uid="gpu", part=RTX3090, quantity=len(owner.slots), places=owner.slots)
    items = (Item(uid="board", part=owner.board), Item(uid="cpu", part=owner.cpu), cards)
    assert [item.part for item in items if catalog.get(item.part) is None] == []
    machine = assemble(Rig(items=items), catalog)
    assert machine.problems == ()
    pairs = [(a, b) for a in range(len(machine.gpus)) for b in range(a + 1, len(machine.gpus))]
    assert tuple(machine.matrix[a][b] for a, b in pairs) == owner.letters
    assert tuple(gpu.width for gpu in machine.gpus) == owner.lanes
