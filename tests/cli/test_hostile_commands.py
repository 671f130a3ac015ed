"""Hostile files, streams and surroundings: every command answers in words and ends as the contract
says."""

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from rigplanner.cli.commands import memory, performance
from rigplanner.cli.main import main
from rigplanner.cli.terminal import Terminal
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.whole_file import read_within
from rigplanner.workload.cases import LONGEST_LINE

GOOD = {
    "workload": {"model": "resnet-50", "task": "train", "batch_per_gpu": 8},
    "hardware": {"gpu": "RTX 3090"},
}
FIGURES = {"params_m": 25.0, "gmacs": 4.1, "activations_m": 11.0, "task": "train"}
COMMANDS = ["memory", "performance"]


def answers(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> list[dict[str, Any]]:
    assert main(list(words)) == code
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return [json.loads(line) for line in said.out.splitlines()]


def good(name: str) -> bytes:
    return json.dumps({"id": name, **GOOD}).encode() + b"\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_too_long_is_answered_and_so_are_its_neighbours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(good("first") + b"x" * (3 * LONGEST_LINE) + b"\n" + good("last"))
    first, long, last = answers(capsys, 2, command, str(path))
    assert (first["id"], long["id"], last["id"]) == ("first", 2, "last")
    assert "longer than 4 MiB" in long["error"]
    assert "error" not in first and "error" not in last


def test_of_a_long_line_only_the_beginning_is_held(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"x" * (3 * LONGEST_LINE) + b"\nlast")
    assert [len(line) for line in memory.lines_of(str(path))] == [LONGEST_LINE + 1, 4]


def test_an_endless_line_ends_the_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "ENDLESS", 2 * LONGEST_LINE)
    path = tmp_path / "endless.jsonl"
    path.write_bytes(b"\0" * (4 * LONGEST_LINE))
    assert main(["performance", str(path)]) == 2
    assert "a line of more than 8 MiB" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_marks_of_encodings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = tmp_path / "marked.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + good("a").replace(b"\n", b"\r\n") + b" \r\n" + good("b"))
    assert [found["id"] for found in answers(capsys, 0, command, str(path))] == ["a", "b"]
    path.write_bytes(good("a").decode().encode("utf-16"))
    assert "UTF-16" in answers(capsys, 2, command, str(path))[0]["error"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("size", [[], [0], 0, -1, [1, 2, 3, 4], 10**9, [10**9, 1]], ids=str)
def test_a_size_that_no_image_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, size: Any
) -> None:
    path = tmp_path / "sizes.jsonl"
    works = ({**FIGURES, "image_size": size}, {**GOOD["workload"], "image_size": size})
    path.write_text(
        "".join(json.dumps({**GOOD, "id": 1, "workload": work}) + "\n" for work in works)
    )
    for found in answers(capsys, 0, command, str(path)):
        assert found["error"].startswith("image_size: expected")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["a\0b", "/", "missing.rig", "loop.rig", "pipe.rig", "x" * 5000])
def test_a_rig_that_is_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    (tmp_path / "loop.rig").symlink_to(tmp_path / "loop.rig")
    os.mkfifo(tmp_path / "pipe.rig")
    path = tmp_path / "cases.jsonl"
    bad = {
        "id": "bad",
        "workload": GOOD["workload"],
        "hardware": {"rig": name if "\0" in name else str(tmp_path / name)},
    }
    path.write_bytes(json.dumps(bad).encode() + b"\n" + good("after"))
    refused, after = answers(capsys, 0, command, str(path))
    assert refused["error"].startswith("hardware.rig: ") and "cannot be read" in refused["error"]
    assert "error" not in after


@pytest.mark.parametrize("module", [memory, performance])
def test_an_unforeseen_fault_of_one_case_silences_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, module: Any
) -> None:
    place = module.place_of

    def failing(hardware: Any) -> Any:
        if hardware.count == 3:
            raise IndexError("list index out of range")
        return place(hardware)

    monkeypatch.setattr(module, "place_of", failing)
    path = tmp_path / "cases.jsonl"
    bad = {**GOOD, "id": "bad", "hardware": {"gpu": "RTX 3090", "count": 3}}
    path.write_bytes(json.dumps(bad).encode() + b"\n" + good("after"))
    refused, after = answers(capsys, 0, module.__name__.rpartition(".")[2], str(path))
    assert refused["id"] == "bad" and "IndexError" in refused["error"]
    assert "error" not in after


