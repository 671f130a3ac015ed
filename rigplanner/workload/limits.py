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
    "gradient_accumulation": 1_000_000,
    "gpu_layers": 100_000,
}
LARGEST_EDGE = 100_000
MAY_BE_NONE = ("output_tokens", "input_tokens", "lora_rank", "gpu_layers")


def check_numbers(workload: Workload) -> None:
    """Raise WorkloadFault naming the first field of a workload whose number is beyond reason."""
    for field, most in LARGEST.items():
        value = getattr(workload, field)
        if value is not None and not (0 if field in MAY_BE_NONE else 1) <= value <= most:
            raise WorkloadFault(f"{field}: expected a whole number from 1 to {most}, found {value}.")
    if workload.weights_gib is not None and not 0 < workload.weights_gib < 1e6:
        raise WorkloadFault(f"weights_gib: expected GiB from 0 to 1e6, found {workload.weights_gib}.")
    share = workload.memory_utilization
    if share is not None and not 0.05 <= share <= 1:
        raise WorkloadFault(f"memory_utilization: expected a share from 0.05 to 1, found {share}.")
    split = workload.tensor_split
    if split is not None and (not 0 < len(split) <= 256 or not all(0 <= one < 1e9 for one in split) or not sum(split)):
        raise WorkloadFault(f"tensor_split: expected shares of 1 to 256 GPUs, found {str(split)[:60]}.")
    check_image(workload.image_size)
    _check_degrees(workload.parallelism or Parallelism())


def check_image(size: int | list[int] | None) -> None:
    """Raise WorkloadFault for a size of an image that is none."""
    edges = [size] if isinstance(size, int) else size
    if edges is not None and not (1 <= len(edges) <= 3 and all(1 <= edge <= LARGEST_EDGE for edge in edges)):
        raise WorkloadFault(
            f"image_size: expected pixels from 1 to {LARGEST_EDGE}, one number or height and width, found {str(size)[:60]}."
        )


def _check_degrees(degrees: Parallelism) -> None:
    for field in ("tensor", "pipeline", "context", "expert"):
        if not 1 <= getattr(degrees, field) <= 65_536:
            raise WorkloadFault(f"parallelism.{field}: expected 1 to 65536, found {getattr(degrees, field)}.")
    if degrees.zero not in (0, 1, 2, 3):
        raise WorkloadFault(f"parallelism.zero: expected 0, 1, 2 or 3, found {degrees.zero}.")
    if degrees.data is not None and not 1 <= degrees.data <= 1_000_000:
        raise WorkloadFault(f"parallelism.data: expected 1 to 1000000, found {degrees.data}.")
