"""Memory of image networks that are known by published figures only: parameters, operations, values that layers write."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from rigplanner.catalog.zoo import base_name
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.architectures.dense import dense_bytes
from rigplanner.workload.architectures.residual import kept_by_depth
from rigplanner.workload.job import OPTIMIZERS, Job
from rigplanner.workload.network import Network, nearest_figures, pixels
from rigplanner.workload.quant import weight_bytes
from rigplanner.workload.stacks import MemoryStack
from rigplanner.workload.training import Demand

CLASSES: tuple[tuple[str, str, float], ...] = (
    ("dense", r"densenet", 5.4),
    ("recurrent", r"^sequencer", 4.0),
    ("attention with written scores", r"^swinv2_cr", 2.45),
    ("norm written step by step, gated", r"_evo", 7.5),
    ("norm written step by step", r"_frn", 5.5),
    ("group norm", r"_(gn|bit)", 4.7),
    ("attention convolution, smooth", r"(bot|halo|lambda)\w*ts", 2.9),
    ("wide smooth", r"se_edgenet|_xdw", 3.4),
    ("cross-stage", r"^csp|^gernet|51q$|^(se)?darknet", 2.4),
    ("inverted residuals, smooth", r"efficientnetv2", 3.1),
    ("depthwise, hard-swish", r"fbnetv3|mobilenetv3|lcnet", 3.05),
    ("depthwise, plain", r"mnasnet|spnasnet|fbnetc", 2.4),
    ("depthwise", r"mobilenet|mnasnet|efficientnet(?!v2)|mixnet|fbnet|tinynet|lcnet|ghostnet|spnasnet|rexnet", 2.85),
    ("smooth activation", r"\d+ts(_|$)|^cs3|\d+q$|yolo|ppyoloe|rtmdet", 3.0),
    ("attention convolution", r"bot|halo|lambda|bat_res", 2.48),
    ("stacked with batch norm", r"^vgg\d+_bn", 2.0),
    ("stacked", r"^vgg", 1.0),
    ("fused blocks", r"^repvgg", 1.63),
    ("in-place batch norm", r"^tresnet|_iabn", 1.8),
    ("parallel resolutions", r"^hrnet", 1.95),
    ("cross-covariance attention", r"^xcit", 2.57),
    ("class attention", r"^(volo|nest|convit)", 2.46),
    ("attention", r"^(swin|coat|tnt|levit|deit|vit|beit|cait|twins|pit|visformer|eva|maxvit|mixer)", 2.08),
    ("channel norm", r"^convnext", 2.32),
    ("norm first", r"^resnetv2|^nfnet|^dm_nfnet", 1.84),
    ("split branches", r"^(res2ne|resnetblur|gc|inception|xception|sk)", 2.3),
    ("squeeze", r"^(se|legacy_se|eca|resnetrs)", 2.45),
    ("two-stage detector on windows", r"rcnn-swin", 2.08),
    ("two-stage detector", r"rcnn|retinanet", 2.65),
    ("encoder-decoder of images", r"^unet", 2.2),
    ("plain", r"", 1.96),
)
"""Tensors kept for backward per value that a convolution or linear layer writes, by class of layer: its output for the
normalisation, the result of an in-place ReLU (2), the input of a smooth activation besides (3), every concatenation in a dense
block, a float copy in group norm. Fitted to the batch brackets of timm's 3090 results; the classes are the layers that a
name tells."""


@lru_cache(4096)
def kept_per_value(slug: str) -> float:
    """Tensors kept per written value: of a residual network by its depth, else for the class that the network's name tells."""
    if by_depth := kept_by_depth(base_name(slug)) or kept_by_depth(slug):
        return by_depth
    names = f"{base_name(slug)} {slug}"
    return next(kept for _, pattern, kept in CLASSES if re.search(pattern, names))


