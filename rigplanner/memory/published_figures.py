"""Memory of image networks that are known by published figures only: parameters, operations, values
that layers write."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from rigplanner.catalog.zoo import base_name
from rigplanner.errors import WorkloadFault
from rigplanner.memory.kept_values import kept_bytes
from rigplanner.memory.outside_trace import dense_bytes
from rigplanner.memory.training import Demand
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network, nearest_figures, pixels
from rigplanner.workload.optimizers import OPTIMIZERS
from rigplanner.workload.quant import weight_bytes
from rigplanner.workload.stacks import MemoryStack

CLASSES: tuple[tuple[str, float], ...] = (
    (r"densenet", 8.0),
    (r"_evo", 6.7),
    (r"mobilenet|mnasnet|efficientnet|mixnet|fbnet|tinynet|lcnet|ghostnet", 3.1),
    (r"darknet|yolo|ppyoloe|rtmdet", 3.0),
    (r"rcnn-swin", 2.08),
    (r"rcnn|retinanet", 2.65),
    (r"^unet", 2.2),
    (r"^convnext", 2.3),
    (r"^(swin|vit|deit|beit|cait|twins|pit|eva|maxvit|mixer|xcit|coat)", 2.2),
    (r"", 1.96),
)
"""Tensors kept for the backward pass per value that a convolution or linear layer writes, for
networks that were not counted: its output for the normalisation and the result of an in-place ReLU
(2), the input of a smooth activation besides (3), every joined map of a dense block (8.0 in
densenet264d, the deepest counted), each step of a norm that is written out (6.7 in
resnetv2_50d_evos). About the medians of the counted networks of each kind; those of detectors and
U-Nets from MMDetection's and MMSegmentation's tables."""


@lru_cache(4096)
def kept_per_value(slug: str) -> float:
    """Tensors kept per written value by the class that a network's name tells."""
    names = f"{base_name(slug)} {slug}"
    return next(kept for pattern, kept in CLASSES if re.search(pattern, names))


PAIRED, PAIRED_VALUES = r"^yolov8|^rtmdet|^yolo(v9|v1\d|1\d)", 10.0
"""Detectors that pair targets with positions anew in every step, and what head, pairing and loss
take besides for one image of 640 pixels, whatever the width: millions of values, from MMYOLO's five
sizes of YOLOv8 and a count of their convolutions. Two trainings of YOLO11n that had no part in it
were 26 to 34 % more than without."""
WRITTEN: tuple[tuple[str, float], ...] = (
    (r"^yolov?11[lx]", 10.4),
    (r"^yolov?11", 9.2),
    (PAIRED, 7.4),
    (r"^yolov5|darknet", 10.0),
    (r"^yolov6", 11.0),
    (r"^yolov7", 12.6),
    (r"^yolox", 8.6),
    (r"^ppyoloe", 18.0),
    (r"", 14.0),
)
"""Values written (millions) = share x gmacs / sqrt(params_m): width grows with the root of the
parameters, operations are values times width. 14 is the median of timm's ResNets; cross-stage
networks write fewer, fitted to the tables of MMYOLO. YOLO11's are counted from its layers (C3k2,
C2PSA, heads of depthwise convolutions), which meet its published parameters and operations: 9.0 to
9.4 for n, s and m, 10.4 for l and x, whose blocks are twice as many, where a count of YOLOv8's five
sizes gives 6.0 to 6.4."""
DEEPEST, SHALLOWER = r"^yolo\w*6$|^yolov7-[wed]6", 0.75
"""Detectors with one more stage at stride 64 hold about a quarter of their parameters there, and
few values."""
HEADS: tuple[tuple[str, float], ...] = (
    (r"mask-rcnn|cascade-mask", 174.0),
    (r"retinanet-r", 150.0),
    (r"faster-rcnn|cascade-rcnn|retinanet", 120.0),
)
"""1e9 multiply-adds at 800 x 1280 that a detector spends in pyramid and heads, on few values
(MMDetection's operation counts less those of the backbone)."""


