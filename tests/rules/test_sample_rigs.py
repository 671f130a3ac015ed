"""The shipped samples and all complete systems have no error but those that are meant."""

from pathlib import Path

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.data import data_path
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
from rigplanner.rules.core.finding import CheckReport

SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))
MEANT = {
    "deskmini-gtx-1070": {"SW001"},
    "quad-rtx-4090": {"PWR012"},
}
"""Errors that a sample shows on purpose: a CPU without AVX, four 450 W cards on one household
circuit."""

SHOWN = {
    "rtx-5090": "PCI001",
    "deskmini-gtx-1070": "SW001",
    "quad-rtx-4090": "PWR012",
}
"""What a sample is there to show."""


def _errors(report: CheckReport) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity == "error"}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_has_only_the_errors_that_are_meant(path: Path) -> None:
    assert _errors(assess(read_rig(path), shipped_catalog()).report) == MEANT.get(path.stem, set())


@pytest.mark.parametrize(("name", "code"), sorted(SHOWN.items()))
def test_a_sample_shows_what_it_is_there_for(name: str, code: str) -> None:
    path = data_path("resources") / "samples" / f"{name}.rig"
    assert code in {
        finding.code for finding in assess(read_rig(path), shipped_catalog()).report.findings
    }


def test_complete_systems_have_no_false_errors() -> None:
    catalog = shipped_catalog()
    site = Site(country="DE", volts=400.0, breaker_a=500.0)
    wrong = {}
    for system in catalog.of_kind("system"):
        errors = _errors(
            assess(Rig(items=(Item(uid="system", part=system.id),), site=site), catalog).report
        )
        if errors:
            wrong[system.id] = errors
    assert wrong == {}
