"""A plain PC around any desktop board of the catalog works: what its makers did not publish is no
error, and seldom a question."""

from collections import Counter

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import CPU, Cooler, MemoryKit, Motherboard
from rigplanner.report.words.findings import finding_text
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rules.assess import assess
from rigplanner.rules.core.finding import CheckReport
from rigplanner.rules.hardware.generations import listed

AROUND = (
    "nvidia.geforce.rtx-3060",
    "corsair.rmx.rm850x-2021",
    "fractal-design.define-7-xl.define-7-xl",
    "seagate.barracuda.st4000dm004-4-tb",
)
NVME, SATA = "samsung.ssd-970-evo-plus.1-tb", "samsung.ssd-870-evo.1-tb"
LABELS = ("ATX", "Micro-ATX", "E-ATX")
EVERY = 4
"""Each fourth board is tried."""
ASKED_AT_MOST = 0.05
TOWERS_ASKED_AT_MOST = 0.1
BY_GRAPHICS = "G"
"""Processors with much graphics feed a slot with fewer lanes, which is told."""


def desktop_boards() -> list[Motherboard]:
    boards = list(shipped_catalog().of_kind("motherboard"))
    return [
        board
        for board in boards
        if isinstance(board, Motherboard)
        and board.layout.chipset
        and board.form_factor in LABELS
        and board.layout.memory_type
        and "udimm" in board.layout.memory_modules
    ][::EVERY]


def cpu_for(board: Motherboard) -> CPU | None:
    """Return the newest processor that the board's maker lists, as old as the board at most."""
    found = [
        cpu
        for cpu in shipped_catalog().of_kind("cpu")
        if isinstance(cpu, CPU)
        and cpu.socket in board.layout.sockets
        and board.layout.chipset in cpu.chipsets
        and (listed(board, cpu) or not board.layout.cpu_generations)
        and (cpu.released or "9")[:4] <= (board.released or "0")[:4]
        and not cpu.name.endswith(BY_GRAPHICS)
        and "avx" in (cpu.isa or ())
    ]
    return max(found, key=lambda cpu: (cpu.released or "", cpu.id), default=None)


def kit_for(board: Motherboard) -> str:
    layout = board.layout
    speed = layout.memory_speed_mts or 2133
    kits = [kit for kit in shipped_catalog().of_kind("memory") if isinstance(kit, MemoryKit)]
    fits = [
        kit
        for kit in kits
        if (kit.type, kit.module, kit.modules) == (layout.memory_type, "udimm", 2)
        and kit.module_gib == (8 if kit.type == "DDR3" else 16)
    ]
    return min(fits, key=lambda kit: ((kit.speed_mts or 0) > speed, kit.id)).id


def drive_for(board: Motherboard) -> str:
    return NVME if any(port.kind == "m2" for port in board.layout.drives) else SATA


def cooler_for(cpu: CPU) -> str:
    coolers = [part for part in shipped_catalog().of_kind("cooler") if isinstance(part, Cooler)]
    fits = [cooler for cooler in coolers if cpu.socket in cooler.sockets]
    return max(fits, key=lambda one: (one.radiator_mm or 0, one.height_mm or 0, one.id)).id


def judged(*parts: str) -> tuple[Rig, CheckReport]:
    items = tuple(Item(uid=f"p{n}", part=part) for n, part in enumerate(parts))
    site = Site(volts=230.0, breaker_a=16.0)
    rig = Rig(name="plain", items=items, site=site)
    return rig, assess(rig, shipped_catalog()).report


@pytest.fixture(scope="module")
def reports() -> dict[str, tuple[Rig, CheckReport]]:
    found = {}
    for board in desktop_boards():
        cpu = cpu_for(board)
        if cpu is not None:
            pieces = (kit_for(board), drive_for(board), cooler_for(cpu))
            parts = (cpu.id, board.id, *pieces, *AROUND)
            found[board.id] = judged(*parts)
    return found


def test_no_board_of_the_catalog_makes_a_plain_pc_an_error(
    reports: dict[str, tuple[Rig, CheckReport]],
) -> None:
    assert len(reports) > 50
    told = [
        (board, finding.code, finding_text(finding, rig, shipped_catalog()))
        for board, (rig, report) in reports.items()
        for finding in report.findings
        if finding.severity == "error"
    ]
    assert told == []


