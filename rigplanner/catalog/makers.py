"""Who made the chip of a card? Board partners sell those of NVIDIA, AMD and Intel under their own names."""

from rigplanner.catalog.parts import GPU


def chip_maker(gpu: GPU) -> str:
    """Return the maker of a GPU's chip."""
    return gpu.chip_maker
