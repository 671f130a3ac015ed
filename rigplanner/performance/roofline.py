"""Time of one step on one GPU: arithmetic and traffic per operator class against the rates of the
silicon."""

import math
from functools import cache

from msgspec import Struct

from rigplanner.performance.constants import speed_model
from rigplanner.performance.job import DRAWING_TRAINERS, GROUPING, Job
from rigplanner.performance.measured import year_of
from rigplanner.performance.silicon import GENERATIONS, shares_of, weight_bits

KERNEL_TAIL_S = 3e-6
"""Ramp-up and drain of one kernel on the GPU, whatever its size."""
SHADER_TAIL, ENGINE_TAIL = 2.5, 0.75
"""The same of kernels on shaders over that of matrix units in a forward pass, as a multiprocessor
takes longer for the one tile that a small kernel gives it; and in engines, which fuse kernels.
MXNet's networks on K80, M60 and V100, TensorRT's on T4 and V100 and diffusers' gain so much more of
a larger batch than arithmetic, traffic and host tell (0.1 to 0.5 in the logarithm; 1.5 to 3.5 and
0.5 to 1 fit alike)."""
ENGINES, ENGINE_KERNELS = "compiled-inference", {"detector": 0.75}
"""Family of stacks whose host time per kernel is the same for all kinds of nets, as engines launch
one where frameworks launch several that differ by kind (the networks of torch2trt on Jetsons and of
TensorRT on T4, RTX 3060 and A100 at a batch of 1), and the share of the kernels of a kind of net
that is left in them: detectors' joined and enlarged maps need none of their own (YOLO11 on a T4,
YOLOv8 on an A100, RTMDet on an RTX 3090)."""
BANDWIDTH_SHARE = 0.8
"""Share of the peak bandwidth that streaming kernels reach (STREAM-like copies measure 0.78 to 0.92
of the data sheet)."""
UPDATE_LAUNCHES, LORA_KERNELS = 2.0, 2.0
DENOISER, BLOCK_KERNELS, BLOCK_AGAIN = ("dit",), 72.0, 1.9
"""Kinds of nets that draw by transformers; kernels of the forward pass of one of their blocks below
adapters, and the forward pass over that and the backward one as the host counts when blocks are
computed again. A block with its norms, modulations, rotations and adapters takes the host 7 to 12
ms a step whatever the GPU, and 5 to 9 more when it is computed again, which is as long on an H100
as on an L40S (bghira/SimpleTuner, documentation/experimental/SEGMENTED_CHECKPOINTING.md, eleven
networks at batch 1, read 2026-11-23): the forward pass is called from Python, the backward one from
C++."""
WIDENED_IN_PYTHON, WIDENED_CALLS = ("simpletuner", "ai-toolkit"), 2.8
"""Trainers whose 8-bit weights are subclasses of tensors that widen themselves in Python (SDNQ,
torchao, quanto), and their host time over that of 16-bit weights: 2.3 to 3.0 for 8-bit integers and
floats alike, on an H100 as on an L40S (as above); casts of others are one kernel more."""
EXPERT_KERNELS = 40.0
"""Kernels of a layer's forward pass for each expert that a GPU holds: products, their quantisation,
sorting of tokens. A layer of Qwen3-30B-A3B with 16 of them takes 7 ms more than its arithmetic in
training whatever the batch (Megatron Bridge on GB200); so many tell rows of five networks on B200,
GB300 and H100 better than 25 do (mean 25 against 28 %)."""
TRANSFORMERS_KERNELS = 12.0
"""The same in transformers: choosing tokens, three products, activation, weighting and sum, up to
release 4 of one expert after the other, since 5 of all in one (counted in
Qwen3MoeSparseMoeBlock.forward at 4.51 and in integrations/moe.py at 5.0). Granite's loop has half
as many: an expert of its 3.0 3B takes 163 us a pass more than where all are one product
(foundation-model-stack/fms-acceleration, refs/a100_80gb_moe.csv, read 2026-11-24)."""
SOFT_MAXIMUM = 3.0
"""Exponent that joins GPU time and host launch time: the longer one rules, near balance both show.
"""
TRAIN_PASSES, FORWARD_PASSES = 11.0, 4.0
"""Reads and writes of each activation value over a step without fusion: convolution or GEMM,
normalisation (two passes), activation function, residual; backward about twice the forward."""
SHIFTED, SHIFTED_SHARE = "swin", 0.5
"""Nets whose tokens are rolled, cut into windows and put back around each attention: copies of all
values that no stack fuses away, as a share of the passes of an unfused step (Swin beside plain
vision transformers: 2 to 2.5 times the traffic in PyTorch on an RTX 3090, 6 to 10 times in TensorRT
on A100 and T4)."""
OPTIMIZER_BYTES = {"adam": 24.0, "sgd": 16.0}
"""Bytes moved per parameter and update: gradient, weight, states, read and written in FP32."""
ADAM_KINDS = ("llm", "encoder", "moe", "vit", "asr", "diffusion", "dit")
TRANSFORMERS = ("llm", "encoder", "moe", "vit", "asr", "dit")
"""Kinds of nets that read their weights once a pass, as large matrices; the many small ones of
convolutions take longer."""
ELEMENT_BYTES = {"fp32": 4.0, "tf32": 4.0, "int8": 1.0, "fp8": 1.0, "fp4": 1.0}
CONVOLUTIONAL, TRANSPOSED, TRANSPOSED_UNTIL = (
    ("cnn", "cnn-mobile", "detector", "unet-3d"),
    1.45,
    2021.0,
)
"""Kinds of nets whose maps cuDNN lays out anew around tensor cores where channels come first, the
passes that this and normalisations without a half-precision path cost, and the year until which a
forward pass pays it too (cuDNN's eighth release): twelve to sixteen networks in FP16 on a V100,
Titan V, RTX 2080 Ti and GTX 1080 Ti gain that much less over FP32 than half the bytes (u39kun,
lamikr: PyTorch 0.3 to 1.3). Training pays it still: ResNet-50 in PyTorch 2.0 to 2.9 gains 2.0 times
of autocast on a V100 and 1.4 over TF32 on an A100, 2.8 and 1.75 were told (mvsjober/ml-benchmarks,
results.md, read 2026-11-23)."""
LOOKED_UP, LOOKED_UP_BYTES = "recommender", 3.0
"""Kind of net of which mixed precision narrows the products alone, and the bytes of a value: rows
of embedding tables and their gradients stay in 32 bits (NVIDIA's NCF and DLRM in PyTorch on V100,
A100, A10, RTX 4090 and RTX 8000: 2.5 to 3.5)."""
ATTENTION_COST = 1.6
CEILING = 0.85
"""Share of the matrix peak that no language model passes: the best published training runs reach
0.6 to 0.75 with recomputation counted (Megatron-LM, MPT and torchtitan tables), single GEMMs about
0.9."""
SHORT_SUMS = 2.0
"""Rate of 8-bit floats over the listed one on cards that halve it to accumulate in 32 bits:
libraries sum in fewer (an RTX 4090 draws FLUX.1 in FP8 at 390 TFLOPS, aredden/flux-fp8-api, where
330 are listed)."""
CEILING_KINDS = ("llm", "moe", "vit", "encoder-padded", "dit")
PACKS_SEQUENCES = ("mlperf", "jetson")
"""Beginnings of stacks whose measured encoders leave padding out (MLPerf's submissions, those for
Jetson among them)."""
PLAIN_PRODUCTS = ("llm", "moe", "moe-train", "encoder", "encoder-padded", "dit")
CALLS_MODULES = ("pytorch-eager",)
"""Stacks whose host calls each module from Python: 54 to 68 us per kernel of DistilBERT and MiniLM
on an RTX 3090 (transformer-deploy) and 37 to 45 of ViT on a V100 and an A100 (transformers), where
BERT's graph takes 11 on an A100 (FasterTransformer)."""
FORWARD_KINDS = ("detector", "cnn-mobile")
"""Kinds of nets that only look with other shares than those that they are trained with."""
WIDE_UNET_M = 2000.0
GROUPED, GROUPED_RATE = ("resnext", "x101", "regnet"), 0.6
"""Nets of grouped convolutions, whose products are too narrow for matrix units and tiles, and the
share of the others' rate that they reach: ResNeXt-50 beside ResNet-50 in TensorRT on T4, Jetson
Nano and TX2 (0.48 to 0.59, mmdeploy's table). With it timm's rows of such nets are met on an RTX
5090 and PRO 6000 and 10 to 25 % low on an RTX 3090, and RegNets on a V100 in FP32 (pycls)."""
MATCHING_BOXES = ("ssd",)
"""Detectors that match thousands of boxes per image while they train: those of NGC's rows (SSD300
on V100 and RTX 8000) take the same share of shaders as of matrix units. The others were 0.5 to 0.9
of what was measured in FP32 and 1.2 to 1.6 in half precision (NVIDIA, tensorpack, Detectron2 and
MMDetection; Detectron in Caffe2 alone is now a third too fast): on shaders their convolutions need
fewer operations than are counted, as those of classifiers do."""
FORWARD_SHADERS = 1.3
"""Rate of plain products on shaders in a forward pass over that in training, where the learned
shares come from: FP32 transformers that only look were 7 to 28 % faster than without it (tables of
NeuSight, Hugging Face, Swin and FasterTransformer, ten GPUs)."""
EMBEDDED_W = 20.0
"""Power of modules with a quarter to half a MiB of level-2 cache (Jetson Nano and TX2)."""
DEQUANTISE_BYTES = 14.0
"""Traffic that widening a 4-bit weight costs per pass in training, from QLoRA against LoRA on 1.8B
and 7B models on an A100 (README of QwenLM/Qwen) and on 7B to 70B on RTX 3090, 4090, A5000, A100 and
H100 (Answer.AI's fsdp_qlora): 12 to 16 fit alike."""
LAUNCHED = {
    "volta": 2017.5,
    "turing": 2018.7,
    "ampere": 2020.4,
    "ada": 2022.8,
    "hopper": 2022.8,
    "blackwell": 2024.9,
    "blackwell-rtx": 2025.1,
    "cdna": 2020.9,
    "cdna2": 2021.9,
    "cdna3": 2023.9,
    "rdna3": 2022.9,
    "rdna4": 2025.2,
}
"""Year in which the first card with the matrix units of a generation was sold."""
MATURING_YEARS = 1.5
EMBEDDING_ONLY_M = 5.0
"""Dense parameters in millions of a recommender; its tables are touched sparsely."""


