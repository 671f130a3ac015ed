"""Facts of the owner: kept in the rig, used wherever the part is, refused where they make no
sense."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import Chassis, Motherboard
from rigplanner.rig.choices import with_choice
from rigplanner.rig.document import Item, Rig, part_of
from rigplanner.rig.edits import Edit, EditFault, apply
from rigplanner.rules.assess import assess

BOARD = "asus.rog.crosshair-viii-dark-hero"
RIG = Rig(
    items=(
        Item(uid="board", part=BOARD),
        Item(uid="cpu", part="amd.ryzen.9-5950x"),
        Item(uid="gpu", part="nvidia.geforce.rtx-3090", quantity=2),
        Item(uid="case", part="fractal-design.meshify-2-xl.meshify-2-xl"),
    )
)


def _bare() -> Rig:
    """The rig with a board whose second slot nobody measured, whatever the catalog says today."""
    board = shipped_catalog().parts[BOARD]
    assert isinstance(board, Motherboard)
    slots = tuple(
        replace(slot, position=None) if slot.id == "PCIEX16_2" else slot
        for slot in board.layout.slots
    )
    own = replace(board, id="own.board.bare", layout=replace(board.layout, slots=slots))
    items = tuple(replace(item, part=own.id) if item.part == BOARD else item for item in RIG.items)
    return replace(RIG, items=items, snapshot={own.id: own})


def _verdicts(rig: Rig) -> dict[str, str]:
    return {f.code: f.severity for f in assess(rig, shipped_catalog()).report.findings}


def test_one_measurement_answers_the_question() -> None:
    catalog, rig = shipped_catalog(), _bare()
    assert _verdicts(rig)["CLG002"] == "unknown"
    near = with_choice(rig, catalog, "fact:own.board.bare:PCIEX16_2.position=5")
    assert _verdicts(near)["CLG002"] == "warning"
    far = with_choice(rig, catalog, "fact:own.board.bare:PCIEX16_2.position=6")
    assert "CLG002" not in _verdicts(far)
    assert with_choice(far, catalog, "fact:own.board.bare:PCIEX16_2.position=none") == rig


def test_a_fact_is_used_wherever_the_part_is() -> None:
    rig = with_choice(_bare(), shipped_catalog(), "fact:own.board.bare:PCIEX16_2.position=6")
    part = part_of(rig, shipped_catalog(), "own.board.bare")
    assert isinstance(part, Motherboard)
    assert {slot.id: slot.position for slot in part.layout.slots}["PCIEX16_2"] == 6
    assert part_of(rig, shipped_catalog(), "own.board.bare") is part


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        ("own.board.bare:PCIEX16_2.position=99", "expected 1 to 24"),
        ("own.board.bare:PCIEX16_2.position=two", "position"),
        ("own.board.bare:NOWHERE.position=2", "no place 'NOWHERE'"),
        ("own.board.bare:weight_kg=2", "no field 'weight_kg'"),
        ("nvidia.geforce.rtx-3090:power_min_w=900", "above"),
        ("noctua.nh-d15.nh-d15:height_mm=160", "The rig has no part"),
        ("nobody.knows.this:height_mm=160", "a part of the rig"),
        ("fractal-design.meshify-2-xl.meshify-2-xl:gpu_length_mm=-5", "expected"),
        ("amd.ryzen.9-5950x:numa_nodes=0", "expected 1 to 64"),
        ("amd.ryzen.9-5950x:cores=-2", "expected 1"),
        ("amd.ryzen.9-5950x:name=fast", "measures"),
    ],
)
def test_facts_beyond_sense_are_refused_by_name(fact: str, told: str) -> None:
    with pytest.raises(EditFault, match=r"fact:|The rig has") as refused:
        with_choice(_bare(), shipped_catalog(), f"fact:{fact}")
    assert told in str(refused.value)


def test_a_fix_can_carry_a_fact() -> None:
    edit = Edit("set_fact", {"part": BOARD, "name": "eps8", "value": 2})
    assert apply(RIG, edit).facts == {BOARD: {"eps8": 2}}


def test_a_file_with_facts_beyond_sense_is_judged_without_them() -> None:
    """What a file brings is kept in it, left unused, and named."""
    rig = replace(RIG, facts={"amd.ryzen.9-5950x": {"numa_nodes": 0, "cores": 12}})
    part = part_of(rig, shipped_catalog(), "amd.ryzen.9-5950x")
    assert part is not None
    assert (getattr(part, "numa_nodes", 0), getattr(part, "cores", 0)) == (1, 12)
    told = [f for f in assess(rig, shipped_catalog()).report.findings if f.code == "RIG007"]
    assert [finding.values["own"].rpartition(":")[2] for finding in told] == ["numa_nodes"]


def test_a_fact_may_be_named_by_its_whole_path() -> None:
    case = "fractal-design.meshify-2-xl.meshify-2-xl"
    rig = with_choice(RIG, shipped_catalog(), f"fact:{case}:enclosure.gpu_length_mm=300")
    part = part_of(rig, shipped_catalog(), case)
    assert isinstance(part, Chassis) and part.enclosure.gpu_length_mm == 300
