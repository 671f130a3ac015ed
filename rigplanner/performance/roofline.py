"""Time of one step on one GPU: arithmetic and traffic per operator class against the rates of the silicon."""

from msgspec import Struct

from rigplanner.performance.job import Job
from rigplanner.performance.silicon import weight_bits

KERNEL_TAIL_S = 3e-6
"""Ramp-up and drain of one kernel on the GPU, whatever its size."""
BANDWIDTH_SHARE = 0.8
"""Share of the peak bandwidth that streaming kernels reach (STREAM-like copies measure 0.78 to 0.92 of the data sheet)."""
SOFT_MAXIMUM = 3.0
"""Exponent that joins GPU time and host launch time: the longer one rules, near balance both show."""
TRAIN_PASSES, FORWARD_PASSES = 11.0, 4.0
"""Reads and writes of each activation value over a step without fusion: convolution or GEMM, normalisation (two passes),
activation function, residual; backward about twice the forward."""
OPTIMIZER_BYTES = {"adam": 24.0, "sgd": 16.0}
"""Bytes moved per parameter and update: gradient, weight, states, read and written in FP32."""
ADAM_KINDS = ("llm", "encoder", "moe", "vit", "asr", "diffusion")
ELEMENT_BYTES = {"fp32": 4.0, "tf32": 4.0, "int8": 1.0, "fp8": 1.0, "fp4": 1.0}
EMBEDDING_ONLY_M = 5.0
"""Dense parameters in millions of a recommender; its tables are touched sparsely."""


class Times(Struct, frozen=True):
    """Seconds of one step (one batch on one GPU) by cause; `total_s` joins them, without communication."""

    matrix_s: float
    traffic_s: float
    weights_s: float
    tail_s: float
    launch_s: float
    total_s: float


def dense_params(job: Job) -> float:
    """Return the parameters that are read, updated and exchanged each step."""
    return (EMBEDDING_ONLY_M if job.shape.kind == "recommender" else job.shape.params_m) * 1e6


def passes_through(job: Job) -> float:
    """Return the arithmetic of a step in forward passes: 3 to train (Kaplan et al. 2020), one more when activations are
    recomputed; LoRA needs no gradients of frozen weights, so about 2."""
    if job.task == "inference":
        return 1.0
    again = {"full": 1.0, "selective": 0.15}.get(job.checkpointing, 0.0)
    return (3.0 if job.task == "train" else 2.2) + again


def step_times(job: Job) -> Times:
    """Return the times of one training step or forward pass on one GPU."""
    shape, training = job.shape, job.task != "inference"
    peak, bandwidth = job.matrix_tflops * 1e12, job.silicon.bandwidth_gbs * 1e9 * BANDWIDTH_SHARE
    size, params = ELEMENT_BYTES.get(job.precision, 2.0), dense_params(job)
    if job.stack.family == "compiled-inference" and job.precision == "mixed":
        size = 1.0
    matrix = (shape.gflop + shape.attention_gflop) * 1e9 * passes_through(job) * job.batch / (peak * job.stack.tuned)
    scores = 0.0 if job.stack.fused_attention else shape.attention_gflop * 1e3 / 320 * (2 if shape.causal else 1)
    passes = (TRAIN_PASSES if training else FORWARD_PASSES) * (1 - job.stack.fusion)
    passes *= 4 / 3 if training and job.checkpointing == "full" else 1.0
    traffic = (shape.elements_m + 2 * scores) * 1e6 * size * passes * job.batch / bandwidth
    stored = params * weight_bits(job.precision) / 8
    weights = stored * (3 if training else 50 if shape.kind == "diffusion" and shape.unit == "image" else 1) / bandwidth
    if job.task == "train":
        update = OPTIMIZER_BYTES["adam" if shape.kind in ADAM_KINDS else "sgd"]
        weights += params * update / (job.count if job.sharded else 1) / bandwidth / job.accumulate
    kernels = shape.kernels * (2.5 if training else 1.0)
    tail, launch = kernels * KERNEL_TAIL_S, kernels * job.stack.launch_us * 1e-6
    busy = matrix + traffic + weights + tail
    return Times(matrix, traffic, weights, tail, launch, (busy**SOFT_MAXIMUM + launch**SOFT_MAXIMUM) ** (1 / SOFT_MAXIMUM))
