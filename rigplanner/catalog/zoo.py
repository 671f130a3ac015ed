"""The model zoo: networks people train and serve, by slug, with the facts that decide their memory
and speed."""

import difflib
import re
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from rigplanner.catalog.find.model_names import (
    LONGEST_NAME,
    joined,
    named_within,
    reduced,
    shortens,
    stands_in,
    without_weights,
)
from rigplanner.catalog.find.stored_names import read_name, usual_tag
from rigplanner.catalog.load import CatalogFault
from rigplanner.data import data_path, read_shipped, shipped_files
from rigplanner.decoding import read_json
from rigplanner.evidence import Source

Kind = Literal[
    "llm",
    "moe",
    "vlm",
    "encoder",
    "encoder_decoder",
    "asr",
    "cnn",
    "vit",
    "detector",
    "segmenter",
    "diffusion_unet",
    "diffusion_transformer",
    "other",
]


class Figures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Published figures of one forward pass of one image of edge `image_size` (or height and width)
    in pixels: `gmacs` in 1e9 multiply-adds, `activations_m` in millions of values that convolutions
    and linear layers write."""

    image_size: int | tuple[int, int]
    gmacs: float | None = None
    activations_m: float | None = None


class Component(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A network that travels with another: the text encoder or the image decoder of a diffusion
    model."""

    role: Literal["text_encoder", "vae"]
    params_m: float


