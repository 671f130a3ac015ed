"""What image networks keep, counted from their layers: against a count by hand, between sizes and
precisions, and by name."""

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.kept_values import kept_bytes
from rigplanner.rig.workload import Workload

VGG11 = ((64,), (128,), (256, 256), (512, 512), (512, 512))
"""Channels between the pools (Simonyan and Zisserman 2014, table 1, column A)."""


def test_a_vgg_keeps_what_its_layers_are_given() -> None:
    """Each convolution its input, which the ReLU before it wrote in place; each pool its input and
    indices of 8 bytes; the linear layers their inputs, of which the last two come from a ReLU and a
    dropout that drops nothing."""
    edge, values, indices = 224, 3 * 224**2, 0
    for channels in VGG11:
        values += sum(channels) * edge**2
        edge //= 2
        values += channels[-1] * edge**2
        indices += channels[-1] * edge**2
    values += 2 * 4096
    assert kept_bytes("vgg11", 224, "fp32") == pytest.approx(4 * values + 8 * indices, rel=0.01)
    assert kept_bytes("vgg11", 224, "amp_fp16") == pytest.approx(2 * values + 8 * indices, rel=0.01)


def test_a_size_that_was_not_counted_grows_with_the_area() -> None:
    near, far = kept_bytes("resnet18d", 224, "amp"), kept_bytes("resnet18d", 448, "amp")
    assert near is not None
    assert far == pytest.approx(4 * near, rel=0.001)


def test_pure_sixteen_bits_take_half_of_single_precision() -> None:
    single, half = (
        kept_bytes("convnext_tiny", 224, "fp32"),
        kept_bytes("convnext_tiny", 224, "bf16"),
    )
    mixed = kept_bytes("convnext_tiny", 224, "amp_bf16")
    assert single is not None
    assert half == single / 2
    assert mixed is not None
    assert mixed > half, "autocast keeps float copies for the norms"


@pytest.mark.parametrize("name", ["tv_resnet50", "gluon_resnet50_v1b", "ssl_resnet50"])
def test_weights_do_not_change_what_layers_keep(name: str) -> None:
    assert kept_bytes(name, 224, "amp") == kept_bytes("resnet50", 224, "amp")


def test_a_network_that_was_not_counted_is_told_by_its_class() -> None:
    assert kept_bytes("yolov5m", 640, "amp") is None
    assert kept_bytes("no_such_network", 224, "amp") is None


def test_memory_grows_by_what_each_image_keeps() -> None:
    def live(batch: int) -> float:
        asked = Workload(
            model="seresnet50",
            task="train_full",
            precision="amp_fp16",
            image_size=224,
            batch_per_gpu=batch,
            stack="timm",
        )
        return estimate_memory(asked, None, 1, shipped_zoo()).tensors_gib

    each = kept_bytes("seresnet50", 224, "amp_fp16")
    assert each is not None
    assert live(128) - live(64) == pytest.approx(64 * each / 2**30, rel=0.05)


def test_a_stack_that_writes_scores_does_not_where_fused_attention_is_asked_for() -> None:
    def live(attention: str | None) -> float:
        asked = Workload(
            model="vit_base_patch16_224",
            task="train_full",
            precision="amp_fp16",
            batch_per_gpu=64,
            stack="timm",
            attention=attention,
        )
        return estimate_memory(asked, None, 1, shipped_zoo()).tensors_gib

    assert live(None) == live("eager") > live("sdpa")
