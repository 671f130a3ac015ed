"""Cards in enclosures and docks: where they stand, what they draw, and which supply gives it."""

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess

BOARD, CPU, SUPPLY = (
    "asus.proart.x870e-creator-wifi",
    "amd.ryzen.9-9950x",
    "corsair.rmx.rm850x-2021",
)
BOX, BIG, SMALL = (
    "generic.egpu.thunderbolt-usb4-enclosure",
    "nvidia.geforce.rtx-5090",
    "nvidia.geforce.rtx-3090",
)
DOCK = ("generic.adapter.m-2-to-oculink-adapter", "riitop.oculink.oculink-to-pcie-x16-slot")


def rig_of(*parts: str | tuple[str, str]) -> Rig:
    """Return a rig of parts, some with the place they shall have."""
    split = [(part, "") if isinstance(part, str) else part for part in (BOARD, CPU, SUPPLY, *parts)]
    return Rig(
        items=tuple(
            Item(uid=f"i{n}", part=part, places=(place,) if place else ())
            for n, (part, place) in enumerate(split)
        )
    )


def cards(machine: Machine) -> dict[str, str]:
    """Return the slot of each GPU."""
    return {
        gpu.piece: next(use.slot.id for use in machine.slots if use.piece == gpu.piece)
        for gpu in machine.gpus
    }


def test_the_only_card_stands_in_the_enclosure_and_draws_from_it() -> None:
    rig = rig_of(BOX, BIG)
    machine = assemble(rig, shipped_catalog())
    assert cards(machine) == {"i4.0": "USB4_2/1"}
    assert machine.power.sustained_w == 260.0
    assert [plug.type for plug in machine.power.plugs] == ["eps8"]
    step = next(step for step in machine.power.steps if step.name == "enclosures")
    assert step.value == pytest.approx(575.0 / 0.85)
    without = assemble(rig_of(), shipped_catalog()).power
    assert machine.power.wall_w == pytest.approx((without.wall_w or 0) + 575.0 / 0.85)


def test_of_two_cards_the_weaker_stands_in_the_enclosure_in_any_order() -> None:
    machine = assemble(rig_of(BOX, SMALL, BIG), shipped_catalog())
    assert cards(machine) == {"i4.0": "USB4_2/1", "i5.0": "PCIEX16(G5)_1"}
    machine = assemble(rig_of(BOX, BIG, SMALL), shipped_catalog())
    assert cards(machine) == {"i4.0": "PCIEX16(G5)_1", "i5.0": "USB4_2/1"}


def test_a_card_that_names_the_place_of_an_enclosure_stands_there() -> None:
    machine = assemble(rig_of(BOX, (BIG, "USB4_1/1"), SMALL), shipped_catalog())
    assert cards(machine) == {"i4.0": "USB4_1/1", "i5.0": "PCIEX16(G5)_1"}
    assert machine.power.sustained_w == 260.0 + 350.0
    assert machine.problems == ()


def test_a_card_that_names_a_slot_leaves_the_enclosure_empty() -> None:
    machine = assemble(rig_of(BOX, (BIG, "PCIEX16(G5)_1")), shipped_catalog())
    assert cards(machine) == {"i4.0": "PCIEX16(G5)_1"}
    assert machine.power.sustained_w == 260.0 + 575.0


def test_a_card_in_an_enclosure_is_not_measured_against_the_case() -> None:
    case, astral = "fractal-design.terra.terra", "asus.rog-astral.rtx-5090-oc"
    inside = {
        finding.code for finding in assess(rig_of(case, astral), shipped_catalog()).report.findings
    }
    beside = {
        finding.code
        for finding in assess(rig_of(case, BOX, astral), shipped_catalog()).report.findings
    }
    assert "SPC001" in inside - beside


def test_a_bare_adapter_is_for_the_last_card_and_the_rig_feeds_it() -> None:
    machine = assemble(rig_of(*DOCK, SMALL), shipped_catalog())
    assert cards(machine)["i5.0"].startswith("M.2_")
    assert machine.power.sustained_w == 260.0 + 350.0


def test_beside_a_network_card_a_dock_may_be_for_that() -> None:
    machine = assemble(
        rig_of(*DOCK, SMALL, "nvidia.connectx-4-lx.connectx-4-lx-mcx4121a-acat"), shipped_catalog()
    )
    assert cards(machine)["i5.0"] == "PCIEX16(G5)_1"


OPEN_DOCK = ("generic.adapter.m-2-to-oculink-adapter", "minisforum.deg.deg1")
CLOSED_DOCK = ("generic.adapter.m-2-to-oculink-adapter", "aoostar.ag.ag02-oculink")


def codes(*parts: str | tuple[str, str]) -> dict[str, str]:
    """Return the findings of a rig of these parts, by code."""
    return {
        finding.code: finding.severity
        for finding in assess(rig_of(*parts), shipped_catalog()).report.findings
    }


def test_a_dock_with_a_supply_feeds_its_card() -> None:
    machine = assemble(rig_of(*CLOSED_DOCK, SMALL), shipped_catalog())
    assert cards(machine)["i5.0"].startswith("M.2_")
    assert machine.power.sustained_w == 260.0
    assert [plug.type for plug in machine.power.plugs] == ["eps8"]


def test_a_dock_without_a_supply_takes_the_weaker_of_two() -> None:
    machine = assemble(rig_of(*OPEN_DOCK, SMALL, "corsair.rmx.rm1000x-2021"), shipped_catalog())
    assert machine.power.sustained_w == 260.0
    assert machine.power.supply_w == 1000.0
    assert codes(*OPEN_DOCK, SMALL)["PWR018"] == "warning"
    assert not {"PWR013", "PWR018", "PWR019"} & set(
        codes(*OPEN_DOCK, SMALL, "corsair.rmx.rm1000x-2021")
    )


def test_the_share_that_a_dock_has_for_its_card_is_compared_with_the_card() -> None:
    astral = "asus.rog-astral.rtx-5090-oc"
    assert "PWR019" not in codes(*CLOSED_DOCK, astral)
    assert assemble(rig_of(*CLOSED_DOCK, astral), shipped_catalog()).power.sustained_w == 260.0


def test_a_card_on_an_oculink_cable_is_not_measured_against_the_case() -> None:
    case, astral = "fractal-design.terra.terra", "asus.rog-astral.rtx-5090-oc"
    assert "SPC001" in codes(case, astral)
    assert "SPC001" not in codes(case, *OPEN_DOCK, astral)
    assert "SPC001" not in codes(case, *DOCK, astral)


def test_a_card_that_names_the_place_of_a_dock_stands_there() -> None:
    dock = (("generic.adapter.m-2-to-oculink-adapter", "M.2_3"), ("minisforum.deg.deg1", "M.2_3/1"))
    machine = assemble(rig_of(*dock, (SMALL, "M.2_3/1/1"), BIG), shipped_catalog())
    assert cards(machine) == {"i5.0": "M.2_3/1/1", "i6.0": "PCIEX16(G5)_1"}
    assert machine.power.sustained_w == 260.0 + 575.0
