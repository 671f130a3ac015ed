"""Devices that compute in int8 alone, against what their maker publishes."""

from statistics import median

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload

PUBLISHED = {
    "Hailo-8": {
        "resnet18": (2534, 2534),
        "resnet34": (1347, 1347),
        "resnet50": (1332, 1332),
        "resnext50_32x4d": (398, 398),
        "googlenet": (929, 929),
        "mobilenet_v2": (2444, 2444),
        "squeezenet1_1": (3035, 3035),
        "regnet_x_1_6gf": (2322, 2322),
        "vit_b_16": (34.6, 126),
        "yolov5m": (83.7, 151),
        "yolov5s": (380, 380),
    },
    "Hailo-8L": {
        "resnet18": (1281, 1281),
        "resnet34": (162, 484),
        "resnet50": (138, 501),
        "resnext50_32x4d": (126, 348),
        "googlenet": (309, 882),
        "mobilenet_v2": (1738, 1738),
        "squeezenet1_1": (2514, 2514),
        "regnet_x_1_6gf": (1339, 1339),
        "vit_b_16": (20, 58),
        "swin_t": (23, 58),
    },
    "Hailo-10H": {
        "resnet18": (2210, 2203),
        "resnet34": (348, 1008),
        "resnet50": (310, 1007),
        "resnext50_32x4d": (262, 705),
        "googlenet": (1308, 1308),
        "mobilenet_v2": (2265, 2277),
        "squeezenet1_1": (2252, 2244),
        "regnet_x_1_6gf": (2207, 2215),
        "vit_b_16": (47, 135),
        "swin_t": (37, 97),
    },
}
"""Frames a second at batch 1 and 8: Hailo Model Zoo, docs/PUBLIC_MODELS_HAILO8.rst (v2.10) and
docs/public_models of HAILO8L (v2.15) and HAILO10H (v5.0), read 2026-11-23. The constants were set
by the ResNets, RepVGG and ViT of Hailo-8 and Hailo-8L."""


def speed(gpu: str, model: str, **fields: object) -> SpeedEstimate:
    workload = Workload(model=model, **fields)  # type: ignore[arg-type]
    return predict_speed(workload, find_gpu(gpu), 1, 1, "none", shipped_zoo())


def test_frames_a_second_as_published() -> None:
    errors, inside = [], []
    for gpu, networks in PUBLISHED.items():
        for model, measured in networks.items():
            for batch, fps in zip((1, 8), measured, strict=True):
                told = speed(gpu, model, batch_per_gpu=batch)
                errors.append(abs(told.value / fps - 1))
                inside.append(told.low <= fps <= told.high)
    assert median(errors) < 0.3
    assert sum(inside) / len(inside) >= 0.85


def test_weights_that_the_chip_does_not_hold_come_anew() -> None:
    alone, eight = speed("Hailo-8L", "resnet50"), speed("Hailo-8L", "resnet50", batch_per_gpu=8)
    assert alone.bound == "pcie"
    assert eight.value > 3 * alone.value
    assert speed("Hailo-8", "resnet50").bound == "compute"
    assert speed("TPU v1", "resnet50").bound == "bandwidth"


def test_an_int8_device_is_asked_in_int8() -> None:
    said = speed("Coral USB", "resnet50", precision="int8", task="inference", batch_per_gpu=1)
    assert speed("Coral USB", "resnet50").value == said.value
    assert speed("Coral USB", "mobilenet_v2").value > 10 * speed("Coral USB", "resnet50").value
    with pytest.raises(WorkloadFault, match="has no fp16 arithmetic; use int8"):
        speed("Coral USB", "resnet50", precision="fp16")
    with pytest.raises(WorkloadFault, match="trains none"):
        speed("Coral USB", "resnet50", task="train")
