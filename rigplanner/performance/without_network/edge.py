"""Devices that compute in int8 alone (Coral's Edge TPU): asked in int8, told by their arithmetic
and by the weights that their own memory does not hold."""

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.rig.workload import Workload

HELD_MB = 7.0
"""Weights that an Edge TPU keeps on the chip, of 8 MB (Google's compiler documentation, as
remembered)."""
LINK_MBS = {"usb": 320.0, "m2": 350.0, "pcie": 350.0}
"""Rate at which further weights come in each pass (estimate: USB 3 and one lane of PCIe 2.0)."""
SHARE = 0.12
"""Of the listed rate that convolutional networks reach (estimate between networks that Google
lists)."""
WITHIN = 2.5
INT8_WORDS = (None, "int8")


def is_int8_only(gpu: GPU) -> bool:
    """Whether a device computes in int8 and in no floating point."""
    return bool(gpu.dense_tflops.int8) and {"fp32", "fp16"} <= set(gpu.unsupported)


def predict_edge(workload: Workload, gpu: GPU, zoo: Zoo | None) -> SpeedEstimate:
    """Return the images a second of a network in int8 on such a device. Raises WorkloadFault for
    other formats, and for trainings."""
    if workload.task not in (None, "inference"):
        raise WorkloadFault(f"task: {gpu.name} runs networks and trains none; use inference.")
    if workload.precision not in INT8_WORDS:
        raise WorkloadFault(
            f"precision: {gpu.name} has no {workload.precision} arithmetic; use int8, into which"
            " the network is converted beforehand."
        )
    shape = resolve_shape(workload, zoo)
    if shape.kind in ("llm", "moe"):
        raise WorkloadFault(f"model: {gpu.name} holds no language model; take a vision network.")
    arithmetic_s = shape.gflop / 1e3 / ((gpu.dense_tflops.int8 or 1.0) * SHARE)
    streamed_mb = max(0.0, shape.params_m - HELD_MB)
    stream_s = streamed_mb / LINK_MBS.get(gpu.form_factor, 320.0)
    seconds = arithmetic_s + stream_s
    assumed = {"precision": "int8"} if workload.precision is None else {}
    return SpeedEstimate(
        metric="images/s",
        value=1 / seconds,
        low=1 / seconds / WITHIN,
        high=WITHIN / seconds,
        stack="tflite",
        bound="pcie" if stream_s > arithmetic_s else "compute",
        step_ms=1e3 * seconds,
        assumed=assumed,
        unmeasured=("generation",),
    )
