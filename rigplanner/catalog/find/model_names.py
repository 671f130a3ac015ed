"""Which network does a name mean, as hubs, command lines and papers write it? Never a wrong one:
rather none, and the nearest."""

from __future__ import annotations

import re
from functools import lru_cache

_STORED = re.compile(
    r"[-_.:\s]+(gguf|ggml|ct2|awq|gptq|marlin|autoround|exl[23]|mlx|safetensors|imatrix|i1"
    r"|unsloth|dynamic|quantized(\.w\d+a\d+)?|latest|diffusers"
    r"|int[48]|fp(4|8|16|32)|nvfp4|mxfp4|nf4|bf16|f16|f32|w\d+a\d+|bnb|[48][-_]?bits?|128g|iq[1-4]_[a-z]+|q[2-8]([_-][0k1])?([_-](xs|s|m|l|xl))?)$"
)
"""How weights are stored: words that publishers append to a name and that change no layer."""
_TUNED = {
    "instruct",
    "chat",
    "it",
    "hf",
    "preview",
    "text",
    "dpo",
    "sft",
    "pt",
    "thinking",
    "instruction",
    "tuned",
    "meta",
    "nvidia",
    "deduped",
    "qat",
    "think",
    "thinker",
    "inst",
    "abliterated",
    "uncensored",
    "heretic",
    "reasoning",
}
"""What publishers add to the name of a network that was tuned further, and their own names; the
shape is the same."""
_DATED = re.compile(
    r"-(20\d\d[-.]?\d\d([-.]?\d\d)?|2[3-7](0[1-9]|1[0-2])|0[1-9][0-3]\d|1[0-2][0-3]\d)(?=-|$)"
)
"""A month or a day of release, as in 2507, 0528 or 2024-08."""
_PARTS = re.compile(r"\d+(?:\.\d+)?[a-z]*|[a-z]+")
_SIZE = re.compile(r"\d+(\.\d+)?[bm]")
"""A number of parameters: beside it "base" says that nothing was tuned, without it that it is the
smaller of two networks."""
LONGEST_NAME = 200


@lru_cache(8192)
def reduced(name: str, dated: bool = False) -> str:
    """The words of a name that say which network it is: without its publisher, how it is stored and
    how it was tuned; with `dated` also without the day of its release. Numbers stay whole, so that
    "gemma-22b" and "gemma-2-2b" stay apart."""
    plain = name[:LONGEST_NAME].casefold().rpartition("/")[2].strip()
    while (bare := _STORED.sub("", plain)) != plain:
        plain = bare
    if dated:
        plain = _DATED.sub("", plain)
    told = _PARTS.findall(re.sub(r"(?<=[a-z])(?=\d)", " ", re.sub(r"[-_:\s]+", " ", plain)))
    parts = [part.removesuffix(".0") for part in told]
    sized = any(_SIZE.fullmatch(part) for part in parts)
    return " ".join(part for part in parts if part not in _TUNED and not (sized and part == "base"))


_RESHAPED = re.compile(
    r"vl|vision|visual|video|image|omni|audio|speech|voice|tts|asr|ocr|vla|encoder|embed(ding)?s?"
    r"|rerank(er)?|draft(er)?|speculator|eagle\d?|medusa|dflash|reap|pruned|mini|nano|tiny|small"
    r"|lite|slim|moe|mamba|llava|blip|clip|lora|adapter"
)
"""Words of a name that make another network of the one that it also names."""
_RESIZED = re.compile(r"(a|e|\d+x)?\d+(\.\d+)?[bmt]")


def named_within(name: str) -> list[tuple[str, list[str]]]:
    """What of a name may be another network's, the longest first, with the words beside it: runs of
    words with a size, where none of the others tells another shape or size."""
    words = reduced(name, dated=True).split()
    runs = [
        (words[start:end], words[:start] + words[end:])
        for size in range(len(words) - 1, 1, -1)
        for start in range(len(words) - size + 1)
        for end in (start + size,)
    ]
    return [
        (" ".join(run), rest)
        for run, rest in runs
        if any(_SIZE.fullmatch(word) for word in run)
        and not any(_RESHAPED.fullmatch(word) or _RESIZED.fullmatch(word) for word in rest)
    ]


_VERSION = re.compile(r"\d+(\.\d+)?")
_SHORTEST = 5
"""Letters of a word that alone names a network: below, it names a kind of them ("bert")."""


def stands_in(asked: str, known: str) -> bool:
    """Say whether a known name begins with the first word of another and holds the rest."""
    words, whole = asked.split(), known.split()
    return bool(words) and words[0] == whole[0] and set(words) < set(whole)


def shortens(asked: str, known: str) -> bool:
    """Say whether a name that stands in a known one means it: "Mistral Large 3" is
    "mistral-large-3-675b". Not where it leaves out a version beside a version or a size, nor a
    size where it names neither."""
    words = asked.split()
    if len(words) == 1 and len(words[0]) < _SHORTEST:
        return False
    rest = [word for word in known.split() if word not in words]
    told = [word for word in words if _VERSION.fullmatch(word) or _RESIZED.fullmatch(word)]
    lacking = _VERSION if told else _RESIZED
    return not any(lacking.fullmatch(word) for word in rest)


_WEIGHTS_OF = re.compile(
    r"^[a-z0-9_]*(in1k|in1[2]k|in2[12]k|imagenet|laion|openai|jft|lvd|merged|webli|cc12m|ra\d?_|augreg|sbb)[a-z0-9_]*$"
)


def without_weights(name: str) -> str | None:
    """The architecture of a timm name with the tag of its weights ("resnet50.a1_in1k"), or None
    where there is no such tag."""
    architecture, dot, tag = name.casefold().rpartition("/")[2].partition(".")
    return architecture if dot and _WEIGHTS_OF.match(tag) else None


_BETWEEN = re.compile(r"(?<!\d)[-_:/\s]+|[-_:/\s]+(?!\d)")


@lru_cache(8192)
def joined(name: str) -> str:
    """A name as it is spoken: "MobileNetV2", "mobilenet_v2" and "MobileNet v2" are one; what parts
    two numbers stays."""
    return re.sub(r"[-_:/\s]+", "-", _BETWEEN.sub("", name[:LONGEST_NAME].casefold().strip()))
