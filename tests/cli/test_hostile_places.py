"""Hostile places: displays that do not answer, outputs that are no files, rigs with terms beyond
any calendar."""

import contextlib
import io
import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from rigplanner.catalog.imports.foreign_files import foreign_files
from rigplanner.cli.display import why_no_display
from rigplanner.cli.main import main
from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.headers import read_header
from rigplanner.rig.files import RigFault, decode_rig
from rigplanner.whole_file import write_whole

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="X displays are Linux's")


@linux_only
@pytest.mark.parametrize("display", [":987", "garbage", "localhost:9.9.9", "x" * 1000])
def test_a_display_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], display: str
) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    assert main([]) == 2
    said = capsys.readouterr().err
    assert said.startswith("rigplanner: The display") and display[:9] in said
    assert len(said.splitlines()) == 1


@linux_only
def test_a_platform_that_qt_has_not_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "nonsense")
    assert main([]) == 2
    assert "QT_QPA_PLATFORM='nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize("wished", ["offscreen", "minimal", "offscreen:configfile=x"])
def test_platforms_without_a_screen_need_no_display(wished: str) -> None:
    assert why_no_display("linux", {"QT_QPA_PLATFORM": wished, "DISPLAY": "garbage"}) == ""


@linux_only
def test_a_wayland_that_is_not_there_is_named(tmp_path: Path) -> None:
    said = why_no_display("linux", {"WAYLAND_DISPLAY": "nowhere", "XDG_RUNTIME_DIR": str(tmp_path)})
    assert "'nowhere' (WAYLAND_DISPLAY) does not answer" in said


def test_other_systems_have_no_such_displays() -> None:
    assert why_no_display("win32", {"DISPLAY": "garbage"}) == ""


def test_a_pipe_is_written_into_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, b"content")
        assert os.read(reader, 100) == b"content"
        assert pipe.is_fifo()
    finally:
        os.close(reader)


@pytest.mark.parametrize("command", ["quote", "export", "compare"])
@pytest.mark.parametrize(
    "output", [".", "..", "missing/q.pdf", "loop.pdf", "x" * 300, "file/q.pdf"]
)
def test_an_output_that_cannot_be_written_is_one_sentence(
    tmp_path: Path,
    samples: list[Path],
    capsys: pytest.CaptureFixture[str],
    command: str,
    output: str,
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "loop.pdf").symlink_to(place / "loop.pdf")
    (place / "file").write_bytes(b"kept")
    rigs = [str(samples[0])] * (2 if command == "compare" else 1)
    assert main([command, *rigs, "-o", str(place / output)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"rigplanner {command}: ") and "not written (" in said.err
    assert "fault of RigPlanner" not in said.err
    assert sorted(path.name for path in place.iterdir()) == ["file", "loop.pdf"]


@pytest.mark.parametrize("days", [-1, 10**4, 10**12, 2**63])
@pytest.mark.parametrize("field", ["quote.valid_days", "site.hire_months"])
def test_a_term_beyond_any_calendar_is_refused(field: str, days: int) -> None:
    group, name = field.split(".")
    with pytest.raises(RigFault, match=name):
        decode_rig(f'{{"format_version": 1, "{group}": {{"{name}": {days}}}}}'.encode(), "a.rig")


def test_members_of_a_zip_that_name_nothing_are_counted(tmp_path: Path) -> None:
    place = tmp_path / "odd.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for name in ("", ".", "//", "./.."):
            member = zipfile.ZipInfo("odd")
            member.filename = name
            archive.writestr(member, "{}")
        archive.mkdir("folder")
        archive.writestr("folder/good.json", "{}")
    found = list(foreign_files(place, lambda done, total: True))
    assert [file.refused for file in found] == ["path"] * 4 + [None]
    assert found[-1].name == "folder/good.json"


@pytest.mark.parametrize(
    "text",
    [
        (
            '"workloads": [{"model": "llama-3-8b", "task": "serve", "input_tokens":'
            " 1000000000000000000000000000000}]"
        ),
        '"settings": {"numa_per_socket": -1000000000000000000000000000000}',
    ],
)
def test_a_number_that_no_file_can_keep_is_refused(text: str) -> None:
    with pytest.raises(RigFault, match="2\\*\\*63"):
        decode_rig(f'{{"format_version": 1, {text}}}'.encode(), "a.rig")


def test_a_tensor_of_a_type_that_is_a_list_is_refused(tmp_path: Path) -> None:
    header = b'{"w": {"dtype": [], "shape": [4], "data_offsets": [0, 8]}}'
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(WorkloadFault, match="expected dtype and shape"):
        read_header(path)


@pytest.mark.parametrize(
    "url", ["https://[::1", "https://", "file:///etc/passwd", "ftp://x/y", "https://a b/\n", ""]
)
def test_an_address_that_is_none_is_one_sentence(
    capsys: pytest.CaptureFixture[str], url: str
) -> None:
    assert main(["catalog", "update", url]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "fault of RigPlanner" not in said.err


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_name_does_not_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, screen = tmp_path / "a.rig", Screen()
    rig.write_text('{"format_version": 1, "name": "a\\u001b]0;owned\\u0007\\u202eb \\u039b"}')
    with monkeypatch.context() as changed:
        changed.setattr(sys, "stdout", screen)
        changed.setattr(sys, "stderr", io.StringIO())
        main(["check", str(rig)])
        sys.stdout.flush()
    shown = screen.getvalue()
    assert "a\\u001b]0;owned\\u0007\\u202eb \u039b" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_a_message_does_not_steer_the_terminal_and_is_no_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (
        ["memory", "x\x1b[31m\u202ered", "--gpu", "\x1b[2J" + "x" * 5000],
        ["check", str(tmp_path / ("y\x07" * 50))],
        [
            "memory",
            "llama-3.1-8b",
            "--task",
            "\x1b]0;owned\x07" + "z" * 5000,
            "--format",
            "\x1b[1m",
        ],
        ["\x1b[31m" + "w" * 5000, "b"],
    ):
        screen = io.StringIO()
        with monkeypatch.context() as changed:
            changed.setattr(sys, "stderr", screen)
            with contextlib.suppress(SystemExit):
                assert main(words) == 2
        shown = screen.getvalue()
        assert shown
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
        assert max(map(len, shown.splitlines())) < 1500


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("v.jsonl", b'{"model":"\xdf"}', "not UTF-8"),
        ("t.csv", b"a,b\n" + b"x" * 140_000 + b",1", "not CSV"),
        ("x.jsonl", b'{"value_gib": 3, "workload": {"stack": {"x": "pytorch-hf"}}}', "stack"),
        ("y.jsonl", b'{"value_gib": "3", "workload": true}', "value_gib"),
        ("z.jsonl", b'{"spec": {"config": {"model_type": 3}}, "peak_bytes": []}', "model_type"),
        ("p.jsonl", b'{"spec": {"config": {}}, "peak_bytes": 5e-324}', ">= 1.0"),
    ],
)
def test_measured_cases_that_are_none_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["validate", str(tmp_path / name)]) == 2
    told = capsys.readouterr().err
    assert said in told and "fault of RigPlanner" not in told


