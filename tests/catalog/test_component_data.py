"""The shipped supplies, cases, memory, drives, coolers, risers, network cards, accessories, cloud
machines and sample rigs."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.cloud import CloudInstance, shipped_cloud
from rigplanner.catalog.lint.gpu import plug_watts
from rigplanner.catalog.lint.parts import PCIE_LANE_GBS
from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.schema.parts import (
    Chassis,
    Cooler,
    MemoryKit,
    NetworkCard,
    Part,
    PowerSupply,
    Riser,
    Storage,
)
from rigplanner.data import data_path
from rigplanner.rig.document import Rig
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess

KINDS = ("psu", "chassis", "memory", "storage", "cooler", "riser", "nic", "accessory")
FEWEST = {
    "psu": 60,
    "chassis": 60,
    "memory": 60,
    "storage": 60,
    "cooler": 30,
    "riser": 10,
    "nic": 15,
    "accessory": 8,
}
SATA_3_GBS = 0.6
CROWD = "buildcores-opendb"
"""A source that checks nobody's entries: a figure from there alone is never verified."""

SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped_catalog()


def of(catalog: Catalog, kind: type[Part]) -> list[Part]:
    return [part for part in catalog.parts.values() if isinstance(part, kind)]


@pytest.mark.parametrize("kind", KINDS)
def test_whole_families_are_there(catalog: Catalog, kind: str) -> None:
    assert len(catalog.of_kind(kind)) >= FEWEST[kind]


def test_names_are_unique_within_a_kind(catalog: Catalog) -> None:
    for kind in KINDS:
        names = [part.name for part in catalog.of_kind(kind)]
        assert len(names) == len(set(names)), sorted(
            {name for name in names if names.count(name) > 1}
        )


def test_supplies_can_feed_what_they_are_rated_for(catalog: Catalog) -> None:
    for part in of(catalog, PowerSupply):
        assert isinstance(part, PowerSupply)
        best = max(rating.watts for rating in part.supply.ratings)
        assert 60 <= best <= 3300, part.id
        assert all(90 <= rating.min_volts <= 240 for rating in part.supply.ratings), part.id
        plugs = {plug.type: plug.count for plug in part.supply.plugs or ()}
        assert all(1 <= count <= 24 for count in plugs.values()), part.id
        if part.form_factor in ("ATX", "SFX", "SFX-L"):
            assert part.length_mm is None or 90 <= part.length_mm <= 250, part.id
            carried = plug_watts(part.supply.plugs or ())
            assert part.supply.plugs is None or carried >= 0.9 * best, (
                f"{part.id}: plugs for {carried:.0f} W of {best:.0f} W"
            )
            assert part.supply.plugs is None or plugs.get("eps8", 0) >= 1, part.id


def test_sixteen_pin_connectors_came_with_atx_3(catalog: Catalog) -> None:
    for part in of(catalog, PowerSupply):
        assert isinstance(part, PowerSupply)
        types = {plug.type for plug in part.supply.plugs or ()}
        if "12v-2x6" in types:
            assert part.supply.standard == "ATX 3.1", part.id
        if types & {"12vhpwr", "12v-2x6"}:
            assert part.released is None or part.released >= "2021", part.id


def test_cases_have_human_sizes(catalog: Catalog) -> None:
    for part in of(catalog, Chassis):
        assert isinstance(part, Chassis)
        space = part.enclosure
        assert space.slot_columns is None or 2 <= space.slot_columns <= 24, part.id
        assert space.gpu_length_mm is None or 200 <= space.gpu_length_mm <= 600, part.id
        assert space.cooler_height_mm is None or 35 <= space.cooler_height_mm <= 260, part.id
        assert space.psu_form_factors, part.id
        assert all(
            size in (92, 120, 140, 180, 240, 280, 360, 420, 480, 560)
            for size in space.radiators_mm or ()
        ), part.id
        if space.airflow != "open" and space.rack_units is None:
            assert space.gpu_length_mm is not None, part.id


