"""What a named release of a library does that later ones do not: words such as `transformers 4.38` or `torch 1.13` among a
workload's flags."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHIFTED = "shifted_logits"
"""A word for transformers up to 4.47, whose loss copies the float logits of all positions but the last (logits[..., :-1, :]
made contiguous; since 4.48 the labels are shifted instead)."""
WHOLE_PROMPT = "whole_prompt_logits"
"""A word for transformers up to 4.44, which made logits of the whole prompt, in the model's type and again in float; since 4.45
only the last position's (num_logits_to_keep). Classes that see images followed later."""
EAGER = "eager"
"""A word for transformers up to 4.35, where attention wrote its scores unless a fused kernel was asked for (sdpa since 4.36)."""
UNRAISED = "unraised"
"""A word for a quantised base that is trained as it was loaded, without peft.prepare_model_for_kbit_training."""
LOOPED = "looped_step"
"""A word for torch before 2.0, whose optimizers step one parameter after the other unless told, without the copies of `foreach`."""
NAMED = re.compile(r"transformers\s*[=<]*=?\s*v?(\d+)\.(\d+)", re.IGNORECASE)
LAST = ((SHIFTED, (4, 47)), (WHOLE_PROMPT, (4, 44)), (EAGER, (4, 35)))
"""The last release of transformers with each habit (its source at those tags)."""
TORCH = re.compile(r"torch\s*[=<]*=?\s*v?(\d+)\.(\d+).*", re.IGNORECASE)
FIRST_FUSED = (2, 0)
"""The release of torch with scaled_dot_product_attention, and with `foreach` as the optimizers' default (its release notes)."""


def habits(flags: Iterable[str]) -> frozenset[str]:
    """The flags, and the habits that go with the releases they name."""
    told = frozenset(flags)
    if not told:
        return told
    if (release := _least(NAMED, told)) is not None:
        told |= {word for word, last in LAST if release <= last}
    if (release := _least(TORCH, told)) is not None and release < FIRST_FUSED:
        told |= {EAGER, LOOPED}
    return told


def _least(library: re.Pattern[str], flags: frozenset[str]) -> tuple[int, int] | None:
    """The earliest release of a library that the flags name."""
    named = [match for flag in flags if (match := library.fullmatch(flag.strip()))]
    return min(((int(match[1]), int(match[2])) for match in named), default=None)
