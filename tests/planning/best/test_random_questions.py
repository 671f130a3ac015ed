"""Random questions about the shipped catalog: the short form of the campaign `questions`."""

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.planning.best.answer import best_rig
from tools.campaign.questions import faults_of, random_question
from tools.campaign.small_catalogs import TODAY

ASKED = (60002, 60010, 60011)
"""Questions of the campaign that take about a second each."""


@pytest.mark.parametrize("number", ASKED)
def test_a_rig_has_no_error_keeps_the_budget_and_its_certificate_holds(
    number: int, catalog: Catalog
) -> None:
    answer = best_rig(random_question(number), catalog, TODAY, True)
    assert answer.best is not None and answer.gap is None
    assert faults_of(answer, catalog) == []