def test_only_files_are_read_and_within_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "some"
    path.write_bytes(b"12345")
    assert read_within(path, 5) == b"12345"
    with pytest.raises(OSError, match="larger than"):
        read_within(path, 4)
    for other in (tmp_path, Path("/dev/zero"), Path("a\0b")):
        with pytest.raises(OSError, match=r"a folder|a device or pipe|no name of a file"):
            read_within(other, 5)
    with pytest.raises(RigFault, match="a device or pipe"):
        read_rig(Path("/dev/zero"))


def test_a_file_that_grows_meanwhile_is_read_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some"
    path.write_bytes(b"123")
    before = path.stat()
    path.write_bytes(b"12345678")
    monkeypatch.setattr(Path, "stat", lambda path: before)
    assert read_within(path, 8) == b"12345678"
    with pytest.raises(OSError, match="larger than"):
        read_within(path, 7)


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


class ClosedPipe(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


class Interrupted(io.StringIO):
    def write(self, text: str) -> int:
        raise KeyboardInterrupt


class Broken(io.StringIO):
    def write(self, text: str) -> int:
        raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(
    ("stream", "code", "words"),
    [
        (FullDisk(), 2, "No space left"),
        (ClosedPipe(), 0, ""),
        (Interrupted(), 130, ""),
        (Broken(), 2, "please report"),
    ],
    ids=["full", "closed", "interrupted", "broken"],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_fails(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    stream: io.StringIO,
    code: int,
    words: str,
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(good("a"))
    with monkeypatch.context() as changed:
        changed.setattr(sys, "stdout", stream)
        assert main([command, str(path)]) == code
    said = capsys.readouterr().err
    assert words in said
    assert len(said.splitlines()) == (1 if words else 0)


def test_without_an_output_a_file_is_still_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as changed:
        changed.setattr(sys, "stdout", None)
        assert main(["new", "RTX 3090", "-o", str(tmp_path / "a.rig")]) == 0
        assert isinstance(sys.stdout, Terminal)
        sys.stdout.below().close()
    assert read_rig(tmp_path / "a.rig").items
    capsys.readouterr()


def test_pipes_and_files_get_utf8_whatever_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    with monkeypatch.context() as changed:
        changed.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
        with pytest.raises(SystemExit):
            main(["catalog", "import", "--help"])
        sys.stdout.flush()
        assert "原價屋" in written.getvalue().decode()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["llama", "llama4", "gemma4", "afmoe"])
def test_a_configuration_without_a_number_of_layers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, kind: str
) -> None:
    config = {
        "model_type": kind,
        "hidden_size": 768,
        "num_hidden_layers": None,
        "num_attention_heads": 12,
        "vocab_size": 32000,
    }
    case = {
        "id": 1,
        "workload": {"config": config, "task": "inference"},
        "hardware": GOOD["hardware"],
    }
    path = tmp_path / "null.jsonl"
    path.write_text(json.dumps(case))
    assert answers(capsys, 0, command, str(path))[0]["error"].startswith(
        "config.num_hidden_layers: expected"
    )


def test_a_command_that_is_none_is_named_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["chek", "my.rig"]) == 2
    assert (
        capsys.readouterr().err
        == "rigplanner: there is no command and no file 'chek'; did you mean 'check'?\n"
    )
    assert main(["frobnicate", "my.rig"]) == 2
    assert "'rigplanner --help' lists the commands" in capsys.readouterr().err


def test_money_without_a_rate_is_told_when_a_rig_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "RTX 5090", "--set", "currency=XTS", "-o", str(tmp_path / "a.rig")]) == 0
    said = capsys.readouterr().err
    assert "no rate to XTS is known" in said and "rate:USD=RATE" in said
    assert (
        "The European Central Bank publishes no rate of XTS." in said
        and "update --rates" not in said
    )
    assert (
        main(
            [
                "new",
                "RTX 5090",
                "--set",
                "currency=XTS",
                "--set",
                "rate:USD=2",
                "-o",
                str(tmp_path / "b.rig"),
            ]
        )
        == 0
    )
    assert "no rate" not in capsys.readouterr().err
