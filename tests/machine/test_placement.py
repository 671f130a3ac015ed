"""The solver: best places, wishes kept or refused with a reason, lane modes, thickness, bridges."""

import pytest
from msgspec.structs import replace
from small_parts import (
    board,
    bridge,
    cpu,
    gpu,
    hdd,
    linked_gpu,
    m2,
    machine_of,
    nic,
    pair_board,
    places,
    reasons,
    rig_of,
    riser,
    slot,
)

from rigplanner.catalog.schema.parts import (
    GPU,
    Chassis,
    DrivePort,
    Enclosure,
    Inclusion,
    LaneMode,
    Riser,
    System,
    When,
)
from rigplanner.machine.alternatives import alternatives
from rigplanner.machine.assemble import assemble
from rigplanner.machine.placement.bridging import LooseBridge, may_join
from rigplanner.machine.placement.placeables import card_of
from rigplanner.machine.placement.placement import Standing, _Search
from rigplanner.rig.document import Settings


def widths(machine):  # type: ignore[no-untyped-def]
    return {gpu.piece: (gpu.width, gpu.gen) for gpu in machine.gpus}


def test_one_card_takes_the_wide_slot_and_the_drive_the_socket_that_costs_it_nothing() -> None:
    machine = machine_of(pair_board(), cpu(), gpu(), (m2(), 2))
    assert places(machine) == {"gpu.0": "S1", "storage.0": "M1", "storage.1": "M3"}
    assert widths(machine) == {"gpu.0": (16, 4)}
    assert machine.problems == ()


def test_two_cards_share_the_lanes() -> None:
    assert widths(machine_of(pair_board(), cpu(), (gpu(), 2))) == {"gpu.0": (8, 4), "gpu.1": (8, 4)}


def test_a_wished_socket_halves_the_slot_and_the_alternative_says_what_it_costs() -> None:
    chosen = (pair_board(), cpu(), gpu(), (m2(), 1, ("M2",)))
    assert widths(machine_of(*chosen)) == {"gpu.0": (8, 4)}
    moves = alternatives(*rig_of(*chosen))
    assert moves[0].place in ("M1", "M3")
    assert moves[0].edits[0].args == {"uid": "storage", "index": 0, "place": moves[0].place}
    assert moves[0].changes[0].before == (8, 4)
    assert moves[0].changes[0].after == (16, 4)
    assert moves[0].gain_gbs > 12


def test_a_drive_with_no_other_port_takes_the_costly_one() -> None:
    machine = machine_of(pair_board(), cpu(), gpu(), (m2(), 3))
    assert places(machine)["gpu.0"] == "S1"
    assert {use.port.id for use in machine.drives if use.pieces} == {"M1", "M2", "M3"}
    assert widths(machine) == {"gpu.0": (8, 4)}


def test_a_wished_drive_that_kills_a_wished_slot_is_named() -> None:
    machine = machine_of(pair_board(), cpu(), (gpu(), 2, ("S1", "S2")), (m2(), 1, ("M2",)))
    problem = machine.problems[0]
    assert (problem.piece, problem.reason, problem.place, problem.by) == (
        "gpu.1",
        "slot-disabled",
        "S2",
        ("M2",),
    )
    assert next(use for use in machine.slots if use.slot.id == "S2").disabled_by == ("M2",)


@pytest.mark.parametrize(
    ("wish", "reason"),
    [("S9", "slot-missing"), ("S1", "slot-taken")],
)
def test_a_wish_that_cannot_be_is_refused(wish: str, reason: str) -> None:
    machine = machine_of(
        pair_board(), cpu(), (gpu("first"), 1, ("S1",)), (gpu("second"), 1, (wish,))
    )
    assert reasons(machine) == {"gpu1.0": reason}


def test_a_thick_card_covers_the_next_positions() -> None:
    three = board([slot("A", 1), slot("B", 2), slot("C", 3), slot("D", 4)])
    machine = machine_of(
        three, cpu(), (gpu(slots=2.7), 1, ("A",)), (gpu("thin", slots=1), 1, ("B",))
    )
    assert reasons(machine) == {"gpu1.0": "slot-covered"}
    assert [use.covered_by for use in machine.slots] == [None, "gpu.0", "gpu.0", None]


