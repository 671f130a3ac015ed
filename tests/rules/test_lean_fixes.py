"""Ways out for a job that overflows its cards: a change of the job before a dearer card."""

import pytest

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import Catalog
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.from_text.from_words import read_wish, rig_from_wishes
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess
from rigplanner.rules.core.finding import Finding

FIT = ("VRM001", "VRM002")


@pytest.mark.parametrize(
    ("card", "work", "code", "change"),
    [
        ("RTX 5090", Workload(model="qwen3-32b", task="serve"), "VRM001", "four_bit_weights"),
        ("RTX 4090", Workload(model="qwen-image", task="inference"), "VRM002", "four_bit_weights"),
        (
            "RTX 4090",
            Workload(model="llama-3.1-8b", task="train_lora", seq_len=4096),
            "VRM001",
            "quantised_base",
        ),
    ],
)
def test_the_change_that_costs_least_speed_ends_the_finding(
    catalog: Catalog, card: str, work: Workload, code: str, change: str
) -> None:
    rig = rig_from_wishes("lean", [read_wish(card, index_of(catalog))])
    rig = apply(rig, Edit("add_workload", {"workload": work}))

    def told() -> list[Finding]:
        return [found for found in assess(rig, catalog).report.findings if found.code in FIT]

    (found,) = told()
    assert found.code == code
    first = found.fixes[0]
    assert first.code == "change-job" and change in first.values["changes"].split("+")
    for edit in first.edits:
        rig = apply(rig, edit)
    assert not told()


def test_where_no_change_helps_none_is_offered(catalog: Catalog) -> None:
    rig = rig_from_wishes("lean", [read_wish("RTX 4090", index_of(catalog))])
    work = Workload(model="deepseek-r1", task="serve", stack="vllm")
    rig = apply(rig, Edit("add_workload", {"workload": work}))
    (found,) = [one for one in assess(rig, catalog).report.findings if one.code in FIT]
    assert not [fix for fix in found.fixes if fix.code == "change-job"]
