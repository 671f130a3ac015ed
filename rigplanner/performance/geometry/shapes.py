"""The figures of a network that decide its speed: arithmetic and traffic of one forward pass of one
sample."""

from functools import cache

from msgspec import Struct

from rigplanner.catalog.zoo import EmbeddingTables
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.evidence import Source
from rigplanner.rig.workload import Workload

MOST_STEPS = 10_000
"""Denoising steps of one image beyond which a number is taken for a slip."""
SENTENCE_TOKENS = 50
"""Source and target tokens of one sentence pair, for nets whose batch counts sentences but whose
speed counts tokens."""


class Geometry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A transformer by its configuration: `experts` counts those a layer holds, `experts_used`
    those a token visits (shared ones in both); `dense_layers` have one feed-forward block of
    `dense_ffn` instead."""

    kind: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    ffn_matrices: int
    vocab: int
    causal: bool = True
    experts: int = 0
    experts_used: int = 0
    experts_shared: int = 0
    dense_layers: int = 0
    dense_ffn: int = 0
    seq_len: int = 512
    source: str = ""
    params_m: float | None = None
    tied: bool = True


class Figures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A network known by its published figures for one sample of its usual size; a sample of its
    inference benchmark is `inference_scale` times as much work (a whole scan, a user with many
    items, a sentence). `shuffled_values` of embedding tables spread over the GPUs travel per
    sample; `host_rate`: samples a second that one computer reads and parses for a training, where
    that of the network's own implementation is known to starve its GPUs. `steps`: denoising steps
    of one image that the figures hold for, each with and without the prompt; `generates`: the
    network whose figures hold where images are made, if these are those of training.
    `batch_tokens`: what a sample of the batch holds of a network whose unit is a token; `aliases`:
    other names of it."""

    kind: str
    unit: str
    params_m: float
    gmacs: float
    activations_m: float
    kernels: int
    source: str
    image_size: int | None = None
    seq_len: int | None = None
    inference_scale: float = 1.0
    shuffled_values: float = 0.0
    tables: EmbeddingTables | None = None
    host_rate: float | None = None
    steps: int = 1
    generates: str | None = None
    batch_tokens: int = SENTENCE_TOKENS
    aliases: tuple[str, ...] = ()
    state: str | None = None
    note: str | None = None


class Shape(Struct, frozen=True, kw_only=True):
    """One forward pass of one sample: `gflop` in matrix operations on weights, `attention_gflop` in
    products of activations, `elements_m` millions of values written, `kernels` launched per pass.
    `params_m` are stored, `active_m` used by a token. `tokens` per sample; `kv_values` cached per
    token; `hidden`, `heads`, `layers` 0 where the net is no transformer; `experts` of a layer;
    `head_m` of the active ones are the output's; `host_rate`: samples a second that a computer
    feeds to a training; `steps` of denoising that make one image; `kernels_within`,
    `values_within`: factors either way within which four in five guesses of these two lie; `usual`:
    what was taken because nothing was said; `batch_tokens` of a sample of the batch where the unit
    is a token, else 1; `attends`: tokens that an indexer picks for a new one to attend to, 0 where
    it attends to all."""

    slug: str
    kind: str
    unit: str
    params_m: float
    active_m: float
    gflop: float
    attention_gflop: float
    elements_m: float
    kernels: float
    tokens: int
    causal: bool = False
    kv_values: float = 0.0
    attends: int = 0
    layers: int = 0
    hidden: int = 0
    heads: int = 0
    experts: int = 0
    experts_used: int = 0
    experts_shared: int = 0
    head_m: float = 0.0
    shuffled_values: float = 0.0
    host_rate: float | None = None
    steps: int = 1
    batch_tokens: int = 1
    kernels_within: float = 1.0
    values_within: float = 1.0
    samples_to_train: float | None = None
    source: str = ""
    usual: dict[str, str] = {}


class Tables(Struct, frozen=True, forbid_unknown_fields=True):
    """The shipped table of networks: published figures, geometries of transformers that the zoo
    lacks, and the samples that runs to MLPerf's quality targets needed (medians of time x measured
    speed over its rounds), or the tokens (its reference runs)."""

    sources: dict[str, Source]
    networks: dict[str, Figures]
    geometries: dict[str, Geometry] = {}
    samples_to_train: dict[str, float] = {}
    tokens_to_train: dict[str, float] = {}

    def sequences_to_train(self, slug: str, tokens: int) -> float | None:
        """Return the sequences of so many tokens that a run of a language model to its target
        needs, or None."""
        needed = self.tokens_to_train.get(slug)
        return needed / tokens if needed else self.samples_to_train.get(slug)


@cache
def tables() -> Tables:
    """Return the shipped figures of networks, read once."""
    return read_json((data_path("catalog") / "benchmarks" / "networks.json").read_bytes(), Tables)


