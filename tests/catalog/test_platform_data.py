"""The shipped CPUs, motherboards and systems: references that hold, lanes that add up, links that
fit the GPUs."""

from collections import Counter

import pytest

from rigplanner.catalog.lint.board import check_lanes, lanes_taken
from rigplanner.catalog.lint.lint import ID
from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.schema.parts import CPU, GPU, Motherboard, NetworkCard, Storage, System
from rigplanner.machine.placement.lanes import places_of, seat

X86_ISA = {
    "sse4.2",
    "avx",
    "avx2",
    "fma",
    "avx_vnni",
    "avx512f",
    "avx512_vnni",
    "avx512_bf16",
    "amx",
}
ISA = X86_ISA | {"neon", "sve2", "bf16", "i8mm", "vsx3"}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped_catalog()


@pytest.fixture(scope="module")
def cpus(catalog: Catalog) -> list[CPU]:
    return [part for part in catalog.parts.values() if isinstance(part, CPU)]


@pytest.fixture(scope="module")
def boards(catalog: Catalog) -> list[Motherboard | System]:
    return [part for part in catalog.parts.values() if isinstance(part, Motherboard | System)]


def test_there_are_enough_of_each_kind(catalog: Catalog) -> None:
    kinds = Counter(type(part) for part in catalog.parts.values())
    assert kinds[CPU] >= 120
    assert kinds[Motherboard] >= 70
    roles = Counter(part.role for part in catalog.parts.values() if isinstance(part, System))
    assert roles["barebone"] + roles["server"] >= 15
    assert roles["complete"] >= 15


def test_ids_are_well_formed_and_begin_with_the_vendor(
    cpus: list[CPU], boards: list[Motherboard | System]
) -> None:
    for part in [*cpus, *boards]:
        assert ID.fullmatch(part.id), part.id
        assert part.id.split(".")[0] == part.vendor.lower().replace(" ", "-"), part.id


def test_every_place_and_switch_hangs_on_something_that_exists(
    boards: list[Motherboard | System],
) -> None:
    for board in boards:
        layout = board.layout
        switches = {switch.id: switch.origin for switch in layout.switches}
        roots = {f"cpu{n}" for n in range(max(1, len(layout.sockets)))} | {"chipset"}
        for name, origin in [(place.id, place.origin) for place in places_of(layout)] + list(
            switches.items()
        ):
            seen: set[str] = set()
            while origin is not None and origin not in roots:
                assert origin in switches and origin not in seen, f"{board.id} {name}: {origin}"
                seen.add(origin)
                origin = switches[origin]


def test_lane_modes_name_places_and_do_something(boards: list[Motherboard | System]) -> None:
    for board in boards:
        places = {place.id: place for place in places_of(board.layout)}
        assert len(places) == len(board.layout.slots) + len(board.layout.drives), board.id
        for mode in board.layout.lane_modes:
            named = {*mode.widths, *mode.gens, *mode.disabled, *mode.when.used, *mode.when.empty}
            assert named <= set(places), f"{board.id}: {named - set(places)}"
            assert mode.widths or mode.gens or mode.disabled, board.id
            for place, width in mode.widths.items():
                assert width <= (places[place].width or width), f"{board.id}: {place} only narrows"


def test_lane_classes_of_modes_are_classes_of_cpus(
    cpus: list[CPU], boards: list[Motherboard | System]
) -> None:
    by_socket: dict[str, set[str]] = {}
    for cpu in cpus:
        by_socket.setdefault(cpu.socket, set()).add(cpu.lane_class or "")
    for board in boards:
        for mode in board.layout.lane_modes:
            assert (
                set(mode.when.cpu_class) <= by_socket[board.layout.sockets[0]]
                if mode.when.cpu_class
                else True
            ), board.id