def kept_values(slug: str, values_m: float, edge: float) -> float:
    """Millions of values that one image of `edge` pixels keeps until the backward pass, of the `values_m` that are written."""
    name = base_name(slug)
    if plan := re.match(r"densenet(?:blur)?(\d+)", name):
        growth, blocks = DENSE.get(plan[1], (0, ()))
        if growth:
            return dense_values(growth, blocks, edge, in_place="iabn" in name)
    if window := re.match(r"swinv2_\w*window(?:\d+to)?(\d+)", name):
        return windowed(int(window[1])) * values_m
    return kept_per_value(slug) * max(0.0, values_m - shared_values(slug, edge)) + POOLED * bool(re.match("vgg", slug)) * edge**2


DENSE: dict[str, tuple[int, tuple[int, ...]]] = {
    "121": (32, (6, 12, 24, 16)), "169": (32, (6, 12, 32, 32)), "201": (32, (6, 12, 48, 32)), "161": (48, (6, 12, 36, 24)),
    "264": (48, (6, 12, 64, 48)),
}  # fmt: skip
"""Growth and layers per block (Huang et al. 2017, table 1)."""


def dense_values(growth: int, blocks: tuple[int, ...], edge: float, in_place: bool) -> float:
    """Millions of values that a DenseNet keeps: each layer the concatenation of all before it and that normalised, the bottleneck
    (four times the growth) twice, and its own output; an in-place norm keeps one of each pair."""
    copies = 1 if in_place else 2
    channels, kept = 2 * growth, copies * 2 * growth * (edge / 2) ** 2
    for stage, count in enumerate(blocks):
        area = (edge / 4 / 2**stage) ** 2
        for _ in range(count):
            kept += (copies * (channels + 4 * growth) + growth) * area
            channels += growth
        if stage + 1 < len(blocks):
            kept += (copies * channels + channels / 2) * area
            channels //= 2
    return kept * 1e-6


LINEAR_KEPT, SCORES_KEPT = 2.0, 3.35
"""Tensors kept per value of a linear layer and per attention score; a score is kept before its scale, as the softmax in 4 bytes and
as 2 bytes for the product, less what the small windows of the last stages save."""


def windowed(window: int) -> float:
    """Tensors kept per value of Swin v2: linear layers write 10 values per channel and position, scores one per head (32 channels)
    and position of the window."""
    scores = window**2 / 32
    return (10 * LINEAR_KEPT + scores * SCORES_KEPT) / (10 + scores)


POOLED = 1.25e-6 * (64 + 128 / 4 + 256 / 16 + 512 / 64 + 512 / 256) + 1e-6 * 64
"""Millions of values per pixel that VGG's five pools keep beside the convolutions (outputs of a quarter's size with indices of 8
bytes, Simonyan and Zisserman 2014), and the gradient of the first, largest map."""
PAIR_MLP, PAIR_BLOCKS = 384, {"tiny": 12}


def shared_values(slug: str, edge: float) -> float:
    """Millions of the listed values that do not grow with the batch: swinv2_cr computes the bias of each pair of positions in a
    window (a 32nd of the image) by a network of 384 units, in every block (Liu et al. 2022; blocks: 12 in tiny, else 24)."""
    if not slug.startswith("swinv2_cr"):
        return 0.0
    blocks = next((blocks for size, blocks in PAIR_BLOCKS.items() if size in slug), 24)
    return 1e-6 * PAIR_MLP * blocks * (edge / 32) ** 4


WRITTEN: tuple[tuple[str, float], ...] = (
    (r"^yolov8|^rtmdet|^yolo(v9|v1\d|1\d)", 9.2), (r"^yolov5|darknet", 10.0), (r"^yolov6", 11.0), (r"^yolov7", 12.6),
        (r"^yolox", 8.6), (r"^ppyoloe", 18.0),
    (r"", 14.0),
)  # fmt: skip
"""Values written (millions) = share x gmacs / sqrt(params_m): width grows with the root of the parameters, operations are values
times width. 14 is the median of timm's ResNets; cross-stage networks write fewer, fitted to the tables of MMYOLO."""
DEEPEST, SHALLOWER = r"^yolo\w*6$|^yolov7-[wed]6", 0.75
"""Detectors with one more stage at stride 64 hold about a quarter of their parameters there, and few values."""
HEADS: tuple[tuple[str, float], ...] = (
    (r"mask-rcnn|cascade-mask", 174.0),
    (r"retinanet-r", 150.0),
    (r"faster-rcnn|cascade-rcnn|retinanet", 120.0),
)
"""1e9 multiply-adds at 800 x 1280 that a detector spends in pyramid and heads, on few values (MMDetection's operation counts less
those of the backbone)."""


