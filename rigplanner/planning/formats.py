"""Number formats: what their bits hold, and what a GPU does with each."""

from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.performance.without_network.matrix import rate_in
from rigplanner.rules.software.kernels import lacks

How = Literal["matrix", "shaders", "slow", "emulated", "stored", "none", "unknown"]
"""matrix: units of their own; shaders: the ordinary units; slow: these at a token of their FP32
rate; emulated: computed in another format, slowly; stored: weights may lie so and are widened to be
computed; none: not even that; unknown: the catalog does not tell."""

TOKEN = 1 / 16


class Format(Struct, frozen=True, kw_only=True):
    """A floating-point format by its bits (sign, exponent, mantissa), its largest and smallest
    normal value and its step at 1; of an integer the bits, and its largest value. `rate` is the
    listed rate of a GPU that computes in it."""

    name: str
    exponent: int
    mantissa: int
    largest: float
    smallest: float | None = None
    step: float | None = None
    rate: str
    capability: str | None = None

    @property
    def bits(self) -> int:
        """Bits of a value with its sign."""
        return 1 + self.exponent + self.mantissa


def _float(name: str, exponent: int, mantissa: int, capability: str | None = None) -> Format:
    """An IEEE 754 format: bias 2^(e-1) - 1, the highest exponent for infinities."""
    bias = 2 ** (exponent - 1) - 1
    return Format(
        name=name,
        exponent=exponent,
        mantissa=mantissa,
        largest=(2 - 2.0**-mantissa) * 2.0**bias,
        smallest=2.0 ** (1 - bias),
        step=2.0**-mantissa,
        rate=name,
        capability=capability,
    )


FORMATS = (
    _float("fp64", 11, 52),
    _float("fp32", 8, 23),
    _float("tf32", 8, 10, "8.0"),
    _float("fp16", 5, 10, "7.0"),
    _float("bf16", 8, 7, "8.0"),
    Format(name="fp8", exponent=4, mantissa=3, largest=448.0, smallest=2.0**-6, step=2.0**-3,
           rate="fp8", capability="8.9"),
    Format(name="fp4", exponent=2, mantissa=1, largest=6.0, smallest=1.0, step=0.5, rate="fp4",
           capability="10.0"),
    Format(name="int8", exponent=0, mantissa=7, largest=127.0, rate="int8", capability="6.1"),
    Format(name="int4", exponent=0, mantissa=3, largest=7.0, rate="int4", capability="7.5"),
)  # fmt: skip
"""fp8 is E4M3 (E5M2, for gradients, reaches 57,344 with two bits of mantissa), fp4 is E2M1, both as
the Open Compute Project's Microscaling Formats (2023) define them; tf32 is stored in 32 bits."""


class OnCard(Struct, frozen=True):
    """What a GPU does with a format: how, and its dense rate in TFLOPS (TOPS), where it computes in
    it."""

    format: Format
    how: How
    tflops: float | None = None


STORED = ("fp8", "fp4", "int8", "int4")
"""Formats in which weights lie on any card, widened as they are read."""


def formats_on(gpu: GPU) -> tuple[OnCard, ...]:
    """Return what a GPU does with each format, from its listed rates and its generation: the same
    answer that the rules give (bf16 below compute capability 8.0 is emulated, SW007)."""
    return tuple(OnCard(each, *_on(each, gpu)) for each in FORMATS)


DOT_PRODUCTS = (("6", "7.0"), "int8")
"""Generations whose int8 runs on the ordinary units (dot products of four bytes)."""


def _on(each: Format, gpu: GPU) -> tuple[How, float | None]:
    found, single = rate_in(gpu, each.rate), gpu.dense_tflops.fp32
    capability = gpu.compute_capability or ""
    if found is not None:
        name, rate = found
        dots = each.name == DOT_PRODUCTS[1] and capability.startswith(DOT_PRODUCTS[0])
        if name in ("fp64", "fp32", "fp16_vector") or dots:
            return ("slow" if single and rate / single <= TOKEN else "shaders"), rate
        return "matrix", rate
    if each.name == "bf16" and capability and lacks(gpu, "bf16"):
        return "emulated", None
    if each.name in STORED or (each.name == "fp16" and single):
        return "stored", None
    return "none" if each.rate in gpu.unsupported else "unknown", None
