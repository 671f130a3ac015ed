"""One record a family of decoders: `catalog/architectures/families.json`."""

from __future__ import annotations

from functools import cache
from typing import Literal

from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.networks.families.decoders.traits import Traits


class Routing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a family deals tokens to experts. `float_router`: it raises states and its own weight to
    float. `low_odds`: chosen odds are cast back to the type of the router's scores. `shared_first`:
    the shared expert works before the router; `gateless`: it has a width of its own and no gate.
    `biased`, `normed`, `clamped`: of the experts' products, scores and activations."""

    float_router: bool = False
    low_odds: bool = False
    shared_first: bool = False
    gateless: bool = False
    biased: bool = False
    normed: bool = False
    clamped: bool = False


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One family of decoders. `traits`: its blocks; None where they are another's or its own.
    `attention_bias`: what the field of that name gives a bias, all four products or those before
    attention. `tied`: it writes with its table of words unless told otherwise. `both_halves`: it
    lists both halves of the gated feed-forward layer as its width. `drops_attention`: by the field
    `attention_dropout`; `act_of_config`: it activates as the configuration says.
    `turned_in_windows`: queries and keys are rotated only where a layer attends within a window.
    `spare_positions`: rows of its table of positions that are kept for padding."""

    traits: Traits | None = None
    attention_bias: Literal["", "all", "before"] = ""
    tied: bool = False
    both_halves: bool = False
    drops_attention: bool = True
    act_of_config: bool = True
    turned_in_windows: bool = False
    spare_positions: int = 0
    experts: Routing = Routing()


class _File(Struct, frozen=True):
    decoders: dict[str, Family]


@cache
def _families() -> dict[str, Family]:
    path = data_path("catalog") / "architectures" / "families.json"
    return read_json(path.read_bytes(), _File).decoders


PLAIN = Family()


def family_of(kind: str) -> Family:
    """Return the record of a family; a plain one where none is written."""
    return _families().get(kind, PLAIN)


def traits_by_family() -> dict[str, Traits]:
    """Return the traits of every family of decoders that has its own."""
    known = _families().items()
    return {kind: one.traits for kind, one in known if one.traits is not None}


def is_decoder(kind: str) -> bool:
    """Return whether a family of decoders of this name has traits of its own."""
    return family_of(kind).traits is not None
