"""Shapes of networks that the model zoo or a Hugging Face configuration describes."""

import re
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from rigplanner.catalog.zoo import Model
from rigplanner.errors import WorkloadFault
from rigplanner.performance.geometry.denoising import (
    denoised_shape,
    denoiser_geometry,
    is_denoiser,
    plain_geometry,
)
from rigplanner.performance.geometry.shapes import (
    Figures,
    Geometry,
    Shape,
    figures_shape,
    pixels,
    tables,
    transformer_shape,
)
from rigplanner.performance.geometry.traced import (
    KERNELS_PER_BLOCK,
    counted_shape,
    network_of,
    traced_shape,
)
from rigplanner.rig.workload import Workload
from rigplanner.workload.by_parameter_count import STANDS_IN, sized_config
from rigplanner.workload.network import LISTED_EDGE, Network, nearest_figures
from rigplanner.workload.pictures import PICTURES, image_of

WRITERS = ("llm", "moe", "vlm")
"""Kinds of networks whose tokens see only those before them."""
HEADLESS = 64
"""Width of a head where a network has none."""
KINDS = {
    "encoder_decoder": "encoder",
    "vlm": "llm",
    "segmenter": "detector",
    "diffusion_unet": "diffusion",
    "diffusion_transformer": "diffusion",
    "other": "cnn",
    "asr": "asr",
}
"""Kind of the zoo -> class of the speed model where they differ."""
USUAL_KERNELS = {
    "cnn": 200,
    "cnn-mobile": 300,
    "vit": 250,
    "detector": 350,
    "diffusion": 1200,
    "asr": 600,
    "encoder": 400,
}
TYPICAL_GMACS, KERNELS_GROW, LARGEST_NET, FEWEST_KERNELS = 8.0, 0.25, 16.0, 4.0
KERNELS_WITHIN, VALUES_WITHIN = 2.2, 2.0
"""Kernels of a net that no name tells, over those of its class at 8 GMACs: the quarter power of its
arithmetic, between what the layers of 150 networks of timm tell (a power of 0.17, within a factor
of 1.8) and those of perceptrons, LeNet and CIFAR's ResNets of 0.0001 to 0.04 GMACs (7 to 70
kernels). How far four in five lie either way, and the values that it writes."""
USUAL_LENGTH = {"llm": 2048, "moe": 2048, "encoder": 512, "asr": 1500, "diffusion": 4096}
DEPTHWISE = (
    "efficientnet",
    "mobilenet",
    "mobileone",
    "mnasnet",
    "ghostnet",
    "regnety",
    "fbnet",
    "lcnet",
    "tinynet",
)
"""Beginnings of slugs whose convolutions are mostly depthwise: little arithmetic per byte."""
LAYERS_IN_NAME = re.compile(r"(resnet|resnext|densenet|vgg|darknet)[a-z]*(\d+)")
KERNELS_BY_NAME = {"mobilenet": 150, "mnasnet": 150}
"""Beginnings of slugs of nets of few kernels for their class: MobileNetV2 has 52 convolutions, as
many normalisations, 35 activations and 10 sums, a half of what EfficientNets and their kin come to.
"""
KERNELS_PER_LAYER = {"vgg": 2.3}
"""Kernels per numbered layer: 3.4 (convolution, normalisation, activation and the sums, as
ResNet-50 and -152 run), fewer in nets without normalisation."""
DEPTH_IN_NAME = re.compile(r"yolo(x|v5|v8)-?([ntsmlx])")
DEPTHS = {"n": 1.0, "t": 1.0, "s": 1.0, "m": 1.3, "l": 1.6, "x": 1.9}
KERNELS_OF_DETECTOR = {"v5": 450, "v8": 450, "x": 650}
"""Kernels of the shallow ones and how many times as many the deeper ones launch (one image at a
time on a V100 takes 6.4, 8.2, 10.1 and 12.1 ms from YOLOv5 s to x, 9.8 to 17.3 ms in YOLOX, whose
head has two arms)."""
VISION_TRANSFORMERS = (
    "vit",
    "deit",
    "beit",
    "eva",
    "swin",
    "cait",
    "xcit",
    "pit_",
    "twins",
    "crossvit",
    "mixer",
    "volo",
    "tnt_",
)
CONCATENATION = {
    "densenet121": 2.3,
    "densenet161": 2.7,
    "densenet169": 2.65,
    "densenet201": 3.2,
    "densenet": 2.6,
    "inception": 1.7,
    "googlenet": 1.7,
    "mixnet": 1.6,
    "tf_mixnet": 1.6,
}
"""Beginnings of slugs of nets that join maps, and the values that pass through memory over those
that their layers are listed with. The layers of a DenseNet normalise and rectify all earlier maps
of their block: 9.1 million such inputs beside the 6.9 million outputs that DenseNet-121 is listed
with, 12.1 beside 7.3 for -169, 17.2 beside 7.9 for -201, 18.9 beside 11.1 for -161 (summed over
their layers; what the four take in FP32 on an RTX 2080 Ti agrees within 3 %). Inception's blocks
pool their whole input and join four branches: beside ResNet-50, Inception v3 takes 1.2 to 1.6 times
as long as its layers tell in six stacks. Each depthwise layer of a MixNet is split by kernel size
and joined again (1.2 to 1.4 times on three cards in PyTorch 2.4 and 2.9, 2.3 in 1.5)."""
TRACED = (
    "nemotron_h",
    "segformer",
    "dilated_segmenter",
    "rcnn",
    "retinanet",
    "clip_resnet",
    "mobilebert",
    "squeezebert",
)
"""Types of configuration whose blocks are no repeated one that a geometry tells: their layers are
traced as for memory."""
VALUES_PER_WIDTH = 20.0
"""Values written per token and layer in widths (10, and those of the feed-forward block)."""


