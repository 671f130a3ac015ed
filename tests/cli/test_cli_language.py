"""--language: answers for people in their language, codes the same in all."""

import json
from pathlib import Path

import pytest

from rigplanner.cli.main import SPEAKING, main
from rigplanner.report.language import use_language


@pytest.fixture(autouse=True)
def english_again():
    yield
    use_language("en")


@pytest.fixture
def rig(samples: list[Path]) -> str:
    return str(next(path for path in samples if path.stem == "dual-rtx-3090"))


@pytest.mark.parametrize(
    ("code", "word"), [("cs", "Pravidel"), ("zh_TW", "條規則"), ("en", "rules checked")]
)
def test_check_answers_in_the_language(
    rig: str, capsys: pytest.CaptureFixture[str], code: str, word: str
) -> None:
    main(["check", rig, "--language", code])
    assert word in capsys.readouterr().out


def test_codes_of_check_are_the_same(rig: str, capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for code in ("en", "cs"):
        main(["check", rig, "--format", "json", "--language", code])
        answers.append(json.loads(capsys.readouterr().out))
    english, czech = (
        [(f["code"], f["severity"], f["needed"], f["unit"]) for f in answer["findings"]]
        for answer in answers
    )
    assert english == czech
    assert answers[0]["findings"][0]["text"] != answers[1]["findings"][0]["text"]


def test_compare_answers_in_the_language(
    rig: str, samples: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    main(
        [
            "compare",
            rig,
            str(next(path for path in samples if path.stem == "rtx-5090")),
            "--language",
            "cs",
        ]
    )
    assert "Verdikt" in capsys.readouterr().out


def test_the_next_command_is_english_again(rig: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", rig, "--language", "cs"])
    assert "Jednotková cena" in capsys.readouterr().out
    main(["export", rig])
    assert "Unit price" in capsys.readouterr().out


@pytest.mark.parametrize("command", SPEAKING)
def test_an_unknown_language_is_refused(
    command: str, rig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, rig, "--language", "xx"])
    assert ended.value.code == 2
    assert "zh_TW" in capsys.readouterr().err
