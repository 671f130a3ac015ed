"""What the GPUs beside a host give it: memory rate, arithmetic, link."""

from __future__ import annotations

from collections.abc import Sequence

from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.model import Machine
from rigplanner.machine.pcie import link_gbs
from rigplanner.performance.host.law import CardRates

USUAL_LINK_GBS, USUAL_GBS, USUAL_TFLOPS = 12.9, 400.0, 20.0
"""Of a card whose link, memory or arithmetic is not known: PCIe 3.0 x16, a middling GPU."""


SUPERCHIP_GBS = 450.0
"""One way between Grace and its GPU (NVLink-C2C, 900 GB/s both ways: NVIDIA, GH200 data sheet)."""


def _link(gpu: GPU) -> float:
    if gpu.form_factor == "superchip":
        return SUPERCHIP_GBS
    return link_gbs(gpu.edge_gen, gpu.edge_width) or USUAL_LINK_GBS


def card_rates(gpus: Sequence[GPU], machine: Machine | None) -> CardRates:
    """Return the rates of GPUs that share a model by layers: one works after the other."""
    rates = [gpu.bandwidth_gbs or USUAL_GBS for gpu in gpus]
    peaks = [(gpu.dense_tflops and gpu.dense_tflops.fp16) or USUAL_TFLOPS for gpu in gpus]
    links = [node.host_gbs for node in machine.gpus if node.host_gbs] if machine else []
    own = [_link(gpu) for gpu in gpus]
    return CardRates(
        memory_gbs=len(rates) / sum(1 / rate for rate in rates),
        tflops=len(peaks) / sum(1 / peak for peak in peaks),
        link_gbs=max(links or own),
    )
