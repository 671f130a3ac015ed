"""What is offered for the mains exists in the country."""

import pytest
from rule_bench import bench_catalog, bench_rig
from test_rule_cases import judge

from rigplanner.catalog.schema.parts import Rating
from rigplanner.rig.countries import CIRCUITS, COUNTRIES
from rigplanner.rig.document import Site
from rigplanner.rules.core.finding import Fix

HUNGRY = bench_catalog(
    {
        "gpu.card": {"tdp_w": 3000},
        "psu.big": {"supply.ratings": (Rating(200, 4000), Rating(100, 3900))},
    }
)


def offered(site: Site) -> list[Fix]:
    """The fixes of a rig that draws some 3.5 kW from a circuit."""
    report = judge(bench_rig(site=site), HUNGRY)
    return [
        fix
        for finding in report.findings
        for fix in finding.fixes
        if fix.code in ("other-circuit", "higher-voltage")
    ]


@pytest.mark.parametrize("country", sorted(CIRCUITS))
def test_circuits_and_voltages_are_those_of_the_country(country: str) -> None:
    volts, amperes = CIRCUITS[country][0]
    fixes = offered(Site(country=country, volts=volts, breaker_a=amperes))
    assert fixes
    for fix in fixes:
        if fix.code == "other-circuit":
            assert (fix.values["volts"], fix.values["amperes"]) in CIRCUITS[country]
        else:
            assert fix.values["volts"] in {volts for volts, _ in CIRCUITS[country]}


@pytest.mark.parametrize(("volts", "amperes"), [(230.0, 16.0), (208.0, 20.0), (120.0, 15.0)])
def test_without_a_country_the_voltage_says_what_is_wired(volts: float, amperes: float) -> None:
    kin = next(
        circuits
        for circuits in (CIRCUITS["US"], CIRCUITS["DE"])
        if volts in {v for v, _ in circuits}
    )
    fixes = [
        fix for fix in offered(Site(volts=volts, breaker_a=amperes)) if fix.code == "other-circuit"
    ]
    assert fixes and all((fix.values["volts"], fix.values["amperes"]) in kin for fix in fixes)


def test_a_voltage_of_no_known_country_is_offered_nothing() -> None:
    assert offered(Site(volts=150.0, breaker_a=15.0)) == []


def test_circuits_grow_and_stand_for_countries() -> None:
    assert set(CIRCUITS) <= COUNTRIES
    assert all(len(code) == 2 for code in COUNTRIES)
    for circuits in CIRCUITS.values():
        watts = [volts * amperes for volts, amperes in circuits]
        assert watts == sorted(set(watts))
