"""What does a name say? A model as hubs, engines and files write it, with the format of its weights
where the name tells it."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from msgspec import Struct

from rigplanner.catalog.find.model_names import LONGEST_NAME
from rigplanner.data import data_path
from rigplanner.decoding import read_json


class Named(Struct, frozen=True, kw_only=True):
    """A name taken apart: `model` without the words of its storage, the type of the weights
    (`precision`, `quant`; None where the name tells none), `stack` the engine that such names
    belong to, and the bits of a weight that formats of exllama state. `usual`: the type is the one
    that an engine takes where a name tells it none."""

    model: str
    precision: str | None = None
    quant: str | None = None
    stack: str | None = None
    bits_per_weight: float | None = None
    usual: bool = False


_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_FILE = re.compile(r"\.(gguf|safetensors)$")
_GAP = r"(?:^|[-_.: ])"
_GGUF = re.compile(
    _GAP + r"(?P<ud>ud[-_])?(?P<type>iq[1-4]_(?:xxs|xs|nl|s|m)|iq[2-6]_ks?"
    r"|q[2-8]_k_(?:xl|s|m|l)|q[2-8]_k|q[458]_[01]|tq[12]_0|mxfp4_moe)$"
)
_WORDS = (
    (r"(?:nv)?fp4(?:a16)?(?:[-_]v\d)?", "nvfp4", None, None),
    (r"mxfp4", "mxfp4", None, None),
    (r"mxfp8", "mxfp8", None, None),
    (r"fp8(?:[-_]?(?:dynamic|block|static|kv|e4m3|torchao))?", "fp8", None, None),
    (r"(?:awq|gptq|autoround|hqq)[-_.]?(?:int8|8[-_]?bits?)", "int8", "", None),
    (r"(?:awq|gptq|autoround|hqq)(?:[-_.]?(?:int4|4[-_]?bits?|w4a16|marlin))?", "int4", "", None),
    (r"(?:quantized[-_.])?w4a16(?:[-_.]g\d+)?", "int4", "gptq", None),
    (r"(?:quantized[-_.])?w8a(?:8|16)", "int8", None, None),
    (r"(?:unsloth-)?bnb-8bits?", "int8", "bnb", None),
    (r"(?:unsloth-)?bnb(?:-4bits?)?", "nf4", "bnb", None),
    (r"mlx[-_]?(?:8bit|q8)", "int8", "mlx", "mlx"),
    (r"mlx(?:[-_]?(?:4bit|q4))?(?:-dwq\w*)?", "int4", "mlx", "mlx"),
    (r"(?:exl[23])", "int4", "", "exllamav2"),
    (r"8[-_]?bits?", "int8", None, None),
    (r"4[-_]?bits?(?:-dwq\w*)?", "int4", None, None),
    (r"int8", "int8", None, None),
    (r"int4", "int4", None, None),
    (r"nf4", "nf4", "bnb", None),
    (r"bf16", "bf16", None, None),
    (r"fp16|f16", "fp16", None, None),
    (r"fp32|f32", "fp32", None, None),
)
"""Words at the end of a name: type of the weights, way of quantising ("": as the word begins) and
engine. bnb is bitsandbytes' NF4, MLX quantises affinely in groups of 64 (mlx_lm.convert)."""
_TOLD = tuple(
    (re.compile(_GAP + f"(?:{word})$"), precision, quant, stack)
    for word, precision, quant, stack in _WORDS
)
_METHOD = re.compile(r"awq|gptq|autoround|hqq|exl[23]")
_FILLER = re.compile(_GAP + r"(?:gguf|ggml|imatrix|i1|imat|128g|hf|latest|h\d|dwq|unsloth)$")
_BPW = re.compile(_GAP + r"(?P<bits>\d(?:\.\d{1,2})?)[-_]?bpw(?:[-_]h\d)?$")
_MLX_BITS = re.compile(_GAP + r"(?:mlx[-_]?)?(?P<bits>[2356])[-_]?bits?$")
MLX_SCALES = 0.5
"""Bits of scale and offset that mlx_lm.convert adds to each weight of a group of 64."""
_ALONE = {"q3_k": "q3_k_m", "q4_k": "q4_k_m", "q5_k": "q5_k_m", "q6_k_l": "q6_k_l"}
"""Names of mixes that llama.cpp shortens (llama-quantize: Q4_K is Q4_K_M)."""
WIDE = ("bf16", "fp16", "fp32")
"""Types that a name ends with beside a mix where they are those of its embeddings and output
(`gemma-2-9b-it-Q4_K_M-fp16.gguf`)."""
USUAL_FILE = "q4_k_m"
"""What llama.cpp and ollama take of a repository or a library that names no type (-hf user/model;
ollama.com/library)."""
_HUBS = re.compile(r"^(?:https?://)?(?:hf\.co|huggingface\.co|ollama\.com/library|library)/")


class _Library(Struct, frozen=True, forbid_unknown_fields=True):
    """The tags that names of ollama's library stand for where none is given, and those of names
    that alone mean the network of that name: there only `latest` means the library's."""

    source: str
    recalled: bool
    read: str
    tags: dict[str, str]
    latest: dict[str, str]


