"""PCI Express rates."""

from typing import TypeVar

N = TypeVar("N", int, float)

LANE_GBS = {1: 0.25, 2: 0.5, 3: 8 / 8.125, 4: 16 / 8.125, 5: 32 / 8.125, 6: 7.5625}
"""GB/s of one lane and direction after line coding: 2.5, 5 GT/s with 8b/10b, 8, 16, 32 GT/s with
128b/130b, 64 GT/s with 242/256 flits (PCI Express Base Specification)."""

REAL_SHARE = {5: 0.88, 6: 0.88}
"""Share of the coded rate that host copies reach: 55.4 of 63.0 GB/s on an H200, Gen5 x16."""

OLD_REAL_SHARE = 0.82
"""The same up to Gen4: 25.8 of 31.5 GB/s on an A100, Gen4 x16 (packet headers of 128 to 256-byte
payloads, flow control)."""


def coded_gbs(gen: int | None, width: int | None) -> float | None:
    """Return the one-way rate of a link in GB/s after line coding, before headers: what
    specifications print."""
    rate = LANE_GBS.get(gen or 0)
    return None if rate is None or width is None else rate * width


def link_gbs(gen: int | None, width: int | None) -> float | None:
    """Return the effective one-way rate of a link in GB/s, None where generation or width is
    unknown."""
    if gen is None or width is None or gen not in LANE_GBS:
        return None
    return LANE_GBS[gen] * width * REAL_SHARE.get(gen, OLD_REAL_SHARE)


def least(*values: N | None) -> N | None:
    """Return the smallest value, None when one is unknown."""
    known = [value for value in values if value is not None]
    return min(known) if len(known) == len(values) and known else None


def narrowed(value: int | None, *limits: int | None) -> int | None:
    """Return a value brought down to the limits that are known; an unknown value stays unknown."""
    return (
        None if value is None else min((value, *(limit for limit in limits if limit is not None)))
    )
