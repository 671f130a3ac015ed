"""`rigplanner accept`: exit codes, formats, and one sentence for what cannot be read."""

import json
from pathlib import Path

import pytest

from rigplanner.cli.main import main

LSPCI = """01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)
	Kernel driver in use: nvidia
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1
		LnkSta:	Speed 16GT/s, Width x{0}
02:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1
		LnkSta:	Speed 16GT/s, Width x8
"""


@pytest.fixture
def rig(samples: list[Path]) -> str:
    return str(next(path for path in samples if path.stem == "dual-rtx-3090"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "capture"
    place.mkdir()
    (place / "lspci.txt").write_text(LSPCI.format(8))
    return place


def test_a_kept_promise_is_0_and_a_broken_one_1(
    rig: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["accept", rig, "--from", str(folder)]) == 0
    assert "keeps the promise" in capsys.readouterr().out
    (folder / "lspci.txt").write_text(LSPCI.format(4))
    assert main(["accept", rig, "--from", str(folder), "--format", "json"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert made["verdict"] == "broken" and made["counts"]["broken"] == 1
    assert [line["code"] for line in made["lines"] if line["verdict"] == "broken"] == ["link-width"]
    assert len(made["texts"][0]["sha256"]) == 64


def test_what_cannot_be_read_is_2_and_one_sentence(
    rig: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("nothing of interest")
    for words in (
        ["accept"],
        ["accept", rig, "--from", str(tmp_path / "none")],
        ["accept", rig, "--from", str(tmp_path)],
        ["accept", str(tmp_path / "none.rig")],
    ):
        assert main(words) == 2
        said = capsys.readouterr()
        assert (
            not said.out
            and said.err.count("\n") == 1
            and said.err.startswith("rigplanner accept: ")
        )


def test_every_format_and_every_paper_is_written(rig: str, folder: Path, tmp_path: Path) -> None:
    for extra in ([], ["--plan"]):
        for form, start in (
            ("text", b""),
            ("json", b"{"),
            ("html", b"<!doctype"),
            ("pdf", b"%PDF"),
        ):
            out = tmp_path / f"out.{form}"
            assert (
                main(
                    ["accept", rig, "--from", str(folder), *extra, "--format", form, "-o", str(out)]
                )
                == 0
            )
            assert out.read_bytes().startswith(start) and out.stat().st_size > 300
    assert main(["accept", rig, "--from", str(folder), "--format", "pdf"]) == 2


def test_the_script_needs_no_rig_and_the_second_day_an_acceptance(
    rig: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["accept", "--collect"]) == 0
    assert capsys.readouterr().out.startswith("#!/bin/sh")
    first = tmp_path / "first.json"
    assert main(["accept", rig, "--from", str(folder), "--format", "json", "-o", str(first)]) == 0
    (folder / "lspci.txt").write_text(LSPCI.format(4))
    assert main(["accept", rig, "--from", str(folder), "--since", str(first)]) == 1
    assert "x8 → x4 (worse)" in capsys.readouterr().out
    assert main(["accept", rig, "--from", str(folder), "--since", str(folder / "lspci.txt")]) == 2


@pytest.mark.parametrize("tool", ["gcm", "dcgm", "expectation"])
def test_manifests_are_printed(
    rig: str, folder: Path, tool: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["accept", rig, "--from", str(folder), "--manifest", tool]) == 0
    assert capsys.readouterr().out
