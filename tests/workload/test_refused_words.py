"""Unknown words and negative amounts of a workload are refused by name; each line of a case file by
itself."""

from typing import Any

import pytest

from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Workload
from rigplanner.workload.limits import (
    ABOVE_ZERO,
    ATTENTIONS,
    KINDS,
    check_workload,
    unknown_precision,
)
from rigplanner.workload.quant import BITS


@pytest.mark.parametrize(
    "fields",
    [
        {"attention": "flsh"},
        {"attention": "Eager"},
        {"kind": "transfomer"},
        {"kind": ""},
        {"message_bytes": -1},
        {"message_bytes": 0},
        {"message_bytes": 10**18},
        *({field: -1} for field in ABOVE_ZERO),
    ],
    ids=str,
)
def test_an_unknown_word_or_negative_amount_names_its_field(fields: dict[str, Any]) -> None:
    (field,) = fields
    with pytest.raises(WorkloadFault, match=f"^{field}: expected"):
        check_workload(Workload(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        *({"attention": word} for word in ATTENTIONS),
        *({"kind": word} for word in KINDS),
        {"message_bytes": 1},
        {},
        *({field: 0} for field in ABOVE_ZERO),
    ],
    ids=str,
)
def test_known_words_and_the_smallest_amounts_pass(fields: dict[str, Any]) -> None:
    check_workload(Workload(**fields))


@pytest.mark.parametrize(
    ("word", "near"), [("fp17", "fp16"), ("bf61", "bf16"), ("q4_k_n", "q4_k_m"), ("zzz", "fp16")]
)
def test_an_unknown_precision_names_a_handful_of_the_nearest(word: str, near: str) -> None:
    told = str(unknown_precision(word, {*BITS, "fp16", "fp32"}))
    assert repr(word) in told and near in told.split("are ")[1]
    assert told.count(",") <= 4
