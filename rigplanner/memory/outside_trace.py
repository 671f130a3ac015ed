"""What training of image networks keeps beside the trace: decoders and logits that label every
pixel, workspace of libraries."""

from __future__ import annotations

import msgspec

from rigplanner.workload.job import Job
from rigplanner.workload.network import Network, pixels

LABELS = {"segformer": 150}
"""Classes that the published weights of a family tell apart (ADE20K)."""
WHOLE = {"dilated_segmenter", "upernet"}
"""Families whose decoder and loss are traced with the backbone."""
FEW_LABELS = 21
"""Classes of the others' published weights (Pascal VOC with its background)."""
LOGIT_COPIES = 4.3
"""Tensors of logits in fp32 at full size while the loss is taken: resized, their log-probabilities,
the gradients of both, and part of one in workspace. MMSegmentation's DeepLabV3 takes 2.8 GiB more
with 150 classes than with 21 on 4 crops of 512."""
DECODER_VALUES = 13
"""Maps of the decoder's width at a quarter of the size that SegFormer's decoder keeps: four
projections, three of them resized, the four joined, the fused one and it normalised (Xie et al.
2021, section 3.2)."""


BESIDE = {"rcnn": 0.09, "retinanet": 0.09, "dilated_segmenter": 0.05}
"""Share of the activations of these families that trainers hold besides: workspaces of
convolutions, rounded blocks. The tables of MMDetection lie 7 to 11 % above the trace, those of
detectron2 9 to 16 %, 80 % of 109 rows of MMSegmentation 0 to 11 %, whatever the head."""


def library_factor(network: Network) -> float:
    """The factor of a trace's activations that a trainer's libraries add."""
    return 1.0 + BESIDE.get(network.family, 0.0)


def dense_bytes(network: Network, job: Job, width: float) -> float:
    """Bytes kept for the backward pass beside the backbone, `width` bytes a value; 0 for networks
    that label whole images, and for those whose trace has its head."""
    if network.kind != "segmenter" or network.family in WHOLE:
        return 0.0
    area = pixels(job.image) * job.batch
    logits = 4.0 * LOGIT_COPIES * LABELS.get(network.family, FEW_LABELS) * area
    return logits + width * DECODER_VALUES * _decoder_width(network) * area / 16


def _decoder_width(network: Network) -> float:
    if network.config is None or network.family != "segformer":
        return 0.0
    return float(msgspec.json.decode(network.config).get("decoder_hidden_size") or 256)
