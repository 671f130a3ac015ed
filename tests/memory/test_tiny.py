"""Networks on microcontrollers, and devices that compute in int8 alone."""

import pytest

from rigplanner.cli.main import main
from rigplanner.errors import WorkloadFault
from rigplanner.memory.tiny import TinyNetwork, find_board, find_network, tiny_file, verdict


@pytest.mark.parametrize(
    ("flash", "sram", "board", "told"),
    [
        (53, 23, "Nano 33 BLE Sense", "fits"),
        (53, 23, "uno", "no SRAM"),
        (1000, 23, "nano 33", "no flash"),
        (964, 23, "nano 33", "fits"),
        (100, 240, "nano 33", "tight"),
        (100, 247, "nano 33", "no SRAM"),
        (53, 23, "esp32", "flash unknown"),
    ],
)
def test_flash_holds_the_weights_and_sram_the_arena(
    flash: float, sram: float, board: str, told: str
) -> None:
    own = TinyNetwork(name="own", aliases=(), flash_kb=flash, sram_kb=sram, source="")
    word = "nano-33-ble-sense" if board.startswith("Nano") else board
    assert verdict(own, find_board(word)) == told


def test_names_are_found_and_others_refused_with_the_nearest() -> None:
    assert find_network("vww").flash_kb == 325 and find_network("KWS").flash_kb == 53
    with pytest.raises(WorkloadFault, match="the nearest are"):
        find_board("arduino nanno")
    with pytest.raises(WorkloadFault, match="known are ds-cnn"):
        find_network("resnet-50")
    known = tiny_file()
    held = (*known.boards.values(), *known.networks.values())
    assert all(each.source in known.sources for each in held)


def test_the_command_says_board_by_board(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tiny", "kws", "--board", "uno"]) == 0
    assert "too little SRAM" in capsys.readouterr().out
    assert main(["tiny", "--board", "toaster"]) == 2
    assert main(["tiny", "mine", "--flash-kb", "10"]) == 2
