"""Memory kits in the lines of lists."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.kits import kit_in
from rigplanner.catalog.parts import MemoryKit

KIT = MemoryKit(
    id="corsair.vengeance.a", name="Corsair Vengeance DDR5-6000 2x32 GB", vendor="Corsair", type="DDR5", module="udimm", modules=2,
    module_gib=32, speed_mts=6000, cas=30,
)  # fmt: skip
LINE = "Corsair Vengeance 64 GB (2 x 32 GB) DDR5-6000 CL30 Memory"


def test_a_kit_is_known_by_its_figures() -> None:
    assert kit_in(LINE, [KIT]) is KIT


@pytest.mark.parametrize(
    "other",
    [
        replace(KIT, vendor="Kingston"), replace(KIT, modules=4), replace(KIT, module_gib=16), replace(KIT, speed_mts=5600),
        replace(KIT, cas=36), replace(KIT, module="rdimm"), replace(KIT, module="sodimm"), replace(KIT, type="DDR4"),
    ],
)  # fmt: skip
def test_another_kit_is_not_taken_for_it(other: MemoryKit) -> None:
    assert kit_in(LINE, [other]) is None


def test_of_two_kits_the_name_decides_and_else_neither() -> None:
    neo = replace(KIT, id="corsair.dominator.a", name="Corsair Dominator DDR5-6000 2x32 GB")
    assert kit_in(LINE, [neo, KIT]) is KIT
    assert kit_in(LINE, [replace(KIT, id="corsair.vengeance.b"), KIT]) is None


def test_a_line_without_figures_names_no_kit() -> None:
    assert kit_in("Corsair Vengeance Memory", [KIT]) is None
