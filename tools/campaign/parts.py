"""The parts of the campaign, with their full sizes."""

from collections.abc import Callable
from pathlib import Path

from tools.campaign.bad_disks import bad_disks
from tools.campaign.bad_inputs import bad_inputs
from tools.campaign.bad_servers import bad_servers
from tools.campaign.best_rigs import best_rigs
from tools.campaign.blanked import blanked
from tools.campaign.figures import Figures
from tools.campaign.first_assessments import first_assessments
from tools.campaign.hostile_names import hostile_names
from tools.campaign.kills import kills
from tools.campaign.orders import orders
from tools.campaign.questions import questions
from tools.campaign.random_user import random_user
from tools.campaign.two_windows import two_windows

Part = Callable[[int, int, Path | None], Figures]

PARTS: dict[str, tuple[Part, int]] = {
    "inputs": (bad_inputs, 12_000),
    "kills": (kills, 600),
    "first": (first_assessments, 200),
    "disks": (bad_disks, 140),
    "windows": (two_windows, 60),
    "servers": (bad_servers, 60),
    "names": (hostile_names, 60),
    "blanked": (blanked, 2_000),
    "orders": (orders, 1_000),
    "best": (best_rigs, 500),
    "questions": (questions, 1_000),
    "window": (random_user, 10_000),
}