def test_a_lane_class_means_the_same_lanes_everywhere(cpus: list[CPU]) -> None:
    of: dict[str, set[tuple[int | None, int | None, int | None]]] = {}
    for cpu in cpus:
        assert cpu.lane_class is not None, cpu.id
        of.setdefault(cpu.lane_class, set()).add((cpu.lanes, cpu.pcie_gen, cpu.peg_width))
    assert {name: found for name, found in of.items() if len(found) > 1} == {}


def test_occupied_places_never_need_more_lanes_than_the_cpu_has(
    catalog: Catalog, boards: list[Motherboard | System]
) -> None:
    assert [complaint for board in boards for complaint in check_lanes(board, catalog)] == []
    creator, cpu = (
        catalog.parts["asus.proart.x870e-creator-wifi"],
        catalog.parts["amd.ryzen.9-9950x"],
    )
    assert isinstance(creator, Motherboard) and isinstance(cpu, CPU)
    assert 16 <= lanes_taken(creator.layout, cpu, "cpu0", None) <= (cpu.lanes or 0)


def test_every_board_takes_a_cpu_of_the_catalog(
    cpus: list[CPU], boards: list[Motherboard | System]
) -> None:
    for board in boards:
        if board.layout.sockets:
            fit = [
                c
                for c in cpus
                if c.socket in board.layout.sockets
                and (board.layout.chipset or "") in ("", *c.chipsets)
            ]
            assert fit, f"{board.id}: {board.layout.sockets[0]} {board.layout.chipset}"


def test_built_in_parts_exist_and_stand_in_places_of_their_kind(
    catalog: Catalog, boards: list[Motherboard | System]
) -> None:
    for system in boards:
        if not isinstance(system, System):
            continue
        slots = {slot.id: slot for slot in system.layout.slots}
        ports = {port.id for port in system.layout.drives}
        taken: list[str] = []
        for inclusion in system.includes:
            part = catalog.parts[inclusion.part]
            assert len(inclusion.places) in (0, inclusion.quantity), (
                f"{system.id}: {inclusion.part}"
            )
            taken += inclusion.places
            if isinstance(part, CPU):
                assert inclusion.quantity == len(system.layout.sockets), (
                    f"{system.id}: {inclusion.part}"
                )
                assert part.socket in system.layout.sockets, f"{system.id}: {inclusion.part}"
            if isinstance(part, GPU):
                kind = (
                    "embedded"
                    if part.form_factor in ("embedded", "superchip")
                    else part.form_factor
                )
                assert {slots[place].kind for place in inclusion.places} == {kind}, (
                    f"{system.id}: {inclusion.part}"
                )
            if isinstance(part, NetworkCard):
                assert {slots[place].kind for place in inclusion.places} == {"pcie"}, (
                    f"{system.id}: {inclusion.part}"
                )
            if isinstance(part, Storage):
                assert set(inclusion.places) <= ports, f"{system.id}: {inclusion.part}"
        assert len(set(taken)) == len(taken), system.id


def test_wired_links_never_exceed_what_a_gpu_has(
    catalog: Catalog, boards: list[Motherboard | System]
) -> None:
    for system in boards:
        fabric = system.layout.fabric
        if fabric is None or not isinstance(system, System):
            continue
        gpus = {place: catalog.parts[i.part] for i in system.includes for place in i.places}
        totals: Counter[str] = Counter()
        for link in fabric.links:
            assert link.a != link.b, system.id
            totals[link.a] += link.links
            totals[link.b] += link.links
        pairs = [frozenset((link.a, link.b)) for link in fabric.links]
        assert len(set(pairs)) == len(pairs), system.id
        for place, links in totals.items():
            gpu = gpus[place]
            assert isinstance(gpu, GPU) and gpu.nvlink is not None, f"{system.id}: {place}"
            beside = fabric.cpu_links.get(place, 0) if gpu.form_factor != "superchip" else 0
            assert links + beside <= gpu.nvlink.links, f"{system.id}: {place} {links}"


