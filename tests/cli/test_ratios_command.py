"""`rigplanner catalog ratios`: what it prints and what it refuses."""

import json

import pytest

from rigplanner.cli.main import main


def test_a_card_over_cpus_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["catalog", "ratios", "Titan X Pascal", "2x Xeon E5-2630 v3", "--task", "train"]
    assert main([*asked, "--stack", "torch7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "64.0 to 77.4 times" in lines[0] and lines[1].split()[0] == "Network"
    assert len(lines) == 10
    assert main([*asked, "--format", "json", "--model", "resnet50"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)
    assert pair["times"] == pytest.approx(6627.25 / 103.58, rel=1e-3)


@pytest.mark.parametrize(
    ("asked", "code", "told"),
    [
        (["RTX 4090", "GTX 580"], 1, "Nobody has measured"),
        (["RTX 4090", "RTX 4090"], 2, "two devices"),
        (["RTX 4090", "RTX 3O90"], 2, "GeForce RTX 3090"),
        (["RTX 4090", "RTX 3090", "--stack", "nonsense"], 2, "--stack"),
        (["RTX 4090", "RTX 3090", "--stack", "a,b,c"], 2, "one stack or two"),
        (["RTX 4090", "RTX 3090", "--model", "nonsense"], 2, "--model"),
    ],
)
def test_what_cannot_be_told_says_why(
    capsys: pytest.CaptureFixture[str], asked: list[str], code: int, told: str
) -> None:
    assert main(["catalog", "ratios", *asked]) == code
    printed = capsys.readouterr()
    assert told in printed.out + printed.err
