"""The commands as scripts meet them: what they print, and how they end."""

import json
from pathlib import Path

import pytest

from rigplanner.cli.main import COMMANDS, EXAMPLES, main
from rigplanner.cli.terminal import tell, tell_columns
from rigplanner.rig.files import read_rig

BAD_FILES = {
    "empty.rig": b"",
    "text.rig": b"not json",
    "list.rig": b"[1, 2]",
    "newer.rig": b'{"format_version": 99}',
    "cut.rig": b'{"format_version": 1, "items": [{"uid": "a"',
}


def _sample(samples: list[Path], stem: str) -> str:
    return str(next(path for path in samples if path.stem == stem))


def test_new_then_check_then_quote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rig = tmp_path / "mine.rig"
    assert main(["new", "2x RTX 3090", "Ryzen 9 5950X", "-o", str(rig)]) == 0
    assert [item.quantity for item in read_rig(rig).items] == [2, 1]
    assert main(["check", str(rig)]) in (0, 1)
    assert main(["quote", str(rig), "-o", str(tmp_path / "q.pdf"), "--date", "2026-11-21"]) == 0
    assert (tmp_path / "q.pdf").read_bytes().startswith(b"%PDF-")
    capsys.readouterr()


def test_check_ends_with_one_when_a_rule_says_error(
    samples: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", _sample(samples, "quad-rtx-4090"), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert any(finding["severity"] == "error" for finding in report["findings"])


def test_check_ends_with_zero_when_none_does(
    samples: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", _sample(samples, "dgx-1-v100")]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("name", sorted(BAD_FILES))
@pytest.mark.parametrize("command", ["check", "quote", "export", "compare", "topology"])
def test_a_bad_rig_is_one_sentence_and_exit_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(BAD_FILES[name])
    words = {"quote": ["-o", str(tmp_path / "q.pdf")], "compare": [str(path)]}.get(command, [])
    assert main([command, str(path), *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.strip().splitlines()) == 1
    assert name in said.err
    assert "Traceback" not in said.err
    assert path.read_bytes() == BAD_FILES[name]


@pytest.mark.parametrize("command", ["memory", "performance", "validate"])
def test_a_missing_case_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err


CARD = {"gpu": "RTX 3090"}
NET, LLM = {"model": "resnet-50", "task": "train"}, {"model": "llama-3-8b", "task": "train_full"}
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "intermediate_size": 8,
    "vocab_size": 8,
}
HOSTILE_LINES = [
    "not json",
    "[]",
    "{}",
    json.dumps({"id": "text", "workload": 7, "hardware": {}}),
    json.dumps(
        {"id": "model", "workload": {"model": "no-such-model", "task": "train"}, "hardware": CARD}
    ),
    json.dumps({"id": "batch", "workload": {**NET, "batch_per_gpu": -4}, "hardware": CARD}),
    json.dumps({"id": "huge", "workload": {**NET, "batch_per_gpu": 77}, "hardware": CARD}).replace(
        "77", "1e400"
    ),
    json.dumps({"id": "length", "workload": {**LLM, "seq_len": 0}, "hardware": CARD}),
    json.dumps(
        {"id": "degree", "workload": {**LLM, "parallelism": {"tensor": 0}}, "hardware": CARD}
    ),
    json.dumps(
        {
            "id": "width",
            "workload": {"config": {**LLAMA, "hidden_size": 10**12}, "task": "train_full"},
            "hardware": CARD,
        }
    ),
    json.dumps(
        {
            "id": "layers",
            "workload": {"config": {**LLAMA, "num_hidden_layers": 0}, "task": "train_full"},
            "hardware": CARD,
        }
    ),
    json.dumps({"id": "optimizer", "workload": {**LLM, "optimizer": "wishful"}, "hardware": CARD}),
    json.dumps({"id": "precision", "workload": {**LLM, "precision": "fp3"}, "hardware": CARD}),
    json.dumps({"id": "task", "workload": {**LLM, "task": "fly"}, "hardware": CARD}),
    json.dumps({"id": "count", "workload": LLM, "hardware": {**CARD, "count": 10**11}}),
]
GOOD_LINE = json.dumps(
    {
        "id": "ok",
        "workload": {**NET, "precision": "fp32", "batch_per_gpu": 32},
        "hardware": {**CARD, "count": 1},
    }
)


@pytest.mark.parametrize("command", ["memory", "performance"])
def test_every_line_answers_for_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join([*HOSTILE_LINES, GOOD_LINE]), "utf-8")
    main([command, str(path)])
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(answers) == len(HOSTILE_LINES) + 1
    assert "error" not in answers[-1]
    for line, answer in zip(HOSTILE_LINES, answers, strict=False):
        assert answer["error"], line
        assert "Traceback" not in answer["error"]


def test_a_rig_can_be_the_hardware_of_a_case(
    tmp_path: Path, samples: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    workload = {"model": "resnet-50", "task": "train", "precision": "fp32", "batch_per_gpu": 32}
    path.write_text(
        json.dumps(
            {"id": 1, "workload": workload, "hardware": {"rig": _sample(samples, "gtx-1080-ti")}}
        ),
        "utf-8",
    )
    for command, field in (("memory", "device_gib"), ("performance", "value")):
        main([command, str(path)])
        answer = json.loads(capsys.readouterr().out)
        assert answer.get(field, 0) > 0, answer


def test_validate_prints_an_error_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = json.loads(GOOD_LINE)
    memory, speed = tmp_path / "memory.jsonl", tmp_path / "speed.jsonl"
    memory.write_text(json.dumps({**case, "value_gib": 5.0, "figure": "reserved"}), "utf-8")
    speed.write_text(json.dumps({**case, "metric": "images/s", "value": 300.0}), "utf-8")
    assert main(["validate", str(memory), str(speed)]) == 0
    said = capsys.readouterr().out
    assert "Memory, published figures: memory.jsonl" in said
    assert "Speed: speed.jsonl" in said
    memory.write_text(memory.read_text() + "\n" + speed.read_text(), "utf-8")
    assert main(["validate", str(memory)]) == 2
    assert "two files" in capsys.readouterr().err


def test_validate_reads_a_csv_of_speeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("model,gpu,metric,value\nresnet-50,RTX 3090,images/s,1400\n", "utf-8")
    assert main(["validate", str(path)]) == 0
    assert "Speed: mine.csv" in capsys.readouterr().out
    path.write_text("model,gpu,metric,value\nresnet-50,RTX 3090,images/s,many\n", "utf-8")
    assert main(["validate", str(path)]) == 2
    assert "mine.csv line 2" in capsys.readouterr().err


def test_traced_steps_are_judged_with_the_held_out_ones_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        main(["validate", str(Path(__file__).parents[1] / "networks" / "traced_steps.jsonl")]) == 0
    )
    said = capsys.readouterr().out
    assert "source: held out" in said
    assert "source: looked at" in said


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        assert ended.value.code == 0
        assert command in capsys.readouterr().out


def test_self_test_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["self-test"]) == 0
    assert "ok in" in capsys.readouterr().out


