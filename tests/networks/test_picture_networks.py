"""Networks that see or draw: detectors and segmenters as they are trained, denoisers, towers of
multimodal models, parts."""

import json
from pathlib import Path
from typing import Any

import pytest

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.networks.families.diffusion.denoisers import denoiser_config
from rigplanner.networks.families.multimodal.vision_parameters import tower_params
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.readers import model_fields

GIB = 2.0**30
LLAVA = {
    "model_type": "llava",
    "text_config": {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "intermediate_size": 11008,
        "vocab_size": 32064,
    },
    "vision_config": {
        "model_type": "clip_vision_model",
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "image_size": 336,
        "patch_size": 14,
    },
}


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def estimate(zoo: Zoo, **fields: Any) -> MemoryEstimate:
    return estimate_memory(
        Workload(**{"task": "train_full", "precision": "fp32", "batch_per_gpu": 2, **fields}),
        None,
        1,
        zoo,
    )


def network(zoo: Zoo, config: dict[str, Any]) -> Network:
    return resolve(Workload(config=config, task="inference"), zoo)


def trained(zoo: Zoo, model: str, stack: str, **fields: Any) -> float:
    usual: dict[str, Any] = {"image_size": [800, 1333], "optimizer": "sgd_momentum"}
    return estimate(zoo, model=model, stack=stack, **{**usual, **fields}).allocated_gib


def test_deeper_backbones_cost_what_their_blocks_keep(zoo: Zoo) -> None:
    """17 more blocks of ResNet-101: two maps a convolution with evaluated norms (MMDetection lists
    4.0 and 6.0 GB for Faster R-CNN on eight GPUs), one with frozen ones (detectron2: 3.0 and 4.1
    GB)."""
    for stack, more in (("mmdet", 1.9), ("detectron2", 1.1)):
        shallow, deep = (
            trained(zoo, f"faster-rcnn-{depth}-fpn", stack) for depth in ("r50", "r101")
        )
        assert deep - shallow == pytest.approx(more, abs=0.2)


def test_masks_and_stages_of_a_cascade_cost_more(zoo: Zoo) -> None:
    boxes, masks, cascade = (
        trained(zoo, f"{kind}-r50-fpn", "mmdet")
        for kind in ("faster-rcnn", "mask-rcnn", "cascade-mask-rcnn")
    )
    assert boxes + 0.2 < masks < boxes + 0.6
    assert cascade > masks + 1.0


def test_images_that_are_not_square_count_by_their_sides(zoo: Zoo) -> None:
    wide, tall = (
        trained(zoo, "deeplabv3-r50", "mmseg", image_size=sides)
        for sides in ([512, 1024], [1024, 512])
    )
    square = trained(zoo, "deeplabv3-r50", "mmseg", image_size=512)
    assert wide == pytest.approx(tall, rel=0.001) and wide > 1.5 * square


@pytest.mark.parametrize(
    ("slug", "params_m"),
    [
        ("sd-1.4", 859.520964),
        ("sdxl-base", 2567.463684),
        ("flux.1-dev", 11901.408320),
        ("sd-3.5-large", 8056.627),
    ],
)
def test_denoisers_have_the_parameters_of_their_files(zoo: Zoo, slug: str, params_m: float) -> None:
    model = zoo.get(slug)
    assert model is not None and model.denoiser is not None
    assert network(zoo, model.denoiser).params == pytest.approx(1e6 * params_m, rel=1e-6)


def test_recomputing_a_denoiser_saves_what_its_blocks_keep(zoo: Zoo) -> None:
    usual = {
        "model": "sdxl-base",
        "task": "train_lora",
        "precision": "bf16",
        "optimizer": "adamw",
        "image_size": 1024,
        "stack": "diffusers",
    }
    kept, again = (
        estimate(zoo, gradient_checkpointing=word, **usual).parts.activations_gib
        for word in ("none", "full")
    )
    assert kept > 5 * again


def test_gradients_summed_over_passes_are_there_all_the_time(zoo: Zoo) -> None:
    usual: dict[str, Any] = {
        "model": "sd-1.4",
        "precision": "amp_fp16",
        "optimizer": "adamw_8bit",
        "image_size": 512,
        "stack": "diffusers",
        "batch_per_gpu": 1,
    }
    one, two = (
        estimate(zoo, gradient_accumulation=count, **usual).allocated_gib for count in (1, 2)
    )
    assert two - one == pytest.approx(2.3, abs=0.5)


def test_a_pipelines_component_is_traced_where_its_class_is_known() -> None:
    told = denoiser_config(
        {"_class_name": "UNet2DConditionModel", "cross_attention_dim": 768, "sample_size": 64}
    )
    assert (
        told is not None
        and told["model_type"] == "unet_2d_condition"
        and told["block_out_channels"][0] == 320
    )
    assert denoiser_config({"_class_name": "UNet3DConditionModel"}) is None
    assert (
        denoiser_config(
            {"_class_name": "UNet2DConditionModel", "down_block_types": ["AttnDownBlock2D"]}
        )
        is None
    )


def test_the_file_of_a_denoiser_alone_is_read(tmp_path: Path, zoo: Zoo) -> None:
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps(
            {"_class_name": "UNet2DConditionModel", "cross_attention_dim": 768, "sample_size": 64}
        )
    )
    told = resolve(Workload(**model_fields(file), task="inference"), zoo)
    assert (told.kind, told.params) == ("diffusion_unet", pytest.approx(859.520964e6))


