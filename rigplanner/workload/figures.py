"""Memory of image networks that are known by published figures only: parameters, operations, values that layers write."""

from __future__ import annotations

import math
import re

from rigplanner.catalog.zoo import base_name
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.job import OPTIMIZERS, Job
from rigplanner.workload.network import Network, nearest_figures, pixels
from rigplanner.workload.quant import weight_bytes
from rigplanner.workload.stacks import MemoryStack
from rigplanner.workload.training import Demand

CLASSES: tuple[tuple[str, str, float], ...] = (
    ("dense", r"densenet", 5.4),
    ("recurrent", r"^sequencer", 4.8),
    ("attention with written scores", r"^swinv2_cr", 1.5),
    ("group norm", r"_(gn|frn|evos|evob|bit)", 5.2),
    ("attention convolution, smooth", r"(bot|halo|lambda)\w*ts", 2.9),
    ("wide smooth", r"se_edgenet|_xdw", 3.4),
    ("cross-stage", r"^csp|^gernet|51q$", 2.4),
    ("depthwise", r"mobilenet|mnasnet|efficientnet(?!v2)|mixnet|fbnet|tinynet|lcnet|ghostnet|spnasnet|rexnet", 2.85),
    ("smooth activation", r"\d+t[sn](_|$)|^cs3|darknet|efficientnetv2|\d+q$|yolo|ppyoloe|rtmdet", 3.0),
    ("attention convolution", r"bot|halo|lambda|bat_res", 2.48),
    ("stacked with batch norm", r"^vgg\d+_bn", 2.75),
    ("fused blocks", r"^repvgg|^vgg", 1.63),
    ("in-place batch norm", r"^tresnet|_iabn", 1.8),
    ("parallel resolutions", r"^hrnet", 1.95),
    ("cross-covariance attention", r"^xcit", 2.57),
    ("class attention", r"^(volo|nest|convit)", 2.46),
    ("windows of the second kind", r"^swinv2", 2.32),
    ("attention", r"^(swin|coat|tnt|levit|deit|vit|beit|cait|twins|pit|visformer|eva|maxvit|mixer)", 2.08),
    ("channel norm", r"^convnext", 2.32),
    ("norm first", r"^resnetv2|^nfnet|^dm_nfnet", 1.84),
    ("split branches", r"^(res2ne|resnetblur|gc|inception|xception|sk)", 2.3),
    ("squeeze, deep", r"^(se|legacy_se|eca|resnetrs)\w*(152|200|269|350|420)", 2.85),
    ("squeeze", r"^(se|legacy_se|eca|resnetrs)", 2.46),
    ("two-stage detector", r"rcnn|retinanet", 2.65),
    ("encoder-decoder of images", r"^unet", 2.2),
    ("plain", r"", 1.96),
)
"""Tensors kept for backward per value that a convolution or linear layer writes, by class of layer: its output for the
normalisation, the result of an in-place ReLU (2), the input of a smooth activation besides (3), every concatenation in a dense
block, a float copy in group norm. Fitted to the batch brackets of timm's 3090 results; the classes are the layers that a
name tells."""


def kept_per_value(slug: str) -> float:
    """Tensors kept per written value for the class that the network's name tells."""
    return next(kept for _, pattern, kept in CLASSES if re.search(pattern, f"{base_name(slug)} {slug}"))


WRITTEN: tuple[tuple[str, float], ...] = (
    (r"^yolov8|^rtmdet|^yolo(v9|v1\d|1\d)", 9.2), (r"^yolov5|darknet", 10.0), (r"^yolov6", 11.0), (r"^yolov7", 12.6),
        (r"^yolox", 13.2), (r"^ppyoloe", 18.0),
    (r"", 14.0),
)  # fmt: skip
"""Values written (millions) = share x gmacs / sqrt(params_m): width grows with the root of the parameters, operations are values
times width. 14 is the median of timm's ResNets; cross-stage networks write fewer, fitted to the tables of MMYOLO."""
HEADS: tuple[tuple[str, float], ...] = ((r"mask-rcnn|cascade-mask", 174.0), (r"faster-rcnn|cascade-rcnn|retinanet", 120.0))
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
    return written(network.slug, row.gmacs, network.params / 1e6) * scale


def written(slug: str, gmacs: float, params_m: float) -> float:
    """Values (millions) that a network of `gmacs` and `params_m` writes for one image."""
    share = next(share for pattern, share in WRITTEN if re.search(pattern, slug))
    heads = next((heads for pattern, heads in HEADS if re.search(pattern, slug)), 0.0)
    return share * max(gmacs - heads, 0.1 * gmacs) / math.sqrt(params_m)


def figured(network: Network, job: Job, stack: MemoryStack) -> Demand:
    """The demand of a network known by figures."""
    values = 1e6 * values_per_image(network, job) * job.batch
    low = job.precision not in ("fp32", "tf32")
    width = 2.0 if low else 4.0
    if not job.task.startswith("train"):
        weights = weight_bytes(job.precision.removeprefix("amp_"), job.quant, network.params, 0.0)
        return Demand(weights=weights, gradients=0.0, optimizer=0.0, activations=0.35 * values * width)
    amp = job.precision.startswith("amp")
    parameter = 4.0 if amp or not low else 2.0
    state = network.params * (OPTIMIZERS[job.optimizer].state_fp32 if parameter == 4 else OPTIMIZERS[job.optimizer].state_16)
    weights = network.params * (parameter + (2.0 if amp else 0.0))
    kept = stack.kept * kept_per_value(network.slug) * values * width
    if job.checkpointing == "full":
        kept *= 0.35
    return Demand(weights=weights, gradients=network.params * parameter, optimizer=state, activations=kept)
