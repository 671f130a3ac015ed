"""Findings, rules, fixes and facts in words. Every English text passes `tr`, so that a language is
one table."""

from collections.abc import Mapping
from typing import Any

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import CPU, PowerSupply
from rigplanner.report.format import money, number, quantity
from rigplanner.report.language import Words, listed, tr, trn
from rigplanner.report.words.fields import FIELD_WORDS, VALUE_WORDS
from rigplanner.report.words.finding_texts import FACT_FAULTS, FINDING_TEXTS, FIX_TEXTS
from rigplanner.report.words.memory import change_text
from rigplanner.rig.document import Rig, part_of
from rigplanner.rules.core.finding import SEVERITIES, CheckReport, Finding, Fix
from rigplanner.rules.topics import RULES_BY_CODE

LONGEST_LIST = 6
OF_ALL_SUPPLIES = ("PWR002", "PWR003", "PWR004", "PWR005", "PWR006", "PWR007")
"""Rules whose figures are those of all supplies together, though their subject is one."""


def rule_title(code: str) -> str:
    """Return a rule's title, or the code of a rule that no longer exists."""
    rule = RULES_BY_CODE.get(code)
    return tr(rule.title) if rule else code


def verdict_text(report: CheckReport) -> str:
    """Return the verdict on a rig as a sentence without its full stop."""
    if not report.ran:
        return tr("Nothing was judged")
    return {
        "error": tr("Does not work as planned"),
        "unknown": tr("Not fully checked"),
        "warning": tr("Works with warnings"),
        "ok": tr("Works"),
    }[report.verdict()]


def counts_text(report: CheckReport) -> str:
    """Return how many findings of each severity there are, and how many are waived, "" for none."""
    counts = [
        count_text(severity, report.count(severity))
        for severity in SEVERITIES
        if report.count(severity)
    ]
    waived = (
        [trn("{count} finding accepted", "{count} findings accepted", len(report.waived))]
        if report.waived
        else []
    )
    return listed([*counts, *waived])


STATE_WORDS = Words(
    {
        "verified": "verified",
        "one source": "read in one place",
        "recalled": "commonly known, no page was read",
        "derived": "derived from other figures",
        "conflict": "sources disagree",
    }
)
FIGURES_NAMED = 3
"""Figures that a verdict names; the rest are counted."""


def rests_text(report: CheckReport, rig: Rig, catalog: Catalog, most: int = FIGURES_NAMED) -> str:
    """Return on what a verdict rests: how many of its deciding figures nobody verified, and `most`
    of them by name; "" where nothing was judged by figures."""
    if not report.deciding:
        return ""
    order = ("conflict", "recalled", "derived", "one source")
    doubtful = sorted(report.unverified, key=lambda figure: order.index(figure.state))
    if not doubtful:
        return trn(
            "{count} deciding figure, verified",
            "{count} deciding figures, all verified",
            len(report.deciding),
        )
    if not most:
        return tr(
            "{count} of {all} deciding figures not verified",
            count=len(doubtful),
            all=len(report.deciding),
        )
    named = [fact_text(figure.fact, rig, catalog) for figure in doubtful[:most]]
    if len(doubtful) > len(named):
        named.append(tr("{count} more", count=len(doubtful) - len(named)))
    return tr(
        "{count} of {all} deciding figures not verified: {figures}",
        count=len(doubtful),
        all=len(report.deciding),
        figures=listed(named),
    )


def count_text(severity: str, count: int) -> str:
    """Return how many findings of a severity there are."""
    if severity == "error":
        return trn("{count} error", "{count} errors", count)
    if severity == "warning":
        return trn("{count} warning", "{count} warnings", count)
    return (
        trn("{count} note", "{count} notes", count)
        if severity == "info"
        else trn("{count} unknown", "{count} unknown", count)
    )


def subject_name(name: str, rig: Rig, catalog: Catalog) -> str:
    """Return what a person calls a piece ("GeForce RTX 4090 (2)"), a workload (its name or model),
    a place (as on the board)."""
    uid, _, index = name.partition("/")[0].rpartition(".")
    if uid == "workload" and index.isdigit() and int(index) < len(rig.workloads):
        workload = rig.workloads[int(index)]
        return workload.name or workload.model or tr("workload {number}", number=int(index) + 1)
    item = rig.item(uid)
    if item is None:
        return _cpu_of_class(name, rig, catalog) or name
    part = part_of(rig, catalog, item.part)
    title = part.name if part else item.part
    built_in = name.partition("/")[2]
    if built_in:
        return tr("{part} in {system}", part=built_in, system=title)
    equal = [other for other in rig.items if other.part == item.part]
    if not index.isdigit() or sum(other.quantity for other in equal) < 2:
        return title
    before = sum(other.quantity for other in equal[: equal.index(item)])
    return f"{title} ({before + int(index) + 1})"


