"""Who made the chip of a card? Board partners sell those of NVIDIA, AMD and Intel under their own names."""

from rigplanner.catalog.parts import GPU

CHIP_MAKERS = frozenset(("NVIDIA", "AMD", "Intel", "Apple"))


def chip_maker(gpu: GPU) -> str:
    """Return the maker of a GPU's chip: its vendor, or who names compute capabilities ("8.6", "gfx1201") or architectures so;
    the vendor itself where nothing tells."""
    if gpu.vendor in CHIP_MAKERS:
        return gpu.vendor
    capability = (gpu.compute_capability or "").casefold()
    if capability[:1].isdigit():
        return "NVIDIA"
    if capability.startswith("gfx"):
        return "AMD"
    return "Intel" if (gpu.architecture or "").startswith("Xe") else gpu.vendor
