"""What image networks keep for their backward pass, counted from their own layers
(tools/count_kept_values.py)."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from msgspec import Struct

from rigplanner.catalog.zoo import base_name
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.evidence import Source


class KeptValues(Struct, frozen=True, array_like=True):
    """Millions of bytes that one image of `image_size` pixels an edge keeps, with autocast's casts
    and in single precision, where attention writes its scores; and, where a fused kernel does not,
    what it keeps then (None: the network has no such way)."""

    image_size: int
    mixed_mb: float
    single_mb: float
    fused_mixed_mb: float | None = None
    fused_single_mb: float | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """`renamed`: names of earlier releases, and what timm calls the same network now."""

    sources: dict[str, Source]
    renamed: dict[str, str]
    networks: dict[str, tuple[KeptValues, ...]]


@cache
def _file() -> _File:
    return read_json((data_path("catalog") / "architectures/kept_values.json").read_bytes(), _File)


def _counted(name: str) -> tuple[KeptValues, ...] | None:
    file, plain = _file(), base_name(name)
    names = (
        name,
        file.renamed.get(name, name),
        plain,
        file.renamed.get(plain, plain),
        re.sub(r"_\d{3}$", "", plain),
    )
    return next((file.networks[known] for known in names if known in file.networks), None)


@lru_cache(4096)
def kept_bytes(slug: str, edge: float, precision: str, eager: bool = True) -> float | None:
    """Return the bytes that one image of `edge` pixels keeps in a precision; None for a network
    that was not counted. `eager`: its attention writes scores.

    From the nearest size that was counted, by area; pure 16 bits are half of single precision, as
    no cast adds a copy."""
    counted = _counted(slug.replace("-", "_"))
    if counted is None:
        return None
    nearest = min(counted, key=lambda kept: abs(kept.image_size - edge))
    mixed = precision.startswith("amp")
    fused = None if eager else nearest.fused_mixed_mb if mixed else nearest.fused_single_mb
    each = fused or (nearest.mixed_mb if mixed else nearest.single_mb)
    halved = 1 if precision.startswith("amp") or precision in ("fp32", "tf32") else 2
    return 1e6 * each / halved * (edge / nearest.image_size) ** 2
