"""`rigplanner check`: exit codes, text, JSON by its schema."""

import json
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.cli.main import main
from rigplanner.data import data_path
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rig.edits import set_ignored, waive
from rigplanner.rig.files import write_rig
from rigplanner.rules.topics import RULES_BY_CODE

SCHEMA = json.loads((data_path("resources") / "check.schema.json").read_text("utf-8"))
KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "null": type(None),
}


def conforms(value: Any, schema: dict[str, Any], where: str = "$") -> None:
    """Check a value against the part of JSON Schema that ours uses."""
    if "$ref" in schema:
        conforms(value, SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[-1]], where)
        return
    assert "const" not in schema or value == schema["const"], where
    assert "enum" not in schema or value in schema["enum"], where
    kinds = schema.get("type")
    if kinds:
        names = [kinds] if isinstance(kinds, str) else kinds
        assert isinstance(value, tuple(KINDS[name] for name in names)), where
    if isinstance(value, dict):
        known = schema.get("properties", {})
        assert set(schema.get("required", ())) <= set(value), where
        if schema.get("additionalProperties") is False:
            assert set(value) <= set(known), where
        for key, entry in value.items():
            if key in known:
                conforms(entry, known[key], f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for number, entry in enumerate(value):
            conforms(entry, schema["items"], f"{where}[{number}]")


def _write(folder: Path, rig: Rig) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / "a.rig"
    write_rig(rig, path, shipped_catalog())
    return str(path)


@pytest.fixture
def overloaded() -> Rig:
    """A rig that trips its breaker."""
    items = (
        Item(uid="gpu", part="nvidia.geforce.rtx-4090", quantity=4),
        Item(uid="psu", part="corsair.axi.ax1600i", quantity=2),
    )
    return Rig(name="hot", items=items, site=Site(volts=120.0, breaker_a=15.0))


def test_an_error_exits_with_1_and_names_the_rule(
    tmp_path: Path, overloaded: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", _write(tmp_path, overloaded)]) == 1
    assert "PWR012 Wall circuit is overloaded" in capsys.readouterr().out


def test_a_waived_error_exits_with_0_and_stays_in_the_report(
    tmp_path: Path, overloaded: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    rig = waive(overloaded, "PWR012", "two circuits are there", "Ada", until="2099-01-01")
    assert main(["check", _write(tmp_path, rig), "--today", "2026-11-21"]) == 0
    out = capsys.readouterr().out
    assert "Accepted:" in out
    assert "two circuits are there (Ada, until 2099-01-01)" in out


def test_a_waiver_that_has_run_out_no_longer_counts(tmp_path: Path, overloaded: Rig) -> None:
    rig = waive(overloaded, "PWR012", "for the fair", "Ada", until="2026-11-20")
    assert main(["check", _write(tmp_path, rig), "--today", "2026-11-21"]) == 1


def test_a_waiver_that_has_run_out_counts_in_no_other_command(
    tmp_path: Path, overloaded: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    past, running = (
        _write(tmp_path / until, waive(overloaded, "PWR012", "for the fair", "Ada", until=until))
        for until in ("2020-01-01", "2099-01-01")
    )
    said = []
    for path in (past, running):
        main(["export", path])
        said.append("does not work" in capsys.readouterr().out)
    assert said == [True, False]
    main(["compare", past, running, "--format", "json"])
    errors = next(
        line for line in json.loads(capsys.readouterr().out)["lines"] if line["title"] == "Errors"
    )
    assert [cell["value"] for cell in errors["cells"]] == ["1", "0"]


def test_ignored_rules_are_named(
    tmp_path: Path, overloaded: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", _write(tmp_path, set_ignored(overloaded, "PWR012", True))]) == 0
    assert "Ignored for this rig: PWR012" in capsys.readouterr().out


def test_json_follows_the_published_schema(
    tmp_path: Path, overloaded: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    rig = waive(overloaded, "PWR013", "they share a switch", "Ada")
    assert main(["check", _write(tmp_path, rig), "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    conforms(answer, SCHEMA)
    assert answer["verdict"] == "error"
    assert [entry["code"] for entry in answer["waived"]] == ["PWR013"]
    assert answer["waived"][0]["waiver"] == {
        "by": "Ada",
        "reason": "they share a switch",
        "until": None,
    }


def test_where_nothing_is_judged_nothing_is_said_to_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hushed = Rig(
        name="bare",
        items=(Item(uid="cooler", part="nowhere.cooler"),),
        ignored=tuple(RULES_BY_CODE),
    )
    for rig in (Rig(name="bare"), hushed):
        path = _write(tmp_path, rig)
        assert main(["check", path]) == 0
        assert capsys.readouterr().out.startswith("bare: Nothing was judged.")
        assert main(["check", path, "--format", "json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        conforms(answer, SCHEMA)
        assert (answer["verdict"], answer["ran"]) == ("unknown", [])
        assert main(["export", path]) == 0
        assert "othing was checked" in capsys.readouterr().out


def test_the_heading_counts_what_is_waived(
    tmp_path: Path, overloaded: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", _write(tmp_path, waive(overloaded, "PWR012", "two circuits are there", "Ada"))])
    assert "1 finding accepted)." in capsys.readouterr().out.splitlines()[0]


def test_severity_hides_what_is_milder(
    tmp_path: Path, overloaded: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["check", _write(tmp_path, overloaded), "--format", "json", "--severity", "error"])
        == 1
    )
    assert {finding["severity"] for finding in json.loads(capsys.readouterr().out)["findings"]} == {
        "error"
    }


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format_version": 999}', "\x00\x01"])
def test_bad_files_exit_with_2_and_one_sentence(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.rig"
    path.write_text(content, "utf-8")
    assert main(["check", str(path)]) == 2
    err = capsys.readouterr().err
    assert "bad.rig" in err and len(err.strip().splitlines()) == 1
    assert path.read_text("utf-8") == content


def test_a_missing_file_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "no.rig")]) == 2
    assert "no.rig" in capsys.readouterr().err


@pytest.mark.parametrize(
    "path", sorted((data_path("resources") / "samples").glob("*.rig")), ids=lambda path: path.stem
)
def test_every_sample_answers_by_the_schema(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", str(path), "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    conforms(answer, SCHEMA)
    assert code == (1 if answer["counts"]["error"] else 0)
    assert main(["check", str(path)]) == code
    assert "{" not in capsys.readouterr().out
