"""From a workload's words to the shape of its network."""

from functools import lru_cache

from rigplanner.catalog.find.model_names import joined
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.performance.geometry.configs import (
    config_shape,
    figured_shape,
    sized_shape,
    zoo_shape,
)
from rigplanner.performance.geometry.shapes import Shape, figures_shape, tables, transformer_shape
from rigplanner.rig.workload import Workload
from rigplanner.workload.by_parameter_count import STANDS_IN
from rigplanner.workload.network import named_model, unknown_model


def resolve_shape(workload: Workload, zoo: Zoo | None) -> Shape:
    """Return the shape of the workload's network: the speed table first, then a configuration, the
    zoo, figures given.

    Raises WorkloadFault naming the nearest known models when nothing tells it."""
    slug, known = workload.model or "", tables()
    if slug in known.networks:
        return _figured(slug, workload)
    if slug in known.geometries:
        form = known.geometries[slug]
        return transformer_shape(
            slug, form, workload.seq_len or workload.input_tokens or form.seq_len
        )
    if workload.config:
        return config_shape(
            slug or workload.name or "custom",
            workload.kind or "llm",
            workload.config,
            workload,
        )
    models = shipped_zoo() if zoo is None else zoo
    model = named_model(workload, models)
    listed = (
        next((name for name in (model.slug, *model.aliases) if name in known.networks), None)
        if model
        else None
    )
    listed = listed or (None if model else _spoken().get(joined(slug)))
    if listed:
        return _figured(listed, workload)
    if model and (
        model.config or any(figure.gmacs for figure in model.figures) or not workload.gmacs
    ):
        return zoo_shape(model, workload)
    if workload.gmacs:
        return figured_shape(workload)
    size_m = (workload.params_b or 0.0) * 1e3 or workload.params_m
    if size_m and model is None and (workload.kind or "llm") in STANDS_IN:
        return sized_shape(slug or "custom", size_m, workload, workload.kind)
    raise unknown_model(slug, models)


@lru_cache(1)
def _spoken() -> dict[str, str]:
    """The networks of the speed table by their names and other names, however they are
    hyphenated."""
    return {
        joined(name): slug
        for slug, net in tables().networks.items()
        for name in (slug, *net.aliases)
    }


def _figured(slug: str, workload: Workload) -> Shape:
    """The shape of a network of the speed table; one that is listed as it trains makes images as
    another does."""
    found = tables().networks[slug]
    if found.generates and not (workload.task or "inference").startswith("train"):
        return figures_shape(found.generates, tables().networks[found.generates], workload)
    return figures_shape(slug, found, workload)
