"""The acceptance of a delivered machine: the lines, their sum, the captures with their checksums,
and what changed since an earlier one."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.asbuilt.captures import Capture, CapturedText
from rigplanner.asbuilt.causes import sources_of
from rigplanner.asbuilt.checks.line import Line, Verdict
from rigplanner.asbuilt.checks.software import rule_lines
from rigplanner.asbuilt.costs import with_costs
from rigplanner.asbuilt.differences import differences
from rigplanner.asbuilt.promise import promise_of
from rigplanner.asbuilt.seen import SeenRate, of_kind
from rigplanner.catalog.load import Catalog
from rigplanner.decoding import read_json
from rigplanner.rules.assess import Assessment
from rigplanner.whole_file import read_within

FORMAT_VERSION = 1
LARGEST_FILE = 16 * 2**20


class AcceptanceFault(ValueError):
    """A file that is no acceptance; the text says why."""


class Since(Struct, frozen=True, kw_only=True):
    """A line that reads otherwise than in the earlier acceptance: better, worse, new or gone."""

    code: str
    subject: str
    where: str
    change: str
    before: float | str | None = None
    now: float | str | None = None
    unit: str = ""


class Acceptance(Struct, frozen=True, kw_only=True):
    """An acceptance: of which rig, on which day, what each line says. `captured` is the day of the
    capture where it is told, `since` what changed after the acceptance of `earlier`."""

    format_version: int = FORMAT_VERSION
    rig: str
    day: str
    captured: str | None = None
    lines: tuple[Line, ...] = ()
    texts: tuple[CapturedText, ...] = ()
    rates: tuple[SeenRate, ...] = ()
    jobs: tuple[str, ...] = ()
    since: tuple[Since, ...] = ()
    earlier: str | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many lines have each verdict."""
        counted = Counter(line.verdict for line in self.lines)
        return {verdict: counted[verdict] for verdict in ("kept", "remark", "broken", "unseen")}

    @property
    def verdict(self) -> Verdict:
        """broken where any line is; unseen where nothing was seen; remark or kept else."""
        found = {line.verdict for line in self.lines}
        if "broken" in found:
            return "broken"
        if not found & {"kept", "remark"}:
            return "unseen"
        return "remark" if "remark" in found else "kept"


def accept(assessment: Assessment, catalog: Catalog, capture: Capture, day: str = "") -> Acceptance:
    """Return the acceptance of a machine that was captured against the plan it was bought by."""
    promise = promise_of(assessment)
    lines = differences(promise, capture.facts, capture.loaded)
    lines = (*lines, *rule_lines(assessment, catalog, capture.facts))
    return Acceptance(
        rig=assessment.rig.name,
        day=day or date.today().isoformat(),
        captured=capture.day,
        lines=with_costs(lines, assessment, catalog),
        texts=capture.texts,
        rates=of_kind(capture.facts, SeenRate),
        jobs=tuple([job.workload.name or job.workload.model or "" for job in assessment.jobs]),
    )


RANK: dict[str, int] = {"kept": 0, "unseen": 1, "remark": 2, "broken": 3}


def compared(now: Acceptance, before: Acceptance) -> Acceptance:
    """Return an acceptance with what changed since an earlier one: lines that got worse or better,
    that are new, and that are gone."""
    old = {_key(line): line for line in before.lines}
    changes: list[Since] = []
    for line in now.lines:
        former = old.pop(_key(line), None)
        if former is None:
            if line.verdict in ("broken", "remark"):
                changes.append(_since(line, "new", None, line.seen))
        elif former.seen != line.seen or former.verdict != line.verdict:
            worse = RANK[line.verdict] - RANK[former.verdict]
            change = "worse" if worse > 0 else "better" if worse < 0 else "other"
            changes.append(_since(line, change, former.seen, line.seen))
    changes += [_since(line, "gone", line.seen, None) for line in old.values()]
    return msgspec.structs.replace(now, since=tuple(changes), earlier=before.day)


def _key(line: Line) -> tuple[str, str, str]:
    return line.code, line.subject, "" if line.subject else line.where


def _since(line: Line, change: str, before: Any, now: Any) -> Since:
    return Since(
        code=line.code,
        subject=line.subject,
        where=line.where,
        change=change,
        before=before,
        now=now,
        unit=line.unit,
    )


def read_acceptance(path: Path) -> Acceptance:
    """Return the acceptance in a JSON file that RigPlanner wrote; raise AcceptanceFault."""
    try:
        content = read_within(path, LARGEST_FILE)
        found = read_json(content, Acceptance)
    except OSError as fault:
        raise AcceptanceFault(f"{path}: cannot be read ({fault.strerror or fault}).") from fault
    except (msgspec.MsgspecError, ValueError) as fault:
        raise AcceptanceFault(
            f"{path}: expected an acceptance as `rigplanner accept --format json` writes it"
            f" ({str(fault)[:160]})."
        ) from fault
    if found.format_version > FORMAT_VERSION:
        raise AcceptanceFault(
            f"{path}: written by a newer RigPlanner (format {found.format_version})."
        )
    return found


def acceptance_json(made: Acceptance) -> bytes:
    """Return an acceptance as JSON, with its verdict, counts and the sources of causes for who
    reads no code."""
    causes = {line.cause: sources_of(line.cause) for line in made.lines if line.cause}
    head = {"verdict": made.verdict, "counts": made.counts, "cause_sources": causes}
    document = {**head, **msgspec.to_builtins(made)}
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
