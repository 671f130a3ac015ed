"""Shipped files that the self-contained folder packs are read as the plain ones."""

import gzip

from rigplanner.catalog.zoo import read_zoo, shipped_zoo
from rigplanner.data import data_path, read_shipped, shipped_files


def test_packed_files_are_found_and_read_as_the_plain_ones(tmp_path):
    plain = shipped_files(data_path("catalog") / "models")
    for path in plain:
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    packed = shipped_files(tmp_path)
    assert [path.name for path in packed] == [f"{path.name}.gz" for path in plain]
    assert read_zoo(tmp_path).models == shipped_zoo().models


def test_a_packed_file_stands_for_the_plain_one(tmp_path):
    (tmp_path / "cs.po.gz").write_bytes(gzip.compress(b"text"))
    assert read_shipped(tmp_path / "cs.po") == b"text"
    assert shipped_files(tmp_path) == []
