"""The book of rules, `docs/rules.md`, written from the registry."""

from rigplanner.report.language import tr
from rigplanner.rules.core.registry import Rule
from rigplanner.rules.topics import RULES_BY_CODE, TOPICS

HEAD = """# Rules

Every rule has a stable code. It judges one thing at a time and answers yes, no or unknown: a fact that it needs and that
nobody knows gives an *unknown* that names the part and the field. A rig can change the severity of a rule, ignore it, or
waive one finding with a reason, a name and an end; all of that stays in every report.

- **error**: does not work or is unsafe; **warning**: works worse, or on a condition; **info**: worth knowing;
  **unknown**: a fact is missing.
- *Needs* lists the facts without which a rule cannot answer: `card.length_mm` is the field `length_mm` of the card.

This page is written by `rigplanner.report.rule_book.rule_book()` from the registry; a test keeps the two equal.
"""


def rule_book() -> str:
    """Return the page as Markdown: rules by topic in the order in which a person builds."""
    chapters = [
        _chapter(topic.__name__.rsplit(".", 1)[-1], topic.__doc__ or "") for topic in TOPICS
    ]
    return "\n".join([HEAD, *chapters])


def _chapter(topic: str, about: str) -> str:
    rules = [rule for rule in RULES_BY_CODE.values() if rule.topic == topic]
    if not rules:
        return ""
    title = " ".join(about.strip().split("\n\n")[0].split())
    return "\n".join([f"## {title.rstrip('.')}", "", *map(_entry, rules)])


def _entry(rule: Rule) -> str:
    needs = ", ".join(f"`{need}`" for need in rule.needs)
    lines = [
        f"### {rule.code} {tr(rule.title)}",
        "",
        f"Severity: {rule.severity}. {tr(rule.reason)}",
        "",
    ]
    lines += [f"Needs: {needs}.", ""] if needs else []
    return "\n".join([*lines, f"Source: {rule.source}.", ""])