def test_hardly_any_board_needs_a_question(reports: dict[str, tuple[Rig, CheckReport]]) -> None:
    verdicts = Counter(report.verdict() for _, report in reports.values())
    asked = [board for board, (_, report) in reports.items() if report.verdict() == "unknown"]
    assert verdicts["unknown"] <= ASKED_AT_MOST * len(reports), asked


@pytest.mark.parametrize("kind", ["psu", "chassis"])
def test_supplies_and_towers_are_asked_about_no_more(kind: str) -> None:
    """In a PC of the usual parts; racks and frames hold what their makers say."""
    plain = {
        "psu": "corsair.rmx.rm850x-2021",
        "chassis": "fractal-design.define-7-xl.define-7-xl",
    }
    others = [part for other, part in plain.items() if other != kind]
    asked: list[str] = []
    tried = 0
    for part in shipped_catalog().of_kind(kind)[:: EVERY * 2]:
        space = getattr(part, "enclosure", None)
        if getattr(part, "form_factor", "ATX") != "ATX":
            continue
        if space and (space.rack_units or "ATX" not in space.board_form_factors):
            continue
        tried += 1
        _, report = judged(
            part.id,
            *others,
            "amd.ryzen.9-5900x",
            "asus.prime.x570-pro",
            "corsair.vengeance-lpx.cmk32gx4m2d3600c18",
            "noctua.nh-u12s.nh-u12s",
            "nvidia.geforce.rtx-3060",
            "samsung.ssd-970-evo-plus.1-tb",
            "seagate.barracuda.st4000dm004-4-tb",
        )
        asked += [part.id] if report.count("unknown") else []
    assert tried > 10
    assert len(asked) <= TOWERS_ASKED_AT_MOST * tried, asked


def test_server_supplies_feed_cards_in_an_open_frame() -> None:
    """Through the 6-pin sockets of their breakout boards, lying where there is room."""
    rig, report = judged(
        "generic.open-frame.8-gpu",
        "hpe.common-slot.hp-1600w-platinum-server-psu-with-breakout-board",
        "nvidia.geforce.rtx-3090",
    )
    texts = {f.code: f.severity for f in report.findings if f.code in ("PWR005", "SPC005")}
    assert texts == {"SPC005": "info"}, rig


def test_two_thirds_of_twelve_channels_are_a_remark() -> None:
    parts = ("amd.epyc.9554", "asus.k14.k14pa-u12")
    kit = "samsung.server.m321r4ga3bb6-cqk"
    found = {}
    for count in (7, 8):
        items = [Item(uid=f"p{n}", part=part) for n, part in enumerate(parts)]
        rig = Rig(name="x", items=(*items, Item(uid="m", part=kit, quantity=count)))
        findings = assess(rig, shipped_catalog()).report.findings
        found[count] = [f.severity for f in findings if f.code == "MEM005"]
    assert found == {7: ["warning"], 8: ["info"]}


def test_a_cooler_that_touches_a_shroud_is_told() -> None:
    cpu, kit = "intel.core.i7-12700k", "corsair.vengeance-lpx.cmk32gx4m2d3600c18"
    board = "asus.rog-strix.rog-strix-z690-a-gaming-wifi-d4"
    for cooler, told in (("noctua.nh-u12a.nh-u12a", 1), ("noctua.nh-d15s.nh-d15s", 0)):
        _, report = judged(cpu, board, kit, cooler)
        keys = [f.values.get("key") for f in report.findings if f.code == "KNO001"]
        assert keys.count("noctua-rog-strix-z690") == told


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        (("nvidia.geforce.rtx-5070-ti", "be-quiet.dark-power.dark-power-13-1000w"), "PWR005"),
        (("nvidia.geforce.gtx-1080-ti", "corsair.tx-m.tx650m"), "PWR005"),
        (("evga.supernova.1600-t2", "corsair.obsidian.750d"), "SPC006"),
        (("corsair.axi.ax1600i", "generic.open-frame.open-frame-for-six-cards"), "SPC006"),
    ],
)
def test_what_no_list_tells_is_not_asked_where_no_supply_of_the_class_falls_short(
    parts: tuple[str, ...], code: str
) -> None:
    """A supply that has one 8-pin plug alone has two 16-pin ones: no supply has the fewest of both,
    and none of 2017 is of ATX 3."""
    items = [Item(uid=part, part=part) for part in ("amd.ryzen.7-9800x3d", *parts)]
    found = assess(Rig(items=tuple(items)), shipped_catalog()).report.findings
    assert all(shipped_catalog().get(item.part) for item in items)
    assert [finding for finding in found if finding.code == code] == []