def zoo_shape(model: Model, workload: Workload) -> Shape:
    """Return the shape of a network of the zoo; raise WorkloadFault naming what the zoo does not
    know of it."""
    kind, named = KINDS.get(model.kind, model.kind), workload.model or ""
    slug = named if named in tables().samples_to_train else model.slug
    if model.config and not any(figure.gmacs for figure in model.figures):
        return _zoo_transformer(slug, kind, model, model.config, workload)
    params_m = model.params_m or (
        network_of(slug, model.config, model).params / 1e6 if model.config else None
    )
    if model.kind == "diffusion_transformer" and params_m and not model.figures:
        return denoised_shape(slug, plain_geometry(params_m, model.source), workload)
    if params_m and not model.figures and model.kind in STANDS_IN:
        return sized_shape(slug, params_m, workload, model.kind, model.source)
    if not model.figures or not params_m:
        raise WorkloadFault(
            f"model: the zoo lacks the arithmetic of '{model.slug}', so its speed cannot be told."
        )
    nearest = nearest_figures(
        tuple(figure for figure in model.figures if figure.gmacs), workload.image_size
    )
    if nearest is None or not nearest.gmacs:
        raise WorkloadFault(
            f"model: the zoo lacks the arithmetic of '{model.slug}', so its speed cannot be told."
        )
    kind = _kind_by_name(model.slug, kind)
    values = (
        nearest.activations_m or usual_values(nearest.gmacs, _edge(nearest.image_size))
    ) * _joined(model.slug)
    known = Figures(
        kind=kind,
        unit="image",
        params_m=params_m,
        gmacs=nearest.gmacs,
        activations_m=values,
        kernels=_kernels(model.slug, kind),
        source=model.source,
        image_size=int(_edge(nearest.image_size)),
    )
    return figures_shape(slug, known, workload)


def _zoo_transformer(
    slug: str, kind: str, model: Model, config: dict[str, Any], workload: Workload
) -> Shape:
    if is_denoiser(config):
        return config_shape(slug, kind, config, workload, model.params_m, model.source)
    return _network_shape(slug, kind, network_of(slug, config, model), workload, model.source)


def _network_shape(
    slug: str, kind: str, network: Network, workload: Workload, source: str
) -> Shape:
    """The shape of a network by its repeated block, or by its layers where only those tell."""
    if network.family in TRACED or not network.hidden:
        return _traced(slug, kind, network, workload)
    if not network.vocab and network.kind in PICTURES:
        return _patched(slug, kind, network, workload, source)
    form = geometry(network, kind, source)
    told = workload.seq_len or workload.input_tokens
    even = transformer_shape(slug, form, told or form.seq_len)
    found = counted_shape(even, network, workload)
    unsaid = kind == "encoder" and not told
    return replace(found, usual={"seq_len": str(form.seq_len)}) if unsaid else found


