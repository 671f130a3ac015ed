"""`rigplanner rank` and `rigplanner runs`: what they print and what they refuse."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rigplanner.cli.main import main
from rigplanner.planning.map.runs import released
from rigplanner.report.format import columns_of


def test_cards_are_ranked_for_a_work(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["rank", "llama-3.1-8b task=train_qlora", "--only", "rtx 40", "--format", "json"]
    assert main(asked) == 0
    made = json.loads(capsys.readouterr().out)
    assert made[0]["place"] == 1
    assert made[0]["works"][0]["metric"] == "tokens/s"
    assert [row["score"] for row in made if row["score"]] == sorted(
        (row["score"] for row in made if row["score"]), reverse=True
    )


def test_a_budget_leaves_out_what_costs_more(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["rank", "resnet-50 task=train", "--budget", "1000", "--format", "json"]
    assert main(asked) == 0
    assert all(row["cost"] <= 1000 for row in json.loads(capsys.readouterr().out))


def test_a_picture_is_written(tmp_path: Path) -> None:
    for form, picture in (("svg", "bars"), ("svg", "price"), ("html", "bars"), ("png", "memory")):
        path = tmp_path / f"map.{form}"
        asked = ["rank", "resnet-50 task=train", "--only", "rtx 30", "--format", form]
        assert main([*asked, "--picture", picture, "-o", str(path)]) == 0
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG") if form == "png" else b"RTX 3090" in content


def test_advice_names_class_and_what_does_it_for_less(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["rank", "llama-3.1-8b task=train_qlora", "--only", "rtx 6000 ada", "--kind", "card"]
    assert main([*asked, "--advice"]) == 0
    out = capsys.readouterr().out
    assert "a workstation card" in out and "FP64 at 1/64 of FP32" in out
    assert "1 × GeForce RTX" in out and "does this work at least as fast for" in out
    assert "GeForce" not in out.split("\n\n")[0]


def test_money_and_energy_are_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["rank", "llama-3.1-8b task=train_qlora", "--only", "rtx 4090", "--format", "json"]
    assert main([*asked, "--kwh", "0.5", "--hours", "24"]) == 0
    made = json.loads(capsys.readouterr().out)
    card = next(row for row in made if row["name"] == "GeForce RTX 4090")
    assert card["energy_year"] == pytest.approx(0.45 * 8760 * 0.5)
    assert card["three_years"] == pytest.approx(card["cost"] + 3 * card["energy_year"])
    assert {row["kind"] for row in made} == {"card", "machine", "hire"}
    assert all(row["count"] == 1 for row in made)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["rank", "no-such-model-1"], "no-such-model-1"),
        (["rank", "resnet-50", "--day", "2017-4-9"], "expected a day up to today"),
        (["rank", "resnet-50", "--day", "2031-01-01"], "expected a day up to today"),
        (["rank", "resnet-50", "--day", "2017-04-09", "--only", "rtx 4090"], "was out on 9 Apr"),
        (["rank", "task=train"], "expected a model"),
        (["rank", "resnet-50", "--count", "0"], "--count"),
        (["rank", "resnet-50", "--count", "x"], "--count"),
        (["rank", "resnet-50", "--budget", "-3"], "--budget"),
        (["rank", "resnet-50", "--only", "zorgblatt"], "no card is called"),
        (["rank", "resnet-50", "--currency", "XXX"], "no rate leads from USD to XXX"),
        (["rank", "resnet-50 weight=0"], "weight"),
        (["rank", "resnet-50", "--most", "0"], "--most"),
        (["rank", "resnet-50 min=x"], "min=x"),
        (["rank", "resnet-50", "--kwh", "-1"], "--kwh"),
        (["rank", "resnet-50", "--hours", "30"], "--hours"),
        (["rank", "resnet-50", "--kind", "car"], "--kind"),
        (["rank", "resnet-50", "--format", "png"], "-o FILE.png"),
        (["rank", "resnet-50", "--only", "rtx 4099"], "Nearest: GeForce RTX 40"),
        (["rank", "resnet-50 task=train", "--budget", "10"], "the cheapest is"),
        (["runs"], "name a rig file or GPUs"),
        (["runs", "Zorg 9000"], "Zorg 9000"),
        (["runs", "--gpu", "Zorg", "9000"], "Zorg 9000"),
        (["runs", "RTX 3090 + Zorg 9000"], "the catalog has no 'Zorg 9000'"),
        (["runs", "gone.rig"], "gone.rig"),
    ],
)
def test_what_cannot_be_asked_is_said(
    capsys: pytest.CaptureFixture[str], asked: list[str], told: str
) -> None:
    assert main(asked) == 2
    assert told in capsys.readouterr().err


def test_work_that_nothing_runs_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["rank", "llama-3.1-405b task=train_full", "--only", "rtx 3060"]
    assert main(asked) == 1
    out = capsys.readouterr().out
    assert "does not run" in out
    assert "no memory holds it; the nearest, 1 × GeForce RTX 3060" in out


def test_the_newest_networks_have_a_month() -> None:
    """`runs` shows the newest first: one without a month stands behind all others."""
    named = ("qwen3.8-27b", "gemma-4-12b", "gemma-4-31b", "qwen3.6-35b-a3b", "glm-5.2", "kimi-k3")
    assert all((released(name) or "") >= "2026-04" for name in named)


def test_what_a_machine_runs(capsys: pytest.CaptureFixture[str], samples: list[Path]) -> None:
    dual = next(path for path in samples if path.stem == "dual-rtx-3090")
    assert main(["runs", str(dual), "--purpose", "speech", "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert {run["purpose"] for run in made} == {"speech"}
    assert sum(run["best"] for run in made) == 1


def test_what_a_machine_runs_is_drawn(tmp_path: Path, samples: list[Path]) -> None:
    """A bar a model and a heading a purpose; the page holds picture and table without scripts."""
    dual = str(next(path for path in samples if path.stem == "dual-rtx-3090"))
    asked = ["runs", dual, "--purpose", "speech", "--purpose", "video", "--most", "4"]
    assert main([*asked, "--format", "svg", "-o", str(tmp_path / "runs.svg")]) == 0
    drawing = ElementTree.parse(tmp_path / "runs.svg").getroot()
    words = [each.text or "" for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Speech and sound", "Films"} <= set(words)
    assert main([*asked, "--format", "html", "-o", str(tmp_path / "runs.html")]) == 0
    page = (tmp_path / "runs.html").read_text("utf-8")
    assert "<svg" in page and "80 % interval" in page and "<script" not in page
    rated = [word for word in words if word.endswith("/s")]
    assert 2 <= len(rated) <= 8, "at most four bars of each purpose"


@pytest.mark.parametrize(
    "asked",
    [
        ["rank", "llama-3.1-8b task=inference", "--only", "rtx 30", "--kwh", "0.3"],
        ["runs", "2x RTX 3090", "--most", "4"],
        ["catalog", "list", "4090"],
        ["catalog", "list", "--cloud", "V100"],
    ],
    ids=["rank", "runs", "parts", "hire"],
)
def test_no_line_is_wider_than_the_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    asked: list[str],
) -> None:
    columns = 60
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if columns_of(line) > columns] == []
