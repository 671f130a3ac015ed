"""What a fix costs is known only when every piece it touches has a price."""

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Accessory, Price
from rigplanner.machine.assemble import assemble
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.fixes import price_difference


def _part(name: str, amount: float | None) -> Accessory:
    prices = (
        ()
        if amount is None
        else (Price(amount=amount, currency="USD", day="2026-11-20", source="shop"),)
    )
    return Accessory(id=f"a.b.{name}", name=name, vendor="A", type="cable", prices=prices)


PARTS = (_part("cheap", 10), _part("dear", 30), _part("bare", None), _part("blank", None))
CATALOG = Catalog({part.id: part for part in PARTS}, {})


@pytest.mark.parametrize(
    ("has", "edit", "expected"),
    [
        ("cheap", Edit("replace_part", {"uid": "i", "part": "a.b.dear"}), 20.0),
        ("cheap", Edit("replace_part", {"uid": "i", "part": "a.b.bare"}), None),
        ("bare", Edit("replace_part", {"uid": "i", "part": "a.b.blank"}), None),
        ("bare", Edit("replace_part", {"uid": "i", "part": "a.b.cheap"}), None),
        ("bare", Edit("remove_item", {"uid": "i"}), None),
        ("bare", Edit("add_part", {"part": "a.b.cheap", "stem": "accessory"}), 10.0),
        ("bare", Edit("set_place", {"uid": "i", "index": 0, "place": "X"}), 0.0),
        ("cheap", Edit("remove_item", {"uid": "nothing"}), None),
    ],
)
def test_an_unpriced_piece_makes_the_difference_unknown(
    has: str, edit: Edit, expected: float | None
) -> None:
    rig = Rig(items=(Item(uid="i", part=f"a.b.{has}"),))
    context = Context(rig=rig, catalog=CATALOG, machine=assemble(rig, CATALOG))
    assert price_difference(context, (edit,)) == expected