def values_per_image(network: Network, job: Job) -> float:
    """Millions of values written by layers for one image of the job's size; scaled by area from the
    nearest listed size."""
    row = nearest_figures(
        network.figures, job.image if isinstance(job.image, int) else list(job.image)
    )
    if row is None:
        raise WorkloadFault(
            f"activations_m: neither values nor operations per image are known of {network.slug}."
        )
    scale = pixels(job.image) / pixels(row.image_size)
    if row.activations_m:
        return row.activations_m * scale
    if not row.gmacs:
        raise WorkloadFault(
            f"gmacs: neither values nor operations per image are known of {network.slug}."
        )
    return (
        written(network.slug, row.gmacs, network.params / 1e6)
        * scale
        * (enlarged(network.slug, job) if job.task.startswith("train") else 1.0)
    )


PARTLY_LOW, PARTLY_LOW_BYTES = r"rcnn|retinanet-r", 2.9
"""Detectors whose mixed precision leaves heads, pyramid or losses in fp32, and the bytes of a kept
value: 3.4, 3.6 and 2.8 GB where fp32 takes 4.0, 4.4 and 3.8 (MMDetection, configs/fp16: Faster
R-CNN, Mask R-CNN and RetinaNet with ResNet-50)."""
RESIZED: tuple[tuple[str, int], ...] = ((r"^yolox\S*-(nano|tiny)", 640), (r"^yolox", 800))
"""Largest edge that a recipe draws for its batches when it trains at 416 (nano, tiny) or 640 pixels
(mmyolo configs/yolox: random sizes from 320 to 640 and from 480 to 800); the peak is that of the
largest."""


def enlarged(slug: str, job: Job) -> float:
    """How much more area than the stated image the largest batch of a recipe of random sizes
    has."""
    largest = next((edge for pattern, edge in RESIZED if re.search(pattern, slug)), 0)
    return max(1.0, largest**2 / pixels(job.image))


def written(slug: str, gmacs: float, params_m: float) -> float:
    """Values (millions) that a network of `gmacs` and `params_m` writes for one image."""
    share = next(share for pattern, share in WRITTEN if re.search(pattern, slug))
    heads = next((heads for pattern, heads in HEADS if re.search(pattern, slug)), 0.0)
    if re.search(DEEPEST, slug):
        params_m *= SHALLOWER
    beside = PAIRED_VALUES if re.search(PAIRED, slug) else 0.0
    return share * max(gmacs - heads, 0.1 * gmacs) / math.sqrt(params_m) + beside


def kept_each(network: Network, job: Job) -> float:
    """Bytes that one image keeps until the backward pass: counted from the network itself, else by
    the class of its layers."""
    edge = pixels(job.image) ** 0.5
    if counted := kept_bytes(network.slug, edge, job.precision, job.eager):
        return counted
    low = job.precision not in ("fp32", "tf32")
    width = (
        PARTLY_LOW_BYTES
        if job.precision.startswith("amp") and re.search(PARTLY_LOW, network.slug)
        else 2.0
        if low
        else 4.0
    )
    return 1e6 * kept_per_value(network.slug) * values_per_image(network, job) * width


def figured(network: Network, job: Job, stack: MemoryStack) -> Demand:
    """The demand of a network known by figures."""
    low = job.precision not in ("fp32", "tf32")
    width = 2.0 if low else 4.0
    if not job.task.startswith("train"):
        weights = weight_bytes(job.precision.removeprefix("amp_"), job.quant, network.params, 0.0)
        values = 1e6 * values_per_image(network, job) * job.batch
        return Demand(
            weights=weights, gradients=0.0, optimizer=0.0, activations=0.35 * values * width
        )
    amp = job.precision.startswith("amp")
    parameter = 4.0 if amp or not low else 2.0
    state = network.params * (
        OPTIMIZERS[job.optimizer].state_fp32
        if parameter == 4
        else OPTIMIZERS[job.optimizer].state_16
    )
    weights = network.params * (parameter + (2.0 if amp else 0.0))
    kept = stack.kept * kept_each(network, job) * job.batch
    if job.checkpointing == "full":
        kept *= 0.35
    kept += dense_bytes(network, job, width)
    return Demand(
        weights=weights, gradients=network.params * parameter, optimizer=state, activations=kept
    )
