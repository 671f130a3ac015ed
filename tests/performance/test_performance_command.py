"""`rigplanner performance`: one answer a line, same order, errors on their own line."""

import json
import re
from pathlib import Path

import pytest

from rigplanner.cli.main import main

GOOD = {
    "id": "a",
    "workload": {
        "model": "resnet-50",
        "task": "train",
        "precision": "amp_fp16",
        "stack": "pytorch-ngc",
    },
    "hardware": {"gpu": "RTX 3090", "count": 2, "link": "pcie"},
    "metric": "images/s",
}
NO_FP8 = {
    "id": 7,
    "workload": {"model": "bert-large", "task": "train", "precision": "fp8"},
    "hardware": {"gpu": "GTX 1080"},
}
NO_GPU = {"id": "c", "workload": {"model": "resnet-50"}, "hardware": {"gpu": "RTX 9999"}}


def ask(
    path: Path, lines: list[str], capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, list[dict[str, object]]]:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    code = main(["performance", str(path), *words])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_line_answers_for_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answers = ask(
        tmp_path / "c.jsonl", [json.dumps(case) for case in (GOOD, NO_FP8, NO_GPU)], capsys
    )
    assert code == 0
    assert [answer["id"] for answer in answers] == ["a", 7, "c"]
    good = answers[0]
    assert good["metric"] == "images/s" and good["stack"] == "pytorch-ngc" and good["anchors"]
    assert good["low"] < good["value"] < good["high"]  # type: ignore[operator]
    assert "no fp8" in str(answers[1]["error"]) and "RTX 9999" in str(answers[2]["error"])


@pytest.mark.parametrize("model", ["resnet50", "bert-large"])
def test_memory_beside_a_speed_is_of_the_batch_that_the_speed_assumes(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    words = ["performance", model, "--gpu", "RTX 3090", "--task", "train"]
    assert main(words) == 0
    unsaid = capsys.readouterr().out
    batch = re.search(r"batch per gpu (\d+)", unsaid)
    assert batch is not None and int(batch[1]) > 1

    def memory_told(batch_per_gpu: int) -> str:
        assert main([*words, "--set", f"batch_per_gpu={batch_per_gpu}"]) == 0
        lines = capsys.readouterr().out.splitlines()
        return next(line for line in lines if "Memory per GPU" in line)

    assert memory_told(int(batch[1])) in unsaid
    assert memory_told(1) not in unsaid


def test_steps_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = ask(tmp_path / "c.jsonl", [json.dumps(GOOD)], capsys)[1][0]
    opened = ask(tmp_path / "c.jsonl", [json.dumps(GOOD)], capsys, "--steps")[1][0]
    assert "steps" not in plain and opened["steps"]


@pytest.mark.parametrize(
    "line", ["nonsense", "[1, 2]", '{"id": 1, "workload": {"batch_per_gpu": "many"}}']
)
def test_what_is_no_case_is_named_and_ends_with_two(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, answers = ask(tmp_path / "c.jsonl", [line, json.dumps(GOOD)], capsys)
    assert code == 2 and "line 1" in str(answers[0]["error"]) and "value" in answers[1]


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["performance", str(tmp_path / "none.jsonl")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_power_limit_of_a_case_counts_and_what_nobody_heeds_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = {"model": "llama-3-8b", "task": "decode", "precision": "q4_k_m", "stack": "llama.cpp"}
    machines = ({}, {"power_limit_w": 200}, {"power_limit_w": 20}, {"power_cap": 200})
    file = tmp_path / "cases.jsonl"
    file.write_text(
        "\n".join(
            json.dumps({"id": n, "workload": work, "hardware": {"gpu": "RTX 3090", **more}})
            for n, more in enumerate(machines)
        )
    )
    assert main(["performance", str(file)]) == 2
    free, capped, low, strange = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert 0.75 * free["value"] < capped["value"] < 0.95 * free["value"]
    assert "at least 100 W" in low["error"]
    assert "hardware.power_cap" in strange["error"] and "power_limit_w" in strange["error"]