def test_cards_are_moved_apart_when_they_are_thick() -> None:
    four = board([slot("A", 1), slot("B", 2), slot("C", 3), slot("D", 4)])
    assert places(machine_of(four, cpu(), (gpu(slots=2), 2))) == {"gpu.0": "A", "gpu.1": "D"}


def case(columns: int | None) -> Chassis:
    return Chassis(
        id=f"test.chassis.c{columns}",
        name="Case",
        vendor="T",
        enclosure=Enclosure(slot_columns=columns),
    )


@pytest.mark.parametrize(("columns", "second"), [(5, "D"), (4, "C"), (None, "D")])
def test_cards_end_within_the_columns_of_the_case(columns: int | None, second: str) -> None:
    four = board([slot("A", 1), slot("B", 2), slot("C", 3), slot("D", 4)])
    assert places(machine_of(four, cpu(), (gpu(slots=2), 2), case(columns))) == {
        "gpu.0": "A",
        "gpu.1": second,
    }


def test_a_card_leaves_the_wide_slot_at_the_end_of_the_case_and_stays_when_wished() -> None:
    two = board([slot("A", 1, 4), slot("B", 3)])
    assert places(machine_of(two, cpu(), gpu(slots=2), case(3))) == {"gpu.0": "A"}
    assert places(machine_of(two, cpu(), (gpu(slots=2), 1, ("B",)), case(3))) == {"gpu.0": "B"}
    assert places(machine_of(two, cpu(), gpu(slots=2), case(3), riser())) == {"gpu.0": "B"}


def test_no_card_is_left_out_for_the_columns_of_the_case() -> None:
    two = board([slot("A", 1), slot("B", 3)])
    assert places(machine_of(two, cpu(), (gpu(slots=2), 2), case(3))) == {
        "gpu.0": "A",
        "gpu.1": "B",
    }


def test_a_system_has_its_own_columns() -> None:
    layout = board([slot("A", 1), slot("B", 3), slot("C", 5)]).layout
    box = System(
        id="test.system.box",
        name="Box",
        vendor="T",
        role="barebone",
        layout=layout,
        enclosure=Enclosure(slot_columns=5),
    )
    assert places(machine_of(box, cpu(), (gpu(slots=2), 2))) == {"gpu.0": "A", "gpu.1": "B"}


def test_too_many_cards_name_those_that_fight() -> None:
    two = board([slot("A", 1), slot("B", 2), slot("C", 3)])
    machine = machine_of(two, cpu(), (gpu(slots=2), 3))
    problem = machine.problems[0]
    assert (problem.reason, len(machine.gpus)) == ("no-slot", 3)
    assert problem.by == ("gpu.0", "gpu.1")


def test_a_module_needs_a_socket_of_its_kind() -> None:
    machine = machine_of(pair_board(), cpu(), gpu("sxm", form_factor="sxm4"))
    assert (machine.problems[0].reason, machine.problems[0].needed, machine.problems[0].actual) == (
        "wrong-kind",
        "sxm4",
        "pcie",
    )


def test_an_edge_enters_a_short_slot_only_when_it_is_open() -> None:
    short = board([slot("A", 1, 4, mechanical=4)])
    opened = board([slot("A", 1, 4, mechanical=4, open_ended=True)])
    assert reasons(machine_of(short, cpu(), gpu())) == {"gpu.0": "too-narrow"}
    assert widths(machine_of(opened, cpu(), gpu())) == {"gpu.0": (4, 4)}


def test_an_old_cpu_and_a_narrow_one_cap_the_slot() -> None:
    machine = machine_of(board([slot("A", 1, gen=5)]), cpu(pcie_gen=3, peg_width=8), gpu())
    assert widths(machine) == {"gpu.0": (8, 3)}


def test_slots_of_an_empty_socket_are_dead() -> None:
    two = board([slot("A", 1), slot("B", 3, origin="cpu1")], sockets=("SP3", "SP3"))
    machine = machine_of(two, cpu("SP3"), (gpu(), 2))
    assert reasons(machine) == {"gpu.1": "no-slot"}
    assert machine.problems[0].by == ("gpu.0", "cpu1")
    assert machine_of(two, (cpu("SP3"), 2), (gpu(), 2)).problems == ()


