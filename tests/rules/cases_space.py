"""Cases of space and cooling rules."""

from typing import Literal

from rule_bench import SERVER, bench_rig, case

from rigplanner.catalog.schema.parts import GPU, Accessory, Doubt, Part, Plug, Riser
from rigplanner.rig.document import Rig

DESK_RIG = bench_rig()
PAIR = bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2")))
LIQUID = bench_rig(cooler="cooler.liquid")
PASSIVE = bench_rig(gpu="gpu.passive")

LONG = {"case.tower": {"enclosure.board_max_width_mm": 280}}
LABELS = {
    "case.tower": {"enclosure.board_max_width_mm": None, "enclosure.board_max_depth_mm": None}
}


def _sixteen(height_mm: float) -> dict[str, dict[str, object]]:
    """A card with a 16-pin plug, in a case of 160 mm."""
    return {"gpu.card": {"connectors": (Plug("12v-2x6", 1),), "height_mm": height_mm}}


SECOND_SLOT = bench_rig(gpu=("gpu.card", 1, ("PCIE2",)))


def _over_memory(
    room: float, module: float | None, case_mm: float = 180
) -> dict[str, dict[str, object]]:
    """A cooler of 160 mm with so much room below its fan, modules and a case."""
    return {
        "cooler.air": {"memory_room_mm": room, "height_mm": 160},
        "memory.desk": {"height_mm": module},
        "case.tower": {"enclosure.cooler_height_mm": case_mm},
    }


def module_parts(form: Literal["sxm2", "sxm4"]) -> tuple[Part, ...]:
    """A module of a server, a carrier for it, a 48 V supply and a fan with duct."""
    named = {"vendor": "Test", "name": "test"}
    return (
        GPU(id="gpu.module", form_factor=form, tdp_w=300, edge_gen=4, edge_width=16, **named),
        Riser(id="riser.carrier", gen=4, width=16, output=form, retimer=False, **named),
        Accessory(id="power.48", type="supply-48v", **named),
        Accessory(id="fan.duct", type="gpu-fan", **named),
    )


def _module(form: str, **more: str) -> Rig:
    return bench_rig(gpu="gpu.module", riser="riser.carrier", **more)


