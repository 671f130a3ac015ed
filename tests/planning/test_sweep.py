"""A landscape: every combination once, the same whoever works it out."""

import csv
import io
import pickle
from pathlib import Path

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.cli.main import main
from rigplanner.planning.map import sweep as sweeps
from rigplanner.planning.map.sweep import COLUMNS, cells, record_of, sweep
from rigplanner.report.map import landscape
from rigplanner.rig.workload import Workload

WORKS = [
    ("train", Workload(model="llama-3.1-8b", task="train_qlora")),
    ("serve", Workload(model="llama-3.1-8b", task="serve")),
]
GPUS = [find_gpu("RTX 4090"), find_gpu("RTX 3060 12GB"), find_gpu("A100 SXM4 80GB")]


def test_every_combination_comes_once_with_its_lengths_and_batches() -> None:
    asked = cells(WORKS, GPUS, (1, 2), (512, 2048), (1, 4))
    assert len(asked) == 2 * 3 * 2 * 2 * 2
    assert len({(c.title, c.gpu.id, c.count, c.length, c.work.batch_per_gpu) for c in asked}) == 48
    assert all(c.work.seq_len == c.length for c in asked if c.title == "train")
    assert all(c.work.input_tokens == c.length for c in asked if c.title == "serve")
    assert cells(WORKS, GPUS, (1,))[0].work == WORKS[0][1]
    built_in = cells(WORKS[:1], [find_gpu("M4 Max 128GB")], (1, 2, 4))
    assert [cell.count for cell in built_in] == [1]


def test_longer_and_larger_needs_more_and_the_record_says_why_not() -> None:
    asked = cells(WORKS[:1], GPUS[:1], (1,), (512, 8192), (1, 32))
    short, short_many, long, long_many = (record_of(cell)["need_gib"] for cell in asked)
    assert short < min(short_many, long) and max(short_many, long) < long_many
    record = record_of(
        cells([("x", Workload(model="llama-3.1-8b", task="train_full"))], GPUS, (1,))[1]
    )
    assert tuple(record) == COLUMNS
    assert record["fit"] == "no" and record["need_gib"] > record["room_gib"]


@pytest.mark.usefixtures("warm_cache")
def test_processes_say_the_same_as_one_and_cells_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = cells(WORKS[:1], GPUS, (1, 2))
    assert pickle.loads(pickle.dumps(asked[0])) == asked[0]
    alone = list(sweep(asked))
    monkeypatch.setattr(sweeps, "PIECE", 2)
    assert list(sweep(asked, 2)) == alone


def test_a_sweep_is_printed_and_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["sweep", "resnet-50 task=train", "--cards", "RTX 4090", "--batches", "16,64"]
    assert main(asked) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["batch_per_gpu"] for row in rows] == ["16", "64"]
    assert float(rows[1]["value"]) > float(rows[0]["value"])
    assert main([*asked, "-o", str(tmp_path / "table.csv")]) == 0
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--cards", "Zorg 9000"], "Zorg 9000"),
        (["--only", "zorg"], "no card is called"),
        (["--batches", "0"], "--batches"),
        (["--lengths", "x"], "--lengths"),
        (["--workers", "0"], "--workers"),
        (["--format", "parquet"], "name the file"),
        (["--count", ",".join(["64"] * 64), "--batches", ",".join(["1"] * 64)], "combinations"),
    ],
)
def test_what_cannot_be_swept_is_said(
    capsys: pytest.CaptureFixture[str], more: list[str], told: str
) -> None:
    assert main(["sweep", "resnet-50 task=train", *more]) == 2
    assert told in capsys.readouterr().err


def test_ctrl_c_keeps_what_was_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def stopping(cell: object) -> dict[str, object]:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(cell)
        return record_of(cell)  # type: ignore[arg-type]

    monkeypatch.setattr(sweeps, "record_of", stopping)
    asked = ["sweep", "resnet-50 task=train", "--cards", "RTX 4090", "--batches", "1,2,4,8"]
    assert main([*asked, "--workers", "1"]) == 130
    streams = capsys.readouterr()
    assert len(streams.out.splitlines()) == 3
    assert "Stopped after 2 of 4" in streams.err


def test_parquet_without_pyarrow_is_refused_with_the_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(landscape, "writes_parquet", lambda: False)
    asked = ["sweep", "resnet-50 task=train", "--cards", "RTX 4090", "--format", "parquet"]
    assert main([*asked, "-o", str(tmp_path / "t.parquet")]) == 2
    assert "rigplanner[parquet]" in capsys.readouterr().err


def test_parquet_keeps_numbers_and_what_is_missing(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = tmp_path / "t.parquet"
    records = [record_of(cell) for cell in cells(WORKS[:1], GPUS, (1,), (), ())]
    path.write_bytes(landscape.parquet(records))
    read = parquet.read_table(path).to_pylist()
    assert read == records


@pytest.mark.filterwarnings("ignore:Couldn't detect a suitable IP address")
def test_a_dask_cluster_maps_the_same_function() -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    asked = cells(WORKS[:1], GPUS, (1, 2))
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        made = client.gather(client.map(record_of, asked))
    assert made == [record_of(cell) for cell in asked]
