"""The accuracy table of rates between GPUs and to the host."""

import statistics
from collections.abc import Sequence

from rigplanner.catalog.load import shipped_catalog
from rigplanner.machine.exchange import Judged, judge_exchange, measured_exchange
from rigplanner.report.accuracy import AccuracyRow, AccuracyTable

GROUPS = {"all": None, "all-reduce bus bandwidth": "allreduce", "copy between two GPUs": "copy", "copy from the host": "host"}
NOTE = (
    "Published rates in GB/s one way (resources/machine/exchange.json) against the machine model. The ratios of collectives and "
    "copies were set on most of these rows, so this table flatters; a range for host copies is not stated. Copies staged through "
    "the host differ sevenfold between hosts."
)


def exchange_table() -> AccuracyTable:
    """Return the errors by kind of exchange."""
    judged = judge_exchange(shipped_catalog())
    rows = []
    for group, what in GROUPS.items():
        asked = sum(what in (None, row.what) for row in measured_exchange())
        rows.append(_row(group, asked, [item for item in judged if what in (None, item.row.what)]))
    return AccuracyTable(title="Exchange between GPUs", note=NOTE, rows=tuple(rows))


def _row(group: str, asked: int, members: Sequence[Judged]) -> AccuracyRow:
    errors = sorted(item.error for item in members)
    ranged = [item.inside for item in members if item.inside is not None]
    return AccuracyRow(
        group=group,
        cases=asked,
        covered=len(members),
        median=statistics.median(errors),
        mean=statistics.mean(errors),
        p90=statistics.quantiles(errors, n=10)[-1] if len(errors) > 2 else None,
        bias=statistics.median(item.value / item.row.gbs - 1 for item in members),
        inside=sum(ranged) / len(ranged) if ranged else None,
    )
