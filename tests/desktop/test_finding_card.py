"""What a finding's card says beside its text."""

from rigplanner.desktop.findings.card import needed_actual
from rigplanner.rules.core.finding import Finding


def test_needed_and_actual_are_told_only_where_both_are_known() -> None:
    both = Finding(code="PWR012", severity="error", needed=2170.0, actual=1440.0, unit="W")
    assert needed_actual(both) == "Needed 2\u202f170\u202fW, actual 1\u202f440\u202fW"
    assert needed_actual(Finding(code="SLT001", severity="error", actual="8")) == ""
    assert needed_actual(Finding(code="SLT001", severity="error", needed=2.0)) == ""