def test_a_lane_class_chooses_the_mode() -> None:
    lanes = board(
        [slot("A", 1), slot("B", 3)],
        modes=[LaneMode(when=When(cpu_class=("28",)), widths={"B": 8})],
    )
    assert widths(machine_of(lanes, cpu(lane_class="28"), (gpu(), 2)))["gpu.1"] == (8, 4)
    assert widths(machine_of(lanes, cpu(lane_class="40"), (gpu(), 2)))["gpu.1"] == (16, 4)


def test_a_firmware_choice_switches_a_mode_on() -> None:
    choice = board([slot("A", 1)], modes=[LaneMode(when=When(bios="x4x4x4x4"), widths={"A": 4})])
    chosen = machine_of(choice, cpu(), gpu(), settings=Settings(bios={"A": "x4x4x4x4"}))
    assert (widths(chosen), widths(machine_of(choice, cpu(), gpu()))) == (
        {"gpu.0": (4, 4)},
        {"gpu.0": (16, 4)},
    )


def test_a_mode_may_ask_for_an_empty_place() -> None:
    empty = board(
        [slot("A", 1), slot("B", 4)],
        modes=[LaneMode(when=When(used=("A",), empty=("B",)), widths={"A": 8})],
    )
    assert widths(machine_of(empty, cpu(), (gpu(), 1, ("A",)))) == {"gpu.0": (8, 4)}
    assert widths(machine_of(empty, cpu(), (gpu(), 2))) == {"gpu.0": (16, 4), "gpu.1": (16, 4)}


def test_sata_modules_find_the_port_that_speaks_sata_and_cost_a_sata_port() -> None:
    machine = machine_of(pair_board(), cpu(), m2("old", "sata"), (hdd(), 2))
    assert places(machine)["storage.0"] == "M3"
    assert reasons(machine) == {"storage1.1": "no-port"}
    assert reasons(machine_of(pair_board(), cpu(), (m2("old", "sata"), 1, ("M1",)))) == {
        "storage.0": "protocol"
    }


def test_drives_make_room_for_one_another() -> None:
    ports = [
        DrivePort(id="A", kind="m2", gen=5, width=4, protocols=("nvme", "sata")),
        DrivePort(id="B", kind="m2", gen=3, width=4, protocols=("nvme",)),
    ]
    machine = machine_of(board([], ports), cpu(), (m2(), 1), (m2("old", "sata"), 1))
    assert places(machine) == {"storage.0": "B", "storage1.0": "A"}


def test_a_bridge_sets_the_distance() -> None:
    five = board([slot("A", 1), slot("B", 3), slot("C", 4), slot("D", 7)])
    machine = machine_of(five, cpu(), (linked_gpu(), 2), bridge(3))
    assert machine.matrix[0][1] == "NV4"
    positions = [use.slot.position for use in machine.slots if use.piece]
    assert abs(positions[0] - positions[1]) == 3  # type: ignore[operator]


def test_a_bridge_of_the_wrong_length_says_so() -> None:
    machine = machine_of(pair_board(), cpu(), (linked_gpu(), 2, ("S1", "S2")), bridge(4))
    problem = machine.problems[0]
    assert (problem.reason, problem.needed, problem.actual) == ("bridge-spacing", 4, 3)
    assert machine.matrix[0][1] == "PHB"


@pytest.mark.parametrize(
    ("cards", "reason"),
    [
        (((linked_gpu("one"), 1), (linked_gpu("two"), 1)), "bridge-identical"),
        (((gpu("plain"), 2),), "bridge-connector"),
        (((linked_gpu(), 1),), "bridge-pair"),
    ],
)
def test_a_bridge_joins_only_a_fitting_pair(cards: tuple, reason: str) -> None:
    machine = machine_of(pair_board(), cpu(), *cards, bridge(3))
    assert reasons(machine) == {"bridge.0": reason}


@pytest.mark.parametrize(
    ("cards", "may"),
    [
        ([linked_gpu(), linked_gpu()], True),
        ([linked_gpu("one"), linked_gpu("two")], False),
        ([gpu("plain"), gpu("plain")], False),
        ([linked_gpu()], False),
        ([linked_gpu(form_factor="sxm4"), linked_gpu(form_factor="sxm4")], False),
        ([gpu("plain", has_nvlink=None), gpu("plain", has_nvlink=None)], True),
    ],
)
def test_a_bridge_waits_only_for_cards_that_it_could_join(cards: list[GPU], may: bool) -> None:
    standing = [card_of(f"gpu.{number}", card, "") for number, card in enumerate(cards)]
    assert may_join(LooseBridge("bridge.0", bridge(3)), [card for card in standing if card]) is may


