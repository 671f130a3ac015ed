"""Published rates between GPUs: inside the stated ranges four times of five, and their medians near."""

import statistics

from rigplanner.catalog.load import Catalog
from rigplanner.machine.exchange import judge_exchange, measured_exchange
from rigplanner.report.exchange_table import exchange_table


def test_ranges_cover_four_of_five(catalog: Catalog) -> None:
    judged = judge_exchange(catalog)
    assert len(judged) == len(measured_exchange())
    for what in ("allreduce", "copy"):
        members = [item for item in judged if item.row.what == what]
        assert sum(bool(item.inside) for item in members) / len(members) >= 0.8
        assert statistics.median(item.error for item in members) < 0.15


def test_the_host_is_reached_at_the_measured_rate(catalog: Catalog) -> None:
    assert all(item.error < 0.05 for item in judge_exchange(catalog) if item.row.what == "host")


def test_the_table_counts_every_row() -> None:
    table = exchange_table()
    assert table.rows[0].cases == sum(row.cases for row in table.rows[1:]) == len(measured_exchange())
    assert table.rows[-1].inside is None
