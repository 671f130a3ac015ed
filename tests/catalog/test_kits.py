"""Memory kits in the lines of lists."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.find.kits import kit_in, kits_of_modules
from rigplanner.catalog.schema.parts import MemoryKit

KIT = MemoryKit(
    id="corsair.vengeance.a",
    name="Corsair Vengeance DDR5-6000 2x32 GB",
    vendor="Corsair",
    type="DDR5",
    module="udimm",
    modules=2,
    module_gib=32,
    speed_mts=6000,
    cas=30,
)
LINE = "Corsair Vengeance 64 GB (2 x 32 GB) DDR5-6000 CL30 Memory"


def test_a_kit_is_known_by_its_figures() -> None:
    assert kit_in(LINE, [KIT]) is KIT


@pytest.mark.parametrize(
    "other",
    [
        replace(KIT, vendor="Kingston"),
        replace(KIT, modules=4),
        replace(KIT, module_gib=16),
        replace(KIT, speed_mts=5600),
        replace(KIT, cas=36),
        replace(KIT, module="rdimm"),
        replace(KIT, module="sodimm"),
        replace(KIT, type="DDR4"),
    ],
)
def test_another_kit_is_not_taken_for_it(other: MemoryKit) -> None:
    assert kit_in(LINE, [other]) is None


def test_of_two_kits_the_name_decides_and_else_neither() -> None:
    neo = replace(KIT, id="corsair.dominator.a", name="Corsair Dominator DDR5-6000 2x32 GB")
    assert kit_in(LINE, [neo, KIT]) is KIT
    assert kit_in(LINE, [replace(KIT, id="corsair.vengeance.b"), KIT]) is None


def test_a_line_without_figures_names_no_kit() -> None:
    assert kit_in("Corsair Vengeance Memory", [KIT]) is None


SINGLE = MemoryKit(
    id="samsung.rdimm",
    name="Samsung DDR4-2400 16 GB RDIMM",
    vendor="Samsung",
    type="DDR4",
    module="rdimm",
    modules=1,
    module_gib=16,
    speed_mts=2400,
)
PAIR = replace(
    KIT,
    id="crucial.udimm",
    name="Crucial DDR4-2400 2x16 GB",
    vendor="Crucial",
    type="DDR4",
    module_gib=16,
    speed_mts=2400,
)


@pytest.mark.parametrize(
    ("text", "count", "kit"),
    [
        ("4x16GB DDR4-2400 ECC", 4, SINGLE),
        ("4 x 16 GB DDR4 2400 RDIMM", 4, SINGLE),
        ("4x16GB DDR4-2400", 2, PAIR),
        ("2x 16GB DDR4", 1, PAIR),
        ("32GB (2x16GB) DDR4-2400", 1, PAIR),
        ("64GB DDR5", 1, KIT),
        ("128GB DDR5", 0, None),
        ("3x16GB DDR4-2400", 0, None),
        ("4x16GB DDR4-3200", 0, None),
        ("4x16GB DDR4-2400 ECC UDIMM", 0, None),
        ("16GB DDR4-2400 SODIMM", 0, None),
        ("Kingston 4x16GB", 0, None),
    ],
)
def test_modules_make_up_kits(text: str, count: int, kit: MemoryKit | None) -> None:
    assert kits_of_modules(text, [KIT, PAIR, SINGLE]) == (count, [kit] if kit else [])


def test_a_maker_in_the_text_wants_its_own_kit() -> None:
    assert kits_of_modules("Crucial 4x16GB DDR4-2400", [PAIR, SINGLE]) == (2, [PAIR])
    assert kits_of_modules("Crucial 4x16GB DDR4-2400 RDIMM", [PAIR, SINGLE]) == (0, [])
