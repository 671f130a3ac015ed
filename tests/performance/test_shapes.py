"""Arithmetic and traffic of networks against figures that can be checked by hand."""

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.geometry.shapes import Shape
from rigplanner.rig.workload import Workload


def shape(**fields: object) -> Shape:
    return resolve_shape(Workload(**fields), shipped_zoo())  # type: ignore[arg-type]


def test_a_dense_decoder_costs_two_flops_per_weight_and_token() -> None:
    llama = shape(model="llama-3-8b", seq_len=2048)
    embeddings_m = 128256 * 4096 / 1e6
    assert llama.params_m == pytest.approx(8030, rel=0.01)
    assert llama.gflop == pytest.approx(
        2 * (llama.params_m - embeddings_m) * 1e6 * 2048 / 1e9, rel=0.01
    )
    assert llama.kv_values == 2 * 8 * 128 * 32


def test_attention_grows_with_the_square_of_the_length() -> None:
    short, long = shape(model="llama-3-8b", seq_len=1024), shape(model="llama-3-8b", seq_len=4096)
    assert long.attention_gflop == pytest.approx(16 * short.attention_gflop)
    assert long.gflop == pytest.approx(4 * short.gflop)


def test_a_mixture_of_experts_stores_all_and_uses_few() -> None:
    mixtral = shape(model="mixtral-8x7b", seq_len=1024)
    assert mixtral.params_m == pytest.approx(46_700, rel=0.01)
    assert mixtral.active_m == pytest.approx(12_900, rel=0.03)


def test_latent_attention_keeps_one_vector() -> None:
    config = {
        "model_type": "deepseek_v3",
        "num_hidden_layers": 61,
        "hidden_size": 7168,
        "num_attention_heads": 128,
        "num_key_value_heads": 128,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
        "vocab_size": 129280,
    }
    assert shape(config=config, model="own", seq_len=1).kv_values == 61 * 576


def test_convolutions_cost_by_area() -> None:
    assert shape(model="resnet-50", image_size=448).gflop == pytest.approx(
        4 * shape(model="resnet-50", image_size=224).gflop
    )
    assert shape(model="resnet-50").gflop == pytest.approx(8.18, rel=0.01)


@pytest.mark.parametrize("slug", ["resnet18", "resnet-101", "resnext50_32x4d", "wide_resnet50_2"])
def test_an_image_of_no_named_size_is_of_the_usual_one(slug: str) -> None:
    assert shape(model=slug).gflop == shape(model=slug, image_size=224).gflop
    assert shape(model=slug, image_size=176).gflop == pytest.approx(
        (176 / 224) ** 2 * shape(model=slug).gflop, rel=0.05
    )


def test_a_net_never_listed_at_the_usual_size_has_its_first() -> None:
    assert shape(model="inception_v3").gflop == shape(model="inception_v3", image_size=299).gflop


def test_a_net_known_by_its_figures_only() -> None:
    own = shape(params_m=25.6, gmacs=4.1, activations_m=11.1, image_size=224)
    assert own.gflop == pytest.approx(8.2) and own.elements_m == pytest.approx(11.1)


def test_a_configuration_without_width_names_the_field() -> None:
    with pytest.raises(WorkloadFault, match="hidden_size"):
        shape(config={"model_type": "llama", "num_hidden_layers": 2, "hidden_size": None})


def test_an_unknown_model_names_the_nearest() -> None:
    with pytest.raises(WorkloadFault, match="llama-3-8b"):
        shape(model="lama-3-8b")


def test_no_model_at_all() -> None:
    with pytest.raises(WorkloadFault, match="model: expected"):
        shape()


def test_most_of_the_zoo_can_be_timed() -> None:
    untold = []
    for slug in shipped_zoo().models:
        try:
            found = shape(model=slug)
        except WorkloadFault:
            untold.append(slug)
            continue
        assert found.gflop > 0 and found.params_m > 0 and found.elements_m > 0, slug
    assert len(untold) < 0.06 * len(shipped_zoo().models), untold


@pytest.mark.parametrize(
    ("slug", "stored_m", "used_m"),
    [
        ("llama-4-maverick-17b-128e", 400_000, 17_000),
        ("llama-4-scout-17b-16e", 109_000, 17_000),
        ("deepseek-v3", 671_000, 37_000),
        ("qwen-7b", 7_721, 7_100),
        ("qwen-14b", 14_167, 13_400),
    ],
)
def test_published_sizes_come_out(slug: str, stored_m: float, used_m: float) -> None:
    shape = resolve_shape(Workload(model=slug), shipped_zoo())
    assert shape.params_m == pytest.approx(stored_m, rel=0.02)
    assert shape.active_m == pytest.approx(used_m, rel=0.06)


@pytest.mark.parametrize(("small", "large"), [("yolov5s", "yolov5x"), ("yolox-s", "yolox-x")])
def test_a_deeper_detector_launches_more_kernels(small: str, large: str) -> None:
    shapes = [shape(model=name, task="inference") for name in (small, large)]
    assert 1.7 * shapes[0].kernels < shapes[1].kernels < 2.2 * shapes[0].kernels


@pytest.mark.parametrize(
    ("spoken", "slug"),
    [
        ("YOLO11n", "yolo11n"),
        ("Mask R-CNN", "mask-rcnn"),
        ("rnnt", "rnn-t"),
        ("3D UNet KiTS19", "3d-unet-kits19"),
    ],
)
def test_networks_of_the_speed_table_are_known_however_they_are_written(
    spoken: str, slug: str
) -> None:
    assert resolve_shape(Workload(model=spoken, task="inference"), None).slug == slug


def test_one_network_has_one_speed_whatever_name_is_given() -> None:
    slugs = {
        resolve_shape(Workload(model=name), None).slug
        for name in ("llama-3.1-8b", "Llama 3.1 8B", "llama3.1:8b")
    }
    assert len(slugs) == 1


def test_a_text_that_becomes_a_vector_is_multiplied_with_no_table_of_words() -> None:
    layers_m, tokens = 24 * 12 * 1024**2 / 1e6, 512
    vector = shape(model="bge-m3")
    assert vector.gflop == pytest.approx(2 * layers_m * tokens / 1e3, rel=0.05)
    assert vector.usual == {"seq_len": "512"}
    words = shape(model="xlm-roberta-large", task="train", seq_len=512)
    assert words.gflop > 1.7 * vector.gflop
    decoder = shape(model="qwen3-embedding-8b", seq_len=512)
    assert decoder.unit == "sequence" and decoder.kind == "encoder"


@pytest.mark.parametrize(
    ("slug", "gmacs"),
    [("clip-vit-large-patch14", 78), ("siglip-so400m-patch14-384", 302), ("sam-vit-h", 2976)],
)
def test_a_transformer_that_sees_is_told_in_images_of_its_own_size(slug: str, gmacs: float) -> None:
    seen = shape(model=slug)
    assert seen.unit == "image" and "image_size" in seen.usual
    assert seen.gflop + seen.attention_gflop == pytest.approx(2 * gmacs, rel=0.12)


def test_layers_that_share_their_weights_work_as_often_as_they_run() -> None:
    assert shape(model="albert-base-v2").gflop > 0.8 * shape(model="bge-base-en").gflop
