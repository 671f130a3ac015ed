"""Memory kits and drives."""

from typing import Literal

from rigplanner.catalog.schema.part import Part


class MemoryKit(Part, frozen=True, kw_only=True, tag="memory"):
    """`modules` sticks of `module_gib` each; `module` is udimm, ecc-udimm, rdimm, lrdimm, sodimm,
    cudimm or mrdimm."""

    type: str
    module: str | None
    modules: int
    module_gib: float
    speed_mts: int | None = None
    cas: float | None = None
    voltage_v: float | None = None
    height_mm: float | None = None
    ecc: bool | None = None


class Storage(Part, frozen=True, kw_only=True, tag="storage"):
    """A drive. Rates are GB/s sequential and thousands of 4 KiB operations per second at high queue
    depth. `power_w` is the active power of its data sheet; where that gives none, what an NVMe
    drive itself declares for power state 0 (NVMe base specification, power state descriptor): its
    active power, else its maximum."""

    form_factor: Literal["m2", "2.5", "3.5", "u2", "u3", "e1s", "e3s", "aic"]
    interface: Literal["nvme", "sata", "sas"]
    capacity_gb: float
    gen: int | None = None
    width: int | None = None
    read_gbs: float | None = None
    write_gbs: float | None = None
    random_read_kiops: float | None = None
    random_write_kiops: float | None = None
    endurance_tbw: float | None = None
    power_w: float | None = None
    rotation_rpm: int | None = None
    m2_length_mm: int | None = None
