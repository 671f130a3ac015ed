"""Rates of copies against what bandwidthTest, p2pBandwidthLatencyTest and nvbandwidth printed on
machines of that kind."""

from pathlib import Path

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.copies import copy_rates
from rigplanner.rig.document import Item, Rig, Settings
from rigplanner.rig.files import read_rig

ROME, EPYC = "asrock-rack.romed8.romed8-2t", "amd.epyc.7443p"


def machine(catalog: Catalog, *parts: tuple[str, int], settings: Settings | None = None) -> Machine:
    items = tuple(
        Item(uid=f"i{n}", part=part, quantity=count) for n, (part, count) in enumerate(parts)
    )
    return assemble(Rig(items=items, settings=settings or Settings()), catalog)


@pytest.mark.parametrize(
    ("parts", "measured"),
    [
        ((("nvidia.dgx.dgx-h100", 1),), (364.0, 378.0)),
        ((("nvidia.hgx.hgx-a100-8-gpu-80gb", 1),), (274.5,)),
        (((ROME, 1), (EPYC, 1), ("nvidia.geforce.rtx-4090", 2)), (25.8,)),
        (((ROME, 1), (EPYC, 1), ("gigabyte.turbo.rtx-3090", 2)), (6.1, 8.5)),
        (
            (
                ("asus.pro-ws.wrx90e-sage-se", 1),
                ("amd.threadripper-pro.7975wx", 1),
                ("nvidia.rtx-pro.6000-blackwell-max-q", 2),
            ),
            (55.0, 56.5),
        ),
    ],
    ids=["H100 SXM", "A100 SXM", "RTX 4090 staged", "RTX 3090 staged", "RTX PRO 6000"],
)
def test_the_range_holds_what_was_measured(
    parts: tuple[tuple[str, int], ...], measured: tuple[float, ...], catalog: Catalog
) -> None:
    assert [part for part, _ in parts if catalog.get(part) is None] == []
    rate = copy_rates(machine(catalog, *parts))[0][1]
    assert rate is not None
    assert all(rate.low <= value <= rate.high for value in measured)


def test_host_copies_of_a_fourth_generation_slot(catalog: Catalog) -> None:
    """25.8 and 25.7 GB/s on an A100 in a Gen4 x16 slot (della)."""
    gpu = machine(catalog, (ROME, 1), (EPYC, 1), ("nvidia.datacenter.a100-pcie-40gb", 1)).gpus[0]
    assert gpu.host_gbs == pytest.approx(25.75, rel=0.02)


def test_a_patched_driver_copies_directly(catalog: Catalog) -> None:
    parts = ((ROME, 1), (EPYC, 1), ("nvidia.geforce.rtx-4090", 2))
    staged = copy_rates(machine(catalog, *parts))[0][1]
    direct = copy_rates(machine(catalog, *parts, settings=Settings(peer_to_peer_driver=True)))[0][1]
    assert staged is not None
    assert direct is not None
    assert direct.value > staged.value


def test_every_sample_has_rates_for_all_its_pairs(catalog: Catalog, samples: list[Path]) -> None:
    for path in samples:
        made = assemble(read_rig(path), catalog)
        rates = copy_rates(made)
        pairs = [(a, b) for a in range(len(rates)) for b in range(len(rates)) if a != b]
        assert [(path.stem, a, b) for a, b in pairs if rates[a][b] is None] == []
