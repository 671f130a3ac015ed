"""Cases of power and plug rules. Of the desk's load 508 W stand on makers' figures (CPU 200, GPU
300, drive 8), the rest on allowances of the power tree."""

import math

from rule_bench import bench_catalog, bench_rig, case

from rigplanner.catalog.schema.parts import Plug, Rating
from rigplanner.rig.document import Site
from rigplanner.rules.assess import machine_of
from rigplanner.rules.hardware.power import SWITCHES_OFF_AT

DESK_RIG = bench_rig()
MID = bench_rig(psu="psu.mid")
PAIR_MID = bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2")), psu="psu.mid")
SERVED = bench_rig(
    motherboard=None,
    psu=None,
    chassis=None,
    cooler=None,
    cpu=("cpu.server", 2),
    memory=("memory.server", 16),
    gpu="gpu.other",
    system="system.server",
)
POWER = machine_of(MID, bench_catalog()).power
DESK_W, PEAK_W = POWER.sustained_w or 0.0, POWER.transient_w or 0.0
CERTAIN_W = 508.0
US = Site(country="US", volts=120.0, breaker_a=15.0)


LIGHT_MAINS = bench_rig(psu="psu.mid", site=US)


def _cord(inlet: str | None, wall_w: float) -> dict[str, dict[str, object]]:
    """A card by which the rig draws so many watts from the wall, through this inlet."""
    return {
        "psu.mid": {"supply.inlet": inlet},
        "gpu.card": {"tdp_w": wall_w * (POWER.efficiency or 1.0) - DESK_W + 300.0},
    }


def _rated(watts: float, standard: str = "ATX 3.0") -> dict[str, dict[str, object]]:
    return {"psu.mid": {"supply.ratings": (Rating(100, watts),), "supply.standard": standard}}


def _pair(watts: float) -> dict[str, dict[str, object]]:
    """Two units of which one is enough: the other is kept in reserve."""
    return {
        "psu.mid": {
            "supply.ratings": (Rating(100, watts),),
            "supply.redundant": True,
            "supply.units": 2,
        }
    }


def _plugs(*plugs: Plug) -> dict[str, dict[str, object]]:
    return {"psu.mid": {"supply.plugs": plugs}}


def _ups(**figures: float | None) -> dict[str, dict[str, object]]:
    return {"ups.mid": dict(figures)}


BACKED = bench_rig(ups="ups.mid")
WALL_W = DESK_W / 0.94
EPS, EIGHT = Plug("eps8", 1), Plug("pcie8", 2)
CPU_SOCKET = {"gpu.card": {"connectors": (Plug("eps8", 1),)}}
SWAPPED = {
    "psu.mid": {
        "supply.plugs": (EPS, Plug("pcie8", 1), Plug("12v-2x6", 1)),
        "supply.pcie8_instead": 2,
    }
}
FOUR_ON_A_BOARD = {
    "gpu.card": {"dies": 4, "tdp_w": 250.0, "power_min_w": 50.0, "power_max_w": 62.5}
}
SIXTEEN = {"gpu.card": {"connectors": (Plug("12v-2x6", 1),)}}

UNLISTED = {"psu.mid": {"supply.plugs": None, "supply.standard": "ATX 2.53"}}
"""A supply of 1000 W between the standards, of which nobody says the cables: three 8-pin plugs at
least, two 16-pin plugs at most."""


def _adapted(watts: float) -> dict[str, dict[str, object]]:
    """A card with a 16-pin plug on a supply that has 8-pin plugs alone."""
    card = {"connectors": (Plug("12v-2x6", 1),), "tdp_w": watts}
    return {**_plugs(EPS, Plug("pcie8", 4)), "gpu.card": card}