def test_memory_kits_are_what_sockets_take(catalog: Catalog) -> None:
    speeds = {"DDR3": (1066, 2400), "DDR4": (2133, 4800), "DDR5": (4000, 8800)}
    for part in of(catalog, MemoryKit):
        assert isinstance(part, MemoryKit)
        low, high = speeds[part.type]
        assert part.speed_mts is not None and low <= part.speed_mts <= high, part.id
        assert part.modules in (1, 2, 4, 8) and part.module_gib in (
            4,
            8,
            12,
            16,
            24,
            32,
            48,
            64,
            96,
            128,
            256,
        ), part.id
        assert part.ecc == (part.module in ("ecc-udimm", "rdimm", "lrdimm", "mrdimm")), part.id


def test_drives_stay_below_their_interface(catalog: Catalog) -> None:
    for part in of(catalog, Storage):
        assert isinstance(part, Storage)
        lanes = PCIE_LANE_GBS[part.gen] * part.width if part.gen and part.width else None
        limit = SATA_3_GBS if part.interface == "sata" else lanes
        assert limit is not None, part.id
        for rate in (part.read_gbs, part.write_gbs):
            assert rate is None or 0.05 <= rate <= limit, part.id
        for kiops in (part.random_read_kiops, part.random_write_kiops):
            assert kiops is None or kiops * 4096e-6 <= limit, (
                f"{part.id}: {kiops} kIOPS are more than {limit} GB/s"
            )
        assert (part.m2_length_mm is not None) == (part.form_factor == "m2"), part.id
        assert part.rotation_rpm is None or part.interface != "nvme", part.id


def test_coolers_have_a_socket_and_one_size(catalog: Catalog) -> None:
    for part in of(catalog, Cooler):
        assert isinstance(part, Cooler)
        assert part.sockets, part.id
        if part.type == "liquid":
            assert part.radiator_mm in (120, 140, 240, 280, 360, 420) and part.height_mm is None, (
                part.id
            )
        else:
            assert (
                part.height_mm is not None
                and 25 <= part.height_mm <= 175
                and part.radiator_mm is None
            ), part.id


def test_a_cooler_named_for_a_socket_fits_that_makers_alone(catalog: Catalog) -> None:
    makers = {
        "LGA": ("LGA",),
        "AM": ("AM",),
        "TR": ("TR", "sTR", "sWRX", "SP"),
        "SP": ("SP", "TR", "sTR"),
    }
    for part in of(catalog, Cooler):
        assert isinstance(part, Cooler)
        named = re.findall(r"\b(LGA|AM|TR|SP)\d+\b", part.name)
        heads = tuple(head for each in named for head in makers[each])
        strange = [s for s in part.sockets if heads and not s.startswith((*heads, "sWRX"))]
        assert not strange, (part.name, strange)


def test_cards_fit_their_edge(catalog: Catalog) -> None:
    for part in of(catalog, NetworkCard):
        assert isinstance(part, NetworkCard)
        assert part.edge_gen and part.edge_width and part.ports and part.port_gbps, part.id
        assert part.port_gbps / 8 <= PCIE_LANE_GBS[part.edge_gen] * part.edge_width, part.id
    for riser in of(catalog, Riser):
        assert isinstance(riser, Riser)
        assert (
            riser.gen in PCIE_LANE_GBS and riser.width in (1, 2, 4, 8, 16) and riser.outputs >= 1
        ), riser.id


def test_what_one_crowd_source_says_stays_in_doubt_and_what_others_settled_does_not(
    catalog: Catalog,
) -> None:
    for kind in KINDS:
        for part in catalog.of_kind(kind):
            read = {
                field
                for key, fields in part.sources.items()
                if key != CROWD and not catalog.sources[key].recalled
                for field in fields
            }
            unverified = {
                field for field, doubt in part.doubts.items() if doubt.state == "unverified"
            }
            assert not read & unverified, part.id
            alone = set(part.sources.get(CROWD, ())) - read - {"name"}
            assert alone <= set(part.doubts), f"{part.id}: {alone - set(part.doubts)}"


def cloud_machines() -> list[CloudInstance]:
    return list(shipped_cloud().instances.values())


