"""One record a family of encoders: `catalog/architectures/families.json`."""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json


class _File(Struct, frozen=True):
    encoders: dict[str, dict[str, Any]]


@cache
def encoder_families() -> dict[str, dict[str, Any]]:
    """Return what sets each family of encoders apart: fields of `EncoderForm`, and
    `head_of_config` where its head activates as the configuration says, not by GELU."""
    path = data_path("catalog") / "architectures" / "families.json"
    return read_json(path.read_bytes(), _File).encoders
