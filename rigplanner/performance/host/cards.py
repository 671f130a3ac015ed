"""What the GPUs beside a host give it: memory rate, arithmetic, link."""

from __future__ import annotations

from collections.abc import Sequence

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.machine.pcie import link_gbs
from rigplanner.performance.host.law import CardRates
from rigplanner.performance.serving import packed_tflops
from rigplanner.performance.silicon import silicon_of

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
    links = [node.host_gbs for node in machine.gpus if node.host_gbs] if machine else []
    own = [_link(gpu) for gpu in gpus]
    return CardRates(
        memory_gbs=_in_turn(rates),
        tflops=_in_turn([_products(gpu) for gpu in gpus]),
        packed_tflops=_in_turn([_products(gpu, packed=True) for gpu in gpus]),
        link_gbs=max(links or own),
    )


def _in_turn(rates: Sequence[float]) -> float:
    return len(rates) / sum(1 / rate for rate in rates)


def _products(gpu: GPU, packed: bool = False) -> float:
    """TFLOPS of a GPU's products in 16 bits, or of weights as they are packed."""
    try:
        silicon = silicon_of(gpu)
    except WorkloadFault:
        return USUAL_TFLOPS
    return (packed and packed_tflops(silicon)) or silicon.half
