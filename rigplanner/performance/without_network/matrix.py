"""Products of square matrices: what a GPU's units reach in a format, FP64 among them."""

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Step
from rigplanner.memory.without_network import ELEMENT_BYTES, MATRICES
from rigplanner.performance.answer import Bound, SpeedEstimate
from rigplanner.performance.silicon import silicon_of
from rigplanner.rig.workload import Workload
from rigplanner.workload.without_network import matrix_size

RATES = {
    "fp64": ("fp64_tensor", "fp64"),
    "fp32": ("fp32",),
    "tf32": ("tf32",),
    "fp16": ("fp16", "fp16_vector"),
    "bf16": ("bf16",),
    "fp8": ("fp8",),
    "fp4": ("fp4",),
    "int8": ("int8",),
    "int4": ("int4",),
}
"""The listed rates of a GPU that do the products of a format, the first that is known."""
SHADER_SHARE, MATRIX_SHARE = 0.88, 0.75
"""Of the listed peak that cuBLAS reaches on large square matrices: on shaders, and on matrix units,
whose clock falls under that load (judgement between published figures of 0.75 to 0.95)."""
SHADERS = ("fp64", "fp32", "fp16_vector")
MEMORY_SHARE, START_S = 0.8, 1e-5
WITHIN = 1.2
"""Factor either way within which four in five figures lie (estimate)."""


def rate_in(gpu: GPU, precision: str) -> tuple[str, float] | None:
    """Return the listed peak in TFLOPS (TOPS) that does the products of a format, and which one it
    is; None where the catalog lists none."""
    for name in RATES.get(precision, ()):
        value = getattr(gpu.dense_tflops, name)
        if value:
            return name, value
    return None


def formats_of(gpu: GPU) -> tuple[str, ...]:
    """Return the formats whose products a GPU has a listed rate for."""
    return tuple(precision for precision in RATES if rate_in(gpu, precision))


def rate_or_fault(gpu: GPU, precision: str) -> tuple[str, float]:
    """Return the listed peak of a format. Raises WorkloadFault that says whether the chip lacks it
    or the catalog does not know it, with the formats that are known."""
    if precision not in RATES:
        raise WorkloadFault(f"precision: expected one of {', '.join(RATES)}, found '{precision}'.")
    found = rate_in(gpu, precision)
    if found:
        return found
    usable = ", ".join(formats_of(gpu)) or "none that the catalog lists"
    if all(name in gpu.unsupported for name in RATES[precision]):
        raise WorkloadFault(
            f"precision: {gpu.name} has no {precision} arithmetic; use one of {usable}."
        )
    raise WorkloadFault(
        f"precision: the catalog lacks the {precision} rate of {gpu.name}; known are {usable}."
    )


def predict_matrix(workload: Workload, gpu: GPU, count: int) -> SpeedEstimate:
    """Return the TFLOPS at which `count` GPUs multiply square matrices, each its own, with the time
    of one product; in FP64 also how much faster FP32 is. Raises WorkloadFault for a format that the
    GPU lacks."""
    precision = workload.precision or "fp32"
    size = matrix_size(workload)
    name, peak = rate_or_fault(gpu, precision)
    share = SHADER_SHARE if name in SHADERS else MATRIX_SHARE
    work = 2.0 * size**3
    bandwidth = silicon_of(gpu).bandwidth_gbs * 1e9 * MEMORY_SHARE
    matrix_s = work / (peak * 1e12 * share)
    memory_s = MATRICES * size**2 * ELEMENT_BYTES[precision] / bandwidth
    seconds = max(matrix_s, memory_s) + START_S
    value = count * work / seconds / 1e12
    bound: Bound = "bandwidth" if memory_s > matrix_s else "compute"
    assumed = {"matrix_n": str(size)} if workload.matrix_n is None else {}
    if workload.precision is None:
        assumed["precision"] = precision
    return SpeedEstimate(
        metric="TFLOPS",
        value=value,
        low=value / WITHIN,
        high=min(value * WITHIN, count * peak),
        stack="cublas",
        bound=bound if seconds > 2 * START_S else "launch",
        step_ms=1e3 * seconds,
        mfu=min(1.0, value / count / peak),
        assumed=assumed,
        fp32_gain=_gain(workload, gpu, seconds) if precision == "fp64" else None,
        steps=(
            Step(
                "matrix_product",
                "2 n^3 / (peak x share)",
                {"n": size, "peak_tflops": peak, "rate": name, "share": share},
                seconds,
                "s",
                "catalog",
            ),
        ),
    )


def _gain(workload: Workload, gpu: GPU, seconds: float) -> float | None:
    """How many times as fast the same product is in FP32; None where its rate is not known."""
    if rate_in(gpu, "fp32") is None:
        return None
    single = predict_matrix(replace(workload, precision="fp32"), gpu, 1)
    return seconds * 1e3 / single.step_ms if single.step_ms else None
