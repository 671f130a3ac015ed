"""`rigplanner guide`."""

from pathlib import Path

import pytest

from rigplanner.cli.main import main
from rigplanner.rig.files import read_rig


def test_the_guide_writes_the_rig_it_proposes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.rig"
    assert main(["guide", "trying", "--budget", "3000", "--country", "de", "-o", str(path)]) == 0
    rig = read_rig(path)
    assert rig.site.volts == 230
    assert rig.budget == 3000
    assert rig.workloads
    assert "no errors" in capsys.readouterr().out


def test_a_budget_that_buys_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guide", "serve", "--budget", "100"]) == 1
    assert "above your budget" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--aim", "fly"], ["--country", "ZZ"], ["--budget", "-1"]])
def test_wrong_answers_are_named(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guide", "kaggle", *words]) == 2
    assert words[0] in capsys.readouterr().err


def test_aims_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guide", "serve", "--aims"]) == 0
    assert "serve-70b-int4" in capsys.readouterr().out