def values_per_image(network: Network, job: Job) -> float:
    """Millions of values written by layers for one image of the job's size; scaled by area from the nearest listed size."""
    row = nearest_figures(network.figures, job.image if isinstance(job.image, int) else list(job.image))
    if row is None:
        raise WorkloadFault(f"activations_m: neither values nor operations per image are known of {network.slug}.")
    scale = pixels(job.image) / pixels(row.image_size)
    if row.activations_m:
        return row.activations_m * scale
    if not row.gmacs:
        raise WorkloadFault(f"gmacs: neither values nor operations per image are known of {network.slug}.")
    return (
        written(network.slug, row.gmacs, network.params / 1e6)
        * scale
        * (enlarged(network.slug, job) if job.task.startswith("train") else 1.0)
    )


PARTLY_LOW, PARTLY_LOW_BYTES = r"rcnn|retinanet-r", 2.9
"""Detectors whose mixed precision leaves heads, pyramid or losses in fp32, and the bytes of a kept value: 3.4, 3.6 and 2.8 GB where
fp32 takes 4.0, 4.4 and 3.8 (MMDetection, configs/fp16: Faster R-CNN, Mask R-CNN and RetinaNet with ResNet-50)."""
RESIZED: tuple[tuple[str, int], ...] = ((r"^yolox\S*-(nano|tiny)", 640), (r"^yolox", 800))
"""Largest edge that a recipe draws for its batches when it trains at 416 (nano, tiny) or 640 pixels (mmyolo configs/yolox: random
sizes from 320 to 640 and from 480 to 800); the peak is that of the largest."""


def enlarged(slug: str, job: Job) -> float:
    """How much more area than the stated image the largest batch of a recipe of random sizes has."""
    largest = next((edge for pattern, edge in RESIZED if re.search(pattern, slug)), 0)
    return max(1.0, largest**2 / pixels(job.image))


def written(slug: str, gmacs: float, params_m: float) -> float:
    """Values (millions) that a network of `gmacs` and `params_m` writes for one image."""
    share = next(share for pattern, share in WRITTEN if re.search(pattern, slug))
    heads = next((heads for pattern, heads in HEADS if re.search(pattern, slug)), 0.0)
    if re.search(DEEPEST, slug):
        params_m *= SHALLOWER
    return share * max(gmacs - heads, 0.1 * gmacs) / math.sqrt(params_m)


def figured(network: Network, job: Job, stack: MemoryStack) -> Demand:
    """The demand of a network known by figures."""
    each = values_per_image(network, job)
    values = 1e6 * each * job.batch
    low = job.precision not in ("fp32", "tf32")
    width = 2.0 if low else 4.0
    if not job.task.startswith("train"):
        weights = weight_bytes(job.precision.removeprefix("amp_"), job.quant, network.params, 0.0)
        return Demand(weights=weights, gradients=0.0, optimizer=0.0, activations=0.35 * values * width)
    amp = job.precision.startswith("amp")
    parameter = 4.0 if amp or not low else 2.0
    state = network.params * (OPTIMIZERS[job.optimizer].state_fp32 if parameter == 4 else OPTIMIZERS[job.optimizer].state_16)
    weights = network.params * (parameter + (2.0 if amp else 0.0))
    kept_width = PARTLY_LOW_BYTES if amp and re.search(PARTLY_LOW, network.slug) else width
    kept = stack.kept * 1e6 * kept_values(network.slug, each, pixels(job.image) ** 0.5) * job.batch * kept_width
    if job.checkpointing == "full":
        kept *= 0.35
    kept += dense_bytes(network, job, width)
    return Demand(weights=weights, gradients=network.params * parameter, optimizer=state, activations=kept)