CASES = (
    case("PWR020", "fires", LIGHT_MAINS, _cord("C14", 1201)),
    case("PWR020", "fires", LIGHT_MAINS, _cord("C14", 1801), "error"),
    case("PWR020", "limit", LIGHT_MAINS, _cord("C14", 1199)),
    case("PWR020", "limit", LIGHT_MAINS, _cord("C20", 1919)),
    case("PWR020", "silent", MID, _cord("C14", 1201)),
    case("PWR020", "unknown", LIGHT_MAINS, _cord(None, 1201)),
    case("PWR002", "fires", MID, _rated(CERTAIN_W - 1)),
    case("PWR002", "fires", MID, _rated(DESK_W - 1), "warning"),
    case("PWR002", "fires", MID, _pair(CERTAIN_W / 2 - 1)),
    case("PWR002", "fires", MID, _pair(DESK_W - 1), "warning"),
    case("PWR002", "limit", MID, _rated(DESK_W)),
    case("PWR002", "limit", MID, _pair(DESK_W)),
    case("PWR002", "silent", DESK_RIG),
    case("PWR002", "unknown", DESK_RIG, {"cpu.desk": {"max_power_w": None, "tdp_w": None}}),
    case("PWR003", "fires", MID, _rated(DESK_W / 0.9 - 1)),
    case("PWR003", "limit", MID, _rated(DESK_W / 0.9 + 0.001)),
    case("PWR003", "silent", DESK_RIG),
    case("PWR003", "unknown", MID, {"psu.mid": {"supply.ratings": ()}}),
    case("PWR004", "fires", MID, _rated(math.floor(PEAK_W / SWITCHES_OFF_AT) - 1, "ATX 2.4")),
    case("PWR004", "fires", MID, _rated(PEAK_W - 1, "ATX 2.4"), "info"),
    case("PWR004", "limit", MID, _rated(PEAK_W, "ATX 2.4")),
    case("PWR004", "silent", MID, _rated(PEAK_W - 1)),
    case("PWR004", "unknown", DESK_RIG, {"gpu.card": {"tdp_w": None}}),
    case("PWR005", "fires", MID, _plugs(EIGHT)),
    case("PWR005", "limit", MID, _plugs(EIGHT, EPS)),
    case("PWR005", "silent", DESK_RIG),
    case(
        "PWR005",
        "unknown",
        PAIR_MID,
        {**UNLISTED, "gpu.card": {"connectors": (Plug("12v-2x6", 1),), "tdp_w": 575}},
    ),
    case("PWR006", "fires", PAIR_MID, _plugs(EPS, Plug("pcie8", 3))),
    case("PWR006", "fires", MID, {**_plugs(EIGHT, EPS), "board.desk": {"layout.eps8": 2}}, "info"),
    case("PWR006", "limit", PAIR_MID, _plugs(EPS, Plug("pcie8", 4))),
    case("PWR006", "fires", PAIR_MID, SWAPPED),
    case("PWR006", "limit", MID, SWAPPED),
    case(
        "PWR006",
        "fires",
        MID,
        {**SWAPPED, "gpu.card": {"connectors": (Plug("pcie8", 2), Plug("12v-2x6", 1))}},
    ),
    case("PWR006", "silent", DESK_RIG),
    case(
        "PWR006", "unknown", PAIR_MID, {**UNLISTED, "gpu.card": {"connectors": (Plug("pcie8", 4),)}}
    ),
    case("PWR007", "fires", MID, {**_plugs(EPS, Plug("pcie8", 4)), **SIXTEEN}, "info"),
    case("PWR007", "fires", MID, _adapted(481)),
    case("PWR007", "fires", MID, _adapted(480), "info"),
    case(
        "PWR007",
        "fires",
        bench_rig(psu="psu.mid", cable="cable.pigtail"),
        _adapted(320),
    ),
    case(
        "PWR005",
        "fires",
        MID,
        {
            **_plugs(EPS, Plug("pcie8", 2)),
            "gpu.card": {"connectors": (Plug("12v-2x6", 1),), "tdp_w": 575},
        },
    ),
    case("PWR007", "limit", MID, {**_plugs(EPS, Plug("12vhpwr", 1)), **SIXTEEN}),
    case("PWR007", "fires", MID, {**_plugs(EPS, Plug("pcie8", 2)), **CPU_SOCKET}, "info"),
    case(
        "PWR005",
        "fires",
        bench_rig(gpu="gpu.passive", psu="psu.mid", chassis="case.server"),
        _plugs(EIGHT),
    ),
    case(
        "PWR006",
        "fires",
        bench_rig(gpu="gpu.passive", psu="psu.mid", chassis="case.server"),
        _plugs(EPS, EIGHT),
    ),
    case(
        "PWR006",
        "limit",
        bench_rig(gpu="gpu.passive", psu="psu.mid", chassis="case.server", eps="eps.cable"),
        _plugs(EPS, EIGHT),
    ),
    case("PWR006", "limit", MID, {**_plugs(EPS, Plug("pcie8", 2)), **CPU_SOCKET}),
    case("PWR007", "silent", DESK_RIG),
    case(
        "PWR007",
        "unknown",
        bench_rig(psu="psu.mid", cable="cable.pigtail"),
        {**UNLISTED, "gpu.card": {"connectors": (Plug("12v-2x6", 1),), "tdp_w": 440}},
    ),
    case(
        "PWR007",
        "limit",
        MID,
        {**UNLISTED, "gpu.card": {"connectors": (Plug("12v-2x6", 1),), "tdp_w": 440}},
    ),
    case("PWR007", "limit", MID, {**UNLISTED, "gpu.card": {"connectors": (Plug("pcie8", 3),)}}),
    case("PWR008", "fires", DESK_RIG, {"gpu.card": {"connectors": None, "tdp_w": 1200}}, "unknown"),
    case("PWR008", "limit", DESK_RIG, {"gpu.card": {"connectors": None}}),
    case("PWR008", "limit", DESK_RIG, {"gpu.card": {"connectors": ()}}),
    case("PWR008", "silent", DESK_RIG),
    case("PWR008", "limit", bench_rig(psu=None), {"board.desk": {"layout.eps8": None}}),
    case(
        "PWR008",
        "unknown",
        DESK_RIG,
        {"board.desk": {"layout.eps8": None}, "psu.big": {"supply.plugs": (Plug("pcie8", 8),)}},
    ),
    case("PWR009", "fires", bench_rig(cable="cable.pigtail")),
    case(
        "PWR009",
        "limit",
        bench_rig(cable="cable.pigtail"),
        {"gpu.card": {"connectors": (Plug("pcie8", 1),)}},
    ),
    case("PWR009", "silent", DESK_RIG),
    case("PWR009", "unknown", bench_rig(cable="cable.pigtail"), {"gpu.card": {"connectors": None}}),
    case("PWR010", "fires", bench_rig(cable="cable.psu"), {"psu.big": {"vendor": "Other"}}),
    case("PWR010", "fires", bench_rig(cable="cable.psu"), None, "info"),
    case("PWR010", "limit", bench_rig(cable="cable.psu", psu=None)),
    case("PWR010", "silent", DESK_RIG),
    case("PWR010", "unknown", bench_rig(cable="cable.psu"), {"psu.big": {"vendor": ""}}),
    case(
        "PWR011",
        "fires",
        bench_rig(site=US),
        {"psu.big": {"supply.ratings": (Rating(200, 1600), Rating(100, 1000))}},
    ),
    case(
        "PWR011",
        "fires",
        bench_rig(site=US),
        {"psu.big": {"supply.ratings": (Rating(200, 1600),)}},
        "error",
    ),
    case(
        "PWR011", "limit", bench_rig(site=US), {"psu.big": {"supply.ratings": (Rating(120, 1600),)}}
    ),
    case("PWR011", "silent", DESK_RIG),
    case(
        "PWR011",
        "unknown",
        bench_rig(site=Site()),
        {"psu.big": {"supply.ratings": (Rating(100, 500), Rating(200, 1600))}},
    ),
    case(
        "PWR011",
        "limit",
        bench_rig(site=Site()),
        {"psu.big": {"supply.ratings": (Rating(100, 1200), Rating(200, 1600))}},
    ),
    case(
        "PWR012",
        "fires",
        bench_rig(site=Site(volts=120.0, breaker_a=15.0, other_load_w=1801 - DESK_W / 0.94)),
    ),
    case(
        "PWR012",
        "fires",
        bench_rig(site=Site(volts=120.0, breaker_a=15.0, other_load_w=1441 - DESK_W / 0.94)),
        None,
        "warning",
    ),
    case(
        "PWR012",
        "limit",
        bench_rig(site=Site(volts=120.0, breaker_a=15.0, other_load_w=1440 - DESK_W / 0.94)),
    ),
    case("PWR012", "silent", DESK_RIG),
    case(
        "PWR012",
        "silent",
        bench_rig(
            psu=("psu.mid", 2),
            site=Site(volts=120.0, breaker_a=15.0, circuits=2, other_load_w=1500),
        ),
    ),
    case(
        "PWR012",
        "fires",
        bench_rig(
            psu=("psu.mid", 2),
            site=Site(volts=120.0, breaker_a=15.0, circuits=2, other_load_w=4000),
        ),
    ),
    case(
        "PWR012",
        "fires",
        bench_rig(
            site=Site(volts=120.0, breaker_a=15.0, circuits=2, other_load_w=1801 - DESK_W / 0.94)
        ),
    ),
    case("PWR012", "limit", bench_rig(site=Site(volts=120.0))),
    case("PWR012", "unknown", bench_rig(site=Site(volts=120.0)), {"gpu.card": {"tdp_w": 1300}}),
    case("PWR012", "unknown", bench_rig(site=Site(country="TW")), {"gpu.card": {"tdp_w": 1200}}),
    case("PWR013", "fires", bench_rig(psu=("psu.mid", 3))),
    case("PWR013", "fires", bench_rig(psu=("psu.mid", 2)), {}, "info"),
    case("PWR013", "limit", bench_rig(psu=("psu.mid", 2)), {"psu.mid": {"supply.redundant": True}}),
    case("PWR013", "silent", DESK_RIG),
    case("PWR013", "unknown", bench_rig(psu=("psu.mid", 2)), {"psu.mid": {"form_factor": None}}),
    case("PWR016", "fires", BACKED, _ups(output_w=WALL_W - 1)),
    case("PWR016", "fires", BACKED, _ups(output_w=3000, output_va=WALL_W / 0.95 - 1)),
    case("PWR016", "limit", BACKED, _ups(output_w=WALL_W, output_va=WALL_W / 0.95)),
    case("PWR016", "limit", bench_rig(psu=("psu.mid", 2), ups=("ups.mid", 2)), _ups(output_w=1400)),
    case("PWR016", "silent", DESK_RIG),
    case("PWR016", "unknown", BACKED, _ups(output_va=None)),
    case("PWR016", "unknown", BACKED, {"cpu.desk": {"max_power_w": None, "tdp_w": None}}),
    case(
        "PWR017",
        "fires",
        BACKED,
        _ups(output_w=WALL_W, output_va=3000, runtime_half_min=12.0, runtime_full_min=4.9),
    ),
    case(
        "PWR017",
        "limit",
        BACKED,
        _ups(output_w=WALL_W, output_va=3000, runtime_half_min=12.0, runtime_full_min=5.0),
    ),
    case(
        "PWR017",
        "limit",
        BACKED,
        _ups(output_w=WALL_W * 2, output_va=3000, runtime_half_min=5.0, runtime_full_min=1.0),
    ),
    case("PWR017", "silent", DESK_RIG),
    case("PWR021", "fires", BACKED, _ups(waveform="stepped")),
    case("PWR021", "limit", BACKED, _ups(waveform="sine")),
    case("PWR021", "silent", DESK_RIG),
    case("PWR021", "unknown", BACKED),
    case(
        "PWR017",
        "unknown",
        BACKED,
        _ups(output_w=WALL_W, output_va=3000, runtime_half_min=12.0, runtime_full_min=None),
    ),
    case(
        "PWR017",
        "limit",
        BACKED,
        _ups(output_w=WALL_W * 2, runtime_half_min=None, runtime_full_min=None),
    ),
    case("PWR014", "fires", bench_rig(gpu=("gpu.card", 1, (), 90.0))),
    case("PWR014", "fires", bench_rig(gpu=("gpu.card", 1, (), 401.0))),
    case("PWR014", "limit", bench_rig(gpu=("gpu.card", 1, (), 100.0))),
    case("PWR014", "fires", bench_rig(gpu=("gpu.card", 1, (), 199.0)), FOUR_ON_A_BOARD),
    case("PWR014", "fires", bench_rig(gpu=("gpu.card", 1, (), 251.0)), FOUR_ON_A_BOARD),
    case("PWR014", "limit", bench_rig(gpu=("gpu.card", 1, (), 200.0)), FOUR_ON_A_BOARD),
    case("PWR014", "limit", bench_rig(gpu=("gpu.card", 1, (), 250.0)), FOUR_ON_A_BOARD),
    case("PWR014", "silent", DESK_RIG),
    case(
        "PWR014",
        "unknown",
        bench_rig(gpu=("gpu.card", 1, (), 200.0)),
        {"gpu.card": {"power_min_w": None, "tdp_w": 300, "chip": None}},
    ),
    case(
        "PWR014",
        "limit",
        bench_rig(gpu=("gpu.card", 1, (), 255.0)),
        {"gpu.card": {"power_min_w": None, "tdp_w": 300, "chip": None}},
    ),
    case(
        "PWR014",
        "fires",
        bench_rig(gpu=("gpu.card", 1, (), 50.0)),
        {"gpu.card": {"power_min_w": None, "tdp_w": 300}},
    ),
    case("PWR015", "fires", SERVED, {"gpu.other": {"tdp_w": 301}}),
    case("PWR015", "limit", SERVED),
    case("PWR015", "silent", DESK_RIG),
    case("PWR015", "unknown", SERVED, {"gpu.other": {"tdp_w": None}}),
)
