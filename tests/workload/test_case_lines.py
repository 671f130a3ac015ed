"""Case files: contract cases, flat specifications, and lines that are neither."""

import json
from pathlib import Path
from typing import Any

import pytest

from rigplanner.cli.main import main
from rigplanner.rig.workload import Case
from rigplanner.workload.cases import BadCase, read_case


def test_nested_and_flat_lines_name_the_same_workload() -> None:
    work = {
        "config": {"model_type": "gpt2"},
        "task": "inference",
        "precision": "bf16",
        "batch_per_gpu": 1,
        "seq_len": 8,
    }
    nested = read_case(json.dumps({"id": "a", "workload": work}).encode())
    flat = read_case(json.dumps({"id": "a", **work, "head": "causal_lm", "note": None}).encode())
    assert isinstance(nested, Case) and isinstance(flat, Case)
    assert (
        nested.workload.config == flat.workload.config
        and nested.workload.task == flat.workload.task
    )


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[1]",
        b'{"id": [1]}',
        b'{"id": 1, "workload": 3}',
        b'{"id": 1, "workload": {"batch_per_gpu": "x"}}',
        b"\xff\xfe",
    ],
)
def test_a_bad_line_is_an_answer(line: bytes) -> None:
    case = read_case(line, 7)
    assert isinstance(case, BadCase) and case.error


def test_the_command_answers_every_line_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work: dict[str, Any] = {
        "model": "gpt2",
        "task": "train_full",
        "precision": "bf16",
        "optimizer": "adamw",
        "batch_per_gpu": 1,
        "seq_len": 64,
    }
    lines = [
        json.dumps({"id": "good", "workload": work, "hardware": {"gpu": "RTX 3090", "count": 1}}),
        "not json",
        json.dumps({"id": "bad", "workload": {**work, "optimizer": "nonsense"}}),
        json.dumps({"id": "flat", **work}),
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["memory", str(file)]) == 2
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["id"] for answer in answers] == ["good", 2, "bad", "flat"]
    assert "error" in answers[1] and "nonsense" in answers[2]["error"]
    assert answers[0]["device_gib"] > answers[3]["tensors_gib"] > 0
    assert set(answers[0]["parts_gib"]) == {
        "weights",
        "gradients",
        "optimizer",
        "activations",
        "kv_cache",
        "workspace",
        "context",
    }


def test_a_missing_file_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "/no/such/file.jsonl"]) == 2
    assert "cannot be read" in capsys.readouterr().err
