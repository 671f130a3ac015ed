"""Rigs that others published for a budget: for what the cards of each cost today with the cheapest
host around them, the best rig is as fast, or the reason is known. `paid` is what the author said on
his day (none where he names none); `first_sight` what came when the case was first asked, in
images/s of ResNet-50 training."""

import json
from pathlib import Path

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.planning.best.answer import Seeker
from rigplanner.planning.best.choices import cheapest_with
from rigplanner.planning.best.goals import NEAR
from rigplanner.planning.best.question import Question, Want
from rigplanner.planning.best.search import Candidate
from rigplanner.rig.workload import Workload

TODAY = "2026-11-23"
WORK = Workload(model="resnet50", task="train", precision="amp", batch_per_gpu=64, image_size=224)
CASES = json.loads((Path(__file__).parent / "published_rigs.json").read_text("utf-8"))
TRIED = 2
"""Boards of a card that are tried, cheapest first."""


@pytest.fixture(scope="module")
def seeker(catalog: Catalog) -> Seeker:
    return Seeker(Question(wants=(Want(workload=WORK),), used=True), catalog, TODAY)


def published(seeker: Seeker, name: str, count: int) -> tuple[int, Candidate | None]:
    """How many boards of a card have a price, and the best of their cheapest rigs."""
    wanted = find_gpu(name)
    same = {
        gpu.id
        for gpu in seeker.catalog.of_kind("gpu")
        if isinstance(gpu, GPU) and (gpu.chip, gpu.memory_gib) == (wanted.chip, wanted.memory_gib)
    }
    sets = [each for each in seeker.space.sets if each.count == count and each.gpu in same]
    sets.sort(key=lambda cards: (cards.cost, cards.gpu, cards.way))
    made = [rig for cards in sets[:TRIED] if (rig := cheapest_with(seeker, cards))]
    return len(sets), max(made, key=lambda rig: rig.score.value, default=None)


@pytest.mark.parametrize("case", CASES, ids=[case["source"][:40] for case in CASES])
def test_as_fast_for_the_same_money_or_the_reason_is_known(case, seeker: Seeker) -> None:
    priced, rig = published(seeker, case["gpu"], case["count"])
    if isinstance(case["first_sight"], str):
        assert rig is None
        assert (priced == 0) == (case["first_sight"] == "no price")
        return
    assert rig is not None
    *_, answer = seeker.answers(rig.price)
    assert answer.best is not None and answer.gap is None
    assert answer.best.price <= rig.price
    assert answer.best.score.value >= (1 - NEAR) * rig.score.value
