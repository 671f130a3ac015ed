"""The parts of the campaign, with their full sizes."""

from collections.abc import Callable
from pathlib import Path

from tools.campaign.bad_inputs import bad_inputs
from tools.campaign.figures import Figures

Part = Callable[[int, int, Path | None], Figures]

PARTS: dict[str, tuple[Part, int]] = {"inputs": (bad_inputs, 12_000)}
