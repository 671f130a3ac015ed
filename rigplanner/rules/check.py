"""Run all rules on a context and sort what they found."""

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Part
from rigplanner.rig.document import Rig, Waiver
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import SEVERITIES, CheckReport, Finding
from rigplanner.rules.core.registry import judged
from rigplanner.rules.core.rests import Figure, figures_of
from rigplanner.rules.topics import RULES_BY_CODE

ORDER: dict[str, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def check(context: Context) -> CheckReport:
    """Return what all rules say, worst first; waived findings stand apart, ignored rules are named
    and not run."""
    rig = context.rig
    ran: list[str] = []
    idle: list[str] = []
    found: list[Finding] = []
    for code, entry in RULES_BY_CODE.items():
        if code in rig.ignored:
            continue
        findings, cases = judged(entry, context)
        (ran if cases else idle).append(code)
        found.extend(_with_own_severity(rig, finding) for finding in findings)
    open_findings, waived = _apply_waivers(rig, found, context.today)
    parts = chosen_parts(context)
    open_findings = [_resting(finding, parts, context.catalog) for finding in open_findings]
    return CheckReport(
        findings=tuple(sorted(asked_once(open_findings), key=_rank)),
        waived=tuple(sorted(waived, key=_rank)),
        ran=tuple(ran),
        ignored=tuple(sorted(set(rig.ignored) & set(RULES_BY_CODE))),
        idle=tuple(idle),
        deciding=deciding(ran, parts, context.catalog),
    )


def chosen_parts(context: Context) -> dict[str, Part]:
    """Return the part of each piece that the owner chose; its maker vouches for what is built
    in."""
    return {
        piece.name: piece.part for piece in context.machine.pieces if not is_built_in(piece.name)
    }


def deciding(ran: list[str], parts: dict[str, Part], catalog: Catalog) -> tuple[Figure, ...]:
    """Return the figures of the rig's parts by which these rules decide, each once."""
    different = {part.id: part for part in parts.values()}.values()
    found = (figure for code in ran for figure in figures_of(code, different, catalog))
    return tuple({figure.fact: figure for figure in found}.values())


def _resting(finding: Finding, parts: dict[str, Part], catalog: Catalog) -> Finding:
    """Return a finding with the figures of its subjects that nobody verified."""
    concerned = {parts[name].id: parts[name] for name in finding.subjects if name in parts}
    figures = figures_of(finding.code, concerned.values(), catalog)
    doubtful = tuple(figure for figure in figures if figure.state != "verified")
    return replace(finding, rests=doubtful) if doubtful else finding


def counted(context: Context, codes: tuple[str, ...]) -> list[Finding]:
    """Return what some rules say, with the rig's own severities; ignored rules and waived findings
    left out."""
    found: list[Finding] = []
    for code in codes:
        if code not in context.rig.ignored:
            found.extend(judged(RULES_BY_CODE[code], context)[0])
    return settled(context, found)


def asked_once(found: list[Finding]) -> list[Finding]:
    """Return findings with one question for each missing fact: the first that asks names all rules
    that wait for the same (`values["rules"]`) and all that they would judge."""
    told = [finding for finding in found if not _asks(finding)]
    asked: list[Finding] = []
    known: dict[str, int] = {}
    questions = [finding for finding in found if _asks(finding)]
    for finding in sorted(questions, key=lambda one: (len(one.missing), *_rank(one))):
        fresh = tuple(fact for fact in finding.missing if fact not in known)
        if fresh:
            known |= dict.fromkeys(fresh, len(asked))
            asked.append(replace(finding, missing=fresh))
        else:
            at = known[finding.missing[0]]
            asked[at] = _waiting_too(asked[at], finding)
    return [*told, *asked]


def _asks(finding: Finding) -> bool:
    """Say whether a finding waits for facts of parts or of the site; RIG001 and RIG002 name what
    is not there at all."""
    return (
        finding.severity == "unknown"
        and bool(finding.missing)
        and finding.code not in ("RIG001", "RIG002")
    )


def _waiting_too(first: Finding, other: Finding) -> Finding:
    """Return a question that another rule asks as well."""
    rules = dict.fromkeys((*first.values.get("rules", (first.code,)), other.code))
    return replace(
        first,
        subjects=tuple(dict.fromkeys((*first.subjects, *other.subjects))),
        at_worst=first.at_worst and other.at_worst,
        values=first.values | ({"rules": list(rules)} if len(rules) > 1 else {}),
        fixes=first.fixes or other.fixes,
    )


def settled(context: Context, found: list[Finding]) -> list[Finding]:
    """Return findings with the rig's own severities, the waived ones left out."""
    return _apply_waivers(
        context.rig, [_with_own_severity(context.rig, finding) for finding in found], context.today
    )[0]


def _rank(finding: Finding) -> tuple[int, str, tuple[str, ...]]:
    return ORDER[finding.severity], finding.code, finding.subjects


def _with_own_severity(rig: Rig, finding: Finding) -> Finding:
    """A missing fact stays unknown whatever severity the rig gives to the rule."""
    wished = rig.severities.get(finding.code)
    if wished not in SEVERITIES or finding.severity == "unknown":
        return finding
    return replace(finding, severity=wished, rated=finding.severity)


def _apply_waivers(
    rig: Rig, found: list[Finding], today: str
) -> tuple[list[Finding], list[Finding]]:
    if not rig.waivers:
        return found, []
    open_findings, waived = [], []
    for finding in found:
        waiver = next((w for w in rig.waivers if _covers(w, finding, today)), None)
        if waiver is None:
            open_findings.append(finding)
        else:
            waived.append(replace(finding, waived_by=waiver.by))
    return open_findings, waived


def _covers(waiver: Waiver, finding: Finding, today: str) -> bool:
    """A waiver without an end, or whose last day has not passed, covers the findings of its code
    and subject."""
    running = waiver.until is None or not today or today <= waiver.until
    return (
        running
        and waiver.code == finding.code
        and (not waiver.subject or waiver.subject in finding.subjects)
    )