def test_a_word_that_is_nothing_opens_no_window(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    assert "no command and no file 'nonsense'" in capsys.readouterr().err
    assert main(["chek"]) == 2
    assert "did you mean 'check'?" in capsys.readouterr().err


def test_every_command_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(EXAMPLES) == set(COMMANDS)
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    assert all(example in told for example in EXAMPLES.values())


def test_a_wrong_choice_names_few_values_and_says_where_the_rest_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["export", "x.rig", "--format", "jsn"])
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert "'jsn' is none of json" in told
    assert told.count(",") <= 3
    assert "rigplanner export --help" in told


def test_a_quote_is_written_as_pdf_alone(
    samples: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quote", str(samples[0]), "-o", str(tmp_path / "q.txt")]) == 2
    assert "name the file FILE.pdf" in capsys.readouterr().err
    assert not list(tmp_path.glob("q.*"))


def test_a_list_without_a_part_exits_with_1_and_names_machines_to_rent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["catalog", "list", "p3.2xlarge"]) == 1
    assert "add --cloud" in capsys.readouterr().err
    assert main(["catalog", "list", "--cloud", "p3.2xlarge"]) == 0
    assert "V100" in capsys.readouterr().out


def test_prose_is_wrapped_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "    " + "word " * 40
    tell(long)
    assert capsys.readouterr().out == long + "\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    tell(long)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    assert all(len(line) <= 60 for line in lines)
    assert all(line.startswith("      word") for line in lines[1:])


def test_tables_stay_whole_where_prose_is_wrapped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    row = "  1  " + "a part with a long name " * 4 + "  $5.00"
    tell_columns("word " * 30 + "\n" + row)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == row
    assert len(lines) > 3 and all(len(line) <= 60 for line in lines[:-1])


def test_what_stands_beside_the_computer_is_told_apart(
    samples: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = _sample(samples, "deskmini-gtx-1070")
    assert main(["check", sample]) == 1
    said = capsys.readouterr().out
    assert "Computer NT$49,850, beside it NT$2,588." in said
    assert "Intel Core i3-7100" in said
    for form in ("dealer", "private", "internal"):
        assert main(["quote", sample, "-o", str(tmp_path / "q.pdf"), "--form", form]) == 0
    with pytest.raises(SystemExit):
        main(["quote", sample, "-o", str(tmp_path / "q.pdf"), "--form", "privat"])
    assert "'privat' is none of private" in capsys.readouterr().err
