"""Causes in a comparison: every part and setting that was chosen is a row."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Price
from rigplanner.data import data_path
from rigplanner.planning.compare import CHOSEN, compare, differences
from rigplanner.report.comparison.changes import with_changes
from rigplanner.report.comparison.content import comparison, names_apart
from rigplanner.report.comparison.writers import FORMATS
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess

PRICE = Price(amount=1234.0, currency="USD", day="2026-11-01", source="a shop")


@pytest.fixture(scope="module")
def rig() -> Rig:
    return read_rig(data_path("resources") / "samples" / "quad-rtx-4090.rig")


EDITS = {
    "caps": Edit("set_power_cap", {"uid": "gpu", "watts": 260.0}),
    "circuit": Edit("change_site", {"volts": 208.0, "breaker_a": 30.0}),
    "other_load": Edit("change_site", {"other_load_w": 300.0}),
    "country": Edit("change_site", {"country": "TW"}),
    "hours": Edit("change_site", {"hours_per_day": 3.0}),
    "room": Edit("change_site", {"room_c": 35.0}),
    "software": Edit("set_software", {"versions": {"pytorch": "2.8"}}),
    "peer_driver": None,
    "price_each": Edit("set_price", {"uid": "gpu", "price": PRICE}),
    "job_settings": Edit("change_workload", {"index": 0, "name": "other"}),
    "gpus": Edit("set_quantity", {"uid": "gpu", "quantity": 3}),
    "chosen_motherboard": Edit("remove_item", {"uid": "motherboard"}),
    "chosen_psu": Edit("remove_item", {"uid": "psu"}),
    "placement": Edit("set_quantity", {"uid": "gpu", "quantity": 2}),
}


@pytest.mark.parametrize("code", EDITS)
def test_whatever_is_chosen_otherwise_is_a_row_among_the_causes(
    code: str, rig: Rig, catalog: Catalog
) -> None:
    edit = EDITS[code]
    if edit is None:
        other = replace(rig, settings=replace(rig.settings, peer_to_peer_driver=True))
    else:
        kinds = {"motherboard": "board", "psu": "psu"}
        uid = edit.args.get("uid", "gpu")
        known = {item.uid for item in rig.items}
        uid = uid if uid in known else next(u for u in known if u.startswith(kinds.get(uid, uid)))
        args = {**edit.args, "uid": uid} if "uid" in edit.args else edit.args
        other = apply(rig, Edit(edit.name, args))
    rows = differences(compare([assess(rig, catalog), assess(other, catalog)]))
    causes = [row.attribute.code for row in rows if row.attribute.group == CHOSEN]
    assert code in causes
    assert [row.attribute.code for row in rows][: len(causes)] == causes, "causes come first"
    made = with_changes(comparison(("one", "two"), rows), rows, 0)
    assert len(made.changes) == 1
    assert "two" in made.changes[0]
    for form in FORMATS.values():
        assert form(made)


def test_equal_rigs_have_no_cause(rig: Rig, catalog: Catalog) -> None:
    own = assess(rig, catalog)
    rows = compare([own, own])
    assert differences(rows) == ()
    assert "same parts" in with_changes(comparison(("a", "b"), rows), rows, 0).changes[0]


def test_the_sentence_names_cause_and_result(rig: Rig, catalog: Catalog) -> None:
    capped = apply(rig, EDITS["caps"])
    rows = compare([assess(rig, catalog), assess(capped, catalog)])
    (said,) = with_changes(comparison(("plain", "capped"), rows), rows, 0).changes
    assert "260\u202fW instead of none" in said.replace(" W", "\u202fW")
    assert "Result:" in said


def test_equal_names_are_told_apart() -> None:
    assert names_apart(["A", "A", "B"], ["x.rig", "y.rig", ""]) == ["A (x.rig)", "A (y.rig)", "B"]
    made = names_apart(["A", "a", "A"], ["", "", ""])
    assert len({name.casefold() for name in made}) == 3


def test_a_job_that_was_changed_says_how(rig: Rig, catalog: Catalog) -> None:
    job = Workload(model="llama-3.1-8b", task="lora", batch_per_gpu=2)
    one = replace(rig, workloads=(job,))
    two = replace(rig, workloads=(replace(job, batch_per_gpu=4),))
    rows = compare([assess(one, catalog), assess(two, catalog)])
    (row,) = [row for row in rows if row.attribute.code == "job_settings"]
    assert row.values == ("batch_per_gpu=2", "batch_per_gpu=4")