CASES = (
    case(
        "SPC001",
        "fires",
        DESK_RIG,
        {"gpu.card": {"length_mm": 390.5}, "case.tower": {"enclosure.gpu_length_mm": 390}},
    ),
    case(
        "SPC001",
        "limit",
        DESK_RIG,
        {"gpu.card": {"length_mm": 390}, "case.tower": {"enclosure.gpu_length_mm": 390}},
    ),
    case("SPC001", "silent", DESK_RIG),
    case("SPC001", "unknown", DESK_RIG, {"case.tower": {"enclosure.gpu_length_mm": None}}),
    case(
        "SPC002",
        "fires",
        DESK_RIG,
        {"gpu.card": {"height_mm": 150}, "case.tower": {"enclosure.gpu_height_mm": 149}},
    ),
    case(
        "SPC002",
        "limit",
        DESK_RIG,
        {"gpu.card": {"height_mm": 150}, "case.tower": {"enclosure.gpu_height_mm": 150}},
    ),
    case(
        "SPC002",
        "silent",
        DESK_RIG,
        {"gpu.card": {"height_mm": 111}, "case.tower": {"enclosure.gpu_height_mm": None}},
    ),
    case(
        "SPC002",
        "unknown",
        DESK_RIG,
        {
            "case.tower": {"enclosure.gpu_height_mm": None, "enclosure.cooler_height_mm": 145},
            "cooler.air": {"height_mm": 140},
            "gpu.card": {"height_mm": 140},
        },
    ),
    case(
        "SPC002",
        "limit",
        DESK_RIG,
        {"case.tower": {"enclosure.gpu_height_mm": None}, "gpu.card": {"height_mm": 140}},
    ),
    case(
        "SPC002",
        "fires",
        DESK_RIG,
        {"case.tower": {"enclosure.gpu_height_mm": None}, "gpu.card": {"height_mm": 178}},
    ),
    case("SPC003", "fires", bench_rig(gpu=("gpu.card", 1, ("PCIE3",)))),
    case("SPC003", "limit", bench_rig(gpu=("gpu.other", 1, ("PCIE3",)))),
    case("SPC003", "silent", DESK_RIG),
    case("SPC003", "silent", DESK_RIG, {"case.tower": {"enclosure.slot_columns": None}}),
    case(
        "SPC003",
        "unknown",
        DESK_RIG,
        {"case.tower": {"enclosure.slot_columns": None, "enclosure.rack_units": 4.0}},
    ),
    case("SPC004", "fires", bench_rig(SERVER, chassis="case.tower")),
    case("SPC004", "fires", DESK_RIG, {"board.desk": {"width_mm": 275, "depth_mm": 325}, **LONG}),
    case("SPC004", "fires", bench_rig(SERVER, chassis=None, system="system.server")),
    case("SPC004", "limit", bench_rig(SERVER)),
    case("SPC004", "limit", DESK_RIG, {"board.desk": {"width_mm": 272, "depth_mm": 305}}),
    case(
        "SPC004", "unknown", DESK_RIG, {"board.desk": {"width_mm": 244, "depth_mm": 325}, **LABELS}
    ),
    case("SPC004", "silent", DESK_RIG),
    case(
        "SPC004",
        "unknown",
        bench_rig(SERVER, chassis="case.tower"),
        {
            "case.tower": {
                "enclosure.board_max_width_mm": None,
                "enclosure.board_form_factors": ("ATX", "E-ATX"),
            }
        },
    ),
    case("SPC010", "fires", DESK_RIG, _sixteen(130)),
    case("SPC010", "limit", DESK_RIG, _sixteen(125)),
    case("SPC010", "limit", DESK_RIG, {"gpu.card": {"height_mm": 150}}),
    case("SPC010", "silent", bench_rig(chassis=None)),
    case("SPC005", "fires", DESK_RIG, {"case.tower": {"enclosure.psu_form_factors": ("SFX",)}}),
    case("SPC005", "fires", DESK_RIG, {"psu.big": {"form_factor": "SFX"}}, "info"),
    case(
        "SPC005", "limit", DESK_RIG, {"case.tower": {"enclosure.psu_form_factors": ("SFX", "ATX")}}
    ),
    case("SPC005", "silent", DESK_RIG),
    case("SPC005", "unknown", DESK_RIG, {"psu.big": {"form_factor": None}}),
    case("SPC006", "fires", DESK_RIG, {"psu.big": {"length_mm": 225}}),
    case("SPC006", "limit", DESK_RIG, {"psu.big": {"length_mm": 220}}),
    case("SPC006", "silent", DESK_RIG),
    case("SPC006", "unknown", DESK_RIG, {"psu.big": {"length_mm": None}}),
    case("SPC007", "fires", DESK_RIG, {"cooler.air": {"height_mm": 171}}),
    case("SPC007", "limit", DESK_RIG, {"cooler.air": {"height_mm": 170}}),
    case("SPC007", "silent", LIQUID),
    case("SPC007", "unknown", DESK_RIG, {"cooler.air": {"height_mm": None}}),
    case("SPC008", "fires", LIQUID, {"cooler.liquid": {"radiator_mm": 420}}),
    case("SPC008", "limit", LIQUID),
    case("SPC008", "silent", DESK_RIG),
    case("SPC008", "unknown", LIQUID, {"case.tower": {"enclosure.radiators_mm": None}}),
    case("CLG001", "fires", PASSIVE),
    case("CLG001", "fires", bench_rig(gpu="gpu.passive", accessory="fan.gpu"), None, "warning"),
    case("CLG001", "limit", bench_rig(gpu="gpu.passive", chassis="case.server")),
    case("CLG001", "silent", DESK_RIG),
    case("CLG001", "unknown", PASSIVE, {"case.tower": {"enclosure.airflow": None}}),
    case("CLG002", "fires", PAIR, {"gpu.card": {"slots": 3.5}}),
    case("CLG002", "limit", PAIR, {"gpu.card": {"slots": 3.25}}),
    case("CLG002", "silent", bench_rig(gpu=("gpu.other", 2, ("PCIE2", "PCIE3")))),
    case("CLG002", "unknown", PAIR, {"gpu.card": {"slots": None}}),
    case("CLG003", "fires", bench_rig(cooler="cooler.server")),
    case("CLG003", "limit", DESK_RIG, {"cooler.air": {"sockets": ("AM4", "AM5")}}),
    case("CLG003", "fires", DESK_RIG, {"cooler.air": {"sockets": ("LGA1200", "AM4")}}, "warning"),
    case(
        "CLG003",
        "limit",
        DESK_RIG,
        {"cpu.desk": {"socket": "LGA1851"}, "cooler.air": {"sockets": ("LGA1700",)}},
    ),
    case(
        "CLG003",
        "fires",
        DESK_RIG,
        {"cpu.desk": {"socket": "LGA1700"}, "cooler.air": {"sockets": ("LGA1200",)}},
    ),
    case(
        "CLG003",
        "fires",
        DESK_RIG,
        {
            "cooler.air": {
                "type": "liquid",
                "sockets": ("LGA1200",),
                "doubts": {"sockets": Doubt(state="unverified")},
            }
        },
        "warning",
    ),
    case("CLG003", "silent", DESK_RIG),
    case("CLG003", "unknown", DESK_RIG, {"cooler.air": {"sockets": ()}}),
    case("CLG004", "fires", DESK_RIG, {"cooler.air": {"rated_w": 169}}),
    case("CLG004", "limit", DESK_RIG, {"cooler.air": {"rated_w": 170}}),
    case("CLG004", "silent", DESK_RIG),
    case("CLG004", "unknown", DESK_RIG, {"cooler.air": {"rated_w": None, "height_mm": 120}}),
    case("CLG004", "limit", DESK_RIG, {"cooler.air": {"rated_w": None}}),
    case("CLG004", "fires", DESK_RIG, {"cooler.air": {"rated_w": None, "height_mm": 35}}),
    case("CLG005", "fires", PAIR, {"case.tower": {"enclosure.airflow": "poor"}}),
    case("CLG005", "limit", PAIR, {"case.tower": {"enclosure.airflow": "average"}}),
    case("CLG005", "silent", PAIR),
    case("CLG005", "unknown", PAIR, {"case.tower": {"enclosure.airflow": None}}),
    case("CLG006", "fires", DESK_RIG, _over_memory(room=35, module=40)),
    case("CLG006", "fires", DESK_RIG, _over_memory(room=35, module=40, case_mm=164.9)),
    case("CLG006", "limit", DESK_RIG, _over_memory(room=40, module=40)),
    case("CLG006", "limit", DESK_RIG, _over_memory(room=35, module=None)),
    case("CLG006", "silent", DESK_RIG),
    case("CLG007", "fires", DESK_RIG, {"cooler.air": {"reach_mm": 68.5}}),
    case("CLG007", "limit", DESK_RIG, {"cooler.air": {"reach_mm": 68}}),
    case("CLG007", "limit", SECOND_SLOT, {"cooler.air": {"reach_mm": 80}}),
    case("CLG007", "silent", DESK_RIG),
    case("PWR022", "fires", _module("sxm4"), extra=module_parts("sxm4")),
    case("PWR022", "limit", _module("sxm4", power="power.48"), extra=module_parts("sxm4")),
    case("PWR022", "limit", _module("sxm2"), extra=module_parts("sxm2")),
    case("PWR022", "silent", DESK_RIG),
    case("CLG008", "fires", _module("sxm2"), extra=module_parts("sxm2")),
    case("CLG008", "limit", _module("sxm2", duct="fan.duct"), extra=module_parts("sxm2")),
    case("CLG008", "silent", DESK_RIG),
)
