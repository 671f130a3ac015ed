"""GPUs by the names of chips and machines that they are sold under, words in any order."""

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.errors import WorkloadFault

SOLD = {
    "M4 Max 128GB": "apple.m4-max.40-core-128gb",
    "128GB M4 Max": "apple.m4-max.40-core-128gb",
    "Mac mini M4 Pro 64GB": "apple.m4-pro.20-core-64gb",
    "MacBook Pro M3 Max 128GB": "apple.m3-max.40-core-128gb",
    "Mac Studio M2 Ultra 192GB": "apple.m2-ultra.76-core-192gb",
    "M3 Pro 18GB": "apple.m3-pro.18-core-18gb",
    "MacBook Air M2 16GB": "apple.m2.10-core-16gb",
    "Framework Desktop": "amd.ryzen-ai.max-plus-395",
    "EVO-X2": "amd.ryzen-ai.max-plus-395",
    "framework desktop 128gb": "amd.ryzen-ai.max-plus-395",
    "Razer Blade 16 5090": "nvidia.geforce.rtx-5090-laptop",
    "DGX Spark": "nvidia.gb10.dgx-spark",
    "Dell Pro Max with GB10": "nvidia.gb10.dgx-spark",
}


@pytest.mark.parametrize(("name", "part_id"), SOLD.items())
def test_a_machine_is_its_chip(name: str, part_id: str) -> None:
    assert find_gpu(name).id == part_id


@pytest.mark.parametrize("name", ["M3 Ultra", "M4 Pro", "Mac mini M4"])
def test_a_chip_with_several_memories_names_them(name: str) -> None:
    with pytest.raises(WorkloadFault, match="may be several GPUs") as fault:
        find_gpu(name)
    assert "Tesla" not in str(fault.value)
    assert "Apple" in str(fault.value)


def test_a_server_of_eight_is_no_gpu() -> None:
    with pytest.raises(WorkloadFault, match="has no 'DGX H100'"):
        find_gpu("DGX H100")