TF32_UNTIL = {"blackwell": 2026.0}
"""Generations on which convolutions gain nothing from 16 bits over TF32, and the year until which
containers were seen to have no better kernels: one B200 under NGC 25.06 trained ResNet-50 at 3,076
images/s in mixed precision and 2,967 in TF32, SSD at 1,025 and 1,043 (H200: 3,079 and 2,259, 946
and 683), while BERT gained as ever (523 and 282 sequences/s; lambdal/deeplearning-benchmark,
pytorch/results_v2, read 2026-11-23)."""


def convolves_in_tf32(job: Job) -> bool:
    """Whether a training in 16 bits is no faster than in TF32, since the software came before
    kernels for its chip; software that says no release is taken to be such."""
    until = TF32_UNTIL.get(job.silicon.generation)
    if until is None or job.task != "train" or job.shape.kind not in CONVOLUTIONAL:
        return False
    return job.path == "half" and (not job.release or year_of(job.stack.slug, job.release) < until)


class Times(Struct, frozen=True):
    """Seconds of one step (one batch on one GPU) by cause; `total_s` joins them, without
    communication but with the host time of the optimizer, in which the GPU waits."""

    matrix_s: float
    traffic_s: float
    weights_s: float
    tail_s: float
    launch_s: float
    total_s: float


