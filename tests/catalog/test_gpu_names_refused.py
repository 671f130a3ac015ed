"""GPU names that mean several cards, none, or one that the catalog lacks: refused with the nearest,
never resolved."""

import pytest

from rigplanner.catalog.find.gpu_names import shipped_gpu_names
from rigplanner.catalog.gpus import find_gpu
from rigplanner.errors import WorkloadFault

REFUSED = {
    "RTX 6000": "nvidia.quadro.rtx-6000",
    "RTX 5000": "nvidia.quadro.rtx-5000",
    "RTX 4000": "nvidia.quadro.rtx-4000",
    "TITAN X": "nvidia.titan.x-pascal",
    "A100-PCIE": "nvidia.datacenter.a100-pcie-40gb",
    "NVIDIA A100-SXM-64GB": "nvidia.datacenter.a100-sxm4-40gb",
    "NVIDIA L40G": "nvidia.datacenter.l40",
    "NVIDIA H20 PCIe": "nvidia.datacenter.h20-sxm5-96gb",
    "NVIDIA A10M": "nvidia.datacenter.a10",
    "Tesla V100-DGXS-32GB": "nvidia.tesla.v100-sxm2-32gb",
    "Tesla V100-FHHL-16GB": "nvidia.tesla.v100-pcie-16gb",
    "GeForce GTX 1060 5GB": "nvidia.geforce.gtx-1060-6gb",
    "GeForce RTX 3050 4GB": "nvidia.geforce.rtx-3050",
    "GeForce RTX 3060 Ti 16GB": "nvidia.geforce.rtx-3060-ti",
    "GeForce RTX 1080": "nvidia.geforce.gtx-1080",
    "GeForce 6800": None,
    "Radeon 4090": None,
    "NVIDIA RX 6800": None,
    "Quadro 2000": "nvidia.quadro.p2000",
    "2000": "nvidia.quadro.p2000",
    "NVIDIA RTX A6000 Laptop GPU": "nvidia.mobile.quadro-rtx-6000",
    "NVIDIA RTX 4500 Ada Generation Laptop GPU": "nvidia.rtx.4500-ada",
    "NVIDIA GeForce RTX 3080 Laptop GPU": "nvidia.geforce.rtx-3080-laptop-16gb",
    "NVIDIA GeForce RTX 4050 Ti Laptop GPU": None,
    "Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XT/7900 XTX/7900M] (rev c8)": (
        "amd.radeon.rx-7900-xtx"
    ),
    "TU102GL [Quadro RTX 6000/8000]": "nvidia.quadro.rtx-6000",
    "gfx942": "amd.instinct.mi300x",
    "gfx90a": "amd.instinct.mi250x",
    "gfx1100": "amd.radeon.rx-7900-xtx",
    "M2 Ultra": "apple.m2-ultra.76-core-192gb",
    "Apple M1 Max": "apple.m1-max.32-core-64gb",
    "Orin": "nvidia.jetson.agx-orin-64gb",
    "AMD Radeon Graphics": None,
    "NVIDIA Graphics Device": None,
    "llvmpipe (LLVM 15.0.7, 256 bits)": None,
    "": None,
}
"""With one that must be among the nearest, if any."""


@pytest.mark.parametrize(("name", "near"), REFUSED.items())
def test_a_doubtful_name_is_refused_with_the_nearest(name: str, near: str | None) -> None:
    meaning = shipped_gpu_names().meaning(name)
    assert meaning.gpu is None
    assert near is None or near in meaning.near
    with pytest.raises(WorkloadFault):
        find_gpu(name)


def test_a_cpu_that_is_asked_as_a_gpu_is_called_one() -> None:
    with pytest.raises(WorkloadFault, match=r"is a CPU \(Intel Xeon E5-2630 v3\)"):
        find_gpu("Xeon E5-2630 v3")
