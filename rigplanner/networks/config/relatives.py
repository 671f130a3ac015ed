"""Families that are traced as another, and parts that a configuration does not name:
`catalog/architectures/families.json`."""

from __future__ import annotations

from functools import cache
from typing import Any

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json


class Relative(Struct, frozen=True, forbid_unknown_fields=True, rename={"kind": "as"}):
    """The family that another is traced as; `same_layers` where their traces show the same layers,
    else what differs is small beside the interval that is then given."""

    kind: str
    same_layers: bool = False


class _File(Struct, frozen=True):
    relatives: dict[str, Relative]
    text_parts: dict[str, str]
    denoisers: dict[str, dict[str, Any]]


@cache
def _read() -> _File:
    path = data_path("catalog") / "architectures" / "families.json"
    return read_json(path.read_bytes(), _File)


def traced_as(kind: str) -> str:
    """Return the family whose blocks a family is traced with: its own, or a relative's."""
    found = _read().relatives.get(kind)
    return found.kind if found else kind


def relative_of(kind: str) -> str | None:
    """Return the relative that a family is traced as and whose layers differ; None where it is
    traced with layers of its own."""
    found = _read().relatives.get(kind)
    return found.kind if found and not found.same_layers else None


def text_part_of(kind: str) -> str | None:
    """Return the kind of the part that reads text where a configuration leaves it out (transformers
    5.23)."""
    return _read().text_parts.get(kind)


def usual_denoiser(kind: str) -> dict[str, Any]:
    """Return what diffusers 0.42 takes for fields that a configuration leaves out. Raises KeyError
    for a kind that is not traced."""
    return _read().denoisers[kind]
