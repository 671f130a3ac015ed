"""Residual networks by depth: how many tensors a value that their convolutions write leaves for the backward pass."""

from __future__ import annotations

import re
from functools import lru_cache

BLOCKS: dict[str, tuple[int, ...]] = {
    "10": (1, 1, 1, 1), "14": (1, 1, 1, 1), "18": (2, 2, 2, 2), "26": (2, 2, 2, 2), "34": (3, 4, 6, 3), "50": (3, 4, 6, 3),
    "101": (3, 4, 23, 3), "152": (3, 8, 36, 3), "154": (3, 8, 36, 3), "200": (3, 24, 36, 3), "269": (3, 30, 48, 8),
    "rs270": (4, 29, 53, 4), "rs350": (4, 36, 72, 4), "rs420": (4, 44, 87, 4),
}  # fmt: skip
"""Blocks per stage (He et al. 2016, table 1; the variants of ResNet-RS, Bello et al. 2021, and of timm)."""
BASIC = ("10", "18", "34")
"""Depths of two convolutions a block instead of three."""
NAME = re.compile(
    r"^(?:tv_|gluon_|ssl_|swsl_|ig_|tf_)?(?:legacy_)?(?P<wide>wide_)?(?P<gate>se|eca)?resne(?P<next>x?)t(?P<rs>rs)?(?P<depth>\d+)"
    r"(?P<stem>d|t|tn)?(?P<rest>(?:_.*)?)$"
)
STEMS = {"": 4.0, "d": 8.0, "t": 7.5, "tn": 7.5, "v1c": 8.0, "v1d": 8.0, "v1s": 16.0}
"""Values that the stem writes, in those of 64 channels at a quarter of the edge: one convolution of 64 at half the edge, or
three of 32, 32 and 64 (24, 32 and 64; 64, 64 and 128)."""
POOLED = 5.0
"""What the pool after the stem keeps, in the same unit: its output, and indices of 8 bytes where a value has 2."""


@lru_cache(1024)
def kept_by_depth(name: str) -> float | None:
    """Return the tensors of 16 bits kept per written value of a ResNet or ResNeXt of timm; None for other names.

    Each convolution leaves its output to its batch norm and the result of the ReLU in place; a shortcut's leaves its output alone.
    A gate (squeeze-and-excitation, which ResNet-RS has too, or ECA) leaves the block's output before it is scaled besides."""
    read = NAME.match(name)
    if read is None or re.search(r"pruned|_(gn|frn|bit|evo)", name):
        return None
    depth, rest = read["depth"], read["rest"]
    blocks = BLOCKS.get((read["rs"] or "") + depth) or BLOCKS.get(depth)
    version = re.match(r"_(v1[a-z])", rest)
    stem = "d" if read["rs"] else read["stem"] or (version[1] if version else "")
    inner = _inner(read["next"] == "x", bool(read["wide"]), rest)
    if blocks is None or inner is None:
        return None
    written, kept = STEMS.get(stem, 4.0), 2 * STEMS.get(stem, 4.0)
    written, kept = (written + 1, kept + 2) if read["rs"] else (written, kept + POOLED)
    basic, averaged = depth in BASIC and not read["rs"], stem in ("d", "t", "tn", "v1d")
    for stage, count in enumerate(blocks):
        unit, first = 0.5**stage, stage > 0
        out = 1.0 if basic else 4.0
        plain = count * ((1.0 if basic else 2 * inner) + out) + (3 * inner if first and not basic else 0.0)
        shortcut = out if first or not basic else 0.0
        written += unit * (plain + shortcut)
        kept += unit * (
            2 * plain + shortcut + (count * out if read["gate"] or read["rs"] else 0.0) + (out / 2 if averaged and first else 0.0)
        )
    return kept / written


def _inner(grouped: bool, wide: bool, rest: str) -> float | None:
    """Width of a bottleneck over that of the first ResNet: `32x4d` is 32 groups of 4 where there were 64 channels."""
    if groups := re.search(r"_(\d+)x(\d+)d", rest):
        return int(groups[1]) * int(groups[2]) / 64
    if wide:
        return 2.0 if rest.endswith("_2") else None
    return None if grouped else 1.0
