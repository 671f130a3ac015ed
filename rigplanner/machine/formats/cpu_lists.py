"""Logical CPUs as ranges ("0-19,40-59", nvidia-smi) and as masks in words of 32
("000fffff,ffffffff", sysfs and NCCL)."""

import re

WORD_BITS = 32
MOST_CPUS = 8192
"""Linux' own limit of logical CPUs on x86."""


def mask_of(ranges: str) -> str:
    """Return the mask of ranges, "" for text that is none."""
    if not re.fullmatch(r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*", ranges):
        return ""
    bits = 0
    for span in ranges.split(","):
        low, _, high = span.partition("-")
        bits |= sum(1 << cpu for cpu in range(int(low), int(high or low) + 1))
    words: list[str] = []
    while bits or not words:
        words.append(f"{bits & 0xFFFFFFFF:08x}")
        bits >>= WORD_BITS
    return ",".join(reversed(words))


def ranges_of(mask: str) -> str | None:
    """Return the ranges of a mask, None for text that is none or an empty mask."""
    digits = mask.replace(",", "")
    if not re.fullmatch(r"[0-9a-fA-F]+", digits) or len(digits) * 4 > MOST_CPUS:
        return None
    bits = int(digits, 16)
    cpus = [cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1]
    starts = [cpu for cpu in cpus if not bits << 1 >> cpu & 1]
    ends = [cpu for cpu in cpus if not bits >> (cpu + 1) & 1]
    return (
        ",".join(
            f"{low}-{high}" if high > low else str(low)
            for low, high in zip(starts, ends, strict=True)
        )
        or None
    )