def test_cloud_machines_name_catalog_gpus(catalog: Catalog) -> None:
    machines = cloud_machines()
    assert len(machines) >= 50
    assert {machine.provider for machine in machines} >= {
        "aws",
        "azure",
        "google",
        "lambda",
        "paperspace",
    }
    for machine in machines:
        assert machine.id == f"{machine.provider}.{machine.name}".lower().replace("_", "-").replace(
            " ", "-"
        ), machine.id
        assert machine.gpu is None or catalog.get(machine.gpu) is not None, (
            f"{machine.id}: {machine.gpu}"
        )
        assert 1 <= machine.count <= 256 and (machine.count > 1 or machine.link == "none"), (
            machine.id
        )
        assert machine.sources and set(machine.sources) <= set(shipped_cloud().sources), machine.id


def test_cloud_prices_have_a_day_and_spot_is_cheaper() -> None:
    for machine in cloud_machines():
        assert all(price.source and len(price.day) == 10 for price in machine.monthly), machine.id
        for price in (*machine.on_demand, *machine.spot):
            assert (
                len(price.day) == 10
                and price.source
                and price.currency in ("USD", "EUR")
                and 0.01 < price.amount < 1000
            ), machine.id
        for spot in machine.spot:
            same = [
                price.amount
                for price in machine.on_demand
                if (price.region, price.day) == (spot.region, spot.day)
            ]
            assert all(spot.amount <= amount for amount in same), machine.id


def test_nine_samples_are_shipped() -> None:
    assert len(SAMPLES) == 9


@pytest.fixture(params=SAMPLES, ids=lambda path: path.stem)
def sample(request: pytest.FixtureRequest) -> Rig:
    path: Path = request.param
    return read_rig(path)


def test_every_part_of_a_sample_exists(sample: Rig, catalog: Catalog) -> None:
    assert [item.part for item in sample.items if catalog.get(item.part) is None] == []


def test_a_sample_has_no_rarely_met_part(sample: Rig, catalog: Catalog) -> None:
    assert [item.part for item in sample.items if catalog.parts[item.part].status == "legacy"] == []


def test_a_sample_is_a_whole_rig(sample: Rig, catalog: Catalog) -> None:
    assert (
        sample.workloads
        and sample.site.volts
        and sample.site.breaker_a
        and sample.quote.seller.name
        and sample.quote.date
    )
    kinds = {
        catalog.parts[item.part].__struct_config__.tag
        for item in sample.items
        if item.part in catalog.parts
    }
    assert kinds >= {"system"} or kinds >= {
        "motherboard",
        "cpu",
        "gpu",
        "memory",
        "storage",
        "psu",
        "chassis",
        "cooler",
    }


SHOWN = {
    "Four RTX 4090 on one household circuit": {"PWR012"},
}
"""Errors of the machine that a sample is there to show, by its name."""

SHOWN_WITH_JOBS = {**SHOWN, "DeskMini with GTX 1070 (2017)": {"SW001"}}
"""The same with the jobs of the sample: a processor without AVX stops only what needs AVX."""


def errors_of(rig: Rig, catalog: Catalog) -> set[str]:
    found = assess(rig, catalog)
    assert found.machine.problems == ()
    return {finding.code for finding in found.report.findings if finding.severity == "error"}


def test_a_sample_has_only_the_errors_it_shows(sample: Rig, catalog: Catalog) -> None:
    bare = errors_of(replace(sample, workloads=()), catalog)
    assert bare == SHOWN.get(sample.name, set())
    assert errors_of(sample, catalog) == SHOWN_WITH_JOBS.get(sample.name, set())


def test_the_drive_of_the_5090_sample_takes_half_of_its_lanes(catalog: Catalog) -> None:
    rig = read_rig(data_path("resources") / "samples" / "rtx-5090.rig")
    found = assess(replace(rig, workloads=()), catalog)
    assert found.machine.gpus[0].width == 8
    assert "PCI001" in {finding.code for finding in found.report.findings}


def test_prices_of_a_sample_have_a_day_and_a_source(sample: Rig) -> None:
    for item in sample.items:
        if item.price is not None:
            assert (
                item.price.day and item.price.source and item.price.currency == sample.currency
            ), item.uid
