"""`rigplanner topology`: formats, captured text, faults."""

import json
from pathlib import Path

import pytest

from rigplanner.cli.main import main

PAIR = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-31\t0\nGPU1\tNV4\t X \t0-31\t0\n"


def sample(samples: list[Path], stem: str) -> str:
    return str(next(path for path in samples if path.stem == stem))


def test_json_of_a_bridged_pair(samples: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", sample(samples, "dual-rtx-3090"), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["links"] == [["X", "NV4"], ["NV4", "X"]]
    assert answer["islands"] == [[0, 1]]
    assert answer["p2p"] == [["X", "OK"], ["OK", "X"]]
    bandwidth = answer["allreduce_busbw_gbps"]
    assert bandwidth["low"] < bandwidth["value"] < bandwidth["high"]


@pytest.mark.parametrize(("form", "start"), [("matrix", "\tGPU0"), ("nccl", "<system"), ("svg", "<svg"), ("dot", "graph")])
def test_other_formats(samples: list[Path], capsys: pytest.CaptureFixture[str], form: str, start: str) -> None:
    assert main(["topology", sample(samples, "dgx-1-v100"), "--format", form]) == 0
    assert capsys.readouterr().out.startswith(start)


def test_one_gpu_has_no_bandwidth(samples: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", sample(samples, "gtx-1080-ti"), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["allreduce_busbw_gbps"] == {"value": None, "low": None, "high": None}


def test_captured_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "topo.txt"
    path.write_text(PAIR, "utf-8")
    assert main(["topology", "--nvidia-smi", str(path), "--gpu", "RTX 3090", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["links"] == [["X", "NV4"], ["NV4", "X"]]
    assert answer["gpus"] == ["GeForce RTX 3090"] * 2


def test_faults_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "topo.txt"
    path.write_text(PAIR.replace("NV4\t X ", "NV2\t X "), "utf-8")
    cases = [
        ([], "name a rig file"),
        (["--nvidia-smi", str(path)], "--gpu NAME"),
        (["--nvidia-smi", str(path), "--gpu", "No Such Card"], "no GPU named 'No Such Card'"),
        (["--nvidia-smi", str(path), "--gpu", "RTX 3090"], "cell GPU0/GPU1: NV4, but GPU1/GPU0 is NV2"),
        (["--nvidia-smi", str(tmp_path / "none.txt"), "--gpu", "RTX 3090"], "cannot be read"),
    ]
    for words, expected in cases:
        assert main(["topology", *words]) == 2
        shown = capsys.readouterr().err
        assert expected in shown
        assert "Traceback" not in shown
    path.write_text(PAIR, "utf-8")
    assert main(["topology", "--nvidia-smi", str(path), "--gpu", "RTX 4090"]) == 2
    path.write_bytes(b"\xff\xfe\x00G")
    assert main(["topology", "--nvidia-smi", str(path), "--gpu", "RTX 3090"]) == 2


def test_nccl_xml_in_and_out(samples: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", sample(samples, "dual-rtx-3090"), "--format", "nccl"]) == 0
    path = tmp_path / "topo.xml"
    path.write_text(capsys.readouterr().out, "utf-8")
    assert main(["topology", "--nccl", str(path), "--gpu", "RTX 3090", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["links"] == [["X", "NV4"], ["NV4", "X"]]
    assert main(["topology", "--hwloc", str(path), "--gpu", "RTX 3090"]) == 2
    assert "expected topology" in capsys.readouterr().err
    assert main(["topology", "--lspci", str(path), "--gpu", "RTX 3090"]) == 2
