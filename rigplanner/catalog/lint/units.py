"""Do the rates of AMD and Intel GPUs follow from their units and clock? Operations per compute unit
and clock, by architecture."""

from collections.abc import Iterator

from rigplanner.catalog.lint.complaint import Complaint
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Part

_RDNA2 = {"fp64": 8, "fp32": 128, "fp16_vector": 256, "int8": 512, "int4": 1024}
_RDNA3 = {
    "fp64": 8,
    "fp32": 256,
    "fp16_vector": 512,
    "fp16": 512,
    "bf16": 512,
    "int8": 512,
    "int4": 1024,
}
_RDNA4 = {
    "fp64": 8,
    "fp32": 256,
    "fp16_vector": 512,
    "fp16": 1024,
    "bf16": 1024,
    "fp8": 2048,
    "int8": 2048,
    "int4": 4096,
}
_XE_HPG = {"fp32": 256, "fp16_vector": 512, "fp16": 2048, "bf16": 2048, "int8": 4096, "int4": 8192}
UNIT_RATES: dict[str, dict[str, int]] = {
    "GCN4": {"fp64": 8, "fp32": 128, "fp16_vector": 128},
    "GCN5": {"fp32": 128, "fp16_vector": 256},
    "RDNA": {"fp64": 8, "fp32": 128, "fp16_vector": 256},
    "RDNA2": _RDNA2,
    "RDNA3": _RDNA3,
    "RDNA4": _RDNA4,
    "CDNA1": {"fp64": 64, "fp32": 128, "fp16": 1024, "bf16": 512, "int8": 1024},
    "CDNA2": {
        "fp64": 128,
        "fp32": 128,
        "fp64_tensor": 256,
        "fp16": 1024,
        "bf16": 1024,
        "int8": 1024,
    },
    "CDNA3": {
        "fp64": 128,
        "fp32": 256,
        "fp64_tensor": 256,
        "tf32": 1024,
        "fp16": 2048,
        "bf16": 2048,
        "fp8": 4096,
        "int8": 4096,
    },
    "CDNA4": {
        "fp64": 128,
        "fp32": 256,
        "fp64_tensor": 128,
        "fp16": 4096,
        "bf16": 4096,
        "fp8": 8192,
        "fp4": 16384,
        "int8": 8192,
    },
    "Xe-HPG": _XE_HPG,
    "Xe2-HPG": _XE_HPG | {"fp64": 32},
    "Xe-HPC": {
        "fp64": 256,
        "fp32": 256,
        "fp16_vector": 512,
        "tf32": 2048,
        "fp16": 4096,
        "bf16": 4096,
        "int8": 8192,
    },
}
"""Operations per clock of a compute unit (AMD) or Xe core (Intel), two to a multiply-add, without
sparsity.

CDNA 1 and 2, RDNA 3: cycles per instruction in AMD's matrix instruction calculator; RDNA 2 to 4:
table of AMD's GPUOpen on the matrix cores of RDNA 4; CDNA 3 and 4: AMD's CDNA whitepapers; Xe:
Intel's architecture days (128 FP16, 256 INT8 and 512 INT4 operations per XMX engine, 16 of them in
a core of Xe-HPG, 8 of twice the width in one of Xe2)."""
TOLERANCE = 0.005


def check_units(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Each rate is units x clock x operations; sums in 16 bits are no faster than in 32 on either
    maker's units. Rates, units and clocks that sources dispute are not judged."""
    if (
        not isinstance(part, GPU)
        or not part.sms
        or not part.boost_mhz
        or part.architecture not in UNIT_RATES
    ):
        return
    disputed = {field for field, doubt in part.doubts.items() if doubt.state == "conflict"}
    if disputed & {"sms", "boost_mhz"}:
        return
    operations = UNIT_RATES[part.architecture]
    for name, each in (
        operations | ({"fp16_acc16": operations["fp16"]} if "fp16" in operations else {})
    ).items():
        rate, expected = getattr(part.dense_tflops, name), each * part.sms * part.boost_mhz * 1e-6
        field = f"dense_tflops.{name}"
        if rate is not None and field not in disputed and abs(rate / expected - 1) > TOLERANCE:
            yield Complaint(
                part.id,
                field,
                "unit-rate",
                f"{rate:g}",
                f"{expected:.4g} ({each} operations x {part.sms} units x clock)",
            )
