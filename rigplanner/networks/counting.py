"""The parameters of the network that a configuration describes: it is built on the tape and not
run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.garbage import collector_paused
from rigplanner.networks.closed_form.shallow import shallow
from rigplanner.networks.families.build import builder
from rigplanner.networks.tracer.net import Net, Setting
from rigplanner.networks.tracer.step import contradictions
from rigplanner.networks.tracer.tape import CUDA, Tape


def made_of(given: dict[str, Any]) -> Callable[[Net], Any]:
    with contradictions():
        return builder(given)


def values_of(given: dict[str, Any], made: Callable[[Net], Any], edge: int) -> int:
    """The parameters of a network, of a deep one of equal layers from two shallow ones."""
    cut = shallow(given, halves=True)
    if cut is None:
        return counted(made, edge)
    few, more = counted(made_of(cut.few), edge), counted(made_of(cut.more), edge)
    return few + cut.missing * (more - few)


FEW_LAYERS = 6
"""Layers of text below which the part that sees is counted: it does not depend on how many there
are."""


def values_seeing(given: dict[str, Any], made: Callable[[Net], Any], edge: int) -> int:
    """The parameters of the part that sees, told from a network of few layers of text."""
    nested = given.get("text_config")
    text = nested if isinstance(nested, dict) else given
    depth = text.get("num_hidden_layers")
    if isinstance(depth, int) and depth > FEW_LAYERS:
        lists = {
            field: told[:FEW_LAYERS]
            for field, told in text.items()
            if isinstance(told, list) and len(told) == depth
        }
        cut = {**text, **lists, "num_hidden_layers": FEW_LAYERS}
        made = made_of({**given, "text_config": cut} if text is nested else cut)
    return counted(made, edge, 1) - counted(made, edge)


def parameters_of(config: dict[str, Any]) -> float:
    """The parameters of the network that a configuration describes; raises WorkloadFault for one
    that cannot be."""
    made = made_of(config)
    with contradictions():
        return float(counted(made, 512))


def counted(made: Callable[[Net], Any], edge: int, images: int = 0) -> int:
    """The parameters of a network, with the part that sees if it is given `images`: it is built and
    not run."""
    net = Net(
        Tape(CUDA),
        Setting(
            batch=1,
            length=edge,
            training=False,
            images=images,
            sides=(224, 224) if images else None,
        ),
    )
    with contradictions(), collector_paused():
        made(net)
    return net.values
