"""Jobs that need no network: products of matrices, tables in GPU memory, simulated environments."""

from typing import Literal

from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Workload

Plain = Literal["matrix", "dataframe", "simulate"]
PLAIN: tuple[Plain, ...] = ("matrix", "dataframe", "simulate")
DOUBLE = ("fp64", "float64", "double")
"""Words of a precision that means FP64."""
USUAL_MATRIX = 8192
"""Rows and columns of a matrix where nothing is said."""
LARGEST_MATRIX = 10_000_000
WORKING_STACKS = {"matrix": "cublas", "dataframe": "cudf", "simulate": "gymnasium"}
"""What such jobs run on where nothing is said."""
TABLE_STACKS = ("cudf", "cuml", "cugraph", "rapids", "dask-cudf")


def plain_job(workload: Workload) -> Plain | None:
    """Return which job without a network a workload is, by its task or by the name in the place of
    its model; None for all others."""
    for kind in PLAIN:
        if kind in (workload.task, workload.model):
            return kind
    return None


def matrix_size(workload: Workload) -> int:
    """Return the rows of the square matrices of a job. Raises WorkloadFault for a size beyond
    sense."""
    size = USUAL_MATRIX if workload.matrix_n is None else workload.matrix_n
    if not 1 <= size <= LARGEST_MATRIX:
        raise WorkloadFault(f"matrix_n: expected 1 to {LARGEST_MATRIX}, found {size}.")
    return size


def table_gb(workload: Workload) -> float:
    """Return the GB of a table as it lies in memory. Raises WorkloadFault where nobody says it."""
    if not workload.dataset_gb or workload.dataset_gb <= 0:
        raise WorkloadFault(
            "dataset_gb: expected the GB of the table as it lies in memory (pandas:"
            " memory_usage(deep=True)), found none."
        )
    return workload.dataset_gb


def table_stack(workload: Workload) -> str:
    """Return the library of a table. Raises WorkloadFault for one that holds none."""
    asked = (workload.stack or WORKING_STACKS["dataframe"]).casefold()
    if asked not in TABLE_STACKS:
        raise WorkloadFault(
            f"stack: expected one of {', '.join(TABLE_STACKS)} for a table, found '{asked}'."
        )
    return asked
