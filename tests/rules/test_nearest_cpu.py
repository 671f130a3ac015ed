"""A CPU that is proposed for a missing instruction set is the nearest one."""

from rigplanner.catalog.load import Catalog
from rigplanner.data import data_path
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
from rigplanner.rules.software.software import distance


def test_the_deskmini_is_offered_the_i3_of_its_generation(catalog: Catalog) -> None:
    rig = read_rig(data_path("resources") / "samples" / "deskmini-gtx-1070.rig")
    (finding,) = [f for f in assess(rig, catalog).report.findings if f.code == "SW001"]
    assert [fix.values["part"] for fix in finding.fixes] == ["intel.core.i3-7100"]


def test_generation_counts_before_cores_and_cores_before_clock(catalog: Catalog) -> None:
    own, same, older = (
        catalog.get(f"intel.{name}") for name in ("pentium.g4600", "core.i3-7100", "core.i3-6100")
    )
    assert distance(own, own) == 0  # type: ignore[arg-type]
    assert distance(own, same) < distance(own, older)  # type: ignore[arg-type]
