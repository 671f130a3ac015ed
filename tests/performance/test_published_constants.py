"""Fitted constants against published figures: a constant that moves by a tenth is seen here."""

import math
import statistics

from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.anchors.points import Placed


def _decoding() -> list[Placed]:
    """Rows of one stream written by llama.cpp on one GPU."""
    return [
        item
        for item in shipped_evidence().placed
        if item.point.task == "decode" and item.point.stack == "llama.cpp" and not item.point.count
    ]


def test_other_makers_cards_read_weights_as_slowly_as_published() -> None:
    """llama-2-7b Q4_0 on a Radeon RX 5700 XT writes 65.19 tokens a second (ggml-org/llama.cpp pull
    13324); physics alone, without any row, says so within a twentieth, and is in the middle of all
    such rows of AMD, Intel and Apple, where each source has one voice for each chip."""
    [row] = [item for item in _decoding() if item.row.id == "D0384"]
    assert row.row.value == 65.19
    assert abs(row.residual) < math.log(1.05)
    others: dict[tuple[str, str], list[float]] = {}
    for item in _decoding():
        if item.point.maker != "nvidia":
            others.setdefault((item.row.gpu, item.row.source), []).append(item.residual)
    voices = [statistics.median(residuals) for residuals in others.values()]
    assert len(voices) > 25 and abs(statistics.median(voices)) < math.log(1.06)
