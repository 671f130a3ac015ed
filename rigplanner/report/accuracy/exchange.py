"""The accuracy table of rates between GPUs and to the host."""

import math
from collections.abc import Sequence

from rigplanner.catalog.load import shipped_catalog
from rigplanner.error_figures import Errors, errors_of
from rigplanner.machine.exchange import (
    Judged,
    JudgedTime,
    judge_exchange,
    judge_sweeps,
    measured_exchange,
    measured_sweeps,
)
from rigplanner.report.accuracy.table import AccuracyTable

GROUPS = {
    "all": None,
    "all-reduce bus bandwidth": "allreduce",
    "copy between two GPUs": "copy",
    "copy from the host": "host",
}
NOTE = (
    "Published rates in GB/s one way (resources/machine/exchange.json) against the machine model."
    " The ratios of collectives and copies were set on most of these rows, so this table flatters;"
    " a range for host copies is not stated. Copies staged through the host differ sevenfold"
    " between hosts."
)

DECADES = {
    "to 4 KiB": 2**12,
    "to 64 KiB": 2**16,
    "to 1 MiB": 2**20,
    "to 16 MiB": 2**24,
    "to 256 MiB": 2**28,
    "above": math.inf,
}
SIZES_NOTE = (
    "Published sweeps of nccl-tests and rccl-tests (resources/machine/exchange_sizes.json) against"
    " the modelled time of an all-reduce. Five constants, fitted to the other half first, were"
    " fitted to all once the sweeps kept apart had judged them, and moved little. Launching, host"
    " memory and networks differ most between machines: small messages and cards without peer"
    " access are off most."
)


def exchange_table() -> AccuracyTable:
    """Return the errors by kind of exchange."""
    judged = judge_exchange(shipped_catalog())
    rows = []
    for group, what in GROUPS.items():
        asked = sum(what in (None, row.what) for row in measured_exchange())
        rows.append(
            _rates(group, asked, [item for item in judged if what in (None, item.row.what)])
        )
    return AccuracyTable(
        judged="exchange", title="Exchange between GPUs", note=NOTE, rows=tuple(rows)
    )


def sizes_table() -> AccuracyTable:
    """Return the errors of all-reduce times by message size, and of the sweeps kept apart while the
    model was made."""
    judged = judge_sweeps(shipped_catalog())
    points = [(size, row) for row in measured_sweeps() for size in row.us]
    rows = [_times("all", len(points), judged)]
    least = 0.0
    for name, most in DECADES.items():
        asked = sum(least < size <= most for size, _ in points)
        rows.append(
            _times(name, asked, [time for time in judged if least < time.size_bytes <= most])
        )
        least = most
    rows.append(
        _times(
            "kept apart",
            sum(row.kept_apart for _, row in points),
            [time for time in judged if time.row.kept_apart],
        )
    )
    return AccuracyTable(
        judged="all-reduce times",
        title="All-reduce time by message size",
        note=SIZES_NOTE,
        rows=tuple(rows),
    )


def _times(group: str, asked: int, members: Sequence[JudgedTime]) -> Errors:
    """Errors of times, as far off when they are a third of what was measured as when they are three
    times that."""
    signed = [math.copysign(math.expm1(abs(time.log_error)), time.log_error) for time in members]
    return errors_of(group, asked, signed, [time.inside for time in members])


def _rates(group: str, asked: int, members: Sequence[Judged]) -> Errors:
    signed = [item.value / item.row.gbs - 1 for item in members]
    return errors_of(
        group, asked, signed, [item.inside for item in members if item.inside is not None]
    )
