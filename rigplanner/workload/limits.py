"""Numbers of a workload that no machine can mean."""

from rigplanner.rig.task import Parallelism, Workload
from rigplanner.workload.answer import WorkloadFault

LARGEST = {
    "batch_per_gpu": 10_000_000,
    "seq_len": 100_000_000,
    "input_tokens": 100_000_000,
    "output_tokens": 100_000_000,
    "frames": 100_000,
    "lora_rank": 65_536,
}


def check_numbers(workload: Workload) -> None:
    """Raise WorkloadFault naming the first field of a workload whose number is beyond reason."""
    for field, most in LARGEST.items():
        value = getattr(workload, field)
        if value is not None and not (0 if field in ("output_tokens", "input_tokens", "lora_rank") else 1) <= value <= most:
            raise WorkloadFault(f"{field}: expected a whole number from 1 to {most}, found {value}.")
    _check_degrees(workload.parallelism or Parallelism())


def _check_degrees(degrees: Parallelism) -> None:
    for field in ("tensor", "pipeline", "context", "expert"):
        if not 1 <= getattr(degrees, field) <= 65_536:
            raise WorkloadFault(f"parallelism.{field}: expected 1 to 65536, found {getattr(degrees, field)}.")
    if degrees.zero not in (0, 1, 2, 3):
        raise WorkloadFault(f"parallelism.zero: expected 0, 1, 2 or 3, found {degrees.zero}.")
    if degrees.data is not None and not 1 <= degrees.data <= 1_000_000:
        raise WorkloadFault(f"parallelism.data: expected 1 to 1000000, found {degrees.data}.")
