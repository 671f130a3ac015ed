"""The network of a workload: its sizes, its parameters, and the work of a forward pass, whatever
way it was described."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.zoo import (
    Component,
    Figures,
    Model,
    Recommender,
    Zoo,
    near_names,
    recommender,
    timed_networks,
)
from rigplanner.errors import WorkloadFault
from rigplanner.networks.closed_form.closed import traced_step
from rigplanner.networks.config.config import VISION_PARTS, defaults, full_config, pick
from rigplanner.networks.config.older_configs import of_today
from rigplanner.networks.config.relatives import relative_of, text_part_of, traced_as
from rigplanner.networks.counting import counted, made_of, parameters_of, values_of, values_seeing
from rigplanner.networks.dimensions import idle_params, sizes_of
from rigplanner.networks.fallback_network import can_stand_in, nearest_family, stood_in
from rigplanner.networks.families.audio.audio_encoder import hearing_params, uncounted
from rigplanner.networks.families.build import NETWORKS, differs_headed
from rigplanner.networks.families.decoders.family import is_decoder
from rigplanner.networks.families.heads.detr import residual
from rigplanner.networks.families.multimodal.vision_parameters import tower_params
from rigplanner.networks.families.vision.composite import composite_of
from rigplanner.networks.image_tokens import sees
from rigplanner.networks.tracer.net import Setting
from rigplanner.networks.tracer.step import contradictions
from rigplanner.networks.tracer.tape import BF16
from rigplanner.rig.workload import Workload
from rigplanner.workload.by_parameter_count import (
    DENOISERS,
    GMACS_PER_MILLION,
    STANDS_IN,
    sized_config,
)
from rigplanner.workload.limits import check_image


class Network(Struct, frozen=True, kw_only=True):
    """One network. `params` and `active_params` (used by one token) in values; `config` is there
    when its layers can be traced; `figures` when only published figures are known; `relative`
    names the family whose layers stand in for unknown ones; `denoiser`: the configuration of a
    denoiser whose layers can be traced; it is a `stand_in` where nothing is known of the layers,
    `weighed` where its parameters are. `side_params` stay in 16 bits whatever the format (a vision
    tower); `sees`: it is known how the model reads images. `heard` positions of the sound are
    cached by every layer; layers with a state hold `state_values` of 16 bits for a sequence of any
    length. `family`: the model_type. A sample passes `passed_layers`, those of an encoder and of a
    decoder, whose feed-forward blocks have `ffn_matrices` of the width `ffn`; a token visits
    `experts_used` of `experts_held` (shared ones in both) of the width `expert_ffn`, but for
    `dense_layers` of the width `dense_ffn`. A denoiser reads `text_tokens` of the prompt, 0 where
    unknown. `layers`, `hidden`, `heads`, `kv_heads`, `head_dim`, `vocab` are 0 for a net that is
    no transformer."""

    slug: str
    kind: str
    params: float
    active_params: float
    config: bytes | None = None
    figures: tuple[Figures, ...] = ()
    components: tuple[Component, ...] = ()
    denoiser: bytes | None = None
    relative: str | None = None
    stand_in: bool = False
    weighed: bool = False
    source: str = ""
    layers: int = 0
    hidden: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    ffn: int = 0
    text_tokens: int = 0
    vocab: int = 0
    tied: bool = False
    embedding_params: float = 0.0
    side_params: float = 0.0
    sees: bool = False
    latent_values: int = 0
    window: int = 0
    window_layers: int = 0
    state_layers: int = 0
    state_values: float = 0.0
    heard: int = 0
    family: str = ""
    experts: int = 0
    expert_params: float = 0.0
    passed_layers: int = 0
    ffn_matrices: int = 2
    experts_held: int = 0
    experts_used: int = 0
    expert_ffn: int = 0
    dense_layers: int = 0
    dense_ffn: int = 0

    @property
    def weight_bytes(self) -> float:
        """Bytes of all parameters in 16 bits."""
        return 2.0 * self.params

    def kv_values(self, tokens: int) -> float:
        """Values that the key-value cache holds for one sequence of `tokens`: windowed layers stop
        at the window, latent attention keeps one vector per token, linear-attention and state-space
        layers a state that does not grow; a decoder of speech those of the sound."""
        per_layer = self.latent_values or 2 * self.kv_heads * self.head_dim
        windowed = min(tokens, self.window) if self.window else tokens
        full = self.layers - self.window_layers - self.state_layers
        grown = float(per_layer) * (
            full * tokens + self.window_layers * windowed + self.layers * self.heard
        )
        return grown + self.state_values

    def forward_flops(self, batch: int, length: int) -> float:
        """Floating-point operations of matrix products (and convolutions) of one forward pass:
        `length` is tokens per sample, or the image edge in pixels. Attention by a fused kernel is
        left out, as PyTorch's counter leaves it out on the CPU."""
        if self.config is not None:
            return float(batch) * _flops(self.config, length)
        row = nearest_figures(self.figures, length)
        if row is None or row.gmacs is None:
            raise WorkloadFault(f"model: no operations are known of {self.slug}.")
        return 2e9 * row.gmacs * batch * (pixels(length) / pixels(row.image_size))

    def seeing_flops(self, images: int, sides: tuple[int, int]) -> float:
        """Floating-point operations of the part that sees, on so many pictures of `sides`."""
        return float(
            _flops(self.config or b"", SEEN, images, sides) - _flops(self.config or b"", SEEN)
        )


