"""Headers of weight files on this computer: safetensors and GGUF. Only the header is read, and
lengths are never trusted."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from rigplanner.decoding import JsonFault, read_tree
from rigplanner.errors import WorkloadFault

LONGEST_HEADER = 100 * 2**20
"""Bytes; safetensors itself refuses longer ones (safetensors format, README)."""
MOST_ENTRIES = 1_000_000
MOST_DIMENSIONS = 8

SAFETENSORS_BITS = {
    "F64": 64,
    "F32": 32,
    "F16": 16,
    "BF16": 16,
    "I64": 64,
    "I32": 32,
    "I16": 16,
    "I8": 8,
    "U8": 8,
    "BOOL": 8,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "U16": 16,
    "U32": 32,
    "U64": 64,
}

GGML_BLOCKS = {
    0: (1, 4),
    1: (1, 2),
    2: (32, 18),
    3: (32, 20),
    6: (32, 22),
    7: (32, 24),
    8: (32, 34),
    9: (32, 36),
    10: (256, 84),
    11: (256, 110),
    12: (256, 144),
    13: (256, 176),
    14: (256, 210),
    15: (256, 292),
    16: (256, 66),
    17: (256, 74),
    18: (256, 98),
    19: (256, 50),
    20: (32, 18),
    21: (256, 110),
    22: (256, 82),
    23: (256, 136),
    24: (1, 1),
    25: (1, 2),
    26: (1, 4),
    27: (1, 8),
    28: (1, 8),
    29: (256, 56),
    30: (1, 2),
    34: (256, 54),
    35: (256, 66),
    39: (32, 17),
}
"""Values and bytes of one block by ggml type number (ggml.h, ggml-common.h)."""


class Header(Struct, frozen=True, kw_only=True):
    """What a weight file says of itself: `params` values, `weight_bytes`, how many tensors, and
    metadata (GGUF keys)."""

    format: str
    params: int
    weight_bytes: int
    tensors: int
    metadata: dict[str, Any] = {}


def read_header(path: Path) -> Header:
    """Return the header of a safetensors or GGUF file; raise WorkloadFault naming the file and what
    is wrong with it."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            magic = file.read(4)
            file.seek(0)
            return _gguf(path, file, size) if magic == b"GGUF" else _safetensors(path, file, size)
    except OSError as fault:
        raise WorkloadFault(f"{path}: cannot be read ({fault.strerror}).") from fault


def _safetensors(path: Path, file: BinaryIO, size: int) -> Header:
    length = int.from_bytes(file.read(8), "little")
    if size < 10:
        raise WorkloadFault(
            f"{path}: expected a safetensors or GGUF file, found {size} bytes; fetch it again."
        )
    if path.suffix.casefold() == ".gguf":
        raise WorkloadFault(
            f"{path}: expected the letters GGUF at its start, found others: no GGUF, or damaged;"
            " fetch it again."
        )
    if not 2 <= length <= min(LONGEST_HEADER, size - 8):
        raise WorkloadFault(
            f"{path}: expected a safetensors header of at most {max(0, size - 8)} bytes, found a"
            f" length of {length}."
        )
    try:
        header = read_tree(file.read(length))
    except JsonFault as fault:
        raise WorkloadFault(f"{path}: the safetensors header is not JSON ({fault}).") from fault
    if not isinstance(header, dict):
        raise WorkloadFault(f"{path}: expected an object as header, found {type(header).__name__}.")
    params = total = 0
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        values, stored = _entry(path, name, entry, size - 8 - length)
        params, total = params + values, total + stored
    return Header(
        format="safetensors",
        params=params,
        weight_bytes=total,
        tensors=len(header) - ("__metadata__" in header),
    )