def pixels(size: int | list[int] | None) -> float | None:
    """Return the pixels of an image given by its edge or by its edges."""
    if size is None:
        return None
    return float(size * size) if isinstance(size, int) else float(size[0] * size[-1])


def asked_steps(workload: Workload) -> int | None:
    """Return the denoising steps that a case names among the words of its variant, or None."""
    value = workload.variant.get("steps")
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_STEPS
        else None
    )


def figures_shape(slug: str, known: Figures, workload: Workload) -> Shape:
    """Return the shape of a net known by figures, scaled to the image of the workload by area
    (convolutions cost per pixel)."""
    scale = 1.0
    asked, listed = pixels(workload.image_size), pixels(known.image_size)
    if asked and listed:
        scale = asked / listed
    if workload.task == "inference":
        scale *= known.inference_scale
    steps = _steps_of(known, workload)
    scale *= steps / known.steps
    return Shape(
        slug=slug,
        kind=known.kind,
        unit=known.unit,
        params_m=known.params_m,
        active_m=known.params_m,
        gflop=2 * known.gmacs * scale,
        attention_gflop=0.0,
        elements_m=known.activations_m * scale,
        kernels=known.kernels * max(1, steps) / known.steps,
        steps=max(1, int(steps)),
        batch_tokens=(workload.seq_len or known.batch_tokens) if known.unit == "token" else 1,
        tokens=workload.seq_len or known.seq_len or 1,
        shuffled_values=known.shuffled_values,
        host_rate=known.host_rate,
        samples_to_train=tables().samples_to_train.get(slug),
        source=known.source,
    )


def _steps_of(known: Figures, workload: Workload) -> float:
    """Denoising steps that a sample takes: as asked or usual for an image; half of one in training,
    which needs no second pass without the prompt."""
    if known.steps == 1:
        return 1
    return (
        0.5 if (workload.task or "").startswith("train") else asked_steps(workload) or known.steps
    )


class _Weights(Struct, frozen=True):
    """Weights of a transformer: those that a token goes through, all of them, and the output's."""

    active: float
    stored: float
    head: float


def _weights_of(form: Geometry, width: int, kv_width: int) -> _Weights:
    """Attention has four matrices a layer; of experts a token goes through those that it is dealt
    to, in all layers but the dense first ones."""
    attention = form.hidden * (2 * width + 2 * kv_width)
    expert = form.ffn_matrices * form.hidden * form.ffn
    dense = form.dense_layers * form.ffn_matrices * form.hidden * form.dense_ffn
    sparse = form.layers - form.dense_layers
    used = sparse * (form.experts_used or 1) * expert + dense
    stored = sparse * (form.experts or 1) * expert + dense
    head = form.vocab * form.hidden
    whole = form.layers * attention + stored + head * (1 if form.tied else 2)
    return _Weights(
        form.layers * attention + used + head,
        form.params_m * 1e6 if form.params_m else whole,
        head,
    )


def transformer_shape(slug: str, form: Geometry, seq_len: int) -> Shape:
    """Return the shape of one sequence through a transformer.

    Arithmetic: 2 FLOPs per active weight and token; attention adds 4 * seq * heads * head_dim per
    token and layer, half of it when causal (Kaplan et al. 2020, arXiv 2001.08361, and its usual
    attention term). Values written per token and layer: about 10 hidden + 2 x ffn matrices + query,
    key and value, counted from the block's operators."""
    width, kv_width = form.heads * form.head_dim, form.kv_heads * form.head_dim
    weights = _weights_of(form, width, kv_width)
    scores = 4.0 * seq_len * width * form.layers * (0.5 if form.causal else 1.0)
    per_layer = (
        10 * form.hidden
        + (form.ffn_matrices + 1) * form.ffn * (form.experts_used or 1)
        + 2 * (width + kv_width)
    )
    return Shape(
        slug=slug,
        kind=form.kind,
        unit="sequence",
        params_m=weights.stored / 1e6,
        active_m=weights.active / 1e6,
        gflop=2 * weights.active * seq_len / 1e9,
        attention_gflop=scores * seq_len / 1e9,
        elements_m=(form.layers * per_layer + form.vocab) * seq_len / 1e6,
        kernels=form.layers * (16 + 6 * bool(form.experts)),
        tokens=seq_len,
        causal=form.causal,
        kv_values=2.0 * kv_width * form.layers,
        layers=form.layers,
        hidden=form.hidden,
        heads=form.heads,
        experts=form.experts,
        experts_used=form.experts_used,
        experts_shared=form.experts_shared,
        head_m=weights.head / 1e6,
        samples_to_train=tables().sequences_to_train(slug, seq_len),
        source=form.source,
    )
