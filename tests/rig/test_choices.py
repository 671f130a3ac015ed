"""Settings in words: what each changes, and which are refused."""

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.rig.choices import with_choice
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.edits import EditFault

RIG = Rig(
    items=(
        Item(uid="gpu", part="nvidia.geforce.rtx-3090", quantity=2),
        Item(uid="ssd", part="samsung.ssd-990-pro.2-tb", quantity=2),
    )
)


def test_each_word_changes_its_setting(catalog: Catalog) -> None:
    rig = RIG
    words = (
        "country=us",
        "volts=120",
        "raid0=yes",
        "cap=280",
        "numa=4",
        "p2p=on",
        "driver=580",
        "bios:PCIE2=x8x8",
    )
    for word in words:
        rig = with_choice(rig, catalog, word)
    assert (rig.site.country, rig.site.volts) == ("US", 120.0)
    assert rig.settings.raid0 == ("ssd",)
    assert [item.power_cap_w for item in rig.items] == [280.0, None]
    assert (rig.settings.numa_per_socket, rig.settings.peer_to_peer_driver) == (4, True)
    assert rig.settings.software == {"driver": "580"}
    assert rig.settings.bios == {"PCIE2": "x8x8"}
    assert (
        with_choice(with_choice(rig, catalog, "raid0=no"), catalog, "cap=none").items == RIG.items
    )


@pytest.mark.parametrize(("word", "code"), [("UK", "GB"), ("el", "GR"), ("za", "ZA")])
def test_a_country_is_known_by_the_letters_people_write(
    catalog: Catalog, word: str, code: str
) -> None:
    assert with_choice(RIG, catalog, f"country={word}").site.country == code


def test_a_ups_is_counted(catalog: Catalog) -> None:
    ups = next(
        part.id for part in catalog.of_kind("accessory") if getattr(part, "type", "") == "ups"
    )
    rig = with_choice(Rig(items=(Item(uid="ups", part=ups),)), catalog, "ups=2")
    assert rig.items[0].quantity == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raid0", "expected NAME=VALUE"),
        ("colour=red", "'colour' is no setting; known are"),
        ("cap=lots", "cap: expected a number"),
        ("volts=-5", "expected a number above 0"),
        ("p2p=perhaps", "expected yes or no"),
        ("numa=1.5", "whole number of nodes"),
        ("raid0=nothing-here", "has no item nothing-here"),
        ("ups=1", "the rig has none"),
        ("country=XX", "two letters .ISO 3166., for example DE, found 'XX'; the nearest are MX"),
        ("country=Atlantis", "found 'Atlantis'.$"),
    ],
)
def test_what_is_no_setting_is_refused(catalog: Catalog, text: str, words: str) -> None:
    with pytest.raises(EditFault, match=words):
        with_choice(RIG, catalog, text)


def test_one_drive_is_no_stripe(catalog: Catalog) -> None:
    with pytest.raises(EditFault, match="needs two drives, the rig has 1"):
        with_choice(
            Rig(items=(Item(uid="ssd", part="samsung.ssd-990-pro.2-tb"),)), catalog, "raid0=yes"
        )


def test_circuits_are_counted_whole(catalog: Catalog) -> None:
    assert with_choice(RIG, catalog, "circuits=2").site.circuits == 2
    for text in ("circuits=0", "circuits=1.5", "circuits=many"):
        with pytest.raises(EditFault, match="whole number"):
            with_choice(RIG, catalog, text)