def _cpu_of_class(lane_class: str, rig: Rig, catalog: Catalog) -> str | None:
    """Return the rig's CPU of a lane class, which boards name in its stead."""
    parts = (part_of(rig, catalog, item.part) for item in rig.items)
    return next(
        (part.name for part in parts if isinstance(part, CPU) and part.lane_class == lane_class),
        None,
    )


def fact_text(fact: str, rig: Rig, catalog: Catalog) -> str:
    """Return a missing fact ("asus.x:length_mm") as "length of ASUS X"."""
    owner, _, field = fact.partition(":")
    if owner in ("rig", "site", "software", "power", "machine"):
        return tr(FIELD_WORDS.get(fact, FIELD_WORDS.get(field, field.replace("_", " "))))
    part = part_of(rig, catalog, owner)
    place, _, rest = field.rpartition(".")
    words = tr(FIELD_WORDS.get(rest, rest.replace("_", " ")))
    name = part.name if part else subject_name(owner, rig, catalog)
    if field == "*":
        return tr("all data of {part}", part=owner)
    return (
        tr("{field} of {place} on {part}", field=words, place=place, part=name)
        if place
        else tr("{field} of {part}", field=words, part=name)
    )


def finding_text(finding: Finding, rig: Rig, catalog: Catalog) -> str:
    """Return one sentence that says what was needed and what was found."""
    if finding.severity_of_text == "unknown":
        return _unknown_text(finding, rig, catalog)
    texts = FINDING_TEXTS.get(finding.code, {})
    variant = str(
        finding.values.get("variant")
        or ("none" if finding.actual is None and "none" in texts else finding.severity_of_text)
    )
    template = texts.get(variant) or texts.get("", rule_title(finding.code))
    names = [subject_name(subject, rig, catalog) for subject in finding.subjects]
    if finding.code in OF_ALL_SUPPLIES:
        names = [_all_supplies(rig, catalog) or names[0], *names[1:]]
    values: dict[str, object] = {
        key: value_text(value, rig, catalog) for key, value in finding.values.items()
    }
    disputes: dict[str, list[str]] = finding.values.get("disputes") or {}
    values["disputes"] = "; ".join(
        f"{_field_words(field)} {', '.join(said)}" for field, said in disputes.items()
    )
    if finding.code == "RIG007":
        told = finding.values
        values["fault"] = fact_fault_text(told["what"], told, told["own"], rig, catalog)
    if fact := finding.values.get("fact"):
        said = fact_text(fact, rig, catalog)
        values["fact"] = said[:1].upper() + said[1:]
    values["a"], values["b"], values["c"] = (*names, "", "", "")[:3]
    values["all"] = _joined(names)
    values["needed"] = amount(finding.needed, finding.unit, rig, catalog)
    values["needed_alone"] = amount(finding.needed, "", rig, catalog)
    shared = "{actual} of {needed}" in template or "{actual} instead of {needed}" in template
    values["actual"] = amount(finding.actual, "" if shared else finding.unit, rig, catalog)
    filled = tr(template, **values)
    of_workload = filled.startswith(tr("workload {number}").partition("{")[0])
    return filled[:1].upper() + filled[1:] if of_workload else filled


def fact_fault_text(
    code: str, values: Mapping[str, Any], fact: str, rig: Rig, catalog: Catalog
) -> str:
    """Return why a part cannot have a figure of its owner ("part-id:field"), as a sentence."""
    said = {
        key: number(value) if isinstance(value, int | float) else str(value)
        for key, value in values.items()
    }
    said["part"] = subject_name(fact.partition(":")[0], rig, catalog)
    owner = part_of(rig, catalog, fact.partition(":")[0])
    if owner is not None:
        said["part"] = owner.name
    words = fact_text(fact, rig, catalog)
    said["fact"] = words[:1].upper() + words[1:]
    return tr(FACT_FAULTS.get(code, FACT_FAULTS["other-sort"]), **said)


