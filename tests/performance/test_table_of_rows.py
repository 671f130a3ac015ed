"""The table of measured rows: kept whole, found again, made anew when broken or out of date."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.performance.anchors import evidence, table
from rigplanner.performance.anchors.evidence import Evidence, read_evidence, shipped_evidence
from rigplanner.performance.anchors.table import cache_file, keep_table, read_table
from rigplanner.performance.measured import Measured, shipped_measured
from rigplanner.rig.workload import Workload

ROWS = shipped_measured()[::100]


@pytest.fixture(scope="module")
def made() -> Evidence:
    return read_evidence(ROWS, None)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A program with few rows, which counts how often it places them."""
    times: list[int] = []

    def counted(rows: tuple[Measured, ...], zoo: object) -> Evidence:
        times.append(len(rows))
        return read_evidence(rows, zoo)

    monkeypatch.setattr(evidence, "shipped_measured", lambda: ROWS)
    monkeypatch.setattr(evidence, "read_evidence", counted)
    shipped_evidence.cache_clear()
    yield times
    shipped_evidence.cache_clear()


def same(a: Evidence, b: Evidence) -> bool:
    return a.placed == b.placed and a.paired == b.paired


def test_a_table_is_read_as_it_was_kept(made: Evidence, tmp_path: Path) -> None:
    keep_table(tmp_path / "deep" / "measured-1.npz", made.table)
    found = read_table(tmp_path / "deep" / "measured-1.npz")
    assert found is not None
    assert same(Evidence(ROWS, found), made) and len(made.placed) > 30


def test_rows_are_placed_once(few: list[int]) -> None:
    first = shipped_evidence()
    shipped_evidence.cache_clear()
    assert same(shipped_evidence(), first) and few == [len(ROWS)]
    assert [path.name for path in cache_file().parent.iterdir()] == [cache_file().name]


@pytest.mark.parametrize("broken", ["cut", "empty", "flipped", "foreign", "short", "beyond"])
def test_a_broken_table_is_made_anew(few: list[int], made: Evidence, broken: str) -> None:
    path = cache_file()
    keep_table(path, made.table)
    content = path.read_bytes()
    middle = len(content) // 2
    if broken == "short":
        keep_table(path, _replaced(made, residual=made.table.residual[:-1]))
    elif broken == "beyond":
        keep_table(path, _replaced(made, number=made.table.number + len(ROWS)))
    else:
        path.write_bytes(
            {
                "cut": content[:-200],
                "empty": b"",
                "flipped": content[:middle]
                + bytes(255 - byte for byte in content[middle : middle + 64])
                + content[middle + 64 :],
                "foreign": b"PK no archive",
            }[broken]
        )
    assert same(shipped_evidence(), made) and few == [len(ROWS)]
    assert read_table(path) is not None


def _replaced(made: Evidence, **columns: object) -> table.Table:
    from msgspec.structs import replace

    return replace(made.table, **columns)


def test_other_rows_constants_and_programs_have_a_table_of_their_own(
    made: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = tmp_path / "catalog"
    (catalog / "benchmarks").mkdir(parents=True)
    row = catalog / "benchmarks" / "measured-x.json"
    row.write_text("1")
    monkeypatch.setattr(table, "data_path", lambda _: catalog)
    first = cache_file()
    row.write_text("2")
    second = cache_file()
    assert len({first, second}) == 2
    for path in (first, second):
        keep_table(path, made.table)
    assert sorted(first.parent.iterdir()) == sorted((first, second))


def test_the_newest_tables_are_kept(made: Evidence, tmp_path: Path) -> None:
    paths = [tmp_path / f"measured-{n}.npz" for n in range(6)]
    for n, path in enumerate(paths):
        path.write_bytes(b"")
        os.utime(path, (n, n))
    keep_table(tmp_path / "measured-new.npz", made.table)
    assert sorted(path.stem for path in tmp_path.iterdir()) == [
        *(path.stem for path in paths[-table.MOST_TABLES + 1 :]),
        "measured-new",
    ]


def test_where_nothing_can_be_written_rows_are_placed_all_the_same(
    few: list[int], made: Evidence, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(evidence, "cache_file", lambda: tmp_path / "file" / "measured-1.npz")
    assert same(shipped_evidence(), made)


def test_own_rows_stand_beside_the_shipped(made: Evidence) -> None:
    own = Measured(
        id="mine",
        workload=Workload(
            model="resnet-50",
            task="train",
            precision="amp_fp16",
            stack="pytorch-ngc",
            batch_per_gpu=64,
        ),
        gpu=find_gpu("RTX 4090").id,
        count=1,
        nodes=1,
        link="none",
        metric="images/s",
        value=1500.0,
        year=None,
        source="me",
        own=True,
    )
    both = evidence.joined_evidence(made, read_evidence([own], None))
    assert both.placed[:-1] == made.placed and both.placed[-1].row == own
    assert both.paired == made.paired
    assert math.isfinite(both.placed[-1].residual) and np.isfinite(both.table.residual).all()
