"""The closed form of a walk equals the walk."""

import msgspec
import pytest

from rigplanner.workload import closed
from rigplanner.workload.net import Setting

CONFIGS = {
    "decoder": {"model_type": "qwen3", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4,
                "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 3000},
    "encoder": {"model_type": "bert", "hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 900},
    "experts": {"model_type": "mixtral", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
    "num_attention_heads": 4,
                "num_key_value_heads": 2, "num_local_experts": 4, "vocab_size": 800},
    "wide ends": {"model_type": "gpt_neox", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3,
    "num_attention_heads": 4, "vocab_size": 50000},
    "image": {"model_type": "resnet", "depths": [1, 1, 1, 1]},
}  # fmt: skip


SIZES = [(1, 96), (1, 777), (2, 96), (5, 224), (4, 777), (17, 480)]
CASES = [(kind, size) for kind in CONFIGS for size in SIZES if kind != "image" or size[0] > 1]
"""An image network of one image has no form: one size tells nothing of another."""


@pytest.mark.parametrize(("kind", "sizes"), CASES)
@pytest.mark.parametrize("checkpointing", [False, True])
def test_equals_the_walk(kind: str, checkpointing: bool, sizes: tuple[int, int]) -> None:
    batch, length = sizes
    config, image = msgspec.json.encode(CONFIGS[kind]), kind == "image"
    size = 224 if image else length
    setting = Setting(batch=min(2, batch), length=224 if image else 64, checkpointing=checkpointing)
    form = closed._form(closed._Shape(config, setting, "fp32", "adamw", True, not image))
    assert form is not None
    walked = closed._walk(config, msgspec.structs.replace(setting, batch=batch, length=size), "fp32", "adamw", True)
    found = closed.evaluate(form, batch, size)
    assert (found.peak, found.forward_flops, found.weights, found.trained) == (
        walked.peak,
        walked.forward_flops,
        walked.weights,
        walked.trained,
    )
