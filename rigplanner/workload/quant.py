"""Bytes that a stored weight takes, by the name of the format."""

from __future__ import annotations

import re

from rigplanner.workload.weight_formats import dynamic

BITS = {
    "fp32": 32.0,
    "tf32": 32.0,
    "fp16": 16.0,
    "bf16": 16.0,
    "fp8": 8.0,
    "int8": 8.0,
    "int4": 4.0,
    "fp4": 4.0,
    "nf4": 4.0,
    "mxfp8": 8.25,
    "nvfp4": 4.5,
    "mxfp4": 4.25,
    "q2_k": 2.625,
    "q3_k_s": 3.4375,
    "q3_k_m": 3.91,
    "q3_k_l": 4.27,
    "q4_0": 4.5,
    "q4_1": 5.0,
    "q4_k_s": 4.58,
    "q4_k_m": 4.85,
    "q5_0": 5.5,
    "q5_1": 6.0,
    "q5_k_s": 5.54,
    "q5_k_m": 5.69,
    "q6_k": 6.5625,
    "q8_0": 8.5,
    "f16": 16.0,
    "f32": 32.0,
    "iq1_s": 1.5625,
    "iq2_xxs": 2.0625,
    "iq2_xs": 2.3125,
    "q2_k_s": 2.5,
    "q3_k": 3.4375,
    "q4_k": 4.5,
    "q5_k": 5.5,
    "q8_k": 9.125,
    "iq1_m": 1.75,
    "iq2_s": 2.5625,
    "iq2_m": 2.7,
    "iq3_xs": 3.3,
    "iq3_m": 3.66,
    "iq3_xxs": 3.0625,
    "iq3_s": 3.4375,
    "iq4_nl": 4.5,
    "iq4_xs": 4.25,
    "tq1_0": 1.6875,
    "tq2_0": 2.0625,
    "iq2_k": 2.375,
    "iq3_k": 3.4375,
    "iq4_k": 4.5,
    "iq5_k": 5.5,
    "iq6_k": 6.625,
    "iq2_ks": 2.1875,
    "iq3_ks": 3.1875,
    "iq4_ks": 4.25,
    "iq5_ks": 5.25,
    "q3_k_xl": 4.6,
    "q4_k_l": 5.1,
    "q5_k_l": 5.9,
    "q6_k_l": 6.7,
} | {word: found.small for word, found in dynamic().items()}
"""Bits per weight of the quantised matrices. GGUF block formats: bytes of a block over its values
(ggml's type table); the mixed k-quants by llama.cpp's own table for a 7B model; mxfp4 adds one byte
per 32, nvfp4 one per 16."""

GGUF = tuple(word for word in BITS if word.startswith(("q", "iq", "tq", "ud-")))
"""The block formats of llama.cpp's files; they quantise the embedding too."""

SCALES = {
    "bnb": 0.5,
    "bnb_double": 0.127,
    "gptq": 0.25,
    "awq": 0.25,
    "autoround": 0.25,
    "torchao": 0.25,
    "hqq": 0.5,
    "mlx": 0.5,
}
"""Bits per weight of scales: bitsandbytes one fp32 per 64 values, double-quantised 8 bits per 64
plus fp32 per 256 blocks (QLoRA, arXiv 2305.14314); GPTQ and AWQ one fp16 scale and a zero per 128,
MLX a scale and a bias of 16 bits per 64."""

SAME_SCALES = {
    "bitsandbytes": "bnb",
    "qlora": "bnb",
    "autoawq": "awq",
    "auto-awq": "awq",
    "autogptq": "gptq",
    "auto-gptq": "gptq",
    "gptqmodel": "gptq",
    "auto-round": "autoround",
    "optimum-quanto": "quanto",
}
"""Names of libraries for the ways of quantising that they write."""

ROW_SCALES = 0.02
"""Bits per weight where a row of the matrix has one scale: int8 of bitsandbytes (LLM.int8, arXiv
2208.07339, section 3), fp8."""

KV_BITS = {
    "fp32": 32.0,
    "fp16": 16.0,
    "bf16": 16.0,
    "f16": 16.0,
    "fp8": 8.0,
    "int8": 8.25,
    "q8_0": 8.5,
    "q4_0": 4.5,
    "q5_0": 5.5,
    "q4_1": 5.0,
    "q5_1": 6.0,
    "iq4_nl": 4.5,
    "q4": 4.5,
    "q6": 6.5,
    "q8": 8.5,
    "int4": 4.5,
    "turboquant_3bit": 3.5,
    "tq3_0": 3.5,
}
"""Bits per cached value, scales included; q4, q6 and q8 are exllama's."""