SEEN = 64
"""Tokens beside which the work of seeing is counted; it does not depend on them."""


def _flops(
    config: bytes, length: int, images: int = 0, sides: tuple[int, int] | None = None
) -> int:
    setting = Setting(
        batch=1, length=length, dtype=BF16, training=False, images=images, sides=sides
    )
    return traced_step(config, setting, "bf16", "sgd", False).forward_flops


def pixels(size: int | tuple[int, ...] | list[int]) -> float:
    """The pixels of an image given by its edge or by height and width."""
    return float(size * size) if isinstance(size, int) else float(size[0] * size[-1])


LISTED_EDGE = 224
"""Edge in pixels of the images that most networks are listed with, and are trained on where nobody
names another (ImageNet)."""


def nearest_figures(figures: tuple[Figures, ...], size: int | list[int] | None) -> Figures | None:
    """The row of figures whose image is nearest in size; without a size that of the usual one, else
    the first."""
    if not figures or size is None:
        return next(
            (row for row in figures if row.image_size == LISTED_EDGE),
            figures[0] if figures else None,
        )
    return min(figures, key=lambda row: abs(pixels(row.image_size) - pixels(size)))


MOST_PARAMS = 1e16
"""Parameters beyond which a configuration is no network that anybody could hold."""


def resolve(workload: Workload, zoo: Zoo) -> Network:
    """Return the network of a workload, as `_resolved` finds it. Raises WorkloadFault for one of
    more parameters than sense has."""
    network = _resolved(workload, zoo)
    if not 0 <= network.params <= MOST_PARAMS:
        raise WorkloadFault(
            f"config: expected fields of a network of at most {MOST_PARAMS:g} parameters, found"
            f" {network.params:g}."
        )
    return network


def _resolved(workload: Workload, zoo: Zoo) -> Network:
    """Return the network of a workload: its own config first, then the zoo's model of that name,
    then its own figures. Raises WorkloadFault for an unknown name (with the nearest ones) and for a
    configuration that cannot be."""
    for field in ("params_m", "params_b", "gmacs", "activations_m"):
        value = getattr(workload, field)
        if value is not None and not 0 < value < 1e9:
            raise WorkloadFault(f"{field}: expected a positive number below 1e9, found {value}.")
    check_image(workload.image_size)
    if workload.config is not None and workload.config.get("model_type") in ("dit", "unet"):
        return _denoiser(workload, workload.config)
    if workload.config is not None:
        return _from_config(
            msgspec.json.encode(_headed(workload.config, workload.head)), workload.model or "config"
        )
    model = named_model(workload, zoo) or timed_networks().get((workload.model or "").casefold())
    if model is None and (workload.params_b or (workload.params_m and workload.kind in STANDS_IN)):
        return _from_size(workload)
    if workload.params_m and (model is None or model.config is None or workload.activations_m):
        return _from_figures(workload, model)
    if model is None and (known := recommender(workload.model or "")):
        return of_recommender(known)
    if model is None:
        raise unknown_model(workload.model or "", zoo)
    labels = workload.variant.get("labels")
    return (
        from_model(model)
        if labels is None or model.config is None
        else _labelled(model, model.config, labels)
    )


