"""The user's own rows: read from CSV and JSON lines, refused by line and field, and they pull
predictions."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.own import (
    current_evidence,
    keep,
    left_aside,
    read_each,
    read_own,
    with_own,
)
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload

HEADER = "model,gpu,count,task,precision,stack,batch_per_gpu,metric,value\n"
ROW = "resnet-50,RTX 4090,1,train,amp_fp16,pytorch-ngc,256,images/s,1900\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    table = read_own(write(tmp_path / "a.csv", HEADER + ROW))
    case = {
        "workload": {
            "model": "resnet-50",
            "task": "train",
            "precision": "amp_fp16",
            "stack": "pytorch-ngc",
            "batch_per_gpu": 256,
        },
        "hardware": {"gpu": "RTX 4090", "count": 1},
        "metric": "images/s",
        "value": 1900,
    }
    lines = read_own(write(tmp_path / "a.jsonl", json.dumps(case) + "\n"))
    assert table[0].workload == lines[0].workload
    assert (table[0].gpu, table[0].value, table[0].own) == (lines[0].gpu, lines[0].value, True)


def test_own_rows_pull_the_prediction(tmp_path: Path) -> None:
    rows = read_own(write(tmp_path / "a.csv", HEADER + ROW))
    job, gpu = rows[0].workload, find_gpu("RTX 4090")
    before = predict_speed(job, gpu, 1, 1, "none", shipped_zoo())
    after = predict_speed(job, gpu, 1, 1, "none", shipped_zoo(), evidence=with_own(rows))
    assert abs(after.value - 1900) < abs(before.value - 1900)
    assert after.high / after.low < before.high / before.low
    assert rows[0].id in {anchor.id for anchor in after.anchors}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("gpu,metric,value\nRTX 4090,images/s,3\n", "line 2: expected model"),
        (HEADER + ROW.replace("1900", "fast"), "value: expected a number"),
        (HEADER + ROW.replace("1900", "-3"), "above 0"),
        (HEADER + ROW.replace("images/s", "furlongs"), "metric: expected one of"),
        (HEADER + ROW.replace(",256,", ",many,"), "batch_per_gpu"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(WorkloadFault, match=named):
        read_own(write(tmp_path / "bad.csv", text))


@pytest.mark.parametrize("text", ["nonsense\n", "[1]\n", '{"model": '])
def test_lines_that_are_no_objects(tmp_path: Path, text: str) -> None:
    with pytest.raises(WorkloadFault, match="line 1"):
        read_own(write(tmp_path / "bad.jsonl", text))


def test_suspect_rows_are_left_out(tmp_path: Path) -> None:
    text = (
        HEADER.replace("value", "value,suspect")
        + ROW.replace("1900", "1900,true")
        + ROW.replace("1900", "1901,")
    )
    assert [row.value for row in read_own(write(tmp_path / "a.csv", text))] == [1901]


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(WorkloadFault, match="cannot be read"):
        read_own(tmp_path / "none.csv")


def test_the_struct_of_a_row_is_a_workload(tmp_path: Path) -> None:
    assert isinstance(read_own(write(tmp_path / "a.csv", HEADER + ROW))[0].workload, Workload)


@pytest.fixture
def kept_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(
        "rigplanner.performance.anchors.own.own_folder", lambda: tmp_path / "measurements"
    )
    current_evidence.cache_clear()
    yield tmp_path / "measurements"
    current_evidence.cache_clear()


def test_kept_files_pull_every_later_prediction_until_they_are_deleted(
    tmp_path: Path, kept_folder: Path
) -> None:
    path = write(tmp_path / "mine.csv", HEADER + ROW)
    job, gpu = read_own(path)[0].workload, find_gpu("RTX 4090")
    before = predict_speed(job, gpu, 1, 1, "none", shipped_zoo())
    assert keep(path) == kept_folder / "mine.csv"
    after = predict_speed(job, gpu, 1, 1, "none", shipped_zoo())
    assert abs(after.value - 1900) < abs(before.value - 1900)
    assert any(anchor.source == str(kept_folder / "mine.csv") for anchor in after.anchors)
    (kept_folder / "mine.csv").unlink()
    current_evidence.cache_clear()
    assert predict_speed(job, gpu, 1, 1, "none", shipped_zoo()) == before


def test_a_kept_file_that_cannot_be_read_is_named_and_stops_nothing(kept_folder: Path) -> None:
    kept_folder.mkdir()
    gpu, job = find_gpu("RTX 4090"), Workload(model="resnet-50", task="train")
    before = predict_speed(job, gpu, 1, 1, "none", shipped_zoo())
    current_evidence.cache_clear()
    write(kept_folder / "broken.csv", HEADER + ROW.replace("1900", "fast"))
    (kept_folder / "bytes.jsonl").write_bytes(b'{"model": "\xff"}')
    (kept_folder / "long.csv").write_text("a,b\n" + "x" * 140_000 + ",1")
    assert predict_speed(job, gpu, 1, 1, "none", shipped_zoo()) == before
    first, second, third = left_aside()
    assert "broken.csv line 2: value" in first
    assert "bytes.jsonl" in second
    assert "long.csv line 2: not CSV" in third


ODD: dict[str, object] = {
    "count": {"x": 1},
    "metric": ["images/s"],
    "gpu": 3,
    "suspect": [1],
    "nodes": 1e99,
    "value": 10**400,
    "id": {},
    "link": None,
    "batch_per_gpu": "1e999",
}


@pytest.mark.parametrize("field", ODD)
def test_a_row_with_an_odd_field_is_a_row_or_a_fault(tmp_path: Path, field: str) -> None:
    row = {"model": "resnet-50", "gpu": "RTX 3090", "metric": "images/s", "value": 800}
    rows, faults = read_each(write(tmp_path / "a.jsonl", json.dumps(row | {field: ODD[field]})))
    assert len(rows) + len(faults) == 1
    assert (field in " ".join(faults)) == (field not in ("suspect", "link"))


def test_a_file_of_other_things_is_not_kept(tmp_path: Path, kept_folder: Path) -> None:
    with pytest.raises(WorkloadFault, match="gpu"):
        keep(write(tmp_path / "other.csv", "model,metric,value\nresnet-50,images/s,3\n"))
    assert not kept_folder.exists()
