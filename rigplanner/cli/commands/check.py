"""`rigplanner check`: judge a rig file by all rules."""

import argparse
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from rigplanner import __version__
from rigplanner.catalog.load import Catalog
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.cli.terminal import tell
from rigplanner.report.language import tr
from rigplanner.report.words.findings import (
    counts_text,
    fact_text,
    finding_text,
    fix_text,
    rests_text,
    rule_title,
    subject_name,
    verdict_text,
)
from rigplanner.report.words.machine import absent_texts
from rigplanner.report.words.questions import own_fact_text
from rigplanner.report.words.rates import apart_text
from rigplanner.rig.document import Rig
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rules.assess import Assessment, assess
from rigplanner.rules.check import ORDER
from rigplanner.rules.core.finding import SEVERITIES, Finding
from rigplanner.rules.core.rests import Figure
from rigplanner.rules.questions import own_facts

SCHEMA = "rigplanner-check-1"
MARKS = {"error": "x", "unknown": "?", "warning": "!", "info": "i"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("rig", type=Path, metavar="RIG", help="a .rig file")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--severity",
        choices=SEVERITIES,
        default="info",
        help="the mildest severity to list (default: info)",
    )
    parser.add_argument(
        "--today",
        type=_day,
        default=date.today(),
        metavar="DAY",
        help="the day that ends waivers, for example 2026-11-21",
    )


def _day(text: str) -> date:
    return date.fromisoformat(text)


def run(args: argparse.Namespace) -> int:
    """Print what all rules say; 1 when a finding of severity error is among it."""
    try:
        rig = read_rig(args.rig)
    except RigFault as fault:
        raise InputFault(str(fault)) from fault
    catalog = open_catalog()
    assessment = assess(rig, catalog, args.today.isoformat())
    if args.format == "json":
        print(
            msgspec.json.format(
                msgspec.json.encode(check_record(assessment, catalog, args.severity))
            ).decode()
        )
    else:
        tell("\n".join(check_lines(assessment, catalog, args.severity)))
    return FINDINGS if assessment.report.count("error") else FINE


def check_record(
    assessment: Assessment, catalog: Catalog, severity: str = "info"
) -> dict[str, Any]:
    """Return the answer of `check --format json`, as `resources/check.schema.json` describes it."""
    report, rig = assessment.report, assessment.rig
    listed = [finding for finding in report.findings if ORDER[finding.severity] <= ORDER[severity]]
    return {
        "schema": SCHEMA,
        "program": f"rigplanner {__version__}",
        "catalog": catalog.version,
        "rig": rig.name,
        "verdict": report.verdict(),
        "counts": {word: report.count(word) for word in SEVERITIES},
        "severity": severity,
        "findings": [_record(finding, rig, catalog) for finding in listed],
        "waived": [_record(finding, rig, catalog) for finding in report.waived],
        "ran": list(report.ran),
        "ignored": list(report.ignored),
        "idle": list(report.idle),
        "severities": dict(rig.severities),
        "facts": rig.facts,
        "rests": {
            "deciding": len(report.deciding),
            "unverified": [_figure(figure, rig, catalog) for figure in report.unverified],
        },
    }


def _figure(figure: Figure, rig: Rig, catalog: Catalog) -> dict[str, Any]:
    return {
        "part": figure.part,
        "field": figure.field,
        "state": figure.state,
        "text": fact_text(figure.fact, rig, catalog),
        "note": figure.note,
    }


def _record(finding: Finding, rig: Rig, catalog: Catalog) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "title": rule_title(finding.code),
        "text": finding_text(finding, rig, catalog),
        "subjects": list(finding.subjects),
        "needed": finding.needed,
        "actual": finding.actual,
        "unit": finding.unit,
        "missing": list(finding.missing),
        "rests": [_figure(figure, rig, catalog) for figure in finding.rests],
        "values": finding.values,
        "fixes": [
            {
                "code": fix.code,
                "text": fix_text(fix, rig, catalog),
                "edits": fix.edits,
                "values": fix.values,
            }
            for fix in finding.fixes
        ],
        "waiver": _waiver(finding, rig),
    }


def _waiver(finding: Finding, rig: Rig) -> dict[str, Any] | None:
    if finding.waived_by is None:
        return None
    waiver = next(
        (
            w
            for w in rig.waivers
            if w.code == finding.code
            and w.by == finding.waived_by
            and (not w.subject or w.subject in finding.subjects)
        ),
        None,
    )
    return {"by": waiver.by, "reason": waiver.reason, "until": waiver.until} if waiver else None


def check_lines(assessment: Assessment, catalog: Catalog, severity: str = "info") -> list[str]:
    """Return the answer of `check` as lines of text."""
    report, rig = assessment.report, assessment.rig
    counts = counts_text(report)
    lines = [f"{rig.name}: {verdict_text(report)}{f' ({counts})' if counts else ''}."]
    if rests := rests_text(report, rig, catalog):
        lines.append(f"{rests}.")
    shown = [finding for finding in report.findings if ORDER[finding.severity] <= ORDER[severity]]
    for (word, code), alike in groupby(shown, key=lambda finding: (finding.severity, finding.code)):
        lines += ["", f"{MARKS[word]} {code} {rule_title(code)}"]
        for finding in alike:
            lines.append(f"    {finding_text(finding, rig, catalog)}")
            lines += [f"    -> {fix_text(fix, rig, catalog)}" for fix in finding.fixes]
    if asked := next((fact for f in shown for fact in f.missing if "." in fact), None):
        way = f"rigplanner new --from RIG --set fact:{asked}=VALUE -o RIG"
        lines += ["", tr("Who knows or measures what is missing says so: {way}", way=way)]
    if rig.facts:
        own = [own_fact_text(*fact, rig, catalog) for fact in own_facts(rig)]
        lines += ["", tr("My figures:"), *(f"  {text}" for text in own)]
    if report.waived:
        lines += ["", tr("Accepted:")]
        lines += [_waived_line(finding, rig, catalog) for finding in report.waived]
    if report.ignored:
        lines += ["", tr("Ignored for this rig: {codes}", codes=" ".join(report.ignored))]
    if rig.severities:
        changed = " ".join(f"{code}={word}" for code, word in sorted(rig.severities.items()))
        lines += ["", tr("Severity changed for this rig: {changes}", changes=changed)]
    lines += ["", *absent_texts(assessment.machine)]
    if apart := apart_text(assessment.totals):
        lines.append(f"{apart}.")
    lines.append(
        tr(
            "{ran} rules checked, {idle} did not apply.",
            ran=len(report.ran),
            idle=len(report.idle),
        )
    )
    return lines


def _waived_line(finding: Finding, rig: Rig, catalog: Catalog) -> str:
    waiver = _waiver(finding, rig) or {}
    until = tr(", until {day}", day=waiver["until"]) if waiver.get("until") else ""
    where = f" ({subject_name(finding.subjects[0], rig, catalog)})" if finding.subjects else ""
    return (
        f"  {finding.code} {rule_title(finding.code)}{where}: {waiver.get('reason', '')}"
        f" ({waiver.get('by', '')}{until})"
    )
