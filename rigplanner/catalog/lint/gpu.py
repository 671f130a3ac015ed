"""Are the figures of a GPU physical? Rates follow from multiprocessors and clock, bandwidth from
the bus, power from the plugs."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from rigplanner.catalog.lint.complaint import Complaint
from rigplanner.catalog.lint.known_hardware import known_hardware
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Part, Plug

PLUG_WATTS = {
    "pcie6": 75.0,
    "pcie8": 150.0,
    "12vhpwr": 600.0,
    "12v-2x6": 600.0,
    "eps8": 300.0,
    "eps4": 150.0,
}
"""What a connector may carry in W. PCIe 6/8-pin and 12V-2x6: PCI Express CEM 5.1; EPS12V: 4
contacts at 12 V, about 7 A each."""
SLOT_WATTS = 75.0
"""What a PCIe x16 slot gives (PCI Express CEM)."""
BANDWIDTH_TOLERANCE = 0.02
FP32_TOLERANCE = 0.04
RATE_TOLERANCE = 0.05
FLOPS_PER_CORE_CLOCK = 2.0
SLOWEST_QUOTED_CLOCK = 0.75
"""Rates of data-centre modules are quoted at a clock below the highest one; H100 PCIe: 1,620 of
1,755 MHz."""


class Multiprocessor(Struct, frozen=True):
    """One SM of a compute capability: FP32 cores; FP16 and FP64 vector rates over FP32; dense FP16
    matrix operations per clock with FP16 accumulation. `steady` where makers quote the matrix rates
    at the boost clock."""

    cores: int
    fp16: float | None
    fp64: float
    matrix: int | None = None
    steady: bool = True


MULTIPROCESSORS = {
    "3.0": Multiprocessor(192, None, 1 / 24),
    "3.2": Multiprocessor(192, None, 1 / 24),
    "3.5": Multiprocessor(192, None, 1 / 3),
    "3.7": Multiprocessor(192, None, 1 / 3),
    "5.0": Multiprocessor(128, None, 1 / 32),
    "5.2": Multiprocessor(128, None, 1 / 32),
    "5.3": Multiprocessor(128, 2, 1 / 32),
    "6.0": Multiprocessor(64, 2, 1 / 2),
    "6.1": Multiprocessor(128, 1 / 64, 1 / 32),
    "6.2": Multiprocessor(128, 2, 1 / 32),
    "7.0": Multiprocessor(64, 2, 1 / 2, 1024, steady=False),
    "7.2": Multiprocessor(64, 2, 1 / 2, 1024),
    "7.5": Multiprocessor(64, 2, 1 / 32, 1024),
    "8.0": Multiprocessor(64, 4, 1 / 2, 2048),
    "8.6": Multiprocessor(128, 1, 1 / 64, 1024),
    "8.7": Multiprocessor(128, 2, 1 / 64, 2048),
    "8.9": Multiprocessor(128, 1, 1 / 64, 1024),
    "9.0": Multiprocessor(128, 2, 1 / 2, 4096, steady=False),
    "10.0": Multiprocessor(128, 2, 1 / 2, 8192, steady=False),
    "10.3": Multiprocessor(128, 2, 1 / 2, 8192, steady=False),
    "12.0": Multiprocessor(128, 1, 1 / 64, 1024),
    "12.1": Multiprocessor(128, 1, 1 / 64, 1024),
}
"""CUDA C++ Programming Guide, arithmetic throughput by compute capability; matrix rates of the
NVIDIA architecture whitepapers."""

MATRIX_SHARES = {
    "fp16": (1.0, 0.5),
    "bf16": (1.0, 0.5),
    "tf32": (0.5, 0.25),
    "fp16_acc16": (1.0, 0.5),
    "fp8": (2.0, 1.0),
    "int8": (2.0, 1.0),
    "int4": (4.0, 2.0),
    "fp4": (4.0,),
}
"""Shares of the FP16 matrix rate that a precision may have; half where a card accumulates in FP32
at half the rate."""


MEMORY_RATES_GBPS = {
    "DDR3": (0.8, 2.2),
    "GDDR5": (3.6, 9.1),
    "GDDR5X": (9.0, 12.0),
    "GDDR6": (10.0, 20.2),
    "GDDR6X": (18.0, 24.1),
    "GDDR7": (17.0, 36.0),
    "HBM2": (1.3, 2.45),
    "HBM2e": (1.2, 3.7),
    "HBM3": (4.0, 6.5),
    "HBM3e": (6.0, 9.8),
    "LPDDR4": (1.8, 4.3),
    "LPDDR4X": (1.8, 4.3),
    "LPDDR5": (3.0, 6.5),
    "LPDDR5X": (6.0, 10.7),
}
"""Transfer rates per pin in Gb/s that parts of a memory type were sold at (JEDEC standards and
makers' data sheets)."""
GIB_PER_CHANNEL = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
"""Graphics memory per 32-bit channel in GiB: one chip of 2 to 24 Gb, or two of them on one channel.
"""


def check_gpu(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """All checks of one GPU; a field that is in doubt is not judged."""
    if isinstance(part, GPU):
        for check in (
            _bandwidth,
            _fp32,
            _cores,
            _vector_rates,
            _matrix_rates,
            _die,
            _memory,
            _power,
            _statements,
        ):
            yield from check(part)


def _doubtful(part: GPU, *fields: str) -> bool:
    return any(field in part.doubts for field in fields)


def _bandwidth(part: GPU) -> Iterator[Complaint]:
    if (
        part.bandwidth_gbs
        and part.memory_bus_bits
        and part.memory_rate_gbps
        and not _doubtful(part, "bandwidth_gbs")
    ):
        expected = part.memory_bus_bits * part.memory_rate_gbps / 8
        if abs(part.bandwidth_gbs / expected - 1) > BANDWIDTH_TOLERANCE:
            yield Complaint(
                part.id,
                "bandwidth_gbs",
                "bandwidth",
                f"{part.bandwidth_gbs:g}",
                f"{expected:g} (bus x rate / 8)",
            )


def _fp32(part: GPU) -> Iterator[Complaint]:
    fp32 = part.dense_tflops.fp32
    if not (fp32 and part.cores and part.boost_mhz) or _doubtful(
        part, "dense_tflops", "dense_tflops.fp32"
    ):
        return
    expected = FLOPS_PER_CORE_CLOCK * part.cores * part.boost_mhz * 1e-6
    issues = {"NVIDIA": (1.0,), "AMD": (1.0, 2.0)}.get(part.vendor, ())
    if issues and all(abs(fp32 / (expected * issue) - 1) > FP32_TOLERANCE for issue in issues):
        yield Complaint(
            part.id,
            "dense_tflops.fp32",
            "fp32-rate",
            f"{fp32:g}",
            f"{expected:.4g} (2 x cores x boost)",
        )


def _cores(part: GPU) -> Iterator[Complaint]:
    sm = MULTIPROCESSORS.get(part.compute_capability or "")
    if (
        sm
        and part.sms
        and part.cores
        and part.cores != part.sms * sm.cores
        and not _doubtful(part, "cores", "sms")
    ):
        yield Complaint(
            part.id,
            "cores",
            "cores-per-sm",
            str(part.cores),
            f"{part.sms * sm.cores} ({sm.cores} per multiprocessor)",
        )


def _vector_rates(part: GPU) -> Iterator[Complaint]:
    sm, rates = MULTIPROCESSORS.get(part.compute_capability or ""), part.dense_tflops
    if sm is None or not rates.fp32:
        return
    if rates.fp16_vector and not _doubtful(part, "dense_tflops.fp16_vector", "dense_tflops.fp32"):
        expected = rates.fp32 * (sm.fp16 or 0.0)
        if abs(rates.fp16_vector - expected) > RATE_TOLERANCE * rates.fp16_vector:
            yield Complaint(
                part.id,
                "dense_tflops.fp16_vector",
                "vector-rate",
                f"{rates.fp16_vector:g}",
                f"{expected:.4g}",
            )
    if rates.fp64 and not _doubtful(part, "dense_tflops.fp64", "dense_tflops.fp32"):
        expected = rates.fp32 * sm.fp64
        if rates.fp64 > (1 + RATE_TOLERANCE) * expected or (
            sm.steady and rates.fp64 < (1 - RATE_TOLERANCE) * expected
        ):
            yield Complaint(
                part.id, "dense_tflops.fp64", "vector-rate", f"{rates.fp64:g}", f"{expected:.4g}"
            )


def _matrix_rates(part: GPU) -> Iterator[Complaint]:
    sm = MULTIPROCESSORS.get(part.compute_capability or "")
    if (
        sm is None
        or sm.matrix is None
        or not part.sms
        or not part.boost_mhz
        or part.dense_tflops.fp16 is None
    ):
        return
    whole = sm.matrix * part.sms * part.boost_mhz * 1e-6
    for name, shares in MATRIX_SHARES.items():
        rate, field = getattr(part.dense_tflops, name), f"dense_tflops.{name}"
        if rate is None or _doubtful(part, field):
            continue
        slowest = 1 - RATE_TOLERANCE if sm.steady else SLOWEST_QUOTED_CLOCK
        if not any(slowest <= rate / (whole * share) <= 1 + RATE_TOLERANCE for share in shares):
            expected = " or ".join(f"{whole * share:.4g}" for share in shares)
            yield Complaint(
                part.id,
                field,
                "matrix-rate",
                f"{rate:g}",
                f"{expected} (dense, multiprocessors x clock)",
            )


def _die(part: GPU) -> Iterator[Complaint]:
    dies = known_hardware().full_dies
    if part.chip not in dies:
        return
    sms, bus_bits = dies[part.chip]
    if part.sms and part.sms > sms:
        yield Complaint(
            part.id, "sms", "beyond-die", str(part.sms), f"at most {sms} on {part.chip}"
        )
    if part.memory_bus_bits and part.memory_bus_bits > bus_bits:
        yield Complaint(
            part.id,
            "memory_bus_bits",
            "beyond-die",
            str(part.memory_bus_bits),
            f"at most {bus_bits} on {part.chip}",
        )


def _memory(part: GPU) -> Iterator[Complaint]:
    limits = MEMORY_RATES_GBPS.get(part.memory_type or "")
    rate = part.memory_rate_gbps
    if (
        limits
        and rate
        and not limits[0] <= rate <= limits[1]
        and not _doubtful(part, "memory_rate_gbps", "memory_type")
    ):
        expected = f"{limits[0]:g} to {limits[1]:g} ({part.memory_type})"
        yield Complaint(part.id, "memory_rate_gbps", "memory-rate", f"{rate:g}", expected)
    if (part.memory_type or "").startswith("GDDR") and part.memory_gib and part.memory_bus_bits:
        channel = part.memory_gib / (part.memory_bus_bits / 32)
        if channel not in GIB_PER_CHANNEL and not _doubtful(part, "memory_gib", "memory_bus_bits"):
            expected = ", ".join(f"{gib:g}" for gib in GIB_PER_CHANNEL)
            yield Complaint(
                part.id, "memory_gib", "memory-per-channel", f"{channel:g} GiB on 32 bits", expected
            )


def _power(part: GPU) -> Iterator[Complaint]:
    if part.tdp_w is None:
        return
    if part.dies == 1 and not (part.power_min_w or 0.0) <= part.tdp_w <= (
        part.power_max_w or part.tdp_w
    ):
        yield Complaint(
            part.id,
            "tdp_w",
            "power-limits",
            f"{part.power_min_w} <= {part.tdp_w:g} <= {part.power_max_w}",
        )
    if (
        part.form_factor != "pcie"
        or part.connectors is None
        or _doubtful(part, "connectors", "tdp_w")
    ):
        return
    carried = SLOT_WATTS + plug_watts(part.connectors)
    for field, watts in (("connectors", part.tdp_w), ("power_max_w", part.power_max_w)):
        if watts and watts > carried and field not in part.doubts:
            yield Complaint(
                part.id, field, "connector-power", f"{carried:g} W", f"at least {watts:g} W"
            )


def _statements(part: GPU) -> Iterator[Complaint]:
    for name in part.unsupported:
        if getattr(part.dense_tflops, name, None) is not None:
            yield Complaint(
                part.id,
                f"dense_tflops.{name}",
                "unsupported-rated",
                name,
                "null where the hardware lacks it",
            )
    if part.has_nvlink is False and part.nvlink is not None:
        yield Complaint(part.id, "nvlink", "nvlink", "a port", "none, has_nvlink is false")


def plug_watts(plugs: Iterable[Plug]) -> float:
    """Return what power connectors may carry together in W, by PLUG_WATTS."""
    return sum(PLUG_WATTS.get(plug.type, 0.0) * plug.count for plug in plugs)


SAME_CHIP_FIELDS = ("architecture", "compute_capability")


def check_chip(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """The same chip has the same architecture and compute capability everywhere."""
    if not isinstance(part, GPU) or not part.chip:
        return
    first = next(
        other
        for other in catalog.parts.values()
        if isinstance(other, GPU) and other.chip == part.chip
    )
    for field in SAME_CHIP_FIELDS:
        mine, theirs = getattr(part, field), getattr(first, field)
        if mine is not None and theirs is not None and mine != theirs:
            yield Complaint(part.id, field, "chip-family", str(mine), f"{theirs} as {first.id}")
