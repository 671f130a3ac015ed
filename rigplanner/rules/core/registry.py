"""The one list of rules: each is registered once, with all that is said about it, by the decorator
over its function."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import DrivePort, Part, Slot
from rigplanner.rig.document import Site
from rigplanner.rules.core.bounds import Bound
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Fix, Severity

Cases = Callable[[Context], Iterable[Any]]
Judge = Callable[[Context, Any], Iterable[Finding]]


class Rule(Struct, frozen=True, kw_only=True):
    """A rule: `over` picks what is judged one by one, `needs` the facts without which the answer is
    unknown ("card.length_mm": field `length_mm` of the part that the case calls `card`), `judge`
    yields findings, of its own severity or of another; `may_err` says that errors are among
    them."""

    code: str
    title: str
    severity: Severity
    reason: str
    source: str
    topic: str
    needs: tuple[str, ...]
    over: Cases
    judge: Judge
    paths: tuple[tuple[str, ...], ...] = ()
    bound: Bound | None = None
    may_err: bool = False

    def finding(
        self,
        case: Any,
        severity: Severity | None = None,
        *,
        subjects: tuple[str, ...] | None = None,
        needed: float | str | None = None,
        actual: float | str | None = None,
        unit: str = "",
        fixes: tuple[Fix, ...] = (),
        variant: str = "",
        **values: Any,
    ) -> Finding:
        """Return a finding of this rule about a case, of the rule's own severity and the case's
        subjects unless given. `variant` names the wording where one rule has several ways to fail.
        """
        return Finding(
            code=self.code,
            severity=severity or self.severity,
            subjects=case.subjects if subjects is None else subjects,
            needed=needed,
            actual=actual,
            unit=unit,
            values={"variant": variant, **values} if variant else values,
            fixes=fixes,
        )

    def unknown(
        self, case: Any, *missing: str, fixes: tuple[Fix, ...] = (), **values: Any
    ) -> Finding:
        """Return the third answer: not judged, because these facts ("part-id:field") are
        missing."""
        return Finding(
            code=self.code,
            severity="unknown",
            subjects=case.subjects,
            missing=missing,
            values=values,
            fixes=fixes,
        )


RULES: dict[str, Rule] = {}


def rule(
    code: str,
    title: str,
    severity: Severity,
    *,
    over: Cases,
    reason: str,
    source: str,
    needs: tuple[str, ...] = (),
    bound: Bound | None = None,
    may_err: bool = False,
) -> Callable[[Judge], Rule]:
    """Register a function as the rule `code`; a code can be taken once. `bound` tells what the
    class of a part allows where some of `needs` are missing; `may_err` that a rule whose own
    severity is milder finds errors too."""

    def register(judge: Judge) -> Rule:
        if code in RULES:
            raise ValueError(f"The code {code} is taken by {RULES[code].title!r}.")
        topic = judge.__module__.rsplit(".", 1)[-1]
        entry = Rule(
            code=code,
            title=title,
            severity=severity,
            reason=reason,
            source=source,
            topic=topic,
            needs=needs,
            over=over,
            judge=judge,
            paths=tuple(tuple(path.split(".")) for path in needs),
            bound=bound,
            may_err=may_err or severity == "error",
        )
        RULES[code] = entry
        return entry

    return register


def missing_facts(entry: Rule, case: Any) -> dict[str, str]:
    """Return the needed fields that a case lacks: the path of each, and "part-id:field"."""
    missing = {}
    for head, *fields in entry.paths:
        value = owner = getattr(case, head)
        for field in fields:
            value = getattr(value, field, None)
            if value is None:
                break
        if value is None or value == () or value == {} or value == "":
            missing[".".join((head, *fields))] = fact_name(owner, fields or [head], case)
    return missing


def fact_name(owner: object, fields: list[str], case: object = None) -> str:
    """Name a field of a part ("asus.x:length_mm"), of a place on it ("asus.x:PCIE1.position"), of
    the site ("site:volts") or of the piece or workload that is judged ("workload.0:heads")."""
    if isinstance(owner, Part):
        return f"{owner.id}:{fields[-1]}"
    if isinstance(owner, Site):
        return f"site:{fields[-1]}"
    board = getattr(case, "board", None)
    if isinstance(owner, Slot | DrivePort) and isinstance(board, Part):
        return f"{board.id}:{owner.id}.{fields[-1]}"
    subjects = getattr(case, "subjects", ())
    return f"{subjects[0] if subjects else 'rig'}:{fields[-1]}"


def fact_names(owner: object, *fields: str) -> tuple[str, ...]:
    """Name those fields of an owner that are missing."""
    return tuple(fact_name(owner, [field]) for field in fields if getattr(owner, field) is None)


def judged(entry: Rule, context: Context) -> tuple[list[Finding], int]:
    """Run one rule; return its findings and the number of cases that it judged."""
    findings: list[Finding] = []
    cases = context.cases(entry.over)
    for case in cases:
        missing = missing_facts(entry, case) if entry.needs else {}
        if missing:
            findings.extend(_within_bounds(entry, context, case, missing))
        else:
            findings.extend(entry.judge(context, case))
    return [_bounded(entry, finding) for finding in findings], len(cases)


def _bounded(entry: Rule, finding: Finding) -> Finding:
    """Return a question of a rule that finds no errors with the worst that its answer can be."""
    if finding.severity != "unknown" or finding.at_worst or entry.may_err:
        return finding
    return finding if entry.severity == "unknown" else replace(finding, at_worst=entry.severity)


def _within_bounds(
    entry: Rule, context: Context, case: Any, missing: dict[str, str]
) -> list[Finding]:
    """Judge the worst and the best that missing facts allow: silent where the worst is fine, what
    the best is told where that fails too, else the question."""
    bounds = entry.bound(context, case, tuple(missing)) if entry.bound else None
    if bounds is None:
        return [entry.unknown(case, *missing.values())]
    worst = [finding for finding in entry.judge(context, bounds.worst) if _is_loud(finding)]
    if not worst:
        return []
    certain = [finding for finding in entry.judge(context, bounds.best) if _is_loud(finding)]
    asked = entry.unknown(case, *(bounds.asked or missing.values()))
    mild = all(finding.severity == "warning" for finding in worst)
    return certain or [replace(asked, at_worst="warning") if mild else asked]


def _is_loud(finding: Finding) -> bool:
    return finding.severity != "info"
