"""Unknown words and negative amounts of a workload are refused by name; each line of a case file by
itself."""

from typing import Any

import pytest

from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Workload
from rigplanner.workload.limits import ABOVE_ZERO, ATTENTIONS, KINDS, check_workload


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
