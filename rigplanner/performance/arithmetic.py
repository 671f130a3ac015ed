"""In which arithmetic does a job run? What a precision becomes on a stack and on silicon without
units for it."""

from rigplanner.performance.geometry.shapes import Shape
from rigplanner.performance.silicon import BF16_ERA, GENERATIONS, MATRIX_PRECISIONS, Silicon
from rigplanner.performance.software.stacks import Stack


def arithmetic_of(
    precision: str,
    stack: Stack,
    shape: Shape,
    silicon: Silicon,
    frozen: bool = False,
    adapters: bool = False,
) -> str:
    """Return the precision that the products run in.

    MLPerf's transformers train in 8-bit floats wherever the silicon has them at full rate
    (submitters' code since v2.1). Weights stored as mxfp4 are widened to 16 bits where there are no
    units for them (llama.cpp, vLLM's Marlin kernels), and so are other 8-bit and 4-bit floats that
    do not train: by serving engines from Turing on (vLLM, docs/features/quantization: Marlin), by
    trainers and pipelines that keep a base in them anywhere (`frozen`; kohya's fp8_base, diffusers'
    layerwise casting). A base below `adapters` is widened whatever the silicon has (kohya's
    fp8_base, quanto; a backward pass over int8), bf16 to 32 bits on silicon before it (PyTorch)."""
    if (precision == "mxfp4" and silicon.fp4 is None) or (precision == "int8" and adapters):
        return "fp16"
    narrow = MATRIX_PRECISIONS.get(precision)
    if (
        narrow in ("fp8", "fp4")
        and (adapters or getattr(silicon, narrow) is None)
        and (_has_marlin(silicon) if stack.family == "serving" else frozen)
    ):
        return "fp16"
    if precision in ("bf16", "amp_bf16") and silicon.era < BF16_ERA:
        return "fp32"
    lowered = (
        stack.family == "mlperf"
        and precision == "mixed"
        and shape.kind in ("encoder", "llm", "moe")
    )
    return "fp8" if lowered and silicon.fp8 is not None and silicon.era >= 6.0 else precision


def _has_marlin(silicon: Silicon) -> bool:
    return silicon.vendor == "nvidia" and silicon.era >= GENERATIONS["turing"]


def usual_precision(stack: Stack, silicon: Silicon) -> str:
    """Return the precision of a stack where a workload names none, on silicon that may lack it."""
    word = stack.precision
    if silicon.era < 3.0 and word in ("amp_fp16", "bf16", "mixed", "int8"):
        return "fp32"
    if word == "fp8" and silicon.fp8 is None:
        return "fp16"
    return "fp16" if word == "bf16" and silicon.era < 4.3 else word
