"""How are the weights stored? By what a workload's words, its model's name, a checkpoint's
configuration and the model's maker say."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.find.stored_names import read_name, usual_tag
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.quant import BITS, GGUF

METHODS = {
    "awq": "awq",
    "gptq": "gptq",
    "gptq_v2": "gptq",
    "auto-round": "autoround",
    "intel/auto-round": "autoround",
    "hqq": "hqq",
    "compressed-tensors": None,
    "quanto": None,
    "modelopt": None,
    "fp8": None,
    "fbgemm_fp8": None,
    "mxfp4": None,
    "eetq": None,
    "torchao": "torchao",
    "bitsandbytes": "bnb",
    "bnb": "bnb",
}
"""quant_method of transformers' quantization_config, and the word for its scales (transformers,
quantization_config.py)."""
FLOATS = {"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "mxfp4", "eetq": "int8"}
"""Methods that store one type only."""
TYPES = re.compile(r"(nvfp4|mxfp4|mxfp8|fp8|float8|int8|int4|w4a|w8a)")
"""The type within the name of an algorithm or a format."""
NAMED = {"float8": "fp8", "w4a": "int4", "w8a": "int8"}


def stored_as(config: dict[str, Any]) -> dict[str, str]:
    """Precision and quantisation of the weights that go with a configuration; nothing where it
    names none. Raises WorkloadFault for a quantisation whose bytes are not known."""
    told = config.get("quantization_config")
    inner = config.get("text_config")
    if told is None and isinstance(inner, dict):
        told = inner.get("quantization_config")
    if told is None and isinstance(config.get("quantization"), dict):
        return _word(_whole(config["quantization"].get("bits"), "quantization.bits"), "mlx")
    if told is None:
        return {}
    method = told.get("quant_method") if isinstance(told, dict) else None
    if (
        method is None
        and isinstance(told, dict)
        and (told.get("load_in_4bit") or told.get("load_in_8bit"))
    ):
        method = "bitsandbytes"
    if not isinstance(method, str) or method.casefold() not in METHODS:
        known = ", ".join(sorted(METHODS))
        raise WorkloadFault(
            f"quantization_config.quant_method: expected one of {known}, found"
            f" {str(method)[:40]!r}."
        )
    return _read(told, method.casefold())


def as_stored(workload: Workload) -> Workload:
    """The workload with the type in which its configuration says that weights lie, where it names
    no narrower one itself. For jobs whose weights do not train. Raises WorkloadFault like
    `stored_as`."""
    words = (workload.precision or "", workload.quant or "")
    if workload.config is None or any(BITS.get(word.casefold(), 16.0) < 16 for word in words):
        return workload
    return msgspec.structs.replace(workload, **stored_as(workload.config))


def _read(told: dict[str, Any], method: str) -> dict[str, str]:
    quant = METHODS[method]
    if method in FLOATS:
        return {"precision": FLOATS[method]}
    if method in ("bitsandbytes", "bnb"):
        if not told.get("load_in_4bit"):
            return {"precision": "int8", "quant": "bnb"}
        word = told.get("bnb_4bit_quant_type")
        return {
            "precision": word if word in ("nf4", "fp4") else "fp4",
            "quant": "bnb_double" if told.get("bnb_4bit_use_double_quant") else "bnb",
        }
    if method == "compressed-tensors":
        return _grouped(told)
    if method in ("quanto", "modelopt", "torchao"):
        field = {"quanto": "weights", "modelopt": "quant_algo", "torchao": "quant_type"}[method]
        found = str(told.get(field))
        named = TYPES.search(found.casefold())
        if named is None:
            raise WorkloadFault(
                f"quantization_config.{field}: expected a type such as int4 or fp8, found"
                f" {found[:40]}."
            )
        word = NAMED.get(named[1], named[1])
        return {"precision": word} | ({"quant": quant} if quant else {})
    bits = told.get("bits", told.get("w_bit"))
    if method == "hqq":
        groups = told.get("quant_config")
        weights = groups.get("weight_quant_params") if isinstance(groups, dict) else None
        bits = weights.get("nbits") if isinstance(weights, dict) else told.get("nbits", bits)
    return _word(_whole(bits, "quantization_config.bits"), quant)


def _grouped(told: dict[str, Any]) -> dict[str, str]:
    """The type of the first group of compressed tensors."""
    groups = told.get("config_groups")
    first = next(iter(groups.values()), None) if isinstance(groups, dict) else None
    weights = first.get("weights") if isinstance(first, dict) else None
    if not isinstance(weights, dict):
        raise WorkloadFault(
            "quantization_config.config_groups: expected a group with weights, found"
            f" {str(groups)[:40]}."
        )
    bits = _whole(weights.get("num_bits"), "quantization_config.config_groups.weights.num_bits")
    if weights.get("type") == "float":
        return {
            "precision": (
                "fp8" if bits == 8 else "mxfp4" if "mxfp4" in str(told.get("format")) else "nvfp4"
            )
        }
    return _word(bits, None)


def _whole(bits: object, field: str) -> int:
    if not isinstance(bits, int) or isinstance(bits, bool) or not 1 <= bits <= 16:
        raise WorkloadFault(f"{field}: expected bits from 1 to 16, found {str(bits)[:40]}.")
    return bits


def _word(bits: int, quant: str | None) -> dict[str, str]:
    word = "bf16" if bits == 16 else f"int{bits}"
    if word not in BITS:
        raise WorkloadFault(
            f"quantization_config.bits: expected 4, 8 or 16, found {bits}; name precision and"
            " weights_gib instead."
        )
    return {"precision": word} | ({"quant": quant} if quant else {})


LOCAL = ("llama.cpp", "ik_llama.cpp", "ollama", "lm-studio", "koboldcpp", "mlx", "mlx-lm")
LOCAL_MIXES = LOCAL[:5]
LOCAL_TOO = ("mxfp4",)
"""Engines that load files of their own, and the types as published that those hold too: a GGUF or
MLX file of gpt-oss is MXFP4, one of a checkpoint in FP8 is made anew (llama.cpp,
convert_hf_to_gguf.py)."""
RUNS = ("inference", "decode", "prefill", "serve")


class Format(Struct, frozen=True):
    """A workload with the type of its weights, and what of it was not said but read from the name
    or taken as published, by field."""

    workload: Workload
    assumed: dict[str, str] = {}


def formatted(workload: Workload, zoo: Zoo) -> Format:
    """Return the workload with the type in which its weights lie: as its words say (`--precision
    awq` is a way of quantising), else as its model's name says, else as the model is published. An
    explicit precision wins over the name. Weights that train in full have none of these."""
    task = workload.task or "inference"
    worded = _worded(workload)
    if workload.model is None or workload.config is not None or task in ("train_full", "pretrain"):
        return Format(worded)
    named, runs = read_name(workload.model), task in RUNS
    fields: dict[str, Any] = {}
    if worded.stack is None and runs and named.stack:
        fields["stack"] = named.stack
    bits = read_name(f"x-{(workload.precision or '').casefold()}").bits_per_weight
    if bits and worded.weights_gib is None:
        fields["weights_gib"] = _weighed(worded, zoo, bits)
    if worded.precision is None and worded.quant is None and worded.weights_gib is None:
        if task != "train" and named.precision and not named.usual:
            fields |= {"precision": named.precision, "quant": named.quant}
            if named.bits_per_weight and (size := _weighed(worded, zoo, named.bits_per_weight)):
                fields["weights_gib"] = size
        elif runs and (native := _published(worded, zoo, fields.get("stack", worded.stack))):
            fields["precision"] = native
        elif runs and named.usual:
            fields["precision"] = named.precision
    file = fields.get("precision", worded.precision)
    if runs and (kept := _only_type(worded, zoo, file, fields.get("stack", worded.stack))):
        fields["precision"] = kept
    fields = {name: value for name, value in fields.items() if value is not None}
    told = {name: str(value) for name, value in fields.items() if name != "weights_gib"}
    if fields and (tag := usual_tag(workload.model)):
        told["model"] = tag
    elif zoo.named(workload.model) is None and (kin := zoo.taken_for(workload.model)):
        told["model"] = kin.slug
    return Format(msgspec.structs.replace(worded, **fields), told)


def _worded(workload: Workload) -> Workload:
    """The workload with precisions as engines and files write them: `AWQ`, `Q4_K_M`, `4bit`,
    `fp8-dynamic`, `UD-Q4_K_XL`."""
    word = (workload.precision or "").casefold()
    if not word or word == workload.precision in BITS:
        return workload
    if word in BITS:
        return msgspec.structs.replace(workload, precision=word)
    read = read_name(f"x-{word}")
    if read.model != "x" or read.precision is None or read.usual:
        return workload
    return msgspec.structs.replace(
        workload, precision=read.precision, quant=workload.quant or read.quant
    )


def _published(workload: Workload, zoo: Zoo, stack: str | None) -> str | None:
    """The type in which the model's maker publishes it, where the engine loads that."""
    model = zoo.get(workload.model or "")
    if model is None or model.stored is None:
        return None
    word = model.stored.precision
    return None if stack and stack.casefold() in LOCAL and word not in LOCAL_TOO else word


BLOCK = 256
"""Values of a block of llama.cpp's mixes (ggml-common.h, QK_K): rows of other lengths are not
stored so."""


def _only_type(workload: Workload, zoo: Zoo, word: str | None, stack: str | None) -> str | None:
    """The type of the experts in every file that llama.cpp loads of a network, whatever the file is
    called, where its rows are of a length that the mixes do not divide: gpt-oss's F16, Q4_K_M and
    Q8_0 hold the MXFP4 that its maker publishes."""
    model = zoo.get(workload.model or "")
    loads = (stack or "llama.cpp").casefold() in LOCAL_MIXES
    mixed = word in GGUF or (word is not None and stack is not None and BITS.get(word, 0.0) >= 16)
    if model is None or model.stored is None or not (loads and mixed):
        return None
    width = (model.config or {}).get("hidden_size") or BLOCK
    native = model.stored.precision
    return native if native in LOCAL_TOO and width % BLOCK and word != native else None


def _weighed(workload: Workload, zoo: Zoo, bits: float) -> float | None:
    """GiB of a file whose name states bits per weight (exllama)."""
    try:
        return resolve(workload, zoo).params * bits / 8 / 2**30
    except WorkloadFault:
        return None
