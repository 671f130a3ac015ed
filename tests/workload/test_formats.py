"""The type of stored weights: by words, by name, as published; bits of llama.cpp's mixes."""

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.rig.workload import Workload
from rigplanner.workload.mixes import file_bits
from rigplanner.workload.network import resolve
from rigplanner.workload.quant import BITS
from rigplanner.workload.stored import formatted
from rigplanner.workload.weight_formats import dynamic, mixes

PUBLISHED_8B = {
    "iq1_s": 2.00, "iq1_m": 2.15, "iq2_xxs": 2.38, "iq2_xs": 2.59, "iq2_s": 2.74, "iq2_m": 2.93,
    "q2_k_s": 2.97, "q2_k": 3.16, "iq3_xxs": 3.25, "iq3_xs": 3.50, "q3_k_s": 3.64, "iq3_s": 3.66,
    "iq3_m": 3.76, "q3_k_l": 4.30, "iq4_xs": 4.46, "q4_k_s": 4.67, "iq4_nl": 4.68, "q4_k_m": 4.89,
    "q5_k_s": 5.57, "q5_k_m": 5.70, "q6_k": 6.56, "q8_0": 8.50,
}  # fmt: skip
"""Bits per weight of whole files of Llama-3.1-8B (llama.cpp, tools/quantize/README.md)."""


@pytest.mark.parametrize(("word", "bits"), PUBLISHED_8B.items())
def test_bits_by_kind_of_tensor_give_the_published_file(word: str, bits: float) -> None:
    network = resolve(Workload(model="llama-3.1-8b"), shipped_zoo())
    assert file_bits(word, network) == pytest.approx(bits, rel=0.01)


def test_every_mix_names_types_that_are_known_and_is_a_precision() -> None:
    for name, mix in mixes().items():
        assert name in BITS and mix.rest in BITS and mix.output in BITS
    assert set(dynamic()) <= set(BITS)


def _read(model: str, **fields: object) -> tuple[str | None, str | None, str | None]:
    made = formatted(Workload(model=model, **fields), shipped_zoo()).workload
    return made.precision, made.quant, made.stack


@pytest.mark.parametrize(
    ("model", "fields", "expected"),
    [
        ("Qwen/Qwen3-8B-FP8", {"task": "inference"}, ("fp8", None, None)),
        ("Qwen/Qwen3-8B-FP8", {"precision": "bf16"}, ("bf16", None, None)),
        ("gpt-oss-120b", {"task": "serve"}, ("mxfp4", None, None)),
        ("gpt-oss:20b", {"task": "inference"}, ("mxfp4", None, "ollama")),
        ("ggml-org/gpt-oss-120b-GGUF", {}, ("mxfp4", None, "llama.cpp")),
        ("unsloth/gpt-oss-20b-GGUF:Q4_K_M", {}, ("mxfp4", None, "llama.cpp")),
        ("gpt-oss-20b", {"precision": "f16", "stack": "llama.cpp"}, ("mxfp4", None, "llama.cpp")),
        ("gpt-oss-20b", {"precision": "bf16", "stack": "vllm"}, ("bf16", None, "vllm")),
        ("deepseek-v4-flash", {"precision": "q4_k_m"}, ("q4_k_m", None, None)),
        ("deepseek-r1", {"stack": "vllm"}, ("fp8", None, "vllm")),
        ("deepseek-r1", {"stack": "llama.cpp"}, (None, None, "llama.cpp")),
        ("deepseek-r1", {"task": "train_lora"}, (None, None, None)),
        ("unsloth/Llama-3.2-3B-Instruct-bnb-4bit", {"task": "train_qlora"}, ("nf4", "bnb", None)),
        ("Qwen/Qwen3-8B-FP8", {"task": "train_full"}, (None, None, None)),
        ("qwen3-8b", {"precision": "awq"}, ("int4", "awq", None)),
        ("qwen3-8b", {"precision": "GPTQ"}, ("int4", "gptq", None)),
        ("qwen3-8b", {"precision": "UD-Q4_K_XL"}, ("ud-q4_k_xl", None, None)),
        ("qwen3-8b", {"precision": "4bit"}, ("int4", None, None)),
        ("qwen3-8b", {"precision": "fp9"}, ("fp9", None, None)),
    ],
)
def test_format_by_word_name_and_publisher(
    model: str, fields: dict[str, str], expected: tuple[str | None, str | None, str | None]
) -> None:
    assert _read(model, **fields) == expected


def test_what_was_read_from_a_name_is_told() -> None:
    made = formatted(Workload(model="Qwen/Qwen3-8B-AWQ", task="inference"), shipped_zoo())
    assert made.assumed == {"precision": "int4", "quant": "awq"}
    assert formatted(made.workload, shipped_zoo()).assumed == {}


@pytest.mark.parametrize(
    "said",
    [{"model": "Llama-3.1-70B-4.25bpw-exl2"}, {"model": "llama-3.1-70b", "precision": "4.25bpw"}],
)
def test_a_file_whose_name_or_type_states_its_bits_has_that_size(said: dict[str, str]) -> None:
    made = formatted(Workload(**said), shipped_zoo()).workload
    assert made.weights_gib == pytest.approx(70.55e9 * 4.25 / 8 / 2**30, rel=0.01)
