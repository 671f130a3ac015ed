"""Another database beside ours, corrections that people send, and the schema that is a file."""

import json

import msgspec
import pytest
from msgspec.structs import replace

from rigplanner.catalog.correction import CorrectionFault, correction, encoded
from rigplanner.catalog.lint.against import FIGURES, compare
from rigplanner.catalog.load import Catalog, Family
from rigplanner.catalog.schema.parts import Chassis, Enclosure, Plug, PowerSupply, Supply, kind_of
from rigplanner.data import data_path


def test_a_twin_of_every_shipped_part_agrees_in_every_figure(catalog: Catalog) -> None:
    twins = [replace(part, id=f"opendb.x.{n}") for n, part in enumerate(catalog.parts.values())]
    found = list(compare(catalog, twins))
    assert {each.state for each in found} == {"agree"}
    assert {kind_of(catalog.parts[each.part]) for each in found} == set(FIGURES)
    assert len(found) > 3_000


def _case(room: float | None, name: str = "ACME Tower 9") -> Chassis:
    return Chassis(
        id="acme.tower.nine", name=name, vendor="ACME", enclosure=Enclosure(gpu_length_mm=room)
    )


@pytest.mark.parametrize(
    ("rooms", "state"),
    [
        ((400,), "agree"), ((402.9,), "agree"), ((404,), "differ"), ((400, 330), "mixed"),
        ((330, 340), "differ"), ((None,), None),
    ],
)  # fmt: skip
def test_a_difference_is_told_by_its_rows(rooms: tuple[float | None, ...], state: object) -> None:
    others = [replace(_case(room, "ACME Tower 9 Black ATX"), id="opendb.c.x") for room in rooms]
    found = list(compare(Catalog({"acme.tower.nine": _case(400)}, {}), others))
    assert [each.state for each in found] == ([state] if state else [])


def test_another_product_and_counts_of_nothing_are_not_compared() -> None:
    own = Catalog({"acme.tower.nine": _case(400)}, {})
    assert list(compare(own, [_case(300, "ACME Tower 9 XL"), _case(300, "Other Tower 8")])) == []
    supply = PowerSupply(
        id="acme.a.one", name="ACME Volt 900", vendor="ACME",
        supply=Supply(plugs=(Plug("pcie8", 4),)),
    )  # fmt: skip
    bare = replace(supply, supply=replace(supply.supply, plugs=(Plug("pcie8", 0),)))
    assert list(compare(Catalog({supply.id: supply}, {}), [bare])) == []


def test_a_correction_says_what_stands_and_what_should(catalog: Catalog) -> None:
    part = catalog.parts["silverstone.alta.alta-f1"]
    made = correction(
        catalog, part, "enclosure.gpu_length_mm", "330", "https://example.org/alta", "2026-11-23"
    )
    told = json.loads(encoded(made))
    assert (told["found"], told["expected"]) == (part.enclosure.gpu_length_mm, 330)
    assert told["catalog_version"] == catalog.version


@pytest.mark.parametrize(
    ("field", "value", "evidence", "reason"),
    [
        ("nothing", "3", "seen", "no field"),
        ("enclosure.nothing", "3", "seen", "no field"),
        ("enclosure.gpu_length_mm", "wide", "seen", "Expected"),
        ("enclosure.gpu_length_mm", "1e400", "seen", "Expected"),
        ("name", "SilverStone ALTA F1", "seen", "what the catalog says"),
        ("enclosure.gpu_length_mm", "330", " ", "where it can be seen"),
        ("enclosure.gpu_length_mm", "330", "<script>", "where it can be seen"),
    ],
)  # fmt: skip
def test_what_is_no_correction_is_refused(
    catalog: Catalog, field: str, value: str, evidence: str, reason: str
) -> None:
    part = catalog.parts["silverstone.alta.alta-f1"]
    with pytest.raises(CorrectionFault, match=reason):
        correction(catalog, part, field, value, evidence, "2026-11-23")


def _without_order(schema: object) -> object:
    """The schema with its alternatives sorted: their order says nothing, and versions of msgspec
    before 0.22 write another."""
    if isinstance(schema, dict):
        return {
            name: sorted(map(json.dumps, value)) if name == "anyOf" else _without_order(value)
            for name, value in schema.items()
        }
    return [_without_order(each) for each in schema] if isinstance(schema, list) else schema


def test_the_schema_file_is_that_of_the_program() -> None:
    shipped = json.loads((data_path("catalog") / "family.schema.json").read_text("utf-8"))
    made = json.loads(msgspec.json.encode(msgspec.json.schema(Family)))
    assert _without_order(shipped) == _without_order(made)
