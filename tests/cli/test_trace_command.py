"""`rigplanner trace`: with PyTorch where there is one, and the word where there is none."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rigplanner.cli.commands import trace
from rigplanner.cli.main import main

NET = """
import torch

def model():
    return torch.nn.Sequential(torch.nn.Linear(100, 200, bias=False), torch.nn.ReLU(), torch.nn.Linear(200, 10, bias=False))

def batch(size):
    return torch.randn(size, 100)
"""
CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": 500,
}


def interpreter_with(*modules: str) -> str:
    """An interpreter that has these modules; skip the test where none is found."""
    for python in (
        os.environ.get("RIGPLANNER_TORCH_PYTHON"),
        sys.executable,
        shutil.which("python3"),
    ):
        if (
            python
            and not subprocess.run(
                [python, "-c", "import " + ", ".join(modules)], capture_output=True
            ).returncode
        ):
            return python
    pytest.skip(f"no interpreter with {' and '.join(modules)}; name one in RIGPLANNER_TORCH_PYTHON")


def stub(tmp_path: Path, answer: dict[str, object] | str) -> str:
    """An interpreter that answers so, whatever it is asked."""
    path = tmp_path / "python"
    text = answer if isinstance(answer, str) else json.dumps(answer)
    path.write_text(f"#!/bin/sh\ncat >/dev/null\necho '{text}'\n")
    path.chmod(0o755)
    return str(path)


MEASURED: dict[str, object] = {
    "peak_bytes": 2**30,
    "weights": 2**28,
    "gradients": 2**28,
    "optimizer": 2**28,
    "params": 2**26,
    "trained": 2**26,
    "torch": "2.9",
}


def test_a_script_is_measured_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = interpreter_with("torch")
    (tmp_path / "net.py").write_text(NET)
    assert (
        main(
            [
                "trace",
                str(tmp_path / "net.py"),
                "--python",
                python,
                "--format",
                "json",
                "--set",
                "batch_per_gpu=8",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)["measured"]
    weights = 4 * (100 * 200 + 200 * 10)
    assert found["weights"] == found["gradients"] == weights and found["params"] == weights // 4
    assert found["optimizer"] >= 2 * weights
    assert found["peak_bytes"] >= 4 * weights


def test_a_configuration_is_measured_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = interpreter_with("torch", "transformers")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    kept = tmp_path / "own.jsonl"
    words = [
        "--python",
        python,
        "--set",
        "batch_per_gpu=2",
        "--set",
        "seq_len=64",
        "--compare",
        "--format",
        "json",
    ]
    kept.write_text('{"id": "before"}')
    assert main(["trace", str(tmp_path / "config.json"), *words, "--case", str(kept)]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[0])
    assert abs(found["compared"]["error"]) < 0.03
    before, own = kept.read_text().splitlines()
    assert before == '{"id": "before"}'
    kept.write_text(own + "\n")
    assert main(["validate", str(kept)]) == 0
    assert "traced steps" in capsys.readouterr().out


def test_without_pytorch_the_word_is_clear(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = stub(tmp_path, {"error": "torch is not installed", "missing": "torch"})
    assert main(["trace", "gpt2", "--python", python]) == 2
    assert "PyTorch is not installed" in capsys.readouterr().err


def test_the_measurement_has_the_form_of_an_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = stub(tmp_path, MEASURED)
    assert main(["trace", "gpt2", "--python", python, "--gpu", "RTX 3090", "--compare"]) == 0
    text = capsys.readouterr().out
    assert "live tensors                              1.00" in text
    assert "Measured with PyTorch 2.9" in text and "off." in text


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["missing.py"], "no such file"),
        (["gpt2", "--task", "train_lora"], "trace measures"),
        (["gpt2", "--set", "optimizer=lion"], "trace measures"),
        (["sdxl"], "give a script"),
    ],
)
def test_what_cannot_be_measured_is_named(
    words: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", *words, "--python", stub(tmp_path, MEASURED)]) == 2
    assert named in capsys.readouterr().err


def test_a_script_has_no_estimate_to_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "net.py").write_text(NET)
    assert main(["trace", str(tmp_path / "net.py"), "--compare"]) == 2
    assert "no configuration" in capsys.readouterr().err


@pytest.mark.parametrize("answer", ["no json", ""])
def test_an_interpreter_that_answers_nonsense_is_named(
    tmp_path: Path, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "gpt2", "--python", stub(tmp_path, answer)]) == 2
    assert "without an answer" in capsys.readouterr().err
    assert main(["trace", "gpt2", "--python", str(tmp_path / "nowhere")]) == 2
    assert "did not answer" in capsys.readouterr().err


def test_this_interpreter_is_tried_first() -> None:
    assert next(trace._interpreters(None)) == sys.executable


def test_no_module_beside_the_measuring_script_bears_a_name_of_the_standard_library() -> None:
    beside = {path.stem for path in Path(trace.torch_step.__file__).parent.glob("*.py")}
    assert "torch_step" in beside
    assert not beside & sys.stdlib_module_names
