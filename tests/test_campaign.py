"""A small share of the campaign: nothing of it may break a promise."""

import os
import sys
from pathlib import Path

import pytest

from tools.campaign.bad_disks import STEPS, bad_disks
from tools.campaign.bad_inputs import wrong
from tools.campaign.bad_servers import bad_servers
from tools.campaign.blanked import blanked
from tools.campaign.damage import damaged
from tools.campaign.figures import Figures
from tools.campaign.hostile_names import hostile_names
from tools.campaign.kills import kills
from tools.campaign.parts import PARTS
from tools.campaign.two_windows import two_windows

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")


def _whole(found: Figures) -> None:
    assert found.failures == []
    assert found.deeds


def test_files_survive_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kills of the window, where the clock counts, are left to the campaign."""
    monkeypatch.setattr("tools.campaign.kills.IN_ENGINE", 1.0)
    _whole(kills(12, 1, None))


def test_disks_that_fail_leave_the_old_file() -> None:
    _whole(bad_disks(3 * len(STEPS), 1, None))


def test_servers_that_lie_leave_the_old_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _whole(bad_servers(6, 1, None))


def test_a_fact_taken_away_makes_no_verdict_better() -> None:
    _whole(blanked(5, 1, None))


def test_hostile_names_stay_names_on_every_way_out() -> None:
    _whole(hostile_names(1, 7, None))


def test_one_of_two_windows_holds_a_file() -> None:
    _whole(two_windows(2, 1, None))


def test_damage_is_seeded() -> None:
    import random

    good = Path(os.fspath(Path(__file__).parents[1] / "resources/samples/rtx-5090.rig"))
    made = [damaged(good.read_bytes(), random.Random(3)) for _ in range(2)]
    assert made[0] == made[1] != good.read_bytes()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, "Traceback (most recent call last):"),
        (2, "rigplanner: a fault of RigPlanner, please report it"),
        (2, "\x1b[31m"),
        (2, "x" * 2000),
        (2, ""),
        (139, "x"),
        (2, "a\n" * 60),
    ],
)
def test_broken_promises_are_seen(code: int, said: str) -> None:
    assert wrong(code, "", said)
    assert wrong(2, "", "rigplanner: no rig.\n") == []


def test_every_part_has_its_full_size() -> None:
    sizes = {name: size for name, (_, size) in PARTS.items()}
    assert sizes["inputs"] == 12_000 and sizes["kills"] == 600 and sizes["servers"] == 60
    assert sizes["window"] == 10_000 and sizes["blanked"] == 2_000 and sizes["first"] == 200
    assert sizes["names"] == 60 and sizes["windows"] == 60
    assert sizes["orders"] == 1_000
