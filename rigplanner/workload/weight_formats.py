"""What is known of llama.cpp's mixes: types by kind of tensor, and bits of publishers' own."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.evidence import Source

Types = str | list[tuple[str, float]]
"""A type, or types with the shares of the layers that have them; the other layers have the mix's
own."""


class Mix(Struct, frozen=True, forbid_unknown_fields=True):
    """Types of one mix by kind of tensor; absent ones are `rest`. The output is Q6_K unless told,
    and so is the embedding where the two are one tensor. `value_shared`: of value projections that
    four query heads and more share, and of networks of experts."""

    rest: str
    output: str = "q6_k"
    embedding: str = ""
    query: Types = ""
    key: Types = ""
    value: Types = ""
    value_shared: Types = ""
    attention_output: Types = ""
    gate_up: Types = ""
    down: Types = ""
    source: str = "llama-quant"


class Dynamic(Struct, frozen=True, forbid_unknown_fields=True):
    """Bits per weight of a publisher's own mix over whole files, of networks below 100e9
    parameters and above."""

    small: float
    large: float
    source: str


class _File(Struct, forbid_unknown_fields=True):
    note: str
    sources: dict[str, Source]
    mixes: dict[str, Mix]
    dynamic: dict[str, Dynamic]


@cache
def _file() -> _File:
    path = data_path("catalog") / "architectures" / "weight_formats.json"
    return read_json(path.read_bytes(), _File)


def mixes() -> dict[str, Mix]:
    """Return the mixes whose tensors are known, by name."""
    return _file().mixes


def dynamic() -> dict[str, Dynamic]:
    """Return the mixes that differ by network, by name."""
    return _file().dynamic