def _patched(slug: str, kind: str, network: Network, workload: Workload, source: str) -> Shape:
    """The shape of a transformer that reads an image as patches: as many tokens as the trace of its
    layers on such an image multiplies with its weights, and the values that its products make, as
    timm lists them (63.9 million of ViT-L/16)."""
    assumed: dict[str, str] = {}
    edge = _image_edge(workload, network, assumed)
    gflop = network.forward_flops(1, edge) / 1e9
    tokens = max(1, round(1e9 * gflop / (2 * network.active_params)))
    form = geometry(network, kind, source)
    even = counted_shape(transformer_shape(slug, form, tokens), network, workload)
    width, kept = form.heads * form.head_dim, 2 * form.kv_heads * form.head_dim
    written = 2 * width + kept + (form.ffn_matrices - 1) * form.ffn + 2 * form.hidden
    values = form.layers * tokens * (written + form.heads * tokens)
    return replace(even, unit="image", gflop=gflop, elements_m=values / 1e6, usual=assumed)


def _traced(slug: str, kind: str, network: Network, workload: Workload) -> Shape:
    """The shape of a network whose layers are traced: of images, or of sequences."""
    if not network.hidden and not network.vocab:
        return _seen(slug, kind, network, workload)
    length = workload.seq_len or workload.input_tokens or USUAL_LENGTH.get(kind, 2048)
    values_m = VALUES_PER_WIDTH * network.layers * network.hidden * length / 1e6
    return traced_shape(
        slug, kind, network, workload, length, network.layers * KERNELS_PER_BLOCK, values_m
    )


def _seen(slug: str, kind: str, network: Network, workload: Workload) -> Shape:
    """The shape of an image network whose layers are traced; a sample of one of clips is all its
    frames."""
    assumed: dict[str, str] = {}
    edge = _image_edge(workload, network, assumed)
    frames = (workload.frames or 1) if network.family == "clip_resnet" else 1
    gmacs = network.forward_flops(1, edge) / 2e9
    known = Figures(
        kind=kind,
        unit="image",
        params_m=network.params / 1e6,
        gmacs=frames * gmacs,
        activations_m=frames * usual_values(gmacs, edge),
        kernels=_kernels(slug, kind),
        source=network.source or "config",
        image_size=edge,
    )
    return replace(figures_shape(slug, known, workload), usual=assumed)


def _image_edge(workload: Workload, network: Network, assumed: dict[str, str]) -> int:
    """The edge of a square of as many pixels as the images that are asked for, else of those that
    the network was made for."""
    size = image_of(workload, network, assumed)
    return size if isinstance(size, int) else round((size[0] * size[1]) ** 0.5)


def _kind_by_name(slug: str, kind: str) -> str:
    """The class of an image net told by the beginning of its name."""
    if kind != "cnn":
        return kind
    return (
        "cnn-mobile"
        if slug.startswith(DEPTHWISE)
        else "vit"
        if slug.startswith(VISION_TRANSFORMERS)
        else kind
    )


def _guessed_kernels(kind: str, gmacs: float) -> float:
    """Kernels of a net of which only figures are known."""
    grown = float(min(LARGEST_NET, gmacs / TYPICAL_GMACS) ** KERNELS_GROW)
    return max(FEWEST_KERNELS, USUAL_KERNELS.get(kind, 250) * grown)


def _kernels(slug: str, kind: str) -> int:
    """Kernels of a forward pass: by the layers that the name of a net tells, else the usual of its
    class."""
    return _told_kernels(slug, kind) or USUAL_KERNELS.get(kind, 250)


def _told_kernels(slug: str, kind: str) -> int | None:
    told = LAYERS_IN_NAME.search(slug)
    if kind == "cnn" and told and 8 <= int(told[2]) <= 300:
        return round(
            int(told[2]) * (KERNELS_PER_LAYER.get(told[1], 3.4) if "bn" not in slug else 3.4)
        )
    if depth := DEPTH_IN_NAME.match(slug):
        return round(KERNELS_OF_DETECTOR[depth[1]] * DEPTHS[depth[2]])
    return next(
        (count for beginning, count in KERNELS_BY_NAME.items() if slug.startswith(beginning)), None
    )


def _joined(slug: str) -> float:
    """By what the values of a net that joins maps exceed those of its layers."""
    return next(
        (more for beginning, more in CONCATENATION.items() if slug.startswith(beginning)), 1.0
    )