def unknown_model(name: str, zoo: Zoo) -> WorkloadFault:
    """Return the fault of a name that no network has, with the nearest ones."""
    if not name:
        return WorkloadFault(
            "model: expected a network of the zoo, a configuration or figures, found none."
        )
    near = near_names(name, zoo)
    if name.casefold() in near:  # its speed was measured, its layers nobody told
        return WorkloadFault(
            f"model: the layers of '{name}' are not known, so its memory cannot be told."
        )
    meant = f"; the nearest are {', '.join(near)}" if near else ""
    return WorkloadFault(f"model: '{name}' is not known{meant}.")


def of_recommender(known: Recommender) -> Network:
    """The network of a recommender; raise WorkloadFault where nothing tells how large its tables
    are."""
    if known.tables is None:
        raise WorkloadFault(
            f"model: how many rows the embedding tables of '{known.slug}' have is not known."
        )
    params = 1e6 * known.params_m
    return Network(
        slug=known.slug,
        kind=RECOMMENDER,
        params=params,
        active_params=params,
        stand_in=True,
        weighed=not known.looked_up,
        source=known.source,
    )


RECOMMENDER = "recommender"
"""Kind of networks most of whose parameters are rows that a sample looks up."""
MOST_LABELS = 1_000_000


def _labelled(model: Model, config: dict[str, Any], labels: Any) -> Network:
    """The network with a head for as many labels as the variant says."""
    if isinstance(labels, bool) or not isinstance(labels, int) or not 0 < labels <= MOST_LABELS:
        raise WorkloadFault(
            f"variant.labels: expected a whole number up to {MOST_LABELS}, found {labels!r:.40}."
        )
    return _read_model(msgspec.structs.replace(model, config={**config, "num_labels": labels}))


def named_model(workload: Workload, zoo: Zoo) -> Model | None:
    """The model of the zoo that a workload names, or that its source wrote."""
    names = [name for name in (workload.model, workload.model_text) if name]
    return next((found for name in names if (found := zoo.get(name)) is not None), None)


def _headed(config: dict[str, Any], head: str | None) -> dict[str, Any]:
    """The configuration with the class that a tracer's specification means by its head, where it
    names none."""
    kind = str(config.get("model_type"))
    if head == "image" and kind in VISION_PARTS:
        config = {name: value for name, value in config.items() if name != "text_config"}
    alone = (
        head == "causal_lm" and "architectures" not in config and differs_headed(traced_as(kind))
    )
    return {**config, "architectures": ["ForCausalLM"]} if alone else config


@lru_cache(1024)
def _named(slug: str, encoded: bytes) -> Network:
    return _from_config(encoded, slug)


_of_models: dict[str, tuple[Model, Network]] = {}
"""Networks of the zoo by slug, with the model that each is of: read once."""


def from_model(model: Model) -> Network:
    """The network of a model of the zoo."""
    of, network = _of_models.get(model.slug, (None, None))
    if of is not model or network is None:
        network = _read_model(model)
        _of_models[model.slug] = (model, network)
    return network


def _read_model(model: Model) -> Network:
    if model.config is None and model.kind in STANDS_IN and not model.figures:
        return _of_size(model.slug, model.kind, 1e6 * (model.params_m or 0.0))
    if model.config is None or model.config.get("model_type") in ("dit", "unet"):
        params = 1e6 * (model.params_m or 0.0)
        sizes: dict[str, Any] = (
            {ours: int(model.config.get(theirs) or 0) for ours, theirs in _SIZES}
            if model.config
            else {}
        )
        return Network(
            slug=model.slug,
            kind=model.kind,
            params=params,
            active_params=params,
            figures=model.figures,
            components=model.components,
            denoiser=msgspec.json.encode(model.denoiser) if model.denoiser else None,
            source=model.source,
            **sizes,
        )
    known = _named(model.slug, msgspec.json.encode(model.config))
    extra = 1e6 * model.params_m if model.params_m else known.params
    kind = model.kind if model.kind != "other" else known.kind
    return msgspec.structs.replace(
        known,
        kind=kind,
        params=extra,
        side_params=(
            max(known.side_params, extra - known.params + known.side_params)
            if kind == "vlm"
            else known.side_params
        ),
        active_params=min(known.active_params, extra),
        source=model.source,
        components=model.components,
    )


