"""Memory of jobs that need no network: matrices, tables of RAPIDS, the policy beside simulators."""

from rigplanner.evidence import Step
from rigplanner.memory.answer import MemoryEstimate, MemoryParts
from rigplanner.rig.workload import Workload
from rigplanner.units import GIB
from rigplanner.workload.without_network import (
    WORKING_STACKS,
    Plain,
    matrix_size,
    table_gb,
    table_stack,
)

MATRICES = 3
"""Two factors and their product."""
ELEMENT_BYTES = {"fp64": 8.0, "fp32": 4.0, "tf32": 4.0, "fp16": 2.0, "bf16": 2.0, "fp8": 1.0,
                 "int8": 1.0, "fp4": 0.5, "int4": 0.5}  # fmt: skip
TABLE_TIMES = (2.0, 2.5, 3.0)
"""Memory that joins, sorts and groups take over the table itself: 2 to 3 times, the rule that
RAPIDS' users go by; the middle is taken as the answer. Above it cuDF spills to the host where that
is switched on (docs.nvidia.com/cudf, Spilling, read 2026-11-23)."""
CONTEXT_GIB, WORKSPACE_GIB = 0.5, 0.03
"""The driver's context with one library, and cuBLAS's workspace (32 MiB on Hopper, 4 before)."""
POLICY_GIB = (0.8, 1.5, 3.0)
"""A small policy with its framework on the card while environments run elsewhere (estimate)."""


def estimate_plain(kind: Plain, workload: Workload, count: int) -> MemoryEstimate:
    """Return what a job without a network takes of each of `count` GPUs in GiB; a table is dealt
    out over all of them, matrices are each card's own. Raises WorkloadFault for what is missing."""
    if kind == "matrix":
        size, word = matrix_size(workload), workload.precision or "fp32"
        data = MATRICES * size**2 * ELEMENT_BYTES.get(word, 4.0) / GIB
        return _estimate("cublas", data, (1.0, 1.0, 1.0), f"{MATRICES} x n^2 x bytes", {"n": size})
    if kind == "dataframe":
        stack, gb = table_stack(workload), table_gb(workload)
        data = gb * 1e9 / GIB / count
        told = {"table_gb": gb, "gpus": count}
        return _estimate(stack, data, TABLE_TIMES, "table / GPUs x 2 to 3", told)
    low, middle, high = POLICY_GIB
    spread = (low / middle, 1.0, high / middle)
    return _estimate(WORKING_STACKS[kind], middle - CONTEXT_GIB, spread, "a small policy", {})


def _estimate(
    stack: str,
    data_gib: float,
    times: tuple[float, float, float],
    formula: str,
    inputs: dict[str, float],
) -> MemoryEstimate:
    low, middle, high = (data_gib * factor for factor in times)
    beside = CONTEXT_GIB + WORKSPACE_GIB
    return MemoryEstimate(
        parts=MemoryParts(
            activations_gib=middle, workspace_gib=WORKSPACE_GIB, context_gib=CONTEXT_GIB
        ),
        tensors_gib=middle,
        allocated_gib=middle + WORKSPACE_GIB,
        reserved_gib=middle + WORKSPACE_GIB,
        device_gib=middle + beside,
        low_gib=low + 0.8 * beside,
        high_gib=high + 1.5 * beside,
        stack=stack,
        steps=(Step("data", formula, dict(inputs), middle, "GiB", ""),),
    )