CUBE_MESH = {
    "nvidia.dgx.dgx-1-v100-32gb": 6,
    "nvidia.dgx.dgx-1-p100": 4,
    "ibm.power.ac922-4-gpu": 3,
    "nvidia.hgx.hgx-a100-4-gpu-80gb": 12,
    "nvidia.hgx.hgx-h100-4-gpu": 18,
}


@pytest.mark.parametrize(("name", "links"), CUBE_MESH.items())
def test_directly_wired_gpus_use_all_their_links(catalog: Catalog, name: str, links: int) -> None:
    system = catalog.parts[name]
    assert isinstance(system, System) and system.layout.fabric is not None
    totals: Counter[str] = Counter()
    for link in system.layout.fabric.links:
        totals.update({link.a: link.links, link.b: link.links})
    assert set(totals.values()) == {links}


def test_figures_are_physical(cpus: list[CPU], boards: list[Motherboard | System]) -> None:
    for cpu in cpus:
        assert cpu.isa and set(cpu.isa) <= ISA, cpu.id
        assert (
            cpu.memory is not None
            and cpu.memory.channels
            and cpu.memory.types
            and cpu.memory.modules
        ), cpu.id
        speeds = [speed for _, speed in sorted(cpu.memory.speeds_mts.items())]
        assert speeds == sorted(speeds, reverse=True), f"{cpu.id}: more modules are not faster"
        assert cpu.max_power_w is None or cpu.tdp_w is None or cpu.max_power_w >= cpu.tdp_w, cpu.id
        assert (cpu.graphics is None) or cpu.has_graphics, cpu.id
        assert (cpu.peg_width or 0) <= (cpu.lanes or 0) or cpu.peg_width is None, cpu.id
    for board in boards:
        layout = board.layout
        positions = [slot.position for slot in layout.slots if slot.position is not None]
        assert len(set(positions)) == len(positions) and all(
            position >= 1 for position in positions
        ), board.id
        for slot in layout.slots:
            assert slot.width in (None, 1, 2, 4, 8, 16) and slot.gen in (None, 1, 2, 3, 4, 5, 6), (
                f"{board.id} {slot.id}"
            )
        if isinstance(board, Motherboard):
            sides = [
                side
                for side in (board.width_mm, board.depth_mm)
                if side is not None or board.form_factor != "proprietary"
            ]
            assert all(side is not None and 100 <= side <= 450 for side in sides), board.id
            assert (
                layout.sockets
                and layout.memory_type
                and layout.memory_slots
                and layout.memory_channels
            ), board.id
            assert layout.memory_slots >= layout.memory_channels, board.id


def test_what_was_only_remembered_is_marked(
    cpus: list[CPU], boards: list[Motherboard | System]
) -> None:
    for part in [*cpus, *boards]:
        settled = [key for key in part.sources if not key.endswith("-unread")]
        assert settled or part.doubts, f"{part.id}: neither a read source nor a doubt"
        for field, doubt in part.doubts.items():
            assert doubt.state != "conflict" or len(doubt.values) >= 2, f"{part.id} {field}"


@pytest.mark.parametrize(
    ("choice", "card", "drive"),
    [(None, (16, 4), (2, 3)), ("m2-chipset", (16, 4), (2, 3)), ("m2-cpu", (8, 4), (4, 4))],
)
def test_b550_unify_gives_lanes_to_the_card_until_its_bios_gives_them_to_drives(
    catalog: Catalog, choice: str | None, card: tuple[int, int], drive: tuple[int, int]
) -> None:
    board, cpu = catalog.parts["msi.meg.b550-unify"], catalog.parts["amd.ryzen.9-5950x"]
    assert isinstance(board, Motherboard) and isinstance(cpu, CPU)
    seating = seat(board.layout, (cpu,), {"M2_2": choice} if choice else {})
    offers = seating.at(frozenset({"PCI_E1", "M2_2"}), {"M2_2": "nvme"})
    assert (offers["PCI_E1"].width, offers["PCI_E1"].gen) == card
    assert (offers["M2_2"].width, offers["M2_2"].gen) == drive