def _denoiser(workload: Workload, config: dict[str, Any]) -> Network:
    """A diffusion model described by its sizes, its parameters (counted where its layers are told)
    and its components."""
    told = config.get("denoiser")
    stated = workload.params_m or (1e3 * workload.params_b if workload.params_b else None)
    counted = parameters_of(told) / 1e6 if isinstance(told, dict) and told and not stated else None
    if not (stated or counted):
        raise WorkloadFault(
            "params_m: expected the parameters of the denoiser in millions, found none."
        )
    sizes: dict[str, Any] = {ours: config.get(theirs) or 0 for ours, theirs in _SIZES}
    if not all(isinstance(size, int) and 0 <= size <= 2_000_000 for size in sizes.values()):
        raise WorkloadFault(
            f"config: expected whole numbers as sizes of the denoiser, found {str(sizes)[:80]}."
        )
    beside = tuple(
        Component(role="vae" if name.startswith("vae") else "text_encoder", params_m=size)
        for name, size in (workload.components or {}).items()
    )
    if not all(0 <= part.params_m < 1e6 for part in beside):
        raise WorkloadFault("components: expected millions of parameters from 0 to 1e6.")
    kind = "diffusion_unet" if config["model_type"] == "unet" else "diffusion_transformer"
    params = 1e6 * (stated or counted or 0.0)
    denoiser = msgspec.json.encode(told) if isinstance(told, dict) and told else None
    return Network(
        slug=workload.model or "pipeline",
        kind=kind,
        params=params,
        active_params=params,
        components=beside,
        denoiser=denoiser,
        **sizes,
    )


_SIZES = (("layers", "num_hidden_layers"), ("hidden", "hidden_size"),
    ("heads", "num_attention_heads"), ("ffn", "intermediate_size"),
    ("text_tokens", "text_tokens"))  # fmt: skip


def _from_figures(workload: Workload, model: Model | None) -> Network:
    size = workload.image_size if workload.image_size is not None else 224
    if model and model.figures and workload.activations_m is None and workload.gmacs is None:
        return msgspec.structs.replace(
            from_model(model),
            slug=workload.model or model.slug,
            params=1e6 * (workload.params_m or model.params_m or 0.0),
        )
    row = Figures(
        image_size=size if isinstance(size, int) else (size[0], size[-1]),
        gmacs=workload.gmacs,
        activations_m=workload.activations_m,
    )
    params = 1e6 * (workload.params_m or 0.0)
    return Network(
        slug=workload.model or "custom",
        kind=model.kind if model else workload.kind or "cnn",
        params=params,
        active_params=params,
        figures=(row,),
        source=model.source if model else "",
    )


def _from_size(workload: Workload) -> Network:
    """A network of which its kind and its parameters are known: one of that size as most are built
    stands in."""
    params = 1e9 * workload.params_b if workload.params_b else 1e6 * (workload.params_m or 0.0)
    kind = DENOISERS.get(workload.kind or "llm", workload.kind or "llm")
    return _of_size(workload.model or "custom", kind, params)


@lru_cache(1024)
def _of_size(slug: str, kind: str, params: float) -> Network:
    config = sized_config(kind, params)
    if config is None:
        edge, gmacs = GMACS_PER_MILLION.get(kind, (0, 0.0))
        figures = (Figures(image_size=edge, gmacs=gmacs * params / 1e6),) if edge else ()
        return Network(
            slug=slug,
            kind=kind,
            params=params,
            active_params=params,
            figures=figures,
            relative=kind,
            stand_in=True,
            weighed=True,
        )
    whole = _from_config(msgspec.json.encode(config), slug)
    return msgspec.structs.replace(
        whole,
        kind=kind,
        params=params,
        active_params=params,
        relative=config["model_type"],
        stand_in=True,
        weighed=True,
    )


class _Traced(Struct, frozen=True):
    """A configuration that builds: as given (`config` with its defaults, `encoded` as bytes), the
    parameters that its builder counts (`made`), and what it is counted as where nobody wrote down
    its own layers."""

    given: dict[str, Any]
    config: dict[str, Any]
    encoded: bytes
    made: Any
    relative: str | None
    stand_in: bool = False


def _from_config(encoded: bytes, slug: str) -> Network:
    told = msgspec.json.decode(encoded)
    given = of_today(told, defaults())
    encoded = encoded if given is told else msgspec.json.encode(given)
    config = full_config(given)
    kind = config["model_type"]
    try:
        made, fault = made_of(given), None
    except WorkloadFault as unknown:
        made, fault = None, unknown
    if fault or (
        given.get("backbone_config")
        and (kind not in NETWORKS or (kind == "detr" and not residual(config)))
    ):
        with contradictions():
            composed = composite_of(given, set(NETWORKS))
        if composed is not None:
            return _composite(composed, slug, kind, given)
    if fault:
        return _network(_stood_in(given, config, fault), slug, kind)
    relative = relative_of(kind)
    return _network(_Traced(given, config, encoded, made, relative), slug, kind)


