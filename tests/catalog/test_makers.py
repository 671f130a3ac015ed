"""Who made the chip of a board partner's card."""

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import CHIP_MAKERS, GPU


@pytest.mark.parametrize(
    ("vendor", "capability", "architecture", "maker"),
    [
        ("NVIDIA", None, None, "NVIDIA"),
        ("ASUS", "12.0", "Blackwell", "NVIDIA"),
        ("Sapphire", "gfx1201", "RDNA4", "AMD"),
        ("Maxsun", None, "Xe2-HPG", "Intel"),
        ("Hailo", None, None, "Hailo"),
    ],
)
def test_a_chip_has_the_maker_that_names_it_so(
    vendor: str, capability: str | None, architecture: str | None, maker: str
) -> None:
    gpu = GPU(
        id="a.b.c",
        name="Card",
        vendor=vendor,
        form_factor="pcie",
        compute_capability=capability,
        architecture=architecture,
    )
    assert gpu.chip_maker == maker


def test_every_card_for_graphics_has_a_known_maker(catalog: Catalog) -> None:
    gpus = [part for part in catalog.of_kind("gpu") if isinstance(part, GPU)]
    cards = [gpu for gpu in gpus if gpu.display_outputs and gpu.form_factor == "pcie"]
    assert len(cards) > 100
    assert {gpu.id: gpu.chip_maker for gpu in cards if gpu.chip_maker not in CHIP_MAKERS} == {}
