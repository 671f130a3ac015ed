"""A deep network of equal layers, measured on two shallow ones.

What is live after an operator of the forward or the backward pass grows evenly with the layers
before it. So the moments of a network of 80 layers are those of its first and its last layers,
moved by what one more layer adds; the layers between lie between them and are never the peak. Who
asks makes sure that the layers are built alike, or checks the result against one trace of the whole
depth."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.networks.config.config import full_config
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.step import StepTrace, Trace
from rigplanner.networks.tracer.tape import Tape, Tensor

DEPTHS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
"""Fields that say how many layers there are, the one that decides first."""
SIDES = ("num_decoder_layers", "encoder_layers", "decoder_layers", "d_ff")
"""Fields of networks of two halves, which are traced whole."""
FEW = 3
"""Equal layers in the shallower network: a first, a middle and a last one. Dense layers before
layers of experts ask for as many more, so that the middle of either pass lies among equal layers.
"""


class Shallow(Struct, frozen=True):
    """Two configurations that differ by one layer, and how many layers the deep one has more than
    the first."""

    few: dict[str, Any]
    more: dict[str, Any]
    missing: int


def shallow(config: dict[str, Any], halves: bool = False) -> Shallow | None:
    """Two shallow networks of the same layers; None where the layers differ, or are too few for it
    to be of use. `halves`: also networks of two halves of one depth, whose parameters grow evenly
    though their moments do not."""
    full = full_config(config)
    depths = [field for field in DEPTHS if isinstance(full.get(field), int)]
    sides = [field for field in SIDES if full.get(field)]
    if halves and sides:
        depths = [*depths, *(field for field in sides if field != "d_ff")]
    if not depths or (sides and not halves):
        return None
    deep = full[depths[0]]
    if sides and any(full[field] != deep for field in depths):
        return None
    first = full.get("first_k_dense_replace") or 0
    few = FEW + (2 * first if isinstance(first, int) else deep)
    lists = {
        field: value
        for field, value in full.items()
        if isinstance(value, list) and len(value) == deep
    }
    if few + 1 >= deep or any(item != value[0] for value in lists.values() for item in value):
        return None

    def cut(depth: int) -> dict[str, Any]:
        return {
            **full,
            **dict.fromkeys(depths, depth),
            **{field: value[:depth] for field, value in lists.items()},
        }

    return Shallow(cut(few), cut(few + 1), deep - few)


def built_of(part: object, known: dict[int, tuple[object, object]]) -> object:
    """What a piece of a network was built of, to be compared: types, numbers, shapes; of functions
    their code and what they hold. The tape and the tensors' storages, which all pieces share or
    own, are left out, and the number of all layers. `known` holds what many pieces share."""
    if isinstance(part, str | int | float | None | bytes):
        return part
    if isinstance(part, Tensor):
        return part.shape, part.dtype, part.trains, part.node is None
    if isinstance(part, Net | Tape):
        return type(part)
    if isinstance(part, Struct):
        if id(part) not in known:
            plain = replace(part, layers=0) if "layers" in part.__struct_fields__ else part
            known[id(part)] = (type(part), msgspec.msgpack.encode(plain)), part
        return known[id(part)][0]
    if isinstance(part, list | tuple):
        return [built_of(item, known) for item in part]
    if isinstance(part, dict):
        return [(key, built_of(value, known)) for key, value in part.items()]
    if isinstance(part, FunctionType):
        held = [built_of(cell.cell_contents, known) for cell in part.__closure__ or ()]
        return part.__code__, held, built_of(part.__defaults__, known)
    slots = getattr(type(part), "__slots__", None)
    fields = (
        {name: getattr(part, name) for name in slots} if slots else getattr(part, "__dict__", None)
    )
    return (type(part), built_of(fields, known)) if fields is not None else object()


def deepened(
    few: Trace, more: Trace, begins: tuple[StepTrace, StepTrace], missing: int
) -> Trace | None:
    """The moments of the deep network's passes from those of the two shallow ones, which begin
    where their traces say; None where the two do not line up."""
    found: Trace = []
    for low, high in zip(_passes(few, begins[0]), _passes(more, begins[1]), strict=True):
        added = len(high) - len(low)
        if added < 0 or len(low) < 2 * added:
            return None
        split = len(low) // 2
        pairs = [(low[at], high[at]) for at in range(split)]
        pairs += [(low[at], high[at + added]) for at in range(split, len(low))]
        found += [
            (a + missing * (b - a), held + missing * (more_held - held))
            for (a, held), (b, more_held) in pairs
        ]
    return found


def _passes(trace: Trace, traced: StepTrace) -> tuple[Trace, Trace]:
    begins, turns = traced.marks
    return trace[begins:turns], trace[turns:]


def deeper(few: StepTrace, more: StepTrace, missing: int) -> StepTrace:
    """The figures of the deep network that grow evenly with its layers: weights, states,
    operations, values."""
    fields = ("weights", "optimizer", "forward_flops", "step_flops", "values", "trained")
    grown = {
        field: getattr(few, field) + missing * (getattr(more, field) - getattr(few, field))
        for field in fields
    }
    return StepTrace(peak=0, gradients=0, **grown)
