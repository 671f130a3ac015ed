"""What a seller says of goods, and a rig as one line of text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.load import Catalog
from rigplanner.rig.document import Goods, Item, QuoteDetails, Rig, Tax
from rigplanner.rig.edits import Edit, EditFault, apply
from rigplanner.rig.files import RigFault, decode_rig, encode_rig
from rigplanner.rig.from_text.parts_list import read_parts_list
from rigplanner.rig.goods import is_ean, number_in_name
from rigplanner.rig.one_line import one_line, parts_of_line


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("4006381333931", True),
        ("4006381333932", False),
        ("036000291452", True),
        ("73513537", True),
        ("10012345678902", True),
        ("400638133393", False),
        ("４006381333931", False),
        ("", False),
    ],
)
def test_an_ean_checks_itself(text: str, good: bool) -> None:
    assert is_ean(text) is good


@given(st.text("0123456789", min_size=12, max_size=12))
def test_one_wrong_digit_of_an_ean_is_found(digits: str) -> None:
    whole = next(digits + check for check in "0123456789" if is_ean(digits + check))
    wrong = str((int(whole[3]) + 1) % 10)
    assert not is_ean(whole[:3] + wrong + whole[4:])


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("Crucial DDR4-2400 2x8 GB SO-DIMM (CT2K8G4SFS824A)", "CT2K8G4SFS824A"),
        ("Plextor M8Pe 256 GB (PX-256M8PeG)", "PX-256M8PeG"),
        ("Corsair RM750x (2018)", ""),
        ("ASRock DeskMini 250 GTX/RX (B250)", ""),
        ("Case (without supply)", ""),
    ],
)
def test_a_part_number_ends_a_name_in_brackets(name: str, number: str) -> None:
    assert number_in_name(name) == number


WRONG = [
    Goods(ean="4006381333932"),
    Goods(part_number="x" * 61),
    Goods(warranty_months=601),
    Goods(cost=-1.0),
    Goods(cost=float("nan")),
]


@pytest.mark.parametrize("goods", WRONG)
def test_goods_that_cannot_be_are_refused_by_edit_and_file(goods: Goods) -> None:
    rig = Rig(items=(Item(uid="gpu", part="a.b.c"),))
    with pytest.raises(EditFault):
        apply(rig, Edit("set_goods", {"uid": "gpu", "goods": goods}))
    if goods.cost is not None and math.isnan(goods.cost):
        return  # a file has no such number
    bad = replace(rig, items=(replace(rig.items[0], goods=goods),))
    with pytest.raises(RigFault):
        decode_rig(encode_rig(bad), "bad.rig")


def test_goods_stay_with_their_part_and_survive_the_file() -> None:
    goods = Goods(part_number="N1", ean="4006381333931", warranty_months=24, cost=10.5)
    details = QuoteDetails(more_taxes=(Tax(name="PST", percent=7.0),), form="private", labour=90.0)
    rig = Rig(items=(Item(uid="gpu", part="a.b.c"),), quote=details)
    rig = apply(rig, Edit("set_goods", {"uid": "gpu", "goods": goods}))
    assert decode_rig(encode_rig(rig), "a.rig") == rig
    other = apply(rig, Edit("replace_part", {"uid": "gpu", "part": "a.b.d"}))
    assert other.items[0].goods == Goods()


def test_a_line_of_text_reads_back_as_the_rig(catalog: Catalog) -> None:
    index = index_of(catalog)
    ids = list(catalog.parts)[::97]
    items = tuple(Item(uid=f"i{n}", part=part, quantity=n % 3 + 1) for n, part in enumerate(ids))
    line = one_line(Rig(items=items))
    assert "\n" not in line
    asked = [(item.quantity, item.part) for item in items]
    for text in (line, f"Look at this:\n\n> {line}\n\nGood?"):
        entries = read_parts_list(text, index, "2026-11-23")
        assert [(e.wish.quantity, e.wish.parts[0].id) for e in entries] == asked


def test_a_line_with_a_part_that_is_not_there_keeps_its_name(catalog: Catalog) -> None:
    entries = read_parts_list("RigPlanner: 2x no.such.part", PartIndex(()), "2026-11-23")
    assert [(e.wish.text, e.wish.quantity, e.wish.parts) for e in entries] == [
        ("no.such.part", 2, ())
    ]
    assert one_line(Rig()) == ""
    assert parts_of_line("RigPlanner is fine: 2x") == []