EXL = {"exl2": 6.0, "exl3": 6.0}
"""Bits per weight of the head in exllama's own formats, unless told otherwise (head_bits); their
bits per weight are those of the matrices with all scales (exllamav2 and exllamav3, convert.py)."""


def stored_as(precision: str | None, quant: str | None) -> str | None:
    """The type in which weights lie, as a workload's two words mean it: `q4_k_m` or `nf4` as the
    way of quantising is the type itself, whatever the arithmetic's precision; None where neither
    says."""
    word = (quant or "").casefold()
    return word if word in BITS else precision


USUAL = {
    "gptq": "int4",
    "awq": "int4",
    "autoround": "int4",
    "hqq": "int4",
    "mlx": "int4",
    "marlin": "int4",
    "machete": "int4",
    "w4a16": "int4",
    "w4a8": "int4",
    "nunchaku": "int4",
    "svdquant": "int4",
    "bnb": "nf4",
    "bnb_double": "nf4",
    "w8a8": "int8",
    "w8a16": "int8",
    "smoothquant": "int8",
    "eetq": "int8",
}
"""The type that a way of quantising leaves unless told otherwise: what its name says or its
library's default is (GPTQModel's and AutoRound's bits, AutoAWQ's w_bit, HqqConfig's nbits, mlx_lm's
q_bits, vLLM's loading with bitsandbytes: four)."""


def usual_type(quant: str | None) -> str | None:
    """The type of weights that a way of quantising names: by a type or width in its name
    (`gptq-int8`, `bnb_8bit`), else its usual one; None where neither tells, as with
    `compressed-tensors`."""
    word = (quant or "").casefold()
    if word in SAME_SCALES or word in USUAL:
        return USUAL.get(SAME_SCALES.get(word, word))
    parts = re.split(r"[-_+/. ]", word)
    if told := next((part for part in parts if BITS.get(part, 16.0) < 16), None):
        return told
    usual = next(
        (USUAL[name] for part in parts if (name := SAME_SCALES.get(part, part)) in USUAL), None
    )
    width = re.search(r"(?<![a-z0-9])(\d+)[-_ ]?bits?(?![a-z])", word)
    if width is None:
        return usual
    return (
        usual
        if usual and BITS[usual] == int(width[1])
        else {"4": "int4", "8": "int8"}.get(width[1])
    )


def frozen_as(precision: str | None, quant: str | None) -> str | None:
    """The type in which weights that do not train lie: as told, else as the way of quantising
    leaves them. `fp16` beside `gptq` is the arithmetic's precision, not the weights'."""
    word = stored_as(precision, quant)
    narrow = word is not None and BITS.get(word.casefold(), 16.0) < 16
    return word if narrow else usual_type(quant) or word


def weight_bytes(precision: str, quant: str | None, params: float, embedding: float) -> float:
    """Bytes of the weights: matrices in `precision`, the embedding and head in 16 bits unless the
    format quantises them too."""
    bits = BITS[precision]
    if bits >= 16:
        return params * bits / 8
    if quant in EXL:
        return (params - embedding) * bits / 8 + embedding * (16.0 + EXL[quant]) / 2 / 8
    if precision in GGUF:
        return params * bits / 8
    scales = SCALES.get(
        quant or "",
        0.5 if precision in ("nf4", "fp4") else 0.25 if precision == "int4" else ROW_SCALES,
    )
    if precision == "int8" and quant and quant.startswith("bnb"):
        scales = ROW_SCALES
    if precision == "mxfp4":
        scales = 0.0
    return (params - embedding) * (bits + scales) / 8 + embedding * 2


def left_whole(precision: str, quant: str | None, embedding: float, side: float) -> float:
    """Parameters that stay in 16 bits: embedding and head, and networks that see or hear, which the
    publishers of GPTQ and AWQ files leave alone; bitsandbytes takes every linear layer it finds but
    the head (transformers, replace_with_bnb_linear)."""
    every = (quant or "").startswith("bnb") or (quant is None and precision in ("nf4", "fp4"))
    return embedding if every else embedding + side