def test_a_multimodal_model_is_the_sum_of_its_parts(zoo: Zoo) -> None:
    """LLaVA 1.5 7B as transformers 5.23 builds it has 324.5 million parameters beside the language
    model."""
    assert tower_params(LLAVA, 4096) == pytest.approx(324_487_168, rel=1e-4)
    told = network(zoo, LLAVA)
    assert (told.kind, told.params) == ("vlm", pytest.approx(7.0634e9, rel=1e-3))
    usual: dict[str, Any] = {
        "task": "inference",
        "precision": "int4",
        "quant": "awq",
        "stack": "pytorch-hf",
    }
    low, text = (
        estimate(zoo, config=config, input_tokens=512, output_tokens=1, **usual)
        for config in (LLAVA, LLAVA["text_config"])
    )
    assert low.parts.weights_gib - text.parts.weights_gib == pytest.approx(
        2 * told.side_params / GIB, rel=0.01
    )


def test_the_whole_model_says_whether_its_head_is_tied(zoo: Zoo) -> None:
    tied, own = (
        network(zoo, {**LLAVA, "tie_word_embeddings": word}).params for word in (True, False)
    )
    assert own - tied == 32064 * 4096


def test_labels_of_a_classifier_are_counted(zoo: Zoo) -> None:
    two, many = (
        network(zoo, {"model_type": "vit", **more}).params for more in ({}, {"num_labels": 1000})
    )
    named = network(
        zoo, {"model_type": "vit", "id2label": {str(at): "x" for at in range(1000)}}
    ).params
    assert many - two == 998 * 769 and named == many


@pytest.mark.parametrize(
    ("kind", "params_m"),
    [("table-transformer", 41.5), ("depth_anything", 24.8), ("clip", 151.3), ("videomae", 86.2)],
)
def test_networks_without_a_trace_are_estimated_by_their_parts_and_say_so(
    zoo: Zoo, kind: str, params_m: float
) -> None:
    config: dict[str, Any] = {"model_type": kind}
    if kind == "clip":
        config |= {
            "text_config": {
                "model_type": "clip_text_model",
                "hidden_size": 512,
                "num_hidden_layers": 12,
                "vocab_size": 49408,
                "num_attention_heads": 8,
                "intermediate_size": 2048,
            },
            "vision_config": {
                "model_type": "clip_vision_model",
                "hidden_size": 768,
                "patch_size": 32,
            },
        }
    told = network(zoo, config)
    assert told.stand_in and told.params == pytest.approx(1e6 * params_m, rel=0.03)
    found = estimate(zoo, config=config, task="inference", image_size=224)
    assert found.assumed["architecture"] and found.low_gib <= 0.55 * found.allocated_gib


@pytest.mark.parametrize(
    "config",
    [
        {
            "model_type": "unet_2d_condition",
            "block_out_channels": [320, 640],
            "layers_per_block": [2, 10**9],
        },
        {
            "model_type": "flux_transformer",
            "num_attention_heads": 24,
            "attention_head_dim": 128,
            "num_single_layers": 10**9,
        },
        {"model_type": "rcnn", "backbone": {"model_type": "resnet", "depths": "deep"}},
        {"model_type": "picture_composite"},
        {"model_type": "detr", "encoder_layers": 10**7, "d_model": 256},
        {"model_type": "dilated_segmenter", "head": "none", "backbone": {"model_type": "resnet"}},
    ],
)
def test_absurd_parts_are_refused_in_words(zoo: Zoo, config: dict[str, Any]) -> None:
    with pytest.raises(WorkloadFault):
        network(zoo, config)


def test_traced_denoisers_are_in_the_rows() -> None:
    rows = [
        json.loads(line)
        for line in (Path(__file__).parent / "traced_kinds.jsonl").read_bytes().splitlines()
    ]
    kinds = {row["spec"]["config"]["model_type"] for row in rows if row["held_out"]}
    assert {
        "unet_2d_condition",
        "sd3_transformer",
        "flux_transformer",
        "focalnet",
        "hgnet_v2",
        "pvt",
    } <= kinds


def test_detectors_whose_speed_is_known_by_figures_answer_for_memory_too(zoo: Zoo) -> None:
    """YOLO11 n and x: 2.6 and 56.9 million parameters, 30 times the operations."""
    usual: dict[str, Any] = {
        "task": "train_full",
        "precision": "amp_fp16",
        "stack": "ultralytics",
        "batch_per_gpu": 16,
        "image_size": 640,
        "optimizer": "sgd_momentum",
    }
    small, large = (
        estimate(zoo, model=name, **usual).allocated_gib for name in ("yolo11n", "YOLO11x")
    )
    assert 4 * small < large < 30 * small


def test_yolo11_writes_what_its_layers_are_counted_to_write(zoo: Zoo) -> None:
    """Trainings with few objects in a picture reserve 2.35 GiB (s) and 5.87 (l) at 8 pictures, 16.7
    (x) at 16."""
    usual: dict[str, Any] = {
        "task": "train_full",
        "precision": "amp_fp16",
        "stack": "ultralytics",
        "image_size": 640,
        "optimizer": "adamw",
    }
    told = [
        estimate(zoo, model=f"yolo11{size}", batch_per_gpu=batch, **usual).reserved_gib
        for size, batch in (("s", 8), ("l", 8), ("x", 16))
    ]
    assert told == pytest.approx([2.35, 5.87, 16.7], rel=0.1)
