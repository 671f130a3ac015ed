"""The catalog as open data: every table in every form says the same."""

import csv
import json
import sqlite3
from contextlib import closing

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.performance.measured import shipped_measured
from rigplanner.report.open_catalog import tables, write


def test_every_form_holds_every_row_and_its_description(catalog: Catalog, tmp_path) -> None:
    measured = shipped_measured()
    made = tables(catalog, measured)
    assert len(made["parts"]) == len(catalog.parts) and len(made["measured"]) == len(measured)
    assert len(made["prices"]) == sum(len(part.prices) for part in catalog.parts.values())
    counts = {name: len(rows) for name, rows in made.items()}
    (whole,) = write(catalog, measured, "json", tmp_path / "c.json")
    told = json.loads(whole.read_bytes())
    assert {name: len(told[name]) for name in counts} == counts
    assert told["datapackage"]["version"] == catalog.version
    assert told["datapackage"]["licenses"][0]["name"] == "CC-BY-4.0"
    (file,) = write(catalog, measured, "sqlite", tmp_path / "c.sqlite")
    with closing(sqlite3.connect(file)) as read:
        for name, count in counts.items():
            assert read.execute(f"select count(*) from {name}").fetchone() == (count,)
        row = read.execute(
            "select number from figures where part = 'nvidia.geforce.rtx-3090' and field = 'tdp_w'"
        )
        assert row.fetchone() == (350.0,)
        (said,) = read.execute("select description from datapackage").fetchone()
    assert json.loads(said)["name"] == "rigplanner-catalog"
    written = write(catalog, measured, "csv", tmp_path / "csv")
    package = json.loads((tmp_path / "csv" / "datapackage.json").read_bytes())
    assert {path.name for path in written} == {f"{name}.csv" for name in counts} | {
        "datapackage.json"
    }
    for resource in package["resources"]:
        with (tmp_path / "csv" / resource["path"]).open(newline="", encoding="utf-8") as rows:
            read_rows = list(csv.reader(rows))
        assert read_rows[0] == [field["name"] for field in resource["schema"]["fields"]]
        assert len(read_rows) - 1 == counts[resource["name"]]


def test_each_figure_names_a_source_of_the_table(catalog: Catalog) -> None:
    made = tables(catalog, ())
    keys = {row["key"] for row in made["sources"]}
    assert all(set(row["sources"].split()) <= keys for row in made["figures"])
    assert not any(row["value"] in ("null", "") for row in made["figures"])


def test_what_cannot_be_written_is_told(catalog: Catalog, tmp_path) -> None:
    (tmp_path / "taken").write_text("x")
    with pytest.raises(FileExistsError):
        write(catalog, (), "csv", tmp_path / "taken")