def test_a_search_ends_where_no_placement_can_be_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four cards in four slots with the most air that there is, and a bridge that none of them
    takes."""
    finished: list[Standing] = []
    finish = _Search._finish

    def counted(run: _Search, standing: Standing) -> None:
        finished.append(standing)
        finish(run, standing)

    monkeypatch.setattr(_Search, "_finish", counted)
    even = board(
        [slot(name, position) for name, position in (("A", 1), ("B", 4), ("C", 7), ("D", 10))]
    )
    machine = machine_of(even, cpu(), (gpu(), 4), bridge(3))
    assert (len(finished), reasons(machine)) == (1, {"bridge.0": "bridge-connector"})
    uneven = board(
        [
            slot(name, position)
            for name, position in (("A", 1), ("B", 4), ("C", 6), ("D", 7), ("E", 13))
        ]
    )
    positions = [
        use.slot.position for use in machine_of(uneven, cpu(), (gpu(slots=3), 3)).slots if use.piece
    ]
    assert positions == [1, 7, 13]


def test_three_bridges_of_a_pair_add_up() -> None:
    machine = machine_of(
        pair_board(), cpu(), (linked_gpu(), 2), (bridge(3, links=1, per_pair=3), 3)
    )
    assert machine.matrix[0][1] == "NV3"
    assert machine.problems == ()


def test_a_riser_caps_the_link_and_covers_nothing() -> None:
    three = board([slot("A", 1), slot("B", 2)])
    machine = machine_of(three, cpu(), (gpu(slots=3), 2), (riser(gen=3), 1))
    assert machine.problems == ()
    assert sorted(widths(machine).values()) == [(16, 3), (16, 4)]
    assert sum(use.riser == "riser.0" for use in machine.slots) == 1


def test_a_riser_without_a_place_also_leads_cards_that_name_their_slot() -> None:
    three = board([slot("A", 1), slot("B", 2)])
    assert reasons(machine_of(three, cpu(), (gpu(slots=3), 2, ("A", "B")))) == {
        "gpu.1": "slot-covered"
    }
    machine = machine_of(three, cpu(), (gpu(slots=3), 2, ("A", "B")), (riser(gen=3), 2))
    assert machine.problems == ()
    assert {use.riser for use in machine.slots} == {"riser.0", "riser.1"}


def test_a_card_without_a_place_gets_the_riser_before_one_that_names_its_slot() -> None:
    three = board([slot("A", 1), slot("B", 4)])
    machine = machine_of(three, cpu(), (gpu(), 1, ("A",)), (gpu(), 1), (riser(gen=3), 1))
    assert {use.piece: use.riser for use in machine.slots} == {"gpu.0": None, "gpu1.0": "riser.0"}


def test_cpu_socket_and_count_are_judged() -> None:
    assert reasons(machine_of(pair_board(), cpu("AM4"))) == {"cpu.0": "socket-mismatch"}
    assert reasons(machine_of(pair_board(), (cpu(), 2))) == {"cpu.1": "no-socket"}


def test_equal_rigs_become_equal_machines() -> None:
    rig, catalog = rig_of(pair_board(), cpu(), (gpu(), 2), (m2(), 3), nic())
    assert assemble(rig, catalog) == assemble(rig, catalog)


def test_a_rig_without_a_board_keeps_its_cards() -> None:
    machine = machine_of((gpu(), 2))
    assert [node.place for node in machine.gpus] == [None, None]
    assert machine.problems == ()
    assert machine.matrix == (("X", ""), ("", "X"))


def test_an_unknown_part_is_named() -> None:
    rig, catalog = rig_of(gpu())
    del catalog.parts["test.gpu.card"]
    assert assemble(rig, catalog).unknown == ("test.gpu.card:*",)


def carrier(
    outputs: int = 4, output: str = "m2", slot_kind: str = "pcie", width: int = 16
) -> Riser:
    return Riser(
        id=f"test.riser.{slot_kind}-{output}",
        name="Adapter",
        vendor="T",
        gen=4,
        width=width,
        slot_kind=slot_kind,
        output=output,
        outputs=outputs,
    )


def test_a_carrier_makes_four_sockets_of_a_slot() -> None:
    two = board([slot("A", 1), slot("B", 4, bifurcation=("x4x4x4x4",))])
    machine = machine_of(two, cpu(), gpu(), carrier(), (m2(), 4))
    assert places(machine) == {
        "gpu.0": "A",
        "riser.0": "B",
        **{f"storage.{n}": f"B/{n + 1}" for n in range(4)},
    }
    assert [(use.width, use.gen) for use in machine.drives] == [(4, 4)] * 4


def test_a_narrow_slot_serves_only_the_first_sockets_of_a_carrier() -> None:
    machine = machine_of(pair_board(), cpu(), (gpu(), 1, ("S1",)), (carrier(), 1, ("S2",)))
    assert [use.port.id for use in machine.drives if use.port.id.startswith("S2/")] == [
        "S2/1",
        "S2/2",
    ]
    whole = machine_of(pair_board(), cpu(), (carrier(), 1, ("S1",)), (m2("nvme"), 1, ("M2",)))
    assert {use.port.id for use in whole.drives if use.disabled_by} == {"S1/3", "S1/4"}


def test_an_m2_adapter_gives_a_slot() -> None:
    ports = [DrivePort(id="M", kind="m2", origin="cpu0", gen=4, width=4, protocols=("nvme",))]
    machine = machine_of(board([], ports), cpu(), carrier(1, "pcie", "m2", 4), gpu())
    assert places(machine) == {"gpu.0": "M/1", "riser.0": "M"}
    assert widths(machine) == {"gpu.0": (4, 4)}


def test_the_slots_of_a_switch_are_whole_and_share_its_uplink() -> None:
    switch = replace(carrier(4, "pcie"), switch="PM40100")
    machine = machine_of(board([slot("A", 1)]), cpu(), (switch, 1, ("A",)), (gpu(), 4))
    assert places(machine) == {
        "riser.0": "A",
        "gpu.0": "A/1",
        "gpu.1": "A/2",
        "gpu.2": "A/3",
        "gpu.3": "A/4",
    }
    assert set(widths(machine).values()) == {(16, 4)}
    assert {label for row in machine.matrix for label in row} == {"X", "PIX"}
    assert {use.riser for use in machine.slots if use.slot.id.startswith("A/")} == {"riser.0"}


def test_a_module_stands_on_an_adapter() -> None:
    machine = machine_of(
        board([slot("A", 1)]),
        cpu(),
        carrier(1, "sxm2"),
        gpu("v100", form_factor="sxm2", edge_gen=3),
    )
    assert places(machine) == {"riser.0": "A", "gpu.0": "A/1"}
    assert machine.problems == ()


def test_an_adapter_without_a_place_says_so() -> None:
    assert reasons(machine_of(board([slot("A", 1)]), cpu(), carrier(1, "pcie", "m2", 4))) == {
        "riser.0": "no-port"
    }
    assert reasons(machine_of(board([slot("A", 1)]), cpu(), (carrier(), 1, ("Z",)))) == {
        "riser.0": "slot-missing"
    }


def test_a_port_of_a_block_is_found_by_its_own_name() -> None:
    ports = [
        DrivePort(id="SATA1-4", kind="sata", protocols=("sata",), count=4),
        DrivePort(id="SATA5-6", kind="sata", protocols=("sata",), count=2),
    ]
    assert places(machine_of(board([], ports), cpu(), (hdd(), 1, ("SATA6",)))) == {
        "storage.0": "SATA5-6"
    }
    assert reasons(machine_of(board([], ports), cpu(), (hdd(), 1, ("SATA7",)))) == {
        "storage.0": "port-missing"
    }


def test_a_place_that_would_switch_off_another_names_its_holder() -> None:
    ports = [DrivePort(id="M", kind="m2", origin="cpu0", gen=4, width=4, protocols=("nvme",))]
    shared = board([slot("A", 1)], ports, [LaneMode(when=When(used=("M",)), disabled=("A",))])
    by_card = machine_of(shared, cpu(), (gpu(), 1, ("A",)), m2())
    assert [(p.piece, p.reason, p.by) for p in by_card.problems] == [
        ("storage.0", "no-port", ("gpu.0",))
    ]
    by_drive = machine_of(shared, cpu(), gpu(), (m2(), 1, ("M",)))
    assert [(p.piece, p.reason, p.by) for p in by_drive.problems] == [("gpu.0", "no-slot", ("M",))]


def test_a_system_that_holds_itself_is_named() -> None:
    loop = System(
        id="test.system.loop",
        name="L",
        vendor="T",
        role="server",
        includes=(Inclusion(part="test.system.loop"),),
    )
    assert machine_of(loop).unknown == ("test.system.loop:*",)


def test_modules_take_no_bridge() -> None:
    sockets = board([slot(name, kind="sxm4", mechanical=None) for name in "AB"], sockets=("SP3",))
    machine = machine_of(
        sockets, cpu("SP3"), (linked_gpu("module", form_factor="sxm4"), 2), bridge(3)
    )
    assert reasons(machine) == {"bridge.0": "bridge-connector"}


def module(width: int = 4) -> GPU:
    """An accelerator on an M.2 module."""
    return gpu("module", form_factor="m2", edge_gen=3, edge_width=width, slots=None, connectors=())


def test_an_accelerator_module_takes_an_m2_socket() -> None:
    machine = machine_of(pair_board(), cpu(), gpu(), module())
    assert places(machine) == {"gpu.0": "S1", "gpu1.0": "M1"}
    assert [(node.place, node.width, node.gen) for node in machine.gpus] == [
        ("S1", 16, 4),
        ("M1", 4, 3),
    ]
    assert ("cpu0", "gpu1") in {(edge.a.name, edge.b.name) for edge in machine.edges}
    assert machine.matrix == (("X", "PHB"), ("PHB", "X"))


def test_a_module_shares_sockets_with_drives() -> None:
    machine = machine_of(pair_board(), cpu(), (module(), 3), (m2(), 1, ("M1",)))
    assert reasons(machine) == {"gpu.2": "no-port"}


def test_a_module_of_one_lane_has_the_key_of_radio_modules() -> None:
    machine = machine_of(pair_board(), cpu(), module(1))
    assert (places(machine), reasons(machine)) == ({}, {"gpu.0": "no-port"})


def test_many_boards_share_the_steps_of_the_search() -> None:
    machine = machine_of((pair_board(), 40), (cpu(), 40), (gpu(), 80), (m2(), 40))
    assert machine.problems == ()
    assert len({(use.board, use.slot.id) for use in machine.slots if use.piece}) == 80


def test_a_search_that_is_cut_proves_nothing_of_what_it_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first try gives the GPU the wide slot, and hides that of a network card; moved on, all
    have a place."""
    crowded = board([slot("S1", 1), slot("S2", 2, 4), slot("S3", 3, 8)])
    chosen = (crowded, cpu(), gpu(), (nic(), 2))
    assert machine_of(*chosen).problems == ()
    monkeypatch.setattr("rigplanner.machine.placement.place.STEPS", 1)
    (problem,) = machine_of(*chosen).problems
    assert (problem.reason, problem.proven) == ("no-slot", False)


def test_more_cards_than_slots_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rigplanner.machine.placement.place.STEPS", 1)
    problems = machine_of(board([slot("S1", 1), slot("S2", 3)]), cpu(), (gpu(), 3)).problems
    assert [(problem.reason, problem.proven) for problem in problems] == [("no-slot", True)]


def test_a_controller_of_disks_gives_ports_of_its_own() -> None:
    """Whatever the firmware splits: SATA drives hang on SAS ports, behind one slot."""
    controller = Riser(
        id="test.riser.hba",
        name="HBA",
        vendor="T",
        gen=3,
        width=8,
        output="sas",
        outputs=8,
    )
    desk = board([slot("A"), slot("B", width=8)])
    machine = machine_of(desk, cpu(), gpu(), (hdd(), 9), controller)
    (use,) = (use for use in machine.drives if use.pieces)
    assert (use.port.id, use.port.kind, len(use.pieces)) == ("B/1", "sas", 8)
    assert len(reasons(machine)) == 1