def local_experts(job: Job) -> float:
    """Return the experts of a layer that one GPU of a training holds: dealt out over the GPUs of a
    node that no tensor or pipeline takes (Lepikhin et al. 2020, arXiv 2006.16668), all of them
    where weights are gathered instead."""
    shape = job.shape
    if not shape.experts or job.zero == 3:
        return float(shape.experts)
    beside = min(job.count // job.nodes, job.count // (job.tensor * job.pipeline))
    return shape.experts / min(max(1, beside), shape.experts)


def dense_params(job: Job) -> float:
    """Return the parameters that one GPU reads, updates and exchanges each step; of experts those
    that it holds."""
    shape = job.shape
    if shape.kind == "recommender":
        return EMBEDDING_ONLY_M * 1e6
    if not shape.experts or not job.task.startswith("train") or shape.experts_used >= shape.experts:
        return shape.params_m * 1e6
    experts_m = (
        (shape.params_m - shape.active_m) * shape.experts / (shape.experts - shape.experts_used)
    )
    return (shape.params_m - experts_m * (1 - local_experts(job) / shape.experts)) * 1e6


def passes_through(job: Job) -> float:
    """Return the arithmetic of a step in forward passes: 3 to train (Kaplan et al. 2020), one more
    when activations are recomputed; LoRA needs no gradients of frozen weights, so about 2."""
    if job.task == "inference":
        return 1.0
    again = {"full": 1.0, "selective": 0.15}.get(job.checkpointing, 0.0)
    return (3.0 if job.task == "train" else 2.2) + again


def stand_in_kind(kind: str) -> str:
    """Return the kind of net whose learned shares stand for one that has no measured rows: speech
    transformers are encoders."""
    return "encoder" if kind == "asr" else kind


@cache
def share_kind(kind: str, task: str, stack: str = "") -> str:
    """Return the kind of net whose learned shares hold for a task in a stack: experts in training
    are sorted and exchanged as well; detectors that only look have their normalisations folded into
    convolutions and match no boxes; depthwise convolutions pass over their maps as often as others
    do, but for the gradients of their weights; encoders compute their padding too, but for
    MLPerf's, which pack sequences (half of what they are counted with)."""
    if kind == "moe" and task.startswith("train"):
        return "moe-train"
    if kind in FORWARD_KINDS and task == "inference":
        return f"{kind}-forward"
    kin = stand_in_kind(kind)
    return "encoder-padded" if kin == "encoder" and not stack.startswith(PACKS_SEQUENCES) else kin


def share_of(job: Job) -> str:
    """Return the kind of net whose learned shares hold for a job. U-Nets of billions of weights
    hold most of them in products of transformers (SDXL: 70 blocks, Stable Diffusion 1.5: 16)."""
    wide = job.shape.kind == "diffusion" and job.shape.params_m > WIDE_UNET_M
    return "diffusion-wide" if wide else share_kind(job.shape.kind, job.task, job.stack.slug)


def share_path(job: Job) -> str:
    """Return the arithmetic path whose learned share holds for a job: shaders gain nothing on plain
    products, where convolutions need fewer operations than they are counted with (Winograd's
    method), and less in modules of a few watts, whose small caches read maps again."""
    if job.path != "vector":
        return job.path
    embedded = job.silicon.tdp_w <= EMBEDDED_W and job.silicon.era < GENERATIONS["volta"]
    return (
        "vector-products"
        if share_of(job) in PLAIN_PRODUCTS
        else "vector-embedded"
        if embedded
        else "vector"
    )


def _arithmetic_of(job: Job) -> str:
    """Return the kind of net whose learned share of arithmetic holds: on shaders, detectors' is
    that of the nets they build on."""
    kind = share_of(job)
    return (
        "cnn"
        if kind == "detector"
        and job.path == "vector"
        and not job.shape.slug.startswith(MATCHING_BOXES)
        else kind
    )


def youth(job: Job) -> float:
    """Return how young the software is for the matrix units that it drives: 1 in the year that they
    came out, falling by half a year after year (libraries take two to three years to learn a new
    generation)."""
    if job.path == "vector":
        return 0.0
    return math.exp(
        -max(0.0, year_of(job.stack.slug, job.release) - LAUNCHED.get(job.silicon.generation, 0.0))
        / MATURING_YEARS
    )


def matrix_seconds(job: Job, flops: float) -> float:
    """Return the seconds that `flops` of matrix arithmetic take: peak x share of the stack x
    learned shares of path, generation and kind of net, less what the power limit and young software
    take away."""
    physics = speed_model().physics
    share = (
        job.stack.tuned
        * physics.matrix.get(share_path(job), 1.0)
        * physics.generation.get(shares_of(job.silicon.generation), 1.0)
    )
    share *= physics.kind_matrix.get(_arithmetic_of(job), 1.0) * math.exp(
        -physics.youth * youth(job)
    )
    if job.path in ("half", "tf32", "low") and job.silicon.half_rate_tensor:
        share *= physics.half_rate
    if job.path == "vector" and job.task == "inference" and job.shape.kind in TRANSFORMERS:
        share *= FORWARD_SHADERS
    if any(word in job.shape.slug for word in GROUPED):
        share *= GROUPED_RATE
    return flops / (job.matrix_tflops * 1e12 * share) * throttling(job)


def attention_cost(job: Job) -> float:
    """Return the products of activations of one sample in GFLOP of weight arithmetic that would
    take as long: they run at half precision whatever the weights are, and with softmax between them
    at about 0.6 of the rate (FlashAttention-2 and 3 papers)."""
    slower = job.matrix_tflops / job.silicon.half if job.path in ("low", "fp4", "int8") else 1.0
    return job.shape.attention_gflop * ATTENTION_COST * max(1.0, slower)


def throttling(job: Job) -> float:
    """Return by how much the power limit lengthens matrix work: a smooth step above the FP16 rate
    per watt that the generation sustains (shader arithmetic draws less, so it suffers a share of
    it), and a power of base over boost clock: makers set the base clock to what the limit bears
    under full load."""
    physics, silicon = speed_model().physics, job.silicon
    sustained = physics.watt_rate * math.exp(0.15 * (silicon.era - 4.6) * physics.watt_era)
    excess = 3 * math.log(silicon.half / (silicon.tdp_w * sustained))
    lost, vector = (
        physics.power_slope * math.log1p(math.exp(min(excess, 30.0))) / 3,
        job.path == "vector",
    )
    clock = (physics.clock_vector if vector else physics.clock_matrix) * math.log(silicon.sustained)
    return math.exp(lost * (physics.power_vector if vector else 1.0) - clock)


MIXED_PRODUCTS = 3.2
"""Time of products with an 8-bit base below adapters of a language model over those of a 16-bit
one (LLM.int8(): values are scaled and rounded, outliers multiplied apart), so that a step takes 2
to 3 times as long, as on an RTX A5000 (bitsandbytes issue 465, read 2026-11-23)."""


def _mixes(job: Job) -> bool:
    """Whether products run over an 8-bit base as bitsandbytes runs them below adapters."""
    language = job.shape.kind in ("llm", "moe")
    return language and job.task == "train_lora" and job.precision == "int8"


def step_times(job: Job) -> Times:
    """Return the times of one training step or forward pass on one GPU."""
    shape, training, physics = job.shape, job.task != "inference", speed_model().physics
    bandwidth = job.silicon.bandwidth_gbs * 1e9 * BANDWIDTH_SHARE
    size, params = _value_bytes(job), dense_params(job)
    matrix = matrix_seconds(
        job, (shape.gflop + attention_cost(job)) * 1e9 * passes_through(job) * job.batch
    ) * (MIXED_PRODUCTS if _mixes(job) else 1.0)
    scores = (
        0.0
        if job.fused_attention
        else shape.attention_gflop * 1e3 / 320 * (2 if shape.causal else 1)
    )
    passes = (TRAIN_PASSES if training else FORWARD_PASSES) * (1 - job.stack.fusion + _shifted(job))
    passes *= 4 / 3 if training and job.checkpointing == "full" else 1.0
    traffic = (shape.elements_m + 2 * scores) * 1e6 * size * passes * job.batch / bandwidth
    traffic *= physics.kind_traffic.get(share_of(job), 1.0) * (
        physics.traffic_train if training else physics.traffic_forward
    )
    traffic *= physics.generation_traffic.get(shares_of(job.silicon.generation), 1.0)
    weights = _weight_seconds(job, params, bandwidth) * (
        1.0 if reads_once(job) else physics.weights
    )
    kernels, engine = kernels_of(job), job.stack.family == ENGINES
    tail = kernels * KERNEL_TAIL_S * (physics.tail if training else _forward_tail(job))
    several = (
        1.0
        if engine
        else physics.kind_launch.get("vit" if _calls_modules(job) else share_of(job), 1.0)
    )
    launch = (
        kernels
        * job.named.launch_us
        * 1e-6
        * job.host_pace
        * physics.launch.get(job.stack.family, 1.0)
        * several
    )
    busy = matrix + traffic + weights + tail
    total = (busy**SOFT_MAXIMUM + launch**SOFT_MAXIMUM) ** (1 / SOFT_MAXIMUM) + update_seconds(job)
    return Times(matrix, traffic, weights, tail, launch, total)


def _calls_modules(job: Job) -> bool:
    """Return whether the host calls each module of a text encoder from Python, which takes as long
    as for one that reads patches: in training most calls are of the backward pass, in C++, and
    graphs are run by C++ alone."""
    return (
        job.task == "inference"
        and share_of(job).startswith("encoder")
        and job.named.slug in CALLS_MODULES
    )


def reads_once(job: Job) -> bool:
    """Return whether a pass reads the weights as large matrices and once, so that they take no
    longer than their bytes tell: no optimizer passes over frozen ones below adapters."""
    return job.shape.steps > 1 or (
        job.task in ("inference", "train_lora") and job.shape.kind in TRANSFORMERS
    )


def _value_bytes(job: Job) -> float:
    """The bytes of a value of the activations as it passes through memory."""
    if job.stack.family == "compiled-inference" and job.precision == "mixed":
        return 1.0
    if job.shape.kind == LOOKED_UP and job.precision.startswith("amp") and job.task == "train":
        return LOOKED_UP_BYTES
    size, convolves = ELEMENT_BYTES.get(job.precision, 2.0), job.shape.kind in CONVOLUTIONAL
    eager = (
        job.stack.family == "eager"
        and job.stack.layout == "NCHW"
        and (job.task == "train" or year_of(job.stack.slug, job.release) < TRANSPOSED_UNTIL)
    )
    return size * TRANSPOSED if eager and convolves and job.path == "half" else size


def _forward_tail(job: Job) -> float:
    """Ramps of a forward pass over the usual."""
    return (ENGINE_TAIL if job.stack.family == ENGINES else 1.0) * (
        SHADER_TAIL if job.path == "vector" else 1.0
    )


def _shifted(job: Job) -> float:
    """The share of the passes without fusion that moving windows takes."""
    return SHIFTED_SHARE if SHIFTED in job.shape.slug else 0.0


def kernels_of(job: Job) -> float:
    """Return the kernels of a step: backward 1.5 times the forward pass, recomputation once more;
    adapters double them (dropout, two products, scale and sum beside each matrix), 4-bit weights
    add their widening, and each expert that a GPU holds its own unless a product takes all."""
    if job.task == "inference":
        return job.shape.kernels * (
            ENGINE_KERNELS.get(job.shape.kind, 1.0) if job.stack.family == ENGINES else 1.0
        )
    drawn = adapted_by_trainer(job)
    kernels = job.shape.kernels + _expert_kernels(job) * job.shape.layers
    if drawn and job.shape.kind in DENOISER:
        kernels = BLOCK_KERNELS * job.shape.layers
    again = BLOCK_AGAIN if drawn else 1.0
    passes = 2.5 + (again if job.checkpointing == "full" else 0.0)
    adapters = LORA_KERNELS if job.task == "train_lora" else 1.0
    return kernels * passes * adapters * _widening_calls(job)


def _expert_kernels(job: Job) -> float:
    """Kernels of a layer's forward pass for the experts that a GPU holds."""
    if job.stack.family != GROUPING:
        return EXPERT_KERNELS * local_experts(job)
    return TRANSFORMERS_KERNELS * (
        min(1.0, job.shape.experts) if job.groups_experts else local_experts(job)
    )


def adapted_by_trainer(job: Job) -> bool:
    """Whether a trainer of models that draw trains adapters of one."""
    return job.task == "train_lora" and job.named.slug in DRAWING_TRAINERS


def _widening_calls(job: Job) -> float:
    """Host time of a step over that with 16-bit weights."""
    if job.precision in ("int4", "nf4"):
        return 1.3
    narrow = job.weight_bits <= 8 and adapted_by_trainer(job)
    return WIDENED_CALLS if narrow and job.named.slug in WIDENED_IN_PYTHON else 1.0


def update_seconds(job: Job) -> float:
    """Return the host time of clipping and of the optimizer per step, a few launches per tensor
    (about as many as kernels of a forward pass); optimizers of FP32 training are seldom fused."""
    if not job.task.startswith("train"):
        return 0.0
    physics = speed_model().physics
    wide = physics.update_wide if job.precision in ("fp32", "tf32") else 1.0
    launches = UPDATE_LAUNCHES * job.shape.kernels / job.accumulate
    return (
        launches
        * job.stack.launch_us
        * 1e-6
        * job.host_pace
        * physics.update.get(job.stack.family, 1.0)
        * wide
    )


def _weight_seconds(job: Job, params: float, bandwidth: float) -> float:
    """Seconds to read the weights (three times to train, once per denoising step of an image) and
    to update them; of those that tensor and pipeline parallel GPUs share, each has its part."""
    shape, params = (
        job.shape,
        params / (job.tensor * job.pipeline) if job.task != "inference" else params,
    )
    stored = params * weight_bits(job.precision) / 8
    seconds = stored * (shape.steps if job.task == "inference" else 3) / bandwidth
    if job.task == "train_lora" and job.precision in ("int4", "nf4"):
        seconds += params * DEQUANTISE_BYTES * passes_through(job) / bandwidth
    if job.task == "train":
        update = OPTIMIZER_BYTES["adam" if shape.kind in ADAM_KINDS else "sgd"]
        seconds += params * update / (job.count if job.zero else 1) / bandwidth / job.accumulate
    return seconds


def ceiling(job: Job) -> float:
    """Return the samples per second that the matrix peak allows, infinite for nets that may need
    fewer operations than they are counted with (convolutions by Winograd's method, encoders of
    MLPerf, which leave out padding)."""
    if share_of(job) not in CEILING_KINDS or not job.shape.gflop:
        return math.inf
    executed = (job.shape.gflop + job.shape.attention_gflop) * 1e9 * passes_through(job)
    short = SHORT_SUMS if job.path == "low" and job.silicon.half_rate_tensor else 1.0
    return CEILING * short * job.matrix_tflops * 1e12 * job.count / executed
