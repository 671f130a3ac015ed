"""Edits: pure, named, callable as data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.rig import edits
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import EDITS, Edit, EditFault, add_part, apply, set_place, waive
from rigplanner.rig.workload import Workload


def test_an_edit_leaves_the_rig_before_as_it_was() -> None:
    before = add_part(Rig(), part="a.b.c", stem="gpu", quantity=2)
    after = set_place(before, uid="gpu", index=1, place="PCIE3")
    assert before.items[0].places == ()
    assert after.items[0].places == ("", "PCIE3")


def test_giving_a_place_back_leaves_no_trace() -> None:
    rig = add_part(Rig(), part="a.b.c", stem="gpu", quantity=2)
    assert (
        set_place(set_place(rig, uid="gpu", index=1, place="PCIE3"), uid="gpu", index=1, place="")
        == rig
    )


def test_uids_stay_unique() -> None:
    rig = Rig()
    for _ in range(3):
        rig = add_part(rig, part="a.b.c", stem="gpu")
    assert [item.uid for item in rig.items] == ["gpu", "gpu2", "gpu3"]


@pytest.mark.parametrize(
    "edit",
    [
        Edit("no_such_edit", {}),
        Edit("add_part", {"part": "a"}),
        Edit("add_part", {"part": "a", "stem": "gpu", "quantity": 0}),
        Edit("remove_item", {"uid": "gpu"}),
        Edit("set_quantity", {"uid": "nothing", "quantity": 2}),
        Edit("set_power_cap", {"uid": "gpu", "watts": -1}),
        Edit("replace_workload", {"index": 3, "workload": Workload()}),
        Edit("change_workload", {"index": 0, "batch_per_gpu": 2}),
        Edit("waive", {"code": "PWR001", "reason": " ", "by": "me"}),
    ],
)
def test_an_impossible_edit_says_so(edit: Edit) -> None:
    with pytest.raises(EditFault):
        apply(Rig(), edit)


def test_every_edit_is_known_by_its_name() -> None:
    for name, function in EDITS.items():
        assert getattr(edits, name) is function


def test_a_second_waiver_of_the_same_finding_replaces_the_first() -> None:
    rig = waive(waive(Rig(), "PWR001", "measured", "A"), "PWR001", "measured again", "B")
    assert [waiver.by for waiver in rig.waivers] == ["B"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), max_size=12))
def test_adding_and_removing_everything_returns_to_nothing(parts: list[tuple[str, int]]) -> None:
    rig = Rig()
    for part, quantity in parts:
        rig = add_part(rig, part=part, stem=part, quantity=quantity)
    for item in rig.items:
        rig = apply(rig, Edit("remove_item", {"uid": item.uid}))
    assert rig == Rig()
