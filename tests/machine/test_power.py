"""The power tree: loads with caps, peaks, supplies by voltage, plugs, wall and circuit; unknown
stays unknown."""

import pytest
from msgspec.structs import replace
from small_parts import cpu, gpu, m2, machine_of, nic, pair_board, psu, rig_of, slot

from rigplanner.catalog.schema.parts import (
    Accessory,
    Inclusion,
    Layout,
    Plug,
    PowerSupply,
    Rating,
    Supply,
    System,
)
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import PowerTree
from rigplanner.rig.document import Site


def tree(*chosen: object, site: Site | None = None, cap: float | None = None) -> PowerTree:
    rig, catalog = rig_of(*chosen)  # type: ignore[arg-type]
    items = tuple(
        replace(item, power_cap_w=cap) if item.uid == "gpu" else item for item in rig.items
    )
    return assemble(replace(rig, site=site or Site(), items=items), catalog).power


def test_loads_add_up_to_the_wall() -> None:
    power = tree(
        pair_board(),
        cpu(),
        (gpu(), 2),
        m2(),
        psu(),
        site=Site(volts=230, breaker_a=16, other_load_w=100),
    )
    assert power.sustained_w == 2 * 300 + 160 + 8 + 30
    assert power.transient_w == pytest.approx(2 * 300 * 1.6 + 160 * 1.1 + 8 + 30)
    assert (power.supply_w, power.supply_transient_w) == (1000, 1000)
    assert power.efficiency == 0.92
    assert power.wall_w == pytest.approx(798 / 0.92 + 100)
    assert (power.circuit_w, power.circuit_peak_w) == (pytest.approx(2944), 3680)
    assert {step.name for step in power.steps} >= {"board", "excursion-test.gpu.card"}


def test_a_cap_lowers_load_and_peak() -> None:
    whole, capped = tree(gpu(), psu()), tree(gpu(), psu(), cap=200)
    assert (whole.sustained_w, capped.sustained_w) == (300, 200)
    assert capped.transient_w == 320


def test_a_missing_figure_leaves_the_sum_unknown_and_names_it() -> None:
    power = tree(gpu(tdp_w=None), psu())
    assert (power.sustained_w, power.transient_w, power.wall_w) == (None, None, None)
    assert power.unknown == ("test.gpu.card:tdp_w",)


def test_a_supply_gives_less_at_low_voltage_and_nothing_below_its_range() -> None:
    wide = PowerSupply(
        id="test.psu.wide",
        name="P",
        vendor="T",
        supply=Supply(ratings=(Rating(100, 1000), Rating(200, 2000)), redundant=True, units=3),
    )
    assert tree(gpu(), wide, site=Site(volts=120)).supply_w == 2000
    assert tree(gpu(), wide, site=Site(volts=230)).supply_w == 4000
    assert tree(gpu(), wide, site=Site(volts=48)).supply_w == 0
    assert tree(gpu(), wide).supply_w == 4000
    bare = PowerSupply(id="test.psu.bare", name="P", vendor="T", supply=Supply())
    assert tree(gpu(), bare).supply_w is None
    assert tree(gpu(), bare).unknown == ("test.psu.bare:supply.ratings",)


def test_atx_3_bears_twice_its_rating() -> None:
    assert tree(gpu(), psu(1000, standard="ATX 3.1")).supply_transient_w == 2000


def test_two_supplies_add_up() -> None:
    power = tree(gpu(), (psu(800), 2))
    assert power.supply_w == 1600
    assert {plug.type: plug.offered for plug in power.plugs} == {"pcie8": 12}


def test_plugs_are_counted_by_type() -> None:
    board = replace(pair_board(), layout=replace(pair_board().layout, eps8=2, eps4=1))
    power = tree(board, (gpu(), 2), gpu("new", connectors=(Plug("12vhpwr", 1),)), psu())
    assert {(p.type, p.needed, p.offered) for p in power.plugs} == {
        ("eps8", 2, 2),
        ("eps4", 1, 0),
        ("pcie8", 4, 6),
        ("12vhpwr", 1, 0),
    }
    assert tree(gpu(), psu(plugs=None)).plugs[0].offered is None


def server(**more: object) -> System:
    fields = {
        "role": "complete",
        "max_power_w": 2000,
        "includes": (Inclusion(part="test.gpu.card", quantity=2, places=("A", "B")),),
        **more,
    }
    layout = Layout(sockets=("SP3",), slots=(slot("A", 1), slot("B", 4), slot("C", 7)))
    return System(id="test.system.one", name="S", vendor="T", layout=layout, **fields)


def test_a_complete_machine_draws_what_its_maker_states() -> None:
    rig, catalog = rig_of(server(), cpu("SP3"), nic())
    catalog.parts["test.gpu.card"] = gpu()
    power = assemble(rig, catalog).power
    assert power.sustained_w == 2000
    assert dict(power.loads)["system.0"] == 2000 - 600 - 160 - 15
    assert power.plugs == ()
    more = assemble(replace(rig, items=(*rig.items[:1],)), catalog).power
    assert more.sustained_w == 2000


def test_a_baseboard_covers_only_its_own_modules() -> None:
    rig, catalog = rig_of(server(role="baseboard", max_power_w=700), cpu("SP3"))
    catalog.parts["test.gpu.card"] = gpu()
    assert assemble(rig, catalog).power.sustained_w == 700 + 160


def test_a_monitor_loads_the_circuit_but_not_the_supply() -> None:
    screen = Accessory(id="test.accessory.screen", name="S", vendor="T", type="monitor", power_w=30)
    power = tree(gpu(), psu(), screen)
    assert power.sustained_w == 300
    assert power.wall_w == pytest.approx(300 / 0.92 + 30)


def test_no_supply_means_no_wall_figure() -> None:
    power = machine_of(gpu()).power
    assert (power.supply_w, power.wall_w, power.supply_transient_w) == (None, None, None)
