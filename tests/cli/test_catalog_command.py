"""`rigplanner catalog`: what a person who adds a part is told."""

import json
from pathlib import Path

import pytest

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.load import Catalog, CatalogFault
from rigplanner.catalog.schema.parts import KINDS
from rigplanner.cli.catalog_verbs.sheet_lines import told_lines
from rigplanner.cli.commands import catalog as command
from rigplanner.cli.main import main


@pytest.mark.parametrize("kind", KINDS)
def test_the_fields_of_a_kind_are_listed(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "schema", kind]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert set(KINDS[kind].__struct_fields__) < set(lines)
    assert lines["id"].endswith("string, required")


def test_lint_names_each_part_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for n, part in enumerate(
        (
            {"kind": "cooler", "id": "acme.frost.9"},
            {"kind": "cooler", "id": "acme.frost.8", "hight_mm": 1},
        )
    ):
        path = tmp_path / "cooler" / f"{n}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"family": "Acme", "sources": {}, "parts": [part]}), "utf-8")

    def broken() -> Catalog:
        raise CatalogFault("the first of them")

    monkeypatch.setattr(command, "shipped_catalog", broken)
    monkeypatch.setattr(command, "data_path", lambda _: tmp_path)
    assert main(["catalog", "lint"]) == 2
    said = capsys.readouterr().err
    assert "acme.frost.9: Object missing required field" in said and "acme.frost.8: " in said


@pytest.mark.parametrize("name", ["p5.48xlarge", "AWS.P5.48xlarge"])
def test_a_machine_for_hire_is_shown_with_both_its_prices(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["catalog", "show", name]) == 0
    shown = capsys.readouterr().out
    (machine,) = (
        each for each in shipped_cloud().instances.values() if each.id == "aws.p5.48xlarge"
    )
    for word, prices in (("on demand", machine.on_demand), ("spot", machine.spot)):
        assert prices
        for price in prices:
            assert f"{word}, an hour: {price.amount:.2f} USD on {price.day}" in shown
    assert "us-east-1" in shown


def test_a_rack_is_shown_in_lines_that_people_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "show", "nvidia.gb200.nvl72"]) == 0
    shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "layout                 sockets: 36 x Grace" in shown
    assert "slots: id GPU0 to GPU71, kind embedded, origin cpu0 to cpu35" in shown
    assert "cpu_links: GPU0 to GPU71: 9" in shown
    assert not any(line[:1] in "{[(" for line in shown if line)


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (2, ["2"]),
        (("a1", "a2"), ["a1, a2"]),
        (("a1", "a2", "a3", "b3"), ["a1 to a3, b3"]),
        (("7", "7", "8"), ["2 x 7, 8"]),
        ({"x": None, "y": True, "z": {"a": 1, "b": 2}}, ["y: yes", "z:", "  a: 1", "  b: 2"]),
        (({"id": "s1", "gen": 4}, {"id": "s2", "gen": 3}), ["id s1, gen 4", "id s2, gen 3"]),
        ({"x": None}, [""]),
    ],
)
def test_values_are_told_in_lines(value: object, lines: list[str]) -> None:
    assert told_lines(value) == lines


def test_a_machine_for_hire_is_shown_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "show", "p5.48xlarge", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["hire"]["spot"] and set(shown["sources"]) == set(shown["hire"]["sources"])


def test_machines_for_hire_are_listed_with_prices_and_limits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["catalog", "list", "--cloud", "V100", "aws"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split()[:3] == ["Machine", "Provider", "GPUs"]
    (line,) = (line for line in shown if line.startswith("p3.2xlarge"))
    assert "3.06" in line and "1.13" in line and "1.20" in line
    assert main(["catalog", "list", "--cloud", "free"]) == 0
    shown = capsys.readouterr().out
    free = [each for each in shipped_cloud().instances.values() if each.limits and each.limits.free]
    assert len(free) >= 5 and all(machine.name in shown for machine in free)
    assert "12 h a session" in shown and "30 h a week" in shown


def test_an_unknown_hire_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "show", "p3.2xlrge"]) == 2
    assert "p3.2xlarge" in capsys.readouterr().err
    assert main(["catalog", "list", "--cloud", "p3.2xlrge"]) == 1
    assert "the nearest are p3.2xlarge" in capsys.readouterr().err


def test_a_hire_names_what_its_gpu_needs_and_an_hour_of_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["catalog", "show", "p3.2xlarge", "--interruptions", "24", "--checkpoint", "30"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "nvcr.io/nvidia/pytorch:24.12-py3" in shown and "NVIDIA driver" in shown
    lost = 24 * (15 + 10) / 60
    assert f"{1.13 * 24 / (24 - lost):.2f}" in shown
    assert main([*words, "--restart", "-1"]) == 2


def test_nothing_that_is_free_is_an_offer(catalog: Catalog) -> None:
    free = [each for each in shipped_cloud().instances.values() if each.limits and each.limits.free]
    assert all(not each.on_demand and not each.spot and not each.monthly for each in free)


@pytest.mark.parametrize("verb", [["list", "--cloud"], ["show"]])
def test_a_provider_without_machines_is_told_why(
    verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["catalog", *verb, "SONM"]) != 0
    assert "a market of private machines" in capsys.readouterr().err
    assert main(["catalog", *verb, "nobody-at-all"]) != 0
    assert "a market of private machines" not in capsys.readouterr().err
