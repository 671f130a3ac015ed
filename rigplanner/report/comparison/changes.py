"""What changed between two rigs and what it brought, in one sentence."""

from collections.abc import Sequence

from msgspec.structs import replace

from rigplanner.planning.compare import CHOSEN, CompareRow
from rigplanner.report.comparison.content import (
    ATTRIBUTE_WORDS,
    Comparison,
    delta_text,
    row_text,
    row_title,
)
from rigplanner.report.language import listed, tr
from rigplanner.report.words.workloads import title_of

MOST_CAUSES, MOST_RESULTS = 3, 4
RESULTS = ("verdict", "errors", "fits", "speed", "total", "wall", "circuit_load", "memory")
"""What a sentence tells of, the first that differ."""


def with_changes(made: Comparison, rows: Sequence[CompareRow], baseline: int) -> Comparison:
    """Return a comparison that says of each rig what changed against the baseline; `rows` are all
    that were compared with that baseline."""
    others = (n for n in range(len(made.names)) if n != baseline)
    return replace(made, changes=tuple(change_text(rows, made.names, n, baseline) for n in others))


def change_text(rows: Sequence[CompareRow], names: Sequence[str], n: int, baseline: int) -> str:
    """Return how the rig `n` differs from the baseline, and what that brings; what else differs is
    counted."""
    differing = [row for row in rows if row.values[n] != row.values[baseline]]
    causes = [row for row in differing if row.attribute.group == CHOSEN]
    results = sorted(
        (row for row in differing if row.attribute.code in RESULTS),
        key=lambda row: RESULTS.index(row.attribute.code),
    )
    values = {"name": names[n], "base": names[baseline]}
    if not causes:
        return tr("{name} has the same parts and settings as {base}.", **values)
    told = [_cause(row, n, baseline) for row in causes[:MOST_CAUSES]]
    if len(causes) > MOST_CAUSES:
        told.append(tr("{count} more", count=len(causes) - MOST_CAUSES))
    values["changes"] = listed(told, "; ") if any("," in each for each in told) else listed(told)
    if not results:
        return tr("Compared with {base}, {name} has {changes}. No result differs.", **values)
    brought = [_result(row, n, baseline) for row in results[:MOST_RESULTS]]
    values["results"] = listed(brought)
    return tr("Compared with {base}, {name} has {changes}. Result: {results}.", **values)


def _cause(row: CompareRow, n: int, baseline: int) -> str:
    return tr(
        "{what} {now} instead of {before}",
        what=_in_sentence(row_title(row)),
        now=row_text(row, n),
        before=row_text(row, baseline),
    )


def _result(row: CompareRow, n: int, baseline: int) -> str:
    what = _in_sentence(ATTRIBUTE_WORDS[row.attribute.code])
    if row.workload is not None:
        what = f"{what} ({title_of(row.workload)})"
    delta = delta_text(row, n)
    if delta:
        return f"{what} {delta}"
    now, before = row_text(row, n), row_text(row, baseline)
    return tr("{what} {now} instead of {before}", what=what, now=now, before=before)


def _in_sentence(title: str) -> str:
    """A title inside a sentence: small, unless it begins with letters that stay capital."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]
