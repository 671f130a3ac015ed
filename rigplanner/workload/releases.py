"""What a named release of a library does that later ones do not: words such as `transformers 4.38`
or `torch 1.13` among a workload's flags."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rigplanner.rig.workload import Workload

SHIFTED = "shifted_logits"
"""A word for transformers up to 4.47, whose loss copies the float logits of all positions but the
last (logits[..., :-1, :] made contiguous; since 4.48 the labels are shifted instead)."""
WHOLE_PROMPT = "whole_prompt_logits"
"""A word for transformers up to 4.44, which made logits of the whole prompt, in the model's type
and again in float; since 4.45 only the last position's (num_logits_to_keep). Classes that see
images followed later."""
EAGER = "eager"
"""A word for transformers up to 4.35, where attention wrote its scores unless a fused kernel was
asked for (sdpa since 4.36)."""
JOINED = "joined_cache"
"""A word for transformers up to 4.35, whose cache is a tuple: a step builds all layers' anew while
the caller still holds the one before (DynamicCache since 4.36 joins one layer's at a time). Llama 2
7B takes 806 MB for each of 64 samples of 768 tokens, twice its 403 MB of cache (optimum-benchmark,
examples/running-llamas)."""
UNRAISED = "unraised"
"""A word for a quantised base that is trained as it was loaded, without
peft.prepare_model_for_kbit_training."""
LOOPED = "looped_step"
"""A word for torch before 2.0, whose optimizers step one parameter after the other unless told,
without the copies of `foreach`."""
SPLIT_EXPERTS, JOINED_EXPERTS = "split_experts", "joined_experts"
"""Words for transformers up to 4, whose experts are linear layers of their own, and since 5, where
those of a layer lie in one tensor, which bitsandbytes leaves in 16 bits (its issue 1849, January
2026; "GLM-4.7-Flash drops from 127 GiB to 23" once they are quantised: axolotl, documentation of
expert quantization)."""
NAMED = re.compile(r"transformers\s*[=<]*=?\s*v?(\d+)\.(\d+)", re.IGNORECASE)
LAST = (
    (SPLIT_EXPERTS, (4, 99)),
    (SHIFTED, (4, 47)),
    (WHOLE_PROMPT, (4, 44)),
    (EAGER, (4, 35)),
    (JOINED, (4, 35)),
)
"""The last release of transformers with each habit (its source at those tags)."""
TORCH = re.compile(r"torch\s*[=<]*=?\s*v?(\d+)\.(\d+).*", re.IGNORECASE)
TITAN = re.compile(r"torchtitan\s*[=<]*=?\s*(20\d\d)(?:-(\d\d))?.*", re.IGNORECASE)
COMPILED = "compiled_loss"
"""A word for a loss that torch.compile fuses: torchtitan since April 2025, where its layers are
compiled."""
FIRST_COMPILED = (2025, 4)
WRITTEN = "written_logits"
"""A word for Unsloth before December 2024, when cut cross-entropy came (its issue 1298): its kernel
read logits that were there whole, and wrote their gradient."""
UNSLOTH = re.compile(r"unsloth\s*[=<]*=?\s*v?(20\d\d)[.-](\d+).*", re.IGNORECASE)
FIRST_CUT = (2024, 12)
FIRST_FUSED = (2, 0)
"""The release of torch with scaled_dot_product_attention, and with `foreach` as the optimizers'
default (its release notes)."""


AXOLOTL = re.compile(r"axolotl\s*[=<]*=?\s*v?(\d+)\.(\d+).*", re.IGNORECASE)
UNCUT = "uncut_loss"
"""A word for axolotl before 0.6 (December 2024), when cut cross-entropy and Liger came: the loss is
that of transformers, as it is today where a recipe names no plugin."""
FIRST_PLUGINS, TRANSFORMERS_BEFORE = (0, 6), (4, 46)
OLLAMA = re.compile(r"ollama\s*[=<]*=?\s*v?(\d+)\.(\d+).*", re.IGNORECASE)
FIRST_FLASH = (0, 12)
"""The release of Ollama that turns flash attention on by itself (its release notes; recalled)."""
VLLM = re.compile(r"vllm\s*[=<]*=?\s*v?(\d+)\.(\d+).*", re.IGNORECASE)
FIRST_CHUNKED = (0, 8)
UNCHUNKED = "unchunked_prompts"
"""A word for vLLM before 0.8, which took prompts of up to 32,768 tokens whole unless told
otherwise (vLLM's release notes of V1)."""
LAUNCHED = "enforce_eager"
"""A word for a serving engine that replays no captured graphs: the host launches each kernel."""
ENFORCED = re.compile(r"(?<!\w)enforce[-_]eager\b", re.IGNORECASE)
LLAMA_CPP = re.compile(r"llama\.cpp\s*[=<]*=?\s*b?(\d{4,5})()\b.*", re.IGNORECASE)
FIRST_AUTO = 6325
"""The build of llama.cpp since which `-fa` is auto (pull request 15434, August 2025; recalled)."""
FIRST_SERVER = (0, 30)
"""The release of Ollama from which llama-server runs its GGUF files, in the place of an engine of
its own (pull request 16031)."""


def by_llama_server(workload: Workload) -> bool:
    """Return whether a job of Ollama names a release that runs llama.cpp's server, or experts that
    stay in RAM, which only that one can be told (LLAMA_ARG_CPU_MOE)."""
    text = workload.framework_text
    release = _least(OLLAMA, frozenset([text])) if text else None
    if release is not None:
        return release >= FIRST_SERVER
    said = workload.cpu_moe or workload.n_cpu_moe or workload.override_tensors
    moved = said or any(flag.startswith("cpu_moe") for flag in workload.flags)
    return bool(moved) and (workload.stack or "").casefold() == "ollama"


def habits(flags: Iterable[str], text: str | None = None, stack: str = "") -> frozenset[str]:
    """The flags, and the habits that go with the releases that they or the `text` of the software
    name; a stack of which no release is named is taken as it is today."""
    told = frozenset(flags)
    if not told and not text:
        return told
    named = told | ({text} if text else set())
    if (release := _least(NAMED, named)) is not None:
        told |= {word for word, last in LAST if release <= last} or {JOINED_EXPERTS}
    if (release := _least(TORCH, named)) is not None and release < FIRST_FUSED:
        told |= {EAGER, LOOPED}
    if (release := _least(VLLM, named)) is not None and release < FIRST_CHUNKED:
        told |= {UNCHUNKED}
    if any(ENFORCED.search(word) for word in named):
        told |= {LAUNCHED}
    if (release := _least(OLLAMA, named)) is not None and release < FIRST_FLASH:
        told |= {EAGER}
    if (release := _least(LLAMA_CPP, named)) is not None and release[0] < FIRST_AUTO:
        told |= {EAGER}
    if (release := _least(UNSLOTH, named)) is not None and release < FIRST_CUT:
        told |= {WRITTEN}
    if stack == "axolotl" and _before_plugins(named):
        told |= {UNCUT}
    if (
        stack == "torchtitan"
        and "compile" in told
        and (_least(TITAN, named) or FIRST_COMPILED) >= FIRST_COMPILED
    ):
        told |= {COMPILED}
    return told


def _before_plugins(named: frozenset[str]) -> bool:
    """Whether these words name an axolotl, or the transformers beside it, without fused losses."""
    own, beside = _least(AXOLOTL, named), _least(NAMED, named)
    return bool(own and own < FIRST_PLUGINS) or bool(beside and beside <= TRANSFORMERS_BEFORE)


def _least(library: re.Pattern[str], flags: frozenset[str]) -> tuple[int, int] | None:
    """The earliest release of a library that the words name; of a year alone, its last month."""
    named = [match for flag in flags if (match := library.fullmatch(flag.strip()))]
    return min(((int(match[1]), int(match[2] or 12)) for match in named), default=None)