@cache
def _library() -> _Library:
    path = data_path("catalog") / "architectures" / "library_tags.json"
    return read_json(path.read_bytes(), _Library)


_OWN = re.compile(r"^(?:(?:https?://)?ollama\.com/)?library/")


def usual_tag(name: str) -> str | None:
    """Return a name of ollama's library with the tag that it stands for, where it has none; None
    for any other name."""
    told, library = _OWN.sub("", name[:LONGEST_NAME].casefold().strip()), _library()
    bare = told.removesuffix(":latest")
    tag = library.tags.get(bare) or (library.latest.get(bare) if bare != told else None)
    return f"{bare}:{tag}" if tag else None


@lru_cache(4096)
def read_name(name: str) -> Named:
    """Return what a name tells: `Qwen/Qwen3-8B-AWQ`, `unsloth/DeepSeek-R1-GGUF:UD-IQ1_S`,
    `llama3.1:70b-instruct-q4_K_M`, `Qwen3-8B-IQ4_XS-00001-of-00002.gguf`,
    `mlx-community/Qwen3-30B-A3B-4bit`. A name that tells no format stays as it is; one of ollama's
    library that tells no size is the network that ollama takes by it."""
    text = usual_tag(name) or name[:LONGEST_NAME].strip()
    plain = _HUBS.sub("", text.casefold())
    is_file = bool(_FILE.search(plain))
    gguf = ".gguf" in plain or bool(re.search(r"[-_./:](gguf|ggml)\b", plain))
    bare = _SHARD.sub("", _FILE.sub("", plain))
    if is_file:
        bare = re.split(r"[\\/]", bare)[-1]
    publisher, slash, bare = bare.rpartition("/")
    tagged = ":" in bare and not slash and not gguf
    told, rest = _taken(bare)
    if told.precision is None and "mlx" in plain and (found := _MLX_BITS.search(rest)):
        bits = float(found["bits"]) + MLX_SCALES
        told = Named(model="", precision="int4", quant="mlx", stack="mlx", bits_per_weight=bits)
        rest = _taken(rest[: found.start()])[1]
    gguf = gguf or told.stack == "llama.cpp"
    if told.quant is None and told.precision in ("int4", "int8") and "mlx" in publisher:
        told = Named(model="", precision=told.precision, quant="mlx", stack="mlx")
    precision = told.precision
    stack = "llama.cpp" if gguf else told.stack
    if tagged:
        stack = "ollama"
    usual = precision is None and (gguf or tagged)
    if usual:
        precision = USUAL_FILE
    known = precision is not None or rest != bare
    model = rest.replace(":", "-") if tagged and known else rest
    return Named(
        model=_as_written(text, model) if known or is_file or plain != text.casefold() else text,
        precision=precision,
        quant=told.quant,
        stack=stack,
        bits_per_weight=told.bits_per_weight,
        usual=usual,
    )


def _taken(name: str) -> tuple[Named, str]:
    """What the words at the end of a name say of its storage, and the rest of it."""
    told, rest = Named(model=""), name
    while True:
        if found := _FILLER.search(rest):
            rest = rest[: found.start()]
            continue
        if told.bits_per_weight is None and (found := _BPW.search(rest)):
            told = Named(
                model="",
                precision="int4",
                quant=told.quant or "exl2",
                stack="exllamav2",
                bits_per_weight=float(found["bits"]),
            )
            rest = rest[: found.start()]
            continue
        if told.precision in (None, *WIDE) and (found := _GGUF.search(rest)):
            word = found["type"].removesuffix("_moe")
            word = f"ud-{word}" if found["ud"] or word.endswith("_xl") else _ALONE.get(word, word)
            told = Named(model="", precision=word, stack="llama.cpp")
            rest = rest[: found.start()]
            continue
        one = _word(rest)
        if one is None:
            return told, rest.rstrip("-_.: ")
        read, at = one
        told = _joined(told, read)
        rest = rest[:at]


def _word(name: str) -> tuple[Named, int] | None:
    """The type that the last word of a name tells, and where that word begins."""
    for pattern, precision, quant, stack in _TOLD:
        found = pattern.search(name)
        if found and found.start() > 0:
            method = _METHOD.search(found.group()) if quant == "" else None
            word = method.group() if method else quant
            return Named(model="", precision=precision, quant=word, stack=stack), found.start()
    return None


def _joined(later: Named, earlier: Named) -> Named:
    """Two words of one name: the later one counts where both tell the same thing, but for the
    width that stands beside a method (`AWQ-4bit`)."""
    if later.precision is None:
        return earlier
    plain = later.precision in WIDE and earlier.precision
    return Named(
        model="",
        precision=earlier.precision if plain else later.precision,
        quant=later.quant or earlier.quant,
        stack=later.stack or earlier.stack,
        bits_per_weight=later.bits_per_weight,
    )


def _as_written(text: str, plain: str) -> str:
    """The part of a name as it was written."""
    at = text.casefold().find(plain)
    return text[at : at + len(plain)] if at >= 0 and plain else plain or text