class Stored(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The type in which a network's maker publishes its weights, where that is narrower than what
    such networks are run in, and the key of its source (a config.json's quantization_config, or the
    16 bits of an embedding model that was a language model)."""

    precision: str
    source: str


class Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One network: a Hugging Face configuration in `config`, or `figures` per image size, and
    `params_m` (millions) where the configuration does not tell them. `denoiser`: the configuration
    of a diffusion model's denoiser. `stored`: how its weights are published. `source` is a key of
    the zoo's sources; `state` marks what was not read again."""

    slug: str
    name: str
    kind: Kind
    source: str
    family: str = ""
    aliases: tuple[str, ...] = ()
    config: dict[str, Any] | None = None
    params_m: float | None = None
    figures: tuple[Figures, ...] = ()
    components: tuple[Component, ...] = ()
    denoiser: dict[str, Any] | None = None
    stored: Stored | None = None
    state: Literal["unverified"] | None = None


class _File(Struct, forbid_unknown_fields=True):
    family: str
    sources: dict[str, Source]
    models: tuple[Model, ...]


class Zoo:
    """All models by slug; `get` finds a slug or an alias, `find` finds by words, `nearest` names
    what may have been meant."""

    def __init__(self, models: tuple[Model, ...], sources: dict[str, Source]) -> None:
        self.models = {model.slug: model for model in models}
        self.sources = sources
        self._names = {
            name.casefold(): model
            for model in models
            for name in (model.name, *model.aliases, model.slug)
        }

    def get(self, slug: str) -> Model | None:
        """Return the model of this slug, alias or published name, or the one of which the name says
        that it was tuned further, or None."""
        return self.named(slug) or self.taken_for(slug)

    def named(self, slug: str) -> Model | None:
        """Return the model of this slug, alias or published name, or None."""
        known = self.models.get(slug) or self._names.get(slug.casefold())
        if known is not None or len(slug) > LONGEST_NAME:
            return known
        if slug.casefold().endswith(":latest") and (tagged := usual_tag(slug)):
            return self.named(tagged)
        plain = base_name(slug.casefold())
        unsized = re.sub(r"_\d{3}$", "", plain)
        sized = next(
            (
                self._names[name]
                for name in (plain, unsized, f"{unsized}_224")
                if name in self._names
            ),
            None,
        )
        bare, named = without_weights(slug), read_name(slug).model
        return (
            sized
            or (self._names.get(bare) if bare else None)
            or self._meant(slug)
            or self._spoken(slug)
            or (self.named(named) if named != slug and named.casefold() != plain else None)
        )

    def taken_for(self, name: str) -> Model | None:
        """The network of which a name says that it was tuned further: the one whose whole name with
        a size stands in it, beside words of no other family ("Huihui-Qwen3-30B-A3B-abliterated",
        "bartowski/Owner_Name-8B"); None where several could be meant."""
        if len(name) > LONGEST_NAME:
            return None
        plain = read_name(name).model
        if found := self._meant(plain.rpartition("/")[2].partition("_")[2]):
            return found
        for run, rest in named_within(plain):
            fitting = list(self._words.get((run, True), {}).values())
            alike = fitting and all(one.config == fitting[0].config for one in fitting)
            if alike and fitting[0].config and self._families.isdisjoint(rest):
                return fitting[0]
        return self._shortened(plain)

    def _shortened(self, name: str) -> Model | None:
        """The one network of whose name these words leave some out; None where several do."""
        asked = reduced(name, dated=True)
        longer = {
            words: models
            for (words, dated), models in self._words.items()
            if dated and words and stands_in(asked, words)
        }
        fitting = [model for models in longer.values() for model in models.values()]
        one = len({model.slug for model in fitting}) == 1
        alike = fitting and all(model.config == fitting[0].config for model in fitting)
        sure = (one or (alike and fitting[0].config)) and any(shortens(asked, it) for it in longer)
        return fitting[0] if sure else None

    @cached_property
    def _families(self) -> frozenset[str]:
        """First words of networks that are named with a size."""
        return frozenset(
            words.split()[0] for slug in self.models if (words := reduced(slug)) and " " in words
        )

    @cached_property
    def _words(self) -> dict[tuple[str, bool], dict[str, Model]]:
        found: dict[tuple[str, bool], dict[str, Model]] = {}
        for name, model in self._names.items():
            for dated in (False, True):
                found.setdefault((reduced(name, dated), dated), {})[model.slug] = model
        return found

    def _meant(self, name: str) -> Model | None:
        """The one network that all the words of a name fit; None where there are several."""
        for dated in (False, True):
            fitting = list(self._words.get((reduced(name, dated), dated), {}).values())
            if fitting and all(model.config == fitting[0].config for model in fitting):
                return fitting[0] if fitting[0].config is not None or len(fitting) == 1 else None
        return None

    @cached_property
    def _joined(self) -> dict[str, dict[str, Model]]:
        found: dict[str, dict[str, Model]] = {}
        for name, model in self._names.items():
            found.setdefault(joined(name), {})[model.slug] = model
        return found

    def _spoken(self, name: str) -> Model | None:
        """The one network whose name is spelt so with other hyphens and spaces; None where there
        are several."""
        fitting = list(self._joined.get(joined(name), {}).values())
        return fitting[0] if len(fitting) == 1 else None

    def find(self, words: str) -> list[Model]:
        """Return the models whose names hold all of `words`, shortest name first."""
        wanted = words.casefold().replace("-", " ").split()
        hits = [
            model
            for model in self.models.values()
            if all(word in _searchable(model) for word in wanted)
        ]
        return sorted(hits, key=lambda model: (len(model.slug), model.slug))

    def nearest(self, slug: str, most: int = 4) -> list[str]:
        """Return up to `most` slugs that look like `slug`."""
        close = difflib.get_close_matches(slug.casefold(), self._names, 4 * most, 0.5)
        return list(dict.fromkeys(self._names[name].slug for name in close))[:most]


_TRAINED_AS = re.compile(
    r"^(gluon|tv|swsl|ssl|jx|tf|ens_adv|ig)_"
    r"|_(in22ft1k|in21ft1k|in22k|in21k|22kft1k|22k|dist|distilled|bitm|bit_distilled|bit_teacher|hnf|hnfd|v1[bcds]|miil|a[123])(?=_|$)"
)

_DEEP_STEM = re.compile(r"^gluon_(resnet\d+)_v1[cds](?=_|$)")
"""GluonCV's variants c, d and s begin with three small convolutions, as the names in d of timm do.
"""


@lru_cache(4096)
def base_name(name: str) -> str:
    """A network's name without the words that say how its weights were trained, not what its layers
    are."""
    return _TRAINED_AS.sub("", _DEEP_STEM.sub(r"\1d", name))


def _searchable(model: Model) -> str:
    return " ".join((model.slug, model.name, *model.aliases)).casefold().replace("-", " ")


def read_zoo(folder: Path) -> Zoo:
    """Read all family files of `folder`; raise CatalogFault naming the file and the field that
    cannot be used."""
    models: list[Model] = []
    sources: dict[str, Source] = {}
    seen: set[str] = set()
    for path in shipped_files(folder):
        try:
            family = read_json(read_shipped(path), _File)
        except (msgspec.MsgspecError, OSError) as fault:
            raise CatalogFault(f"{path}: {fault}") from fault
        sources.update(family.sources)
        for model in family.models:
            taken = seen.intersection((model.slug, *model.aliases))
            cited = {model.source} | ({model.stored.source} if model.stored else set())
            if taken or not cited <= sources.keys():
                why = f"the name {taken.pop()} is used twice" if taken else "its source is missing"
                raise CatalogFault(f"{path}: model {model.slug}: {why}.")
            seen.update((model.slug, *model.aliases))
            models.append(msgspec.structs.replace(model, family=family.family))
    return Zoo(tuple(models), sources)


@cache
def shipped_zoo() -> Zoo:
    """Return the zoo that came with the program, read once."""
    return read_zoo(data_path("catalog") / "models")


IMAGE_KINDS: dict[str, Kind] = {"detector": "detector", "cnn": "cnn", "cnn-mobile": "cnn"}
"""Kinds of the table of timed networks whose memory their figures tell."""


class EmbeddingTables(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Embedding tables of a recommender: `rows` of all together, values of one row (`width`), and
    the `optimizer` that the published recipe trains them with."""

    rows: int
    width: int
    optimizer: str


class _Timed(Struct):
    kind: str
    params_m: float
    gmacs: float
    activations_m: float
    image_size: int | None = None
    source: str = ""
    aliases: tuple[str, ...] = ()
    tables: EmbeddingTables | None = None
    shuffled_values: float = 0.0


class _Table(Struct):
    networks: dict[str, _Timed]


@cache
def _timed() -> dict[str, _Timed]:
    path = data_path("catalog") / "benchmarks" / "networks.json"
    return read_json(path.read_bytes(), _Table).networks


@cache
def timed_networks() -> dict[str, Model]:
    """Return the image networks whose speed is known by their figures, by slug and alias, as the
    zoo would list them."""
    found: dict[str, Model] = {}
    for slug, one in _timed().items():
        if one.kind in IMAGE_KINDS and one.image_size:
            figures = (
                Figures(
                    image_size=one.image_size, gmacs=one.gmacs, activations_m=one.activations_m
                ),
            )
            made = Model(
                slug=slug,
                name=slug,
                kind=IMAGE_KINDS[one.kind],
                source=one.source,
                params_m=one.params_m,
                figures=figures,
            )
            found |= dict.fromkeys((slug, *one.aliases), made)
    return found


class Recommender(Struct, frozen=True, kw_only=True):
    """A recommender that is known by its figures: parameters and values that its layers write for a
    sample, in millions; `tables` None where their rows are not known; `looked_up` values of a
    sample travel where its tables are spread over GPUs."""

    slug: str
    params_m: float
    activations_m: float
    tables: EmbeddingTables | None
    looked_up: float
    source: str


@cache
def _recommenders() -> dict[str, Recommender]:
    found: dict[str, Recommender] = {}
    for slug, one in _timed().items():
        if one.kind == "recommender":
            made = Recommender(
                slug=slug,
                params_m=one.params_m,
                activations_m=one.activations_m,
                tables=one.tables,
                looked_up=one.shuffled_values,
                source=one.source,
            )
            found |= {joined(name): made for name in (slug, *one.aliases)}
    return found


def recommender(name: str) -> Recommender | None:
    """Return the recommender of this name, however it is hyphenated, or None."""
    return _recommenders().get(joined(name))


SHORTEST_PART = 3
"""Letters that name a network by a part of its name at least."""


def near_names(name: str, zoo: Zoo, most: int = 4) -> list[str]:
    """Return up to `most` networks of the zoo or of the table of timed ones that may have been
    meant: those whose name holds `name`, then those that look like it."""
    word = joined(name)
    whole = (
        [slug for slug in _timed() if word in joined(slug)] if len(word) >= SHORTEST_PART else []
    )
    close = difflib.get_close_matches(name.casefold(), list(_timed()), most, 0.7)
    return list(dict.fromkeys([*whole, *close, *zoo.nearest(name)]))[:most]
