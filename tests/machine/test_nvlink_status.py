"""`nvidia-smi nvlink --status`: links up and down."""

import pytest
from small_parts import linked_gpu

from rigplanner.machine.formats.nvlink_status import links_down, parse_nvlink_status
from rigplanner.machine.formats.smi_matrix import MatrixFault

PAIR_AND_ONE = (
    "GPU 0: NVIDIA RTX A6000 (UUID: GPU-0)\n\t Link 0: 14.062 GB/s\n\t Link 1: 14.062 GB/s\n\t Link"
    " 2: 14.062 GB/s\n\t Link 3: <inactive>\nGPU 1: NVIDIA RTX A6000 (UUID: GPU-1)\n\t Link 0:"
    " 14.062 GB/s\n\t Link 1: 14.062 GB/s\n\t Link 2: 14.062 GB/s\n\t Link 3: 14.062 GB/s\nGPU 2:"
    " NVIDIA RTX A6000 (UUID: GPU-2)\nNVML: Unable to retrieve NVLink information as all links are"
    " inActive\n"
)


def test_links_are_counted() -> None:
    status = parse_nvlink_status(PAIR_AND_ONE)
    assert [(gpu.index, gpu.name, gpu.up) for gpu in status] == [
        (0, "NVIDIA RTX A6000", 3),
        (1, "NVIDIA RTX A6000", 4),
        (2, "NVIDIA RTX A6000", 0),
    ]
    assert status[0].links == (14.062, 14.062, 14.062, None)


def test_a_bridge_that_is_not_seated_is_told() -> None:
    card = linked_gpu()
    assert card.nvlink is not None
    assert links_down(parse_nvlink_status(PAIR_AND_ONE), card) == ((0, 3, card.nvlink.links),)


@pytest.mark.parametrize("text", ["", "hello\n", "\t Link 0: 25 GB/s\n"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(MatrixFault, match="expected the output of nvidia-smi nvlink"):
        parse_nvlink_status(text)
