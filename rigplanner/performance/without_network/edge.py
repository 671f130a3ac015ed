"""Devices that compute in int8 alone (Coral, Hailo, TPU v1): asked in int8, told by their
arithmetic and by the weights that the chip does not hold."""

from functools import cache

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.performance.answer import Bound, SpeedEstimate
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.rig.workload import Workload

WITHIN = 2.5
"""Factor to either side that holds 80 % of the frames a second that Hailo publishes."""
INT8_WORDS = (None, "int8")


class EdgeChip(Struct, frozen=True, forbid_unknown_fields=True):
    """How the chips of one architecture run a network; megabytes of int8 weights are millions of
    parameters."""

    stack: str
    share: float
    """Of the listed rate that convolutions reach."""
    frame_ms: float
    """That each picture takes beside its arithmetic."""
    held_mb_per_tops: float
    """Weights that stay on the chip, by its listed rate: the arrays hold both."""
    load_gbs: float
    """Rate at which the weights of a network that is too large come anew for each batch."""
    source: str
    keeps: bool = False
    """Whether what the chip holds of a network that is too large stays there from batch to batch;
    else the chip is filled part after part and all weights come anew."""
    own_memory_gbs: float | None = None
    """The same from memory of the device's own, where the catalog lacks its bandwidth."""


class _Shipped(Struct, frozen=True):
    architectures: dict[str, EdgeChip]


@cache
def edge_chips() -> dict[str, EdgeChip]:
    """Return what is known of each architecture."""
    path = data_path("catalog") / "benchmarks" / "edge_devices.json"
    return read_json(path.read_bytes(), _Shipped).architectures


def is_int8_only(gpu: GPU) -> bool:
    """Whether a device computes in int8 and in no floating point."""
    return bool(gpu.dense_tflops.int8) and {"fp32", "fp16"} <= set(gpu.unsupported)


def predict_edge(workload: Workload, gpu: GPU, zoo: Zoo | None) -> SpeedEstimate:
    """Return the images a second of a network in int8 on such a device. Raises WorkloadFault for
    other formats, for trainings and for devices of an unknown kind."""
    if workload.task not in (None, "inference"):
        raise WorkloadFault(f"task: {gpu.name} runs networks and trains none; use inference.")
    if workload.precision not in INT8_WORDS:
        raise WorkloadFault(
            f"precision: {gpu.name} has no {workload.precision} arithmetic; use int8, into which"
            " the network is converted beforehand."
        )
    shape = resolve_shape(workload, zoo)
    if shape.unit != "image":
        raise WorkloadFault(f"model: {gpu.name} runs networks of pictures; take a vision network.")
    chip = edge_chips().get(gpu.architecture or "")
    if chip is None:
        raise WorkloadFault(f"hardware.gpu: how {gpu.name} runs networks is not known.")
    tops = gpu.dense_tflops.int8
    assert tops  # such a device has no other rate
    batch = workload.batch_per_gpu or 1
    arithmetic_s = shape.gflop / 1e3 / (tops * chip.share)
    load_s = _load_s(shape.params_m, tops, gpu, chip) / batch
    seconds = arithmetic_s + chip.frame_ms / 1e3 + load_s
    loads_from: Bound = "bandwidth" if gpu.memory_gib else "pcie"
    return SpeedEstimate(
        metric="images/s",
        value=1 / seconds,
        low=1 / seconds / WITHIN,
        high=WITHIN / seconds,
        stack=chip.stack,
        bound=loads_from if load_s > arithmetic_s else "compute",
        step_ms=1e3 * batch * seconds,
        assumed={"precision": "int8"} if workload.precision is None else {},
        unmeasured=("generation",),
    )


def _load_s(weights_mb: float, tops: float, gpu: GPU, chip: EdgeChip) -> float:
    """Seconds to bring in the weights for one batch: none where the chip holds them all."""
    held_mb = chip.held_mb_per_tops * tops
    if weights_mb <= held_mb:
        return 0.0
    rate_gbs = chip.load_gbs
    if gpu.memory_gib:
        rate_gbs = gpu.bandwidth_gbs or chip.own_memory_gbs or rate_gbs
    kept_mb = held_mb if chip.keeps else 0.0
    return (weights_mb - kept_mb) / 1e3 / rate_gbs