def test_of_many_bad_rows_some_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.csv").write_text("model,gpu,metric,value\n" + "a,b,c,d\n" * 500)
    assert main(["validate", str(tmp_path / "m.csv")]) == 2
    told = capsys.readouterr().err
    assert "... and 480 more" in told and told.count("\n") < 30


UNET: dict[str, object] = {
    "_class_name": "UNet2DConditionModel",
    "block_out_channels": [320, 640, 1280],
    "layers_per_block": 2,
    "cross_attention_dim": 2048,
    "in_channels": 4,
    "sample_size": 64,
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
    "attention_head_dim": [5, 10, 20],
    "transformer_layers_per_block": [1, 2, 10],
}


@pytest.mark.parametrize(
    "odd",
    [
        {"down_block_types": 1.5},
        {"block_out_channels": [320, 640, [1280]]},
        {"block_out_channels": [1e300, 640, 1280]},
    ],
)
def test_a_configuration_that_contradicts_itself_is_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], odd: dict[str, object]
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(UNET | odd))
    assert main(["memory", str(tmp_path / "config.json"), "--gpu", "RTX 4090"]) == 2
    told = capfd.readouterr().err
    assert told.count("\n") == 1 and "fault of RigPlanner" not in told


def test_figures_beyond_sense_are_refused_by_field(
    tmp_path: Path, samples: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    rig = json.loads(samples[0].read_bytes())
    for field, value in (("volts", 5e-324), ("volts", 1e308), ("breaker_a", 1e-9)):
        changed = rig | {"site": {**rig.get("site", {}), field: value}}
        (tmp_path / "a.rig").write_text(json.dumps(changed))
        assert main(["check", str(tmp_path / "a.rig")]) == 2
        assert f"site.{field}: expected" in capsys.readouterr().err
    (tmp_path / "a.rig").write_text(json.dumps(rig | {"snapshot": {"x": {"tdp_w": 1e308}}}))
    assert main(["check", str(tmp_path / "a.rig")]) == 2
    assert "snapshot.x.tdp_w: a figure beyond sense" in capsys.readouterr().err


@pytest.mark.parametrize(("quantity", "code"), [(4, 1), (129, 2), (4096, 2)])
def test_a_hall_full_of_machines_is_told_at_once(
    samples: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    quantity: int,
    code: int,
) -> None:
    rig = json.loads(next(each for each in samples if "dgx" in each.stem).read_bytes())
    rig["items"][0]["quantity"] = quantity
    path = tmp_path / "hall.rig"
    path.write_text(json.dumps(rig))
    assert main(["check", str(path)]) == code
    said = capsys.readouterr().err
    assert ("are more than is judged as one machine" in said) == (code == 2)
    assert said.count("\n") == (code == 2)
