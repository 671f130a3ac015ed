"""Which rules a candidate of each kind can change, by the fields that they read of it.

A rule that is missing from its kind's groups makes a badge wrong: a test compares the badges with all rules run on each candidate.
"""

from typing import Literal

from msgspec import Struct

from rigplanner.rules.topics import RULES_BY_CODE


class Group(Struct, frozen=True):
    """Rules that read only these fields of a candidate besides the rig (none named: all). `machine` says what must be made
    anew for it: nothing, the power tree, or the whole machine. In the field `rising` a greater value never has a better
    verdict, so that what two values share holds for all between them."""

    codes: tuple[str, ...]
    fields: tuple[str, ...] = ()
    machine: Literal["same", "power", "new"] = "same"
    rising: str = ""


def _codes(*stems: str) -> tuple[str, ...]:
    return tuple(code for code in RULES_BY_CODE if code.startswith(stems))


def _but(*codes: str) -> tuple[str, ...]:
    return tuple(code for code in RULES_BY_CODE if code not in codes)


_SPACE, _SOFTWARE, _POWER = _codes("SPC"), _codes("SW"), _codes("PWR")
_BASICS = _codes("RIG", "KNO")

PLACED = {
    "storage": ("form_factor", "interface", "gen", "width", "m2_length_mm"),
    "nic": ("form_factor", "edge_gen", "edge_width", "ports", "port_gbps", "rdma", "protocol"),
}
"""Fields of a candidate that decide places and links; for kinds not listed all may, for GPUs see `GPU_PLACED`."""

_SOCKETS = tuple(f"PWR00{n}" for n in range(5, 10))
_WATTS = tuple(code for code in _POWER if code not in (*_SOCKETS, "PWR014"))

_GPU_GROUPS = (
    Group(("SPC001",), ("form_factor",), rising="length_mm"),
    Group(("SPC002",), ("form_factor",), rising="height_mm"),
    Group(("NVL001", "NVL002", "NVL006"), ("has_nvlink", "nvlink")),
    Group(("DSP001",), ("display_outputs",)),
    Group(("CLG001", "PCI006"), ("cooling", "form_factor")),
    Group(("PCI007",), ("vendor",)),
    Group(_SOFTWARE, ("compute_capability", "form_factor")),
    Group(_SOCKETS, ("connectors", "form_factor", "cooling"), "power"),
    Group(_WATTS, ("architecture", "form_factor"), "power", "tdp_w"),
    Group(("CLG005",), ("cooling", "form_factor"), rising="tdp_w"),
    Group(("PWR014",), ("power_min_w", "power_max_w")),
    Group((*_codes("VRM", "MIG"), "MEM008", "MEM009", "DSK008"), ("memory_gib", "form_factor", "chip", "mig_slices")),
)
"""Rules on cards that look at a few fields each, whatever slot the card gets."""

GPU_ALONE = ("form_factor", "edge_gen", "edge_width", "slots", "dies")
GPU_AMONG = (*GPU_ALONE, "has_nvlink", "p2p", "cooling")
GPU_PLACED = (*GPU_AMONG, "nvlink")
"""What decides places and links of a GPU: alone in the rig, among others, or where bridges or a baseboard may join them."""

_NO_GPU = (
    *_codes("CPU", "SW"),
    *(f"MEM00{n}" for n in range(1, 8)),
    "CLG003",
    "CLG004",
    *(f"SPC00{n}" for n in range(4, 9)),
    "DSK002",
    "DSK003",
    "DSK004",
    "WRK001",
    "WRK002",
    "WRK003",
    "WRK005",
)
"""Rules that no GPU changes."""

GROUPS: dict[str, tuple[Group, ...]] = {
    "gpu": (*_GPU_GROUPS, Group(_but(*_NO_GPU, *(code for group in _GPU_GROUPS for code in group.codes)), GPU_PLACED, "new")),
    "cpu": (Group(("CPU001", "CPU002"), ("socket", "chipsets")), Group(_but("CPU001", "CPU002"), (), "new")),
    "motherboard": (
        Group(("CPU001", "CPU002", "MEM001", "MEM002"), ("layout",)),
        Group(("SPC004",), ("form_factor", "width_mm", "depth_mm")),
        Group(_but("CPU001", "CPU002", "MEM001", "MEM002", "SPC004"), (), "new"),
    ),
    "memory": (
        Group(("MEM001", "MEM002"), ("type", "module")),
        Group(_POWER, ("modules",), "power"),
        Group((*_codes("CPU", "MEM", "DSK"), *_BASICS), ("type", "module", "modules", "module_gib", "speed_mts")),
    ),
    "psu": (Group(("SPC005", "SPC006"), ("form_factor", "length_mm")), Group((*_POWER, *_BASICS), (), "power")),
    "chassis": (Group((*_SPACE, *_codes("CLG"), *_BASICS, "DSK002")),),
    "cooler": (Group((*_SPACE, *_codes("CLG"), *_BASICS, *_POWER, "DSK002"), (), "power"),),
    "storage": (
        Group(_codes("DSK"), ("form_factor", "interface", "capacity_gb", "rotation_rpm", "read_gbs")),
        Group(_POWER, ("form_factor", "power_w"), "power"),
        Group((*_codes("M2", "DSK", "PCI", "SLT"), *_BASICS), (*PLACED["storage"], "read_gbs"), "new"),
    ),
    "bridge": (Group(("NVL001", "NVL002")), Group((*_codes("NVL"), *_BASICS, "P2P001"), (), "new")),
    "nic": (Group(_but(*_NO_GPU, *_codes("VRM", "NVL", "DSP", "P2P")), (), "new"),),
    "accessory": (Group((*_POWER, *_BASICS, "CLG001"), (), "power"),),
}
"""For each kind the rules that a candidate can change, cheap and telling ones first: a group that says no ends the matter.
A kind that is not listed is judged by all rules on a machine of its own."""

ASKING_MEMORY = {*_codes("VRM"), "MEM009", "DSK008"}
