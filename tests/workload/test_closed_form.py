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
    "image": {"model_type": "resnet", "depths": [1, 1, 1, 1]},
}  # fmt: skip


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize(("batch", "length"), [(2, 96), (5, 224), (17, 480)])
def test_equals_the_walk(kind: str, checkpointing: bool, batch: int, length: int) -> None:
    config, image = msgspec.json.encode(CONFIGS[kind]), kind == "image"
    size = 224 if image else length
    setting = Setting(batch=2, length=224 if image else 64, checkpointing=checkpointing)
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
