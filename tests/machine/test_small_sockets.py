"""Places that boards list beside slots and drive ports: sockets of key E, USB4 ports, and what
adapters make of them."""

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.report.words.findings import finding_text
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess

X870E, R9950X = "asus.rog-strix.x870e-e-gaming-wifi", "amd.ryzen.9-9950x"
CORAL, KEY_E = "google.coral.m2-ae", "generic.adapter.pcie-x1-to-m-2-key-e"
EGPU = "generic.egpu.thunderbolt-usb4-enclosure"
M2_TO_OCULINK, OCULINK_SLOT = (
    "generic.adapter.m-2-to-oculink-adapter",
    "riitop.oculink.oculink-to-pcie-x16-slot",
)


def rig(*parts: str | tuple[str, str]) -> Rig:
    items = []
    for number, entry in enumerate(parts):
        part, place = (entry, "") if isinstance(entry, str) else entry
        items.append(Item(uid=f"p{number}", part=part, places=(place,) if place else ()))
    return Rig(items=tuple(items))


def machine_of(catalog: Catalog, *parts: str | tuple[str, str]) -> Machine:
    return assemble(rig(*parts), catalog)


def test_an_accelerator_of_key_e_stands_in_no_drive_port(catalog: Catalog) -> None:
    bare = rig(X870E, R9950X, CORAL)
    said = [finding for finding in assess(bare, catalog).report.findings if finding.code == "M2001"]
    assert [finding.severity for finding in said] == ["unknown"]
    assert "M.2 sockets of key E" in finding_text(said[0], bare, catalog)
    machine = machine_of(catalog, X870E, R9950X, CORAL, KEY_E)
    assert machine.problems == ()
    assert (machine.gpus[0].width, machine.gpus[0].gen) == (1, 2)


def test_a_card_in_its_own_box_hangs_on_usb4(catalog: Catalog) -> None:
    machine = machine_of(
        catalog,
        X870E,
        R9950X,
        "nvidia.geforce.rtx-4090",
        EGPU,
        ("nvidia.geforce.rtx-3090", "USB4_2/1"),
    )
    assert machine.problems == ()
    links = {gpu.place: (gpu.width, gpu.gen) for gpu in machine.gpus}
    assert links == {"PCIEX16(G5)": (16, 4), "USB4_2/1": (4, 3)}


def test_an_oculink_cable_leads_a_drive_socket_to_a_card(catalog: Catalog) -> None:
    cards = ("nvidia.geforce.rtx-3090",) * 3
    machine = machine_of(
        catalog, "msi.meg.x570-unify", "amd.ryzen.9-5950x", M2_TO_OCULINK, OCULINK_SLOT, *cards
    )
    assert [(gpu.width, gpu.gen) for gpu in machine.gpus if (gpu.place or "").startswith("M2")] == [
        (4, 4)
    ]
