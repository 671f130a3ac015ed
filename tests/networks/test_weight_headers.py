"""Headers of weight files, honest and hostile."""

import json
import struct
from pathlib import Path

import pytest

from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.headers import config_of, read_header


def safetensors(path: Path, header: object, body: int, length: int | None = None) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(
        struct.pack("<Q", len(text) if length is None else length) + text + b"\0" * body
    )
    return path


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(
    path: Path,
    tensors: list[tuple[str, tuple[int, ...], int]],
    body: int,
    counts: tuple[int, int] | None = None,
) -> Path:
    fields = {
        "llama.block_count": 2,
        "llama.embedding_length": 64,
        "llama.feed_forward_length": 128,
        "llama.attention.head_count": 4,
    }
    data = b"GGUF" + struct.pack("<IQQ", 3, *(counts or (len(tensors), len(fields) + 1)))
    data += text("general.architecture") + struct.pack("<I", 8) + text("llama")
    for name, value in fields.items():
        data += text(name) + struct.pack("<II", 4, value)
    for name, shape, kind in tensors:
        data += (
            text(name)
            + struct.pack("<I", len(shape))
            + struct.pack(f"<{len(shape)}Q", *shape)
            + struct.pack("<IQ", kind, 0)
        )
    path.write_bytes(data + b"\0" * body)
    return path


def test_safetensors_counts_values_and_bytes(tmp_path: Path) -> None:
    header = {
        "__metadata__": {},
        "a": {"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [64, 72]},
    }
    found = read_header(safetensors(tmp_path / "m.safetensors", header, 72))
    assert (found.params, found.weight_bytes, found.tensors) == (34, 72, 2)


def test_gguf_counts_blocks_and_gives_a_configuration(tmp_path: Path) -> None:
    found = read_header(gguf(tmp_path / "m.gguf", [("t", (256, 2), 12), ("n", (64,), 0)], 1000))
    assert (found.params, found.weight_bytes) == (576, 2 * 144 + 256)
    config = config_of(found)
    assert (
        config["model_type"] == "llama"
        and config["num_hidden_layers"] == 2
        and config["hidden_size"] == 64
    )


@pytest.mark.parametrize("length", [0, 2**63, 10**6])
def test_a_length_beyond_the_file_is_refused(tmp_path: Path, length: int) -> None:
    with pytest.raises(WorkloadFault, match="header"):
        read_header(safetensors(tmp_path / "m.safetensors", {}, 0, length))


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 10**9]},
        7,
    ],
)
def test_absurd_tensors_are_refused(tmp_path: Path, entry: object) -> None:
    with pytest.raises(WorkloadFault, match="tensor"):
        read_header(safetensors(tmp_path / "m.safetensors", {"a": entry}, 8))


def test_hostile_gguf_counts_and_sizes_are_refused(tmp_path: Path) -> None:
    for file in (
        gguf(tmp_path / "a.gguf", [], 0, (2**60, 5)),
        gguf(tmp_path / "b.gguf", [("t", (2**40, 2**10), 0)], 0),
        gguf(tmp_path / "c.gguf", [("t", (4,), 77)], 100),
        gguf(tmp_path / "d.gguf", [], 0, (0, 500_000)),
    ):
        with pytest.raises(WorkloadFault, match=file.name):
            read_header(file)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    for name, data in (("x", b"GGUF\x03"), ("y", b"\x01\x02")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(WorkloadFault):
            read_header(tmp_path / name)
