"""What was proven of a rig is kept in its file."""

from pathlib import Path

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.planning.best.answer import Answer
from rigplanner.planning.best.proof import proof_of, with_proof
from rigplanner.planning.best.question import Question
from rigplanner.rig.document import Rig
from rigplanner.rig.files import read_rig, write_rig


@pytest.mark.parametrize("rigs", [12, 2**63, 10**24])
def test_a_rig_with_a_proof_about_any_number_of_rigs_opens_again(
    rigs: int, catalog: Catalog, tmp_path: Path
) -> None:
    answer = Answer(
        question=Question(wants=()), strictness="sound", best=None, top=None,
        total=rigs, examined=1, counts={}, gap=None,
    )  # fmt: skip
    path = tmp_path / "proven.rig"
    write_rig(with_proof(Rig(), answer), path, catalog)
    kept = proof_of(read_rig(path))
    assert kept is not None and int(kept.rigs) == rigs
