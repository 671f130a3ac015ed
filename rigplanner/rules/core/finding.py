"""What a rule yields. Words are made at the edge, from the code and the values."""

from typing import Any, Literal

from msgspec import Struct

from rigplanner.rig.edits import Edit
from rigplanner.rules.core.rests import Figure

Severity = Literal["error", "warning", "info", "unknown"]
"""error: does not work or is unsafe; warning: works worse or on a condition; info: worth knowing;
unknown: a fact is missing."""
SEVERITIES: tuple[Severity, ...] = ("error", "unknown", "warning", "info")
"""Worst first."""


class Fix(Struct, frozen=True, kw_only=True):
    """A way out: edits to make, `code` names it for the words ("cap-power", "move-drive"), `values`
    fill them."""

    code: str
    edits: tuple[Edit, ...] = ()
    values: dict[str, Any] = {}


class Finding(Struct, frozen=True, kw_only=True):
    """`needed` and `actual` in `unit`; `subjects` are pieces ("gpu.0"), places ("PCIE2") or
    workloads ("workload.0"); `missing` names the fields ("asrock.deskmini.250:cooler_height_mm")
    that an unknown waits for; `values` fill the words; `rated` is the rule's own severity where the
    rig gives it another; an unknown is this `at_worst`, where the class of a part bounds what is
    missing; it `rests` on these figures that nobody verified."""

    code: str
    severity: Severity
    subjects: tuple[str, ...] = ()
    needed: float | str | None = None
    actual: float | str | None = None
    unit: str = ""
    missing: tuple[str, ...] = ()
    values: dict[str, Any] = {}
    fixes: tuple[Fix, ...] = ()
    waived_by: str | None = None
    rated: Severity | None = None
    at_worst: Severity | None = None
    rests: tuple[Figure, ...] = ()

    @property
    def weight(self) -> Severity:
        """What the finding counts in the verdict."""
        mild = self.severity == "unknown" and self.at_worst in ("warning", "info")
        return "warning" if mild else self.severity

    @property
    def severity_of_text(self) -> Severity:
        """The severity that picks the words: the rule's own, for what was found is the same under
        any other."""
        return self.rated or self.severity


class CheckReport(Struct, frozen=True, kw_only=True):
    """All findings, worst first, and what stands beside them: rules that ran, were ignored, had
    nothing to judge; `deciding` are the figures of the rig's parts by which rules that ran decide,
    silent ones too."""

    findings: tuple[Finding, ...]
    waived: tuple[Finding, ...]
    ran: tuple[str, ...]
    ignored: tuple[str, ...]
    idle: tuple[str, ...]
    deciding: tuple[Figure, ...] = ()

    @property
    def unverified(self) -> tuple[Figure, ...]:
        """The deciding figures that nobody verified."""
        return tuple(figure for figure in self.deciding if figure.state != "verified")

    def count(self, severity: Severity) -> int:
        """Return how many findings have this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def verdict(self) -> Severity | Literal["ok"]:
        """Return the worst of error, unknown, warning; "ok" when none of them is there, "unknown"
        when no rule judged anything. A question that no answer makes worse than a warning is one:
        the machine runs either way."""
        if not self.ran:
            return "unknown"
        found = {finding.weight for finding in self.findings}
        for severity in ("error", "unknown", "warning"):
            if severity in found:
                return severity
        return "ok"


class Named(Struct, frozen=True):
    """What a rule judges, where a finding about it concerns the piece or job of that name alone."""

    name: str

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name,)
