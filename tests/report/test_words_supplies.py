"""Findings whose figures are those of all supplies name all of them."""

from rigplanner.catalog.load import Catalog
from rigplanner.report.words.findings import finding_text
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.core.finding import Finding

PEAKS = Finding(
    code="PWR004", severity="warning", subjects=("psu.0",), needed=4200, actual=3200, unit="W"
)
AX = "corsair.axi.ax1600i"


def test_two_supplies_bear_it_together_and_one_by_its_name(catalog: Catalog) -> None:
    name = catalog.parts[AX].name
    two, one = (Rig(items=(Item(uid="psu", part=AX, quantity=count),)) for count in (2, 1))
    assert f"that 2 × {name} tolerates" in finding_text(PEAKS, two, catalog)
    assert f"that {name} tolerates" in finding_text(PEAKS, one, catalog)