def _stood_in(given: dict[str, Any], config: dict[str, Any], fault: WorkloadFault) -> _Traced:
    """The nearest family of the sizes that a configuration tells. Raises `fault` where it tells too
    few."""
    if not can_stand_in(given, config):
        raise fault
    nearest = nearest_family(config)
    given = stood_in(given, nearest)
    config = {**config, "model_type": nearest}
    return _Traced(given, config, msgspec.json.encode(given), made_of(given), nearest, True)


def _network(traced: _Traced, slug: str, kind: str) -> Network:
    """The network of a configuration that builds, with its towers that see and hear."""
    given, config, relative = traced.given, traced.config, traced.relative
    edge = _edge(config)
    values = float(values_of(given, traced.made, edge))
    with contradictions():
        seen = sees(given) and not traced.stand_in
        hidden = int(sizes_of(config, values).get("hidden") or 0)
        if seen:
            side = float(values_seeing(given, traced.made, edge))
        else:
            side = tower_params(given, hidden) if config.get("vocab_size") else 0.0
        heard, known = hearing_params(given, hidden)
        whole = str(given.get("model_type"))
        foreign = given.get("text_config") and text_part_of(whole) is None and whole != kind
        unseen = not side and uncounted(given, "vision_config")
        if relative is None and (not known or foreign or unseen or uncounted(given)):
            relative = whole
    return Network(
        slug=slug,
        kind="vlm" if side else _kind(config),
        params=values + side + heard,
        sees=seen,
        active_params=values - idle_params(config) + side + heard,
        config=traced.encoded,
        side_params=side + heard,
        relative=relative,
        stand_in=traced.stand_in,
        **{**sizes_of(config, values), "family": kind},
    )


def _edge(config: dict[str, Any]) -> int:
    """The size at which parameters are counted, where a builder needs one: pixels or tokens."""
    pixels = not config.get("vocab_size") or config.get("patch_size")
    length = config.get("image_size") if pixels else 64
    with contradictions():
        return int(length[0] if isinstance(length, list) else length) if length else 224


def _composite(composed: dict[str, Any], slug: str, kind: str, given: dict[str, Any]) -> Network:
    """An image network estimated by its parts."""
    values = float(counted(made_of(composed), int(composed["image_size"])))
    names = " ".join(map(str, given.get("architectures") or ()))
    what = "detector" if "Detection" in names else "segmenter" if "Segmentation" in names else "vit"
    return Network(
        slug=slug,
        kind=what,
        params=values,
        active_params=values,
        config=msgspec.json.encode(composed),
        relative=str(composed["seen"]["model_type"]),
        stand_in=True,
        family=kind,
    )


ENCODER_KINDS = {
    "bert",
    "roberta",
    "xlm-roberta",
    "distilbert",
    "electra",
    "albert",
    "deberta-v2",
    "modernbert",
    "roformer",
    "convbert",
    "eurobert",
    "nomic_bert",
    "mobilebert",
    "squeezebert",
    "wav2vec2",
    "hubert",
    "wavlm",
    "unispeech",
    "unispeech-sat",
    "deberta",
    "gte",
    "jina_embeddings_v3",
    "fnet",
    "big_bird",
    "tapas",
    "longformer",
}
"""Networks that see all tokens at once and cache nothing."""


def _kind(config: dict[str, Any]) -> str:
    if pick(config, "num_experts", "num_local_experts", "n_routed_experts"):
        return "moe"
    if config.get("d_ff") or config.get("encoder_layers"):
        return "detector" if config["model_type"] == "detr" else "encoder_decoder"
    if config["model_type"] == "sam" or any(
        "SemanticSegmentation" in name for name in config.get("architectures") or ()
    ):
        return "segmenter"
    reads = config.get("vocab_size") and is_decoder(traced_as(config["model_type"]))
    if not reads and (
        not config.get("vocab_size") or config.get("patch_size") or config.get("depths")
    ):
        return "vit" if config.get("num_attention_heads") else "cnn"
    return "encoder" if config["model_type"] in ENCODER_KINDS else "llm"
