"""Names with the format of the weights in them, as hubs, engines and files write them."""

import pytest

from rigplanner.catalog.find.stored_names import read_name
from rigplanner.catalog.zoo import shipped_zoo

NAMES = """
Qwen/Qwen2.5-72B-Instruct-AWQ | qwen2.5-72b | int4 | awq | -
Qwen/Qwen3-32B-GPTQ-Int8 | qwen3-32b | int8 | gptq | -
hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4 | llama-3.1-70b | int4 | awq | -
neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w4a16 | llama-3.1-70b | int4 | gptq | -
RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic | llama-3.3-70b | fp8 | - | -
nvidia/DeepSeek-R1-NVFP4 | deepseek-r1 | nvfp4 | - | -
nvidia/Llama-3.3-70B-Instruct-FP4 | llama-3.3-70b | nvfp4 | - | -
unsloth/Qwen3-14B-unsloth-bnb-4bit | qwen3-14b | nf4 | bnb | -
mlx-community/Qwen3-30B-A3B-4bit | qwen3-30b-a3b | int4 | mlx | mlx
lmstudio-community/Qwen3-8B-MLX-4bit | qwen3-8b | int4 | mlx | mlx
unsloth/DeepSeek-R1-GGUF:UD-IQ1_S | deepseek-r1 | ud-iq1_s | - | llama.cpp
hf.co/unsloth/Qwen3-30B-A3B-GGUF:Q5_K_M | qwen3-30b-a3b | q5_k_m | - | llama.cpp
bartowski/Qwen2.5-72B-Instruct-GGUF | qwen2.5-72b | q4_k_m | - | llama.cpp
models/Meta-Llama-3.1-8B-Instruct-IQ4_XS.gguf | llama-3.1-8b | iq4_xs | - | llama.cpp
Llama-3.3-70B-Instruct-UD-Q4_K_XL-00001-of-00002.gguf | llama-3.3-70b | ud-q4_k_xl | - | llama.cpp
gpt-oss-20b-mxfp4.gguf | gpt-oss-20b | mxfp4 | - | llama.cpp
Llama-3.3-70B-Instruct-4.25bpw-h6-exl2 | llama-3.3-70b | int4 | exl2 | exllamav2
llama3.1:70b-instruct-q4_K_M | llama-3.1-70b | q4_k_m | - | ollama
qwen2.5:72b-instruct-q8_0 | qwen2.5-72b | q8_0 | - | ollama
qwen3:30b | qwen3-30b-a3b | q4_k_m | - | ollama
gpt-oss:20b | gpt-oss-20b | q4_k_m | - | ollama
mlx-community/Qwen3-8B-6bit | qwen3-8b | int4 | mlx | mlx
lmstudio-community/Qwen3-Coder-Next-MLX-6bit | qwen3-next-80b-a3b | int4 | mlx | mlx
openai/gpt-oss-120b | gpt-oss-120b | - | - | -
llama-3.1-8b | llama-3.1-8b | - | - | -
Qwen3-30B-A3B-Thinking-2507 | qwen3-30b-a3b | - | - | -
whisper-large-v3 | whisper-large | - | - | -
"""


@pytest.mark.parametrize("line", NAMES.strip().splitlines())
def test_a_name_says_model_format_and_engine(line: str) -> None:
    name, slug, precision, quant, stack = (word.strip() for word in line.split("|"))
    read = read_name(name)
    model = shipped_zoo().get(name)
    assert model is not None and model.slug == slug
    found = (read.precision or "-", read.quant or "-", read.stack or "-")
    assert found == (precision, quant, stack)


def test_a_type_that_the_engine_takes_by_itself_is_told_as_such() -> None:
    assert read_name("bartowski/Qwen2.5-72B-Instruct-GGUF").usual
    assert read_name("llama3.1:70b").usual
    assert not read_name("llama3.1:70b-instruct-q4_K_M").usual


def test_bits_of_a_weight_in_a_name_are_read() -> None:
    assert read_name("Llama-3.3-70B-Instruct-4.25bpw-h6-exl2").bits_per_weight == 4.25


@pytest.mark.parametrize(
    "name", ["", "-", "a" * 5000, "gguf", "q4_k_m", ":", "4bit", "//", "x:y:z"]
)
def test_odd_names_are_read_without_a_fault(name: str) -> None:
    assert isinstance(read_name(name).model, str)


def test_every_name_of_the_zoo_means_itself() -> None:
    zoo = shipped_zoo()
    for slug, model in zoo.models.items():
        assert zoo.get(slug) is model
        assert zoo.get(f"{slug}-GGUF:Q4_K_M") is not None or model.kind not in ("llm", "moe")