def _entry(path: Path, name: str, entry: Any, room: int) -> tuple[int, int]:
    kind, shape, span = (
        (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
        if isinstance(entry, dict)
        else (None, None, None)
    )
    if (
        not isinstance(kind, str)
        or kind not in SAFETENSORS_BITS
        or not isinstance(shape, list)
        or len(shape) > MOST_DIMENSIONS
    ):
        raise WorkloadFault(
            f"{path}: tensor {name[:60]!r}: expected dtype and shape, found {str(entry)[:60]}."
        )
    values = 1
    for side in shape:
        if not isinstance(side, int) or side < 0:
            raise WorkloadFault(
                f"{path}: tensor {name[:60]!r}: expected whole sides, found {str(shape)[:60]}."
            )
        values *= side
    stored = values * SAFETENSORS_BITS[kind] // 8
    first, last = (
        span
        if isinstance(span, list) and len(span) == 2 and all(isinstance(at, int) for at in span)
        else (0, -1)
    )
    if not 0 <= first <= last <= room or last - first != stored:
        raise WorkloadFault(
            f"{path}: tensor {name[:60]!r}: expected {stored} bytes within the file, found"
            f" {str(span)[:60]}."
        )
    return values, stored


class _Reader:
    """Little-endian values of a GGUF header; every length is checked against the file."""

    def __init__(self, path: Path, file: BinaryIO, size: int) -> None:
        self.path, self.file, self.left = path, file, min(size, LONGEST_HEADER)

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise WorkloadFault(
                f"{self.path}: the GGUF header asks for {count} bytes, {self.left} are left: no"
                " GGUF, or cut short; fetch it again."
            )
        self.left -= count
        data = self.file.read(count)
        if len(data) != count:
            raise WorkloadFault(f"{self.path}: the GGUF header ends early.")
        return data

    def number(self, form: str) -> Any:
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def text(self) -> str:
        return self.take(self.number("Q")).decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind in _GGUF_FORMS:
            return self.number(_GGUF_FORMS[kind])
        if kind == 8:
            return self.text()
        if kind == 9 and depth < 2:
            inner, count = self.number("I"), self.number("Q")
            if count > MOST_ENTRIES:
                raise WorkloadFault(
                    f"{self.path}: expected at most {MOST_ENTRIES} values in a list, found {count}."
                )
            values = [self.value(inner, depth + 1) for _ in range(count)]
            return values if count <= 4096 else count
        raise WorkloadFault(f"{self.path}: expected a GGUF value type, found {kind}.")


_GGUF_FORMS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


def _gguf(path: Path, file: BinaryIO, size: int) -> Header:
    reader = _Reader(path, file, size)
    reader.take(4)
    version, tensors, entries = reader.number("I"), reader.number("Q"), reader.number("Q")
    if version not in (2, 3) or tensors > MOST_ENTRIES or entries > MOST_ENTRIES:
        raise WorkloadFault(
            f"{path}: expected GGUF version 2 or 3 with believable counts, found {version},"
            f" {tensors}, {entries}."
        )
    metadata = {reader.text(): reader.value(reader.number("I")) for _ in range(entries)}
    params = total = 0
    for _ in range(tensors):
        name, dimensions = reader.text(), reader.number("I")
        if dimensions > MOST_DIMENSIONS:
            raise WorkloadFault(
                f"{path}: tensor {name[:60]!r}: expected at most {MOST_DIMENSIONS} dimensions,"
                f" found {dimensions}."
            )
        values = 1
        for _side in range(dimensions):
            values *= reader.number("Q")
        kind = reader.number("I")
        reader.number("Q")
        if kind not in GGML_BLOCKS:
            raise WorkloadFault(f"{path}: tensor {name[:60]!r}: the type {kind} is not known.")
        block, stored = GGML_BLOCKS[kind]
        params, total = params + values, total + -(-values // block) * stored
    if total > size:
        raise WorkloadFault(f"{path}: the tensors need {total} bytes, the file has {size}.")
    return Header(
        format="gguf", params=params, weight_bytes=total, tensors=tensors, metadata=metadata
    )


_GGUF_FIELDS = {
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "context_length": "max_position_embeddings",
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "attention.sliding_window": "sliding_window",
    "vocab_size": "vocab_size",
}
_GGUF_FAMILIES = {
    "phi2": "phi",
    "gptneox": "gpt_neox",
    "gemma3": "gemma3_text",
    "gpt-oss": "gpt_oss",
    "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
    "deepseek2": "deepseek_v2",
}


def config_of(header: Header) -> dict[str, Any]:
    """Return a configuration in Hugging Face's names from the metadata of a GGUF header; raise
    WorkloadFault when it names none."""
    kind = header.metadata.get("general.architecture")
    if not isinstance(kind, str):
        raise WorkloadFault(
            "general.architecture: expected the name of an architecture in the GGUF header, found"
            " none."
        )
    config: dict[str, Any] = {"model_type": _GGUF_FAMILIES.get(kind, kind)}
    for theirs, ours in _GGUF_FIELDS.items():
        value = header.metadata.get(f"{kind}.{theirs}")
        if isinstance(value, list) and value:
            value = max(value)
        if isinstance(value, int) and value:
            config[ours] = value
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    config.setdefault(
        "vocab_size",
        tokens if isinstance(tokens, int) else len(tokens) if isinstance(tokens, list) else 32_000,
    )
    return config
