"""What people, engines and trainers say of a job, in a workload's own words."""

from typing import Any

import pytest

from rigplanner.performance.software.stacks import shipped_stacks
from rigplanner.rig.own_words import _words, in_own_words, own_stack
from rigplanner.rig.workload import Workload
from rigplanner.workload.job import TASKS
from rigplanner.workload.limits import ATTENTIONS
from rigplanner.workload.preference import PREFERENCE
from rigplanner.workload.quant import BITS, KV_BITS
from rigplanner.workload.stacks import memory_stacks


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ({"task": "LoRA"}, {"task": "train_lora"}),
        ({"task": "fine-tuning"}, {"task": "train_full"}),
        ({"precision": "bfloat16"}, {"precision": "bf16"}),
        ({"precision": "Q4"}, {"precision": "q4_k_m"}),
        ({"precision": "iq4_xs"}, {"precision": "iq4_xs"}),
        ({"--cache-type-k": "q8"}, {"kv_precision": "q8_0"}),
        ({"kv_cache_dtype": "auto"}, {"kv_precision": None}),
        ({"-fa": "on"}, {"attention": "flash"}),
        ({"attn_implementation": "flash-attn-2"}, {"attention": "flash2"}),
        ({"--max-model-len": "32k"}, {"seq_len": 32_768}),
        ({"train_tokens": "15T"}, {"train_tokens": 15 * 10**12}),
        ({"resolution": "1280x720"}, {"image_size": [720, 1280]}),
        ({"seq_len": "long"}, {"seq_len": "long"}),
        ({"--tensor-parallel-size": 4, "zero": 3}, {"parallelism": {"tensor": 4, "zero": 3}}),
        ({"tp": 4, "parallelism": {"tensor": 2}}, {"parallelism": {"tensor": 2}}),
        ({"tp": 4, "parallelism": {"zero": 3}}, {"parallelism": {"tensor": 4, "zero": 3}}),
        ({"tp": 4, "parallelism": "all"}, {"parallelism": "all"}),
        ({"tp": 4, "parallelism": None}, {"parallelism": {"tensor": 4}}),
        (
            {"stack": "vLLM==0.11.2"},
            {"stack": "vLLM", "framework_text": "vLLM==0.11.2"},
        ),
        ({"stack": "axolotl"}, {"stack": "axolotl", "task": "train_lora"}),
        ({"stack": "axolotl", "task": "serve"}, {"stack": "axolotl", "task": "serve"}),
    ],
)
def test_words_of_others_become_a_workloads_own(said: dict[str, Any], own: dict[str, Any]) -> None:
    assert in_own_words(said) == own


def test_a_stack_goes_by_many_names() -> None:
    assert own_stack("Transformers") == own_stack("hugging face") == "hf-transformers"
    assert own_stack("transformers", "train_lora") == "hf-trainer"
    assert own_stack("LM Studio") == "lm-studio"
    assert own_stack("llama.cpp b7010") == own_stack("llama-server") == "llama.cpp"
    assert own_stack("ik_llama.cpp") == "ik_llama.cpp"


def test_every_word_leads_to_one_that_is_heard() -> None:
    words, stacks = _words(), shipped_stacks().keys() | memory_stacks().keys()
    assert {field.partition(".")[0] for field in words.fields.values()} <= set(
        Workload.__struct_fields__
    )
    assert set(words.task.values()) <= {*TASKS, *PREFERENCE}
    assert set(words.precision.values()) <= BITS.keys()
    assert set(words.kv_precision.values()) - {None} <= KV_BITS.keys()
    assert set(words.attention.values()) <= {*ATTENTIONS}
    for others in words.stack.values():
        assert {others} <= stacks if isinstance(others, str) else {*others} <= stacks
    assert words.trains.keys() <= stacks | words.stack.keys()
    assert set(words.trains.values()) <= {*TASKS, *PREFERENCE}
