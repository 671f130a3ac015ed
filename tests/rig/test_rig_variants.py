"""Variants: kept states of a rig, in one file, with names of their own."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.rig.document import Item, Rig, Variant
from rigplanner.rig.edits import Edit, EditFault, apply
from rigplanner.rig.files import RigFault, decode_rig, encode_rig, read_rig, write_rig
from rigplanner.rig.variants import MOST_VARIANTS, free_name, states, variant_names


def keep(rig: Rig, name: str) -> Rig:
    return apply(rig, Edit("keep_variant", {"name": name}))


@pytest.fixture
def rig() -> Rig:
    return Rig(name="Lab", items=(Item(uid="gpu", part="nvidia.geforce.rtx-3090", quantity=2),))


def test_a_kept_state_stays_as_it_was(rig: Rig) -> None:
    kept = apply(keep(rig, "Two"), Edit("set_quantity", {"uid": "gpu", "quantity": 4}))
    assert [each.items[0].quantity for each in states(kept)] == [4, 2]
    assert [each.name for each in states(kept)] == ["Lab", "Two"]


def test_an_exchange_loses_nothing_and_can_go_back(rig: Rig) -> None:
    kept = apply(keep(rig, "Two"), Edit("set_quantity", {"uid": "gpu", "quantity": 4}))
    there = apply(kept, Edit("take_variant", {"name": "two"}))
    assert (there.name, there.items[0].quantity) == ("Two", 2)
    assert variant_names(there) == ("Lab",)
    assert apply(there, Edit("take_variant", {"name": "Lab"})) == kept


@pytest.mark.parametrize("name", ["Lab", "lab", " LAB ", "two", "", "  "])
def test_names_are_unique_and_not_empty(rig: Rig, name: str) -> None:
    with pytest.raises(EditFault):
        keep(keep(rig, "Two"), name)


def test_the_rig_does_not_take_the_name_of_a_variant(rig: Rig) -> None:
    kept = keep(rig, "Two")
    with pytest.raises(EditFault):
        apply(kept, Edit("rename", {"name": "two"}))
    assert apply(kept, Edit("rename", {"name": "LAB"})).name == "LAB"
    assert free_name(kept, "Two") == "Two 2"


def test_a_rig_keeps_so_many_and_forgets_what_is_removed(rig: Rig) -> None:
    for n in range(MOST_VARIANTS):
        rig = keep(rig, f"state {n}")
    with pytest.raises(EditFault):
        keep(rig, "one more")
    rig = apply(rig, Edit("remove_variant", {"name": "state 3"}))
    assert "state 3" not in variant_names(rig)
    with pytest.raises(EditFault):
        apply(rig, Edit("remove_variant", {"name": "state 3"}))


def test_a_file_holds_the_variants_and_all_their_parts(
    rig: Rig, catalog: Catalog, tmp_path: Path
) -> None:
    kept = apply(
        keep(rig, "Two"), Edit("replace_part", {"uid": "gpu", "part": "nvidia.geforce.rtx-4090"})
    )
    write_rig(kept, tmp_path / "a.rig", catalog)
    back = read_rig(tmp_path / "a.rig")
    assert back.variants == kept.variants
    assert {"nvidia.geforce.rtx-3090", "nvidia.geforce.rtx-4090"} <= set(back.snapshot)
    assert all("snapshot" not in each["rig"] for each in msgspec.to_builtins(back)["variants"])


def test_a_file_without_variants_reads_and_is_written_as_before(rig: Rig) -> None:
    content = encode_rig(rig)
    assert b"variants" not in content
    assert decode_rig(content, "old.rig") == rig


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ((Variant(name="Lab", rig=Rig()),), "variants[0].name"),
        ((Variant(name="A", rig=Rig()), Variant(name="a", rig=Rig())), "variants[1].name"),
        (
            (Variant(name="A", rig=Rig(variants=(Variant(name="B", rig=Rig()),))),),
            "variants[0].rig",
        ),
        (
            (Variant(name="A", rig=Rig(items=(Item(uid="", part="x"),))),),
            "variants[0].rig.items[0].uid",
        ),
    ],
)
def test_a_file_with_strange_variants_is_refused_by_field(
    rig: Rig, variants: tuple[Variant, ...], said: str
) -> None:
    with pytest.raises(RigFault, match=said.replace("[", r"\[").replace("]", r"\]")):
        decode_rig(encode_rig(replace(rig, variants=variants)), "bad.rig")