def _all_supplies(rig: Rig, catalog: Catalog) -> str:
    """Return the supplies of a rig that has several, "2 × AX1600i", or "" for one or none."""
    found = [(item.quantity, part_of(rig, catalog, item.part)) for item in rig.items]
    supplies = [(count, part.name) for count, part in found if isinstance(part, PowerSupply)]
    return (
        listed([f"{count} × {name}" for count, name in supplies])
        if sum(count for count, _ in supplies) > 1
        else ""
    )


def _field_words(field: str) -> str:
    return tr(FIELD_WORDS.get(field.rpartition(".")[2], field))


def _unknown_text(finding: Finding, rig: Rig, catalog: Catalog) -> str:
    fault = finding.values.get("fault")
    if fault:
        return tr("Not judged: {fault}", fault=fault)
    if finding.values.get("variant") == "cut":
        names = _joined([subject_name(subject, rig, catalog) for subject in finding.subjects])
        return tr(
            "Not judged for {subject}: the search for a place ended before it had tried"
            " everything.",
            subject=names,
        )
    facts = _joined([fact_text(fact, rig, catalog) for fact in finding.missing])
    if finding.code == "PCI012":
        name = subject_name(finding.subjects[0], rig, catalog)
        return tr(FINDING_TEXTS["PCI012"][""], a=name, **finding.values)
    if finding.code == "RIG002":
        kinds = [tr(VALUE_WORDS[fact.removeprefix("rig:")]) for fact in finding.missing]
        return tr("Not chosen yet: {kinds}.", kinds=_joined(kinds))
    subject = subject_name(finding.subjects[0], rig, catalog) if finding.subjects else tr("the rig")
    told = tr("Not checked for {subject}: {facts} unknown.", subject=subject, facts=facts)
    rules = finding.values.get("rules")
    return f"{told} {tr('{rules} wait for it.', rules=listed(rules))}" if rules else told


def fix_text(fix: Fix, rig: Rig, catalog: Catalog) -> str:
    """Return what a fix does, with the price difference where there is one."""
    values = {key: value_text(value, rig, catalog) for key, value in fix.values.items()}
    for key in ("piece", "part"):
        if key in fix.values:
            values[key] = _part_or_piece(str(fix.values[key]), rig, catalog)
    if "changes" in fix.values:
        values["changes"] = change_text(str(fix.values["changes"]))
    text = tr(FIX_TEXTS.get(fix.code, fix.code), **values)
    price = fix.values.get("price")
    if isinstance(price, int | float) and price:
        text += f" ({'+' if price > 0 else '−'}{money(abs(price), rig.currency)})"
    return text


def _part_or_piece(name: str, rig: Rig, catalog: Catalog) -> str:
    part = part_of(rig, catalog, name)
    return part.name if part else subject_name(name, rig, catalog)


def amount(value: float | str | None, unit: str, rig: Rig, catalog: Catalog) -> str:
    """Return a needed or actual value with its unit in words."""
    if isinstance(value, str):
        text = _part_or_piece(value, rig, catalog)
        return tr(VALUE_WORDS.get(text, text))
    digits = 1 if unit in ("mm", "slots") and value is not None and value != round(value) else None
    return quantity(value, unit, digits)


def value_text(value: object, rig: Rig, catalog: Catalog) -> str:
    """Return any value of a finding or fix as text."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list | tuple):
        return _joined([value_text(entry, rig, catalog) for entry in value])
    if isinstance(value, Mapping):
        return _record(value)
    if value is None:
        return tr("unknown")
    return tr(VALUE_WORDS.get(str(value), _part_or_piece(str(value), rig, catalog)))


def _record(value: Mapping[str, Any]) -> str:
    if "package" in value:
        text = (
            tr("{package} {since} and later stops")
            if value.get("verdict") == "error"
            else tr("{package} {since} and later may stop or run slowly")
        )
        package = str(value["package"])
        return tr(text, package=VALUE_WORDS.get(package, package), since=value["since"])
    return ", ".join(f"{VALUE_WORDS.get(str(key), key)} {entry}" for key, entry in value.items())


def _joined(words: list[str]) -> str:
    shown = words[:LONGEST_LIST]
    if len(words) > LONGEST_LIST:
        shown = [*shown, tr("{count} more", count=len(words) - LONGEST_LIST)]
    return listed(shown)
