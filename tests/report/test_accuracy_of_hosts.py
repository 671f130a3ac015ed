"""The table of models in RAM: what it judges, by setup and by source."""

import math

import pytest

from rigplanner.performance.host.constants import host_rows
from rigplanner.performance.measured import shipped_measured
from rigplanner.report.accuracy.hosts import hosts_table
from rigplanner.report.accuracy.judged import TEXTS


def test_setups_and_sources_are_judged_apart() -> None:
    table = hosts_table()
    found = {row.group: row for row in table.rows}
    told, asked = found["writing"], found["prompts"]
    assert told.cases > found["writing, by source"].cases >= 60 and asked.cases < told.cases
    assert found["writing, by source"].cases == len({row.source for row in host_rows().rows})
    for row in table.rows:
        assert row.median is not None and row.p90 is not None and row.inside is not None
        assert 0 < row.median < row.p90 and not math.isnan(row.p90) and 0.6 < row.inside <= 1
    assert f"{len(host_rows().rows)} rows" in table.note


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_of_one_kind(name: str) -> None:
    rows = [row for row in shipped_measured() if TEXTS[name](row)]
    others = [belongs for other, belongs in TEXTS.items() if other != name]
    assert len(rows) >= 20 and not any(belongs(row) for belongs in others for row in rows)
