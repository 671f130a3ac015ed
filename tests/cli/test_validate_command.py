"""`rigplanner validate`: each line of a file answers for itself."""

import json
from pathlib import Path

import pytest

from rigplanner.cli.main import main

HEADER = "gpu,count,model,task,precision,batch_per_gpu,stack,metric,value\n"
GOOD = "RTX 3090,1,resnet-50,train_full,amp_fp16,128,pytorch-ngc,images/s,1500\n"


def test_a_bad_line_of_a_csv_is_named_and_the_others_are_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        HEADER + GOOD + GOOD.replace("1500", "fast") + GOOD.replace("images/s", "furlongs")
    )
    assert main(["validate", str(path)]) == 2
    out, err = capsys.readouterr()
    assert "Speed: own.csv" in out
    assert "own.csv line 3: value: expected a number" in err
    assert "own.csv line 4: metric" in err


def test_a_line_whose_speed_cannot_be_told_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        HEADER
        + GOOD
        + GOOD.replace("RTX 3090", "GTX 9999")
        + GOOD.replace("pytorch-ngc", "pytorch-nggc")
    )
    assert main(["validate", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "Speed: own.csv" in out
    assert "own.csv line 3: hardware.gpu: the catalog has no 'GTX 9999'" in err
    assert "own.csv line 4: stack: 'pytorch-nggc' is not known; the nearest are" in err


def test_a_bad_line_of_json_is_named_and_the_others_are_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.jsonl"
    good = {
        "gpu": "RTX 3090",
        "model": "resnet-50",
        "task": "train",
        "metric": "images/s",
        "value": 1500,
    }
    path.write_text(
        "nonsense\n" + json.dumps(good) + "\n" + json.dumps(good | {"value": -1}) + "\n"
    )
    assert main(["validate", str(path)]) == 2
    out, err = capsys.readouterr()
    assert "Speed: own.jsonl" in out
    assert "own.jsonl line 1: expected a JSON object" in err
    assert "own.jsonl line 3: value" in err


def test_a_file_of_bad_lines_alone_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.csv"
    path.write_text(HEADER + GOOD.replace("1500", "fast"))
    assert main(["validate", str(path)]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "line 2: value" in err
    assert "no measured case" in err