def figured_shape(workload: Workload) -> Shape:
    """Return the shape of a net that the workload gives by its figures (`params_m`, `gmacs`,
    `activations_m` at its image)."""
    assert workload.gmacs
    kind = workload.kind or _kind_by_name(workload.model or "", "cnn")
    params = workload.params_m or (workload.params_b or 0.025) * 1e3
    values = workload.activations_m or usual_values(
        workload.gmacs, (pixels(workload.image_size) or LISTED_EDGE**2) ** 0.5
    )
    values *= _joined(workload.model or "")
    known = Figures(
        kind=kind,
        unit="image",
        params_m=params,
        gmacs=workload.gmacs,
        activations_m=values,
        kernels=_kernels(workload.model or "", kind),
        source="workload",
    )
    shape = figures_shape(workload.model or workload.name or "custom", known, workload)
    if _told_kernels(workload.model or "", kind) is None:
        shape = replace(
            shape, kernels=_guessed_kernels(kind, workload.gmacs), kernels_within=KERNELS_WITHIN
        )
    return shape if workload.activations_m else replace(shape, values_within=VALUES_WITHIN)


def sized_shape(
    slug: str,
    params_m: float,
    workload: Workload,
    kind: str | None = None,
    source: str = "workload",
) -> Shape:
    """Return the shape of a network of which only its kind and its millions of parameters are
    known, that of the one which stands in for it; raise WorkloadFault for kinds that none stands in
    for."""
    config = sized_config(kind, params_m * 1e6)
    if config is None:
        raise WorkloadFault(
            f"model: '{slug}' is not known, and parameters alone say nothing of the speed of such a"
            " network."
        )
    found = config_shape(
        slug, KINDS.get(kind or "llm", kind or "llm"), config, workload, source=source
    )
    more = params_m / found.params_m
    return replace(
        found, params_m=params_m, active_m=found.active_m * more, gflop=found.gflop * more
    )


def _edge(size: int | tuple[int, int]) -> float:
    return float(size) if isinstance(size, int) else float(size[0] * size[1]) ** 0.5


def usual_values(gmacs: float, edge: float) -> float:
    """Return the values written in millions where they are not published: 6.3 x GMACs ** 0.55 at
    224 x 224 pixels, the log fit over the zoo's 433 figures of image networks that list both (their
    spread about it is a factor of 1.7), both in proportion to the area: a Mask R-CNN of 134 GMACs
    at 800 x 800 pixels writes 260 million values, the fit says 293."""
    area = (edge / LISTED_EDGE) ** 2
    return float(6.3 * (gmacs / area) ** 0.55 * area)


def config_shape(
    slug: str,
    kind: str,
    config: dict[str, Any],
    workload: Workload,
    params_m: float | None = None,
    source: str = "config",
) -> Shape:
    """Return the shape of a transformer by its configuration; raise WorkloadFault naming the field
    that is missing."""
    if is_denoiser(config):
        return denoised_shape(slug, denoiser_geometry(config, params_m, source), workload, config)
    return _network_shape(slug, kind, network_of(slug, config, None), workload, source)


@lru_cache(1024)
def geometry(network: Network, kind: str, source: str = "config") -> Geometry:
    """Return the geometry of a network of equal layers; encoder-decoders count both sides. Layers
    of states without heads (Mamba, RWKV) pass as many values as heads of 64 would."""
    heads = network.heads or max(1, network.hidden // HEADLESS)
    experts = network.experts_held
    return Geometry(
        kind="moe" if experts else kind,
        layers=network.passed_layers,
        hidden=network.hidden,
        heads=heads,
        kv_heads=network.kv_heads or heads,
        head_dim=network.head_dim or network.hidden // heads,
        ffn=network.expert_ffn if experts else network.ffn,
        ffn_matrices=network.ffn_matrices,
        vocab=network.vocab if kind != "vit" else 0,
        causal=network.kind in WRITERS,
        experts=experts,
        experts_used=network.experts_used,
        experts_shared=max(0, experts - network.experts),
        dense_layers=network.dense_layers,
        dense_ffn=network.dense_ffn,
        seq_len=USUAL_LENGTH.get(kind, 2048),
        source=source,
        params_m=network.params / 1e6,
        tied=network.tied,
    )
